"""Whether another account of this machine could change what an agent trusts.

Settings say what may run, a program folder is run, a home holds the keys: whoever can write one of
them, or put another folder in its place, has the account. So the owner and mode of each folder on the
way to it count. A folder like ``/tmp``, where people may write but only remove what is their own
(sticky), leaves what lies in it alone. A group of one, as systems make for each person, is that person.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

SUPERUSER = 0
ENTRIES_MAX = 2_000
"""Of a folder that is looked through; what is beyond is not."""


def exposed_way(path: Path) -> str:
    """Return who else could change this file or folder or put another one there, as the end of a
    sentence with the cure; empty when nobody can, when it is not there, and always on Windows,
    where nothing is looked at."""
    if sys.platform == "win32" or not path.exists():
        return ""
    real = path.resolve()
    ways = [(real, False), *((each, True) for each in {*real.parents, *path.absolute().parents})]
    return next(filter(None, (_exposed(each, on_the_way=above) for each, above in ways)), "")


def exposed_within(folder: Path) -> str:
    """Return who else could change one of the first 2000 entries in this folder, at any depth but
    behind no link, as the end of a sentence with the cure; empty when nobody can, and always on
    Windows. The folder itself is not looked at. Raise ``OSError`` where it cannot be listed."""
    if sys.platform == "win32":
        return ""
    return next(filter(None, (_exposed(each) for each in _all_in(folder))), "")


def _all_in(folder: Path) -> Iterator[Path]:
    left, folders = ENTRIES_MAX, [folder]
    while folders and left > 0:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                left -= 1
                if entry.is_symlink():
                    continue
                yield Path(entry.path)
                if entry.is_dir():
                    folders.append(Path(entry.path))


def _exposed(path: Path, *, on_the_way: bool = False) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    if status.st_uid not in (SUPERUSER, _own()):
        return f"belongs to another account ({path} does): move it, or choose another folder"
    others = status.st_mode & stat.S_IWOTH
    group = status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid)
    sticky = on_the_way and status.st_mode & stat.S_ISVTX
    if (others or group) and not sticky:
        mode = stat.S_IMODE(status.st_mode)
        return (
            f"can be changed by other accounts ({path} has mode {mode:04o}): run chmod go-w on it"
        )
    return ""


def _own() -> int:
    return os.geteuid() if sys.platform != "win32" else SUPERUSER


def _is_own_group(number: int) -> bool:
    """Whether it is the superuser's, or of this person alone: of the same name, with nobody else."""
    if sys.platform == "win32" or number == SUPERUSER:
        return True
    import grp
    import pwd

    try:
        group, own = grp.getgrgid(number), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return group.gr_name == own.pw_name and not set(group.gr_mem) - {own.pw_name}
