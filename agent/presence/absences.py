"""When the owner of this machine is likely to come back, learned from when it was free before.

Pure: spells and moments come in, a curve goes out. Each stretch during which the machine was free
counts, with how long it had been free, the quarter of an hour and the weekday; so does its end. The
rate of ends is the product of three factors, each drawn towards one where little was seen:

* by how long it has been free: who has just left is back sooner than who left hours ago;
* by the quarter of an hour: lunch ends about then, whatever the day;
* by weekday and hour: nobody comes on Sundays, and on Tuesdays there is a meeting.

What was seen three weeks ago counts half. After a few days nearly nothing is known and the curve is
wide; of a machine that was hardly watched nothing is said. Days that are unlike the others move a
factor by little. What leaves the machine is the curve, in coarse steps; the spells stay in its home
(``kept_absences``).

Moments are seconds of the clock on the wall here, counted from a Monday at midnight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import exp
from typing import Final, NamedTuple

from agent.protocol.policy.lasting import CURVE_S, Curve

DAY_S: Final = 86_400
WEEK_S: Final = 7 * DAY_S
QUARTER_S: Final = 900
HALF_LIFE_S: Final = 3 * WEEK_S
KEPT_S: Final = 12 * WEEK_S
SPELLS_MAX: Final = 4_000
WATCHED_S_MIN: Final = 2 * DAY_S
ENDS_MIN: Final = 4
"""With less nothing is said."""
AGES_S: Final = (300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400)
"""How long a machine has been free is told apart at these."""
STAYS_S: Final = 600
USUAL_RATE: Final = 1 / 7200
"""Ends in a second, before anything was seen; that counts as this long:"""
USUAL_S: Final = 3600
ROUNDS: Final = 3
STEP_PERMILLE: Final = 50
"""In such steps the curve is told: nobody reads off it when somebody lunches to the minute."""


class Spell(NamedTuple):
    """The machine was free from then to then."""

    begins_s: float
    ends_s: float


class _Piece(NamedTuple):
    """Part of a spell that lies in one cell of each factor."""

    age: int
    quarter: int
    hour: int
    weight_s: float
    ends: float


class Absences:
    """What this machine has learned of its owner's absences."""

    def __init__(self, spells: Iterable[Spell] = ()) -> None:
        self.spells: list[Spell] = [Spell(*each) for each in spells][-SPELLS_MAX:]
        self._fitted = -1.0
        self._rates = _Rates((), 0.0, 0.0)

    def note(self, spell: Spell) -> None:
        """Learn from a spell (of being free or used) that has ended, and forget those of over
        twelve weeks before it; an empty one, or one that begins before the last has ended, is
        ignored."""
        if spell.ends_s <= spell.begins_s:
            return
        if self.spells and spell.begins_s < self.spells[-1].ends_s:
            return
        oldest_s = spell.ends_s - KEPT_S
        self.spells = [each for each in self.spells[1 - SPELLS_MAX :] if each.ends_s > oldest_s]
        self.spells.append(spell)
        self._fitted = -1.0

    def curve(self, now_s: float, since_s: float) -> Curve:
        """Return how likely it stays free for each of ``CURVE_S`` from now, when it has been free
        since then: in thousandths, rounded to fifties; empty where too little was seen."""
        if not self._enough(now_s, since_s):
            return ()
        chances = self._survivals(now_s, since_s, CURVE_S[-1])
        told = (next(c for at_s, c in chances if at_s >= wanted) for wanted in CURVE_S)
        return tuple(STEP_PERMILLE * round(1000 * c / STEP_PERMILLE) for c in told)

    def stays(self, now_s: float) -> bool:
        """Tell whether an owner who has come back mostly stays longer than a suspended run waits,
        by earlier returns at about this time, else by all. False where too few were seen."""
        gaps = [(one.ends_s, other.begins_s - one.ends_s) for one, other in pairwise(self.spells)]
        about_now = [gap for at_s, gap in gaps if _near(at_s, now_s)]
        counted = about_now if len(about_now) >= ENDS_MIN else [gap for _, gap in gaps]
        if len(counted) < ENDS_MIN:
            return False
        return 2 * sum(gap > STAYS_S for gap in counted) >= len(counted)

    def _enough(self, now_s: float, since_s: float) -> bool:
        spells = self.spells
        if now_s - since_s >= 2 * WATCHED_S_MIN:
            return True
        return len(spells) >= ENDS_MIN and now_s - spells[0].begins_s >= WATCHED_S_MIN

    def _survivals(
        self, now_s: float, since_s: float, ahead_s: float
    ) -> Iterator[tuple[float, float]]:
        """How likely it is still free so many seconds from now, in steps of five minutes."""
        if not 0.0 <= now_s - self._fitted < DAY_S or self._fitted < 0.0:
            self._rates, self._fitted = _Rates(self.spells, now_s, since_s), now_s
        step_s, passed_s, sum_ = 300.0, 0.0, 0.0
        while passed_s < ahead_s:
            middle_s = now_s + passed_s + step_s / 2
            sum_ += self._rates.at(middle_s, middle_s - since_s) * step_s
            passed_s += step_s
            yield passed_s, exp(-sum_)


