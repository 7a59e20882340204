"""`wingbeat-tray --quit`, by which whoever replaces the program's files has all of it end first."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from agent.client import Home
from gui.ending import end_all
from gui.single import first_process
from tests.gui.machines import prepared, submit
from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, wait_for
from tests.style.source import REPOSITORY

LONG = "name: line\ntasks:\n  survey: {program: import, parameters: '600'}\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """With programs, and without an agent."""
    return prepared(tmp_path, "acor")


@contextlib.contextmanager
def tray(machine: Machine) -> Iterator[subprocess.Popen[bytes]]:
    """In a process of its own, from when an agent answers on."""
    environment = {**machine.environment, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("PYTHONWARNINGS")
    words = [sys.executable, "-m", "gui", "--background"]
    with ended(subprocess.Popen(words, cwd=REPOSITORY, env=environment)) as process:
        wait_for(machine.home.window_lock.exists, EVENTUALLY_S_MAX, "the tray is there")
        wait_for(lambda: machine.run("status").code == 0, EVENTUALLY_S_MAX, "and an agent")
        yield process


def quit_tray(machine: Machine, how: str = "--quit") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gui", how],
        cwd=REPOSITORY,
        env=machine.environment,
        capture_output=True,
        text=True,
        timeout=EVENTUALLY_S_MAX,
        check=False,
    )


def _phases(machine: Machine) -> list[str]:
    return [each["state"] for each in machine.answer("status", "line")["tasks"]]


def test_a_tray_that_hosts_its_agent_hands_back_and_ends(machine: Machine, tmp_path: Path) -> None:
    with tray(machine) as process:
        submit(machine, tmp_path, LONG)
        wait_for(lambda: _phases(machine) == ["Running"], EVENTUALLY_S_MAX, "the task runs")
        done = quit_tray(machine)
        assert (done.returncode, done.stderr) == (0, "")
        assert process.poll() == 0, "it is over when the process is gone, not before"
    assert "stopping: the tray ends" in machine.log()
    assert machine.log().rstrip().endswith("stopped")


def test_an_agent_beside_the_tray_ends_too_and_so_does_one_alone(machine: Machine) -> None:
    with machine.agent("--port", "0") as agent, tray(machine) as process:
        assert quit_tray(machine).returncode == 0
        assert (process.poll(), agent.poll()) == (0, 0)
    with machine.agent("--port", "0") as agent:
        assert quit_tray(machine).returncode == 0
        assert agent.poll() == 0


def test_a_tray_that_ends_for_good_leaves_its_flock_before(
    machine: Machine, tmp_path: Path
) -> None:
    bee = Machine(tmp_path / "bee")
    with bee.agent("--port", "0"), tray(machine) as process:
        bee.said("flock", "create", "office")
        machine.said("flock", "join", bee.answer("flock", "invite")["text"])
        done = quit_tray(machine, "--leave")
        assert (done.returncode, done.stderr, process.poll()) == (0, "", 0)
        members = bee.answer("flock", "members")
        assert [each["own"] for each in members["members"]] == [True]
        assert len(members["departures"]) == 1


def test_where_nothing_runs_there_is_nothing_to_end(tmp_path: Path) -> None:
    for how in ("--quit", "--leave"):
        done = quit_tray(Machine(tmp_path / "nobody"), how)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "nobody").exists(), "asking makes no home"


@pytest.mark.skipif(sys.platform == "win32", reason="nobody can halt a process there by a signal")
def test_what_does_not_end_is_told_and_not_killed(machine: Machine) -> None:
    with tray(machine) as process:
        process.send_signal(signal.SIGSTOP)
        sentence = end_all(machine.home, within_s=1.0)
        assert f"as process {process.pid}:" in sentence
        assert psutil.Process(process.pid).status() == psutil.STATUS_STOPPED
        process.send_signal(signal.SIGCONT)


def test_a_lock_of_a_process_that_died_is_nobodys(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    home.prepare()
    assert first_process(home) == 0
    home.window_lock.write_text("2147483000\nwingbeat\nelsewhere\n")
    assert end_all(home, within_s=5.0) == ""
