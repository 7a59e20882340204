"""What the model says and decides, row by row: each table is a line of cases and what they come to.

Values lie on both sides of each bound, so that one that moves is seen. The clock is that of UTC.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from agent.api import session
from agent.api.presence_reasons import PausedUntil
from agent.api.reasons import Opaque, PausedByOwner, as_why
from agent.api.values import Capabilities, TaskState
from agent.api.work import Basis
from gui.model.flock import (
    MachineState,
    clock_text,
    machines,
    mark_of_machine,
    round_trip_text,
    state_text,
    system_text,
    up_count,
    work_text,
    work_tip,
)
from gui.model.folding import is_open, task_moved, task_progressed, workflow_moved
from gui.model.marks import (
    Mark,
    mark_of_task,
    mark_of_workflow,
    mark_words,
    state_words,
    task_words,
)
from gui.model.screen import Screen
from gui.model.times import ago, clock, countdown, exact, left, moment, size, span
from gui.model.tray import basis_of
from gui.model.workflows import (
    in_order,
    length_text,
    may_cancel,
    may_retry,
    outlook,
    priority_text,
    progress_text,
    task_outlook,
    task_tip,
    when_tip,
)
from tests.gui.values import (
    NOW_S,
    connected,
    current,
    moved,
    peer,
    peers,
    status,
    task,
    volunteering,
    workflow,
)

NOW_MS = int(NOW_S * 1000)
MINUTE_MS = 60_000
RUNS = {TaskState.RUNNING: 1}
S = TaskState


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """It is 08:00:00 on 2027-01-15."""
    monkeypatch.setenv("TZ", "UTC")
    if hasattr(time, "tzset"):
        time.tzset()
    yield
    monkeypatch.undo()
    if hasattr(time, "tzset"):
        time.tzset()


# -- times -----------------------------------------------------------------------------------


def test_lengths_of_time() -> None:
    lengths = (-5, 0, 89.4, 89.5, 3599, 3600, 5400, 172_799, 172_800, 250_000)
    assert [span(each) for each in lengths] == [
        *("0 s", "0 s", "89 s", "2 min", "1 h", "1 h", "1 h 30 min"),
        *("2 days", "2 days", "3 days"),
    ]
    assert span(172_700) == "47 h 58 min"


def test_moments_of_the_past_and_the_future() -> None:
    before = (0, 89, 90, 5_399, 5_400, 8 * 3600, 8 * 3600 + 1, 32 * 3600, 32 * 3600 + 1)
    assert [ago(NOW_S - each, NOW_S) for each in before] == [
        *("0 s ago", "89 s ago", "2 min ago", "90 min ago", "06:30", "00:00"),
        *("yesterday 23:59", "yesterday 00:00", "2027-01-13"),
    ]
    assert ago(NOW_S + 3, NOW_S) == "0 s ago"
    assert moment(NOW_S, NOW_S) == clock(NOW_S) == "08:00"
    assert exact(NOW_S + 1) == "2027-01-15 08:00:01"
    assert [left(NOW_S + each, NOW_S) for each in (-5, 0, 1, 89, 90, 720)] == [
        *("any moment", "any moment", "1 s left", "89 s left", "2 min left", "12 min left"),
    ]
    assert [countdown(NOW_S + each, NOW_S) for each in (-3, 59, 61, 3599, 3600)] == [
        *("0:00", "0:59", "1:01", "59:59", "1 h"),
    ]


def test_sizes() -> None:
    sizes = (0, 999, 1000, 9_949, 10_000, 999_000, 1_000_000, 2_500_000_000, 10**12, 10**16)
    assert [size(each) for each in sizes] == [
        *("0 B", "999 B", "1.0 kB", "9.9 kB", "10 kB", "999 kB", "1.0 MB", "2.5 GB", "1.0 TB"),
        "10000 TB",
    ]


# -- workflows -------------------------------------------------------------------------------


def test_what_a_workflow_says_of_itself() -> None:
    gates = [task(name, S.WAITING, gate=True) for name in ("look", "sign", "send")]
    broken = [task(name, S.ABORTED, attempt=1) for name in ("a", "b", "c")]
    behind = task("d", S.ABORTED)
    rows = [
        (workflow(state="finished", ended_ms=NOW_MS - MINUTE_MS), [], "done 07:59"),
        (workflow(state="finished"), [], "done"),
        (workflow(state="cancelled"), [], "cancelled"),
        (workflow(state="failed"), [behind], "failed"),
        (workflow(state="failed"), [*broken[:2], behind], "failed: a, b"),
        (workflow(state="failed"), broken, "failed: a, b …"),
        (workflow(), [task("a", S.RUNNING), *gates[:2]], "waits for you: look, sign"),
        (workflow(), gates, "waits for you: look, sign …"),
        (workflow(gates=1), [], "waits for you"),
        (workflow(counts={S.SUSPENDED: 1}), [], "suspended: its machine is needed"),
        (workflow(counts={S.SUSPENDED: 1, S.RUNNING: 1}), [], "running"),
        (workflow(counts={S.SUSPENDED: 1, S.SCHEDULED: 1}), [], "running"),
        (workflow(counts=RUNS, expected_end_ms=NOW_MS + 30_000), [], "30 s left"),
        (workflow(counts=RUNS, begun_ms=NOW_MS - 3 * MINUTE_MS), [], "running for 3 min"),
        (workflow(counts=RUNS, begun_ms=NOW_MS - 3 * MINUTE_MS, gone=1), [], "its machine is gone"),
        (
            workflow(
                counts=RUNS, begun_ms=NOW_MS - 9 * MINUTE_MS, expected_end_ms=NOW_MS - MINUTE_MS
            ),
            [],
            "any moment",
        ),
        (
            workflow(
                counts=RUNS, begun_ms=NOW_MS - 9 * MINUTE_MS, expected_end_ms=NOW_MS - 4 * MINUTE_MS
            ),
            [],
            "running for 9 min",
        ),
        (workflow(), [], "waits for a free machine"),
    ]
    assert [outlook(view, tasks, NOW_S) for view, tasks, _ in rows] == [said for *_, said in rows]


def test_the_tip_and_the_numbers_of_a_workflow() -> None:
    view = workflow(submitted_ms=NOW_MS, counts={S.TERMINATED: 1, S.READY: 2})
    assert when_tip(view) == "Submitted 2027-01-15 08:00:00\nby ana on acor"
    ended = replace(view, host="", ended_ms=NOW_MS + 2000, expected_end_ms=NOW_MS + 1000)
    assert when_tip(ended).splitlines()[1:] == [
        "by ana on ?",
        "Expected end 2027-01-15 08:00:01",
        "Ended 2027-01-15 08:00:02",
    ]
    assert when_tip(replace(view, submitter="")) == "Submitted 2027-01-15 08:00:00"
    assert progress_text(view) == "1/3"
    assert progress_text(workflow()) == "0/3"
    assert [priority_text(each) for each in (100, 50, 75)] == ["interactive", "low", "75"]
    states = ("waiting", "running", "finished", "failed", "cancelled")
    assert [may_cancel(workflow(state=each)) for each in states] == [True] * 2 + [False] * 3
    counts = ({S.ABORTED: 1}, {S.CANCELLED: 1}, {S.TERMINATED: 1})
    assert [may_retry(workflow(counts=each)) for each in counts] == [True, True, False]


@pytest.mark.parametrize(
    ("basis", "said"),
    [
        (Basis(runs=12), ", from 12 earlier runs"),
        (Basis(runs=1), ", from 1 earlier run"),
        (
            Basis(runs=12, low_ms=180_000, high_ms=420_000),
            ", from 12 earlier runs (3 min to 7 min)",
        ),
        (Basis(runs=12, low_ms=240_100, high_ms=240_200), ", from 12 earlier runs"),
        (Basis(told=True), ", from the lengths that were told"),
        (Basis(progress=True), ", from its own progress"),
        (
            Basis(told=True, runs=3, progress=True),
            ", from 3 earlier runs, the lengths that were told and its own progress",
        ),
        (Basis(), ""),
        (None, ""),
    ],
)
def test_a_guess_says_what_it_stands_on_wherever_it_is_told(basis: Basis | None, said: str) -> None:
    """In the tips of lists, of the flock and of the side bar."""
    ends_ms = NOW_MS + 30_000
    row = task("segment", S.RUNNING, expected_end_ms=ends_ms, basis=basis)
    assert task_tip(row, NOW_S) == f"30 s left{said}"
    assert task_tip(replace(row, state=S.SUSPENDED), NOW_S) == "suspended"
    view = workflow(counts=RUNS, expected_end_ms=ends_ms, basis=basis)
    assert f"Expected end 2027-01-15 08:00:30{said}" in when_tip(view).splitlines()
    here = current("segment", expected_end_ms=ends_ms, basis=basis)
    screen = connected(status(tasks=(here,)))
    assert work_tip(machines(screen)[0], NOW_S) == f"segment for line-42, 30 s left{said}"
    assert basis_of(screen) == said.removeprefix(", ")


def test_what_a_task_says_beside_its_state() -> None:
    rows = [
        (task("a", S.RUNNING, expected_end_ms=NOW_MS + 30_000, permille=310), "30 s left"),
        (task("a", S.SCHEDULED, permille=319), "31 %"),
        (task("a", S.RUNNING), ""),
        (
            task(
                "a",
                S.RUNNING,
                gone_ms=1,
                expected_end_ms=NOW_MS,
                reason="no word of acor for 5 min",
            ),
            "no word of acor for 5 min",
        ),
        (task("a", S.RUNNING, begun_ms=NOW_MS - 3 * MINUTE_MS, permille=310), "running for 3 min"),
        (task("a", S.WAITING, asks="look"), "look"),
        (task("a", S.TERMINATED, ended_ms=NOW_MS), "done 08:00"),
        (task("a", S.TERMINATED), ""),
        (task("a", S.READY, reason="outside its hours"), "outside its hours"),
    ]
    assert [task_outlook(each, NOW_S) for each, _ in rows] == [said for _, said in rows]
    lengths = [
        length_text(task("a"), NOW_S),
        length_text(task("a", begun_ms=NOW_MS - 5000), NOW_S),
        length_text(task("a", begun_ms=NOW_MS - 5000, ended_ms=NOW_MS - 3000), NOW_S),
        length_text(task("a", begun_ms=NOW_MS - 5000, gone_ms=NOW_MS - 3000), NOW_S),
    ]
    assert lengths == ["", "5 s", "2 s", "2 s"]


def test_steps_of_people_among_several_that_need_them() -> None:
    steps = [
        task("a"),
        task("b", needs=("gate",)),
        task("c", needs=("gate",)),
        task("gate", gate=True, needs=("a", "elsewhere")),
        task("last", gate=True, needs=("c", "gate")),
    ]
    assert [each.name for each in in_order(steps)] == ["a", "gate", "b", "c", "last"]
    assert in_order(steps[:3]) == steps[:3]
    steps = [
        task("import"),
        task("segment", needs=("import",)),
        task("report", needs=("segment", "approve")),
        task("check", gate=True, needs=("segment",)),
        task("approve", gate=True, needs=("check",)),
        task("archive", gate=True, needs=("report",)),
        task("start", gate=True),
    ]
    names = [each.name for each in in_order(steps)]
    assert names == ["start", "import", "segment", "check", "approve", "report", "archive"]


# -- marks and folding -----------------------------------------------------------------------


def test_marks_and_words_of_states() -> None:
    marks = [mark_of_task(task("a", state, attempt=1)) for state in TaskState]
    assert {state: (mark.value, state_words(state)) for state, mark in zip(S, marks, strict=True)} == {
        S.SUBMITTED: ("waiting", "waiting"),
        S.READY: ("ready", "ready"),
        S.WAITING: ("person", "waits for you"),
        S.SCHEDULED: ("running", "fetching inputs"),
        S.RUNNING: ("running", "running"),
        S.SUSPENDED: ("suspended", "suspended"),
        S.TERMINATED: ("done", "done"),
        S.CANCELLED: ("cancelled", "cancelled"),
        S.ABORTED: ("failed", "failed"),
    }  # fmt: skip
    assert mark_of_task(task("a", S.ABORTED, begun_ms=1)) is Mark.FAILED
    behind = task("report", S.ABORTED, needs=("segment",))
    assert (mark_of_task(behind), task_words(behind)) == (Mark.CANCELLED, "did not run")
    assert [mark_words(each) for each in Mark] == [
        *("waiting", "ready", "running", "suspended", "waits for you", "done", "failed"),
        "cancelled",
    ]


def test_the_mark_of_a_workflow() -> None:
    rows = [
        ("waiting", {S.WAITING: 1}, Mark.PERSON),
        ("running", {S.WAITING: 1, S.RUNNING: 1}, Mark.RUNNING),
        ("running", {S.WAITING: 1, S.SCHEDULED: 1}, Mark.RUNNING),
        ("running", {S.WAITING: 1, S.SUSPENDED: 1}, Mark.PERSON),
        ("finished", {S.WAITING: 1}, Mark.DONE),
        ("running", {S.SUSPENDED: 1}, Mark.SUSPENDED),
        ("running", {S.SUSPENDED: 1, S.SCHEDULED: 1}, Mark.RUNNING),
        ("running", {S.RUNNING: 1}, Mark.RUNNING),
        ("waiting", {S.READY: 1}, Mark.READY),
        ("waiting", {S.SUBMITTED: 1}, Mark.WAITING),
        ("failed", {S.ABORTED: 1}, Mark.FAILED),
        ("cancelled", {S.CANCELLED: 1}, Mark.CANCELLED),
    ]
    assert [mark_of_workflow(workflow(state=a, counts=b)) for a, b, _ in rows] == [
        mark for *_, mark in rows
    ]


def test_a_move_changes_counts_progress_and_ends() -> None:
    view = workflow(counts={S.RUNNING: 1, S.READY: 2}, permille=100, expected_end_ms=9, gates=0)
    done = workflow_moved(view, S.RUNNING, S.TERMINATED, 7)
    assert (done.counts, done.permille, done.tasks) == ({S.READY: 2, S.TERMINATED: 1}, 333, 3)
    assert (done.ended_ms, done.expected_end_ms, done.state) == (0, 9, "waiting")
    failed = workflow_moved(replace(view, counts={S.RUNNING: 1}, tasks=1), S.RUNNING, S.ABORTED, 7)
    assert (failed.permille, failed.ended_ms, failed.expected_end_ms) == (0, 7, 0)
    assert workflow_moved(replace(failed, ended_ms=5), None, S.CANCELLED, 7).ended_ms == 5
    more = workflow_moved(view, None, S.WAITING, 7)
    assert (more.tasks, more.gates, more.counts[S.RUNNING]) == (4, 1, 1)
    ahead = workflow_moved(replace(view, permille=900), S.RUNNING, S.TERMINATED, 7)
    assert ahead.permille == 900
    states = ("waiting", "running", "finished", "failed", "cancelled")
    assert [is_open(workflow(state=each)) for each in states] == [True] * 2 + [False] * 3


def test_a_move_changes_its_task() -> None:
    full = {
        "host": "acor",
        "begun_ms": 3,
        "ended_ms": 4,
        "permille": 500,
        "left_ms": 6,
        "expected_end_ms": 8,
        "reason": "why",
    }

    def after(before: TaskState, now: TaskState, host: str = "") -> tuple[object, ...]:
        each = task_moved(task("a", before, **full), moved("a", before, now, host), 9)
        assert (each.state, each.changed_ms) == (now, 9)
        return (
            *(each.host, each.begun_ms, each.ended_ms, each.permille, each.left_ms),
            *(each.expected_end_ms, each.reason),
        )

    assert after(S.READY, S.SCHEDULED, "b") == ("b", 9, 0, 0, 6, 8, "")
    assert after(S.SCHEDULED, S.RUNNING) == ("acor", 3, 0, 500, 6, 8, "why")
    assert after(S.RUNNING, S.TERMINATED) == ("acor", 3, 9, 1000, 0, 0, "why")
    assert after(S.RUNNING, S.ABORTED) == ("acor", 3, 9, 500, 6, 0, "why")
    assert after(S.ABORTED, S.READY) == ("", 0, 0, 0, 0, 0, "")
    assert after(S.ABORTED, S.CANCELLED) == ("acor", 3, 9, 500, 6, 0, "why")


def test_progress_of_a_task() -> None:
    def told(permille: int, left_ms: int) -> tuple[int, int, int]:
        word = session.TaskProgressed("a", "a", "line-42", "acor", permille, left_ms)
        each = task_progressed(task("a", S.RUNNING, expected_end_ms=5), word, 100)
        return each.permille, each.left_ms, each.expected_end_ms

    assert [told(310, 20), told(1200, 0)] == [(310, 20, 120), (1000, 0, 5)]


# -- machines --------------------------------------------------------------------------------


def test_what_a_machine_has_in_hand() -> None:
    two = (current(expected_end_ms=NOW_MS + 30_000), current("detect"))
    rows = [
        (peer("a", tasks=two[:1]), "segment for line-42, 30 s left"),
        (peer("a", tasks=two), "segment for line-42, 30 s left and 1 more"),
        (peer("a", tasks=(*two, *two[1:])), "segment for line-42, 30 s left and 2 more"),
        (peer("a", tasks=two[1:]), "detect for line-42"),
        (
            peer("a", volunteering=False, reason="in use", tasks=(current(state=S.SUSPENDED),)),
            "segment for line-42, suspended",
        ),
        (peer("a", volunteering=False, reason="outside its hours"), "outside its hours"),
        (peer("a", reason="outside its hours"), ""),
        (peer("a", state="away", reason="outside its hours"), "outside its hours"),
    ]
    seen = [machines(connected(status(), peers(each)))[1] for each, _ in rows]
    assert [work_text(each, NOW_S) for each in seen] == [said for _, said in rows]


def test_what_a_machine_does() -> None:
    rows = [
        (peer("a", running=1), MachineState.RUNNING),
        (peer("a", running=1, tasks=(current(state=S.SUSPENDED),)), MachineState.READY),
        (peer("a", running=2, tasks=(current(state=S.SUSPENDED),)), MachineState.RUNNING),
        (peer("a"), MachineState.READY),
        (peer("a", volunteering=False, owner_present=True), MachineState.OWNER),
        (peer("a", volunteering=False), MachineState.PAUSED),
        (
            peer("a", volunteering=False, running=1, tasks=(current(state=S.SUSPENDED),)),
            MachineState.PAUSED,
        ),
        (peer("a", state="away", tasks=(current(),)), MachineState.AWAY),
    ]
    screen = connected(status(), peers(*(each for each, _ in rows)))
    seen = machines(screen)[1:]
    assert [each.state for each in seen] == [state for _, state in rows]
    assert up_count(screen) == len(rows)
    told = {each.state: (state_text(each), mark_of_machine(each)) for each in seen}
    assert told == {
        MachineState.RUNNING: ("running", Mark.RUNNING),
        MachineState.READY: ("ready to help", Mark.READY),
        MachineState.OWNER: ("in use", Mark.SUSPENDED),
        MachineState.PAUSED: ("does not help", Mark.SUSPENDED),
        MachineState.AWAY: ("cannot be reached", Mark.CANCELLED),
    }
    assert machines(Screen()) == []


def test_this_machine_is_as_it_was_told_last() -> None:
    own = {"volunteering": False, "owner_present": True}
    told = volunteering(**own, reason="Paused: you typed 2 s ago")
    screen = connected(status(**own), peers(peer("b"), **own), told)
    first, second = machines(screen)
    assert (first.own, second.own) == (True, False)
    assert (first.state, first.reason) == (MachineState.OWNER, Opaque("Paused: you typed 2 s ago"))
    assert first.view is screen.node
    paused = connected(status(**own), volunteering(**own, why=as_why(PausedUntil(NOW_MS))))
    assert machines(paused)[0].state is MachineState.PAUSED
    assert machines(connected(status(**own)))[0].state is MachineState.OWNER
    by_hand = peer("b", **own, why=as_why(PausedByOwner()))
    assert machines(connected(status(), peers(by_hand)))[1].state is MachineState.PAUSED


def test_clocks_ways_and_systems_of_machines() -> None:
    ahead = (None, 0, 499, -499, 500, -500, 2_540)
    told = (peer(str(place), clock_ahead_ms=ms) for place, ms in enumerate(ahead))
    assert [clock_text(each) for each in machines(connected(status(), peers(*told)))[1:]] == [
        *("", "right", "right", "right", "0.5 s ahead", "0.5 s behind", "2.5 s ahead"),
    ]
    trips = (None, 0.25, 9.9, 10.0, 42.4)
    told = (peer(str(place), round_trip_ms=ms) for place, ms in enumerate(trips))
    assert [round_trip_text(each) for each in machines(connected(status(), peers(*told)))[1:]] == [
        *("", "0.2 ms", "9.9 ms", "10 ms", "42 ms"),
    ]
    made = Capabilities("Linux", "x86_64", 16_000, 0, 8)
    assert system_text(made) == "Linux, x86_64, 8 cores, 16 GB memory"
    assert system_text(Capabilities("Linux", cores=1)) == "Linux, 1 core"
    assert system_text(Capabilities(memory_mb=1536)) == "2 GB memory"
    assert system_text(Capabilities()) == ""
