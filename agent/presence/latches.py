"""What keeps a condition from flickering: it sets in quickly and ends slowly.

Two kinds. *Settling*: a cable that was plugged in, a program that has ended or memory that came
free counts only when it has been so for a while. *Busy*: the use of the processor by others, which
never rests, sets in well above the value at which it ends, and each of the two has to last. A
latch that ended cannot set in and end again within ``QUIET_FOR_S``, so that a machine changes its
mind a few times a minute at most, however the load swings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

BUSY_FOR_S = 5.0
QUIET_FOR_S = 30.0
BUSY_ABOVE_PERCENT = 15
"""So much above the limit of the rules others count as busy: 25 % where up to 10 % is allowed."""
BUSY_PERCENT_MAX = 97


@dataclass(frozen=True, slots=True)
class Busy:
    """Whether other programs use the processor; None before the first look."""

    now: bool | None = None
    over_since_s: float | None = None
    under_since_s: float | None = None


def busy_after(busy: Busy, percent: float, limit: int, now_s: float) -> Busy:
    """Return the latch after other programs were seen to use the processor this much: it sets well
    above ``limit`` and ends at or below it, each only when that has lasted for a while."""
    if busy.now is None:
        return Busy(percent > limit)
    ceiling = min(limit + BUSY_ABOVE_PERCENT, BUSY_PERCENT_MAX)
    over_s = None if percent <= ceiling else _since(busy.over_since_s, now_s)
    under_s = None if percent > limit else _since(busy.under_since_s, now_s)
    if not busy.now and over_s is not None and now_s - over_s >= BUSY_FOR_S:
        return Busy(now=True)
    if busy.now and under_s is not None and now_s - under_s >= QUIET_FOR_S:
        return Busy(now=False)
    return replace(busy, over_since_s=over_s, under_since_s=under_s)


def _since(since_s: float | None, now_s: float) -> float:
    return now_s if since_s is None else since_s


@dataclass(frozen=True, slots=True)
class Settling:
    """When each condition held the machine back last, by its name."""

    last_s: dict[str, float] = field(default_factory=dict)

    def after(self, name: str, *, holds: bool, now_s: float) -> Settling:
        """Return the latch after another look at the condition of this name."""
        return Settling({**self.last_s, name: now_s}) if holds else self

    def ended_s(self, name: str, now_s: float) -> float | None:
        """Return how long ago the condition held last; None if it never did."""
        last_s = self.last_s.get(name)
        return None if last_s is None else now_s - last_s