class _Rates:
    """The three factors, fitted in turn."""

    def __init__(self, spells: Iterable[Spell], now_s: float, since_s: float) -> None:
        pieces = [piece for spell in spells for piece in _pieces(spell, now_s)]
        begins_s = max(since_s, now_s - KEPT_S)  # what goes on has not ended yet
        pieces += [each._replace(ends=0.0) for each in _pieces(Spell(begins_s, now_s), now_s)]
        self._by_age = [USUAL_RATE] * (len(AGES_S) + 1)
        self._by_quarter, self._by_hour = [1.0] * (DAY_S // QUARTER_S), [1.0] * (7 * 24)
        for _ in range(ROUNDS if pieces else 0):
            self._fit(pieces)

    def at(self, moment_s: float, age_s: float) -> float:
        """Return how many spells end in a second, on average, at this moment among those that have
        lasted ``age_s``."""
        of_week = moment_s % WEEK_S
        quarter = int(of_week % DAY_S) // QUARTER_S
        by_quarter = self._by_quarter[quarter]
        return self._by_age[_age(age_s)] * by_quarter * self._by_hour[int(of_week) // 3600]

    def _fit(self, pieces: list[_Piece]) -> None:
        ages, quarters, hours = self._by_age, self._by_quarter, self._by_hour
        ends, seen_s = [USUAL_RATE * USUAL_S] * len(ages), [float(USUAL_S)] * len(ages)
        for each in pieces:
            ends[each.age] += each.ends
            seen_s[each.age] += each.weight_s * quarters[each.quarter] * hours[each.hour]
        ages[:] = [n / s for n, s in zip(ends, seen_s, strict=True)]
        found = [(p.quarter, p.ends, p.weight_s * ages[p.age] * hours[p.hour]) for p in pieces]
        quarters[:] = _ratios(found, len(quarters), 0.5)
        found = [(p.hour, p.ends, p.weight_s * ages[p.age] * quarters[p.quarter]) for p in pieces]
        hours[:] = _ratios(found, len(hours), 0.0)


def _ratios(found: list[tuple[int, float, float]], cells: int, spread: float) -> list[float]:
    """Ends that were seen to those expected, in each cell, one of each added; ``spread`` is how much
    the cells beside it count."""
    seen, expected = [0.0] * cells, [0.0] * cells
    for cell, ends, usual in found:
        seen[cell] += ends
        expected[cell] += usual

    def around(values: list[float], n: int) -> float:
        return values[n] + spread * (values[n - 1] + values[(n + 1) % cells])

    return [(around(seen, n) + 1.0) / (around(expected, n) + 1.0) for n in range(cells)]


def _near(one_s: float, other_s: float) -> bool:
    """At about the same hour of the day."""
    apart_s = abs(one_s - other_s) % DAY_S
    return min(apart_s, DAY_S - apart_s) <= 5400


def _age(age_s: float) -> int:
    return sum(age_s >= each for each in AGES_S)


def _pieces(spell: Spell, now_s: float) -> Iterator[_Piece]:
    weight = 0.5 ** (max(0.0, now_s - spell.ends_s) / HALF_LIFE_S)
    at_s = spell.begins_s
    while at_s < spell.ends_s:
        age = _age(at_s - spell.begins_s)
        older_s = spell.begins_s + AGES_S[age] if age < len(AGES_S) else spell.ends_s
        next_s = min((at_s // QUARTER_S + 1) * QUARTER_S, older_s, spell.ends_s)
        of_week = at_s % WEEK_S
        quarter, hour = int(of_week % DAY_S) // QUARTER_S, int(of_week) // 3600
        ended = weight if next_s >= spell.ends_s else 0.0
        yield _Piece(age, quarter, hour, weight * (next_s - at_s), ended)
        at_s = next_s if next_s > at_s else at_s + 1.0
