"""How likely a machine stays free for as long as a task takes, by what it says of itself.

A machine that has learned when its owner comes back tells its peers how likely it is still free in
10, 30 and 120 minutes, in thousandths and in coarse steps, and no more than that. In between the
chance falls at an even rate; later it goes on falling as in the last stretch. Who says nothing is
neither trusted nor shunned. Everything here is a pure function of what was told, so all nodes come to
the same order of machines.

What is done with that where a machine is not likely to last is in ``better_machines``.
"""

from __future__ import annotations

from math import exp, log
from typing import Final

Curve = tuple[int, ...]
"""Thousandths, at the moments of ``CURVE_S``; empty says nothing."""

CURVE_S: Final = (600.0, 1800.0, 7200.0)
UNKNOWN: Final = 0.9
"""Of a machine that says nothing."""
STEPS: Final = 20
"""Chances that differ by less than one in so many are alike: other things decide then."""
LEAST: Final = 0.001
RISKY: Final = 0.9
"""What is less likely to end than this gives way to a shorter task that is more likely to end there"""
MUCH_LIKELIER: Final = 0.1
"""by this, but not for longer than"""
OVERTAKEN_S_MAX: Final = 1800.0
WAITS_S_MAX: Final = 300.0
"""So long a place is left empty for a better one."""


def survival(curve: Curve, seconds: float) -> float:
    """Return how likely a machine that tells this curve stays free for so many seconds; later than
    it tells, that goes on falling as before. ``UNKNOWN``, whatever the time, where the curve is
    empty or malformed."""
    if len(curve) != len(CURVE_S):
        return UNKNOWN
    since_s, chance, rate = 0.0, 1.0, 0.0
    for at_s, permille in zip(CURVE_S, curve, strict=True):
        then = min(chance, max(permille / 1000, LEAST))
        rate = log(chance / then) / (at_s - since_s)
        if seconds <= at_s:
            break
        since_s, chance = at_s, then
    return chance * exp(-rate * (max(seconds, 0.0) - since_s))


def half_s(curve: Curve) -> float | None:
    """Return after how many seconds, to within 30, a machine is as likely needed as free; None
    where that is later than what the curve tells of, or it tells nothing."""
    if len(curve) != len(CURVE_S) or survival(curve, CURVE_S[-1]) > 0.5:
        return None
    low_s, high_s = 0.0, CURVE_S[-1]
    while high_s - low_s > 30.0:
        middle_s = (low_s + high_s) / 2
        low_s, high_s = (middle_s, high_s) if survival(curve, middle_s) > 0.5 else (low_s, middle_s)
    return high_s


def in_steps(chance: float) -> int:
    """Return a chance in steps, for comparing machines."""
    return round(chance * STEPS)


def much_likelier(one: float, other: float) -> bool:
    """Tell whether one chance is so much better than the other that order gives way to it."""
    return one > other + MUCH_LIKELIER
