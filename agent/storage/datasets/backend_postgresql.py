"""A database server as the place of results, which is the source's architecture.

A dataset is a row named by its key; its contents are rows of pieces, because a row of a gigabyte is
no row. What belongs together is written in one transaction, so a dataset is there whole or not at
all, and the outcome of a task is one row that can be inserted once. Programs that write to tables of
their own name their own keys; those are passed on untouched, and committed here all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from agent.protocol.records import Dataset, DatasetId
from agent.storage.datasets.backend import EXTRA, BackendError, Outcome, Stored

if TYPE_CHECKING:
    import psycopg

CONNECT_S = 10
_TABLES = """
CREATE TABLE IF NOT EXISTS wingbeat_content (
    digest text NOT NULL, piece integer NOT NULL, data bytea NOT NULL, PRIMARY KEY (digest, piece)
);
ALTER TABLE wingbeat_content ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE IF NOT EXISTS wingbeat_dataset (
    dataset text PRIMARY KEY, size_bytes bigint NOT NULL, name text NOT NULL,
    manifest bytea NOT NULL, added timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS wingbeat_outcome (
    task text NOT NULL, generation integer NOT NULL, run text NOT NULL, program text NOT NULL,
    version text NOT NULL, inputs text[] NOT NULL, outputs bytea NOT NULL,
    datasets text[] NOT NULL, committed_ms bigint NOT NULL, PRIMARY KEY (task, generation)
);
CREATE INDEX IF NOT EXISTS wingbeat_outcome_datasets ON wingbeat_outcome USING gin (datasets);
"""
_THERE = "SELECT to_regclass('wingbeat_outcome_datasets') IS NOT NULL"
_TABLES_LOCK = 7_716_297
"""Nodes that start together would make the same tables at once."""
_OUTCOME = "task, generation, run, program, version, inputs, outputs, committed_ms"
_outputs = msgspec.msgpack.Decoder(tuple[Dataset, ...])


class PostgresqlBackend:
    """One connection, made again when it breaks; used by one thread at a time."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg as driver
        except ImportError as error:
            raise BackendError(f"datasets in PostgreSQL need psycopg: {EXTRA}.") from error
        self._driver, self._url = driver, url
        self._turn = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._prepared = False

    def close(self) -> None:
        """Close the connection to the server, if there is one; a question after that makes a new
        one."""
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def find(self, dataset: DatasetId) -> Stored | None:
        """Return the description of a dataset in the database, None when it is not there; raise
        ``BackendError`` when the server cannot be asked."""
        with self._asking() as database:
            found = database.execute(
                "SELECT dataset, size_bytes, name, manifest FROM wingbeat_dataset"
                " WHERE dataset = %s",
                (dataset,),
            ).fetchone()
        if found is None:
            return None
        name, size_bytes, called, manifest = found
        return Stored(name, size_bytes, called, bytes(manifest))

    def put_content(self, digest: str, read: Callable[[], bytes], size_bytes: int) -> None:
        """Write a content in the pieces that ``read`` returns until one is empty, all of it or
        nothing, in place of one of another size; do nothing when the content is there already in
        this size. Raise ``BackendError`` when the server fails, and whatever ``read`` raises."""
        with self._asking() as database:
            known = database.execute(
                "SELECT COALESCE(SUM(length(data)), 0), COUNT(*) FROM wingbeat_content"
                " WHERE digest = %s",
                (digest,),
            ).fetchone()
            if known is not None and known[1] and known[0] == size_bytes:
                return
            database.execute("DELETE FROM wingbeat_content WHERE digest = %s", (digest,))
            number = 0
            while (piece := read()) or not number:
                database.execute(
                    "INSERT INTO wingbeat_content VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                    (digest, number, piece),
                )
                number += 1
                if not piece:
                    break

    def get_content(self, digest: str, write: Callable[[bytes], None]) -> None:
        """Hand a content to ``write`` piece by piece; raise ``BackendError`` when it is not there or
        the server cannot be asked, and whatever ``write`` raises."""
        with self._asking() as database:
            number = 0
            while True:
                found = database.execute(
                    "SELECT data FROM wingbeat_content WHERE digest = %s AND piece = %s",
                    (digest, number),
                ).fetchone()
                if found is None and not number:
                    raise BackendError(f"the database for datasets has no content {digest}.")
                if found is None:
                    return
                write(bytes(found[0]))
                number += 1

    def put(self, stored: Stored) -> None:
        """Record the description of a dataset, whose contents were written before; one that is
        there stays. Raise ``BackendError`` when that fails."""
        with self._asking() as database:
            database.execute(
                "INSERT INTO wingbeat_dataset (dataset, size_bytes, name, manifest)"
                " VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (stored.dataset, stored.size_bytes, stored.name, stored.manifest),
            )

    def commit(self, outcome: Outcome) -> Outcome:
        """Record the outcome of a task's generation unless there is one already; return the one
        that was first and counts. Raise ``BackendError`` when that fails; where the answer was lost
        it may be recorded all the same, and a second try tells."""
        datasets = [output.dataset for output in outcome.outputs]
        outputs = msgspec.msgpack.encode(outcome.outputs)
        row = (*msgspec.structs.astuple(outcome)[:5], list(outcome.inputs), outputs)
        with self._asking() as database:
            database.execute(
                f"INSERT INTO wingbeat_outcome ({_OUTCOME}, datasets)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (*row, outcome.committed_ms, datasets),
            )
            found = database.execute(
                f"SELECT {_OUTCOME} FROM wingbeat_outcome WHERE task = %s AND generation = %s",
                (outcome.task, outcome.generation),
            ).fetchone()
        assert found is not None, "it was inserted, or was there"
        return _outcome(found)

    def made(self, dataset: DatasetId) -> list[Outcome]:
        """Return the outcomes that made this dataset, the latest first, empty when none did; raise
        ``BackendError`` when the server cannot be asked."""
        with self._asking() as database:
            found = database.execute(
                f"SELECT {_OUTCOME} FROM wingbeat_outcome WHERE datasets @> %s"
                " ORDER BY committed_ms DESC",
                ([dataset],),
            ).fetchall()
        return [_outcome(each) for each in found]

    @contextmanager
    def _asking(self) -> Iterator[psycopg.Connection[Any]]:
        """One transaction; what fails is said in words, and the connection made anew next time."""
        with self._turn:
            try:
                connection = self._connected()
                with connection.transaction():
                    yield connection
            except self._driver.Error as error:
                self._hang_up()
                said = str(error).strip().partition("\n")[0]
                raise BackendError(f"the database for datasets cannot be used: {said}.") from error

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = self._driver.connect(
                self._url, connect_timeout=CONNECT_S, autocommit=True, application_name="wingbeat"
            )
        if not self._prepared:
            with self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (_TABLES_LOCK,))
                if self._connection.execute(_THERE).fetchone() != (True,):
                    self._connection.execute(_TABLES.encode())
            self._prepared = True
        return self._connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            with suppress(self._driver.Error):
                self._connection.close()
            self._connection = None


def _outcome(row: tuple[Any, ...]) -> Outcome:
    task, generation, run, program, version, inputs, outputs, committed_ms = row
    return Outcome(
        task,
        generation,
        run,
        program,
        version,
        tuple(inputs),
        _outputs.decode(bytes(outputs)),
        committed_ms,
    )
