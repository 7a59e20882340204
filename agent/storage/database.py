"""How SQLite is set up, and the few statements that the journal says to it.

A write-ahead log with a flush at every commit: one flush makes any number of records durable, and
a loss of power takes nothing that was acknowledged. The log goes into the database when the
journal finds time for it (``fold_log``), not inside a commit that somebody waits for. What is
deleted is overwritten, so that salvage, which reads bare pages, finds living rows only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from agent.storage.places import make_private_file
from agent.storage.rows import Key, Row

PAGE_BYTES = 4096
LOCKED_WAIT_S = 2.0
LOG_BYTES_KEPT = 16 * 1024 * 1024
SETTINGS = (
    "PRAGMA cache_size = -2000",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
)
WRITER_SETTINGS = (
    *SETTINGS,
    f"PRAGMA page_size = {PAGE_BYTES}",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA secure_delete = ON",
    f"PRAGMA journal_size_limit = {LOG_BYTES_KEPT}",
)
PUT = (
    "INSERT INTO record (kind, id, checksum, content) VALUES (?, ?, ?, ?) ON CONFLICT (kind, id)"
    " DO UPDATE SET checksum = excluded.checksum, content = excluded.content"
)
FORGET = "DELETE FROM record WHERE kind = ? AND id = ?"


def open_to_write(database: Path) -> sqlite3.Connection:
    """Open the database for changes by one thread at a time; the file is made when it is missing.
    Raise ``sqlite3.Error`` or ``OSError`` when that fails."""
    make_private_file(database)
    connection = sqlite3.connect(
        database, timeout=LOCKED_WAIT_S, isolation_level=None, check_same_thread=False
    )
    try:
        for setting in WRITER_SETTINGS:
            connection.execute(setting)
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise sqlite3.OperationalError(f"the journal mode stays {mode}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_read(database: Path) -> sqlite3.Connection:
    """Open the database so that it and its log stay exactly as they are. Texts come as bytes. Raise
    ``sqlite3.Error`` when that fails."""
    connection = sqlite3.connect(
        f"{database.resolve().as_uri()}?mode=ro",
        uri=True,
        timeout=LOCKED_WAIT_S,
        isolation_level=None,
    )
    connection.text_factory = bytes
    try:
        for setting in SETTINGS:
            connection.execute(setting)
    except BaseException:
        connection.close()
        raise
    return connection


def commit(connection: sqlite3.Connection, put: Iterable[Row], forget: Iterable[Key]) -> None:
    """Put and forget these rows in one transaction, on disk on return; raise ``sqlite3.Error`` when
    nothing of it was done."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(PUT, put)
        connection.executemany(FORGET, forget)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def try_to_write(connection: sqlite3.Connection) -> None:
    """Change something of no meaning: SQLite writes nothing for a row that stays as it is."""
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {1 - min(1, number)}")


def stored_rows(connection: sqlite3.Connection) -> Iterator[tuple[bytes, bytes, int, bytes]]:
    """Return kind, id, checksum and content of all rows, read one at a time."""
    return connection.execute("SELECT kind, id, checksum, content FROM record NOT INDEXED")


def fold_log(connection: sqlite3.Connection, *, wholly: bool = False) -> None:
    """Bring the log into the database; ``wholly`` leaves no log behind. Raise ``sqlite3.Error``
    when that fails."""
    connection.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if wholly else 'PASSIVE'})").fetchall()
