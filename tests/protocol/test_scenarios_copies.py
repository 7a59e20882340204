"""Second runs on purpose: of what stands still, and of what ends late, on machines that are idle."""

from __future__ import annotations

from typing import Any

import pytest

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.needs import Seat, with_needs
from agent.protocol.policy import flock_rules
from agent.protocol.policy.copying import RunningView, WhereItHelps
from agent.protocol.reasons import EndCause, reason_in
from agent.protocol.records import Evicted, Failed, Run, TaskState, Terminated, Yielded
from agent.protocol.second_runs import is_copy, leads
from tests.protocol.stage import Stage, at_work, task
from tests.protocol.stage_machines import NAMES, Course
from tests.sim.lan import Flock, Step

LATER_S = 15.0 + 4
"""By then a copy of a suspended run has begun, if it ever does."""


def runs_of(stage: Stage, name: str = "T1", seen_by: str = "pato") -> dict[str, Run]:
    return {run.host: run for run in stage.living()[seen_by].table.life(name).runs}


def copied(**more: Any) -> tuple[Stage, str]:
    """The owner of acor is back, and a copy of its run goes on elsewhere."""
    stage = at_work(*NAMES, length_s=40, for_s=2, **more)
    stage.owner("acor", here=True).play(LATER_S)
    (copy,) = set(stage.starters("T1")) - {"acor"}
    return stage, copy


def test_a_copy_of_what_is_suspended_leads_and_ends_the_task() -> None:
    stage, copy = copied()
    runs = runs_of(stage)
    assert [each.attempt for each in runs.values()] == [1, 1]
    assert (is_copy(runs[copy]), leads(runs[copy]), is_copy(runs["acor"])) == (True, True, False)
    assert stage.state("T1") is TaskState.RUNNING
    stage.play(45)
    assert (stage.outcome("T1"), len(stage.starters("T1"))) == (copy, 2)
    assert isinstance(runs_of(stage)["acor"].phase, Yielded)
    assert stage.same_tables()


def test_the_first_end_wins_when_the_owner_has_left_again() -> None:
    stage, copy = copied()
    stage.owner("acor", here=False).play(1)
    assert {name for name, actor in stage.actors.items() if actor.programs} == {"acor", copy}
    stage.play(40)
    assert stage.outcome("T1") == copy, "it began later, and was not held up"
    assert not stage.effects(fx.OutcomeChanged)
    stage, copy = copied()
    stage.owner("acor", here=False).play(1)
    stage.owner(copy, here=True).play(45)
    assert stage.outcome("T1") == "acor"
    assert isinstance(runs_of(stage)[copy].phase, Yielded)


def test_it_is_not_made_of_what_is_for_once_nor_of_what_holds_a_seat() -> None:
    for needs in (with_needs((), (), once=True), with_needs((), (Seat("acme", 3),))):
        stage = Stage(*NAMES).flock()
        stage.courses["T1"] = Course(length_s=40)
        stage.submit("pato", "bread", task("T1", more=needs)).play(2)
        (first,) = stage.starters("T1")
        stage.owner(first, here=True).play(LATER_S + 10)
        assert stage.starters("T1") == [first]


def test_none_is_made_while_ready_work_waits_or_the_owner_was_there_for_a_moment() -> None:
    stage = at_work(*NAMES, length_s=300, for_s=2)
    stage.courses |= {f"B{n}": Course(length_s=30) for n in range(4)}
    stage.submit("pato", "cake", *[task(f"B{n}") for n in range(4)]).play(0.5)
    stage.owner("acor", here=True).play(LATER_S)
    assert stage.starters("T1") == ["acor"], "two wait"
    stage.play(60)
    assert len(stage.starters("T1")) == 2
    stage = at_work(*NAMES, length_s=300, for_s=2)
    stage.owner("acor", here=True).play(10)
    stage.owner("acor", here=False).play(60)
    assert stage.starters("T1") == ["acor"]


def test_a_copy_beside_its_original_takes_no_place_from_other_work() -> None:
    late = Flock(3, slowness=(1.0, 1.0, 1.0))
    copies = slow_last_task(late)
    late.submit("other", [Step(5.0), Step(5.0), Step(5.0)])
    late.run()
    begun = [late.times[f"other/{n}"].waited_s for n in range(3)]
    assert sorted(begun)[1] < 0.2, "what is ready begins although a copy runs there"
    ended = [run for run in copies(late) if isinstance(run.phase, Evicted)]
    why = [reason_in(run.more, "") for run in ended]
    assert why == [EndCause("GaveWay")]


