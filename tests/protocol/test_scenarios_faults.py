"""Scenes about what breaks: nodes, links, programs, disks, and the network in two."""

from __future__ import annotations

import pytest

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.messages import Holdings
from agent.protocol.reasons import Became
from agent.protocol.records import Dataset, Requirements, TaskState, run_name
from agent.protocol.second_runs import NOT_TOLD, how_far
from agent.protocol.settings import Settings
from tests.certain import certain
from tests.protocol.stage import Stage, at_work, both_ways, task
from tests.protocol.stage_machines import NAMES, Course


def running_on_acor(length_s: float = 4.0, shows: tuple[str, ...] = ()) -> Stage:
    stage = at_work(*NAMES, length_s=length_s, for_s=0.5)
    stage.shows = shows
    assert stage.starters("T1") == ["acor"]
    stage.curtain()
    return stage


def scene_agent_killed_while_it_runs() -> Stage:
    stage = running_on_acor()
    stage.crash("acor").play(0.1)
    assert stage.starters("T1") == ["grifo"], "elsewhere within a tenth of a second"
    stage.play(5)
    assert stage.outcome("T1") == "grifo"
    seen = certain(stage.actors["pato"].node).story("T1")
    assert Became("Running", "grifo", "acor") in [each.what for each in seen], "by others"
    return stage


def scene_cable_cut_while_it_runs() -> Stage:
    stage = running_on_acor(length_s=20)
    stage.hold(*both_ways("acor", "pato", "grifo"))
    stage.play(4.5)
    assert stage.starters("T1") == []
    stage.play(1.5)
    assert stage.starters("T1") == ["grifo"], "elsewhere within 6 s"
    return stage


def scene_one_missing_link_downs_nobody() -> Stage:
    stage = running_on_acor(length_s=8, shows=("STATUS",))
    stage.reset("acor", "grifo")
    stage.say("grifo sees acor no more, but pato does, and says so in its status")
    stage.play(9)
    assert (stage.starters("T1"), stage.outcome("T1")) == ([], "acor")
    assert stage.same_tables()
    return stage


def cut_in_two(length_s: float) -> Stage:
    """Acor runs a task, is cut off, and grifo runs it too."""
    stage = running_on_acor(length_s)
    stage.say("the network falls into acor and the others")
    stage.hold(*both_ways("acor", "pato", "grifo"))
    stage.play(6.5)
    assert stage.starters("T1") == ["grifo"]
    return stage


def heal(stage: Stage) -> None:
    stage.say("together again")
    stage.link("acor", "pato", "grifo").play(2)
    assert stage.same_tables()


def scene_partition_both_run_one_yields() -> Stage:
    stage = cut_in_two(length_s=20)
    heal(stage)
    assert [stop.run[2] for stop in stage.effects(fx.StopChild)] == ["grifo"]
    assert stage.state("T1") is TaskState.RUNNING
    stage.play(20)
    assert stage.outcome("T1") == "acor", "it had come further, although its attempt was the first"
    assert not stage.effects(fx.OutcomeChanged)
    return stage


def says(stage: Stage, name: str, permille: int) -> None:
    """The program of T1 says on a machine how far it is."""
    (run,) = [run for task, run in stage.actors[name].programs if task == "T1"]
    stage.ask(name, f"is at {permille}", ev.ChildProgressed("T1", run, permille, 60_000))


def test_after_a_partition_the_program_that_says_it_is_further_goes_on() -> None:
    stage = cut_in_two(length_s=60)
    says(stage, "grifo", 700)
    says(stage, "acor", 200)
    heal(stage)
    assert [stop.run[2] for stop in stage.effects(fx.StopChild)] == ["acor"]
    owners = {name: node.table.owned["T1"].host for name, node in stage.living().items()}
    assert owners == dict.fromkeys(NAMES, "grifo")


def test_what_is_suspended_is_behind_what_runs() -> None:
    stage = cut_in_two(length_s=60)
    stage.owner("acor", here=True).play(0.1)
    heal(stage)
    assert [stop.run[2] for stop in stage.effects(fx.StopChild)] == ["acor"]


