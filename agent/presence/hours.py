"""Hours of the week, by the clock on the wall of this machine.

A range belongs to the day on which it begins; one that does not end later than it begins ends on
the next day. Only the local clock counts: where it jumps for summer time, or because the machine
travelled, the hours jump with it. An hour that a clock shows twice is inside twice, one that it
leaves out never comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo
from typing import get_args

from agent.api.volunteering import Hours, Weekday

DAY_MINUTES = 24 * 60
LOOK_AHEAD_DAYS = 8


WEEK: tuple[Weekday, ...] = get_args(Weekday)
"""In the order of ``datetime.weekday``."""


def overnight(hours: Hours) -> bool:
    """Tell whether the range ends on the next day."""
    return hours.ends <= hours.begins


def inside(hours: Iterable[Hours], local: datetime) -> bool:
    """Tell whether a moment of the local clock is in one of the ranges, the beginning of each
    counted and its end not; False without any."""
    time = f"{local:%H:%M}"
    today, yesterday = WEEK[local.weekday()], WEEK[local.weekday() - 1]
    for each in hours:
        if each.day == today and each.begins <= time and (overnight(each) or time < each.ends):
            return True
        if each.day == yesterday and overnight(each) and time < each.ends:
            return True
    return False


def next_change_s(hours: tuple[Hours, ...], wall_s: float, zone: tzinfo | None) -> float | None:
    """Return when the answer of ``inside`` changes next after ``wall_s``, both in seconds since
    1970, by the clock of this zone, None being that of the machine; None if it does not within a
    week."""
    local = datetime.fromtimestamp(wall_s, zone)
    now = inside(hours, local)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    days = [midnight + timedelta(days=number) for number in range(-1, LOOK_AHEAD_DAYS)]
    borders = {
        (day + timedelta(minutes=minute)).timestamp()
        for day in days
        for each in hours
        if each.day == WEEK[day.weekday()]
        for minute in (minutes(each.begins), minutes(each.ends) + DAY_MINUTES * overnight(each))
    }
    for border_s in sorted(borders):
        if border_s > wall_s and inside(hours, datetime.fromtimestamp(border_s, zone)) != now:
            return border_s
    return None


def tomorrow_s(wall_s: float, zone: tzinfo | None, hour: int) -> float:
    """Return the given hour of the next day, in seconds since 1970."""
    local = datetime.fromtimestamp(wall_s, zone) + timedelta(days=1)
    return local.replace(hour=hour, minute=0, second=0, microsecond=0, fold=0).timestamp()


def clock(minutes: int) -> str:
    """Return minutes since midnight as people write them."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def minutes(text: str) -> int:
    """Return the minute of the day that a time like 18:30 names, 1440 for 24:00; raise
    ``ValueError`` with the end of a sentence for any other text."""
    hour, colon, minute = text.strip().partition(":")
    if not (colon and hour.isdigit() and minute.isdigit() and len(minute) == 2 and len(hour) <= 2):
        raise ValueError(f"has {text.strip()!r}, which is no time: write it like 18:30.")
    value = int(hour) * 60 + int(minute)
    if int(minute) > 59 or value > DAY_MINUTES:
        raise ValueError(f"has {text.strip()!r}, which no clock shows: write 00:00 to 24:00.")
    return value
