"""What is known of the objects besides their content: which datasets they are, and when last used.

The folder of objects is the truth and this is only beside it, so that a killed agent or a lost
index costs nothing but names: at the start the two are compared, rows without a file go, and where
the index itself is gone, every object is a dataset again and every manifest a folder. SQLite's log
is not flushed at each change, for the same reason; what was changed survives the death of the
agent.

**What made a dataset: which task, of which version of a program, from which inputs, and when.**

An outcome is written once for each output of a task. The table of the flock says the same as long
as the workflow is in it; this stays as long as the dataset does, which may be years.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.protocol.records import DatasetId
from agent.storage.datasets.errors import DatasetError, StoreFull
from agent.storage.datasets.manifest import Kind
from agent.storage.errors import UNREADABLE, is_damage
from agent.storage.later import MARK
from agent.storage.places import make_private_file, write_ahead_log

LOCKED_WAIT_S = 5.0
UNFILLED = ".unfilled"
"""The end of the name of an empty file beside an index that does not say yet what the folder holds."""
_TABLES = f"""
CREATE TABLE IF NOT EXISTS object (
    digest TEXT PRIMARY KEY, size_bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dataset (
    dataset TEXT PRIMARY KEY, size_bytes INTEGER NOT NULL, name TEXT NOT NULL,
    added_s REAL NOT NULL, used_s REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS part (
    dataset TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (dataset, digest)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS part_digest ON part (digest);
{MARK}
"""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Row:
    """What the index knows of one dataset."""

    dataset: DatasetId
    size_bytes: int
    name: str
    added_s: float
    used_s: float

    @property
    def folder(self) -> bool:
        """Whether it is a folder, rather than a file."""
        return self.dataset.startswith(Kind.TREE.value)


class Index:
    """One file of SQLite. Used by many threads, one after the other. A damaged one is made anew;
    raises ``OSError`` or ``sqlite3.Error`` when the system does not let it be opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.RLock()
        self._unfilled = path.with_suffix(UNFILLED)
        self.fresh = self._unfilled.exists() or not path.exists()
        """There was none, or it could not be read: the folder has to say what there is."""
        if self.fresh:
            make_private_file(self._unfilled)
        try:
            self._connection = self._opened()
        except UNREADABLE as error:
            if not is_damage(path, error):
                raise
            log.warning("the index of the datasets was damaged (%s); it is made anew", error)
            self.fresh = True
            make_private_file(self._unfilled)
            for each in (path, write_ahead_log(path)):
                each.unlink(missing_ok=True)
            self._connection = self._opened()

    def filled(self) -> None:
        """Note on disk that the index says what the folder holds: it is not ``fresh`` any more,
        also at the next start. Until then an agent that is killed begins anew. Raise ``OSError``
        when that cannot be noted."""
        self._unfilled.unlink(missing_ok=True)
        self.fresh = False

    def close(self) -> None:
        """Close the database; the index is not asked afterwards."""
        with self._turn:
            self._connection.close()

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction on the connection that it gets, with no other thread in
        it: committed at its end, undone when it raises, which passes on. Raise ``DatasetError``
        when the database does not take it."""
        with self._asked() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # SQLite ends some of its own accord
                    connection.execute("ROLLBACK")
                raise

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows that a statement finds; raise ``DatasetError`` when the database cannot
        be read."""
        with self._asked() as connection:
            return connection.execute(statement, values).fetchall()

    @contextmanager
    def _asked(self) -> Iterator[sqlite3.Connection]:
        """What SQLite refuses is a trouble of the disk, as everybody expects of a store."""
        with self._turn:
            try:
                yield self._connection
            except sqlite3.Error as error:
                full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
                kind = StoreFull if full else DatasetError
                raise kind(f"{self._path.name} cannot be used: {error}") from error

    # -- objects ---------------------------------------------------------------------------

    def compare(self, there: dict[str, tuple[int, int]]) -> None:
        """Make the index agree with the objects on disk, given by digest with size and mark:
        missing ones go, with the datasets that they were part of; new ones are added as not yet
        verified, known ones stay as they are noted. No file is touched. Raise ``DatasetError``,
        with nothing changed, when the database does not take it."""
        known = {str(digest) for (digest,) in self.rows("SELECT digest FROM object")}
        with self.change() as change:
            change.executemany(
                "DELETE FROM object WHERE digest = ?", [(each,) for each in known - there.keys()]
            )
            change.executemany(
                "INSERT INTO object VALUES (?, ?, 0)",
                [(each, there[each][0]) for each in there.keys() - known],
            )
            change.execute(
                "DELETE FROM dataset WHERE dataset IN (SELECT dataset FROM part WHERE digest NOT IN"
                " (SELECT digest FROM object))"
            )
            change.execute("DELETE FROM part WHERE dataset NOT IN (SELECT dataset FROM dataset)")

    def object(self, digest: str) -> tuple[int, int] | None:
        """Return size in bytes and mark (``Objects.seen``) of an object when it was last found
        whole, the mark 0 when it was not verified yet; None when the index does not know it. The
        objects are not looked at. Raise ``DatasetError`` when the database cannot be read."""
        with self._asked() as connection:
            found: tuple[int, int] | None = connection.execute(
                "SELECT size_bytes, mtime_ns FROM object WHERE digest = ?", (digest,)
            ).fetchone()
        return found

    def note_objects(self, objects: Iterable[tuple[str, int, int]]) -> None:
        """Record digest, size and mark of objects that are here, whole, in place of what was
        recorded before. Raise ``DatasetError``, with nothing changed, when the database does not
        take it."""
        with self.change() as change:
            change.executemany("INSERT OR REPLACE INTO object VALUES (?, ?, ?)", objects)

    def forget_object(self, digest: str) -> list[DatasetId]:
        """Forget an object that is gone, and the datasets that it is part of; return those, none
        for an unknown one. No file is deleted. Raise ``DatasetError``, with nothing changed, when
        the database does not take it."""
        with self.change() as change:
            change.execute("DELETE FROM object WHERE digest = ?", (digest,))
            lost = [
                str(each)
                for (each,) in change.execute(
                    "SELECT dataset FROM part WHERE digest = ?", (digest,)
                ).fetchall()
            ]
            _forget(change, lost)
        return lost

    def used_bytes(self) -> int:
        """Return the size of all objects together."""
        ((size,),) = self.rows("SELECT COALESCE(SUM(size_bytes), 0) FROM object")
        return int(size)

    def unused_objects(self) -> list[str]:
        """Return the digests of objects that belong to no dataset: parts of a folder that never
        became whole here. Raise ``DatasetError`` when the database cannot be read."""
        return [
            str(digest)
            for (digest,) in self.rows(
                "SELECT digest FROM object WHERE digest NOT IN (SELECT digest FROM part)"
            )
        ]

    # -- datasets --------------------------------------------------------------------------

    def put(self, row: Row, digests: Iterable[str]) -> None:
        """Record a dataset made of these objects; of one that is known only the time of its last
        use is renewed, and its name where it had none. Raise ``DatasetError``, with nothing
        recorded, when the database does not take it."""
        with self.change() as change:
            change.execute(
                "INSERT INTO dataset VALUES (?, ?, ?, ?, ?) ON CONFLICT (dataset) DO UPDATE SET"
                " used_s = excluded.used_s,"
                " name = CASE WHEN name = '' THEN excluded.name ELSE name END",
                (row.dataset, row.size_bytes, row.name, row.added_s, row.used_s),
            )
            change.executemany(
                "INSERT OR IGNORE INTO part VALUES (?, ?)",
                [(row.dataset, digest) for digest in digests],
            )

    def get(self, dataset: DatasetId) -> Row | None:
        """Return what is known of one dataset; None when it is not here."""
        found = self.rows("SELECT * FROM dataset WHERE dataset = ?", dataset)
        return Row(*found[0]) if found else None

    def all(self) -> list[Row]:
        """Return what is known of all datasets, the newest first."""
        return [Row(*each) for each in self.rows("SELECT * FROM dataset ORDER BY added_s DESC")]

    def use(self, dataset: DatasetId) -> None:
        """Note that the dataset is used now, which keeps it longer; an unknown one is ignored.
        Raise ``DatasetError`` when the database does not take it."""
        with self.change() as change:
            change.execute(
                "UPDATE dataset SET used_s = ? WHERE dataset = ?", (time.time(), dataset)
            )

    def forget(self, datasets: list[DatasetId]) -> list[str]:
        """Forget these datasets, and the objects of them that no other dataset needs; return the
        digests of these objects, whose files the caller has to delete. Unknown datasets are
        ignored. Raise ``DatasetError``, with nothing forgotten, when the database does not take
        it."""
        with self.change() as change:
            digests = [
                str(digest)
                for dataset in datasets
                for (digest,) in change.execute(
                    "SELECT digest FROM part WHERE dataset = ?", (dataset,)
                ).fetchall()
            ]
            _forget(change, datasets)
            free = [
                digest
                for digest in dict.fromkeys(digests)
                if not change.execute(
                    "SELECT 1 FROM part WHERE digest = ? LIMIT 1", (digest,)
                ).fetchone()
            ]
            change.executemany("DELETE FROM object WHERE digest = ?", [(each,) for each in free])
        return free

    def _opened(self) -> sqlite3.Connection:
        make_private_file(self._path)
        connection = sqlite3.connect(
            self._path, timeout=LOCKED_WAIT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -1000")
            connection.execute("PRAGMA trusted_schema = OFF")
            ((sound,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
            if sound != "ok":
                raise sqlite3.DatabaseError(str(sound))
            connection.executescript(_TABLES)
        except BaseException:
            connection.close()
            raise
        return connection


def _forget(change: sqlite3.Connection, datasets: list[DatasetId]) -> None:
    named = [(each,) for each in datasets]
    change.executemany("DELETE FROM dataset WHERE dataset = ?", named)
    change.executemany("DELETE FROM part WHERE dataset = ?", named)
