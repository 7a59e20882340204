"""What a run needs to begin, how runs of a node end badly, and what its owner forbids."""

from __future__ import annotations

import pytest
from msgspec import Raw
from msgspec.structs import replace

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.clock import TimerKind
from agent.protocol.needs import Seat, with_needs
from agent.protocol.own_run import BadEnd, OwnRun, Stage
from agent.protocol.phrases import LocalProtocolError
from agent.protocol.promises import Promise
from agent.protocol.reasons import EndCause, Opaque
from agent.protocol.records import (
    PRIORITY_INTERACTIVE,
    Claim,
    Dataset,
    Evicted,
    Failed,
    Life,
    Running,
    Suspended,
    TaskLife,
    Terminated,
    Yielded,
    run_name,
)
from agent.protocol.second_runs import COPY
from agent.protocol.times import Took, took
from tests.certain import certain
from tests.protocol.worker import Worker

# -- what a run needs --------------------------------------------------------------------

FLOUR, SALT = Dataset("flour", 10), Dataset("salt", 10)


def beginning(worker: Worker, *held: str) -> OwnRun:
    """A claim on a task with two inputs was won, with these on the disk; somebody has the others."""
    worker.core.holdings.update(dict.fromkeys(held))
    worker.peer("pato").holdings.update(("flour", "salt"))
    own = worker.run("T1", Stage.QUEUED, raw=(FLOUR, SALT))
    worker.core.take_effects()
    worker.runs.begin("T1", own.run)
    return worker.runs.mine["T1"]


@pytest.mark.parametrize(
    ("held", "missing"), [((), ["flour", "salt"]), (("flour",), ["salt"]), (("flour", "salt"), [])]
)
def test_only_what_is_not_here_is_brought(held: tuple[str, ...], missing: list[str]) -> None:
    worker = Worker()
    own = beginning(worker, *held)
    assert own.stage is (Stage.FETCHING if missing else Stage.QUEUED)
    fetched = [each.inputs for each in worker.effects(fx.Fetch)]
    assert fetched == ([tuple((each, ("pato",)) for each in missing)] if missing else [])
    if missing:
        worker.tell(ev.InputsFetched, own)
        assert own.stage is Stage.QUEUED


def test_an_input_that_cannot_be_had_ends_the_run_and_is_not_asked_there_again() -> None:
    worker = Worker()
    own = beginning(worker, "flour")
    assert worker.node.holders("salt") == ("pato",)
    worker.tell(ev.FetchFailed, own, "salt")
    assert worker.phase("T1") == Evicted(
        worker.core.settings.words(EndCause("InputMissing", dataset="salt"))
    )
    assert worker.node.holders("salt") == ()


@pytest.mark.parametrize("held", [("flour", "salt"), ("flour",)])
def test_a_saved_state_that_cannot_be_had_is_done_without(held: tuple[str, ...]) -> None:
    worker = Worker()
    own = beginning(worker, *held)
    own.checkpoint, own.stage = "state", Stage.FETCHING
    worker.core.take_effects()
    worker.tell(ev.FetchFailed, own, "state")
    assert own.checkpoint == ""
    assert own.stage is (Stage.QUEUED if len(held) == 2 else Stage.FETCHING)
    assert len(worker.effects(fx.Fetch)) == (len(held) < 2)


def test_a_state_that_nobody_has_any_more_is_left_out_at_the_start() -> None:
    for held, kept in (((), ""), (("state",), "state")):
        worker = Worker()
        own = beginning(worker, "flour", "salt", *held)
        own.checkpoint = "state"
        assert worker.runs.start(own)
        (begun,) = worker.effects(fx.StartChild)
        assert begun.checkpoint == kept


# -- bad ends ----------------------------------------------------------------------------


def test_that_a_copy_fails_does_not_count() -> None:
    for is_copy, phase in ((True, Evicted), (False, Failed)):
        worker = Worker()
        own = worker.run("T1", Stage.RUNNING)
        worker.core.table.owned["T1"] = replace(own.run, host="pato")
        worker.core.table.owned_by["pato"] = 1
        own.run = replace(own.run, more={COPY: Raw(b"\xc3")} if is_copy else {})
        worker.tell(ev.ChildFailed, own, Opaque("wet"))
        assert worker.phase("T1") == phase("wet")


def test_what_is_being_stopped_ends_as_was_meant_however_it_ends() -> None:
    why = EndCause("OwnerBans")
    for word, more in (
        (ev.ChildStopped, ()),
        (ev.ChildFailed, (Opaque("killed"),)),
        (ev.ChildNotStarted, (Opaque("no memory"),)),
    ):
        worker = Worker()
        own = worker.run("T1", Stage.STOPPING)
        own.then = BadEnd(Yielded, why)
        worker.tell(word, own, *more)
        assert worker.phase("T1") == Yielded(worker.core.settings.words(why))
    own = Worker().run("T1", Stage.STOPPING)
    with pytest.raises(LocalProtocolError):
        Worker().runs._stopped(own, ev.ChildStopped("T1", run_name(own.run)))


