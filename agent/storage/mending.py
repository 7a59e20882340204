"""A damaged journal is set aside, and what can be read of it becomes the new one.

Nothing is thrown away: the damaged files are kept under a name with the time, the latest few of
them. The new journal is complete on disk before the damaged one is moved, so that being killed at
any step leaves something that ``finish`` can complete at the next start.
"""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from agent.storage.database import commit, fold_log, open_to_write
from agent.storage.formats import bring_up_to_date
from agent.storage.inspection import Damage
from agent.storage.places import (
    Places,
    keep_names,
    rollback_journal,
    shared_index,
    write_ahead_log,
)
from agent.storage.salvage import salvage

KEPT_ASIDE = 3
ASIDE_NAMES = "journal.damaged-*.db"


def mend(places: Places, damage: Damage, now: datetime | None = None) -> str:
    """Put a new journal, made of all readable records, in the place of a damaged one, which is set
    aside; return what to tell, in one sentence."""
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
    """Complete the mending that an earlier start began; return a sentence when the new journal was
    put in place, else None."""
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
