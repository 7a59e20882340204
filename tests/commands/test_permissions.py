"""What others publish asks once for each workflow, and is answered as a person does: two real agents.

alder is paused, so its work runs on birch or nowhere. Whether something runs is asked of the agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.machine import WITHIN_S, Machine, make_flock
from tests.hosts.waiting import wait_for

WORKFLOW = """\
programs: {count: count.sh, top: top.sh}
tasks:
  count: {program: count, expected: 1s}
  top: {program: top, after: [count], expected: 1s}
"""
COUNT, TOP = "echo counted\necho TERMINATED\n", "echo TERMINATED\n"


@pytest.fixture
def flock(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    alder, birch = Machine(tmp_path / "alder"), Machine(tmp_path / "birch")
    for machine in (alder, birch):
        machine.settle(listen=["127.0.0.1"], port=0, name=machine.name)
    (tmp_path / "words.wingbeat.yaml").write_text(WORKFLOW)
    (tmp_path / "top.sh").write_text(TOP)
    with alder.agent(), birch.agent():
        make_flock(alder, birch)
        alder.said("pause")
        yield alder, birch


def submit(machine: Machine, name: str, count: str = COUNT, *words: str) -> None:
    folder = machine.folder.parent
    (folder / "count.sh").write_text(count)
    machine.said("submit", str(folder / "words.wingbeat.yaml"), "--name", name, *words)


def asked(machine: Machine) -> list[str]:
    return [each["name"] for each in machine.answer("permissions")["asked"]]


def ends(machine: Machine, name: str) -> None:
    def all_done() -> bool:
        tasks = machine.answer("status", name)["tasks"]
        return [task["state"] for task in tasks] == ["Terminated"] * 2

    wait_for(all_done, WITHIN_S, f"{name} ends")


def waits(machine: Machine, name: str) -> None:
    wait_for(lambda: name in asked(machine), WITHIN_S, f"{name} asks")


def test_one_question_with_every_script_and_what_changed(flock: tuple[Machine, Machine]) -> None:
    alder, birch = flock
    submit(alder, "first")
    waits(birch, "first")
    assert asked(birch) == ["first"], "two programs are one question"
    assert asked(alder) == [], "its own are not asked about"
    why = "birch could run it, but nobody there has allowed count yet"
    wait_for(lambda: why in alder.said("why", "first/count"), WITHIN_S, "it is told where it waits")
    shown = birch.said("permissions", "show", "first")
    assert " on alder, brings 2 programs:" in shown
    assert "count/count.sh, 29 B, new\necho counted\necho TERMINATED\n" in shown
    assert "top/top.sh" in shown

    birch.said("permissions", "allow-once", "first")
    ends(birch, "first")
    assert asked(birch) == [], "finished work asks nobody"
    submit(alder, "second", "rm -r ~\n")
    waits(birch, "second")
    shown = birch.said("permissions", "show", "second")
    assert "-echo counted\n-echo TERMINATED\n+rm -r ~\n" in shown
    same = "top/top.sh, 16 B, same\n(as it was allowed)"  # the leave given once is over soon after
    wait_for(
        lambda: same in birch.said("permissions", "show", "second"), WITHIN_S, "both are asked for"
    )
    assert "does not run here" in birch.said("permissions", "never", "second")
    assert asked(birch) == []
    assert "asks for" in birch.refused("permissions", "show", "second")


@pytest.mark.parametrize("answer", ["trust-machine", "allow-programs"])
def test_an_answer_may_hold_for_what_comes_later(
    flock: tuple[Machine, Machine], answer: str
) -> None:
    alder, birch = flock
    submit(alder, "first")
    waits(birch, "first")
    birch.said("permissions", answer, "first")
    ends(birch, "first")
    submit(alder, "again")
    ends(birch, "again")
    submit(alder, "changed", "echo TERMINATED # other\n")
    if answer == "allow-programs":
        waits(birch, "changed")
        return
    ends(birch, "changed")
    assert "submitted on alder is allowed here" in birch.said("permissions")
    birch.said("permissions", "distrust", "alder")
    submit(alder, "later", "echo TERMINATED # another\n")
    waits(birch, "later")


def test_once_is_over_with_its_workflow(flock: tuple[Machine, Machine]) -> None:
    alder, birch = flock
    submit(alder, "first")
    waits(birch, "first")
    birch.said("permissions", "allow-once", "first")
    ends(birch, "first")
    placed = birch.home.data / "published"
    wait_for(lambda: not any(placed.iterdir()), WITHIN_S, "nothing of it lies there")
    submit(alder, "once again")
    waits(birch, "once again")
    assert "`wingbeat permissions show 'once again'` shows" in birch.said("permissions")
    assert "asked on birch" in alder.said("permissions", "ask-owners", "once again")


def test_nothing_is_published_before_its_submission_is_accepted(
    flock: tuple[Machine, Machine],
) -> None:
    alder, birch = flock
    folder = alder.folder.parent
    (folder / "count.sh").write_text(COUNT)
    needs = WORKFLOW.replace("after: [count]", "inputs: [{workflow: nowhere, task: a, output: 0}]")
    (folder / "wrong.wingbeat.yaml").write_text(needs)
    assert "nowhere" in alder.refused("submit", str(folder / "wrong.wingbeat.yaml"))
    assert alder.answer("programs")["programs"] == []
    submit(alder, "right")
    assert len(alder.answer("programs")["programs"]) == 2

    waits(birch, "right")
    alder.said("cancel", "right")
    wait_for(lambda: asked(birch) == [], WITHIN_S, "nothing is asked for work that is over")
    here = [each.get("here") for each in birch.answer("programs")["programs"]]
    assert "waiting" not in here, "nor for programs that lie about"
