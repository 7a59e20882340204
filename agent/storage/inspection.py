"""Is the journal whole? Asked at every start, before anything is changed.

Three things are looked at: SQLite's structure, by SQLite; the checksum of every row; and, after a
crash, the log for transactions that SQLite passes over. The connection used here writes nothing,
so that a damaged journal, or one of a later version, stays exactly as it was found. Only what a
process left that was killed before it had a log is undone first.

**A damaged journal is set aside, and what can be read of it becomes the new one.**

Nothing is thrown away: the damaged files are kept under a name with the time, the latest few of
them. The new journal is complete on disk before the damaged one is moved, so that being killed at
any step leaves something that ``finish`` can complete at the next start.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.storage.database import (
    checksum,
    commit,
    fold_log,
    open_to_read,
    open_to_write,
    stored_rows,
)
from agent.storage.errors import STRUCTURE_CODES, primary_code
from agent.storage.formats import (
    FormatUnreadableError,
    bring_up_to_date,
    is_empty,
    latest,
    refuse_later_version,
    version_of,
)
from agent.storage.places import (
    Places,
    keep_names,
    rollback_journal,
    shared_index,
    write_ahead_log,
)
from agent.storage.salvage import counted_frames, passed_over, salvage

# What SQLite says when its file is not what it should be. SQLITE_IOERR: a sector cannot be read.
FOUND_DAMAGED = STRUCTURE_CODES | {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_SCHEMA}
FOUND_DAMAGED_IN_DETAIL = frozenset({sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ})
KEPT_ASIDE = 3
ASIDE_NAMES = "journal.damaged-*.db"


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong, in a few words, and of which version the journal was."""

    words: str
    version: int


def find_damage(database: Path) -> Damage | None:
    """Return what is wrong with a journal's database, None when it is sound; raise
    ``JournalTooNew`` when it is of a later version, ``sqlite3.Error`` or ``OSError`` when it or its
    log cannot be read. Nothing is written, but what a process left that was killed before the first
    record is undone."""
    version = latest()
    try:
        with closing(open_to_read(database)) as connection:
            connection.execute("BEGIN")
            words = _damaged_log(connection, database)
            version = version_of(connection) or version
            refuse_later_version(version, database.parent)
            words = words or _damaged_rows(connection)
    except FormatUnreadableError as error:
        return Damage(str(error), version)
    except UnicodeDecodeError:  # SQLite's own complaint, which quotes what it found
        return Damage("its structure is not as it was written", version)
    except sqlite3.DatabaseError as error:
        detail = getattr(error, "sqlite_errorcode", None)
        if detail == sqlite3.SQLITE_READONLY_ROLLBACK and _undone(database):
            return find_damage(database)
        if primary_code(error) in FOUND_DAMAGED or detail in FOUND_DAMAGED_IN_DETAIL:
            return Damage(str(error), version)
        raise
    return None if words is None else Damage(words, version)


def _undone(database: Path) -> bool:
    """Undo what a process left that was killed while it made the journal, before there was a log,
    which only a writer may; return whether that was it. Where a record can be read it was not."""
    if next(salvage(database), None) is not None:
        return False
    try:
        open_to_write(database).close()
    except sqlite3.DatabaseError:
        return False
    return True


def _damaged_log(connection: sqlite3.Connection, database: Path) -> str | None:
    is_empty(connection)  # the first read makes SQLite count the frames
    index = shared_index(database)
    counted = counted_frames(index) if index.exists() else 0
    return "its log is broken" if passed_over(write_ahead_log(database), counted) else None


def _damaged_rows(connection: sqlite3.Connection) -> str | None:
    if is_empty(connection):
        return None
    (structure,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if structure not in ("ok", b"ok"):
        return _first_line(structure)
    for kind, name, stored, content in stored_rows(connection):
        if not _is_as_written(kind, name, stored, content):
            return "a record is not as it was written"
    return None


def _is_as_written(kind: object, name: object, stored: object, content: object) -> bool:
    """Types too: a flipped byte may make a text of a number."""
    return (
        isinstance(kind, bytes)
        and isinstance(name, bytes)
        and isinstance(content, bytes)
        and stored == checksum(kind, name, content)
    )


def _first_line(told: bytes | str) -> str:
    text = told.decode(errors="replace") if isinstance(told, bytes) else told
    lines = [line for line in text.splitlines() if line and not line.startswith("***")]
    return lines[0] if lines else "its structure is broken"


def mend(places: Places, damage: Damage, now: datetime | None = None) -> str:
    """Build a new journal from all records that can be read, set the damaged one aside under a name
    with the time (``now``, None being the present), of which the latest few are kept, and put the
    new one in its place; return what to tell, in one sentence. Raise ``sqlite3.Error`` or
    ``OSError`` when that fails; the next start goes on from there."""
    _remove(places.mended)
    saved = _build(places, damage.version)
    aside = _set_aside(places, now or datetime.now(UTC))
    _put_in_place(places)
    _forget_oldest(places.folder)
    return (
        f"The journal in {places.folder} was damaged ({damage.words}): {saved} records could be"
        " read and are kept, the flock brings what is missing, and the damaged file lies beside it"
        f" as {aside.name}."
    )


def finish(places: Places) -> str | None:
    """Complete the mending that an earlier start began: put the new journal in place and return a
    sentence, or delete it and return None while the damaged one is still there. Return None when
    nothing was begun; raise ``OSError`` when the disk refuses."""
    if not places.mended.exists():
        return None
    if places.database.exists():
        _remove(places.mended)
        return None
    _put_in_place(places)
    return f"The journal in {places.folder} was damaged; its mending was completed at this start."


def _build(places: Places, version: int) -> int:
    with closing(open_to_write(places.mended)) as connection:
        bring_up_to_date(connection, version)
        before = connection.total_changes
        commit(connection, salvage(places.database), ())
        saved = connection.total_changes - before
        fold_log(connection, wholly=True)
    keep_names(places.folder)
    return saved


def _set_aside(places: Places, now: datetime) -> Path:
    aside = places.folder / f"journal.damaged-{now:%Y-%m-%dT%H-%M-%S.%f}Z.db"
    places.database.rename(aside)
    _move_log(places, aside)
    return aside


def _put_in_place(places: Places) -> None:
    """From here on the new journal is complete, and no log of the old one may be played on it."""
    _move_log(places, places.folder / "journal.damaged-log.db")
    keep_names(places.folder)
    places.mended.replace(places.database)
    keep_names(places.folder)


def _move_log(places: Places, aside: Path) -> None:
    for beside in (write_ahead_log, rollback_journal):
        if beside(places.database).exists():
            beside(places.database).replace(beside(aside))
    shared_index(places.database).unlink(missing_ok=True)


def _forget_oldest(folder: Path) -> None:
    for path in sorted(folder.glob(ASIDE_NAMES))[:-KEPT_ASIDE]:
        _remove(path)


def _remove(database: Path) -> None:
    for beside in (write_ahead_log, rollback_journal, shared_index):
        beside(database).unlink(missing_ok=True)
    database.unlink(missing_ok=True)
