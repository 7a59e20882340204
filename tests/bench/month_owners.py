"""The owners of an office for some weeks: when each machine is free, drawn from a seed, or read.

It was frozen before any rule was tuned on it. A machine is free when its owner is away, the programs
that run there leave the processor alone, and it is switched on:

* *The owner* comes, lunches and leaves at hours of his own, a few minutes off each day, has two to
  four meetings a week and some without appointment, and takes breaks. Of ten days three are irregular:
  he is not there, keeps other hours, or comes and goes as it happens. Weekends are empty but for a
  visit now and then.
* *The machine* is one of three kinds, by the fits of the Failure Trace Archive: switched off now and
  then (Microsoft 1999: on for 67.0 h, off for 16.5 h in the mean), used by programs (Notre Dame 2007:
  free LogNormal(0.30, 2.20) hours, busy LogNormal(-1.02, 1.27) hours), or seldom on (Skype 2006: 16.3 h
  on, 14.3 h off).

An owner counts as there for another five minutes after he has left, as on a real machine; what is
left of a spell then is what is free. Seconds are counted from a Monday at midnight.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Final

DAY_S: Final = 86_400.0
HOUR_S: Final = 3_600.0
QUIET_S: Final = 300.0
"""So long after the last input an owner counts as away."""
IRREGULAR: Final = 0.3
WEEKEND_VISITS: Final = 0.07

Spells = list[tuple[float, float]]
"""From when to when, in order, apart from each other."""


def drawn(seed: int, machines: int, days: int) -> list[Spells]:
    """Return when each of so many machines is free within so many days."""
    return [_machine(Random(f"owner {seed} {index}"), index, days) for index in range(machines)]


def read(trace: Path) -> list[Spells]:
    """Return when each machine of a trace is free: lines of machine, from and to in seconds, separated
    by commas; other lines, as a heading, are skipped. The least moment becomes the start."""
    spells: dict[str, Spells] = {}
    with trace.open(newline="", encoding="utf-8") as file:
        for row in csv.reader(file):
            try:
                begins_s, ends_s = float(row[1]), float(row[2])
            except (ValueError, IndexError):
                continue
            spells.setdefault(row[0].strip(), []).append((begins_s, ends_s))
    if not spells:
        raise SystemExit(f"{trace} has no lines of machine, from and to, in seconds.")
    start_s = min(begins_s for each in spells.values() for begins_s, _ in each)
    return [
        joined((begins_s - start_s, ends_s - start_s) for begins_s, ends_s in each)
        for each in spells.values()
    ]


def joined(spells: Iterable[tuple[float, float]]) -> Spells:
    """Return the spells in order, those that touch made one, empty ones left out."""
    found: Spells = []
    for begins_s, ends_s in sorted(spells):
        if found and begins_s <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ends_s))
        elif begins_s < ends_s:
            found.append((begins_s, ends_s))
    return found


def free_s(spells: Spells, begins_s: float, ends_s: float) -> float:
    """Return how many seconds of an interval lie in the spells."""
    return sum(max(0.0, min(to, ends_s) - max(since, begins_s)) for since, to in spells)


def _machine(draw: Random, index: int, days: int) -> Spells:
    used = joined([*_owner(draw, days), *_kind(draw, index % 3, days)])
    return list(_between(used, days * DAY_S))


def _between(used: Spells, ends_s: float) -> Iterator[tuple[float, float]]:
    since_s = 0.0
    for begins_s, to_s in [*used, (ends_s, ends_s)]:
        if begins_s > since_s:
            yield since_s, begins_s
        since_s = max(since_s, to_s + QUIET_S)


def _kind(draw: Random, kind: int, days: int) -> Iterator[tuple[float, float]]:
    """When the machine is off, or used by programs."""
    now_s = -draw.uniform(0.0, 2 * DAY_S)
    while now_s < days * DAY_S:
        if kind == 1:
            up_h, down_h = draw.lognormvariate(0.30, 2.20), draw.lognormvariate(-1.02, 1.27)
        else:
            means = (67.0, 16.5) if kind == 0 else (16.3, 14.3)
            up_h, down_h = (draw.expovariate(1.0 / mean) for mean in means)
        now_s += up_h * HOUR_S
        yield now_s, now_s + down_h * HOUR_S
        now_s += down_h * HOUR_S


def _owner(draw: Random, days: int) -> Iterator[tuple[float, float]]:
    """When the owner sits there."""
    comes_h, leaves_h = draw.gauss(8.7, 0.7), draw.gauss(17.5, 0.8)
    lunch_h, eats_h = draw.gauss(12.4, 0.35), draw.uniform(0.6, 1.1)
    meetings = [
        (
            draw.randrange(5),
            draw.choice((9.0, 10.0, 11.0, 14.0, 15.0, 16.0)),
            draw.uniform(0.7, 1.6),
        )
        for _ in range(draw.randint(2, 4))
    ]
    for day in range(days):
        comes, leaves = draw.gauss(comes_h, 0.2), draw.gauss(leaves_h, 0.35)
        lunch, eats = draw.gauss(lunch_h, 0.13), max(0.3, draw.gauss(eats_h, 0.13))
        away = [(lunch, lunch + eats)]
        away += [(at + draw.gauss(0.0, 0.05), at + h) for on, at, h in meetings if on == day % 7]
        for _ in range(draw.choice((0, 0, 1))):  # without appointment
            at = draw.uniform(9.0, 17.0)
            away.append((at, at + draw.uniform(0.4, 1.5)))
        for _ in range(draw.randint(1, 4)):  # breaks
            at = draw.uniform(comes, leaves)
            away.append((at, at + draw.uniform(0.1, 0.4)))
        irregular = draw.random() < IRREGULAR
        course = draw.choice(("not there", "other hours", "as it happens"))
        shift_h, visits = draw.gauss(0.0, 2.0), draw.random()
        if day % 7 > 4:
            away, irregular, course = [], True, "as it happens"
            if visits > WEEKEND_VISITS:
                continue
        if irregular and course == "not there":
            continue
        if irregular and course == "as it happens":
            away = []
            comes, leaves = draw.uniform(7.0, 20.0), draw.uniform(8.0, 23.0)
        elif irregular:
            comes, leaves = comes + shift_h, leaves + shift_h
            away = [(since + shift_h, to + shift_h) for since, to in away]
        yield from _there(day, comes, leaves, joined(away))


def _there(
    day: int, comes_h: float, leaves_h: float, away: Spells
) -> Iterator[tuple[float, float]]:
    """The hours between coming and leaving without those away, in seconds."""
    since_h = comes_h
    for begins_h, ends_h in [*away, (leaves_h, leaves_h)]:
        if min(begins_h, leaves_h) > since_h:
            yield day * DAY_S + since_h * HOUR_S, day * DAY_S + min(begins_h, leaves_h) * HOUR_S
        since_h = max(since_h, ends_h)
