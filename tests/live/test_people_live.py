"""A person with two machines, in a flock of three real agents: what he submits on one he acts on from the
other, while that one is off too, and a lost machine is taken away from him."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

WAITS = """\
name: {name}
programs: {{say: say.sh}}
gates:
  look: {{asks: look at it}}
tasks:
  say: {{program: say, after: look}}
"""


@pytest.fixture
def three(tmp_path: Path) -> Iterator[tuple[Machine, Machine, Machine]]:
    """Ant has founded it; all are linked with all."""
    machines = ant, bee, cat = tuple(Machine(tmp_path / name) for name in ("ant", "bee", "cat"))
    with ExitStack() as undone:
        for each in machines:
            each.settle(listen=["127.0.0.1"], port=0, name=each.name)
            undone.enter_context(each.agent())
        ant.said("flock", "create", "office")
        for each in (bee, cat):
            each.said("flock", "join", ant.answer("flock", "invite")["text"])
        for each in machines:
            linked(each, 2)
        yield ant, bee, cat


def linked(machine: Machine, peers: int) -> None:
    def are() -> bool:
        return [bool(each["version"]) for each in machine.answer("peers")["peers"]] == [
            True
        ] * peers

    wait_for(are, EVENTUALLY_S_MAX, "all are linked", machine.last_words)


def submitted(machine: Machine, folder: Path, name: str, *knowing: Machine) -> None:
    (folder / "say.sh").write_text("echo said > said.txt; echo TERMINATED said.txt\n")
    file = folder / f"{name}.wingbeat.yaml"
    file.write_text(WAITS.format(name=name))
    machine.said("submit", str(file))
    for each in knowing:
        comes_to(each, name, "")


def state(machine: Machine, name: str) -> str:
    ran = machine.run("status", name, "--json")
    return json.loads(ran.out)["tasks"][0]["state"] if ran.code == 0 else ""


def comes_to(machine: Machine, name: str, wanted: str) -> None:
    """To this state, or to any."""

    def has() -> bool:
        now = state(machine, name)
        return bool(now) and wanted in (now, "")

    wait_for(has, EVENTUALLY_S_MAX, f"{name} {wanted}", machine.last_words)


def test_a_person_acts_on_his_work_from_each_of_his_machines(
    three: tuple[Machine, Machine, Machine], tmp_path: Path
) -> None:
    ant, bee, cat = three
    submitted(bee, tmp_path, "before", ant, cat)
    assert ant.run("me", "pair", "dabol kitur fasim lonog").code != 0, "no such code is shown"
    shown = bee.answer("me", "pair")["code"]
    done = cat.run("me", "pair", shown)
    assert (done.code, done.out) == (0, "you are bee in the flock, on cat and bee\n"), done
    for each in three:
        knows(each, {"ant": "", "bee": "bee", "cat": "bee"})
    submitted(bee, tmp_path, "mine", ant, cat)
    assert cat.run("priority", "mine", "interactive").code == 0
    assert cat.run("cancel", "before").code == 0, "also what was submitted before they were paired"
    assert cat.run("cancel", "mine").code == 0
    for each in three:
        comes_to(each, "mine", "Cancelled")
    assert cat.run("retry", "mine").code == 0
    assert ant.run("me", "unpair", "cat").code == 0, "an administrator takes it away"
    knows(cat, {"ant": "", "bee": "bee", "cat": ""})
    refused = cat.run("cancel", "mine")
    assert refused.code != 0
    assert "submitted on bee" in refused.err
    assert cat.run("me", "pair").code != 0, "for ever under its key"
    assert bee.run("cancel", "mine").code == 0


def knows(machine: Machine, people: dict[str, str]) -> None:
    wait_for(lambda: of_people(machine) == people, EVENTUALLY_S_MAX, "it knows", machine.last_words)


def of_people(machine: Machine) -> dict[str, str]:
    return {each["name"]: each["person"] for each in machine.answer("flock", "members")["members"]}
