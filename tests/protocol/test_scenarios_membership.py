"""Scenes about knowing what others know: joining, coming back, and tasks only heard of."""

from __future__ import annotations

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.records import TaskState
from tests.protocol.stage import Stage, task
from tests.protocol.stage_machines import Course

COMPARING = ("HELLO", "DIGEST", "BUCKET_LIST", "ASK_RECORDS", "WHO_IS_MASTER", "NEW_MASTER")
NAMES = ("acor", "pato", "grifo")


def scene_joining_with_an_empty_disk() -> Stage:
    stage = Stage(*NAMES, shows=COMPARING).flock("acor", "pato")
    stage.courses["T2"] = Course(length_s=6)
    stage.submit("pato", "bread", task("T1"), task("T2", "T1"), task("T3", "T2")).play(3).curtain()
    stage.boot("grifo")
    stage.play(0.2)
    stage.say("links come up one by one; nothing is claimed before the table is here")
    stage.link("grifo", "pato").play(0.1)
    assert stage.sent(msg.TasksTransfer, by="grifo")
    stage.link("grifo", "acor").play(0.5)
    assert stage.same_tables()
    assert (stage.masters(), stage.state("T1")) == ({"acor"}, TaskState.TERMINATED)
    assert stage.state("T2") is TaskState.RUNNING
    return stage


def scene_joining_with_an_old_disk() -> Stage:
    stage = Stage(*NAMES, shows=COMPARING).flock()
    stage.submit("pato", "bread", task("T1")).play(0.5)
    assert stage.starters("T1") == ["acor"]
    stage.say("the power of acor goes while it runs the task; another runs it meanwhile")
    stage.crash("acor", power=True).play(9)
    assert stage.state("T1") is TaskState.TERMINATED
    stage.curtain()
    stage.say("acor comes back, and its disk says that it is running the task")
    stage.boot("acor")
    stage.play(0.2)
    stage.link("acor", "pato", "grifo").play(2)
    assert (stage.starters("T1"), stage.outcome("T1")) == ([], "grifo")
    assert stage.same_tables()
    return stage


def deaf_pato(stage: Stage) -> None:
    """Pato misses what the others are told of a workflow, and then hears of its task."""
    stage.flock()
    for name in stage.actors:
        stage.owner(name, here=name != "grifo")
    stage.play(0.1).curtain()
    stage.lose("tordo", "pato", msg.Enqueue)
    stage.submit("tordo", "bread", task("T1"))


def scene_unknown_task_the_master_answers() -> Stage:
    stage = Stage("acor", "grifo", "pato", "tordo")
    deaf_pato(stage)
    stage.play(3)
    assert stage.sent(msg.GetTask, by="pato")
    assert stage.sent(msg.TakeTask) == stage.sent(msg.TakeTask, by="acor")
    assert len(stage.sent(msg.TakeTask)) == 1
    assert not stage.sent(msg.DoYouKnow)
    assert stage.same_tables()
    return stage


def scene_unknown_task_everybody_is_asked() -> Stage:
    stage = Stage("acor", "grifo", "pato", "tordo")
    deaf_pato(stage)
    stage.crash("acor")
    stage.say("the master dies; whoever is asked waits a delay of its own, the first answer stands")
    stage.play(3)
    assert not stage.sent(msg.GetTask)
    assert len(stage.sent(msg.DoYouKnow, by="pato")) == 1
    assert len(stage.sent(msg.TakeTask)) == 1, "who is told KNOWN keeps its answer to itself"
    assert stage.sent(msg.Known, by="pato")
    assert stage.same_tables()
    return stage


def test_who_is_no_member_any_more_loses_its_links() -> None:
    stage = Stage(*NAMES)
    stage.flock()
    stage._hand("acor", ev.MembersChanged(("acor", "grifo")))
    assert [effect.peer for effect in stage.effects(fx.Unlink)] == ["pato"]
