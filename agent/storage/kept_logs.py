"""What runs of other machines have printed last, kept here for when those machines are off.

Pieces are kept as they came, packed, in a database of their own: most logs are small, and a file for
each would take far more room. Nothing depends on it but what people are shown, so a database that is
damaged is set aside and begun anew. All of it blocks, and may be called in any thread.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agent.storage.beside import Beside, open_beside
from agent.storage.later import MARK

FILE = "logs.sqlite"
KEPT_BYTES_MAX = 256 * 1024 * 1024
"""Of all machines together, packed; beyond it the logs that were told of longest ago go."""
LEFT_SHARE = 0.9
_TABLES = f"""
CREATE TABLE IF NOT EXISTS piece (
    task, run, offset INTEGER, size INTEGER, at_ms INTEGER, packed BLOB,
    UNIQUE (task, run, offset)
);
{MARK}
"""
_OLDEST = """SELECT task, run, sum(length(packed)) FROM piece
    GROUP BY task, run ORDER BY max(at_ms)"""


class Piece(NamedTuple):
    """Some of what a run has printed: so many bytes from an offset on. What is before ``begins`` is
    not to be kept any more."""

    task: str
    run: str
    begins: int
    offset: int
    size: int
    packed: bytes


class Kept(NamedTuple):
    """What is asked for of a log, from ``offset`` on, and what there is: from ``begins`` until
    ``size``, as it was at ``at_ms``."""

    data: bytes
    offset: int
    begins: int
    size: int
    at_ms: int


def packed(data: bytes) -> bytes:
    """Return a piece of a log as it is kept."""
    return zlib.compress(data, 1)


class KeptLogs(Beside):
    """The database of one node, from ``open`` to ``close``."""

    def __init__(self, connection: sqlite3.Connection, bytes_max: int) -> None:
        super().__init__(connection)
        self._bytes_max = bytes_max
        (self._bytes,) = connection.execute("SELECT total(length(packed)) FROM piece").fetchone()

    @classmethod
    def open(cls, path: Path, bytes_max: int = KEPT_BYTES_MAX) -> KeptLogs:
        """Open the database, made if there is none, as ``open_beside`` does."""
        return open_beside(path, _TABLES, lambda made: cls(made, bytes_max), "what is kept of logs")

    @property
    def size_bytes(self) -> int:
        """What all that is kept takes, packed."""
        return int(self._bytes)

    def keep(self, pieces: Iterable[Piece]) -> None:
        """Keep these pieces, each in place of those of its run that end behind its offset, or not
        behind its ``begins``, and delete whole logs, the oldest first, where all are too much;
        pieces that are not what they say are left out. Raise ``sqlite3.Error`` and keep nothing
        when that fails."""
        now_ms = int(time.time() * 1000)
        sound = [piece for piece in pieces if _is_sound(piece)]
        with self._transaction() as connection:
            for piece in sound:
                name = (piece.task, piece.run)
                replaced = connection.execute(
                    "DELETE FROM piece WHERE task = ? AND run = ?"
                    " AND (offset + size > ? OR offset + size <= ?) RETURNING length(packed)",
                    (*name, piece.offset, piece.begins),
                )
                self._bytes -= sum(size for (size,) in replaced)
                connection.execute(
                    "INSERT INTO piece VALUES (?, ?, ?, ?, ?, ?)",
                    (*name, piece.offset, piece.size, now_ms, piece.packed),
                )
                self._bytes += len(piece.packed)
            if self._bytes > self._bytes_max:
                self._make_room(connection)

    def tasks(self) -> dict[str, int]:
        """Return by task when a piece of its logs was kept last, in milliseconds since 1970. Raise
        ``sqlite3.Error`` when the database cannot be read."""
        with self._lock:
            return dict(
                self._connection.execute("SELECT task, max(at_ms) FROM piece GROUP BY task")
            )

    def size_of(self, tasks: Iterable[str]) -> int:
        """Return what the logs of these tasks take, packed. Raise ``sqlite3.Error`` when the
        database cannot be read."""
        with self._lock:
            return sum(_size(self._connection, task) for task in tasks)

    def remove(self, tasks: Iterable[str]) -> None:
        """Delete what is kept of the logs of these tasks. Raise ``sqlite3.Error``, with nothing
        deleted, when that fails."""
        with self._transaction() as connection:
            gone = 0
            for task in tasks:
                gone += _size(connection, task)
                connection.execute("DELETE FROM piece WHERE task = ?", (task,))
            self._bytes -= gone

    def read(self, task: str, run: str, offset: int, limit: int) -> Kept | None:
        """Return at most ``limit`` bytes of what a run has printed, from this offset, or from where
        the last part that is kept without a gap begins, empty behind its end; None when nothing is
        kept. Raise ``sqlite3.Error`` when the database cannot be read."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT offset, size, at_ms FROM piece WHERE task = ? AND run = ? ORDER BY offset",
                (task, run),
            ).fetchall()
            if not rows:
                return None
            begins, size = _last_in_one(rows)
            start = min(max(offset, begins), size)
            data = b"".join(
                zlib.decompress(each)[max(0, start - at) :][: start + limit - max(at, start)]
                for at, each in self._connection.execute(
                    "SELECT offset, packed FROM piece WHERE task = ? AND run = ?"
                    " AND offset + size > ? AND offset < ? ORDER BY offset",
                    (task, run, start, start + limit),
                )
            )
        return Kept(data, start, begins, size, max(at_ms for _, _, at_ms in rows))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """What is counted in it holds only where it does."""
        with self._lock:
            before = self._bytes
            try:
                with self._connection as connection:
                    yield connection
            except BaseException:
                self._bytes = before
                raise

    def _make_room(self, connection: sqlite3.Connection) -> None:
        (held,) = connection.execute("SELECT total(length(packed)) FROM piece").fetchone()
        if held > self._bytes_max:
            for task, run, size in connection.execute(_OLDEST).fetchall():
                connection.execute("DELETE FROM piece WHERE task = ? AND run = ?", (task, run))
                held -= size
                if held <= self._bytes_max * LEFT_SHARE:
                    break
        self._bytes = held


def _size(connection: sqlite3.Connection, task: str) -> int:
    wanted = "SELECT total(length(packed)) FROM piece WHERE task = ?"
    return int(connection.execute(wanted, (task,)).fetchone()[0])


def _is_sound(piece: Piece) -> bool:
    """A peer may say anything; it must not take more room when it is read."""
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(piece.packed, piece.size + 1)
    except zlib.error:
        return False
    return len(data) == piece.size and unpacking.eof


def _last_in_one(rows: list[tuple[int, int, int]]) -> tuple[int, int]:
    """Where the last part without a gap begins and ends; who was away may have missed some."""
    begins, end = rows[0][0], rows[0][0]
    for offset, size, _ in rows:
        if offset > end:
            begins = offset
        end = offset + size
    return begins, end
