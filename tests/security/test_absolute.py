"""Pause, stop and death are absolute: no process of a task runs on, whatever it does against that."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("confinement is for Linux", allow_module_level=True)

from agent.execution.confinement import proof as proving
from agent.execution.confinement.boundary import Means
from agent.execution.confinement.landlock import version
from agent.protocol.events import ChildFailed, ChildNotStarted
from tests.driver.worlds import RUN
from tests.execution.installed import stands_still
from tests.hosts.waiting import eventually
from tests.security.held import NODE, PROGRAMS, begin, working_in
from tests.security.scene import Machine

NAMES = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which("node"), reason="no Node.js here"))
    if PROGRAMS[name][0] == NODE
    else name
    for name in PROGRAMS
]
LEAST = {"multiplies": 20}
"""Processes that there are when it has begun, 2 for the others."""
BEATS = "home/cache/scratch/run-1/work/beats-*"


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    machine = Machine(tmp_path, "on")
    yield machine
    await machine.children.close()


def beats(folder: Path) -> dict[str, int]:
    return {str(each): each.stat().st_size for each in folder.glob(BEATS)}


async def has_begun(folder: Path, name: str) -> None:
    await eventually(lambda: len(beats(folder)) >= LEAST.get(name, 2))


@pytest.mark.parametrize("name", NAMES)
async def test_a_paused_program_stands_still_until_it_is_gone(machine: Machine, name: str) -> None:
    begin(machine, name)
    await has_begun(machine.folder, name)
    machine.children.suspend("t", RUN)
    await eventually(lambda: all(map(stands_still, working_in(machine.folder))))
    stood = beats(machine.folder)
    machine.children.stop("t", RUN, "test")
    await eventually(
        lambda: beats(machine.folder) in (stood, {}) and not list(working_in(machine.folder))
    )
    await machine.end()


@pytest.mark.parametrize("name", NAMES)
async def test_a_stopped_program_is_gone(machine: Machine, name: str) -> None:
    begin(machine, name)
    await has_begun(machine.folder, name)
    machine.children.stop("t", RUN, "test")
    await machine.end()
    assert list(working_in(machine.folder)) == []


@pytest.mark.parametrize("name", NAMES)
async def test_nothing_runs_on_when_its_agent_was_killed(tmp_path: Path, name: str) -> None:
    words = [sys.executable, "-m", "tests.security.held", str(tmp_path), name]
    agent = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        await has_begun(tmp_path, name)
    finally:
        agent.kill()
        agent.wait()
    await eventually(lambda: not list(working_in(tmp_path)))


async def test_the_same_holds_with_process_numbers_of_its_own(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Means(version(), mounts=True, processes=True)
    monkeypatch.setattr(proving, "_candidates", lambda: iter([own]))
    await test_a_paused_program_stands_still_until_it_is_gone(machine, "hides")


async def test_a_keeper_that_was_stopped_is_ended_with_its_program(tmp_path: Path) -> None:
    """As somebody could who is not confined."""
    machine = Machine(tmp_path, "off")
    machine.install("stop", ["sh", "stop.sh"], {"stop.sh": "kill -STOP $PPID; exec sleep 1000"})
    ended = await machine.run("stop")
    assert isinstance(ended, ChildFailed | ChildNotStarted), ended
    await eventually(lambda: not list(working_in(tmp_path / "home")))
    await machine.children.close()
