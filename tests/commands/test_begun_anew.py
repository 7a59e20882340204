"""Agents that are killed, started anew or copied: what commands go on with, what is kept, what is said."""

from __future__ import annotations

import json
import select
import shutil
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from agent.commands import exits
from tests.hosts.machine import WITHIN_S, Machine
from tests.hosts.waiting import wait_for

TASKS = [{"id": "check", "gate": True, "asks": "look"}, {"id": "spare", "program": "nobody-has-it"}]


def follows(process: subprocess.Popen[str], machine: Machine) -> bool:
    """Whether it has told of something that happened; if not, something happens."""
    assert process.stdout is not None
    if select.select([process.stdout], [], [], 0.0)[0]:
        return "survey" not in (said := process.stdout.readline()) or "survey/" in said
    machine.run("retry", "survey", "spare")
    machine.run("cancel", "survey", "spare")
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that can be looked at")
@pytest.mark.parametrize("words", [["submit", "FILE", "--wait"], ["watch", "survey"]])
def test_waiting_goes_on_over_a_restart(words: list[str], tmp_path: Path) -> None:
    machine, file = Machine(tmp_path / "birch"), tmp_path / "survey.json"
    file.write_text(json.dumps({"name": "survey", "tasks": TASKS}))
    command = [str(file) if word == "FILE" else word for word in words]
    with ExitStack() as stack:
        first = stack.enter_context(machine.agent("--name", "birch", "--port", "0"))
        if words[0] == "watch":
            machine.said("submit", str(file))
        process = stack.enter_context(machine.begin(*command))
        wait_for(lambda: follows(process, machine), WITHIN_S, "a line of what happens")
        first.kill()
        first.wait(WITHIN_S)
        stack.enter_context(machine.agent("--name", "birch", "--port", "0"))
        machine.run("cancel", "survey", "spare")
        assert machine.run("retry", "survey").code == exits.DONE
        machine.said("done", "survey/check")
        machine.said("cancel", "survey", "spare")
        output, errors = process.communicate(timeout=WITHIN_S)
    assert (process.returncode, errors) == (exits.WORK_FAILED, "")
    assert "survey is cancelled" in output.splitlines()[-1]


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


CURE = "delete its data folder"


def _findings(machine: Machine) -> str:
    ran = machine.run("doctor")
    assert ran.code in (exits.DONE, exits.FAILED), ran
    return ran.out


def test_two_machines_of_one_identity_are_told_of_and_told_apart_from_one(tmp_path: Path) -> None:
    alder, birch, copy = (Machine(tmp_path / name) for name in ("alder", "birch", "copy"))
    with ExitStack() as stack:
        stack.enter_context(alder.agent("--name", "alder", "--port", "0"))
        with birch.agent("--name", "birch", "--port", "0"):
            alder.said("flock", "create", "meadow")
            birch.said("flock", "join", alder.answer("flock", "invite")["text"])
            wait_for(lambda: "1 of 1 other linked" in birch.said("peers"), WITHIN_S, "a link")
            birch.said("stop")
        shutil.copytree(birch.folder, copy.folder)
        stack.enter_context(birch.agent())
        wait_for(lambda: "1 of 1 other linked" in birch.said("peers"), WITHIN_S, "a link again")
        assert CURE not in _findings(alder)
        stack.enter_context(copy.agent("--name", "copy"))
        wait_for(
            lambda: (
                "two machines have the identity of birch" in _findings(alder)
                or "two machines have the identity of copy" in _findings(alder)
            ),
            2 * WITHIN_S,
            "the other machine sees it",
        )
        assert CURE in _findings(alder)
        assert "two machines have the identity of" in alder.said("peers")
        assert "two machines have the identity of" in alder.said("log")
        wait_for(
            lambda: any(
                "another machine has the same identity as this one" in _findings(each)
                for each in (birch, copy)
            ),
            2 * WITHIN_S,
            "the one that is refused sees it",
        )
        wait_for(
            lambda: any(
                "warning: another machine has the same identity" in each.run("peers").out
                for each in (birch, copy)
            ),
            WITHIN_S,
            "and among its peers",
        )
