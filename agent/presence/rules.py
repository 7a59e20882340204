"""By which rules a machine works for others: what its owner decides (``VolunteerRules``).

==========================  ==========================================================  =======
rule                        meaning                                                     default
==========================  ==========================================================  =======
``mode``                    *always*, *when idle*, or *by schedule* (idle, in hours)    always
``hours``                   ranges of the week for *by schedule*                        none
``idle_s``                  so long nobody has used keyboard, mouse or a terminal;      300
                            0: whether somebody does plays no part
``others_cpu_percent``      other programs use no more of the machine; 100: no matter   10
``on_mains_only``           not on battery                                              yes
``free_memory_mb``          so much memory has to be free; 0: no matter                 512
``full_screen_counts``      whoever fills the screen (film, game, talk) is there        yes
``calls_count``             whoever uses a microphone or camera is there                yes
``exclusive_programs``      while one of these runs, nothing else is to: in every mode  none
``own_only``                takes only what was submitted here                          no
``people``                  takes only what these people submit, and what was           everybody
                            submitted here
``bans``                    takes nothing of these people and machines, and runs none   nobody
                            of these programs, but for what was submitted here
``lets_end_s``              who expects to end within this is let end, not suspended    0
``warn_s``                  so long it says that it is about to help, after somebody    0
                            was there or something else held it back
==========================  ==========================================================  =======

In the mode *always* only ``exclusive_programs`` and pauses hold the machine back. Rules that leave
no moment to work are refused together with a sentence: a machine that never helps, and does not
say why, is worse than an error.

**Rules as they are written in the ``[presence]`` table of ``settings.toml``, both ways.**

The mode stands outside the table, as ``volunteer``. Hours are texts like ``"mon-fri 18:00-07:00"``
or ``"sat, sun 00:00-24:00"``: days, then from when to when; an end that is not later is on the next
day. What is wrong is said with the end of a sentence whose beginning, the key, the caller knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from agent.api.volunteering import (
    HOURS_MAX,
    PEOPLE_MAX,
    PROGRAMS_MAX,
    Hours,
    VolunteerRules,
    Weekday,
)
from agent.api.wording import read_as
from agent.presence.hours import WEEK, clock, minutes
from agent.protocol.names import composed, fault_of_name, visible

IDLE_S_MAX = 86_400.0
LETS_END_S_MAX = 86_400.0
WARN_S_MAX = 600.0
FREE_MEMORY_MB_MAX = 16 * 1024 * 1024
PROGRAM_LENGTH_MAX = 200
NO_MATTER_PERCENT = 100
OWN_NAMES = frozenset({"wingbeat", "wingbeat.exe"})
TABLE = "presence"
HOURS_EXAMPLE = "write it like 'mon-fri 18:00-07:00' or 'sat, sun 00:00-24:00'."


def faults(rules: VolunteerRules, memory_mb: float | None = None) -> list[str]:
    """Return what is wrong with rules (values out of range, names that cannot be, rules that leave
    no moment to help), a sentence each, empty when nothing is; ``memory_mb`` is what the machine
    has, None leaves that out."""
    found = [*_out_of_range(rules), *_cancelling(rules)]
    if memory_mb is not None and rules.free_memory_mb >= memory_mb:
        found.append(
            f"free_memory_mb is {rules.free_memory_mb}, this machine has {memory_mb:.0f} MB in "
            f"all: it would never help; choose less."
        )
    return found


def _out_of_range(rules: VolunteerRules) -> list[str]:
    limits: list[tuple[str, float, float, float]] = [
        ("idle_s", rules.idle_s, 0, IDLE_S_MAX),
        ("others_cpu_percent", rules.others_cpu_percent, 0, NO_MATTER_PERCENT),
        ("free_memory_mb", rules.free_memory_mb, 0, FREE_MEMORY_MB_MAX),
        ("lets_end_s", rules.lets_end_s, 0, LETS_END_S_MAX),
        ("warn_s", rules.warn_s, 0, WARN_S_MAX),
        ("the number of hours", len(rules.hours), 0, HOURS_MAX),
        ("the number of exclusive_programs", len(rules.exclusive_programs), 0, PROGRAMS_MAX),
    ]
    return [
        f"{name} is {value:g}: it has to be from {least:g} to {most:g}."
        for name, value, least, most in limits
        if not least <= value <= most
    ]


def _cancelling(rules: VolunteerRules) -> list[str]:
    """Rules that together leave no moment."""
    found = []
    if rules.mode == "by schedule" and not rules.hours:
        found.append(
            "by schedule without hours never helps: add hours like 'mon-fri 18:00-07:00', or "
            "choose when idle."
        )
    if rules.others_cpu_percent == 0:
        found.append(
            "others_cpu_percent is 0, and no machine ever rests so much: choose 1 to 99, or 100 "
            "if other programs do not matter."
        )
    own = [each for each in rules.exclusive_programs if each.casefold() in OWN_NAMES]
    if own:
        found.append(f"exclusive_programs has {own[0]}, which is this program: remove it.")
    if any(not 0 < len(each.strip()) <= PROGRAM_LENGTH_MAX for each in rules.exclusive_programs):
        found.append(
            "exclusive_programs has an empty or overlong name: write names like 'blender'."
        )
    for rule, names in (("people", rules.people), ("bans", rules.bans)):
        unnamed = [each for each in names if not each or fault_of_name(each) is not None]
        if unnamed:
            found.append(
                f"{rule} has {visible(unnamed[0])!r}: write names as workflows show them, like "
                "'ana'."
            )
    return found


class UnknownKeyError(ValueError):
    """There is no setting of this name here; a later version may have one."""


def read_rules(value: object) -> dict[str, object]:
    """Return what a table of the settings file says, by the names of the rules; raise
    ``ValueError`` with the end of a sentence for the first thing that is wrong, and
    ``UnknownKeyError`` for an unknown key."""
    if not isinstance(value, dict):
        raise ValueError("has to be a table: write [presence] and its keys below.")
    read: dict[str, object] = {}
    for key, given in value.items():
        reader = READERS.get(key)
        if reader is None:
            raise UnknownKeyError(f"has no key {key!r}; remove it ({', '.join(READERS)} exist).")
        try:
            read[key] = reader(given)
        except ValueError as error:
            raise ValueError(f"{key} {error}") from error
    return read


def written_rules(
    rules: VolunteerRules, plain: VolunteerRules | None = None
) -> dict[str, str | int | float | bool | list[str]]:
    """Return the table that these rules are written as, without the mode and without what is as in
    ``plain``, by default as is built in; ``read_rules`` reads it."""
    plain = plain or VolunteerRules()
    told = {name: getattr(rules, name) for name in READERS}
    written = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in told.items()
        if value != getattr(plain, name)
    }
    if "hours" in written:
        written["hours"] = [hours_text(each) for each in rules.hours]
    return written


def read_hours(text: str) -> tuple[Hours, ...]:
    """Return the ranges, one for each day, that a text like ``mon-fri 18:00-07:00`` names; raise
    ``ValueError`` with the end of a sentence when it is no such text."""
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


def _people(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(composed(each.strip()) for each in _texts(value, PEOPLE_MAX)))


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
    "calls_count": _flag,
    "exclusive_programs": _programs,
    "own_only": _flag,
    "people": _people,
    "bans": _people,
    "lets_end_s": _seconds,
    "warn_s": _seconds,
}
