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
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    """Return what is remembered of inputs after another look; a nudge of the pointer does not count
    yet."""
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
    """Return what is remembered of inputs with what is known of the lock."""
    if not is_locked:
        return touch if touch.locked_since_s is None else replace(touch, locked_since_s=None)
    return touch if touch.locked_since_s is not None else replace(touch, locked_since_s=now_s)


def quiet_s(touch: Touch, now_s: float) -> float:
    """Return for how many seconds nobody has touched anything that counts; infinite when nobody
    has, or since the screen was locked."""
    since_s = touch.counted_s
    left_s = touch.locked_since_s
    if since_s is None or (left_s is not None and since_s <= left_s + LOCK_SETTLES_S):
        return float("inf")
    return max(0.0, now_s - since_s)


def needed_s(touch: Touch, idle_s: float) -> float:
    """Return for how many seconds nobody may have touched anything before the machine counts as
    idle."""
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
