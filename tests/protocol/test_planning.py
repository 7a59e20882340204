"""What a node waits for before it plans, whom it passes over, and when places are thought to fall free."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.protocol.clock import TimerKind
from agent.protocol.news import News
from agent.protocol.own_run import Stage
from agent.protocol.placing import InHand, Placing
from agent.protocol.policy import Evidence
from agent.protocol.queue import Queue
from agent.protocol.records import EXPECTED_MS, PRIORITY_INTERACTIVE, TaskSpec, Terminated
from tests.protocol.worker import LONG_MS, Worker

LONG_S = LONG_MS / 1000
INTERACTIVE = {"priority": PRIORITY_INTERACTIVE}


def at_work(worker: Worker, task: str = "T1", **more: Any) -> Queue:
    """The node has just begun a long task."""
    worker.run(task, Stage.RUNNING, **more)
    worker.node._spread_news()
    return worker.node._queue


# -- what is about to end ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("left_s", "is_near"),
    [(0.02, True), (0.021, False), (0.0, True), (-0.25, True), (-0.251, False)],
)
def test_near_is_what_should_end_in_a_moment_or_a_moment_ago(left_s: float, is_near: bool) -> None:
    for told in (True, False):
        worker = Worker()
        queue = at_work(worker)
        if told:
            queue.told_progress("T1", left_s)
        else:
            worker.later(LONG_S - left_s)
        assert queue.due_s("T1") == pytest.approx(left_s)
        assert (queue.near_end_s() is not None) is is_near


def test_only_an_end_for_which_others_wait_has_a_length() -> None:
    worker = Worker()
    queue = at_work(worker)
    queue.told_progress("T1", 0.0)
    assert queue.near_end_s() == 0.0
    worker.ready("T2", after=("T1",))
    assert queue.near_end_s() == LONG_S
    queue.told_progress("T1", 5.0)
    assert queue.near_end_s() is None


def test_short_ends_and_such_of_which_nothing_is_known_are_not_waited_for() -> None:
    for expected_ms in (50, EXPECTED_MS):
        worker = Worker()
        queue = at_work(worker, expected_ms=expected_ms)
        queue.told_progress("T1", 0.0)
        assert queue.near_end_s() is None


def test_what_is_late_takes_as_long_again_as_it_is_late() -> None:
    worker = Worker()
    queue = at_work(worker)
    found = []
    queue.told_progress("T1", 4.0)
    for _ in range(4):
        found.append(queue.left_ms("T1"))
        worker.later(3.0)
    assert found == [4_000, 1_000, 2_000, 5_000]
    queue.told_progress("unknown", 4.0)
    assert "unknown" not in queue.left_s


def test_without_a_word_the_usual_length_counts_from_when_the_run_was_seen() -> None:
    worker = Worker()
    queue = at_work(worker)
    worker.later(100.0)
    assert queue.left_ms("T1") == LONG_MS - 100_000
    assert queue.due_s("T1") == LONG_S - 100.0
    worker.begun("T1", phase=Terminated())
    worker.node._spread_news()
    assert (queue.running_since_s, queue.left_s) == ({}, {})


# -- the queue ---------------------------------------------------------------------------


@pytest.mark.parametrize(("tasks", "kept_s"), [(200, 0.0), (202, 0.101), (400, 0.2)])
def test_much_work_is_put_in_order_less_often(tasks: int, kept_s: float) -> None:
    worker = Worker()
    for number in range(tasks):
        worker.ready(f"T{number}")
    worker.core.news.clear()
    asked: list[float] = []

    def order(_: object) -> list[str]:
        asked.append(worker.now_s)
        return [*worker.core.table.ready]

    worker.core.rule = cast("Any", SimpleNamespace(order=SimpleNamespace(order=order)))
    queue = worker.node._queue
    for after_s in (0.0, max(0.0, kept_s - 0.001), 0.0011):
        worker.later(after_s)
        assert len(list(queue.in_order())) == tasks
    assert len(asked) == (2 if kept_s else 3)


@pytest.mark.parametrize("changes", ["what is known of lengths", "the rules", "nothing"])
def test_an_order_that_is_kept_is_asked_anew_when_what_it_stands_on_changes(changes: str) -> None:
    worker = Worker()
    for number in range(201):
        worker.ready(f"T{number}")
    worker.core.news.clear()
    queue = worker.node._queue
    ordered: list[str] = []
    order = SimpleNamespace(order=lambda _: list(ordered))
    worker.core.rule = cast("Any", SimpleNamespace(order=order))
    assert list(queue.in_order()) == []
    ordered.append("T1")
    if changes == "the rules":
        worker.core.rule = cast("Any", SimpleNamespace(order=order))
    elif changes != "nothing":
        worker.core.lengths.turns += 1
    assert list(queue.in_order()) == ([] if changes == "nothing" else ["T1"])


def test_what_a_lost_owner_left_comes_first_and_what_others_still_have_not_at_all() -> None:
    worker = Worker()
    for number in range(201):
        worker.ready(f"T{number}")
    for number in (7, 9):
        worker.begun(f"T{number}", "pato")
    worker.core.news.clear()
    shares = worker.node._queue._shares
    queue = Queue(worker.core, lambda task: task == "T9", lambda _: "", shares)
    assert len(list(queue.in_order())) == 200
    kept = list(queue.in_order())
    assert (kept[0], len(kept), "T9" in kept) == ("T7", 200, False)


def test_places_are_kept_for_what_is_not_ready_between_what_is() -> None:
    worker = Worker()
    for name in ("first", "claimed", "last"):
        worker.ready(name)
    worker.ready("waits", after=("first",))
    worker.core.news.clear()
    order = SimpleNamespace(order=lambda _: ["first", "waits", "claimed", "last"])
    worker.core.rule = cast("Any", SimpleNamespace(order=order))
    claims = {"claimed": "pato"}
    queue = Queue(
        *(worker.core, lambda _: True, lambda task: claims.get(task, "")),
        worker.node._queue._shares,
    )
    assert list(queue.with_waiting()) == ["first", "waits", "last"]
    assert list(queue.in_order()) == ["first", "last"]
    claims["first"] = claims["last"] = "pato"
    assert list(queue.with_waiting()) == ["waits"]
    order.order = lambda _: ["claimed", "last"]
    claims.clear()
    assert list(queue.with_waiting()) == ["claimed", "last"], "none is kept"


def test_what_becomes_ready_joins_behind_and_what_somebody_waits_for_asks_anew() -> None:
    worker = Worker()
    for number in range(201):
        worker.ready(f"T{number}")
    worker.core.news.clear()
    queue = worker.node._queue
    first = list(queue.in_order())
    for name, more, place in (("low", {}, 201), ("urgent", INTERACTIVE, 0)):
        worker.ready(name, **cast("Any", more))
        (news,) = worker.core.news
        worker.core.news.clear()
        news.workflows.clear()
        queue.on_news(news)
        assert list(queue.in_order()).index(name) == place
    assert [each for each in queue.in_order() if each in first] == first


def test_what_is_claimed_is_not_claimable_nor_what_its_owner_keeps() -> None:
    worker = Worker()
    taken, claimed = {"T1": True}, {"T2": ""}
    queue = Queue(
        worker.core, lambda task: taken[task], lambda task: claimed.get(task, ""), cast("Any", None)
    )
    worker.run("T1", Stage.RUNNING)
    worker.ready("T2")
    assert [queue.claimable(each) for each in ("T1", "T2", "T3")] == [False, True, False]
    taken["T1"], claimed["T2"] = False, "pato"
    assert [queue.claimable(each) for each in ("T1", "T2")] == [True, False]


def test_places_are_those_of_helpers_and_there_is_one_at_least() -> None:
    worker = Worker(slots=2)
    queue = worker.node._queue
    assert queue._picture().slots == 1, "its owner has not said that it may help"
    worker.volunteers()
    assert queue._picture().slots == 2
    worker.peer("pato", slots=3)
    worker.peer("mute", status=None)
    worker.peer("silent", suspected=True)
    worker.peer("busy", willing=False)
    assert (queue._picture().slots, queue._picture().places) == (5, ())


@pytest.mark.parametrize(("others", "found"), [(199, ["next"]), (200, [])])
def test_what_has_a_place_next_is_looked_for_among_little_work_alone(
    others: int, found: list[str]
) -> None:
    worker = Worker()
    worker.volunteers()
    queue = at_work(worker, expected_ms=LONG_MS)
    worker.ready("next", after=("T1",), priority=60)
    for number in range(others - 1):
        worker.ready(f"x{number}", priority=10)
    assert queue.after(["T1"], 0.0) == found


# -- what is waited for before a plan ----------------------------------------------------


@pytest.mark.parametrize(
    ("length_s", "wait_s"), [(1.0, 0.004), (8.0, 0.004), (40.0, 0.02), (120.0, 0.06), (600.0, 0.06)]
)
def test_ends_that_fall_together_are_waited_for_by_their_length(
    length_s: float, wait_s: float
) -> None:
    worker = Worker(slots=2)
    worker.volunteers()
    queue, planning = at_work(worker, expected_ms=int(length_s * 1000)), worker.node._planning
    worker.ready("T2", after=("T1",))
    for number in range(3):
        worker.ready(f"x{number}")
    queue.told_progress("T1", 0.0)
    mine = planning._own_seats()
    assert planning._has_nothing_to_do(mine)
    assert worker.due_in(TimerKind.PLAN) == pytest.approx(wait_s)
    worker.later(wait_s / 2)
    assert planning._has_nothing_to_do(mine), "once is enough"
    assert worker.due_in(TimerKind.PLAN) == pytest.approx(wait_s / 2)
    worker.core.wake = False
    planning.settled()
    assert worker.core.wake
    assert not planning._has_nothing_to_do(mine)


def test_where_everything_has_a_place_nothing_is_waited_for() -> None:
    for slots, waiting, waits in ((3, 2, False), (3, 3, True)):
        worker = Worker(slots=slots)
        worker.volunteers()
        queue, planning = at_work(worker), worker.node._planning
        for number in range(waiting):
            worker.ready(f"x{number}")
        queue.told_progress("T1", 0.0)
        assert planning._has_nothing_to_do(planning._own_seats()) is waits


def test_who_has_more_than_places_brings_none_and_takes_none_from_others() -> None:
    for waiting, waits in ((2, False), (3, True)):
        worker = Worker(slots=3)
        worker.volunteers()
        worker.peer("pato")
        for number in range(2):
            worker.ready(f"theirs {number}")
            worker.begun(f"theirs {number}", "pato")
        queue, planning = at_work(worker), worker.node._planning
        for number in range(waiting):
            worker.ready(f"x{number}")
        queue.told_progress("T1", 0.0)
        assert planning._has_nothing_to_do(planning._own_seats()) is waits


@pytest.mark.parametrize(("maker", "waits"), [("me", False), ("pato", True)])
def test_what_this_node_made_ready_itself_it_goes_on_with_at_once(maker: str, waits: bool) -> None:
    worker = Worker(slots=2)
    worker.volunteers()
    worker.ready("made")
    worker.begun("made", maker, Terminated())
    worker.ready("next", priority=90, after=("made",))
    for number in range(4):
        worker.ready(f"x{number}")
    queue, planning = at_work(worker), worker.node._planning
    queue.told_progress("T1", 0.0)
    assert planning._has_nothing_to_do(planning._own_seats()) is waits


@pytest.mark.parametrize(
    ("stage", "joined", "stopping", "priority", "waits"),
    [
        (None, True, False, PRIORITY_INTERACTIVE, True),
        (None, False, False, PRIORITY_INTERACTIVE, False),
        (None, True, True, PRIORITY_INTERACTIVE, False),
        (None, True, False, PRIORITY_INTERACTIVE - 1, False),
        (Stage.QUEUED, True, False, PRIORITY_INTERACTIVE, True),
        (Stage.RUNNING, True, False, PRIORITY_INTERACTIVE, False),
    ],
)
def test_what_somebody_waits_for_could_begin_in_a_place_that_nothing_holds(
    stage: Stage | None, joined: bool, stopping: bool, priority: int, waits: bool
) -> None:
    worker = Worker()
    worker.volunteers()
    if stage is not None:
        at_work(worker)
        worker.runs.mine["T1"].stage = stage
    worker.ready("urgent", priority=priority)
    worker.core.joined, worker.core.stopping = joined, stopping
    assert worker.node._planning.interactive_waits() is waits


@pytest.mark.parametrize(
    ("whose", "is_open", "has_room", "taken", "noted"),
    [
        ("", True, True, False, False),
        ("me", True, True, True, False),
        ("me", False, True, True, False),
        ("me", True, False, False, False),
        ("pato", True, True, True, False),
        ("pato", True, False, False, False),
        ("pato", False, True, False, True),
    ],
)
def test_a_short_task_is_whose_it_was_drawn_for(
    whose: str, is_open: bool, has_room: bool, taken: bool, noted: bool
) -> None:
    """Of others that are at work it is noted since when it is left to them."""
    worker = Worker()
    worker.volunteers()
    planning, spec = worker.node._planning, worker.ready("T1")
    place: Any = SimpleNamespace(node=whose, open=is_open)
    drawn, mine = (place if whose else None), (place if whose == "me" else None)
    plan = SimpleNamespace(drawn=lambda _: drawn, mine=mine, has_room=lambda *_: has_room)
    began_s = worker.now_s
    for _ in range(2):
        assert (planning._taker_by_lot(spec, cast("Any", plan)) is place) is taken
        worker.later(1.0)
    assert planning._drawn == ({"T1": ("pato", began_s)} if noted else {})
    if noted:
        place.node = "grifo"
        planning._taker_by_lot(spec, cast("Any", plan))
        assert planning._drawn == {"T1": ("grifo", began_s + 2.0)}


# -- what others leave lying -------------------------------------------------------------


@pytest.mark.parametrize(("kind", "after_s"), [("planned", 1.0), ("drawn", 3.0)])
def test_what_lies_with_another_for_too_long_is_planned_without_it(
    kind: str, after_s: float
) -> None:
    worker = Worker()
    planning, timers = worker.node._planning, worker.core.timers
    getattr(planning, f"_{kind}")["T1"] = ("pato", worker.now_s)
    for waited_s, passed_over in ((after_s - 0.001, {}), (0.001, {"T1": {"pato": None}})):
        worker.later(waited_s)
        worker.core.wake = False
        timers.disarm(TimerKind.OVERDUE)
        planning.look_for_overdue()
        assert planning._passed_over == passed_over
        assert worker.core.wake is bool(passed_over)
        assert worker.due_in(TimerKind.OVERDUE) == pytest.approx(1.0)
    planning._forget("T1")
    assert (planning._passed_over, planning._planned, planning._drawn) == ({}, {}, {})
    timers.disarm(TimerKind.OVERDUE)
    planning.look_for_overdue()
    assert not timers.armed(TimerKind.OVERDUE)


def test_since_when_a_task_is_planned_for_somebody_stands_until_another_has_it() -> None:
    worker = Worker()
    planning, began_s = worker.node._planning, worker.now_s
    planning._remember({"T1": planning._since("T1", "pato")})
    assert worker.due_in(TimerKind.OVERDUE) == pytest.approx(1.0)
    worker.later(0.5)
    planning._remember({"T1": planning._since("T1", "pato")})
    assert planning._planned == {"T1": ("pato", began_s)}
    assert worker.due_in(TimerKind.OVERDUE) == pytest.approx(0.5), "it was set already"
    planning._remember({"T1": planning._since("T1", "grifo")})
    assert planning._planned == {"T1": ("grifo", began_s + 0.5)}


def test_whose_turn_it_was_is_forgotten_when_something_becomes_of_the_task() -> None:
    for becomes in ("begun", "ended", "forgotten"):
        worker = Worker()
        planning = worker.node._planning
        worker.ready("T1")
        worker.core.news.clear()
        planning._planned["T1"] = ("pato", 1.0)
        if becomes == "begun":
            worker.begun("T1", "pato")
        elif becomes == "ended":
            worker.begun("T1", "pato", Terminated())
        for news in worker.core.news or [News(forgotten_tasks=["T1"])]:
            planning.on_news(news)
        assert planning._planned == {}


# -- when places fall free ---------------------------------------------------------------


class Known:
    """Tasks take ten seconds, on a slow machine twenty; what ends first has the best score."""

    def of(self, _: TaskSpec, node: str) -> Evidence:
        return Evidence(10_000, 20_000 if node == "slow" else 10_000)

    def usual_ms(self, _: TaskSpec) -> int:
        return 10_000

    def score(self, evidence: Evidence) -> int:
        return 10**6 - evidence.length_ms - evidence.wait_ms

    def data_matter(self, *_: object) -> bool:
        return False


def seat(node: str, slots: int = 1, busy: int = 0) -> Any:
    return SimpleNamespace(node=node, slots=slots, busy=busy, level=(busy // slots, busy))


def placing(*seats: Any, hands: tuple[InHand, ...] = (), weighs: bool = True) -> Placing:
    return Placing(cast("Any", Known()), lambda: hands, seats, weighs=weighs)


MILL = TaskSpec("T9", "T9", "mill")


@pytest.mark.parametrize(
    ("slots", "busy", "left_ms", "free_ms"),
    [
        (1, 0, (), 0),
        (1, 1, (7_000,), 7_000),
        (2, 1, (7_000,), 0),
        (2, 2, (7_000, 5_000), 5_000),
        (1, 2, (7_000, 5_000), 12_000),
        (2, 3, (9_000, 5_000, 1_000), 5_000),
        (1, 1, (), 60_000),
        (1, 2, (7_000,), 14_000),
        (0, 1, (7_000,), 7_000),
    ],
)
def test_a_place_falls_free_when_what_is_there_has_ended(
    slots: int, busy: int, left_ms: tuple[int, ...], free_ms: int
) -> None:
    """What is not seen takes as long as the longest that is, or a minute."""
    hands = tuple(InHand(f"T{number}", "a", each) for number, each in enumerate(left_ms))
    place = SimpleNamespace(node="a", slots=slots, busy=busy, level=(0, busy))
    assert placing(place, hands=hands).wait_ms("a") == free_ms
    assert placing(place, hands=hands, weighs=False).wait_ms("a") == 0
    assert placing(place, hands=hands).wait_ms("unknown") == 0


def test_a_task_goes_where_it_ends_first_and_takes_that_place() -> None:
    fast, slow = seat("fast", busy=1), seat("slow")
    for left_ms, order in ((9_999, ["fast", "slow"]), (10_001, ["slow", "fast"])):
        found = placing(fast, slow, hands=(InHand("T1", "fast", left_ms),))
        assert [each.node for each in found.best(MILL, "", [slow, fast])] == order
        found.take(MILL, "", order[0])
        ends_ms = left_ms + 10_000 if order[0] == "fast" else 20_000
        assert found.ends_ms == {"T1": left_ms, "T9": ends_ms}
        assert found.wait_ms(order[0]) == ends_ms
    found = placing(seat("fast"))
    found.take(MILL, "", "fast", ready_ms=30_000)
    assert found.ends_ms["T9"] == 40_000
    found.take(MILL, "", "unknown")
    assert found.wait_ms("unknown") == 0


def test_of_equals_the_least_busy_then_who_made_the_inputs_then_by_name() -> None:
    busy, a, b, c = seat("0", 3, 1), seat("a", 3), seat("b", 3), seat("c", 3)
    found = placing(busy, a, b, c)
    order = found.best(MILL, "", [busy, c, a, b], makers=["b"])
    assert [each.node for each in order] == ["b", "a", "c", "0"]


def test_a_task_that_is_not_ready_goes_to_whom_is_free_last() -> None:
    hands = (InHand("T1", "a", 2_000), InHand("T2", "b", 5_000))
    a, b = seat("a", 1, 1), seat("b", 1, 1)
    found = placing(a, b, hands=hands)
    for ready_ms, order in ((0, ["a", "b"]), (6_000, ["b", "a"]), (4_000, ["a", "b"])):
        assert [each.node for each in found.best(MILL, "", [a, b], (), ready_ms)] == order


def test_nodes_differ_where_their_scores_do() -> None:
    a, b, slow = seat("a"), seat("b"), seat("slow")
    assert not placing(a, b).differs(MILL, "", [a, b])
    assert placing(a, slow).differs(MILL, "", [a, slow])
    assert not placing(a, slow, weighs=False).differs(MILL, "", [a, slow])
    assert not placing(slow).differs(MILL, "", [slow])
