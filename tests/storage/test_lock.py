"""One process has the journal; who comes second is told which one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.storage.errors import JournalInUse
from agent.storage.journal import Journal
from tests.storage.samples import persist, written
from tests.storage.test_kill import start


def test_a_second_opening_names_the_process_that_has_it(tmp_path: Path) -> None:
    process = start(tmp_path, 1, 1000)
    assert process.stdout is not None
    with process, process.stdout as output:
        assert output.readline() == b"open\n"
        with pytest.raises(JournalInUse, match=f"process {process.pid};") as refused:
            Journal.open(tmp_path)
        assert refused.value.process_id == process.pid
        assert str(tmp_path) in str(refused.value)
        process.kill()
    written(tmp_path, persist(1))


def test_a_second_opening_in_the_same_process_is_refused(tmp_path: Path) -> None:
    """Whatever an earlier holder left in the file of the lock."""
    (tmp_path / "lock").write_bytes(b"99999999999999999999 and more")
    with Journal.open(tmp_path), pytest.raises(JournalInUse) as refused:
        Journal.open(tmp_path)
    assert refused.value.process_id == os.getpid()


def test_who_holds_the_lock_is_not_guessed(tmp_path: Path) -> None:
    with Journal.open(tmp_path):
        for content in (b"", b"no number"):
            (tmp_path / "lock").write_bytes(content)
            with pytest.raises(JournalInUse, match="in use by another process;") as refused:
                Journal.open(tmp_path)
            assert refused.value.process_id is None


def test_a_start_that_fails_lets_go_of_the_lock(tmp_path: Path) -> None:
    (tmp_path / "journal.db").mkdir()
    for _ in range(2):
        with pytest.raises(Exception, match="cannot be read or written"):
            Journal.open(tmp_path)
    (tmp_path / "journal.db").rmdir()
    Journal.open(tmp_path).close()
