"""What this node and its programs have used of the processor, on Linux.

The sum of its own time and that of every process below it, each with what it has inherited: a
process that has ended has given its time to the one that waited for it, so the sum only grows, and
nothing gets lost between two looks. The children of a process are read from the file that names
them, so that a look costs what the node runs and not what the machine does. Nobody else has to be
looked for: who is abandoned by its parent falls to the keeper of its program, or to the guardian
(``agent.execution``), and so stays below this process.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

assert sys.platform != "win32"

PROCESSES = Path("/proc")
TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
DESCENDANTS_MAX = 10_000
USER, INHERITED_SYSTEM = 11, 14
"""Places in the description of a process, counted after its name."""


class LinuxOwnTime:
    """Counts what this process and all that it has started used of the processor."""

    def __init__(self, me: int | None = None, processes: Path = PROCESSES) -> None:
        self._me = os.getpid() if me is None else me
        self._processes = processes

    def read(self) -> float:
        """Return what this node and all below it have used of the processor so far, in seconds."""
        return sum(self._used_s(each) for each in [self._me, *self.descendants()])

    def descendants(self) -> list[int]:
        """Return the processes below this one, parents before children, up to about a limit."""
        found = self._children(self._me)
        for each in found:  # it grows while it is read
            if len(found) > DESCENDANTS_MAX:
                break
            found += self._children(each)
        return found

    def _children(self, process: int) -> list[int]:
        found: list[int] = []
        with suppress(OSError):
            for thread in (self._processes / str(process) / "task").iterdir():
                with suppress(OSError):
                    found += map(int, (thread / "children").read_bytes().split())
        return found

    def _used_s(self, process: int) -> float:
        try:
            told = (self._processes / str(process) / "stat").read_bytes()
        except OSError:
            return 0.0
        words = told.rpartition(b")")[2].split()
        return sum(map(int, words[USER : INHERITED_SYSTEM + 1])) * TICK_S
