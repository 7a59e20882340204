"""What a disk refuses, an owner forbids, or a stranger says: nothing of it is done behind their backs."""

from __future__ import annotations

import pytest

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.effects import Verdict
from agent.protocol.messages import Release
from agent.protocol.reasons import Opaque
from tests.protocol.stage import Stage, both_ways, task


def empty_disk(stage: Stage, name: str) -> None:
    stage.actors[name].disk.full = False
    stage.say(f"there is room on the disk of {name}")
    stage._hand(name, ev.DiskUsable())


def knows_bread(stage: Stage) -> set[str]:
    return {name for name, node in stage.living().items() if "bread" in node.table.workflows}


@pytest.mark.parametrize("alone", [True, False])
def test_a_submission_that_a_full_disk_refused_has_not_happened(alone: bool) -> None:
    stage = Stage(*["acor", "pato"][: 1 if alone else 2]).flock()
    stage.fill_disk("acor")
    stage.submit("acor", "bread", task("T1")).play(3)
    assert [answer.verdict for answer in stage.effects(fx.Answer)] == [Verdict.REFUSED]
    assert knows_bread(stage) == set()
    empty_disk(stage, "acor")
    stage.play(3)
    assert stage.starters("T1") == []
    assert knows_bread(stage) == set()
    stage.submit("acor", "bread", task("T1")).play(5)
    assert stage.outcome("T1") in stage.actors


def test_what_was_accepted_before_the_disk_was_full_stays() -> None:
    stage = Stage("acor", "pato").flock("acor")
    stage.owner("acor", here=True)
    stage.submit("acor", "bread", task("T1")).play(1)
    stage.fill_disk("acor")
    stage.submit("acor", "cake", task("T2")).play(1)
    verdicts = [answer.verdict for answer in stage.effects(fx.Answer)]
    assert verdicts == [Verdict.ACCEPTED, Verdict.REFUSED]
    assert knows_bread(stage) == {"acor"}
    empty_disk(stage, "acor")
    stage.boot("pato")
    stage.link("acor", "pato").play(6)
    assert [notice.workflow for notice in stage.effects(fx.WorkflowSafe)] == ["bread"]
    assert stage.starters("T1") == ["pato"]


def test_a_machine_with_a_full_disk_is_used_again_when_there_is_room() -> None:
    stage = Stage("acor", "pato").flock()
    stage.owner("pato", here=True)
    stage.fill_disk("acor")
    stage.submit("acor", "cake", task("T0")).play(1)
    stage.submit("pato", "bread", task("T1")).play(5)
    assert stage.starters("T1") == []
    assert not able(stage, "pato", "acor")
    empty_disk(stage, "acor")
    stage.play(0.1)
    assert able(stage, "pato", "acor")
    stage.play(5)
    assert stage.starters("T1") == ["acor"]


def able(stage: Stage, where: str, peer: str) -> bool:
    """Whether a peer is told here to take work."""
    status = stage.living()[where]._core.peers[peer].status
    return status is not None and status.willing


@pytest.mark.parametrize(
    ("presence", "runs"),
    [
        (ev.PresenceChanged(volunteering=True, owner_present=False), True),
        (
            ev.PresenceChanged(volunteering=False, owner_present=False, reason=Opaque("paused")),
            False,
        ),
        (ev.PresenceChanged(volunteering=True, owner_present=True), False),
        (ev.PresenceChanged(volunteering=False, owner_present=True), False),
    ],
)
def test_a_machine_works_for_others_when_its_owner_lets_it_and_is_away(
    presence: ev.PresenceChanged, runs: bool
) -> None:
    stage = Stage("acor", "pato").flock()
    stage.owner("pato", here=True)
    stage.allow("acor", "the owner says what may be", presence)
    stage.submit("pato", "bread", task("T1")).play(5)
    assert stage.starters("T1") == (["acor"] if runs else [])


def test_who_has_no_link_and_who_has_not_greeted_is_not_listened_to() -> None:
    stage = Stage("acor", "pato").flock()
    stage._hand("acor", ev.Received("stranger", Release(())))
    stage.play(1)
    counted = stage.living()["acor"]._core.counters
    assert counted["message without a link"] == 1
    stage.hold(*both_ways("acor", "pato"))
    stage.reset("acor", "pato")
    stage.link("acor", "pato")
    stage._hand("acor", ev.Received("pato", Release(())))
    assert counted["message before a greeting"] == 1
    stage.play(2)
    assert stage.same_tables()
