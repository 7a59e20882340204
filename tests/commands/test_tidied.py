"""What nobody wants to see any more: finished work and programs, removed with what they take."""

from __future__ import annotations

import json
from pathlib import Path

from agent.paths import TASK_LOGS
from tests.hosts.machine import WITHIN_S, Machine
from tests.hosts.waiting import wait_for

MAKES = "print('making it')\nopen('made', 'w').write('x' * 50_000)\nprint('TERMINATED made')\n"


def workflow(name: str, *more: dict[str, object]) -> str:
    return json.dumps({"name": name, "tasks": [{"id": "first", "program": "make"}, *more]})


def names(machine: Machine) -> set[str]:
    return {each["name"] for each in machine.answer("status", "--all")["workflows"]}


def made(machine: Machine, workflow: str) -> bool:
    first, *_ = machine.answer("status", workflow)["tasks"]
    return bool(first["state"] == "Terminated")


def remembered(machine: Machine) -> set[str]:
    return {each["name"] for each in machine.answer("history")["workflows"]}


def kept(machine: Machine) -> int:
    return len(machine.answer("datasets")["datasets"])


def test_finished_work_is_removed_with_what_only_it_needed(tmp_path: Path) -> None:
    alder, birch = Machine(tmp_path / "alder"), Machine(tmp_path / "birch")
    alder.install("make", MAKES)
    with (
        birch.agent("--name", "birch", "--port", "0"),
        alder.agent("--name", "alder", "--port", "0"),
    ):
        alder.said("flock", "create", "meadow")
        birch.said("flock", "join", alder.answer("flock", "invite")["text"])
        alder.said("submit", "-", "--wait", told=workflow("survey"))
        gate = {"id": "look", "gate": True, "asks": "look", "after": ["first"]}
        alder.said("submit", "-", told=workflow("open", gate))
        wait_for(lambda: {"survey", "open"} == names(birch), WITHIN_S, "both are known on birch")
        assert "cancel it first" in alder.refused("remove", "open")
        assert "was submitted on alder: remove it there" in birch.refused("remove", "survey")
        wait_for(lambda: made(alder, "open"), WITHIN_S, "both have made the same")
        alder.said("cancel", "open")
        for machine in (alder, birch):  # what is removed at once, a machine may not have kept yet
            wait_for(lambda m=machine: {"survey", "open"} <= remembered(m), WITHIN_S, "it is past")  # type: ignore[misc]
        trial = alder.answer("remove", "survey", "open", "--dry-run")
        assert (list(trial["names"].values()), trial["datasets"], trial["frees_bytes"]) == (
            ["survey", "open"], 1, 50_000)  # fmt: skip
        assert names(alder) == {"survey", "open"}
        alone = alder.answer("remove", "survey", "--dry-run")
        assert alone["datasets"] == 0  # the other one has made the same
        logs = alder.home.log / TASK_LOGS
        printed = sum(each.stat().st_size for each in logs.glob("task-*/*.log"))
        assert (len(list(logs.iterdir())), trial["logs_bytes"]) == (2, printed)
        said = alder.said("remove", "survey", "open")
        assert f"freed 1 dataset, 50 kB here, and {printed} B of logs" in said
        assert (names(alder), kept(alder), list(logs.iterdir())) == (set(), 0, [])
        wait_for(lambda: names(birch) == set(), WITHIN_S, "they are gone on birch, too")
        for machine in (alder, birch):
            assert {"survey", "open"} <= remembered(machine)
        assert "first" in alder.said("status", "survey")
        assert "no workflow" in alder.refused("remove", "survey")
        assert "forgotten" in alder.said("remove", "--history", "survey")
        assert (remembered(alder), remembered(birch)) == ({"open"}, {"survey", "open"})


def test_a_published_program_is_forgotten_with_what_was_decided(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "alder")
    folder = tmp_path / "count"
    folder.mkdir()
    (folder / "program.py").write_text("print('TERMINATED')\n" + "#" * 50_000)
    (folder / "program.yaml").write_text('command: ["{python}", program.py]\n')
    with machine.agent("--name", "alder", "--port", "0"):
        name = machine.answer("programs", "publish", str(folder))["program"]
        published = machine.home.data / "published"
        assert (len(list(published.iterdir())), kept(machine)) == (1, 1)
        assert "is not here any more; that freed" in machine.said("programs", "forget", name)
        assert (list(published.iterdir()), kept(machine)) == ([], 0)
        assert "Nothing is decided here" in machine.refused("programs", "forget", name)
        assert name not in machine.said("programs")
        again = machine.answer("programs", "publish", str(folder))["program"]
        task = {"id": "wait", "gate": True, "asks": "look"}
        brought = {"id": "count", "program": again, "after": ["wait"],
                   "published": machine.answer("datasets")["datasets"][0]["dataset"]}  # fmt: skip
        brought["published"] = {"dataset": brought["published"]}
        told = json.dumps({"name": "needs it", "tasks": [task, brought]})
        machine.said("submit", "-", told=told)
        assert "unfinished work brings it" in machine.refused("programs", "forget", again)
