"""What concerns all parts of a node: its sleep, its rest, its disk, and what others ask of it."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from msgspec.structs import replace

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.clock import TimerKind
from agent.protocol.messages import Goodbye, Hello, Progress, ProgressItem, Stored
from agent.protocol.node import REST_S, ROUNDS_MAX, UNSETTLED
from agent.protocol.own_run import STARTED, LostRuns, Stage, newest_checkpoint, unreadable
from agent.protocol.promises import Promise
from agent.protocol.records import (
    Claim,
    Dataset,
    Evicted,
    Failed,
    Life,
    Lost,
    Phase,
    Run,
    Running,
    Scheduled,
    Suspended,
    Terminated,
)
from agent.protocol.second_runs import COPY
from tests.certain import certain
from tests.protocol.worker import WALL_MS, Worker

CLAIM = Claim(1, (WALL_MS, 0), "a")
STATE = Dataset("state", 10)


def nothing_runs(_: str) -> None:
    """No run is executed."""


# -- sleep and rest ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("late_s", "slept", "starts_over"),
    [(0.99, False, False), (1.0, True, False), (1.99, True, False), (2.0, True, True)],
)
def test_a_late_timer_tells_of_sleep_and_a_later_one_that_others_went_on(
    late_s: float, slept: bool, starts_over: bool
) -> None:
    worker = Worker()
    peer = worker.peer("a")
    worker.node.promises.by_task["T1"] = Promise("a", CLAIM, worker.now_s)
    worker.core.timers._deadlines.clear()
    worker.core.timers.next = None
    worker.core.timers.arm(TimerKind.OVERDUE, worker.now_s + 1.0)
    worker.later(1.0 + late_s)
    worker.node._notice_sleep()
    assert worker.node._slept is slept
    assert (peer.heard_s == worker.now_s) is slept
    assert (worker.core.joined, "T1" in worker.node.promises.by_task) == (
        not starts_over,
        not starts_over,
    )
    peer.heard_s = 0.0
    worker.node._notice_sleep()
    assert peer.heard_s == 0.0, "noticed once"
    worker.core.wake = False
    worker.node._due(ev.Due())
    assert (worker.node._slept, worker.core.wake or not slept) == (False, True)


def test_a_plan_that_has_no_end_rests_after_some_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, rounds = Worker(), 0

    def plan_again() -> None:
        nonlocal rounds
        rounds += 1
        worker.core.wake = rounds < limit

    monkeypatch.setattr(worker.node, "_plan_again", plan_again)
    for limit, counted in ((ROUNDS_MAX - 1, 0), (10**6, 1)):
        rounds, worker.core.wake = 0, True
        worker.node._settle()
        assert rounds == min(limit, ROUNDS_MAX)
        assert worker.core.counters.get(UNSETTLED, 0) == counted
        assert not worker.core.wake
    assert worker.due_in(TimerKind.PLAN) == pytest.approx(REST_S)
    assert (ROUNDS_MAX, REST_S) == (20, 1.0)


def test_while_it_rests_nothing_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    for after_s, slept, plans in ((0.99, False, 0), (1.0, False, 1), (1.0, True, 0)):
        worker = Worker()
        planned = functools.partial(worker.core.count, "planned")
        worker.node._rests_until_s = worker.now_s + 1.0
        worker.node._slept = slept
        monkeypatch.setattr(worker.node._planning, "plan", planned)
        worker.later(after_s)
        worker.node._plan_again()
        assert worker.core.counters.get("planned", 0) == plans


# -- words of peers ----------------------------------------------------------------------


def test_who_has_not_greeted_is_not_heard() -> None:
    worker = Worker()
    worker.peer("a", greeted=False)
    for peer in ("a", "b"):
        worker.node._received(ev.Received(peer, Goodbye("")))
    assert worker.core.counters == {"message before a greeting": 1, "message without a link": 1}
    worker.later(1.0)
    worker.node._received(ev.Received("a", Hello(1, "anna", 1, 0, has_table=True)))
    assert worker.core.peers["a"].greeted
    assert worker.core.peers["a"].heard_s == worker.now_s
    worker.node._received(ev.Received("a", Goodbye("")))
    assert "a" not in worker.core.peers


def test_progress_counts_of_whom_runs_the_task() -> None:
    worker = Worker()
    peer = worker.peer("a")
    for task, host in (("mine", "a"), ("other's", "b")):
        worker.ready(task)
        worker.begun(task, host)
    worker.ready("nobody's")
    worker.node._spread_news()
    worker.core.take_effects()
    told = (
        ProgressItem("mine", 1, 300, 4_000),
        ProgressItem("other's", 1, 300, 4_000),
        ProgressItem("nobody's", 1, 300, 4_000),
        ProgressItem("unknown", 1, 300, 4_000),
    )
    worker.node._progress(peer, Progress(told))
    shown = [
        each.task for each in worker.core.take_effects() if isinstance(each, fx.TaskProgressed)
    ]
    assert shown == ["mine", "nobody's"]
    assert worker.node._queue.left_s == {"mine": (4.0, worker.now_s)}
    worker.node._queue.left_s.clear()
    worker.node._progress(peer, Progress((ProgressItem("mine", 1, 0, 4_000),)))
    assert worker.node._queue.left_s == {}, "it has said nothing"


def test_peers_that_help_come_first_of_those_that_can_be_reached() -> None:
    worker = Worker()
    worker.peer("c")
    worker.peer("b", willing=False)
    worker.peer("a", status=None)
    worker.peer("d")
    worker.peer("e", suspected=True)
    worker.peer("f", greeted=False)
    assert worker.node.reachable() == ("c", "d", "a", "b")


def test_what_a_host_may_be_at_is_promised_its_own_or_a_copy_with_consent() -> None:
    worker = Worker()
    for task in ("promised", "owned", "copied", "plain", "ended", "other's"):
        worker.ready(task)
    worker.begun("owned", "a")
    worker.begun("other's", "b")
    promises = worker.node.promises
    promises.by_task["promised"] = Promise("a", CLAIM, worker.now_s)
    promises.by_task["unknown"] = Promise("a", CLAIM, worker.now_s)
    promises.by_task["of b"] = Promise("b", CLAIM, worker.now_s)
    for task, phase, copy in (
        ("copied", Running(), True),
        ("plain", Running(), False),
        ("ended", Evicted(), True),
    ):
        worker.begun(task, "b")
        run = worker.begun(task, "a", phase)
        run = replace(run, attempt=1, claim=CLAIM, more={COPY: b"\xc3"} if copy else {})
        worker.core.table.lives[task] = Life(1, runs=(run,))
        promises.given[task, "a"] = CLAIM
    found = list(worker.node.work_of("a"))
    assert set(found) - {"plain"} == {"promised", "owned", "copied"}


# -- the disk ----------------------------------------------------------------------------


def test_what_the_disk_refused_does_not_begin_and_all_else_is_done() -> None:
    worker = Worker()
    own = worker.run("T1", Stage.STARTING)
    worker.core.take_effects()
    start = fx.StartChild("T1", (1, 1, "me", worker.core.incarnation), own.spec, (), "", "w", False)
    done = fx.Answer("done", fx.Verdict.DONE)
    refused = fx.Answer("refused", fx.Verdict.REFUSED)
    receipt, goodbye = fx.Send(("a",), Stored(())), fx.Send(("a",), Goodbye(""))
    dropped = (start, done, refused, receipt, goodbye)
    worker.node._persist_failed(ev.PersistFailed(fx.Persist(fx.Identity(1, 10, (0, 0))), dropped))
    effects = worker.core.take_effects()
    assert not worker.core.disk_usable
    assert "T1" not in worker.runs.mine
    carried_out = [each in effects for each in (refused, goodbye, done, receipt, start)]
    assert carried_out == [True, True, False, False, False]
    worker.core.wake = False
    worker.node._disk_usable(ev.DiskUsable())
    assert (worker.core.disk_usable, worker.core.wake) == (True, True)
    assert done in worker.core.take_effects()
    worker.node._disk_usable(ev.DiskUsable())
    assert done not in worker.core.take_effects(), "once"


# -- runs of earlier starts --------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "ended"),
    [
        (Running(), Lost(True)),
        (Suspended(), Lost(True)),
        (Scheduled(), Lost(False)),
        (Terminated(), None),
        (Failed("wet"), None),
    ],
)
def test_what_an_earlier_start_has_begun_is_ended_as_lost(
    phase: Phase, ended: Phase | None
) -> None:
    worker = Worker()
    worker.ready("T1")
    run = worker.begun("T1", "me", phase)
    lost = LostRuns(worker.core, worker.node._liveness, nothing_runs)
    lost.end_all()
    (found,) = worker.core.table.life("T1").runs
    assert found.phase == (phase if ended is None else ended)
    assert found.revision == run.revision + (ended is not None)


def test_a_run_that_is_executed_or_of_another_is_not_lost() -> None:
    for host, executed, is_lost in (("me", True, False), ("a", False, False), ("me", False, True)):
        worker = Worker()
        own = worker.run("T1", Stage.RUNNING)
        worker.core.table.lives["T1"] = Life(1, runs=(replace(own.run, host=host),))
        found = worker.runs.mine if executed else {}
        LostRuns(worker.core, worker.node._liveness, found.get).end_all()
        assert isinstance(worker.phase("T1"), Lost) is is_lost


def test_a_run_of_a_later_start_raises_this_one_above_it() -> None:
    worker = Worker()
    mine = worker.core.incarnation
    worker.ready("T1")
    run = worker.begun("T1", "me")
    for told, raised in ((mine, mine), (mine + 7, mine + 8)):
        life = Life(1, runs=(replace(run, incarnation=told),))
        worker.core.table.lives["T1"] = life
        LostRuns(worker.core, worker.node._liveness, nothing_runs).end_all()
        assert worker.core.incarnation == raised


# -- what a later run begins with --------------------------------------------------------


def run(attempt: int, phase: Phase, **more: Any) -> Run:
    return Run(1, attempt, "a", 1, CLAIM, 1, phase=phase, **more)


@pytest.mark.parametrize(
    ("earlier", "found"),
    [
        ([run(1, Lost(True), checkpoint=STATE)], "state"),
        ([run(1, Lost(True))], ""),
        ([run(1, Failed("wet"), checkpoint=STATE)], ""),
        ([run(1, Lost(True), checkpoint=STATE, inputs=("other",))], ""),
        ([replace(run(1, Lost(True), checkpoint=STATE), generation=2)], ""),
        (
            [run(1, Lost(True), checkpoint=STATE), run(2, Lost(True), checkpoint=Dataset("new"))],
            "new",
        ),
        (
            [run(1, Lost(True), checkpoint=STATE), run(2, Lost(True), checkpoint=Dataset("gone"))],
            "state",
        ),
    ],
)
def test_the_latest_state_that_counts_is_gone_on_with(earlier: list[Run], found: str) -> None:
    life = Life(1, runs=tuple(earlier))
    assert newest_checkpoint(life, run(3, Scheduled()), lambda each: each != "gone") == found


def test_outputs_that_no_record_holds_are_refused_in_words() -> None:
    assert unreadable((STATE, Dataset("x" * 256))) is None
    for bad in (Dataset("x" * 257), Dataset(""), Dataset("a", -1), Dataset("\ud800")):
        assert certain(unreadable((bad,))).kind == "BadOutput"
    assert STARTED == 2
    worker = Worker()
    worker.tell(ev.ChildSucceeded, worker.run("T1", Stage.RUNNING), (Dataset(""),))
    assert isinstance(worker.phase("T1"), Failed)
    own = worker.run("T2", Stage.RUNNING)
    worker.tell(ev.ChildCheckpointed, own, Dataset(""))
    assert own.run.checkpoint is None
    assert worker.core.counters == {"checkpoint that cannot be named": 1}
