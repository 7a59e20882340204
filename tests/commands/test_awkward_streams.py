"""Streams that are full, closed or read by nobody, and folders that are gone: never a traceback."""

from __future__ import annotations

import json
import select
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from agent.commands import exits
from tests.agent.processes import COMMAND, WITHIN_S, Machine, Ran
from tests.hosts.waiting import wait_for
from tests.style.source import REPOSITORY

FULL = Path("/dev/full")
NO_SPACE = "wingbeat: the output cannot be written: No space left on device.\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")


@pytest.fixture(scope="module")
def birch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("birch"))
    with machine.agent("--name", "birch", "--port", "0"):
        yield machine


def shell(machine: Machine, line: str) -> Ran:
    """A line in which $W is the command."""
    command = f"{shlex.quote(sys.executable)} -m agent"
    done = subprocess.run(
        ["sh", "-c", line.replace("$W", command)],
        env={**machine.environment, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    "command", ["status", "status --json", "peers", "log", "completion zsh", "doctor", "programs"]
)
def test_a_full_disk_is_one_sentence(birch: Machine, command: str) -> None:
    assert shell(birch, f"$W {command} > /dev/full") == Ran(exits.FAILED, "", NO_SPACE)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_streams(birch: Machine, closed: str) -> None:
    ran = shell(birch, f"$W status {closed}")
    assert (ran.code, ran.err) == (exits.DONE, "")


def test_nothing_to_read_is_no_workflow(birch: Machine) -> None:
    sentence = "wingbeat: what was read is no workflow: there is nothing in it.\n"
    assert shell(birch, "$W submit - <&-") == Ran(exits.FAILED, "", sentence)


def test_a_folder_that_is_gone_is_told(birch: Machine, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    line = f"mkdir {shlex.quote(str(gone))}; cd {shlex.quote(str(gone))}; rmdir ../gone"
    sentence = "wingbeat: the folder that this was started in is not there any more.\n"
    assert shell(birch, f"{line}; $W datasets add x") == Ran(exits.FAILED, "", sentence)
    assert shell(birch, f"{line}; $W status").code == exits.DONE


def test_what_happens_comes_through_a_pipe_at_once(birch: Machine) -> None:
    watching = subprocess.Popen(
        [*COMMAND, "watch"],
        cwd=REPOSITORY,
        env=birch.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    numbers = count()

    def told() -> bool:
        """It may not watch yet when the first ones are submitted."""
        tasks = [{"id": "a", "program": "nobody-has-this"}]
        birch.said("submit", "-", told=json.dumps({"name": f"w{next(numbers)}", "tasks": tasks}))
        assert watching.stdout is not None
        return bool(select.select([watching.stdout], [], [], 0.5)[0])

    try:
        wait_for(told, WITHIN_S, "a line about what happens")
        assert watching.stdout is not None
        assert "/a Ready (submitted)" in watching.stdout.readline()
    finally:
        watching.kill()
        watching.communicate()
