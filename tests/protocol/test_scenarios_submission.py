"""Scenes about clients: what is accepted, on how many disks, what a person does, and what is waited for."""

from __future__ import annotations

import pytest

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.effects import Verdict
from agent.protocol.records import TaskState
from tests.protocol.stage import Stage, both_ways, task


def verdicts(stage: Stage) -> list[tuple[Verdict, int]]:
    return [(answer.verdict, answer.disks) for answer in stage.effects(fx.Answer)]


def mark(stage: Stage, node: str) -> None:
    stage.ask(node, "G is done", ev.MarkGate("done", "G"))


def scene_submission_alone_then_safe() -> Stage:
    stage = Stage("acor", "pato").flock("acor")
    stage.owner("acor", here=True)
    stage.submit("acor", "bread", task("T1")).play(1)
    assert verdicts(stage) == [(Verdict.ACCEPTED, 1)]
    stage.say("another machine comes")
    stage.boot("pato")
    stage.owner("pato", here=True)
    stage.link("acor", "pato").play(2)
    assert [notice.workflow for notice in stage.effects(fx.WorkflowSafe)] == ["bread"]
    assert stage.state("T1") is TaskState.READY
    assert stage.same_tables()
    return stage


def scene_submission_with_peers() -> Stage:
    stage = Stage("acor", "pato", "grifo").flock()
    for name in stage.actors:
        stage.owner(name, here=True)
    stage.play(0.1)
    stage.submit("pato", "bread", task("T1"), task("T2", "T1")).play(0.1)
    stage.say("the client missed the answer and asks another node the same")
    stage.submit("grifo", "bread", task("T1"), task("T2", "T1")).play(0.1)
    stage.say("what cannot be done is refused whole")
    stage.submit("pato", "cake", task("T3", "T4"), task("T4", "T3")).play(0.1)
    assert verdicts(stage) == [
        (Verdict.ACCEPTED, 2),
        (Verdict.ALREADY_KNOWN, 2),
        (Verdict.REFUSED, 0),
    ]
    assert stage.state("T2") is TaskState.SUBMITTED
    return stage


def scene_submission_with_silent_peer() -> Stage:
    stage = Stage("acor", "pato").flock()
    stage.owner("acor", here=True)
    stage.owner("pato", here=True).play(0.1)
    stage.hold(*both_ways("acor", "pato"))
    stage.submit("acor", "bread", task("T1")).play(3.2)
    assert verdicts(stage) == [(Verdict.ACCEPTED, 1)]
    stage.deliver(*both_ways("acor", "pato")).play(1)
    assert len(stage.effects(fx.WorkflowSafe)) == 1
    return stage


def scene_interactive_starts_at_home() -> Stage:
    stage = Stage("acor", "pato").flock()
    stage.owner("pato", here=True).play(0.1)
    stage.submit("pato", "bread", task("T1"), priority=100).play(3)
    assert stage.starters("T1") == ["pato"]
    return stage


def scene_gate_marked_done() -> Stage:
    stage = Stage("acor", "pato").flock()
    gate = task("G", after=("T1",), gate=True, program="", asks="taste it")
    stage.submit("pato", "bread", task("T1"), gate, task("T2", after=("G",))).play(1)
    stage.say("too early")
    mark(stage, "pato")
    stage.play(2)
    assert (stage.state("G"), stage.state("T2")) == (TaskState.WAITING, TaskState.SUBMITTED)
    stage.say("now")
    mark(stage, "pato")
    stage.play(0.5)
    stage.say("twice")
    mark(stage, "acor")
    stage.play(3)
    answers = [verdict for verdict, _ in verdicts(stage)]
    assert answers == [Verdict.ACCEPTED, Verdict.REFUSED, Verdict.DONE, Verdict.REFUSED]
    assert (stage.starters("G"), len(stage.starters("T2"))) == ([], 1)
    assert stage.state("T2") is TaskState.TERMINATED
    return stage


def asking_for_low_work() -> Stage:
    """The first machine has asked for a task, and one peer has not answered yet."""
    stage = Stage("acor", "pato", "grifo").flock()
    for name in ("pato", "grifo"):
        stage.owner(name, here=True)
    stage.play(0.1)
    stage.hold(*both_ways("acor", "pato"))
    stage.submit("acor", "bread", task("T1")).play(0.01)
    assert len(stage.sent(msg.TryDequeue, by="acor")) == 1
    return stage


def answered(stage: Stage) -> Stage:
    stage.play(0.05)
    stage.deliver(*both_ways("acor", "pato")).play(1)
    return stage


def test_a_claim_that_is_not_won_yet_gives_way_to_work_that_somebody_waits_for() -> None:
    stage = asking_for_low_work()
    stage.submit("acor", "cake", task("I1"), priority=100)
    answered(stage)
    assert (stage.starters("I1"), stage.starters("T1")) == (["acor"], [])
    stage.play(4)
    assert stage.starters("T1") == ["acor"]


@pytest.mark.parametrize(("program", "priority"), [("oven", 100), ("mill", 99)])
def test_it_gives_way_neither_to_what_this_machine_cannot_do_nor_to_its_own_rank(
    program: str, priority: int
) -> None:
    stage = asking_for_low_work()
    stage.submit("acor", "cake", task("I1", program=program), priority=priority)
    answered(stage)
    assert (stage.starters("T1"), stage.starters("I1")) == (["acor"], [])


def test_a_claim_of_work_that_somebody_waits_for_is_not_withdrawn_for_more_of_it() -> None:
    stage = Stage("acor", "pato").flock()
    stage.owner("pato", here=True).play(0.1)
    stage.hold(*both_ways("acor", "pato"))
    for number in "12":
        stage.submit("acor", f"cake {number}", task(f"I{number}"), priority=100).play(0.01)
    answered(stage)
    assert stage.starters("I1") == ["acor"]
    assert not stage.sent(msg.Release)
