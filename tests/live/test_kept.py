"""What is kept of work when the machine that did it is gone: why it moved, and what it printed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.hosts.machine import WITHIN_S, Machine
from tests.hosts.waiting import wait_for

TELL = """\
import sys
print("first word", flush=True)
print("x" * 200, file=sys.stderr)
print("last word")
"""
WORKFLOW = """\
name: told
tasks: {a: {program: tell}}
"""


@pytest.fixture(scope="module")
def flock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Machine]]:
    """alder, which has a program, and birch, which has none."""
    folder = tmp_path_factory.mktemp("flock")
    alder, birch = Machine(folder / "alder"), Machine(folder / "birch")
    alder.install("tell", TELL)
    with ExitStack() as stack:
        stack.enter_context(alder.agent("--name", "alder", "--port", "0"))
        stack.enter_context(birch.agent("--name", "birch", "--port", "0"))
        alder.said("flock", "create", "meadow")
        birch.said("flock", "join", alder.answer("flock", "invite")["text"])
        wait_for(lambda: linked(alder) and linked(birch), WITHIN_S, "a link")
        yield alder, birch


def linked(machine: Machine) -> bool:
    peers = machine.answer("peers")["peers"]
    return any(peer["state"] == "linked" and peer["version"] for peer in peers)


def moves(machine: Machine, task: str) -> list[str]:
    return [move["what"] for move in machine.answer("why", task)["moves"]]


def test_why_and_the_log_outlive_the_machine_and_the_start(
    flock: tuple[Machine, Machine], tmp_path: Path
) -> None:
    alder, birch = flock
    file = tmp_path / "told.wingbeat.yaml"
    file.write_text(WORKFLOW)
    birch.said("submit", str(file), "--wait")
    wait_for(lambda: "done on alder" in moves(birch, "told/a"), WITHIN_S, "its end")
    told = moves(birch, "told/a")
    assert "running on alder" in told
    wait_for(lambda: birch.answer("history", "--weeks")["done"] == 1, WITHIN_S, "it is written")
    alder.kill()
    birch.kill()
    birch.start("--name", "birch", "--port", "0")
    birch.up()
    assert moves(birch, "told/a") == told
