"""Two ways to tell time, both told from outside: durations and a hybrid logical clock.

Durations are measured on a monotonic clock that nobody can set. Order between nodes is told by
a hybrid logical clock: the wall clock while it behaves, a counter when it does not, so that a
clock that is stepped back never makes a later word look older. Stamps more than a day ahead are
kept where they stand, but move no clock: one machine set to 2099 does not spoil the flock.
"""

from __future__ import annotations

from typing import NamedTuple

from agent.protocol.records import Stamp

COUNTER_MAX = 2**62


class Instant(NamedTuple):
    """When an event is handled: seconds of a monotonic clock, milliseconds of the wall."""

    elapsed_s: float
    wall_ms: int


class HybridClock:
    """Readings that only grow, near the wall clock of this node."""

    def __init__(self, last: Stamp, ahead_ms_max: int) -> None:
        self.last = last
        self._ahead_ms_max = ahead_ms_max

    def read(self, wall_ms: int) -> Stamp:
        """Return a stamp later than every earlier one and every stamp observed, and remember it."""
        wall, counter = self.last
        if wall_ms > wall:
            self.last = (wall_ms, 0)
        elif counter < COUNTER_MAX:
            self.last = (wall, counter + 1)
        else:
            self.last = (wall + 1, 0)
        return self.last

    def observe(self, stamp: Stamp, wall_ms: int) -> bool:
        """Take note of a peer's stamp; return False, and ignore it, when it is too far ahead to be
        believed."""
        if stamp[0] > wall_ms + self._ahead_ms_max:
            return False
        if stamp > self.last:
            self.last = stamp
        return True
