"""Which files a pattern fits, without walking a whole disk for it.

As ``glob`` has it: ``*``, ``?`` and ``[`` choose among the names of a folder, ``**`` stands for any
number of folders, and hidden files fit no pattern that does not name the dot. Unlike there, what is
looked at on the way is counted and timed, and ``**`` goes into no folder by a link, so that a pattern
ends however large the disk is.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import time
from collections.abc import Iterator
from pathlib import Path

ENTRIES_MAX = 200_000
"""Names that one file may have looked at; a workflow has at most half as many tasks."""
SECONDS_MAX = 10.0
ANY_DEPTH = "**"


class TooWideError(Exception):
    """More is below there than is looked at."""


class Budget:
    """What all patterns of one workflow file may take together."""

    def __init__(self) -> None:
        self._entries, self._until_s = ENTRIES_MAX, 0.0

    def take(self) -> None:
        """Count one more name that was looked at. Raises ``TooWideError`` when those are too many,
        or looking took too long."""
        self._until_s = self._until_s or time.monotonic() + SECONDS_MAX
        self._entries -= 1
        if self._entries < 0 or (not self._entries % 512 and time.monotonic() > self._until_s):
            raise TooWideError


def fitting(folder: Path, pattern: str, budget: Budget) -> Iterator[Path]:
    """Yield what fits a pattern that begins in this folder, or at the root where it is absolute, in
    no order; what cannot be read is left out. Raises ``TooWideError``."""
    whole = Path(pattern)
    parts = whole.parts[1:] if whole.is_absolute() else whole.parts
    start = Path(whole.anchor) if whole.is_absolute() else folder
    found = _below(start, parts, budget)
    yield from dict.fromkeys(found) if parts.count(ANY_DEPTH) > 1 else found


def _below(folder: Path, parts: tuple[str, ...], budget: Budget) -> Iterator[Path]:
    if not parts:
        yield folder
        return
    first, rest = parts[0], parts[1:]
    if first == ANY_DEPTH:
        yield from _at_any_depth(folder, parts, budget)
    elif not glob.has_magic(first):
        path = folder / first
        if path.exists() if rest else os.path.lexists(path):
            yield from _below(path, rest, budget)
    else:
        for entry in _entries(folder, budget):
            hidden = entry.name.startswith(".") and not first.startswith(".")
            if not hidden and fnmatch.fnmatch(entry.name, first) and (not rest or entry.is_dir()):
                yield from _below(Path(entry.path), rest, budget)


def _at_any_depth(folder: Path, parts: tuple[str, ...], budget: Budget) -> Iterator[Path]:
    rest = parts[1:]
    yield from _below(folder, rest, budget) if rest else ()
    for entry in _entries(folder, budget):
        if entry.name.startswith("."):
            continue
        yield from () if rest else (Path(entry.path),)
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), parts, budget)


def _entries(folder: Path, budget: Budget) -> list[os.DirEntry[str]]:
    found: list[os.DirEntry[str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                budget.take()
                found.append(entry)
    except OSError:
        pass
    return found
