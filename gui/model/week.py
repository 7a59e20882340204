"""Hours of the week as a grid of 7 × 24 cells that one can paint, and back to ranges.

The agent takes ranges to the minute; the grid shows whole hours. A range that does not fall on whole
hours paints every hour it touches, and is kept as it is while nobody paints.
"""

from __future__ import annotations

from typing import get_args

from agent.api.volunteering import Hours, Weekday

DAYS: tuple[Weekday, ...] = get_args(Weekday)
HOURS_OF_DAY = 24
Cells = frozenset[tuple[int, int]]
"""(day, hour), Monday is 0."""


def cells_of(ranges: tuple[Hours, ...]) -> Cells:
    """Return every hour that a range touches, in part too. A range that does not end after it
    begins goes on the next day, after Sunday on Monday; one that ends as it begins is 24 hours."""
    cells: set[tuple[int, int]] = set()
    for each in ranges:
        day = DAYS.index(each.day)
        begin, end = _minutes(each.begins), _minutes(each.ends)
        length = end - begin if end > begin else end + HOURS_OF_DAY * 60 - begin
        for hour in range(begin // 60, (begin + length + 59) // 60):
            cells.add(((day + hour // HOURS_OF_DAY) % len(DAYS), hour % HOURS_OF_DAY))
    return frozenset(cells)


def ranges_of(cells: Cells) -> tuple[Hours, ...]:
    """Return the cells as ranges, one for each run of hours within a day; a run over midnight
    becomes two."""
    ranges = []
    for number, day in enumerate(DAYS):
        hour = 0
        while hour < HOURS_OF_DAY:
            if (number, hour) not in cells:
                hour += 1
                continue
            begin = hour
            while hour < HOURS_OF_DAY and (number, hour) in cells:
                hour += 1
            ranges.append(Hours(day, _clock(begin), _clock(hour)))
    return tuple(ranges)


def with_block(cells: Cells, first: tuple[int, int], last: tuple[int, int], on: bool) -> Cells:
    """Return the cells with the rectangle between two corners, which belong to it, switched on or
    off."""
    days = range(min(first[0], last[0]), max(first[0], last[0]) + 1)
    hours = range(min(first[1], last[1]), max(first[1], last[1]) + 1)
    block = frozenset((day, hour) for day in days for hour in hours)
    return cells | block if on else cells - block


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _clock(hour: int) -> str:
    return f"{hour:02d}:00"
