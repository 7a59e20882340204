"""What this node and its programs have used of the processor, where nobody inherits time.

The last figure of a process that has ended stays in the sum. What it used after that is taken for
somebody else's, which is little and errs on the side of its owner.
"""

from __future__ import annotations

from contextlib import suppress

import psutil


class CountedOwnTime:
    """Counts what this process and all that it has started used of the processor."""

    def __init__(self) -> None:
        self._me = psutil.Process()
        self._last_s: dict[int, float] = {}
        self._ended_s = 0.0

    def read(self) -> float:
        """Return what this process and those below it have used of the processor so far, in
        seconds."""
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
