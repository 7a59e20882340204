"""How much of the processor other programs use: everything but this node and what it runs.

The machine's use is one figure of the kernel, this node's is another (``own_time``, which differs
by system); both only grow, and the difference is other people's. The figure is an average over
``WINDOW_S``: single bursts are nobody's work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import psutil

from agent.api.presence_reasons import StillMeasured
from agent.presence.readings import Reading, Seen, Unseen

WINDOW_S = 10.0
MEASURED_S_MIN = 2.0
FOR_SOMEBODY = ("user", "nice", "system", "irq", "softirq", "steal", "interrupt", "dpc")


class Processor:
    """Samples of both, as long as the window."""

    def __init__(
        self,
        clock: Callable[[], float],
        own_s: Callable[[], float],
        busy_s: Callable[[], float] | None = None,
    ) -> None:
        self._clock, self._own_s, self._busy_s = clock, own_s, busy_s or machine_busy_s
        self._cores = psutil.cpu_count() or 1
        self._samples: deque[tuple[float, float]] = deque()
        """When, and what others had used by then."""

    def read(self) -> Reading[float]:
        """Return how much of the processor others used in the last seconds, in percent; unseen
        until it was measured for long enough."""
        now_s = self._clock()
        if self._samples and now_s - self._samples[-1][0] > 3 * WINDOW_S:
            self._samples.clear()  # it was not looked for, or this machine slept
        self._samples.append((now_s, self._busy_s() - self._own_s()))
        while len(self._samples) > 2 and now_s - self._samples[1][0] >= WINDOW_S:
            self._samples.popleft()
        then_s, before_s = self._samples[0]
        passed_s = now_s - then_s
        if passed_s < MEASURED_S_MIN:
            return Unseen(StillMeasured())
        percent = 100 * (self._samples[-1][1] - before_s) / (passed_s * self._cores)
        return Seen(min(100.0, max(0.0, percent)))

    def close(self) -> None:
        """Begin anew at the next look."""
        self._samples.clear()


def machine_busy_s() -> float:
    """Return for how many seconds all processors together were busy since the machine was
    started."""
    times = psutil.cpu_times()
    return sum(float(getattr(times, name, 0.0)) for name in FOR_SOMEBODY)
