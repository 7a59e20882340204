"""How much a program has written into its working folder. Runs in a bare interpreter too."""

from __future__ import annotations

import os
from contextlib import suppress

BLOCK_BYTES = 512
LAID = ("inputs", "checkpoint")
"""In a working folder, what the node has laid there: the program has not written it."""
WALK_SHARE = 20
"""How many times longer than a walk through the working folder the pause after it is."""


def folder_bytes(folder: str) -> int:
    """Return how many bytes the files below a folder take on disk. Links count nothing, hard ones
    neither; nor does what was laid there for the program, and what cannot be read."""
    total, folders = 0, [folder]
    laid = {f"{folder}{os.sep}{each}" for each in LAID}
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        if entry.path not in laid:
                            folders.append(entry.path)
                    else:
                        total += _file_bytes(entry.stat(follow_symlinks=False))
    return total


def _file_bytes(found: os.stat_result) -> int:
    if found.st_nlink > 1:
        return 0
    blocks: int | None = getattr(found, "st_blocks", None)  # Windows tells none
    return found.st_size if blocks is None else BLOCK_BYTES * blocks
