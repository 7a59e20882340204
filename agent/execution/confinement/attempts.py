"""Tries what a confined program must not be able to do, and what it must be; prints what went.

Its text is handed to a bare interpreter that is confined like any program, with what to try as JSON:
``secrets`` are files of the agent, ``folder`` and ``file`` its owner's, ``process`` and ``group`` the
agent. Nothing is harmed where something is open: limits are set to what they are, signal 0 only
asks, and what was made is removed.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
from functools import partial

TYPE_CHECKING = False  # importing typing takes longer than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Told = dict[str, Any]
    Attempts = Iterator[tuple[str, Callable[[], object]]]

PTRACE_SEIZE = 0x4206
NEW_USER = 0x10000000
FAMILIES = (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX)
_libc = ctypes.CDLL(None, use_errno=True)


def files(told: Told) -> Attempts:
    """Yield attempts to reach files that are not the program's own, each with a name: all have to
    fail in a confinement that holds."""
    for secret in (*told["secrets"], told["file"], "/proc/1/environ"):
        yield "read", partial(_open, secret, os.O_RDONLY)
    folder, file = told["folder"], told["file"]
    yield "write", lambda: _open(file, os.O_WRONLY | os.O_APPEND)
    yield "make", lambda: _open(f"{folder}/made", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    yield "list", lambda: os.listdir(folder)
    yield "link", lambda: os.link(file, "linked")
    yield "truncate", lambda: os.truncate(file, os.stat(file).st_size)
    yield "mode", lambda: os.chmod(file, os.stat(file).st_mode & 0o7777)
    yield "times", lambda: os.utime(file)
    yield "watch", lambda: _watch(folder)
    yield "attributes", lambda: os.listxattr(file)
    yield "list processes", lambda: os.listdir("/proc")


def network(_: Told) -> Attempts:
    """Yield attempts to open sockets that reach beyond the program's own processes, each with a
    name: all have to fail where programs have no network."""
    for family in FAMILIES:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            name = f"{family.name} {kind.name}"
            yield name, partial(_socket, family, kind)
    yield "AF_NETLINK", partial(_socket, socket.AF_NETLINK, socket.SOCK_RAW)
    yield "a pair for datagrams", _pair_for_datagrams


def signals(told: Told) -> Attempts:
    """Yield attempts to signal or steer processes that are not the program's own, each with a name:
    all have to fail in a confinement that holds."""
    process = told["process"]
    yield "signal", lambda: os.kill(process, 0)
    if told["group"]:  # 0, the program's own, where the agent's was begun outside its container
        yield "signal a group", lambda: os.killpg(told["group"], 0)
    yield "priority", lambda: _set_priority(process)
    yield "scheduling", lambda: os.sched_setaffinity(process, os.sched_getaffinity(process))
    yield "limits", lambda: _set_limits(process)


def tracing(told: Told) -> Attempts:
    """Yield attempts to look into other processes, or to begin anew without this confinement, each
    with a name: all have to fail in one that holds."""
    process = told["process"]
    yield "trace", lambda: _check(_libc.ptrace(PTRACE_SEIZE, process, 0, 0))
    yield "memory", lambda: _open(f"/proc/{process}/mem", os.O_RDONLY)
    yield "environment", lambda: _open(f"/proc/{process}/environ", os.O_RDONLY)
    yield "namespaces", lambda: _check(_libc.unshare(NEW_USER))


def needed(_: Told) -> Attempts:
    """Yield attempts at what every program has to be able to do in its folder, each with a name:
    all have to succeed."""
    yield "write", lambda: _open("tried", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    yield "make a folder", lambda: os.mkdir("below")
    yield "rename", lambda: os.rename("tried", "below/tried")
    yield "remove", lambda: os.unlink("below/tried")
    yield "write temporary files", lambda: _open(f"{os.environ['TMPDIR']}/tried", os.O_CREAT)
    yield "execute", lambda: subprocess.run(["/bin/sh", "-c", ":"], check=True)
    yield "null", lambda: _open(os.devnull, os.O_RDWR)


def main(told: Told) -> dict[str, list[str]]:
    """Try everything; return by sort the names of attempts that succeeded though they must not, and
    of needed ones that failed, with why."""
    found: dict[str, list[str]] = {}
    for sort in (files, network, signals, tracing, needed):
        found[sort.__name__] = went = []
        for name, attempt in sort(told):
            try:
                attempt()
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                went += [f"{name}: {error}"] if sort is needed else []
            else:
                went += [] if sort is needed else [name]
    return found


def _open(path: str, flags: int) -> None:
    os.close(os.open(path, flags, 0o600))


def _watch(folder: str) -> None:
    watching = _libc.inotify_init1(os.O_CLOEXEC)
    _check(watching)
    try:
        _check(_libc.inotify_add_watch(watching, os.fsencode(folder), 0x100))
    finally:
        os.close(watching)


def _socket(family: int, kind: int) -> None:
    socket.socket(family, kind).close()


def _pair_for_datagrams() -> None:
    for each in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        each.close()


def _set_priority(process: int) -> None:
    os.setpriority(os.PRIO_PROCESS, process, os.getpriority(os.PRIO_PROCESS, process))


def _set_limits(process: int) -> None:
    now = resource.prlimit(process, resource.RLIMIT_CORE)
    resource.prlimit(process, resource.RLIMIT_CORE, now)


def _check(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(sys.argv[1]))))
