"""An owner bans people, machines and programs from the own machine; peers plan with that."""

from __future__ import annotations

import pytest

from agent.protocol import events as ev
from agent.protocol.people import People
from agent.protocol.reasons import EndCause, reason_in
from agent.protocol.records import TaskState
from agent.protocol.seats import banned
from agent.protocol.signing import Trust
from tests.protocol.stage import Stage, task


def bans(*names: str) -> ev.PresenceChanged:
    return ev.PresenceChanged(volunteering=True, owner_present=False, bans=names)


def test_names_are_compared_without_regard_to_capital_letters() -> None:
    assert banned(("Ana", "pato"), ("ana", "n1")) == "Ana"
    assert banned(("Ana",), ("bia", "n1")) == banned((), ("ana",)) == ""


@pytest.mark.parametrize("name", ["ana", "pato", "mill"])
def test_nothing_of_whom_or_what_is_banned_begins_there_and_peers_know_it(name: str) -> None:
    """The stage's person is ana; work comes from pato, and its program is the stage's own."""
    stage = Stage("acor", "pato").flock()
    program = task("T1").program
    stage.allow("acor", "its owner bans", bans(program if name == "mill" else name))
    stage.play(0.2)
    stage.submit("pato", "bread", task("T1"), task("T2")).play(8)
    assert stage.starters("T1") == stage.starters("T2") == ["pato"]
    status = stage.living()["pato"]._core.peers["acor"].status
    assert status is not None
    assert len(status.bans) == 1


def test_who_is_banned_runs_own_work_at_home_and_others_go_on() -> None:
    stage = Stage("acor", "pato").flock()
    stage.allow("acor", "its owner bans", bans("rui", "ana"))
    stage.play(0.2)
    stage.submit("acor", "own", task("T1"), task("T2")).play(8)
    assert {*stage.starters("T1"), *stage.starters("T2")} == {"acor", "pato"}
    stage.ask("pato", "bia submits", ev.Submit("r", "b", "b", "bia", 50, (task("B1"), task("B2"))))
    stage.play(8)
    assert {*stage.starters("B1"), *stage.starters("B2")} == {"acor", "pato"}


def test_what_runs_of_whom_is_banned_now_is_handed_back_at_once_and_runs_elsewhere() -> None:
    stage = Stage("acor", "pato").flock()
    stage.submit("pato", "bread", task("T1"), task("T2")).play(0.5)
    (there,) = [each for each in ("T1", "T2") if stage.starters(each) == ["acor"]]
    stage.allow("acor", "its owner bans", bans("ana"))
    stage.play(0.5)
    (run, *_) = stage.living()["pato"].table.life(there).runs
    assert reason_in(run.more, "") == EndCause("OwnerBans")
    stage.play(10)
    assert stage.starters(there) == ["acor", "pato"]
    assert stage.state(there) is TaskState.TERMINATED


def test_who_is_banned_by_one_of_his_machines_is_banned_on_all() -> None:
    stage = Stage("acor", "pato").flock()
    both = {"pato": "pato", "rola": "pato"}
    for node in stage.living().values():
        node._core.follow_trust(Trust(people=People(both, both)))
    stage.allow("acor", "its owner bans", bans("rola"))
    stage.play(0.2)
    stage.submit("pato", "bread", task("T1"), task("T2")).play(8)
    assert stage.starters("T1") == stage.starters("T2") == ["pato"]
    helps_rola = ev.PresenceChanged(volunteering=True, owner_present=False, people=("rola",))
    stage.allow("acor", "its owner helps", helps_rola)
    stage.play(0.2)
    stage.submit("pato", "rolls", task("R1"), task("R2")).play(8)
    assert {*stage.starters("R1"), *stage.starters("R2")} == {"acor", "pato"}
