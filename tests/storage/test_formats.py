"""Journals of every version that was ever written are read; those of later ones are left alone."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from agent.storage import formats
from agent.storage.errors import JournalTooNew
from agent.storage.journal import Journal
from agent.storage.rows import IDENTITY, checksum, row
from tests.storage.journals import version1
from tests.storage.samples import held, persist, replayed

JOURNALS = Path(__file__).parent / "journals"


def test_a_journal_of_version_1_is_read(tmp_path: Path) -> None:
    shutil.copy(JOURNALS / "version1.db", tmp_path / "journal.db")
    with Journal.open(tmp_path) as journal:
        remembered = journal.read()
        journal.write([persist(1)])
    assert remembered.notices == ()
    assert held(remembered) == replayed([version1.CHANGE])


def test_what_this_version_does_not_know_is_passed_on(tmp_path: Path) -> None:
    shutil.copy(JOURNALS / "version1.db", tmp_path / "journal.db")
    with Journal.open(tmp_path) as journal:
        (workflow,) = journal.read().workflows
    assert {name: bytes(raw) for name, raw in workflow.spec.more.items()} == {"colour": b"\xa3red"}


def add_column_of_marks(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE mark (number INTEGER PRIMARY KEY, text TEXT)")
    connection.execute("INSERT INTO mark SELECT number, id FROM record")


def fail_halfway(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM record")
    connection.execute("INSERT INTO nowhere VALUES (1)")


def test_an_older_journal_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(JOURNALS / "version1.db", tmp_path / "journal.db")
    monkeypatch.setattr(formats, "STEPS", (*formats.STEPS, add_column_of_marks))
    for _ in range(2):
        with Journal.open(tmp_path) as journal:
            assert held(journal.read()) == replayed([version1.CHANGE])
    connection = sqlite3.connect(tmp_path / "journal.db")
    (marks,) = connection.execute("SELECT count(*) FROM mark").fetchone()
    connection.close()
    assert marks == len(replayed([version1.CHANGE]))


def test_a_damaged_older_journal_is_mended_and_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytearray((JOURNALS / "version1.db").read_bytes())
    content[25] ^= 0xFF
    content[-1] ^= 0xFF
    (tmp_path / "journal.db").write_bytes(content)
    monkeypatch.setattr(formats, "STEPS", (*formats.STEPS, add_column_of_marks))
    with Journal.open(tmp_path) as journal:
        assert "was damaged" in journal.read().notices[0]
        journal.write([persist(1)])
    connection = sqlite3.connect(tmp_path / "journal.db")
    assert formats.version_of(connection) == 2
    assert connection.execute("SELECT count(*) FROM mark").fetchone() > (1,)
    connection.close()


def test_a_step_that_fails_leaves_the_older_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(JOURNALS / "version1.db", tmp_path / "journal.db")
    with monkeypatch.context() as patched:
        patched.setattr(formats, "STEPS", (*formats.STEPS, fail_halfway))
        with pytest.raises(Exception, match="nowhere"):
            Journal.open(tmp_path)
    with Journal.open(tmp_path) as journal:
        assert held(journal.read()) == replayed([version1.CHANGE])


def test_a_journal_of_a_later_version_is_refused_and_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(formats, "STEPS", (*formats.STEPS, add_column_of_marks))
        with Journal.open(tmp_path) as journal:
            journal.write([persist(1)])
    before = (tmp_path / "journal.db").read_bytes()
    with pytest.raises(JournalTooNew, match="later version of Wingbeat") as refused:
        Journal.open(tmp_path)
    assert str(tmp_path) in str(refused.value)
    assert (tmp_path / "journal.db").read_bytes() == before
    assert not list(tmp_path.glob("journal.damaged-*"))


def test_records_of_an_unknown_kind_stay_and_are_told(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        journal.write([persist(1)])
    connection = sqlite3.connect(tmp_path / "journal.db")
    connection.execute("UPDATE record SET kind = 'later' WHERE kind = 'identity'")
    connection.execute("UPDATE record SET checksum = ? WHERE kind = 'later'", (later_checksum(),))
    connection.commit()
    connection.close()
    for _ in range(2):
        with Journal.open(tmp_path) as journal:
            remembered = journal.read()
        assert "1 records" in remembered.notices[0]
        assert remembered.identity is not None


def later_checksum() -> int:
    """Of the identity's row under another kind."""
    _, name, _, content = row((IDENTITY, ""), persist(1).identity)
    return checksum(b"later", name.encode(), content)
