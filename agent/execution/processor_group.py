"""A control group for programs, where the desktop shares the processor out by such groups.

Many desktops put each application into a control group of its own, all with the same share. Inside
of its group a program at idle priority gives way to nobody but the agent. So programs are moved to
a group beside the agent's own that is idle as a whole. That needs a system that lets its users do
so (version 2, the processor's controller handed on to them); elsewhere there is no such group, and
none is needed, because there the priority of processes counts among all.

Runs in a bare interpreter too.
"""

from __future__ import annotations

import os
from contextlib import suppress

PREFIX = "wingbeat-programs-"


class ProcessorGroup:
    """Of one guardian. ``members`` is the file that takes processes; empty: there is no group."""

    def __init__(self, root: str = "/sys/fs/cgroup", own: str = "/proc/self/cgroup") -> None:
        self.members = ""
        self._folder = ""
        with suppress(OSError):
            self._make(root, _read(own))

    def close(self) -> None:
        """Remove the control group, if one was made; it stays, and nothing is raised, while
        something is in it."""
        if self._folder:
            with suppress(OSError):
                os.rmdir(self._folder)  # noqa: PTH106

    def _make(self, root: str, groups: str) -> None:
        own = next((line[3:] for line in groups.splitlines() if line.startswith("0::/")), "/")
        if own == "/":
            return
        beside = os.path.dirname(root + own)  # noqa: PTH120
        if "cpu" not in _read(f"{beside}/cgroup.subtree_control").split():
            return
        for left in os.listdir(beside):  # noqa: PTH208 - one that still has members stays
            if left.startswith(PREFIX):
                with suppress(OSError):
                    os.rmdir(f"{beside}/{left}")  # noqa: PTH106
        folder = f"{beside}/{PREFIX}{os.getpid()}"
        os.mkdir(folder)  # noqa: PTH102
        self._folder = folder
        if _write(f"{folder}/cpu.idle", "1") or _write(f"{folder}/cpu.weight", "1"):
            self.members = f"{folder}/cgroup.procs"


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


def _write(path: str, text: str) -> bool:
    try:
        file = os.open(path, os.O_WRONLY)
    except OSError:
        return False
    try:
        os.write(file, text.encode())
    except OSError:
        return False
    finally:
        os.close(file)
    return True
