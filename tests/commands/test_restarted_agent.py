"""Commands that stay while the agent is started anew: they go on, and say what they cannot tell."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from agent.commands import exits
from tests.agent.processes import COMMAND, WITHIN_S, Machine
from tests.hosts.waiting import wait_for
from tests.style.source import REPOSITORY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes that can be looked at")
TASKS = [{"id": "check", "gate": True, "asks": "look"}, {"id": "spare", "program": "nobody-has-it"}]


@contextmanager
def staying(machine: Machine, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A command that has said its first line."""
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=REPOSITORY,
        env=machine.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def follows(process: subprocess.Popen[str], machine: Machine) -> bool:
    """Whether it has told of something that happened; if not, something happens."""
    assert process.stdout is not None
    if select.select([process.stdout], [], [], 0.0)[0]:
        return "survey" not in (said := process.stdout.readline()) or "survey/" in said
    machine.run("retry", "survey", "spare")
    machine.run("cancel", "survey", "spare")
    return False


@pytest.mark.parametrize("words", [["submit", "FILE", "--wait"], ["watch", "survey"]])
def test_waiting_goes_on_over_a_restart(words: list[str], tmp_path: Path) -> None:
    machine, file = Machine(tmp_path / "birch"), tmp_path / "survey.json"
    file.write_text(json.dumps({"name": "survey", "tasks": TASKS}))
    command = [str(file) if word == "FILE" else word for word in words]
    with ExitStack() as stack:
        first = stack.enter_context(machine.agent("--name", "birch", "--port", "0"))
        if words[0] == "watch":
            machine.said("submit", str(file))
        process = stack.enter_context(staying(machine, *command))
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
