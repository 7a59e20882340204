"""What was submitted on a machine is known there by its own note: a record may say so, and lie."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.effects import Identity
from agent.protocol.messages import Enqueue, State
from agent.protocol.records import PRIORITY_INTERACTIVE, PriorityWish, Pruning, TaskSpec, Workflow
from agent.protocol.records import WorkflowSpec as Spec
from tests.certain import certain
from tests.protocol.stage import Stage, task
from tests.protocol.test_identity import FIRST, asked

OWN_ONLY = ev.PresenceChanged(True, False, own_only=True)
OWNER_THERE = ev.PresenceChanged(False, True)
FOR_BIA = ev.PresenceChanged(True, False, people=("Bia",))
PAUSED = ev.PresenceChanged(False, True, paused=True)


def two() -> Stage:
    """Acor is looked at; pato helps nobody, so that what runs, runs on acor."""
    stage = Stage("acor", "pato").flock()
    stage.allow("pato", "helps nobody", PAUSED)
    return stage


def record(
    *tasks: TaskSpec,
    name: str = "bread",
    priority: int = 50,
    at_ms: int = 5,
    host: str = "acor",
    person: str = "ana",
) -> Workflow:
    spec = Spec(name, name, (at_ms, 0), host, person, tasks)
    return Workflow(spec, PriorityWish(1, "acor", priority))


def told_by_pato(stage: Stage, forged: Workflow) -> Stage:
    stage._hand("acor", ev.Received("pato", Enqueue((forged,))))
    return stage.play(6)


@pytest.mark.parametrize(
    ("allowed", "priority"), [(OWN_ONLY, 50), (OWNER_THERE, PRIORITY_INTERACTIVE)]
)
def test_what_a_member_says_was_submitted_here_does_not_run_for_that(
    allowed: ev.PresenceChanged, priority: int
) -> None:
    stage = two()
    stage.allow("acor", "runs its own person's work alone", allowed)
    told_by_pato(stage, record(task("T1"), priority=priority))
    assert "T1" in stage.living()["acor"].table.specs
    assert not stage.starters("T1")
    stage.submit("acor", "cake", task("T2"), priority=priority).play(6)
    assert (stage.starters("T1"), stage.outcome("T2")) == ([], "acor")


def test_a_record_put_in_the_place_of_what_was_submitted_here_is_not_taken_for_it() -> None:
    stage = two()
    stage.allow("acor", "is paused", PAUSED)
    stage.submit("acor", "bread", task("T1")).play(1)
    assert [*stage.actors["acor"].disk.noted] == ["bread"]
    told_by_pato(stage, record(task("T2")))
    assert [*stage.living()["acor"].table.specs] == ["T2"]
    stage.allow("acor", "runs its own person's work alone", OWN_ONLY)
    assert not stage.play(6).starters("T2")
    assert not stage.actors["acor"].disk.noted


@pytest.mark.parametrize("before", [False, True])
def test_it_is_known_after_a_restart_also_of_a_version_that_noted_nothing(before: bool) -> None:
    stage = two()
    stage.allow("acor", "is paused", PAUSED)
    stage.submit("acor", "bread", task("T1")).play(1)
    stage.crash("acor").play(1)
    disk = stage.actors["acor"].disk
    if before:
        kept = certain(disk.identity)
        disk.identity = Identity(kept.incarnation, kept.reputation, kept.stamp)
        disk.noted.clear()
    stage.boot("acor")
    stage.link("acor", "pato")
    stage.allow("acor", "runs its own person's work alone", OWN_ONLY)
    told_by_pato(stage, record(task("T2"), name="cake"))
    assert (stage.outcome("T1"), stage.starters("T2")) == ("acor", [])
    assert ([*disk.noted], certain(disk.identity).notes) == (["bread"], True)


def test_a_disk_that_lost_its_notes_takes_what_comes_back_for_the_work_of_others() -> None:
    """Its records come from the flock, where anybody may have written them."""
    stage = two()
    stage.allow("acor", "is paused", PAUSED)
    stage.submit("acor", "bread", task("T1")).play(1)
    stage.crash("acor").play(1)
    disk = stage.actors["acor"].disk
    disk.identity, disk.workflows, disk.noted = None, {}, {}
    stage.boot("acor")
    stage.link("acor", "pato")
    stage.allow("acor", "runs its own person's work alone", OWN_ONLY)
    stage.play(6)
    assert "T1" in stage.living()["acor"].table.specs
    assert not stage.starters("T1")


def test_a_note_goes_with_its_workflow() -> None:
    stage = two()
    stage.submit("acor", "bread", task("T1")).play(2)
    assert [*stage.actors["acor"].disk.noted] == ["bread"]
    gone = State(prunings=(Pruning("bread", 1, (stage.origin_ms, 0)),))
    stage._hand("acor", ev.Received("pato", gone))
    stage.play(1)
    noted = stage.living()["acor"]._core.own.noted
    assert (stage.actors["acor"].disk.noted, noted) == ({}, {})


def test_what_the_disk_refused_is_not_noted() -> None:
    stage = two()
    stage.fill_disk("acor")
    stage.submit("acor", "bread", task("T1")).play(1)
    assert stage.effects(fx.Answer)[-1].verdict is fx.Verdict.REFUSED
    assert not stage.living()["acor"]._core.own.noted


def test_the_same_content_that_a_member_forged_is_no_answer() -> None:
    """Nobody is given the results of work that another made up in the asker's name."""
    stage, theirs = two(), asked("1", "k2")
    told = record(*theirs.tasks, name="forged")
    told_by_pato(stage, replace(told, spec=replace(told.spec, name="words", more=theirs.more)))
    stage.ask("acor", "words", asked("1", "k1")).play(0.5)
    answer = stage.effects(fx.Answer)[-1]
    assert (answer.verdict, answer.workflow) == (fx.Verdict.ACCEPTED, FIRST)


def test_a_machine_helps_whom_its_owner_has_named_and_its_own_person() -> None:
    stage = two()
    stage.allow("acor", "helps only bia", FOR_BIA)
    told_by_pato(stage, record(task("T1"), name="bread", host="pato", person="ana"))
    told_by_pato(stage, record(task("T2"), name="cake", host="pato", person="bia"))
    stage.submit("acor", "own", task("T3")).play(6)
    assert (stage.outcome("T2"), stage.outcome("T3")) == ("acor", "acor")
    assert stage.starters("T1") == []
    assert "helps only Bia" in stage.living()["acor"]._can.obstacle("T1")
    stage.allow("acor", "helps everybody", ev.PresenceChanged(True, False))
    assert stage.play(6).outcome("T1") == "acor"


def test_who_is_not_helped_by_one_machine_is_helped_by_another_at_once() -> None:
    """Every node plans with whom each of them helps, so nobody waits for one that will not."""
    stage = Stage("acor", "lobo", "pato").flock()
    stage.allow("pato", "helps nobody", PAUSED)
    stage.allow("acor", "helps only bia", FOR_BIA)
    stage.submit("pato", "bread", *(task(f"T{number}") for number in range(4))).play(30)
    assert {stage.outcome(f"T{number}") for number in range(4)} == {"lobo"}
