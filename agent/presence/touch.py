"""Which inputs are somebody who comes back, and which are a nudged desk.

A machine that nobody has touched for ten minutes does not give way to a mouse that slid by a few
pixels because somebody walked past. But it must not miss its owner either, so the filter is narrow:

* It needs to know that it was the mouse, and how far it moved. Where the pointer did not move, it
  was a key, a button or a terminal: that counts at once. Sources that cannot tell the pointer's
  place (Wayland, terminals) have no filter: each input counts at once.
* Farther than ``BUMP_PIXELS`` from where the pointer rested: counts at once.
* The first small movement after ``BUMP_AFTER_S`` without any is held back. As soon as there is
  another input ``BURST_S`` later, it counts. A hand on a mouse goes on moving it, so whoever really
  comes back is held back for no longer than that and one look: below 0.7 s. Whatever does not go
  on within ``BUMP_WINDOW_S`` was a bump.

A locked screen is another matter: who locks it means to leave, so what came before, and in the few
seconds while the hand still leaves the mouse, does not count. What comes later does: somebody is
about to unlock it. If nobody does, the machine is free again sooner than otherwise.

**What keeps a condition from flickering: it sets in quickly and ends slowly.**

Two kinds. *Settling*: a cable that was plugged in, a program that has ended or memory that came
free counts only when it has been so for a while. *Busy*: the use of the processor by others, which
never rests, sets in well above the value at which it ends, and each of the two has to last. A
latch that ended cannot set in and end again within ``QUIET_FOR_S``, so that a machine changes its
mind a few times a minute at most, however the load swings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import dist

from agent.presence.readings import LastInput

BUMP_AFTER_S = 600.0
BUMP_PIXELS = 16.0
BURST_S = 0.3
BUMP_WINDOW_S = 5.0
SAME_S = 0.06
"""Two readings of one input differ by this at most: sources round, and take time."""
LOCK_SETTLES_S = 3.0
LOCKED_IDLE_S = 30.0
BUSY_FOR_S = 5.0
QUIET_FOR_S = 30.0
BUSY_ABOVE_PERCENT = 15
"""So much above the limit of the rules others count as busy: 25 % where up to 10 % is allowed."""
BUSY_PERCENT_MAX = 97


@dataclass(frozen=True, slots=True)
class Touch:
    """What is remembered of inputs, in seconds of the monotonic clock."""

    counted_s: float | None = None
    """The last input that counted."""
    newest_s: float | None = None
    """The last one at all."""
    bump_s: float | None = None
    """The beginning of a small movement that is held back."""
    resting: tuple[int, int] | None = None
    """Where the pointer was before."""
    by_mouse: bool = False
    """The last input that counted moved the pointer."""
    where: str = ""
    locked_since_s: float | None = None


def after(touch: Touch, seen: LastInput, now_s: float) -> Touch:
    """Return what is remembered of inputs once ``seen``, the last input, was looked at: a new one
    counts at once; but a nudge of the pointer after a long rest counts only when more follows."""
    if touch.newest_s is not None and seen.at_s <= touch.newest_s + SAME_S:
        return _nothing_new(touch, seen, now_s)
    if _held_back(touch, seen):
        goes_on = touch.bump_s is not None and seen.at_s - touch.bump_s <= BUMP_WINDOW_S
        began_s = touch.bump_s if goes_on else seen.at_s
        return replace(touch, newest_s=seen.at_s, bump_s=began_s)
    moved = touch.resting is not None and seen.pointer not in (None, touch.resting)
    return replace(
        touch,
        counted_s=seen.at_s,
        newest_s=seen.at_s,
        bump_s=None,
        resting=seen.pointer or touch.resting,
        by_mouse=moved,
        where=seen.where,
    )


def with_lock(touch: Touch, is_locked: bool, now_s: float) -> Touch:
    """Return what is remembered of inputs with the moment since when the screen is locked: now
    where it was not before, None where it is not locked."""
    if not is_locked:
        return touch if touch.locked_since_s is None else replace(touch, locked_since_s=None)
    return touch if touch.locked_since_s is not None else replace(touch, locked_since_s=now_s)


def quiet_s(touch: Touch, now_s: float) -> float:
    """Return for how many seconds nobody has touched anything that counts; infinite when nobody
    ever has, or not since some seconds after the screen was locked."""
    since_s = touch.counted_s
    left_s = touch.locked_since_s
    if since_s is None or (left_s is not None and since_s <= left_s + LOCK_SETTLES_S):
        return float("inf")
    return max(0.0, now_s - since_s)


def needed_s(touch: Touch, idle_s: float) -> float:
    """Return for how many seconds nobody may have touched anything before the machine counts as
    idle: ``idle_s``, less while the screen is locked."""
    return idle_s if touch.locked_since_s is None else min(idle_s, LOCKED_IDLE_S)


def _nothing_new(touch: Touch, seen: LastInput, now_s: float) -> Touch:
    if touch.bump_s is not None:
        if now_s - touch.bump_s <= BUMP_WINDOW_S:
            return touch
        return replace(touch, bump_s=None, resting=seen.pointer or touch.resting)
    if seen.pointer is not None and seen.pointer != touch.resting:
        return replace(touch, resting=seen.pointer)  # a program has moved it
    return touch


def _held_back(touch: Touch, seen: LastInput) -> bool:
    if touch.counted_s is None or touch.resting is None or seen.pointer is None:
        return False
    if seen.pointer == touch.resting or dist(seen.pointer, touch.resting) > BUMP_PIXELS:
        return False
    if touch.bump_s is not None and seen.at_s - touch.bump_s <= BUMP_WINDOW_S:
        return seen.at_s - touch.bump_s < BURST_S
    return seen.at_s - touch.counted_s >= BUMP_AFTER_S


@dataclass(frozen=True, slots=True)
class Busy:
    """Whether other programs use the processor; None before the first look."""

    now: bool | None = None
    over_since_s: float | None = None
    under_since_s: float | None = None


def busy_after(busy: Busy, percent: float, limit: int, now_s: float) -> Busy:
    """Return whether others use the processor too much, after they were seen to use ``percent``: it
    begins well above ``limit`` and ends at or below it, each only when that has lasted for a while.
    The first look decides at once, by ``limit``."""
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
        """Return how many seconds ago the condition held last, 0 while it does; None if it never
        did."""
        last_s = self.last_s.get(name)
        return None if last_s is None else now_s - last_s
