"""Databases on which nothing depends but what people are shown: history, and logs of other machines.

They are written in batches, without a flush for each. One that is damaged is set aside and begun anew.
All of it blocks, and may be called in any thread, one after the other.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from agent.storage.errors import UNREADABLE, is_damage
from agent.storage.places import make_private_file

CACHE_KIBIBYTES = 512
LOCKED_WAIT_S = 2.0

Made = TypeVar("Made")

log = logging.getLogger(__name__)


class Beside:
    """A database between its opening and ``close``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the database; nothing is asked afterwards."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._connection as connection:
            yield connection


def open_beside(
    path: Path, tables: str, made: Callable[[sqlite3.Connection], Made], what: str
) -> Made:
    """Open the database, with these tables made if need be, and return what ``made`` makes of it. A
    damaged one is renamed, with the time in its name, logged as ``what`` and begun anew. Raise
    ``OSError`` or ``sqlite3.Error`` when it cannot be opened, and what ``made`` raises."""
    try:
        return _opened(path, tables, made)
    except UNREADABLE as error:
        if not is_damage(path, error):
            raise
        aside = path.with_name(f"{path.name}.damaged-{int(time.time())}")
        path.replace(aside)
        log.warning("%s is damaged (%s): it is set aside in %s", what, error, aside)
        return _opened(path, tables, made)


def _opened(path: Path, tables: str, made: Callable[[sqlite3.Connection], Made]) -> Made:
    make_private_file(path)
    connection = sqlite3.connect(path, timeout=LOCKED_WAIT_S, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIBIBYTES}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(tables)
        return made(connection)
    except BaseException:
        connection.close()
        raise
