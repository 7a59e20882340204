"""Where the parts of a journal lie, and who may read them: their owner, nobody else.

The folder is the journal's own, so that its permissions can say so. Windows gives a folder made
with mode 0o700 to its owner, the system and administrators, and files inherit that (Python 3.11.10,
3.12.4 and later); older Pythons leave what the user's profile grants, which is the same there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


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
    """Make the folder if it is not there, and make it private in either case."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    folder.chmod(FOLDER_MODE)


def make_private_file(path: Path) -> None:
    """Make an empty file if there is none, private in either case."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE))
    path.chmod(FILE_MODE)


def keep_names(folder: Path) -> None:
    """Make names in the folder survive a loss of power; Windows does so by itself. Raise
    ``OSError`` when the disk refuses."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
