"""The thread that writes, so that the loop of the agent never waits for a disk.

What is submitted while a commit runs is committed together next: the slower the disk, the more one
flush carries, and the order stays. A submission is done when it is on disk; futures are completed
in the order of submission, before the thread turns to tidying. If a transaction is refused, all
submissions in it are, and those behind it are tried: records are whole, so none needs another.

**The journal's files as the writing thread holds them. Only that thread calls in here.**

After a failure the connection is given up and a new one is opened when it is needed next: that way
no state of a failed transaction can leak into a later one.

**A few megabytes kept free for the worst day: when the disk is full, they are given up.**

They are not for more records: what the disk refused stays refused, and the node is told so. They
are for what must go on all the same. A log that was filled to the last byte has to go into the
database, and the agent has to be able to start and say what is wrong; SQLite needs room for both.
What was already queued when the disk filled up, such as the end of a run, may find room in them,
too. They are taken back when there is room for all of it, which is also when the disk counts as
usable again: one that has room for one more record would be full again at the next.

The content is random, because file systems that compress would keep nothing free for zeros.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agent.protocol.effects import Persist
from agent.storage.database import (
    PAGE_BYTES,
    commit,
    fold_log,
    last_words,
    open_to_write,
    row,
    try_to_write,
)
from agent.storage.errors import JournalBusy, JournalClosed, JournalFull, JournalRefused, in_words
from agent.storage.identity_copy import IdentityCopy
from agent.storage.places import Places, make_private_file, write_ahead_log

PENDING_PERSISTS_MAX = 10_000
TRANSACTION_PERSISTS_MAX = 1_000
LOG_PAGES_MAX = 1000
# A row touches its leaf and, when it is new, the leaf of its index.
PAGES_PER_ROW = 2
RESERVE_BYTES = 4 * 1024 * 1024
MARGIN_BYTES = 128 * 1024
"""What has to be free besides: giving up the reserve makes room for the reserve, and no more."""


@dataclass(slots=True)
class Submission:
    """Persists that belong together, and whoever waits for them."""

    persists: Sequence[Persist]
    done: Future[None] = field(default_factory=Future)


class Writer:
    """Owns the store and its thread, from start to ``close``."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._changed = threading.Condition()
        self._waiting: deque[Submission] = deque()
        self._waiting_persists = 0
        self._probes: list[Future[bool]] = []
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def submit(self, persists: Sequence[Persist]) -> Future[None]:
        """Queue records for the writing thread and return, without waiting, a future that is done
        when they are on disk and cannot be cancelled. It ends with ``JournalRefused`` when the disk
        refuses them, too much waits, or the writer is closed; with another error where these
        records are at fault."""
        submission = Submission(persists)
        # From now on nobody can cancel it: it may be on disk already.
        submission.done.set_running_or_notify_cancel()
        with self._changed:
            refusal = self._why_not()
            if refusal is None:
                self._waiting.append(submission)
                self._waiting_persists += len(persists)
                self._changed.notify()
        if refusal is not None:
            submission.done.set_exception(refusal)
        return submission.done

    def probe(self) -> Future[bool]:
        """Ask the writing thread whether the disk takes records again and return, without waiting,
        a future of the answer; False when the writer is closing."""
        answer: Future[bool] = Future()
        answer.set_running_or_notify_cancel()
        with self._changed:
            closing = self._closing
            if not closing:
                self._probes.append(answer)
                self._changed.notify()
        if closing:
            answer.set_result(False)
        return answer

    def close(self) -> None:
        """Refuse what comes from now on, write what waits, and wait until the thread has ended and
        the files are closed."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _why_not(self) -> JournalRefused | None:
        if self._closing:
            return JournalClosed(f"The journal in {self._folder} is closed; the agent is stopping.")
        if self._waiting_persists >= PENDING_PERSISTS_MAX:
            return JournalBusy(
                f"The disk that holds the journal in {self._folder} is too slow:"
                f" {self._waiting_persists} changes wait for it; see what else keeps it busy."
            )
        return None

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting or self._probes or self._closing)
                    group = self._next_group()
                    probes, self._probes = self._probes, []
                if not group and not probes:
                    return
                self._write(group)
                for answer in probes:
                    answer.set_result(self._store.is_usable())
                self._store.tidy()
        finally:
            self._store.close()

    def _next_group(self) -> list[Submission]:
        group: list[Submission] = []
        persists = 0
        while self._waiting and (
            not group or persists + len(self._waiting[0].persists) <= TRANSACTION_PERSISTS_MAX
        ):
            submission = self._waiting.popleft()
            persists += len(submission.persists)
            group.append(submission)
        self._waiting_persists -= persists
        return group

    def _write(self, group: list[Submission]) -> None:
        if not group:
            return
        try:
            self._store.commit([persist for each in group for persist in each.persists])
        except JournalRefused as refused:
            for each in group:
                each.done.set_exception(refused)
        except Exception as fault:  # noqa: BLE001 - whoever waits is told; the thread must live
            if len(group) == 1:
                group[0].done.set_exception(fault)
                return
            # One of them is at fault: the others must not pay for it.
            for each in group:
                self._write([each])
        else:
            for each in group:
                each.done.set_result(None)


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
        """Write these records to disk in one transaction, durable on return; without any do
        nothing. Raise ``JournalRefused`` and change no record when the disk refuses; when it is
        full the reserve is given up."""
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
        """Fold the log into the database when it has grown long, else, or when the database is not
        open, do nothing; a failure is passed over, and tried again once the log has grown as much
        again."""
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
        """Tell whether the disk takes records again, by writing the reserve anew with a margin and
        trying a change; where it does not, the connection is closed, and the reserve given up if it
        has no room."""
        try:
            with in_words(self._folder):
                self._reserve.take(MARGIN_BYTES)
                try_to_write(self._connected())
        except JournalRefused:
            self._disconnect()
            return False
        return True

    def close(self) -> None:
        """Fold the whole log into the database and close it; a log that cannot be folded stays, and
        nothing is raised."""
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


class Reserve:
    """A file that takes up room until the disk is full."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self, margin_bytes: int = 0) -> None:
        """Write the reserve to disk unless it is there whole, and try whether ``margin_bytes`` fit
        besides, for which it is written anew; raise ``OSError``, and delete the reserve, when that
        fails, as with too little room."""
        try:
            make_private_file(self._path)
            if margin_bytes or self._path.stat().st_size != RESERVE_BYTES:
                self._write(RESERVE_BYTES + margin_bytes)
            os.truncate(self._path, RESERVE_BYTES)
        except OSError:
            self.release()
            raise

    def _write(self, size_bytes: int) -> None:
        with self._path.open("wb") as file:
            file.write(os.urandom(size_bytes))
            file.flush()
            os.fsync(file.fileno())

    def release(self) -> bool:
        """Delete the reserve to free its room and return whether that was done; False when there
        was none or it cannot be deleted."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True