def test_what_met_a_rival_tells_no_less_when_it_meets_another() -> None:
    stage = cut_in_two(length_s=90)
    heal(stage)
    first = stage.living()["pato"].table.owned["T1"]
    stage.play(5)
    stage.hold(*both_ways("acor", "pato", "grifo"))
    stage.play(8)
    assert stage.living()["pato"].table.owned["T1"].host in ("grifo", "pato")
    heal(stage)
    second = stage.living()["pato"].table.owned["T1"]
    assert (second.host, run_name(second)) == ("acor", run_name(first))
    assert how_far(second) > how_far(first) > NOT_TOLD


def scene_partition_both_finished_one_counts() -> Stage:
    stage = cut_in_two(length_s=4)
    stage.play(4)
    heal(stage)
    assert stage.outcome("T1") == "grifo", "the higher attempt counts"
    changed = stage.effects(fx.OutcomeChanged)
    assert [(each.before[2], each.after[2]) for each in changed] == [("acor", "grifo")]
    return stage


def scene_partition_one_finished_the_other_stops() -> Stage:
    stage = cut_in_two(length_s=6.5)
    stage.play(1)
    heal(stage)
    assert stage.outcome("T1") == "acor", "a success decides, whatever the attempt"
    assert [stop.run[2] for stop in stage.effects(fx.StopChild)] == ["grifo"]
    return stage


def scene_failed_task_is_tried_elsewhere() -> Stage:
    stage = at_work(*NAMES, length_s=2, for_s=6, fails_on=("acor",))
    assert (stage.starters("T1"), stage.outcome("T1")) == (["acor", "grifo"], "grifo")
    return stage


def scene_aborted_after_three_failures() -> Stage:
    stage = Stage(*NAMES).flock()
    stage.courses["T1"] = Course(fails_on=NAMES)
    stage.submit("pato", "bread", task("T1"), task("T2", "T1")).play(12)
    assert sorted(stage.starters("T1")) == sorted(NAMES)
    assert (stage.state("T1"), stage.state("T2")) == (TaskState.ABORTED, TaskState.ABORTED)
    return stage


def scene_outputs_lost_and_made_again() -> Stage:
    stage = Stage("acor", "pato", settings=Settings(copies=1, election_window_s=0.8))
    stage.tags["pato"] = ("oven",)
    stage.flock()
    stage.owner("pato", here=True)
    stage.courses["T1"] = Course(file=True)
    oven = Requirements(tags=("oven",))
    stage.submit("pato", "bread", task("T1"), task("T2", "T1", requirements=oven)).play(3)
    assert stage.state("T2") is TaskState.READY
    stage.say("the machine that holds the only copy of the output comes back without it")
    stage.crash("acor").play(0.3)
    stage.lose_files("acor")
    stage.boot("acor")
    stage.link("acor", "pato").play(1)
    stage.say("pato needs it")
    stage.owner("pato", here=False).play(8)
    assert (len(stage.starters("T1")), stage.starters("T2")) == (2, ["pato"])
    assert stage.state("T2") is TaskState.TERMINATED
    return stage


def scene_outputs_are_on_two_disks_before_the_end() -> Stage:
    stage = Stage(*NAMES, shows=("HOLDINGS",)).flock()
    stage.courses["T1"] = Course(file=True)
    stage.submit("pato", "bread", task("T1"), task("T2", "T1")).play(2.1)
    stage.say("the machine that made it dies; the copy is enough")
    stage.crash("acor").play(3)
    assert (stage.starters("T1"), stage.state("T2")) == (["acor"], TaskState.TERMINATED)
    return stage


def test_word_of_a_dataset_has_a_plan_laid_only_where_a_task_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage(*NAMES).flock()
    node, plans = certain(stage.actors["acor"].node), list[float]()
    plan = node._planning.plan

    def noted() -> None:
        plans.append(stage.now_s)
        plan()

    monkeypatch.setattr(node._planning, "plan", noted)
    stage._hand("acor", ev.Received("pato", Holdings(("just made",))))
    assert plans == []
    stage.submit("pato", "bread", task("T1", raw=(Dataset("flour"),))).play(0.1)
    assert stage.starters("T1") == [], "nobody has what it needs"
    plans.clear()
    stage._hand("acor", ev.Received("pato", Holdings(("flour",))))
    assert plans == [stage.now_s]
    assert "T1" in node.claims.open, "it falls to this one"
