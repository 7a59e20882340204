"""Work that somebody waits for comes before what its machine is about to take."""

from __future__ import annotations

from agent.protocol import messages as msg
from tests.protocol.stage import Stage, both_ways, task


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


def test_it_does_not_give_way_to_work_that_this_machine_cannot_do() -> None:
    stage = asking_for_low_work()
    stage.submit("acor", "cake", task("I1", program="oven"), priority=100)
    answered(stage)
    assert (stage.starters("T1"), stage.starters("I1")) == (["acor"], [])


def test_it_does_not_give_way_to_work_of_its_own_rank() -> None:
    stage = asking_for_low_work()
    stage.submit("acor", "cake", task("T2"), priority=99)
    answered(stage)
    assert (stage.starters("T1"), stage.starters("T2")) == (["acor"], [])


def test_a_claim_of_work_that_somebody_waits_for_is_not_withdrawn_for_more_of_it() -> None:
    stage = Stage("acor", "pato").flock()
    stage.owner("pato", here=True).play(0.1)
    stage.hold(*both_ways("acor", "pato"))
    for number in "12":
        stage.submit("acor", f"cake {number}", task(f"I{number}"), priority=100).play(0.01)
    answered(stage)
    assert stage.starters("I1") == ["acor"]
    assert not stage.sent(msg.Release)
