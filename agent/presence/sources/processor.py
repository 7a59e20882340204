"""How much of the processor other programs use: everything but this node and what it runs.

The machine's use is one figure of the kernel. This node's is its own time plus that of every
process it has started, of whatever generation. A process that has ended has given its time to the
one that waited for it, so that the sum only grows and nothing gets lost between two looks. What
ran in a group of its own but was abandoned by its parent is found by its session.

The figure is an average over ``WINDOW_S``: single bursts are nobody's work. While nothing runs
here, there are no processes to look for and a look costs next to nothing.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

import psutil

from agent.presence.readings import Reading, Seen, Unseen

WINDOW_S = 10.0
MEASURED_S_MIN = 2.0
FOR_OTHERS = ("user", "nice", "system", "irq", "softirq", "steal", "interrupt", "dpc")


class Processor:
    """Samples of both, as long as the window."""

    def __init__(
        self,
        clock: Callable[[], float],
        running: Callable[[], int],
        busy_s: Callable[[], float] | None = None,
        own_s: Callable[[bool], float] | None = None,
    ) -> None:
        self._clock, self._running = clock, running
        self._busy_s, self._own_s = busy_s or machine_busy_s, own_s or OwnTime().read
        self._cores = psutil.cpu_count() or 1
        self._samples: deque[tuple[float, float, float]] = deque()

    def read(self) -> Reading[float]:
        now_s = self._clock()
        if self._samples and now_s - self._samples[-1][0] > 3 * WINDOW_S:
            self._samples.clear()  # it was not looked for, or this machine slept
        self._samples.append((now_s, self._busy_s(), self._own_s(self._running() > 0)))
        while len(self._samples) > 2 and now_s - self._samples[1][0] >= WINDOW_S:
            self._samples.popleft()
        then_s, busy_s, own_s = self._samples[0]
        passed_s = now_s - then_s
        if passed_s < MEASURED_S_MIN:
            return Unseen("it has to be measured for a few seconds")
        used_s = (self._samples[-1][1] - busy_s) - max(0.0, self._samples[-1][2] - own_s)
        percent = 100 * used_s / (passed_s * self._cores)
        return Seen(min(100.0, max(0.0, percent)))

    def close(self) -> None:
        """Begin anew at the next look."""
        self._samples.clear()


def machine_busy_s() -> float:
    """Of all processors together, since the machine was started."""
    times = psutil.cpu_times()
    return sum(float(getattr(times, name, 0.0)) for name in FOR_OTHERS)


class OwnTime:
    """What this node and its programs have used."""

    def __init__(self) -> None:
        self._me = psutil.Process()
        self._last_s: dict[int, float] = {}
        """Of processes whose time nobody inherits when they end, and of those that did."""
        self._ended_s = 0.0

    def read(self, running: bool) -> float:
        """All of it so far; ``running``: there may be processes."""
        times = self._me.cpu_times()
        own_s = times.user + times.system
        if os.name == "posix":
            own_s += times.children_user + times.children_system
            return own_s + sum(_used_s(each) for each in self._processes()) if running else own_s
        return own_s + self._not_inherited(running)

    def _processes(self) -> Iterator[psutil.Process]:
        """Everybody below this one, and whoever shares a session with one of them."""
        children = []
        with suppress(psutil.Error):
            children = self._me.children(recursive=True)
        yield from children
        if os.name != "posix":
            return
        known = {each.pid for each in children}
        sessions = known & {_session(each.pid) for each in children}
        for pid in psutil.pids():
            if pid not in known and pid != self._me.pid and _session(pid) in sessions:
                with suppress(psutil.Error):
                    yield psutil.Process(pid)

    def _not_inherited(self, running: bool) -> float:
        """On Windows nobody gets the time of a process that has ended; its last figure stays."""
        now = {each.pid: _used_s(each) for each in self._processes()} if running else {}
        self._ended_s += sum(used_s for pid, used_s in self._last_s.items() if pid not in now)
        self._last_s = now
        return self._ended_s + sum(now.values())


def _used_s(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        times = process.cpu_times()
        inherited_s = getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
        return float(times.user + times.system + inherited_s)
    return 0.0


def _session(pid: int) -> int:
    try:
        return os.getsid(pid) if hasattr(os, "getsid") else -1
    except OSError:
        return -1
