"""Why the journal could not do it, in the type: each asks for another answer of the node.

A ``JournalRefused`` means that the records of a submission are not on disk and nothing else is
lost: the node is told ``PersistFailed`` and goes on with what it has. The others end a start.
Every message is one sentence for a person: what, where, what to do.
"""
# ruff: noqa: N818 - the names say what happened

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.api.errors import ServiceError

FREE_BYTES_LITTLE = 256 * 1024
FULL_ERRNOS = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})
LOCKED_CODES = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
DAMAGE_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
STRUCTURE_CODES = DAMAGE_CODES | {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT}
"""The file is not as it was written. SQLITE_ERROR: a table or column is missing, or a header asks
for what no version of SQLite knows."""
_VERSION_AT, _VERSION_MAX = 18, 2
"""Where a file of SQLite says who may write it; a later version is refused as read-only."""


class JournalError(ServiceError):
    """Any failure of the journal; the subclass says which."""


class JournalRefused(JournalError):
    """The disk did not take the records; what was there before is intact."""


class JournalFull(JournalRefused):
    """The disk, or what this user may use of it, is full."""


class JournalBusy(JournalRefused):
    """More waits to be written than may wait."""


class JournalDamaged(JournalRefused):
    """The file went bad while it was in use; the next start mends it."""


class JournalClosed(JournalRefused):
    """Something was submitted after the end."""


class JournalTooNew(JournalError):
    """A later version of the program wrote it."""


class JournalInUse(JournalError):
    """Another process has it open; ``process_id`` is None when that cannot be read."""

    def __init__(self, folder: Path, process_id: int | None) -> None:
        who = "another process" if process_id is None else f"process {process_id}"
        super().__init__(
            f"The journal in {folder} is in use by {who}; use the agent that runs there, or stop"
            " it first."
        )
        self.process_id = process_id


@contextmanager
def in_words(folder: Path) -> Iterator[None]:
    """Run the block; turn errors of SQLite and of the operating system in it into a
    ``JournalRefused`` that says what they mean for the journal in this folder. All other exceptions
    pass as they are."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise refusal(folder, error) from error


def refusal(folder: Path, error: sqlite3.Error | OSError) -> JournalRefused:
    """Return the ``JournalRefused`` that tells what an error means for the journal in the folder:
    ``JournalDamaged``; else ``JournalFull``, for any error while the folder's disk has next to no
    room left; else a plain one, where the journal is locked or cannot be read or written."""
    code = primary_code(error)
    free_bytes = _free_bytes(folder)
    if (
        code == sqlite3.SQLITE_FULL
        or (isinstance(error, OSError) and error.errno in FULL_ERRNOS)
        or (code not in DAMAGE_CODES and free_bytes < FREE_BYTES_LITTLE)
    ):
        return JournalFull(
            f"The disk that holds the journal in {folder} takes no more ({free_bytes // 1024} KiB"
            " are free); make room on it and work goes on by itself."
        )
    if code in LOCKED_CODES:
        return JournalRefused(
            f"The journal in {folder} is held by another program that looks into it; close that"
            " program."
        )
    if code in DAMAGE_CODES:
        return JournalDamaged(
            f"The journal in {folder} is damaged ({error}); restart the agent, which saves what"
            " can be read and has the flock bring the rest."
        )
    return JournalRefused(
        f"The journal in {folder} cannot be read or written ({error}); check that disk and the"
        " permissions of the folder."
    )


UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What opening a damaged file raises; the second where SQLite quotes bytes that are no text. The
first is raised for a disk that is full, locked or read-only, too: ``is_damage`` tells."""


def is_damage(path: Path, error: BaseException) -> bool:
    """Tell whether an error of ``UNREADABLE`` means that the database in this file is damaged,
    rather than that the system does not let it be used just now. Raise ``OSError`` when that cannot
    be read."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_READONLY:
        with path.open("rb") as file:
            return file.read(_VERSION_AT + 1)[_VERSION_AT:] > bytes([_VERSION_MAX])
    return code is None or code in STRUCTURE_CODES  # without a code it is what Python cannot decode


def primary_code(error: BaseException) -> int | None:
    """Return SQLite's result code without its details; None when the error is not SQLite's."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _free_bytes(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return FREE_BYTES_LITTLE
