"""What a node does about its own runs, one happening at a time, beside what it sees."""

from __future__ import annotations

import pytest
from msgspec import Raw
from msgspec.structs import replace

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.clock import TimerKind
from agent.protocol.messages import Progress
from agent.protocol.own_run import Stage, due_ms, hand_back_after_s, left_ms
from agent.protocol.reasons import EndCause, Opaque
from agent.protocol.records import (
    PRIORITY_INTERACTIVE,
    Dataset,
    Evicted,
    TaskState,
    run_name,
)
from agent.protocol.second_runs import COPY
from agent.protocol.settings import Settings
from tests.certain import certain
from tests.protocol.worker import LONG_MS, Worker

STATE = Dataset("state", 10)


# -- how far they are --------------------------------------------------------------------


def told_by(worker: Worker) -> list[tuple[int, int]]:
    """What a tick tells of how far runs are: to peers, and the same to clients."""
    worker.node._progress_news.on_tick()
    told = worker.effects(fx.Send, fx.TaskProgressed)
    sent = [s.message for s in told if isinstance(s, fx.Send) and isinstance(s.message, Progress)]
    items = [(item.permille, item.left_ms) for each in sent for item in each.items]
    shown = [(t.permille, t.left_ms) for t in told if isinstance(t, fx.TaskProgressed)]
    assert items == shown
    return items


def test_progress_is_told_when_it_changes_once_a_second_and_else_every_quarter_minute() -> None:
    worker = Worker()
    worker.peer("pato")
    own = worker.run("T1", Stage.RUNNING)
    found = []
    for after_s, permille in (
        *((0.0, 0), (0.99, 10), (0.01, 10), (0.5, 10), (0.5, 10), (13.99, 10), (0.01, 10)),
        *((0.5, 20), (0.5, 20)),
    ):
        worker.later(after_s)
        own.permille = permille
        found.append([told for told, _ in told_by(worker)])
    assert found == [[0], [], [10], [], [], [], [10], [], [20]]


def test_only_programs_that_run_tell_how_far_they_are() -> None:
    for stage in Stage:
        worker = Worker()
        worker.peer("pato")
        worker.run("T1", stage)
        assert told_by(worker) == ([(0, LONG_MS)] if stage is Stage.RUNNING else [])


def test_a_copy_beside_another_run_tells_nothing_and_silences_no_other() -> None:
    for is_copy in (False, True):
        worker = Worker(slots=3)
        worker.peer("pato")
        worker.run("waits", Stage.QUEUED)
        own = worker.run("T1", Stage.RUNNING)
        worker.run("T2", Stage.RUNNING)
        worker.core.table.owned["T1"] = replace(own.run, host="pato")
        own.run = replace(own.run, more={COPY: Raw(b"\xc3")} if is_copy else {})
        assert len(told_by(worker)) == (1 if is_copy else 2)


@pytest.mark.parametrize(
    ("said", "kept"), [((500, 2_000), (500, 2_000)), ((-1, -1), (0, 0)), ((1_001, 0), (1_000, 0))]
)
def test_what_a_program_says_of_itself_is_kept_within_bounds(
    said: tuple[int, int], kept: tuple[int, int]
) -> None:
    worker = Worker()
    own = worker.run("T1", Stage.RUNNING)
    worker.later(3.0)
    worker.tell(ev.ChildProgressed, own, *said)
    assert (own.permille, own.left_ms) == kept
    assert left_ms(worker.core, own) == kept[1]
    worker.later(1.5)
    assert own.passed_ms(worker.now_s) == 1_500
    assert left_ms(worker.core, own) == max(0, kept[1] - 1_500)
    assert due_ms(worker.core, own) == kept[1] - 1_500


@pytest.mark.parametrize(
    ("said_ms", "passed_s", "stage", "is_nearly"),
    [
        (5_000, 0.0, Stage.RUNNING, True),
        (5_001, 0.0, Stage.RUNNING, False),
        (5_000, 10.0, Stage.RUNNING, True),
        (5_000, 10.001, Stage.RUNNING, False),
        (5_000, 0.0, Stage.SUSPENDED, False),
        (None, 0.0, Stage.RUNNING, False),
    ],
)
def test_nearly_done_is_what_said_so_and_is_not_late_by_more(
    said_ms: int | None, passed_s: float, stage: Stage, is_nearly: bool
) -> None:
    own = Worker().run("T1", stage)
    own.left_ms, own.left_said_s = said_ms, 0.0
    assert own.nearly_done(passed_s, 5_000) is is_nearly


