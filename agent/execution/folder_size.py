"""How much a program has written into its working folder. Runs in a bare interpreter too.

The program may be at work meanwhile, and may not want to be counted: so no link is followed that a
folder was replaced by, no path gets too long to be opened, and whoever counts need not count all at
once.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from contextlib import suppress

TYPE_CHECKING = False  # importing typing would take as long as starting a program
if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK_BYTES = 512
WALK_SHARE = 20
"""How many times longer than a walk through the working folder the pause after it is."""
OPEN_FILES_SEEN_MAX = 20_000
"""In one walk; who has more open is looked at in part."""
PATH_LENGTH_MAX = 2_000
"""Folders behind a longer path are opened from there on: the system refuses paths of 4,096 letters."""
TOO_DEEP, TOO_DEEP_BYTES = 64, 1 << 50
"""So many such lengths one in the other nobody needs; that counts as more than any disk has."""
FILE_BYTES_MAX = 64 * 1024
"""More than that no file counts for being one."""
OPEN_BENEATH = 437
NO_LINKS_AND_BENEATH = 0x04 | 0x08
FOLDER_FLAGS = (
    os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
) | getattr(os, "O_CLOEXEC", 0)

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def folder_bytes(folder: str) -> int:
    """Return how many bytes the files below a folder take on disk, each once, however many names it
    has. Symbolic links count nothing, nor does what cannot be read."""
    return sum(sizes(folder))


def sizes(folder: str, least: int = 0) -> Iterator[int]:
    """Yield how many bytes each file below a folder takes on disk, once, however many names it has,
    and each folder there; none takes fewer than ``least``. What cannot be read is left out. Folders
    that lie too deep in each other end the walk, with more bytes than any disk has."""
    kept_open: list[int] = []
    counted: set[int] = set()
    waiting: list[tuple[int | None, str]] = [(None, folder)]
    try:
        while waiting and len(kept_open) <= TOO_DEEP:
            place, path = waiting.pop()
            with suppress(OSError):
                here = _opened(place, path)
                far = place is None or len(path) > PATH_LENGTH_MAX
                if isinstance(here, int) and far:
                    kept_open.append(here)
                try:
                    for name, is_folder, size in _entries(here, counted):
                        yield max(size, least)
                        if is_folder:
                            waiting.append(
                                _below(here if far else place, "" if far else path, name)
                            )
                finally:
                    if isinstance(here, int) and not far:
                        os.close(here)
        if waiting:
            yield TOO_DEEP_BYTES
    finally:
        for each in kept_open:
            os.close(each)


def _below(place: int | str | None, path: str, name: str) -> tuple[int | None, str]:
    """Where a folder lies: from one that is open, or by its path where none can be."""
    if isinstance(place, str):
        return None, os.path.join(place, name)  # noqa: PTH118 - quick to import
    return place, f"{path}/{name}" if path else name


def _opened(place: int | None, path: str) -> int | str:
    """A folder by its number where the system can do that, without any link on the way to it."""
    if _libc is None:
        return path
    if place is None:
        return os.open(path, FOLDER_FLAGS)
    told = struct.pack("=QQQ", FOLDER_FLAGS, 0, NO_LINKS_AND_BENEATH)
    file = _libc.syscall(OPEN_BENEATH, place, os.fsencode(path), told, len(told))
    return int(file) if file >= 0 else os.open(path, FOLDER_FLAGS, dir_fd=place)


def _entries(folder: int | str, counted: set[int]) -> Iterator[tuple[str, bool, int]]:
    """Name, whether it is a folder, and size of all that is in one, but files that were counted."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                is_folder = entry.is_dir(follow_symlinks=False)
                found = entry.stat(follow_symlinks=False)
                if found.st_nlink > 1 and not is_folder:
                    if found.st_ino in counted:
                        continue
                    counted.add(found.st_ino)
                yield entry.name, is_folder, _file_bytes(found)


def files_below(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield all below a folder that are no folders, links among them; what cannot be read, or is too
    deep for a path, is left out. No program may be at work there."""
    waiting = [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as found:
            for each in found:
                if each.is_dir(follow_symlinks=False):
                    waiting.append(each.path)
                else:
                    yield each


def length_of(path: str) -> int:
    """Return how many bytes a file, or all files of a folder together, are long, whatever they take on
    disk; raise ``OSError`` when it is gone."""
    found = os.stat(path)  # noqa: PTH116 - quick to import
    if not stat.S_ISDIR(found.st_mode):
        return found.st_size
    return sum(each.stat(follow_symlinks=False).st_size for each in files_below(path))


def free_bytes(folder: str) -> tuple[int, int]:
    """Return how many bytes can still be written on a folder's disk, and how many a small file
    takes at least; a disk with no room for more files counts as full. Raise ``OSError`` when it
    cannot be asked."""
    found = os.statvfs(folder)
    free = found.f_bavail * found.f_frsize
    if not found.f_files or not found.f_favail:  # some keep no such list, or do not tell of it
        return free, BLOCK_BYTES
    each = min(found.f_blocks * found.f_frsize // found.f_files, FILE_BYTES_MAX)
    return min(free, found.f_favail * each), each


def nameless_bytes(folder: str, processes: list[int]) -> int:
    """Return how many bytes on a folder's disk are taken by deleted files that these processes
    still have open, which no walk through the folder finds; 0 where that cannot be read. Only the
    first 20,000 open files are looked at."""
    total, seen = 0, 0
    counted: set[int] = set()
    with suppress(OSError):
        disk = os.stat(folder).st_dev  # noqa: PTH116 - quick to import
        for process in processes:
            with suppress(OSError), os.scandir(f"/proc/{process}/fd") as files:
                for each in files:
                    seen += 1
                    if seen > OPEN_FILES_SEEN_MAX:
                        return total
                    with suppress(OSError):
                        found = each.stat()
                        own = found.st_dev == disk and stat.S_ISREG(found.st_mode)
                        if own and not found.st_nlink and found.st_ino not in counted:
                            counted.add(found.st_ino)
                            total += _file_bytes(found)
    return total


def _file_bytes(found: os.stat_result) -> int:
    blocks: int | None = getattr(found, "st_blocks", None)  # Windows tells none
    return found.st_size if blocks is None else BLOCK_BYTES * blocks
