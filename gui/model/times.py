"""Times as people say them: relative when near, by the clock when today, by the day when not.

All of it takes ``now`` as an argument, so that what the screen says can be tested at any moment.
"""

from __future__ import annotations

import time

from gui.words import tr, tr_n

MINUTE_S = 60
HOUR_S = 3600
DAY_S = 86_400
SOON_S = 90
LATE_S = 5
"""A guess that was passed by so much, and by half of it, was wrong."""


def clock(at_s: float) -> str:
    """Return the time of day, as 11:32."""
    return time.strftime("%H:%M", time.localtime(at_s))


def exact(at_s: float) -> str:
    """Return day and time with seconds, for tool tips."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_s))


def moment(at_s: float, now_s: float) -> str:
    """Return a moment of the past as people say it: 11:32 today, yesterday 11:32, else the day
    alone, as 2026-11-19."""
    days = _day(now_s) - _day(at_s)
    if days == 0:
        return clock(at_s)
    if days == 1:
        return tr("yesterday {clock}", clock=clock(at_s))
    return time.strftime("%Y-%m-%d", time.localtime(at_s))


def ago(at_s: float, now_s: float) -> str:
    """Return how long ago, in seconds or minutes, nought for what is to come; from an hour and a
    half on the moment itself."""
    passed_s = max(0.0, now_s - at_s)
    if passed_s < SOON_S:
        return tr("{seconds} s ago", seconds=round(passed_s))
    if passed_s < SOON_S * MINUTE_S:
        return tr("{minutes} min ago", minutes=round(passed_s / MINUTE_S))
    return moment(at_s, now_s)


def span(length_s: float) -> str:
    """Return a duration in words: seconds up to a minute and a half, then minutes, then hours with
    minutes, and from two days on days alone; 0 s for a negative one."""
    whole = max(0, round(length_s))
    if whole < SOON_S:
        return tr("{seconds} s", seconds=whole)
    hours, rest = divmod(round(whole / MINUTE_S), 60)
    if not hours:
        return tr("{minutes} min", minutes=rest)
    if hours < 48:
        if rest:
            return tr("{hours} h {minutes} min", hours=hours, minutes=rest)
        return tr("{hours} h", hours=hours)
    return tr_n("%n day(s)", "", round(whole / DAY_S))


def left(end_s: float, now_s: float) -> str:
    """Return the time until an expected end, or that it may come any moment when it is overdue."""
    rest_s = end_s - now_s
    if rest_s <= 0:
        return tr("any moment")
    if rest_s < SOON_S:
        return tr("{seconds} s left", seconds=round(rest_s))
    return tr("{span} left", span=span(rest_s))


def still(end_s: float, begun_s: float, now_s: float) -> str:
    """Return what is said of something that runs: the time until its expected end, if one is
    expected (0: none) and was not passed long ago; else for how long it has run, empty where it is
    not known when it began."""
    late_s = max(LATE_S, (end_s - begun_s) / 2) if begun_s else LATE_S
    if end_s and now_s - end_s <= late_s:
        return left(end_s, now_s)
    return tr("running for {span}", span=span(now_s - begun_s)) if begun_s else ""


def countdown(until_s: float, now_s: float) -> str:
    """Return minutes and seconds until then, such as 4:05; from an hour on hours and minutes; 0:00
    when it is over."""
    rest = max(0, round(until_s - now_s))
    if rest >= HOUR_S:
        return span(rest)
    return f"{rest // 60}:{rest % 60:02d}"


def size(size_bytes: int) -> str:
    """Return a number of bytes as people say it, with a unit from B to TB in steps of a thousand,
    and one digit behind the point below 10."""
    value, units = float(size_bytes), ("B", "kB", "MB", "GB", "TB")
    for unit in units:
        if value < 1000 or unit == units[-1]:
            return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("the last unit takes everything")


def _day(at_s: float) -> int:
    local = time.localtime(at_s)
    return int(
        time.mktime((local.tm_year, local.tm_mon, local.tm_mday, 12, 0, 0, 0, 0, -1)) // DAY_S
    )
