"""Files that only their owner reads, written whole or not at all.

A key that another account of the machine can read is not a key, and a certificate torn by a
power cut is a machine that somebody has to walk to. So everything about belonging to a flock goes
through one folder: its protection is checked before each read, and a file is replaced by a
complete one that is already on the disk. How a system protects files and makes names durable is
behind ``FileGuard``, a class for each system.

``write_whole`` does the same for files that others may read: after a power cut there is the new
content, or the one before.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from pathlib import Path
from typing import Protocol

from agent.api.errors import MembershipError, NotKeptError

FILE_BYTES_MAX = 8 * 1024 * 1024
_UNFINISHED = ".unfinished"


class FileGuard(Protocol):
    """What systems do differently to keep files from other accounts."""

    def protect(self, folder: Path) -> None:
        """Let only its owner into the folder, and with it into every file that is made there; raise
        ``OSError`` when that fails."""

    def exposure(self, path: Path) -> str:
        """Return who else may read a file or folder, and the cure; empty when nobody may."""

    def replace(self, source: Path, target: Path) -> None:
        """Put one file in the place of another, durably; raise ``OSError`` when that fails."""


class PrivateFolder:
    """A folder of small files for one account."""

    def __init__(self, path: Path, guard: FileGuard | None = None) -> None:
        self.path = path
        self._guard = guard or native_guard()

    def prepare(self) -> None:
        """Make the folder if it is missing, keep other accounts out of it, and remove what an
        interrupted write left; raise ``MembershipError`` when that fails. A folder that was made
        stays then."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._guard.protect(self.path)
            for left in self.path.glob(f"*{_UNFINISHED}"):
                left.unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable("make", self.path, error) from error

    def read(self, name: str) -> bytes | None:
        """Return all of the file, None where there is none; raise ``MembershipError`` when others
        can read it, it is larger than 8 MiB, or cannot be read."""
        path = self.path / name
        try:
            if not path.exists():
                return None
            exposure = self._guard.exposure(path)
            if exposure:
                raise MembershipError(f"{path} {exposure}")
            with path.open("rb") as file:
                data = file.read(FILE_BYTES_MAX + 1)
        except OSError as error:
            raise self._unusable("read", path, error) from error
        if len(data) > FILE_BYTES_MAX:
            raise MembershipError(f"{path} is too large to be Wingbeat's: move it away")
        return data

    def write(self, name: str, data: bytes) -> None:
        """Replace the file, or make it, whole and durable on return; raise ``NotKeptError`` when
        the disk refuses, and leave the old one."""
        path = self.path / name
        fresh = self.path / f"{name}.{secrets.token_hex(4)}{_UNFINISHED}"
        try:
            _write_new(fresh, data)
            self._guard.replace(fresh, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise NotKeptError(str(self._unusable("write", path, error))) from error

    def remove(self, name: str) -> None:
        """Remove the file if it is there; raise ``MembershipError`` when it cannot be removed."""
        path = self.path / name
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable("remove", path, error) from error

    @staticmethod
    def _unusable(verb: str, path: Path, error: OSError) -> MembershipError:
        reason = error.strerror or type(error).__name__
        cure = "check that the folder belongs to your account and that the disk is not full"
        return MembershipError(f"cannot {verb} {path} ({reason}): {cure}")


def native_guard() -> FileGuard:
    """Return the guard of private files for the system that this runs on: by access lists on
    Windows, by modes elsewhere."""
    if sys.platform == "win32":
        from agent.host.private_windows import WindowsGuard

        return WindowsGuard()
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.host.private_posix import PosixGuard

        return PosixGuard()


def _write_new(path: Path, data: bytes) -> None:
    """A new file, private from its first moment: the mode is given where it is made."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_whole(path: Path, content: bytes) -> None:
    """Replace the file, or make it, readable as others of this account are, so that after a power
    cut there is the new content or the old one; its folder has to be there, and only one may write it
    at a time. Raise ``OSError`` when the disk refuses, and leave the old one; an unfinished file may
    stay beside it."""
    fresh = path.with_name(f"{path.name}.unfinished")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
