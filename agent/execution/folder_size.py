"""How much a program has written into its working folder. Runs in a bare interpreter too."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

BLOCK_BYTES = 512
WALK_SHARE = 20
"""How many times longer than a walk through the working folder the pause after it is."""
OPEN_FILES_SEEN_MAX = 20_000
"""In one walk; who has more open is looked at in part."""


def folder_bytes(folder: str) -> int:
    """Return how many bytes the files below a folder take on disk, each once, however many names it
    has. Symbolic links count nothing, nor does what cannot be read."""
    total, folders = 0, [folder]
    counted: set[int] = set()
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                        continue
                    found = entry.stat(follow_symlinks=False)
                    if found.st_nlink > 1:
                        if found.st_ino in counted:
                            continue
                        counted.add(found.st_ino)
                    total += _file_bytes(found)
    return total


def nameless_bytes(folder: str, processes: list[int]) -> int:
    """Return how many bytes those files take that these processes have open on the disk of a folder
    though they have no name any more: no walk finds them."""
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