# -- what rests --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "rest_s"), [(0, 5), (1, 10), (3, 40), (6, 320), (7, 600), (30, 600)]
)
def test_what_cannot_be_started_rests_longer_each_time_up_to_ten_minutes(
    monkeypatch: pytest.MonkeyPatch, times: int, rest_s: int
) -> None:
    monkeypatch.setattr("agent.protocol.runs.evictions", lambda *_: times)
    worker = Worker()
    own = worker.run("T1", Stage.STARTING)
    worker.tell(ev.ChildNotStarted, own, Opaque("no memory"))
    assert isinstance(worker.phase("T1"), Evicted)
    worker.later(rest_s - 0.01)
    worker.core.wake = False
    worker.runs.on_tick()
    assert (list(worker.runs.resting), worker.core.wake) == (["T1"], False)
    worker.later(0.01)
    worker.runs.on_tick()
    assert (list(worker.runs.resting), worker.core.wake) == ([], True)


def test_runs_are_looked_at_again_while_a_present_owner_lets_some_end() -> None:
    for here, lets_end_ms, runs, looks in (
        (True, 1, True, True),
        (False, 1, True, False),
        (True, 0, True, False),
        (True, 1, False, False),
    ):
        worker = Worker()
        if runs:
            worker.run("T1", Stage.RUNNING)
        worker.core.presence = ev.PresenceChanged(not here, here, lets_end_ms=lets_end_ms)
        worker.core.wake = False
        worker.runs.on_tick()
        assert worker.core.wake is looks


# -- places ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "executing", "active", "idle"),
    [
        (Stage.FETCHING, 1, 1, False),
        (Stage.QUEUED, 1, 0, False),
        (Stage.STARTING, 1, 1, False),
        (Stage.RUNNING, 1, 1, False),
        (Stage.SUSPENDED, 1, 1, True),
        (Stage.COPYING, 0, 0, True),
        (Stage.STOPPING, 1, 1, False),
    ],
)
def test_what_each_stage_holds(stage: Stage, executing: int, active: int, idle: bool) -> None:
    worker = Worker()
    worker.run("T1", stage)
    runs = worker.runs
    assert (runs.executing(), runs.active(), runs.idle()) == (executing, active, idle)


def started(worker: Worker, waits: bool = False) -> list[str]:
    worker.runs.start_queued(lambda: waits)
    return [each.task for each in worker.effects(fx.StartChild)]


def test_what_is_queued_starts_in_free_places_and_what_somebody_waits_for_first() -> None:
    worker = Worker(slots=2)
    for name, priority in (("a", 50), ("b", PRIORITY_INTERACTIVE), ("c", 50)):
        worker.run(name, Stage.QUEUED, priority)
    worker.core.stopping = True
    assert started(worker) == []
    worker.core.stopping = False
    assert started(worker) == ["b", "a"]
    assert started(worker) == []
    worker.runs.mine["a"].stage = Stage.COPYING
    assert started(worker, waits=True) == []
    assert started(worker) == ["c"]


def test_what_is_stopped_or_suspended_still_has_its_place() -> None:
    for stage in (Stage.STARTING, Stage.RUNNING, Stage.SUSPENDED, Stage.STOPPING):
        worker = Worker()
        worker.run("a", stage)
        worker.run("b", Stage.QUEUED)
        assert started(worker) == []


# -- the owner ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lets_end_ms", "here_s", "left_ms_", "goes_on"),
    [
        (10_000, 0.0, 10_000, True),
        (10_000, 0.0, 10_001, False),
        (10_000, 4.0, 6_000, True),
        (10_000, 4.0, 6_001, False),
        (10_000, 10.0, 0, False),
        (0, 0.0, 0, False),
    ],
)
def test_who_comes_back_lets_end_what_ends_in_time(
    lets_end_ms: int, here_s: float, left_ms_: int, goes_on: bool
) -> None:
    worker = Worker()
    own = worker.run("T1", Stage.RUNNING)
    worker.core.presence = ev.PresenceChanged(False, True, lets_end_ms=lets_end_ms)
    worker.core.owner_since_s = worker.now_s - here_s
    own.left_ms = left_ms_
    worker.runs.reconcile()
    assert (own.stage is Stage.RUNNING) is goes_on
    assert bool(worker.effects(fx.SuspendChild)) is not goes_on


@pytest.mark.parametrize("stage", list(Stage))
def test_who_comes_back_has_the_machine(stage: Stage) -> None:
    worker = Worker()
    own = worker.run("T1", stage)
    worker.core.presence = ev.PresenceChanged(False, True)
    worker.runs.reconcile()
    told = worker.effects(fx.SuspendChild, fx.StopChild)
    if stage in (Stage.STARTING, Stage.RUNNING):
        assert [type(each) for each in told] == [fx.SuspendChild]
        assert own.stage is Stage.SUSPENDED
        deadline_s = certain(worker.node.next_deadline())
        assert worker.core.timers.armed(TimerKind.HAND_BACK, "T1")
        assert deadline_s <= worker.now_s + Settings().hand_back_s
    elif stage is Stage.QUEUED:
        assert (told, "T1" in worker.runs.mine) == ([], False)
        assert worker.phase("T1") == Evicted(worker.core.settings.words(EndCause("OwnerBack")))
    else:
        assert [type(each) for each in told] == ([fx.StopChild] if stage is Stage.FETCHING else [])


