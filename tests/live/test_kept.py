"""What is kept of work when the machine that did it is gone: why it moved, and what it printed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from agent.storage.kept_logs import FILE
from tests.hosts.machine import WITHIN_S, Machine
from tests.hosts.waiting import wait_for

TELL = """\
import os, sys
attempt = os.environ["WINGBEAT_ATTEMPT"]
print("attempt", attempt, flush=True)
print("x" * 200, file=sys.stderr)
sys.exit(int(attempt == "1"))
"""
STAY = """\
import time
print("it has begun", flush=True)
time.sleep(600)
"""
WORKFLOW = """\
name: told
tasks: {a: {program: tell}}
"""
Flock = tuple[Machine, Machine, Machine]


@pytest.fixture
def flock(tmp_path: Path) -> Iterator[Flock]:
    """alder, which has programs, and birch and cedar, which have none."""
    machines = (
        Machine(tmp_path / "alder"),
        Machine(tmp_path / "birch"),
        Machine(tmp_path / "cedar"),
    )
    alder = machines[0]
    alder.install("tell", TELL)
    alder.install("stay", STAY)
    with ExitStack() as stack:
        for each in machines:
            stack.enter_context(each.agent("--name", each.name, "--port", "0"))
        alder.said("flock", "create", "meadow")
        invitation = alder.answer("flock", "invite", "--uses", "2")["text"]
        for each in machines[1:]:
            each.said("flock", "join", invitation)
        wait_for(lambda: all(map(linked, machines)), WITHIN_S, "all links")
        yield machines


def linked(machine: Machine) -> bool:
    peers = machine.answer("peers")["peers"]
    return [peer["state"] == "linked" and bool(peer["version"]) for peer in peers] == [True] * 2


def moves(machine: Machine, task: str) -> list[str]:
    return [move["what"] for move in machine.answer("why", task)["moves"]]


def logs_kept(*machines: Machine) -> list[int]:
    """How long the logs are that lie on these disks, for others: in one piece, or in two where some
    of it was printed after the first look at it."""
    found: list[int] = []
    for each in machines:
        with closing(sqlite3.connect(each.home.data / FILE)) as connection:
            told = connection.execute("SELECT sum(size) FROM piece GROUP BY task, run")
            found += (size for (size,) in told)
    return found


def test_why_and_the_log_outlive_the_machine_and_the_start(flock: Flock, tmp_path: Path) -> None:
    alder, birch, cedar = flock
    file = tmp_path / "told.wingbeat.yaml"
    file.write_text(WORKFLOW)
    birch.said("submit", "--shared-with", "everybody", str(file), "--wait")
    wait_for(lambda: "done on alder" in moves(birch, "told/a"), WITHIN_S, "its end")
    told = moves(birch, "told/a")
    assert "running on alder" in told
    both = [len("attempt 1\n") + len("x" * 200 + "\n")] * 2
    wait_for(lambda: logs_kept(birch, cedar) == both, WITHIN_S, "both logs are elsewhere")
    taken = [each.answer("settings")["kept_logs_bytes"] for each in (birch, cedar)]
    assert sorted(map(bool, taken)) == [False, True]
    assert f"logs of others here {max(taken)} B" in birch.said("settings") + cedar.said("settings")
    assert "attempt 2\n" in birch.said("logs", "told/a")
    wait_for(lambda: birch.answer("history", "--weeks")["done"] == 1, WITHIN_S, "it is written")
    alder.kill()
    birch.kill()
    birch.start("--name", "birch", "--port", "0")
    birch.up()
    assert moves(birch, "told/a") == told
    attempts = birch.answer("logs", "told/a", "--attempts")["tasks"][0]["runs"]
    assert [(run["phase"], run["host"]) for run in attempts] == [
        *(("Failed", "alder"), ("Terminated", "alder"))
    ]
    wait_for(lambda: birch.run("logs", "told/a").code == 0, WITHIN_S, "it is linked again")
    for machine in (birch, cedar):
        for run, attempt in zip(attempts, "12", strict=True):
            ran = machine.run("logs", "told/a", "--run", run["run"])
            assert (ran.code, ran.out.count("\n")) == (0, 2), ran
            assert {"x" * 200, f"attempt {attempt}"} == set(ran.out.splitlines())
            assert ran.err.startswith("(alder cannot be asked: this is the copy on ")
        assert "attempt 2" in machine.run("logs", "-f", "told/a").out


def test_the_log_of_what_runs_is_copied_while_it_runs(flock: Flock, tmp_path: Path) -> None:
    alder, birch, cedar = flock
    file = tmp_path / "long.wingbeat.yaml"
    file.write_text("tasks: {a: {program: stay}}\n")
    birch.said("submit", "--shared-with", "everybody", str(file))
    begun = [len("it has begun\n")]
    wait_for(lambda: logs_kept(birch, cedar) == begun, WITHIN_S, "its log is elsewhere")
    alder.kill()
    assert birch.run("logs", "long/a").out == cedar.run("logs", "long/a").out == "it has begun\n"
