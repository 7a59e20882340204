"""The two clocks of a live node.

Durations have to go on while the machine sleeps: a node that slept for an hour must see that its
timers are an hour late, because its peers went on without it. On Linux ``CLOCK_MONOTONIC``, which
asyncio's timers use, stands still meanwhile; ``CLOCK_BOOTTIME`` is the same clock with the sleep
counted. Both run at the same rate, so a timer set for a difference of the one fires right by the
other, and after a sleep it fires late, which is what the node is to notice.

On Windows ``time.monotonic`` (``GetTickCount64``, since Python 3.13 ``QueryPerformanceCounter``)
counts sleep already. ``QueryUnbiasedInterruptTime`` would not, and is not used.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from agent.protocol.clock import Instant


def elapsed_s() -> float:
    """Return the seconds of a clock that nobody sets, from some moment before this process; on
    Linux and Windows the time that the machine sleeps counts too."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        return time.monotonic()


def wall_ms() -> int:
    """Return the milliseconds since 1970 by the clock that people set."""
    return time.time_ns() // 1_000_000


class LiveClock:
    """What the driver asks for the time; tests give other functions."""

    __slots__ = ("elapsed_s", "wall_ms")

    def __init__(
        self,
        elapsed: Callable[[], float] = elapsed_s,
        wall: Callable[[], int] = wall_ms,
    ) -> None:
        self.elapsed_s = elapsed
        self.wall_ms = wall

    def now(self) -> Instant:
        """Return the present instant on both clocks."""
        return Instant(self.elapsed_s(), self.wall_ms())
