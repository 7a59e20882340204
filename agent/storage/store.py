"""The journal's files as the writing thread holds them. Only that thread calls in here.

After a failure the connection is given up and a new one is opened when it is needed next: that way
no state of a failed transaction can leak into a later one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress

from agent.protocol.effects import Persist
from agent.storage.database import PAGE_BYTES, commit, fold_log, open_to_write, try_to_write
from agent.storage.errors import JournalFull, JournalRefused, in_words
from agent.storage.identity_copy import IdentityCopy
from agent.storage.places import Places, write_ahead_log
from agent.storage.reserve import MARGIN_BYTES, Reserve
from agent.storage.rows import last_words, row

LOG_PAGES_MAX = 1000
# A row touches its leaf and, when it is new, the leaf of its index.
PAGES_PER_ROW = 2


class Store:
    """Commits, keeps the log short, and tells whether the disk takes records again."""

    def __init__(self, places: Places, connection: sqlite3.Connection) -> None:
        self._folder = places.folder
        self._database = places.database
        self._identity_copy = IdentityCopy(places.identity)
        self._reserve = Reserve(places.reserve)
        self._connection: sqlite3.Connection | None = connection
        self._log_pages = 0
        self._log_bytes = 0

    def commit(self, persists: Sequence[Persist]) -> None:
        """Write these records to disk in one transaction; raise ``JournalRefused`` and change
        nothing when the disk refuses. On a full disk the reserve is given up."""
        if not persists:
            return
        words = last_words(persists)
        put = [row(key, record) for key, record in words.items() if record is not None]
        forget = [key for key, record in words.items() if record is None]
        try:
            with in_words(self._folder):
                self._identity_copy.cover(persists[-1].identity)
                commit(self._connected(), put, forget)
        except JournalFull:
            self._disconnect()
            self._reserve.release()
            raise
        except JournalRefused:
            self._disconnect()
            raise
        pages = sum(PAGES_PER_ROW + len(content) // PAGE_BYTES for _, _, _, content in put)
        self._log_pages += pages + PAGES_PER_ROW * len(forget) + 1

    def tidy(self) -> None:
        """Fold the log into the database when it is long; when that fails, the next call tries
        again once it has grown."""
        if self._connection is None or not self._log_is_long():
            return
        self._log_pages = 0
        with suppress(sqlite3.Error):
            fold_log(self._connection)

    def _log_is_long(self) -> bool:
        """The file shows it only when it grows: it is not cut when it is folded, but reused."""
        try:
            size = write_ahead_log(self._database).stat().st_size
        except OSError:
            return False
        grown = size - self._log_bytes >= LOG_PAGES_MAX * PAGE_BYTES
        if grown:
            self._log_bytes = size
        return grown or self._log_pages >= LOG_PAGES_MAX

    def is_usable(self) -> bool:
        """Tell whether the disk takes records, by taking the room for the reserve and trying a
        write."""
        try:
            with in_words(self._folder):
                self._reserve.take(MARGIN_BYTES)
                try_to_write(self._connected())
        except JournalRefused:
            self._disconnect()
            return False
        return True

    def close(self) -> None:
        """Fold the log into the database and close all files; a log that cannot be folded stays."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                fold_log(self._connection, wholly=True)
        self._disconnect()

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_to_write(self._database)
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
