"""Scenes about people: they cancel, come back to their machines, retry, and tidy up."""

from __future__ import annotations

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.effects import Verdict
from agent.protocol.records import TaskState
from agent.protocol.settings import Settings
from tests.protocol.stage import Stage, at_work, both_ways, task
from tests.protocol.stage_machines import NAMES, Course


def verdicts(stage: Stage) -> list[Verdict]:
    return [answer.verdict for answer in stage.effects(fx.Answer)]


def scene_cancel_of_a_running_task() -> Stage:
    stage = Stage(*NAMES).flock()
    stage.submit("pato", "bread", task("T1"), task("T2", "T1")).play(0.5).curtain()
    stage.ask("grifo", "cancel bread", ev.Cancel("cancel", "bread"))
    assert verdicts(stage) == [Verdict.CANCELLING]
    assert not stage.effects(fx.CancelFinished)
    stage.play(3)
    assert [notice.task for notice in stage.effects(fx.CancelFinished)] == ["T1"]
    assert (stage.state("T1"), stage.state("T2")) == (TaskState.CANCELLED, TaskState.CANCELLED)
    assert stage.starters("T2") == []
    return stage


def scene_cancel_while_the_owner_is_cut_off() -> Stage:
    stage = at_work(*NAMES, length_s=20, for_s=0.5, expected_s=2).curtain()
    stage.hold(*both_ways("acor", "pato", "grifo"))
    stage.ask("grifo", "cancel bread", ev.Cancel("cancel", "bread")).play(4)
    assert not stage.effects(fx.CancelFinished)
    stage.play(2)
    assert [notice.task for notice in stage.effects(fx.CancelFinished)] == ["T1"]
    stage.say("together again; acor hears of the wish")
    stage.link("acor", "pato", "grifo").play(2)
    assert [stop.run[2] for stop in stage.effects(fx.StopChild)] == ["acor"]
    assert stage.state("T1") is TaskState.CANCELLED
    return stage


def test_what_is_retried_begins_anew_where_the_cancelled_run_still_goes_on() -> None:
    stage = at_work(*NAMES, length_s=20, for_s=0.5, expected_s=2)
    assert stage.starters("T1") == ["acor"]
    stage.curtain()
    stage.hold(*both_ways("acor", "pato", "grifo"))
    stage.ask("grifo", "cancel bread", ev.Cancel("cancel", "bread"))
    stage.ask("grifo", "retry bread", ev.Retry("retry", "bread")).play(0.5)
    stage.link("acor", "pato", "grifo").play(3)
    assert [stop.run[2] for stop in stage.effects(fx.StopChild)] == ["acor"]
    assert (len(stage.starters("T1")), stage.state("T1")) == (1, TaskState.RUNNING)


def scene_owner_returns_and_stays() -> Stage:
    stage = at_work("acor", "pato", length_s=20, for_s=1, once=True).curtain()
    stage.owner("acor", here=True).play(0.01)
    assert len(stage.effects(fx.SuspendChild)) == 1
    stage.play(290)
    assert (stage.state("T1"), stage.starters("T1")) == (TaskState.SUSPENDED, [])
    stage.play(40)
    assert stage.starters("T1") == ["pato"]
    assert [stop.run[2] for stop in stage.effects(fx.StopChild)] == ["acor"]
    assert stage.outcome("T1") == "pato"
    return stage


def scene_owner_returns_and_leaves() -> Stage:
    stage = at_work("acor", "pato", length_s=2, for_s=1, once=True).curtain()
    stage.owner("acor", here=True).play(60)
    stage.owner("acor", here=False).play(3)
    assert (stage.starters("T1"), stage.outcome("T1")) == ([], "acor")
    return stage


def scene_pruning_and_retry_cross() -> Stage:
    stage = Stage(*NAMES, settings=Settings(retention_ms=20_000, election_window_s=0.8)).flock()
    assert stage.masters() == {"acor"}
    stage.courses["T1"] = Course(length_s=0.5, fails_on=NAMES)
    stage.submit("pato", "bread", task("T1")).play(5)
    assert stage.state("T1") is TaskState.ABORTED
    stage.curtain()
    stage.say("while pato is cut off, the others prune what somebody retries there")
    stage.hold(*both_ways("pato", "acor", "grifo"))
    stage.owner("pato", here=True).play(15)
    stage.ask("pato", "retry bread", ev.Retry("retry", "bread")).play(25)
    assert "bread" not in stage.living()["acor"].table.workflows
    stage.courses["T1"] = Course(length_s=0.5)
    stage.say("together again: the retry is of a higher generation than the pruning")
    stage.link("pato", "acor", "grifo").play(4)
    assert stage.state("T1") is TaskState.TERMINATED
    assert stage.same_tables()
    return stage


def scene_pruned_while_a_node_was_away() -> Stage:
    stage = Stage(*NAMES, settings=Settings(retention_ms=20_000, election_window_s=0.8)).flock()
    stage.submit("pato", "bread", task("T1")).play(3).curtain()
    stage.crash("pato").play(40)
    assert all(not node.table.workflows for node in stage.living().values())
    stage.say("pato still remembers it, and brings nothing back to life")
    stage.boot("pato")
    stage.link("pato", "acor", "grifo").play(2)
    assert all(not node.table.workflows for node in stage.living().values())
    assert stage.starters("T1") == []
    assert stage.same_tables()
    assert not stage.sent(msg.TryDequeue)
    return stage


def test_what_has_ended_is_removed_everywhere_and_what_goes_on_is_not() -> None:
    stage = Stage(*NAMES).flock()
    stage.submit("pato", "bread", task("T1")).play(0.5).curtain()
    stage.ask("grifo", "remove bread", ev.Remove("early", "bread"))
    assert verdicts(stage) == [Verdict.REFUSED]
    stage.ask("grifo", "cancel bread", ev.Cancel("cancel", "bread")).play(4).curtain()
    stage.ask("grifo", "remove bread", ev.Remove("late", "bread"))
    assert verdicts(stage) == [Verdict.DONE]
    stage.play(2)
    tables = [node.table for node in stage.living().values()]
    assert all("bread" in each.prunings and "bread" not in each.workflows for each in tables)
    stage.curtain().ask("acor", "remove bread", ev.Remove("again", "bread"))
    assert verdicts(stage) == [Verdict.REFUSED]
    stage.submit("pato", "dough", task("T2")).play(10)
    assert stage.state("T2") is TaskState.TERMINATED
    stage.submit("pato", "cake", task("T3", "T2")).play(0.1).curtain()
    stage.ask("pato", "remove dough", ev.Remove("dough", "dough"))
    (refused,) = stage.effects(fx.Answer)
    assert refused.fault is not None
    assert "unfinished work needs it" in refused.fault.template
