"""The journal of a node: every change of its table is on disk before anybody is told of it.

All machines of a flock may lose power at once, and the work has to go on where it was. So a node
hands in what it wants kept, in order, and does what depends on it when that is on disk. Killing the
process at any moment, a full disk and a damaged file are part of the plan: what was acknowledged is
there after the first; the second refuses in words and loses nothing; the third costs what cannot be
read, and the flock brings that back.

The folder belongs to the journal alone. Opening reads and checks everything and may take a moment;
it is done before the agent's loop starts. After that its ``writer`` takes records: it is for the
loop and waits for no disk. Completed futures call back from the writer's own thread.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from agent.storage.database import Remembered, Stored, fold_log, open_to_read, open_to_write
from agent.storage.errors import JournalFull, in_words
from agent.storage.formats import bring_up_to_date
from agent.storage.identity_copy import read_copy, remembered
from agent.storage.inspection import find_damage, finish, mend
from agent.storage.places import FolderLock, Places, keep_names, make_private_folder
from agent.storage.writer import Reserve, Store, Writer


class Journal:
    """Open from ``open`` to ``close``, by one process at a time."""

    def __init__(self, places: Places, lock: FolderLock, writer: Writer, told: list[str]) -> None:
        self._places = places
        self._lock = lock
        self.writer = writer
        self._told = told

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the journal in this folder, made empty when there is none and mended when it is
        damaged, which ``read`` tells; waits for the disk. Raise ``JournalInUse``,
        ``JournalTooNew``, or ``JournalRefused`` when the disk does not let it open."""
        with in_words(folder), ExitStack() as undone:
            make_private_folder(folder)
            places = Places(folder)
            lock = FolderLock.take(places.lock)
            undone.callback(lock.release)
            try:
                store, told = _prepare(places)
            except JournalFull:
                if not Reserve(places.reserve).release():
                    raise
                store, told = _prepare(places)
            undone.pop_all()
            return cls(places, lock, Writer(store, folder), told)

    def read(self) -> Remembered:
        """Return all records on disk, waiting for it, the identity from its copy where its record
        is missing or older, and sentences on what a person should know, such as what was mended or
        is not understood; raise ``JournalRefused`` when they cannot be read."""
        stored = Stored()
        with (
            in_words(self._places.folder),
            closing(open_to_read(self._places.database)) as connection,
        ):
            stored.read(connection)
        row = stored.identities[0] if stored.identities else None
        copy = read_copy(self._places.identity)
        told = list(self._told)
        if stored.strange:
            told.append(
                f"{stored.strange} records in the journal in {self._places.folder} were written by"
                " another version of Wingbeat and are not understood; they stay where they are."
            )
        return Remembered(
            identity=remembered(row, copy, damaged=bool(self._told)),
            workflows=tuple(stored.workflows),
            lives=tuple(stored.lives),
            prunings=tuple(stored.prunings),
            noted=tuple(stored.noted),
            notices=tuple(told),
        )

    def close(self) -> None:
        """Write what was submitted, wait for that, and let another process have the journal; what
        is submitted after that is refused."""
        self.writer.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _prepare(places: Places) -> tuple[Store, list[str]]:
    """Mend what is broken, bring up to date what is old; what has to be told about it."""
    with in_words(places.folder):
        told = [finish(places)]
        if places.database.exists() and places.database.stat().st_size:
            damage = find_damage(places.database)
            if damage is not None:
                told.append(mend(places, damage))
        elif places.identity.exists():
            told.append(
                f"The journal in {places.folder} was gone; this node starts without records, and"
                " the flock brings them back."
            )
        connection = open_to_write(places.database)
        try:
            bring_up_to_date(connection)
            fold_log(connection, wholly=True)
            keep_names(places.folder)
            with suppress(OSError):  # a disk without room for it may still have room for records
                Reserve(places.reserve).take()
            return Store(places, connection), [notice for notice in told if notice]
        except BaseException:
            connection.close()
            raise
