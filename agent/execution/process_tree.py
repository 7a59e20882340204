"""All processes below one, on Linux: listed, stopped, continued, ended.

Whoever starts processes while it is being stopped or ended is looked at again, until a look finds
nothing new. Runs in a bare interpreter too, so it imports little.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
from contextlib import suppress

assert sys.platform != "win32"

TYPE_CHECKING = False  # see ``keeper``
if TYPE_CHECKING:
    from collections.abc import Callable

    Reaped = Callable[[int, int, resource.struct_rusage], None]
    """Told of each child that has ended: which, how, and what it has used."""

LOOKS_MAX = 200
PAUSE_S = 0.005


def children_of(process: int) -> list[int]:
    """Return the children of a process, of all its threads; empty when it is gone or cannot be
    looked at. A thread that ends meanwhile hands its children to another one, which may have been
    read before: look again where all are wanted."""
    found: list[int] = []
    if not os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children"):  # noqa: PTH110
        return _children_by_parent(process)
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208 - starts faster
            with (
                suppress(OSError),
                open(f"/proc/{process}/task/{thread}/children", "rb") as file,  # noqa: PTH123
            ):
                found += map(int, file.read().split())
    return found


def descendants(process: int) -> list[int]:
    """Return all processes below one at this moment, parents before their children, without itself;
    empty when it is gone."""
    found = children_of(process)
    for each in found:  # it grows while it is read
        found += children_of(each)
    return found


def signal_tree(process: int, number: int) -> None:
    """Send a signal once to every process below one, not to itself, and look again until no new one
    is found, ``LOOKS_MAX`` times at most; pass over those that are gone or may not be signalled."""
    known: set[int] = set()
    for _ in range(LOOKS_MAX):
        fresh = [each for each in descendants(process) if each not in known]
        if not fresh:
            return
        for each in fresh:
            _signal(each, number)
        known.update(fresh)


def end_tree(process: int, reaped: Reaped | None = None) -> None:
    """Kill all processes below one and, unless that is this one, itself; return when they are gone,
    or after a number of tries, with some left. They are stopped first, so that what starts others
    fast comes to an end too; of children of this one ``reaped`` is told, unless it is None."""
    own = process == os.getpid()
    ended = set() if own else {process}
    if not own:
        _signal(process, signal.SIGSTOP)
    for look in range(LOOKS_MAX):
        if look < 2:
            signal_tree(process, signal.SIGSTOP)
        below = descendants(process)
        ended.update(below)
        for each in below if own else [*below, process]:
            _signal(each, signal.SIGKILL)
        if not (reap(reaped) if own else any(map(_lives, ended))) and not below:
            return
        select.select([], [], [], PAUSE_S)


def reap(reaped: Reaped | None = None) -> bool:
    """Collect, without waiting, the children of this process that have ended, and report each to
    ``reaped``; return whether others still run."""
    try:
        while True:
            process, status, used = os.wait4(-1, os.WNOHANG)
            if not process:
                return True
            if reaped is not None:
                reaped(process, status, used)
    except ChildProcessError:
        return False


def _lives(process: int) -> bool:
    """Whether it has not come to its end, which its parent may not have taken note of yet."""
    with suppress(OSError):
        os.waitpid(process, os.WNOHANG)
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return False


def _signal(process: int, number: int) -> None:
    with suppress(OSError):
        os.kill(process, number)


def _children_by_parent(parent: int) -> list[int]:
    """Where the kernel lists no children: whoever names this one as its parent."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                if int(file.read().rpartition(b")")[2].split()[1]) == parent:
                    found.append(int(name))
        except (OSError, IndexError):
            continue
    return found
