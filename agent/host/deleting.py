"""Deletes what a program has left, whatever it did against that.

It may have taken its own rights away, and have made folders in folders a thousandfold: neither a path
as long as no system takes nor a step of ours for each of them must stand in the way, or what it wrote
stays on the owner's disk.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

FOLDER_MODE = 0o700
PATH_LENGTH_MAX = 200
"""Beyond the folder's own; what lies deeper is moved up before it is looked into."""


def delete_tree(folder: Path) -> None:
    """Delete a folder with all that is in it, no link in it followed, also what its rights forbid
    (those are changed for it); where it is a link itself, only that. What cannot be deleted stays,
    and nothing is raised. No program may be at work in it."""
    if leads_elsewhere(folder):
        with suppress(OSError):
            folder.unlink()
        return
    top = str(folder)
    found = [top]
    for number, each in enumerate(found):  # it grows while it is read
        for name, is_folder in _entries(each):
            path = os.path.join(each, name)  # noqa: PTH118 - there may be a million
            if not is_folder:
                _insist(os.unlink, path)
            elif len(path) - len(top) <= PATH_LENGTH_MAX:
                found.append(path)
            else:
                found.append(_moved_up(path, top, number))
    for each in reversed(found[1:]):
        _insist(os.rmdir, each)
    _allow(top)
    with suppress(OSError):  # the rights of the folder above are not ours to change
        folder.rmdir()


def leads_elsewhere(folder: Path) -> bool:
    """Tell whether this is a link, or on Windows a junction; not where it cannot be looked at."""
    with suppress(OSError):
        return _is_link(folder.lstat())
    return False


def _entries(folder: str) -> list[tuple[str, bool]]:
    for _ in range(2):
        with suppress(OSError), os.scandir(folder) as entries:
            return [(each.name, _is_folder(each)) for each in entries]
        _allow(folder)
    return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not _is_link(entry.stat(follow_symlinks=False))


def _is_link(found: os.stat_result) -> bool:
    """On Windows a folder may be a way to another one, which is none of the program's."""
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_reparse_tag", 0))


def _moved_up(path: str, top: str, number: int) -> str:
    """Where a folder lies after it was moved to the top, and where it lay if that cannot be."""
    _allow(path)
    for turn in range(number, number + 100):
        above = os.path.join(top, f".deleted-{number}-{turn}")  # noqa: PTH118
        if not os.path.lexists(above):
            with suppress(OSError):
                os.rename(path, above)  # noqa: PTH104
                return above
    return path


def _insist(delete: Callable[[str], None], path: str) -> None:
    try:
        delete(path)
    except OSError:
        _allow(os.path.dirname(path))  # noqa: PTH120
        _allow(path)
        with suppress(OSError):
            delete(path)


def _allow(path: str) -> None:
    with suppress(OSError):
        if not os.path.islink(path):  # noqa: PTH114
            os.chmod(path, FOLDER_MODE)  # noqa: PTH101
