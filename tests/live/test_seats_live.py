"""Seats of the flock and bans, between real agents: a licence of one, and an owner who takes no work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from agent.api.work import SHOW, Show, TaskView
from agent.client import BlockingClient
from tests.hosts.machine import Machine

WAITS = "import time; time.sleep(0.3); print('TERMINATED')\n"


@pytest.fixture
def flock(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    """Two machines that help each other; a program of both asks for a seat."""
    birch, alder = Machine(tmp_path / "birch"), Machine(tmp_path / "alder")
    for machine in (birch, alder):
        machine.install("acme", WAITS, requirements={"seats": {"acme": 1}})
        machine.install("free", WAITS)
    with (
        birch.agent("--name", "birch", "--port", "0"),
        alder.agent("--name", "alder", "--port", "0"),
    ):
        birch.said("flock", "create", "meadow")
        file = tmp_path / "meadow.wingbeat-invitation"
        birch.said("flock", "invite", "--hours", "1", "--file", str(file))
        alder.said("flock", "join", str(file))
        for machine in (birch, alder):
            machine.said("volunteering", "--mode", "always")
        yield birch, alder


def ended(machine: Machine, name: str, program: str, count: int) -> list[TaskView]:
    """The tasks of a workflow of so many equal ones, when all have ended."""
    tasks = [{"id": f"t{number}", "program": program} for number in range(count)]
    told = json.dumps({"name": name, "tasks": tasks})
    assert machine.run("submit", "-", "--wait", told=told).code == 0
    with BlockingClient(machine.home) as client:
        found = client.call(SHOW, Show(name)).tasks
    return sorted(found, key=lambda each: each.begun_ms)


def test_a_seat_that_the_description_of_a_program_asks_for_is_held_by_one(
    flock: tuple[Machine, Machine],
) -> None:
    birch, _ = flock
    tasks = ended(birch, "seated", "acme", 6)
    assert all(before.ended_ms <= after.begun_ms for before, after in pairwise(tasks))


def test_an_owner_takes_no_work_of_whom_the_command_bans(flock: tuple[Machine, Machine]) -> None:
    birch, alder = flock
    assert "takes no work of" in alder.said("volunteering", "--ban", "birch")
    assert {each.host for each in ended(birch, "banned", "free", 6)} == {"birch"}
    assert "takes no work of" not in alder.said("volunteering", "--ban", "nobody")
    assert {each.host for each in ended(birch, "again", "free", 12)} == {"alder", "birch"}
