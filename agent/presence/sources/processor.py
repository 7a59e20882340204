"""How much of the processor other programs use, and how much memory they leave.

The machine's use of its processor is one figure of the kernel, that of this node and what it runs is
another; both only grow, and the difference is other people's. The figure is an average over
``WINDOW_S``: single bursts are nobody's work.

Where nobody inherits time, this node's own is counted: the last figure of a process that has ended
stays in the sum. What it used after that is taken for somebody else's, which is little and errs on
the side of its owner.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress

import psutil

from agent.api.presence_reasons import StillMeasured
from agent.presence.sources import Asked, SightError

WINDOW_S = 10.0
MEASURED_S_MIN = 2.0
FOR_SOMEBODY = ("user", "nice", "system", "irq", "softirq", "steal", "interrupt", "dpc")


def processor(
    clock: Callable[[], float],
    own_s: Callable[[], float],
    busy_s: Callable[[], float] | None = None,
) -> Asked[float]:
    """Return a source of how much of all processors others used in the last seconds, in percent:
    what ``busy_s`` says of the machine without what ``own_s`` says of this node. Unseen until it
    was read for some seconds; closed, it begins anew."""
    busy_s, cores = busy_s or machine_busy_s, psutil.cpu_count() or 1
    samples: deque[tuple[float, float]] = deque()  # when, and what others had used by then

    def ask() -> float:
        now_s = clock()
        if samples and now_s - samples[-1][0] > 3 * WINDOW_S:
            samples.clear()  # it was not looked for, or this machine slept
        samples.append((now_s, busy_s() - own_s()))
        while len(samples) > 2 and now_s - samples[1][0] >= WINDOW_S:
            samples.popleft()
        then_s, before_s = samples[0]
        passed_s = now_s - then_s
        if passed_s < MEASURED_S_MIN:
            raise SightError(StillMeasured())
        percent = 100 * (samples[-1][1] - before_s) / (passed_s * cores)
        return min(100.0, max(0.0, percent))

    return Asked(ask, close=samples.clear)


def machine_busy_s() -> float:
    """Return how many seconds all processors together were busy since the machine was started, each
    counted by itself; waiting for disks is not busy."""
    times = psutil.cpu_times()
    return sum(float(getattr(times, name, 0.0)) for name in FOR_SOMEBODY)


def free_memory() -> Asked[float]:
    """Return a source of how many MB of memory programs can still get without others being swapped
    out, as the system estimates it; it always sees."""
    return Asked(lambda: psutil.virtual_memory().available / 2**20)


class CountedOwnTime:
    """Counts what this process and all that it has started used of the processor."""

    def __init__(self) -> None:
        self._me = psutil.Process()
        self._last_s: dict[int, float] = {}
        self._ended_s = 0.0

    def read(self) -> float:
        """Return how many seconds of the processor this process and those below it have used so
        far, those that were seen before and have ended included."""
        below: list[psutil.Process] = []
        with suppress(psutil.Error):
            below = self._me.children(recursive=True)
        now = {each.pid: _used_s(each) for each in (self._me, *below)}
        self._ended_s += sum(used_s for pid, used_s in self._last_s.items() if pid not in now)
        self._last_s = now
        return self._ended_s + sum(now.values())


def _used_s(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0