def test_work_that_is_suspended_is_offered_at_once_where_nothing_is_lost_by_it() -> None:
    """It has saved its state, its owner mostly stays, and somebody is free to go on."""
    for saved, stays, peer, after_s in (
        (STATE, True, {}, 0.0),
        (None, True, {}, 300.0),
        (STATE, False, {}, 300.0),
        (STATE, True, None, 300.0),
        (STATE, True, {"suspected": True}, 300.0),
        (STATE, True, {"status": None}, 300.0),
    ):
        worker = Worker()
        own = worker.run("T1", Stage.RUNNING)
        own.run = replace(own.run, checkpoint=saved)
        worker.core.presence = ev.PresenceChanged(False, True, stays=stays)
        if peer is not None:
            worker.peer("pato", **peer)
        assert hand_back_after_s(worker.core, own) == after_s
        worker.core.table.owned_by["pato"] = 1
        assert hand_back_after_s(worker.core, own) == 300.0, "busy with another"


# -- words about runs --------------------------------------------------------------------


def test_a_word_about_a_run_that_is_over_is_counted_alone() -> None:
    worker = Worker()
    own = worker.run("T1", Stage.RUNNING)
    worker.core.take_effects()
    worker.core.wake = False
    worker.runs._word(ev.ChildStopped("T1", (1, 2, "me", 1)))
    worker.runs._word(ev.ChildStopped("T2", run_name(own.run)))
    worker.tell(ev.InputsFetched, own)
    assert worker.core.counters == {
        "word about a run that is over": 2,
        "InputsFetched while running": 1,
    }
    assert (worker.core.wake, worker.effects(fx.Persist)) == (False, [])


def test_nothing_is_thought_of_anew_because_a_program_has_started() -> None:
    worker = Worker()
    own = worker.run("T1", Stage.STARTING)
    worker.core.wake = False
    worker.tell(ev.ChildStarted, own)
    assert (own.stage, worker.core.wake) == (Stage.RUNNING, False)
    worker.tell(ev.ChildSucceeded, own, ())
    assert worker.core.wake
    assert certain(worker.core.table.reading("T1")).state is TaskState.TERMINATED


def test_outputs_are_put_on_disks_of_those_whose_owners_are_away_first() -> None:
    worker = Worker()
    own = worker.run("T1", Stage.RUNNING)
    helps = certain(worker.peer("free").status)
    worker.peer("at work", status=replace(helps, willing=False))
    worker.peer("mute", status=None)
    worker.peer("strange", greeted=False)
    worker.peer("silent", suspected=True)
    worker.core.take_effects()
    worker.tell(ev.ChildSucceeded, own, (Dataset("flour", 10), Dataset("row", 1, external=True)))
    (copying,) = worker.effects(fx.CopyOutputs)
    assert copying.peers[0] == "free"
    assert set(copying.peers[1:]) == {"at work", "mute"}
    assert ([each.dataset for each in copying.outputs], copying.copies) == (["flour"], 2)
    assert own.stage is Stage.COPYING
    worker.tell(ev.OutputsCopied, own, ("me", "free"))
    assert certain(worker.core.table.reading("T1")).state is TaskState.TERMINATED
    assert certain(worker.core.table.reading("T1")).outcome.phase.holders == ("me", "free")  # type: ignore[union-attr]


@pytest.mark.parametrize(("copies", "peers"), [(1, True), (2, False)])
def test_outputs_stay_where_no_second_disk_is_wanted_or_there(copies: int, peers: bool) -> None:
    worker = Worker(copies=copies)
    own = worker.run("T1", Stage.RUNNING)
    if peers:
        worker.peer("free")
    worker.tell(ev.ChildSucceeded, own, (Dataset("flour", 10),))
    assert not worker.effects(fx.CopyOutputs)
    assert certain(worker.core.table.reading("T1")).state is TaskState.TERMINATED
    own = worker.run("T2", Stage.RUNNING)
    worker.tell(ev.ChildCheckpointed, own, STATE)
    assert own.run.checkpoint == STATE
    assert not worker.effects(fx.CopyCheckpoint)


def test_who_stops_says_goodbye_once_when_nothing_is_left() -> None:
    worker = Worker()
    own = worker.run("T1", Stage.RUNNING)
    worker.peer("pato")
    worker.runs._shutdown(ev.Shutdown())
    assert worker.core.wake
    worker.runs.reconcile()
    told = worker.effects(fx.StopChild, fx.Stopped)
    assert [(type(each), each.task) for each in told] == [(fx.StopChild, "T1")]
    worker.tell(ev.ChildStopped, own)
    for _ in range(2):
        worker.runs.reconcile()
    assert len(worker.effects(fx.Stopped)) == 1
