"""Owner-only files where files have modes.

Another account that may read a key is told of rather than shut out in silence: by then it may have
read it, and only a person can know whether that matters.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

OTHERS = stat.S_IRWXG | stat.S_IRWXO
ADMINISTRATOR = 0


class PosixGuard:
    """Modes 0700 and 0600, and a folder that is synced after each replacement. What everybody is to
    obey belongs to the superuser; another one than that only in tests."""

    def __init__(self, administrator: int = ADMINISTRATOR) -> None:
        self._administrator = administrator

    def protect(self, folder: Path) -> None:
        """Take the folder from group and others; raise ``OSError`` when that fails."""
        folder.chmod(0o700)

    def exposure(self, path: Path) -> str:
        """Return who else may read the file, as the end of a sentence with the cure; empty when
        only its owner can, the superuser aside. Raise ``OSError`` when there is no such file."""
        status = path.stat()
        if sys.platform != "win32" and status.st_uid != os.geteuid():
            return "belongs to another account: run Wingbeat as that account, or move the file away"
        if status.st_mode & OTHERS:
            return (
                f"can be read by other accounts (mode {stat.S_IMODE(status.st_mode):04o}): run "
                f"chmod 600 on it, and leave and join the flock again if one may have done so"
            )
        return ""

    def alterable(self, path: Path) -> str:
        """Return who else than the superuser may change the file or folder, as the end of a
        sentence with the cure; empty when nobody may. Raise ``OSError`` when there is none."""
        status = path.stat()
        if status.st_uid != self._administrator:
            return "does not belong to root: run chown root:root on it, if its content is right."
        shared = stat.S_IWOTH | (stat.S_IWGRP if status.st_gid != ADMINISTRATOR else 0)
        if status.st_mode & shared:
            return (
                f"can be changed by others than root (mode {stat.S_IMODE(status.st_mode):04o}): "
                f"run chmod go-w on it, if its content is right."
            )
        return ""

    def replace(self, source: Path, target: Path) -> None:
        """Rename ``source`` to ``target``, durable on return; raise ``OSError`` when that fails,
        also where only the syncing failed, with the file renamed by then."""
        source.replace(target)
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
