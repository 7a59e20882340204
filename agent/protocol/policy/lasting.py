"""How likely a machine stays free for as long as a task takes, by what it says of itself.

A machine that has learned when its owner comes back tells its peers how likely it is still free in
10, 30 and 120 minutes, in thousandths and in coarse steps, and no more than that. In between the
chance falls at an even rate; later it goes on falling as in the last stretch. Who says nothing is
neither trusted nor shunned. Everything here is a pure function of what was told, so all nodes come to
the same order of machines.

**Waiting for a better machine** is worth it only where a task would probably be thrown away, a much
better machine is about to end what it runs, and the task has not waited long for that already.
"""

from __future__ import annotations

from collections.abc import Iterable
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
RISKY: Final = 0.6
"""What is less likely to end than this waits for a better machine, if there is one;"""
MUCH_BETTER: Final = 0.25
"""better by this,"""
WAITS_S_MAX: Final = 600.0
"""within this, and never for longer than the task takes."""


def survival(curve: Curve, seconds: float) -> float:
    """Return how likely a machine that tells this curve stays free for so many seconds."""
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


def likely(curve: Curve, seconds: float) -> int:
    """Return the same in steps, for comparing machines."""
    return round(survival(curve, seconds) * STEPS)


def waits_s(length_s: float) -> float:
    """Return for how long a task of this length may wait for a better machine, at most."""
    return min(length_s, WAITS_S_MAX)


def worth_waiting(here: float, others: Iterable[float]) -> bool:
    """Tell whether a task had better wait: it would probably not end here, and much more probably
    on one of the others, which are soon free."""
    return here < RISKY and any(other >= here + MUCH_BETTER for other in others)
