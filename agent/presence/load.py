"""How busy this machine is, for whoever looks at the flock: all programs together, its own included.

Looked at rarely, and told only where it has moved far enough that a person would say so: every word
of it goes to all machines.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import psutil

from agent.presence.sources.processor import machine_busy_s

LOOK_EVERY_S = 15.0
STEP_PERCENT = 10
"""A change by less is not told."""


class Load:
    """Measures how busy the processor is on average between two looks."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        busy_s: Callable[[], float] = machine_busy_s,
        cores: int = 0,
    ) -> None:
        self._clock, self._busy_s = clock, busy_s
        self._cores = cores or psutil.cpu_count() or 1
        self._before = clock(), busy_s()

    def look(self) -> int | None:
        """Return how busy all processors were on average since the last look, in percent; None
        where no time has passed. The first time it is since this was made."""
        (then_s, used_s), self._before = self._before, (self._clock(), self._busy_s())
        passed_s = self._before[0] - then_s
        if passed_s <= 0:
            return None
        share = (self._before[1] - used_s) / (passed_s * self._cores)
        return round(100 * min(1.0, max(0.0, share)))


async def watch_load(
    told: Callable[[], int | None], tell: Callable[[int], None], stopped: asyncio.Event
) -> None:
    """Look every 15 seconds how busy the machine is, in percent, and call ``tell`` where that is
    ten points or more away from what was ``told``; return when ``stopped`` is set. While ``told``
    returns None, as the node joins or leaves a flock, nothing is told."""
    load = Load()
    while not stopped.is_set():
        try:
            async with asyncio.timeout(LOOK_EVERY_S):
                await stopped.wait()
        except TimeoutError:
            percent, before = load.look(), told()
            if percent is not None and before is not None and abs(percent - before) >= STEP_PERCENT:
                tell(percent)
