"""Tries on Windows what a confined program must not be able to do, and what it must be.

As ``attempts`` does elsewhere: its text goes to a bare interpreter that is confined like any program,
with what to try as JSON, ``port`` and ``pipe`` being where the agent listens. Nothing is harmed where
something is open, and nothing is sent beyond this machine.
"""

from __future__ import annotations

import ctypes
import json
import os
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

TERMINATE, CREATE_THREAD, OPERATE, READ_MEMORY = 0x1, 0x2, 0x8, 0x10
WRITE_MEMORY, SET_INFORMATION, SUSPEND, QUERY = 0x20, 0x200, 0x800, 0x400
CONNECTED_S = 3.0


def files(told: Told) -> Attempts:
    """Yield attempts to reach files that are not the program's own, each with a name: all have to
    fail in a confinement that holds."""
    for secret in (*told["secrets"], told["file"]):
        yield "read", partial(_open, secret, os.O_RDONLY)
    folder, file = told["folder"], told["file"]
    yield "write", lambda: _open(file, os.O_WRONLY | os.O_APPEND)
    yield "make", lambda: _open(os.path.join(folder, "made"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    yield "list", lambda: os.listdir(folder)
    yield "link", lambda: os.link(file, "linked")
    yield "rename", lambda: os.rename(file, file)
    yield "times", lambda: os.utime(file)
    for place in ("USERPROFILE", "APPDATA"):
        if os.environ.get(place):
            yield f"list {place}", partial(os.listdir, os.environ[place])


def network(told: Told) -> Attempts:
    """Yield the ways to other programs of this machine."""
    yield "connect", partial(_connect, told["port"])
    yield "open a pipe", lambda: _open(told["pipe"], os.O_RDWR)


def signals(told: Told) -> Attempts:
    """Yield what would end, suspend or change processes that are not its own."""
    for right in (TERMINATE, SUSPEND, SET_INFORMATION):
        yield f"process {right:#x}", partial(_process, told["process"], right)


def tracing(told: Told) -> Attempts:
    """Yield what would look into other processes, or act in their place."""
    for right in (READ_MEMORY, WRITE_MEMORY | OPERATE, CREATE_THREAD, QUERY):
        yield f"process {right:#x}", partial(_process, told["process"], right)


def needed(_: Told) -> Attempts:
    """Yield attempts at what every program has to be able to do in its folder, each with a name:
    all have to succeed."""
    yield "write", lambda: _open("tried", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    yield "make a folder", lambda: os.mkdir("below")
    yield "rename", lambda: os.rename("tried", "below/tried")
    yield "remove", lambda: os.unlink("below/tried")
    yield (
        "write temporary files",
        lambda: _open(os.path.join(os.environ["TMP"], "tried"), os.O_CREAT),
    )
    yield "execute", lambda: subprocess.run(["cmd.exe", "/c", "exit 0"], check=True)
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


def _connect(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), CONNECTED_S).close()


def _process(process: int, right: int) -> None:
    kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(right, False, process)
    if not handle:
        raise OSError(ctypes.get_last_error(), "refused")  # type: ignore[attr-defined]
    kernel.CloseHandle(ctypes.c_void_p(handle))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(sys.argv[1]))))
