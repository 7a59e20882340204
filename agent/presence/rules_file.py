"""Rules as they are written in the ``[presence]`` table of ``settings.toml``, both ways.

The mode stands outside the table, as ``volunteer``. Hours are texts like ``"mon-fri 18:00-07:00"``
or ``"sat, sun 00:00-24:00"``: days, then from when to when; an end that is not later is on the next
day. What is wrong is said with the end of a sentence whose beginning, the key, the caller knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta, structs

from agent.api.volunteering import HOURS_MAX, PROGRAMS_MAX, Hours, VolunteerRules, Weekday
from agent.api.wording import read_as
from agent.presence.hours import WEEK, clock, minutes
from agent.presence.rules import faults

TABLE = "presence"
HOURS_EXAMPLE = "write it like 'mon-fri 18:00-07:00' or 'sat, sun 00:00-24:00'."


def read_rules(value: object) -> VolunteerRules:
    """Return the rules of a table, without the mode; raise ``ValueError`` with the end of a
    sentence for one that is wrong."""
    if not isinstance(value, dict):
        raise ValueError("has to be a table: write [presence] and its keys below.")
    read: dict[str, object] = {}
    for key, given in value.items():
        reader = READERS.get(key)
        if reader is None:
            raise ValueError(f"has no key {key!r}; remove it ({', '.join(READERS)} exist).")
        try:
            read[key] = reader(given)
        except ValueError as error:
            raise ValueError(f"{key} {error}") from error
    rules = structs.replace(VolunteerRules(), **read)
    wrong = faults(rules)
    if wrong:
        raise ValueError(f"cannot be kept: {wrong[0]}")
    return rules


def written_rules(rules: VolunteerRules) -> dict[str, str | int | float | bool | list[str]]:
    """Return the table that these rules are written as; what is as by default is left out."""
    plain = VolunteerRules()
    told = {name: getattr(rules, name) for name in READERS if name != "hours"}
    written = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in told.items()
        if value != getattr(plain, name)
    }
    return (
        {"hours": [hours_text(each) for each in rules.hours], **written} if rules.hours else written
    )


def read_hours(text: str) -> tuple[Hours, ...]:
    """Return the ranges that a text names; raise ``ValueError`` with the end of a sentence when it
    names none."""
    days, _, times = text.strip().rpartition(" ")
    begins, dash, ends = times.partition("-")
    if not days.strip() or not dash:
        raise ValueError(f"has {text!r}: {HOURS_EXAMPLE}")
    begin, end = minutes(begins), minutes(ends)
    if begin == 24 * 60:
        raise ValueError(f"has {text!r}, which begins with the day after: write 00:00 there.")
    return tuple(
        Hours(day, clock(begin), clock(end)) for part in days.split(",") for day in _days(part)
    )


def hours_text(hours: Hours) -> str:
    """Return the range as it is written, and read by ``read_hours``."""
    return f"{hours.day} {hours.begins}-{hours.ends}"


def _days(text: str) -> tuple[Weekday, ...]:
    first, dash, last = text.partition("-")
    begin = WEEK.index(_day(first))
    if not dash:
        return (WEEK[begin],)
    count = (WEEK.index(_day(last)) - begin) % len(WEEK) + 1
    return tuple(WEEK[(begin + number) % len(WEEK)] for number in range(count))


def _day(text: str) -> Weekday:
    wanted = text.strip().casefold()
    found = [each for each in WEEK if len(wanted) >= 2 and each.startswith(wanted)]
    if len(found) != 1:
        raise ValueError(f"has {text.strip()!r}, which is no day: {HOURS_EXAMPLE}")
    return found[0]


def _hours(value: object) -> tuple[Hours, ...]:
    return tuple(each for text in _texts(value, HOURS_MAX) for each in read_hours(text))


def _programs(value: object) -> tuple[str, ...]:
    return _texts(value, PROGRAMS_MAX)


def _texts(value: object, most: int) -> tuple[str, ...]:
    try:
        texts: tuple[str, ...] = msgspec.convert(
            value, Annotated[tuple[str, ...], Meta(max_length=most)]
        )
    except msgspec.ValidationError:
        raise ValueError(f'has to be a list of up to {most} texts, like ["one", "two"].') from None
    return texts


_seconds = read_as(float, "it has to be a number of seconds.")
_whole = read_as(int, "it has to be a whole number.")
_flag = read_as(bool, "it has to be true or false.")
READERS: dict[str, Callable[[object], object]] = {
    "hours": _hours,
    "idle_s": _seconds,
    "others_cpu_percent": _whole,
    "on_mains_only": _flag,
    "free_memory_mb": _whole,
    "full_screen_counts": _flag,
    "exclusive_programs": _programs,
    "own_only": _flag,
    "lets_end_s": _seconds,
}
