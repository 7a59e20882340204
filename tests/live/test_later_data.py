"""Data of a later version: an agent does not start on it, says why in a sentence, and leaves it as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent.paths import Home
from agent.storage.formats import _write_version
from tests.hosts.machine import Machine

LATER = 9


def _journal(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        _write_version(connection, LATER)


def _beside(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {LATER}")


def _settings(file: Path) -> None:
    file.write_text(file.read_text() + "of_a_later_version = true\n")


KINDS: dict[str, tuple[Callable[[Home], Path], Callable[[Path], None], str]] = {
    "journal": (lambda home: home.journal / "journal.db", _journal, "install that version again"),
    "history": (lambda home: home.data / "history.sqlite", _beside, "the history in"),
    "logs": (lambda home: home.data / "logs.sqlite", _beside, "other machines' logs in"),
    "datasets": (lambda home: home.data / "datasets/index.db", _beside, "the index of datasets"),
    "settings": (lambda home: home.settings_file, _settings, "there is no setting"),
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """An agent ran on it, and was ended."""
    machine = Machine(tmp_path / "ant")
    with machine.agent("--port", "0"):
        machine.said("stop")
        assert machine.wait() == 0
    return machine


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_refused_and_unchanged(machine: Machine, kind: str) -> None:
    place, made_later, words = KINDS[kind]
    file = place(machine.home)
    made_later(file)
    before = _all(file.parent)
    refused = machine.refused("agent")
    assert words in refused
    assert refused.count("\n") == 1
    if kind != "settings":
        assert "was left as it is" in refused
        assert "install that version again" in refused
    assert _all(file.parent) == before, "nothing was changed, set aside or made anew"


def test_what_is_of_this_version_is_taken(machine: Machine) -> None:
    with machine.agent("--port", "0"):
        assert machine.answer("status")["node"]["name"]


def _all(folder: Path) -> dict[str, bytes]:
    """What lies there, but for what is made at each start."""
    passing = (".db-shm", ".db-wal", ".sqlite-shm", ".sqlite-wal", "lock")
    return {
        each.name: each.read_bytes()
        for each in folder.iterdir()
        if each.is_file() and not each.name.endswith(passing)
    }
