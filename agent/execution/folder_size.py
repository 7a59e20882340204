"""How much a program has written into its working folder. Runs in a bare interpreter too."""

from __future__ import annotations

import os
from contextlib import suppress

BLOCK_BYTES = 512
WALK_SHARE = 20
"""How many times longer than a walk through the working folder the pause after it is."""


def folder_bytes(folder: str) -> int:
    """Return how many bytes the files below a folder take on disk. Links count nothing, hard ones
    neither; nor does what cannot be read."""
    total, folders = 0, [folder]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        total += _file_bytes(entry.stat(follow_symlinks=False))
    return total


def _file_bytes(found: os.stat_result) -> int:
    if found.st_nlink > 1:
        return 0
    blocks: int | None = getattr(found, "st_blocks", None)  # Windows tells none
    return found.st_size if blocks is None else BLOCK_BYTES * blocks
