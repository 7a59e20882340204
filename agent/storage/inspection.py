"""Is the journal whole? Asked at every start, before anything is changed.

Three things are looked at: SQLite's structure, by SQLite; the checksum of every row; and, after a
crash, the log for transactions that SQLite passes over. The connection used here writes nothing,
so that a damaged journal, or one of a later version, stays exactly as it was found. Only what a
process left that was killed before it had a log is undone first.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent.storage.database import open_to_read, open_to_write, stored_rows
from agent.storage.errors import DAMAGE_CODES, primary_code
from agent.storage.formats import (
    FormatUnreadableError,
    is_empty,
    latest,
    refuse_later_version,
    version_of,
)
from agent.storage.log_frames import counted_frames, passed_over
from agent.storage.places import shared_index, write_ahead_log
from agent.storage.rows import checksum
from agent.storage.salvage import salvage

# What SQLite says when its file is not what it should be. SQLITE_ERROR: a table is missing, or a
# header asks for what no version of SQLite knows. SQLITE_IOERR: a sector cannot be read.
FOUND_DAMAGED = DAMAGE_CODES | {
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_SCHEMA,
}
FOUND_DAMAGED_IN_DETAIL = frozenset({sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ})


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong, in a few words, and of which version the journal was."""

    words: str
    version: int


def find_damage(database: Path) -> Damage | None:
    """Return what is wrong with a journal's database, None when it is sound; raise
    ``JournalTooNew`` when it is of a later version, ``sqlite3.Error`` when it cannot be read."""
    version = latest()
    try:
        with closing(open_to_read(database)) as connection:
            connection.execute("BEGIN")
            words = _damaged_log(connection, database)
            version = version_of(connection) or version
            refuse_later_version(version, database.parent)
            words = words or _damaged_rows(connection)
    except FormatUnreadableError as error:
        return Damage(str(error), version)
    except UnicodeDecodeError:  # SQLite's own complaint, which quotes what it found
        return Damage("its structure is not as it was written", version)
    except sqlite3.DatabaseError as error:
        detail = getattr(error, "sqlite_errorcode", None)
        if detail == sqlite3.SQLITE_READONLY_ROLLBACK and _undone(database):
            return find_damage(database)
        if primary_code(error) in FOUND_DAMAGED or detail in FOUND_DAMAGED_IN_DETAIL:
            return Damage(str(error), version)
        raise
    return None if words is None else Damage(words, version)


def _undone(database: Path) -> bool:
    """Undo what a process left that was killed while it made the journal, before there was a log,
    which only a writer may; return whether that was it. Where a record can be read it was not."""
    if next(salvage(database), None) is not None:
        return False
    try:
        open_to_write(database).close()
    except sqlite3.DatabaseError:
        return False
    return True


def _damaged_log(connection: sqlite3.Connection, database: Path) -> str | None:
    is_empty(connection)  # the first read makes SQLite count the frames
    index = shared_index(database)
    counted = counted_frames(index) if index.exists() else 0
    return "its log is broken" if passed_over(write_ahead_log(database), counted) else None


def _damaged_rows(connection: sqlite3.Connection) -> str | None:
    if is_empty(connection):
        return None
    (structure,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if structure not in ("ok", b"ok"):
        return _first_line(structure)
    for kind, name, stored, content in stored_rows(connection):
        if not _is_as_written(kind, name, stored, content):
            return "a record is not as it was written"
    return None


def _is_as_written(kind: object, name: object, stored: object, content: object) -> bool:
    """Types too: a flipped byte may make a text of a number."""
    return (
        isinstance(kind, bytes)
        and isinstance(name, bytes)
        and isinstance(content, bytes)
        and stored == checksum(kind, name, content)
    )


def _first_line(told: bytes | str) -> str:
    text = told.decode(errors="replace") if isinstance(told, bytes) else told
    lines = [line for line in text.splitlines() if line and not line.startswith("***")]
    return lines[0] if lines else "its structure is broken"