def slow_last_task(flock: Flock) -> Any:
    """A task that takes longer than all those before it, so that an idle machine begins a copy."""
    flock.submit("before", [Step(12.0) for _ in range(12)])
    flock.run()
    flock.submit("late", [Step(200.0, told_s=12.0)])
    flock.run_until(flock.world.now + 60)

    def copies(flock: Flock) -> list[Run]:
        node = flock.simulation.machines[0].node
        assert node is not None
        return [run for run in node.table.life("late/0").runs if is_copy(run)]

    assert len(copies(flock)) == 1
    return copies


def test_a_copy_that_fails_does_not_count_against_its_task() -> None:
    stage = at_work("acor", "pato", length_s=10, for_s=2, fails_on=("pato",))
    stage.owner("acor", here=True).play(LATER_S)
    stage.owner("acor", here=False).play(1)
    assert stage.starters("T1") == ["acor", "pato"]
    stage.play(20)
    phases = {host: type(run.phase) for host, run in runs_of(stage).items()}
    assert (phases["acor"], stage.state("T1")) == (Terminated, TaskState.TERMINATED)
    assert phases["pato"] in (Evicted, Yielded, Failed)


def test_a_copy_goes_on_when_the_machine_of_its_original_is_gone() -> None:
    stage, copy = copied()
    stage.crash("acor").play(10)
    assert len(stage.starters("T1")) == 2
    stage.play(30)
    assert (stage.outcome("T1"), len(stage.starters("T1"))) == (copy, 2)


def test_a_copy_ends_when_the_owner_of_its_machine_comes_and_the_original_goes_on() -> None:
    flock = Flock(3)
    copies = slow_last_task(flock)
    (run,) = copies(flock)
    machine = next(each for each in flock.simulation.machines if each.node_id == run.host)
    assert machine.node is not None
    machine.hand(ev.PresenceChanged(False, True))
    flock.run_until(flock.world.now + 2)
    (run,) = copies(flock)
    assert reason_in(run.more, "") == EndCause("OwnerBack")
    flock.run_until(flock.world.now + 30)
    assert len(copies(flock)) == 1, "one copy of an attempt is enough"


def test_two_that_ask_at_once_get_one_copy_together() -> None:
    stage = at_work(*NAMES, length_s=60, for_s=2)
    stage.owner("acor", here=True).play(1)
    for name in ("pato", "grifo"):
        stage.living()[name].claims.go_for_copy("T1")
        stage.ask(name, "goes for a copy", ev.DatasetsChanged())
    stage.play(5)
    copies = [run for run in runs_of(stage).values() if is_copy(run)]
    assert len(copies) == 1
    assert len(stage.sent(msg.TryDequeue, "pato")) == len(stage.sent(msg.TryDequeue, "grifo")) == 1
    assert stage.same_tables()


@pytest.mark.parametrize(
    ("worth", "view"),
    [
        (True, RunningView(15.0, None, None, 0.9, 0.9, False)),
        (True, RunningView(None, 10.0, 10.0, 0.5, 0.9, False)),
        (False, RunningView(10.0, 90.0, 10.0, 0.1, 1.0, True)),
        (False, RunningView(None, None, None, 0.1, 1.0, True)),
        (True, RunningView(None, 100.0, 60.0, 0.9, 0.9, True)),
        (False, RunningView(None, 100.0, 60.0, 0.9, 0.9, False)),
        (False, RunningView(None, 100.0, 90.0, 0.9, 0.9, True)),
        (False, RunningView(None, 9.0, 1.0, 0.2, 0.9, True)),
        (True, RunningView(None, 100.0, 100.0, 0.5, 0.9, False)),
        (False, RunningView(None, 100.0, 100.0, 0.85, 0.9, False)),
    ],
)
def test_a_copy_is_worth_it(worth: bool, view: RunningView) -> None:
    assert WhereItHelps().worth(view, 15.0) is worth
    rules = [each for each in flock_rules.values() if not each.name.startswith("WQR")]
    assert all(rule.copies.worth(view, 15.0) is worth for rule in rules)
