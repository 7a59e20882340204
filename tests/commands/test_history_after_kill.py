"""What an agent that is killed still knows of the past: all but the last second or two."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.agent.processes import WITHIN_S, Machine
from tests.hosts.waiting import wait_for


def rows_on_disk(machine: Machine) -> int:
    """Without asking the agent, which would have it write."""
    file = machine.home.data / "history.sqlite"
    if not file.exists():
        return 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        try:
            return int(database.execute("SELECT count(*) FROM task").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # it is just being made


def test_what_has_ended_is_written_without_being_asked_for(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "birch")
    tasks = [{"id": "spare", "program": "nobody-has-it"}]
    with machine.agent("--name", "birch", "--port", "0") as first:
        machine.said("submit", "-", told=json.dumps({"name": "survey", "tasks": tasks}))
        machine.said("cancel", "survey")
        wait_for(lambda: rows_on_disk(machine) == 1, WITHIN_S, "the row is on disk")
        first.kill()
        first.wait(WITHIN_S)
    with machine.agent("--name", "birch", "--port", "0"):
        assert "spare" in machine.said("history", "survey")
