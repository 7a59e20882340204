"""Journals of every version that was ever written are read; those of later ones are left alone."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.storage import formats
from agent.storage.database import IDENTITY, checksum, row
from agent.storage.errors import JournalTooNew
from agent.storage.journal import Journal
from tests.storage.journals import version1
from tests.storage.samples import flipped, held, persist, replayed, written

JOURNALS = Path(__file__).parent / "journals"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One with a journal of version 1."""
    shutil.copy(JOURNALS / "version1.db", tmp_path / "journal.db")
    return tmp_path


def count(folder: Path, counted: str) -> int:
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {counted}").fetchone()[0])


def test_a_journal_of_version_1_is_read(folder: Path) -> None:
    """What this version does not know is passed on."""
    remembered = written(folder)
    written(folder, persist(1))
    (workflow,) = remembered.workflows
    assert remembered.notices == ()
    assert held(remembered) == replayed([version1.CHANGE])
    assert {name: bytes(raw) for name, raw in workflow.spec.more.items()} == {"colour": b"\xa3red"}


def add_column_of_marks(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE mark (number INTEGER PRIMARY KEY, text TEXT)")
    connection.execute("INSERT INTO mark SELECT number, id FROM record")


def fail_halfway(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM record")
    connection.execute("INSERT INTO nowhere VALUES (1)")


def test_an_older_journal_is_brought_up_to_date(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "STEPS", (*formats.STEPS, add_column_of_marks))
    for _ in range(2):
        assert held(written(folder)) == replayed([version1.CHANGE])
    assert count(folder, "mark") == len(replayed([version1.CHANGE]))


def test_a_damaged_older_journal_is_mended_and_brought_up_to_date(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (25, -1):
        flipped(folder / "journal.db", place, 0xFF)
    monkeypatch.setattr(formats, "STEPS", (*formats.STEPS, add_column_of_marks))
    assert "was damaged" in written(folder, persist(1)).notices[0]
    assert count(folder, "mark") > 1
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        assert formats.version_of(connection) == 2


def test_a_step_that_fails_leaves_the_older_journal(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(formats, "STEPS", (*formats.STEPS, fail_halfway))
        with pytest.raises(Exception, match="nowhere"):
            Journal.open(folder)
    assert held(written(folder)) == replayed([version1.CHANGE])


def test_a_journal_of_a_later_version_is_refused_and_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(formats, "STEPS", (*formats.STEPS, add_column_of_marks))
        written(tmp_path, persist(1))
    before = (tmp_path / "journal.db").read_bytes()
    with pytest.raises(JournalTooNew, match="later version of Wingbeat") as refused:
        Journal.open(tmp_path)
    assert str(tmp_path) in str(refused.value)
    assert (tmp_path / "journal.db").read_bytes() == before
    assert not list(tmp_path.glob("journal.damaged-*"))


def test_records_of_an_unknown_kind_stay_and_are_told(tmp_path: Path) -> None:
    written(tmp_path, persist(1))
    _, name, _, content = row((IDENTITY, ""), persist(1).identity)
    later = ("later", checksum(b"later", name.encode(), content), IDENTITY)
    with closing(sqlite3.connect(tmp_path / "journal.db")) as connection, connection:
        connection.execute("UPDATE record SET kind = ?, checksum = ? WHERE kind = ?", later)
    for _ in range(2):
        remembered = written(tmp_path)
        assert "1 records" in remembered.notices[0]
        assert remembered.identity is not None
