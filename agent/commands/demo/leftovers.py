"""Folders of demos that were killed: the next demo removes them.

A demo that is killed cannot clean up. Its agents notice and end by themselves; its folder stays. The
folder's name tells the process that made it, so nothing has to be written that could be missing,
and the folder of a demo that still plays is never touched. In a folder for temporary files others make
folders too: only real ones of this account are looked at.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

FOLDER = "wingbeat-demo-"
LATE_S_MAX = 60.0
"""By how much a clock may be set between the start of a demo and its folder. A process of the same
id that began later than that is another one."""
REMOVED_MAX = 100


def new_folder() -> Path:
    """Make and return a folder for the demo that this process plays."""
    return Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-")).resolve()


def remove_leftovers() -> None:
    """Delete the folders of demos of this account that were killed, a limited number at a time;
    what cannot be removed now stays for the next one, and nothing is raised."""
    for folder in list(_abandoned())[:REMOVED_MAX]:
        with suppress(OSError):
            remove(folder)


def remove(folder: Path) -> None:
    """Delete a folder with all that is in it, read-only or not; what cannot be deleted stays,
    without an exception. One that is not there is no fault, and nothing outside is changed."""

    def allow(_: object, path: str, __: object) -> None:
        """Delete what could not be deleted, once its access rights allow it; it may stay."""
        if Path(path).is_symlink() or not Path(path).exists():
            return
        with suppress(OSError):
            if Path(path) != folder:
                Path(path).parent.chmod(stat.S_IRWXU)
            Path(path).chmod(stat.S_IRWXU)
            shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink()

    shutil.rmtree(folder, onerror=allow)


def _abandoned() -> Iterator[Path]:
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        process = folder.name.removeprefix(FOLDER).partition("-")[0]
        with suppress(OSError):
            made = folder.lstat()
            if process.isdecimal() and _is_own(made) and not _plays(int(process), made.st_mtime):
                yield folder


def _is_own(made: os.stat_result) -> bool:
    return stat.S_ISDIR(made.st_mode) and (os.name != "posix" or made.st_uid == os.getuid())


def _plays(process: int, since_s: float) -> bool:
    """Whether the process that made the folder is still there; in doubt it is."""
    try:
        return psutil.Process(process).create_time() <= since_s + LATE_S_MAX
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
