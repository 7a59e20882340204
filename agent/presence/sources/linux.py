"""What Linux shows in small files: its processes, mains or battery, and when somebody typed last.

*Own time* is the sum of this process's time and that of every process below it, each with what it
has inherited: a process that has ended has given its time to the one that waited for it, so the sum
only grows, and nothing gets lost between two looks. The children of a process are read from the file
that names them, so that a look costs what the node runs and not what the machine does. Nobody else
has to be looked for: who is abandoned by its parent falls to the keeper of its program, or to the
guardian (``agent.execution``), and so stays below this process.

*Names* of processes are one small file each; a list by way of the full descriptions costs ten times
as much, every few seconds.

*Mains*: the kernel tells of each supply. Mice and keyboards have batteries too; those say that they
belong to a device. A machine without a battery of its own is on mains.

*Terminals* (consoles, windows with a shell, logins over the network): the system keeps for each when
a program read from it last, which is when somebody typed and their program took it. It rounds this
down to eight seconds, but the first key after a pause is seen at once. Writing to a terminal is
another time, so that a long build is not taken for typing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from agent.presence.readings import LastInput
from agent.presence.sources import Asked

assert sys.platform != "win32"

PROCESSES = Path("/proc")
TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
DESCENDANTS_MAX = 10_000
USER, INHERITED_SYSTEM = 11, 14
"""Places in the description of a process, counted after its name."""
NAME_BYTES_MAX = 64
SUPPLIES = Path("/sys/class/power_supply")
PSEUDO = Path("/dev/pts")
CONSOLE = Path("/sys/class/tty/tty0/active")
DEVICES = Path("/dev")


class LinuxOwnTime:
    """Counts what this process and all that it has started used of the processor."""

    def __init__(self, me: int | None = None, processes: Path = PROCESSES) -> None:
        self._me = os.getpid() if me is None else me
        self._processes = processes

    def read(self) -> float:
        """Return how many seconds of the processor this process and all below it have used so far;
        what cannot be read, such as a process that has just ended, counts nothing."""
        return sum(self._used_s(each) for each in [self._me, *self.descendants()])

    def descendants(self) -> list[int]:
        """Return the processes below this one, parents before children; beyond a limit of about
        ``DESCENDANTS_MAX`` they are left out."""
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


def linux_names(processes: Path = PROCESSES) -> Iterator[tuple[int, str]]:
    """Yield id and name of each process, without those that end meanwhile; raise ``OSError`` where
    there is no such file system."""
    for number in os.listdir(processes):  # noqa: PTH208 - paths would cost more than the reading
        if number.isdigit():
            with suppress(OSError):
                yield int(number), _name(f"{processes}/{number}/comm")


def linux_names_of_person(processes: Path = PROCESSES) -> Iterator[tuple[int, str]]:
    """Yield id and name of each process of this process's user that runs a program, so none of the
    kernel's; raise ``OSError`` where there is no ``/proc``."""
    for pid, name in linux_names(processes):
        with suppress(OSError):
            of = processes / str(pid)
            if of.stat().st_uid == os.getuid() and (of / "exe").readlink().name:
                yield pid, name


def _name(path: str) -> str:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, NAME_BYTES_MAX).decode("utf-8", "replace").strip()
    finally:
        os.close(file)


def linux_mains(supplies: Path = SUPPLIES) -> Asked[bool]:
    """Return the source of whether a Linux machine is on mains."""
    return Asked(lambda: _on_mains(supplies), "the kernel")


def _on_mains(supplies: Path) -> bool:
    try:
        found = [_supply(path) for path in sorted(supplies.iterdir())]
    except FileNotFoundError:
        found = []
    lines = [each for each in found if each.get("type") in ("Mains", "USB", "Wireless")]
    if any(each.get("online") == "1" for each in lines):
        return True
    batteries = [
        each
        for each in found
        if each.get("type") in ("Battery", "UPS") and each.get("scope") != "Device"
    ]
    draining = any(each.get("status") == "Discharging" for each in batteries)
    unplugged = any(each.get("type") == "Mains" for each in lines)
    return not batteries or not (draining or unplugged)


def _supply(folder: Path) -> dict[str, str]:
    found = {}
    for name in ("type", "online", "scope", "status"):
        try:
            found[name] = (folder / name).read_text().strip()
        except OSError:
            continue
    return found


def terminal_last_input(
    clock: Callable[[], float],
    wall: Callable[[], float] = time.time,
    pseudo: Path = PSEUDO,
    console: Path = CONSOLE,
    devices: Path = DEVICES,
) -> Asked[LastInput]:
    """Return a source of when somebody typed last in any terminal or console, whoever's it is, and
    in which; it reads infinitely long ago where there is none, and is never unseen."""

    def ask() -> LastInput:
        newest_s, where = 0.0, ""
        for path in _terminals(pseudo, console, devices):
            with suppress(OSError):
                at_s = os.stat(path).st_atime  # noqa: PTH116 - as below
                if at_s > newest_s:
                    newest_s, where = at_s, path
        if not where:
            return LastInput(float("-inf"))
        ago_s = max(0.0, wall() - newest_s)
        return LastInput(clock() - ago_s, None, str(Path(where).relative_to(devices)))

    return Asked(ask, "terminals")


def _terminals(pseudo: Path, console: Path, devices: Path) -> Iterator[str]:
    """As texts: this is looked at four times a second, and paths would cost the most of it."""
    with suppress(OSError):
        for number in os.listdir(pseudo):  # noqa: PTH208
            if number.isdigit():
                yield f"{pseudo}/{number}"
    with suppress(OSError):
        name = console.read_text().strip()
        if name.startswith("tty") and name[3:].isdigit():
            yield f"{devices}/{name}"
