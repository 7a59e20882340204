"""Commands on one machine about work on the other: two real agents, joined by certificates."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from agent.commands import exits
from tests.hosts.machine import WITHIN_S, Following, Machine, make_flock
from tests.hosts.waiting import wait_for

COUNT = """\
import os, sys
for number in range(5):
    print("counted", number, flush=True)
    print("PROGRESS", number * 20, flush=True)
with open("counted.txt", "w") as file:
    file.write("42\\n")
"""
DESCRIPTION = """\
name: count
docs: Counts what it is given.
command: ["{python}", program.py]
inputs: [text]
outputs: [counted.txt]
expected: 1 s
"""
WORKFLOW = """\
name: counting
tasks:
  first:
    program: count
    data: text.txt
  second:
    program: count
    inputs: [first/counted.txt]
    after: [check]
gates:
  check: {asks: look at the numbers, after: [first]}
"""


@pytest.fixture(scope="module")
def flock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Machine]]:
    """alder, which has a program, and birch, which has none."""
    folder = tmp_path_factory.mktemp("flock")
    alder, birch = Machine(folder / "alder"), Machine(folder / "birch")
    program = alder.home.programs / "count"
    program.mkdir(parents=True)
    (program / "program.py").write_text(COUNT)
    (program / "program.yaml").write_text(DESCRIPTION)
    with ExitStack() as stack:
        stack.enter_context(alder.agent("--name", "alder", "--port", "0"))
        stack.enter_context(birch.agent("--name", "birch", "--port", "0"))
        make_flock(alder, birch)
        yield alder, birch


@pytest.fixture(scope="module")
def done(flock: tuple[Machine, Machine], tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """birch, after a workflow of its own has run on alder; a person had a part in it."""
    _, birch = flock
    folder = tmp_path_factory.mktemp("work")
    (folder / "text.txt").write_text("some words\n")
    file = folder / "counting.wingbeat.yaml"
    file.write_text(WORKFLOW)
    planned = birch.answer("submit", str(file), "--dry-run")
    fits = {task["task"]: task["fits"] for task in planned["tasks"]}
    assert fits == {"first": ["alder"], "second": ["alder"], "check": []}
    assert planned["tasks"][0]["misfits"][0]["reason"] == "has no program count"
    said = birch.said("submit", str(file))
    assert re.fullmatch(r"counting is accepted as [0-9a-f]{32} and kept on two disks\n", said)
    (folder / "seen.txt").write_text("fine\n")
    wait_for(lambda: _state(birch, "check") == "Waiting", WITHIN_S, "the gate")
    said = birch.said("done", "check", "--attach", str(folder / "seen.txt"))
    assert said == (
        "counting/check is marked done\n"
        "check asks about counted.txt: `wingbeat fetch counting/first`\n"
    )
    wait_for(lambda: _state(birch, "second") == "Terminated", WITHIN_S, "the end")
    return birch


def _state(machine: Machine, task: str) -> str:
    return str(machine.answer("show", f"counting/{task}")["story"]["task"]["state"])


def test_a_folder_is_the_same_dataset_from_near_and_from_far(
    flock: tuple[Machine, Machine], tmp_path: Path
) -> None:
    alder, birch = flock
    folder = tmp_path / "flights"
    (folder / "monday" / "none yet").mkdir(parents=True)
    (folder / "tuesday").mkdir()
    (folder / "tuesday" / "a.las").write_bytes(b"points")
    near = alder.answer("datasets", "add", str(folder))
    far = birch.answer("datasets", "add", str(folder), "--node", "alder")
    assert near["dataset"] == far["dataset"]


def test_a_dry_run_elsewhere_does_not_take_the_program_for_accepted_there(
    flock: tuple[Machine, Machine], tmp_path: Path
) -> None:
    _, birch = flock
    (tmp_path / "count.sh").write_text("#!/bin/sh\necho TERMINATED 1\n")
    file = tmp_path / "own.wingbeat.yaml"
    file.write_text("programs: {own: ./count.sh}\ntasks: {first: {program: own}}\n")
    here = birch.answer("submit", str(file), "--dry-run")
    there = birch.answer("submit", str(file), "--dry-run", "--node", "alder")
    assert here["tasks"][0]["fits"] == ["birch"]
    assert there["tasks"][0]["fits"] == []
    assert "alder and birch run own only when somebody there accepts it" in there["waits"][0]


def test_the_output_of_a_task_is_read_from_the_machine_that_ran_it(done: Machine) -> None:
    lines = "".join(f"counted {number}\n" for number in range(5))
    assert lines in done.said("logs", "counting/first")
    assert lines in done.said("logs", "-f", "counting/first")
    shown = done.said("show", "counting/first")
    assert "first finished on alder" in shown
    assert "done (counts)" in shown
    assert "  outputs   counted.txt (" in shown
    run = done.answer("show", "counting/first")["runs"]["tasks"][0]["runs"][0]
    assert run["host"] == "alder"
    phases = [span["phase"] for span in run["spans"]]
    assert phases[-1] == "Terminated"
    ran = done.run("logs", "counting/first", "--run", "9.9.nobody")
    assert ran.code == exits.FAILED
    assert ran.err.startswith('wingbeat: first has no run "9.9.nobody"; its runs: 1.1.')


def test_results_are_fetched_into_a_folder_and_never_over_what_is_there(
    done: Machine, tmp_path: Path
) -> None:
    done.said("fetch", "counting", "--into", str(tmp_path))
    assert (tmp_path / "second" / "counted.txt").read_text() == "42\n"
    assert [each.name for each in tmp_path.iterdir()] == ["second"]
    again = done.run("fetch", "counting", "--into", str(tmp_path))
    assert again.code == exits.FAILED
    assert "is there already: --into names another folder" in again.err
    every = tmp_path / "every"
    done.said("fetch", "counting", "--all", "--into", str(every))
    assert sorted(each.name for each in every.iterdir()) == ["check", "first", "second"]
    assert (every / "check" / "seen.txt").read_text() == "fine\n"
    one = done.answer("fetch", "counting/first", "--into", str(tmp_path / "one"))["fetched"][0]
    assert one["dataset"].startswith("sha256:")
    direct = done.answer("fetch", one["dataset"], "--into", str(tmp_path / "direct"))["fetched"]
    assert Path(direct[0]["path"]).read_text() == "42\n"


def test_datasets_programs_and_history_tell_of_both_machines(done: Machine) -> None:
    kept = {each["name"] or each["dataset"]: each for each in done.answer("datasets")["datasets"]}
    assert "alder" in kept["counted.txt"]["nodes"]
    assert "counting/" in done.said("datasets")
    program = done.answer("programs")["programs"][0]
    assert (program["name"], program["nodes"]) == ("count", ["alder"])
    assert (program["outputs"], program["expected_s"]) == (["counted.txt"], 1.0)

    def counted() -> list[dict[str, Any]]:
        return list(done.answer("history", "counting")["tasks"])

    wait_for(lambda: len(counted()) == 3, WITHIN_S, "history")
    first = next(each for each in counted() if each["name"] == "first")
    assert (first["host"], first["attempts"], first["state"]) == ("alder", 1, "Terminated")
    weeks = done.answer("history", "--weeks")
    assert weeks["done"] >= 3, "what other tests have had done counts as well"
    assert weeks["weeks"][0]["begins_ms"] > weeks["weeks"][1]["begins_ms"]
    assert [each["days"] for each in weeks["balance"]] == [7, 30]
    assert all(each["took_hours"] > 0 == each["gave_hours"] for each in weeks["balance"])
    assert "last 7 days: gave 0 h to others, took " in done.said("history", "--weeks")


def test_another_machine_is_asked_by_way_of_this_one(
    done: Machine, flock: tuple[Machine, Machine]
) -> None:
    assert done.said("status", "--node", "alder").startswith("alder in flock meadow")
    assert done.answer("status", "--node", "ald")["node"]["name"] == "alder"
    assert done.answer("status", "--node", "birch")["node"]["name"] == "birch"
    founder, _ = flock
    there = founder.said("log", "--node", "birch", "--severity", "normal")
    assert "runs as birch" in there
    told = done.run("log", "--node", "alder").err
    assert "for the owner of alder and the administrators of the flock" in told
    paused = done.run("pause", "15m", "--node", "alder")
    assert paused.code == exits.FAILED
    assert paused.err == (
        "wingbeat: pause is for the account that runs the agent of alder, on that machine.\n"
    )
    unknown = done.run("status", "--node", "cedar")
    assert unknown.err == 'wingbeat: no member is called "cedar".\n'
    near = done.run("status", "--node", "aldra")
    assert near.err == 'wingbeat: no member is called "aldra"; did you mean alder?\n'
    statement = done.answer("history", "--weeks", "--node", "alder")
    assert statement["done_here"] >= 2
    assert statement["hours_given"] > 0
    assert all(each["gave_hours"] > 0 == each["took_hours"] for each in statement["balance"])


def test_events_of_another_machine_are_followed_too(
    done: Machine, flock: tuple[Machine, Machine], tmp_path: Path
) -> None:
    alder, _ = flock
    names = (f"later-{number}" for number in count())
    with done.following("watch", "--json", "--node", "alder") as watching:
        wait_for(lambda: _told(alder, next(names), watching), WITHIN_S, "an event")


def _told(machine: Machine, name: str, watching: Following) -> bool:
    """Submits until somebody who began to watch at some moment has heard of one of them."""
    told = {"name": name, "tasks": [{"id": "gate", "gate": True, "asks": "well?"}]}
    machine.said("submit", "-", told=json.dumps(told))
    return watching.says(f'"workflow_name": "{name[:6]}')


def test_who_watches_a_workflow_that_is_over_is_told_so_at_once(done: Machine) -> None:
    wait_for(lambda: _over(done), WITHIN_S, "the end")
    assert done.said("watch", "counting") == "counting is done\n"
    assert done.answer("watch", "counting")["state"] == "finished"


def _over(machine: Machine) -> bool:
    known = {each["name"]: each["state"] for each in machine.answer("status")["workflows"]}
    return bool(known["counting"] == "finished")


def test_a_local_file_reaches_an_agent_elsewhere(done: Machine, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("over there\n")
    said = done.said("datasets", "--add", str(file), "--node", "alder").strip()
    fetched = done.answer("fetch", said, "--node", "alder", "--into", str(tmp_path / "back"))
    assert Path(fetched["fetched"][0]["path"]).read_text() == "over there\n"


@pytest.mark.skipif(sys.platform == "win32", reason="names of signals differ")
def test_waiting_tells_how_it_ended(done: Machine, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("more words\n")
    file = tmp_path / "short.wingbeat.yaml"
    file.write_text("name: short\ntasks:\n  only:\n    program: count\n    data: text.txt\n")
    said = done.said("submit", str(file), "--wait").splitlines()
    assert said[-1] == "short is done: 1 done"
    gate = tmp_path / "gate.wingbeat.yaml"
    gate.write_text("name: gate\ngates:\n  look: {asks: look}\n")
    done.said("submit", str(gate))
    done.said("cancel", "gate")
    waited = done.run("submit", str(gate), "--wait", "--json")
    told = json.loads(waited.out)
    assert (waited.code, told["state"]) == (exits.WORK_FAILED, "cancelled")
    assert [(each["name"], each["why"]["reason"]) for each in told["unfinished"]] == [
        ("look", "Cancelled")
    ]
    assert done.run("watch", "gate", "--json").out == waited.out
    bad = tmp_path / "bad.wingbeat.yaml"
    bad.write_text("name: bad\ntasks:\n  only:\n    program: cuont\n")
    ran = done.run("submit", str(bad))
    assert ran.code == exits.FAILED
    assert f"{bad}:4:14: " in ran.err
    assert "did you mean" in ran.err


def test_no_file_is_read_because_another_machine_names_it(
    flock: tuple[Machine, Machine], tmp_path: Path
) -> None:
    alder, birch = flock
    secret = tmp_path / "secret.sh"
    secret.write_text("true\n")
    task = {"id": "look", "gate": True, "asks": "anything"}
    origin = {"path": str(secret), "files": [str(secret)]}
    here = {"name": "own", "tasks": [task], "origin": origin}

    def submitted(machine: Machine, name: str, *words: str) -> str:
        told = machine.run("submit", "-", "--json", *words, told=json.dumps(here | {"name": name}))
        return str(json.loads(told.out)["workflow"])

    def path(machine: Machine, workflow: str, *words: str) -> str:
        origin = _again(machine, workflow, "--dry-run", "--as-it-was", *words)["origin"]
        return "" if origin is None else str(origin["path"])

    own = submitted(alder, "own")
    assert path(alder, own) == str(secret)
    assert path(birch, own, "--node", "alder") == secret.name
    assert path(alder, submitted(birch, "far", "--node", "alder")) == ""
    theirs = submitted(birch, "theirs")
    assert path(alder, theirs) == secret.name
    mine = _again(alder, theirs, "--as-it-was")["workflow"]
    assert path(alder, mine) == ""


def _again(machine: Machine, *words: str) -> dict[str, Any]:
    """What `again` says to programs, whatever it complains of."""
    return dict(json.loads(machine.run("again", *words, "--json").out))
