"""Where the parts of a journal lie, and who may read them: their owner, nobody else.

The folder is the journal's own, so that its permissions can say so. Windows gives a folder made
with mode 0o700 to its owner, the system and administrators, and files inherit that (Python 3.11.10,
3.12.4 and later); older Pythons leave what the user's profile grants, which is the same there.

**One process at a time: two agents on one journal would each believe to be this node.**

The operating system holds the lock and drops it when the process ends, however it ends, so a lock
is never stale. The file stays; what is written in it only tells people who holds it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from agent.storage.errors import JournalInUse

FOLDER_MODE = 0o700
FILE_MODE = 0o600
PROCESS_ID_WIDTH = 20


class Places:
    """The files of the journal in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "journal.db"
        self.mended = folder / "journal.mended.db"
        self.identity = folder / "identity"
        self.reserve = folder / "reserve"
        self.lock = folder / "lock"


def write_ahead_log(database: Path) -> Path:
    """Return the file in which SQLite keeps changes that are not in the database yet."""
    return database.with_name(database.name + "-wal")


def rollback_journal(database: Path) -> Path:
    """What SQLite keeps beside a database that it changes without a log: how it was before."""
    return database.with_name(database.name + "-journal")


def shared_index(database: Path) -> Path:
    """Return the file in which SQLite keeps an index of the log, rebuilt when missing."""
    return database.with_name(database.name + "-shm")


def make_private_folder(folder: Path) -> None:
    """Make the folder, with its parents, if it is not there, and let only its owner in, in either
    case; raise ``OSError`` when that fails."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    folder.chmod(FOLDER_MODE)


def make_private_file(path: Path) -> None:
    """Make an empty file if there is none, private in either case."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE))
    path.chmod(FILE_MODE)


def keep_names(folder: Path) -> None:
    """Flush the folder, so that names in it survive a loss of power; do nothing on Windows, which
    does so by itself. Raise ``OSError`` when the disk refuses."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    LOCKED_BYTE = 2**30
    """Far behind the end, because a locked byte cannot be read: what stands at the beginning, the
    process that holds the lock, stays readable to others."""

    def take(descriptor: int) -> bool:
        """Take the lock of an open file without waiting; return False when somebody else holds it,
        also another open of this process, or Windows refuses it. Closing the file gives it back.
        The file stands at its beginning then."""
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def take(descriptor: int) -> bool:
        """Take the lock of an open file without waiting; return False when somebody else holds it,
        also another open of this process, raise ``OSError`` where the file cannot be locked.
        Closing the file gives it back."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class FolderLock:
    """The lock of a journal's folder, held from ``take`` to ``release``."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, path: Path) -> FolderLock:
        """Take the lock in this file, made if need be, write this process's id into it, and return
        it; never waits. Raise ``JournalInUse`` with the holder when another one has it, ``OSError``
        when the file cannot be opened or locked."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags, FILE_MODE)
        try:
            if not take(descriptor):
                raise JournalInUse(path.parent, _holder(descriptor))
            # Overwritten in place: on a full disk there may be no room for a new block.
            with suppress(OSError):
                os.write(descriptor, f"{os.getpid():<{PROCESS_ID_WIDTH}}".encode())
        except BaseException:
            os.close(descriptor)
            raise
        return cls(descriptor)

    def release(self) -> None:
        """Give the lock back, so that others may open the journal; do nothing when that was done
        before."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _holder(descriptor: int) -> int | None:
    try:
        written = os.read(descriptor, PROCESS_ID_WIDTH).strip()
    except OSError:
        return None
    return int(written) if written.isdigit() else None