def test_how_long_it_took_is_told_unless_it_went_on_from_a_saved_state() -> None:
    for checkpoint, run_ms in (("", 700), ("state", None)):
        worker = Worker()
        own = worker.run("T1", Stage.RUNNING)
        own.checkpoint = checkpoint
        worker.tell(ev.ChildFailed, own, Opaque("wet"), Took(run_ms=700))
        (ended,) = worker.core.table.life("T1").runs
        assert (certain(took(ended)).run_ms or None) == run_ms


def test_who_finished_first_has_the_outcome() -> None:
    worker = Worker(copies=1)
    own = worker.run("T1", Stage.RUNNING)
    other = replace(own.run, host="pato", phase=Terminated(), more={COPY: Raw(b"\xc3")})
    worker.core.learn("", lives=[TaskLife("T1", Life(1, runs=(other,)))])
    worker.tell(ev.ChildSucceeded, own, ())
    assert {each.host: type(each.phase) for each in worker.core.table.life("T1").runs} == {
        "me": Yielded,
        "pato": Terminated,
    }


# -- what the owner forbids --------------------------------------------------------------


def test_bans_end_what_is_of_others_and_nothing_of_ones_own() -> None:
    for noted, goes_on in ((False, False), (True, True)):
        worker = Worker()
        own = worker.run("T1", Stage.RUNNING)
        if noted:
            worker.core.own.note(["w T1"])
        worker.core.presence = ev.PresenceChanged(True, False, bans=("ana",))
        worker.runs.reconcile()
        assert (own.stage is Stage.RUNNING) is goes_on


def test_what_somebody_waits_for_here_stays_until_the_person_pauses() -> None:
    for priority, noted, paused, stays in (
        (PRIORITY_INTERACTIVE, True, False, True),
        (PRIORITY_INTERACTIVE, True, True, False),
        (PRIORITY_INTERACTIVE, False, False, False),
        (50, True, False, False),
    ):
        worker = Worker()
        own = worker.run("T1", Stage.RUNNING, priority)
        if noted:
            worker.core.own.note(["w T1"])
        worker.core.presence = ev.PresenceChanged(False, True, paused=paused)
        worker.runs.reconcile()
        assert (own.stage is Stage.RUNNING) is stays


def test_what_was_suspended_goes_on_when_the_owner_leaves_unless_it_is_promised() -> None:
    for promised in (False, True):
        worker = Worker()
        own = worker.run("T1", Stage.SUSPENDED)
        worker.core.timers.arm(TimerKind.HAND_BACK, worker.now_s + 300.0, "T1")
        if promised:
            claim = Claim(1, (1, 0), "pato")
            worker.node.promises.by_task["T1"] = Promise("pato", claim, worker.now_s)
        worker.core.presence = ev.PresenceChanged(True, False)
        worker.core.take_effects()
        worker.runs.reconcile()
        assert len(worker.effects(fx.ResumeChild)) == (not promised)
        assert own.stage is (Stage.SUSPENDED if promised else Stage.RUNNING)
        assert worker.core.timers.armed(TimerKind.HAND_BACK, "T1") is promised


def test_what_is_suspended_for_long_is_offered_or_ended_where_it_keeps_a_seat() -> None:
    seat = with_needs((), (Seat("acme", 1),))
    for more, stage, phase, stops in (
        ({}, Stage.SUSPENDED, Suspended(offered=True), 0),
        (seat, Stage.SUSPENDED, Running(), 1),
        ({}, Stage.RUNNING, Running(), 0),
    ):
        worker = Worker()
        worker.run("T1", stage, more=more)
        worker.core.take_effects()
        worker.runs.hand_back("T1")
        worker.runs.hand_back("unknown")
        assert worker.phase("T1") == phase
        assert len(worker.effects(fx.StopChild)) == stops


def test_what_the_disk_refused_is_given_back_if_it_is_that_run() -> None:
    worker = Worker()
    own = worker.run("T1", Stage.QUEUED)
    worker.runs.withdraw("T1", (1, 9, "me", 1))
    worker.runs.withdraw("T2", run_name(own.run))
    assert "T1" in worker.runs.mine
    worker.runs.withdraw("T1", run_name(own.run))
    assert worker.phase("T1") == Evicted(worker.core.settings.words(EndCause("DiskFull")))
