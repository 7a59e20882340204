"""Namespaces: a keeper that sees every file system read-only but the folder of its program.

Landlock does not look at modes, owners and times: a program of the same account could make the
owner's files unreadable, or the whole home readable for everybody. On a file system that is mounted
read-only none of that can be done, so a keeper has mounts of its own, made once; for each program
the folder that it works in is made writable, and read-only again when it is over. Shared memory
lies in a small file system of the keeper's own.

Where Landlock does not hold signals back, a program gets process numbers of its own as well: it
cannot name the processes of others, and when its first one ends, the kernel ends all of them.

Runs in a bare interpreter too. Whoever calls ``enter`` has one thread only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from contextlib import suppress

NEW_MOUNTS, NEW_USER, NEW_PROCESSES = 0x00020000, 0x10000000, 0x20000000
MOUNT_SETATTR, OPEN_TREE, MOVE_MOUNT = 442, 428, 429
CLONE = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine)
HERE, RECURSIVE, EMPTY_PATH = -100, 0x8000, 0x1000
TREE_CLONE, FROM_EMPTY_PATH = 1, 4
READ_ONLY, SLAVE = 1, 1 << 19
SHARED_MEMORY = "/dev/shm"
NO_DEVICES_NO_SETUID = 0b110
SHARED_MEMORY_BYTES = 256 * 1024 * 1024
SHARED_FILES_MAX = 4_096
STAY_WRITABLE = ("/proc", "/sys/fs/cgroup", "/sys/fs/cgroup/unified")
"""Where keepers themselves say how programs are scheduled; programs may not write there."""

_libc = ctypes.CDLL(None, use_errno=True)


def enter() -> None:
    """Give this process mounts of its own, all read-only but those of the kernel for processes and
    control groups, and empty shared memory of its own. Raise ``OSError`` when the system does not
    let its users do that; some of it may have been done then."""
    user, group = os.geteuid(), os.getegid()
    _check(_libc.unshare(NEW_USER | NEW_MOUNTS))
    with suppress(OSError):  # an old kernel does not ask for it
        _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    _set_mount(HERE, "/", RECURSIVE, READ_ONLY, 0, SLAVE)
    for place in STAY_WRITABLE:
        with suppress(OSError):
            _set_mount(HERE, place, 0, 0, READ_ONLY)
    options = f"size={SHARED_MEMORY_BYTES},nr_inodes={SHARED_FILES_MAX},mode=1777".encode()
    with suppress(OSError):
        told = (b"tmpfs", SHARED_MEMORY.encode(), b"tmpfs", NO_DEVICES_NO_SETUID, options)
        _check(_libc.mount(*told))


class Writable:
    """The one folder that a keeper's program may change, as far as mounts are concerned."""

    def __init__(self) -> None:
        self._known: set[tuple[str, int]] = set()

    def open(self, folder: str) -> None:
        """Make a folder writable in the mounts of this process; raise ``OSError`` when that is not
        possible."""
        key = (folder, os.stat(folder).st_ino)  # noqa: PTH116 - quick to import
        if key in self._known:
            _set_mount(HERE, folder, 0, 0, READ_ONLY)
            return
        tree = _check(
            _libc.syscall(OPEN_TREE, HERE, folder.encode(), TREE_CLONE | os.O_CLOEXEC, 0, 0)
        )
        try:
            _set_mount(tree, "", EMPTY_PATH, 0, READ_ONLY)
            told = (tree, b"", HERE, folder.encode(), FROM_EMPTY_PATH)
            _check(_libc.syscall(MOVE_MOUNT, *told))
        finally:
            os.close(tree)
        self._known.add(key)

    def close(self, folder: str) -> None:
        """Make it read-only again, and forget what lies in shared memory; a folder that is gone is
        ignored."""
        with suppress(OSError):
            _set_mount(HERE, folder, 0, READ_ONLY, 0)
        _empty(SHARED_MEMORY)


def fork_with_own_processes() -> int:
    """Fork, the child being the first process of a set of its own, which ends with it; return as
    ``os.fork`` does. Raise ``OSError`` when the system refuses."""
    flags = NEW_PROCESSES | signal.SIGCHLD
    return _check(_libc.syscall(CLONE, flags, 0, 0, 0, 0))


def _empty(folder: str) -> None:
    with suppress(OSError):
        for each in os.listdir(folder):  # noqa: PTH208 - starts faster
            path = f"{folder}/{each}"
            with suppress(OSError):
                if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
                    _empty(path)
                    os.rmdir(path)  # noqa: PTH106
                else:
                    os.unlink(path)  # noqa: PTH108


def _set_mount(at: int, path: str, flags: int, add: int, remove: int, spread: int = 0) -> None:
    told = struct.pack("=QQQQ", add, remove, spread, 0)
    _check(_libc.syscall(MOUNT_SETATTR, at, path.encode(), flags, told, len(told)))


def _write(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(result)
