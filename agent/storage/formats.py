"""The version of what is on disk, and how an older one becomes the present one.

Each version is one step from the version before, and a new journal is made by all steps in turn:
there is one way to every version, and it is walked by every test. Steps run in one transaction, so
a journal is of the old version or of the new one. A program that finds a version it does not know
leaves the file as it is: it could only lose what it does not understand.

Two rules for steps to come: the columns of ``record`` stay as they are (salvage reads them from
bare pages, of any version), and a step that changes contents renews their checksums.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

from agent.storage.errors import JournalTooNew

Step = Callable[[sqlite3.Connection], None]


def _first(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE format (version INTEGER NOT NULL, checksum INTEGER NOT NULL)")
    connection.execute(
        "CREATE TABLE record (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL,"
        " checksum INTEGER NOT NULL, content BLOB NOT NULL, UNIQUE (kind, id))"
    )


STEPS: tuple[Step, ...] = (_first,)


class FormatUnreadableError(Exception):
    """No version can be read where one should be: the file is damaged."""


def latest() -> int:
    """Return the version that this program writes."""
    return len(STEPS)


def bring_up_to_date(connection: sqlite3.Connection, wanted: int | None = None) -> None:
    """Bring the database to the format ``wanted``, for None the latest, by all missing steps or
    none; one of that format or a later one stays as it is. Raise ``FormatUnreadableError`` when its
    version cannot be read, ``sqlite3.Error`` when it cannot be written, and what a step raises;
    nothing is changed then."""
    wanted = latest() if wanted is None else wanted
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = version_of(connection)
        for step in STEPS[version:wanted]:
            step(connection)
        if version < wanted:
            _write_version(connection, wanted)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of a database's format, 0 when nothing was ever written; raise
    ``FormatUnreadableError`` when its record of it is damaged, ``sqlite3.Error`` when it cannot be
    read."""
    if is_empty(connection):
        return 0
    rows = connection.execute("SELECT version, checksum FROM format").fetchall()
    if len(rows) != 1 or rows[0][1] != _checksum(rows[0][0]):
        raise FormatUnreadableError("its version cannot be read")
    return int(rows[0][0])


def is_empty(connection: sqlite3.Connection) -> bool:
    """Tell whether nothing was ever written to the database: it is no journal yet, rather than one
    that lost everything. Raise ``sqlite3.Error`` when that cannot be read."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return pages <= 1 and not tables


def refuse_later_version(version: int, folder: Path) -> None:
    """Raise ``JournalTooNew``, naming the folder, for a version that is later than the latest that
    this program knows; do nothing for others."""
    if version > latest():
        raise JournalTooNew(
            f"The journal in {folder} was written by a later version of Wingbeat (format {version},"
            f" known here up to {latest()}) and was left as it is; install that version again, or"
            " start with another data folder."
        )


def _write_version(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("DELETE FROM format")
    connection.execute("INSERT INTO format VALUES (?, ?)", (version, _checksum(version)))


def _checksum(version: object) -> int:
    return zlib.crc32(f"format {version}".encode())
