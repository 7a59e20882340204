"""How SQLite is set up, and the few statements that the journal says to it.

A write-ahead log with a flush at every commit: one flush makes any number of records durable, and
a loss of power takes nothing that was acknowledged. The log goes into the database when the
journal finds time for it (``fold_log``), not inside a commit that somebody waits for. What is
deleted is overwritten, so that salvage, which reads bare pages, finds living rows only.

**A row: kind, id, checksum, content. What the records of the protocol look like on disk.**

SQLite finds damage in its own structure and none in what it stores, so every row carries a
checksum over everything in it. Content is the record in msgpack, replaced whole: whoever reads a
row needs no other. The names of the kinds are on disk: they may be added to, never changed.

**What a start reads back, row by row, so that no more than one row is held twice.**

A row whose checksum holds and that still is no record comes from another version of the program:
it stays on disk, untouched, and is told about.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from agent.protocol.effects import Identity, Persist
from agent.protocol.records import Pruning, TaskLife, Workflow, WorkflowId
from agent.storage.places import make_private_file

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
IDENTITY: Final = "identity"
WORKFLOW: Final = "workflow"
LIFE: Final = "life"
PRUNING: Final = "pruning"
OWN: Final = "own"

Key = tuple[str, str]
Record = Workflow | TaskLife | Pruning | Identity | WorkflowId
Row = tuple[str, str, int, bytes]

_encoder = msgspec.msgpack.Encoder()


def open_to_write(database: Path) -> sqlite3.Connection:
    """Open the database for changes by one thread at a time, with a write-ahead log; the file is
    made, private, when it is missing. Raise ``sqlite3.Error`` or ``OSError`` when that fails:
    nothing stays open then, a file that was made stays."""
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
    """Open the database to read it only, so that it and its log stay exactly as they are; texts
    come as bytes. Raise ``sqlite3.Error``, with nothing open, when that fails or the file is
    missing."""
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
    """Put these rows, each in place of one of the same kind and id, then delete these keys, in one
    transaction, on disk on return; raise ``sqlite3.Error``, or what an iterable raises, with
    nothing of it done."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(PUT, put)
        connection.executemany(FORGET, forget)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def try_to_write(connection: sqlite3.Connection) -> None:
    """Change something of no meaning: SQLite writes nothing for a row that stays as it is. Raise
    ``sqlite3.Error`` when the database does not take it."""
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {1 - min(1, number)}")


def stored_rows(connection: sqlite3.Connection) -> Iterator[tuple[bytes, bytes, int, bytes]]:
    """Return kind, id, checksum and content of all rows, read one at a time. Raise
    ``sqlite3.Error`` when the database cannot be read, also at a later row."""
    return connection.execute("SELECT kind, id, checksum, content FROM record NOT INDEXED")


def fold_log(connection: sqlite3.Connection, *, wholly: bool = False) -> None:
    """Bring the log into the database, as far as nobody reads it meanwhile; ``wholly`` leaves no
    log behind then. Raise ``sqlite3.Error`` when that fails."""
    connection.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if wholly else 'PASSIVE'})").fetchall()


def checksum(kind: bytes, name: bytes, content: bytes) -> int:
    """Return the checksum over all that a row says, so that a record cannot turn up under another's
    id."""
    return zlib.crc32(content, zlib.crc32(b"%b\0%b\0" % (kind, name)))


def last_words(persists: Iterable[Persist]) -> dict[Key, Record | None]:
    """Return by key the record to be on disk after all of these changes, in their order; None for
    one to be deleted. The identity is that of the last change."""
    words: dict[Key, Record | None] = {}
    for persist in persists:
        words[IDENTITY, ""] = persist.identity
        for workflow in persist.workflows:
            words[WORKFLOW, workflow.spec.workflow] = workflow
        for life in persist.lives:
            words[LIFE, life.task] = life
        for pruning in persist.prunings:
            words[PRUNING, pruning.workflow] = pruning
        words.update({(OWN, name): name for name in persist.noted})
        words.update(dict.fromkeys((WORKFLOW, name) for name in persist.forgotten_workflows))
        words.update(dict.fromkeys((LIFE, task) for task in persist.forgotten_tasks))
        words.update(dict.fromkeys((PRUNING, name) for name in persist.forgotten_prunings))
        words.update(dict.fromkeys((OWN, name) for name in persist.unnoted))
    return words


def row(key: Key, record: Record) -> Row:
    """Return a record as the row that is stored for it under this key, encoded and with its
    checksum."""
    kind, name = key
    content = _encoder.encode(record)
    return kind, name, checksum(kind.encode(), name.encode(), content), content


@dataclass(frozen=True, slots=True)
class Remembered:
    """All that the journal holds, and what a person should know about it, in sentences."""

    identity: Identity | None = None
    workflows: tuple[Workflow, ...] = ()
    lives: tuple[TaskLife, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    noted: tuple[WorkflowId, ...] = ()
    notices: tuple[str, ...] = ()


class Stored:
    """The records as they are read: by kind, and how many were not understood."""

    def __init__(self) -> None:
        self.identities: list[Identity] = []
        self.workflows: list[Workflow] = []
        self.lives: list[TaskLife] = []
        self.prunings: list[Pruning] = []
        self.noted: list[WorkflowId] = []
        self.strange = 0

    def read(self, connection: sqlite3.Connection) -> None:
        """Add all rows of the database to the lists here, by kind; rows that are no known record
        are only counted in ``strange``. Checksums are not verified. Raise ``sqlite3.Error`` when it
        cannot be read; what came before is in the lists then."""
        take: dict[bytes, tuple[msgspec.msgpack.Decoder[Any], list[Any]]] = {
            IDENTITY.encode(): (msgspec.msgpack.Decoder(Identity), self.identities),
            WORKFLOW.encode(): (msgspec.msgpack.Decoder(Workflow), self.workflows),
            LIFE.encode(): (msgspec.msgpack.Decoder(TaskLife), self.lives),
            PRUNING.encode(): (msgspec.msgpack.Decoder(Pruning), self.prunings),
            OWN.encode(): (msgspec.msgpack.Decoder(WorkflowId), self.noted),
        }
        for kind, _, _, content in stored_rows(connection):
            try:
                decoder, records = take[kind]
                records.append(decoder.decode(content))
            except (KeyError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                self.strange += 1
