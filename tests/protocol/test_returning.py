"""A machine that comes back without its disk, its clock set back: it is not its former self."""

from __future__ import annotations

from agent.protocol import messages as msg
from agent.protocol.records import TaskState
from tests.protocol.stage import Stage, task
from tests.protocol.stage_machines import Course
from tests.sim.disk import Disk

HOUR_MS = 3_600_000


def incarnation(stage: Stage, name: str) -> int:
    return stage.living()[name]._core.incarnation


def returned(stage: Stage, name: str, *peers: str) -> None:
    """The disk was replaced, and nobody has set the clock of the machine."""
    actor = stage.actors[name]
    stage.crash(name).play(0.5)
    actor.disk, actor.clock_ahead_ms = Disk(), -HOUR_MS
    stage.boot(name)
    for peer in peers:
        stage.link(name, peer)
    stage.play(3)


def test_it_takes_a_later_incarnation_than_all_that_others_have_seen() -> None:
    stage = Stage("acor", "pato", "grifo").flock()
    before = incarnation(stage, "acor")
    returned(stage, "acor", "pato", "grifo")
    after = incarnation(stage, "acor")
    assert stage.actors["acor"].incarnations[-1] < before < after
    assert stage.actors["acor"].disk.identity is not None
    assert stage.actors["acor"].disk.identity.incarnation == after
    for name in ("pato", "grifo"):
        assert stage.living()[name]._core.incarnations["acor"] == after
    assert stage.same_tables()


def test_what_its_former_self_ran_is_not_taken_for_its_own() -> None:
    stage = Stage("acor", "pato").flock()
    stage.courses["T1"] = Course(length_s=4.0)
    stage.submit("pato", "bread", task("T1", expected_ms=4_000)).play(1)
    assert stage.starters("T1") == ["acor"]
    returned(stage, "acor", "pato")
    stage.play(8)
    assert (stage.state("T1"), len(stage.starters("T1"))) == (TaskState.TERMINATED, 2)
    assert stage.same_tables()


def test_a_number_that_no_honest_node_has_seen_is_not_followed() -> None:
    stage = Stage("acor", "pato").flock()
    pato = stage.living()["pato"]._core
    pato.incarnations["acor"] = 2**53
    before = incarnation(stage, "acor")
    stage.reset("acor", "pato")
    stage.link("acor", "pato").play(1)
    assert any(hello.seen == 2**53 for hello in hellos(stage))
    assert incarnation(stage, "acor") == before


def hellos(stage: Stage) -> list[msg.Hello]:
    return [entry.what for entry in stage.entries if isinstance(entry.what, msg.Hello)]
