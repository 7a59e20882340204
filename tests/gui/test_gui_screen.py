"""What the screen shows after notices, without Qt and without an agent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import pytest

from agent.api import session
from agent.api.values import Position, TaskState
from agent.api.volunteering import SourceStanding
from agent.api.work import StatusReply, WorkflowView
from gui.model.flock import (
    load_text,
    machines,
    work_text,
)
from gui.model.marks import Mark
from gui.model.news import NewsKind
from gui.model.notices import StatusPage
from gui.model.queue import Queue
from gui.model.screen import Changes, Screen
from gui.model.sources import source_mark, source_tip
from gui.model.tray import tray_of
from gui.model.workflows import Totals, retry_from
from tests.gui.values import (
    LOG,
    NOW_S,
    chain,
    connected,
    current,
    happened,
    moved,
    node,
    peer,
    peers,
    shown,
    status,
    task,
    workflow,
)

VIEW = workflow()
NOW_MS = int(NOW_S * 1000)
S = TaskState
OLD = workflow(counts={S.ABORTED: 1}, state="failed", ended_ms=5)
FELL = task("a", S.ABORTED, host="acor", permille=300, ended_ms=5, reason="it fell")
ALL_BUT_ONE = workflow(counts={S.TERMINATED: 2, S.RUNNING: 1}, state="running")
ENDS_SOON = workflow(counts={S.RUNNING: 1}, expected_end_ms=NOW_MS + 5_000)
RUNS, LOW = workflow(counts={S.RUNNING: 1}), workflow("low", counts={S.READY: 1, S.WAITING: 1})
HALF = [status(LOW), shown(LOW, task("a", S.READY))]
HALF_RUNS = happened(1, moved("a", S.READY, S.RUNNING, where="low"))
NEW = shown(workflow("new", counts={S.WAITING: 2}))
NEWER = happened(1, moved("a", None, S.READY, where="line-17"))


def of(screen: Screen, name: str = "line-42") -> WorkflowView:
    return screen.workflows[name]


FOLDS: dict[str, tuple[Sequence[Any], Sequence[Any], Callable[[Screen, Changes], object], object]]
FOLDS = {
    "an event moves counts, state and task": (
        [status(VIEW), shown(VIEW, *chain())],
        [happened(1, moved("import", S.READY, S.RUNNING, "garajau"))],
        lambda screen, changes: (
            *(of(screen).state, of(screen).counts, screen.tasks["line-42"]["import"].host),
            *(changes.workflows, changes.tasks, changes.flock),
        ),
        ("running", {S.RUNNING: 1, S.SUBMITTED: 2}, "garajau", {"line-42"}, {"line-42"}, True),
    ),
    "an event that a page already has changes nothing": (
        [status(VIEW, sequence=5)],
        [happened(5, moved("import", S.READY, S.RUNNING))],
        lambda screen, _: of(screen),
        VIEW,
    ),
    "an unknown workflow is wanted": (
        [status(VIEW)],
        [NEWER],
        lambda _, changes: changes.wanted,
        {"line-17"},
    ),
    "once it is known it is first": (
        [status(VIEW)],
        [NEWER, shown(workflow("line-17"), task("a", S.READY))],
        lambda screen, _: list(screen.workflows),
        ["line-17", "line-42"],
    ),
    "the first event of all counts for a workflow that was read alone": (
        [status(), shown(VIEW, *chain())],
        [happened(1, moved("import", S.READY, S.RUNNING))],
        lambda screen, _: of(screen).counts,
        {S.RUNNING: 1, S.SUBMITTED: 2},
    ),
    "the last task ends its workflow and progress is full": (
        [status(ALL_BUT_ONE)],
        [happened(1, moved("c", S.RUNNING, S.TERMINATED))],
        lambda screen, _: (of(screen).state, of(screen).permille, of(screen).ended_ms),
        ("finished", 1000, NOW_MS),
    ),
    "a retry takes back what had ended": (
        [status(OLD), shown(OLD, FELL)],
        [happened(1, moved("a", S.ABORTED, S.READY))],
        lambda screen, _: (
            of(screen).ended_ms,
            *attrgetter("host", "permille", "ended_ms", "reason")(screen.tasks["line-42"]["a"]),
        ),
        (0, "", 0, 0, ""),
    ),
    "progress is of the task and tells its end": (
        [status(RUNS), shown(RUNS, task("a", S.RUNNING))],
        [happened(1, session.TaskProgressed("a", "a", "line-42", "acor", 250, 30_000))],
        lambda screen, _: attrgetter("permille", "expected_end_ms")(screen.tasks["line-42"]["a"]),
        (250, NOW_MS + 30_000),
    ),
    "no workflow is to end before a task of it": (
        [status(ENDS_SOON), shown(ENDS_SOON, task("a", S.RUNNING))],
        [happened(1, session.TaskProgressed("a", "a", "line-42", "acor", 250, 30_000))],
        lambda screen, changes: (of(screen).expected_end_ms, changes.workflows),
        (NOW_MS + 30_000, {"line-42"}),
    ),
    "one that goes on after its task ends when it did": (
        [status(ENDS_SOON), shown(ENDS_SOON, task("a", S.RUNNING))],
        [happened(1, session.TaskProgressed("a", "a", "line-42", "acor", 250, 1_000))],
        lambda screen, _: of(screen).expected_end_ms,
        NOW_MS + 5_000,
    ),
    "a new status forgets what is no more": (
        [status(VIEW), shown(VIEW, *chain())],
        [status(workflow("line-17"))],
        lambda screen, _: (list(screen.workflows), screen.tasks),
        (["line-17"], {}),
    ),
    **{
        f"totals follow every change of a workflow: {totals}": (
            HALF,
            then,
            lambda screen, _: screen.totals,
            totals,
        )
        for then, totals in (
            ([], Totals(0, 1, 0)),
            ([HALF_RUNS], Totals(1, 1, 1)),
            ([HALF_RUNS, NEW], Totals(1, 3, 1)),
            ([HALF_RUNS, NEW, status(LOW)], Totals(0, 1, 0)),
        )
    },
}


@pytest.mark.parametrize(("before", "then", "seen", "value"), FOLDS.values(), ids=FOLDS)
def test_what_is_heard_changes_what_is_shown(
    before: Sequence[Any],
    then: Sequence[Any],
    seen: Callable[[Screen, Changes], object],
    value: object,
) -> None:
    screen = connected(*before)
    assert seen(screen, screen.fold(list(then))) == value


def test_retry_from_a_task_takes_what_hangs_on_it() -> None:
    tasks = [
        task("a", TaskState.TERMINATED),
        task("b", TaskState.ABORTED, needs=("a",)),
        task("c", TaskState.ABORTED, needs=("b",)),
        task("d", TaskState.ABORTED),
    ]
    assert retry_from(tasks[1], tasks) == ("b", "c")


# -- queue and flock -----------------------------------------------------------------------


def test_the_queue_is_in_the_order_of_the_flock() -> None:
    low = workflow("low", counts={TaskState.READY: 1}, submitted_ms=1)
    high = workflow("high", counts={TaskState.READY: 1}, submitted_ms=2, priority=100)
    screen = connected(
        status(low, high),
        shown(low, task("a", TaskState.READY), task("r", TaskState.RUNNING)),
        shown(high, task("b", TaskState.READY), task("g", TaskState.WAITING)),
    )
    queue = Queue()
    rows = queue.rows(screen.workflows, screen.tasks)
    assert [row.task.name for row in rows] == ["r", "g", "b", "a"]
    assert queue.rows(screen.workflows, screen.tasks)[0] is rows[0]


def test_a_list_that_is_read_again_page_by_page_never_shrinks_meanwhile() -> None:
    views = [workflow(f"w{number}", counts={TaskState.WAITING: 1}) for number in range(4)]
    screen = connected(status(*views))
    pages = [
        StatusPage(first, StatusReply(node(), (each,), 2, Position(LOG, 0)))
        for first, each in enumerate((workflow("new"), views[1]))
    ]
    screen.fold([pages[0]])
    assert set(screen.workflows) == {"new", "w0", "w1", "w2", "w3"}
    changes = screen.fold([pages[1]])
    assert list(screen.workflows) == ["new", "w1"]
    assert (screen.total, Screen().total) == (2, 0)
    assert changes.everything
    assert screen.totals.gates == 1


def test_the_queue_follows_what_changed_as_if_it_looked_at_everything() -> None:
    views = [
        workflow(f"w{number}", submitted_ms=number, priority=number % 3) for number in range(9)
    ]
    pages = [shown(view, task(f"{view.name} a", TaskState.READY)) for view in views]
    screen, followed = connected(status(*views), *pages), Queue()
    known = screen.workflows, screen.tasks
    followed.rows(*known)
    for number, after in enumerate((TaskState.RUNNING, TaskState.TERMINATED, TaskState.READY), 1):
        name = f"w{number}"
        changes = screen.fold(
            [happened(number, moved(f"{name} a", TaskState.READY, after, where=name))]
        )
        for typed in ("", "w2"):
            seen = followed.rows(*known, typed, changes.workflows | changes.tasks)
            anew = Queue()
            assert seen == anew.rows(*known, typed)
            assert followed.total == anew.total
    del screen.workflows["w5"]
    assert "w5 a" not in [row.task.task for row in followed.rows(*known, "", {"w5"})]


def test_a_row_of_the_queue_shows_another_priority_at_once() -> None:
    view = workflow("low", counts={TaskState.READY: 1})
    screen, queue = connected(status(view), shown(view, task("a", TaskState.READY))), Queue()
    before = queue.rows(screen.workflows, screen.tasks)
    screen.fold([shown(workflow("low", priority=100), *screen.tasks["low"].values())])
    after = queue.rows(screen.workflows, screen.tasks, "", {"low"})
    assert (before[0].workflow.priority, after[0].workflow.priority) == (10, 100)


def test_a_row_of_the_queue_shows_the_priority_of_its_own_task_first_of_its_workflow() -> None:
    view = workflow("low", counts={TaskState.READY: 2})
    tasks = (task("a", TaskState.READY), task("b", TaskState.READY, priority=100))
    screen = connected(status(view), shown(view, *tasks))
    rows = Queue().rows(screen.workflows, screen.tasks)
    assert [(row.task.name, row.priority) for row in rows] == [("b", 100), ("a", 10)]


# -- troubles and tray ---------------------------------------------------------------------


def test_the_time_left_here_goes_by_without_another_look_at_the_machine() -> None:
    ends_ms = int((NOW_S + 30) * 1000)
    own = task("id-segment", TaskState.RUNNING, expected_end_ms=ends_ms)
    here = current(task="id-segment", expected_end_ms=ends_ms + 720_000)
    view = workflow(counts={TaskState.RUNNING: 1})
    screen = connected(status(view, tasks=(here,)), shown(view, own))
    assert tray_of(screen, NOW_S + 10).sentence == "Running segment for line-42, 20 s left"
    assert work_text(machines(screen)[0], NOW_S + 10) == "segment for line-42, 20 s left"
    screen.quitting = True
    said = tray_of(screen, NOW_S + 10).sentence
    assert said == "Running segment for line-42, 20 s left; quits after that"


def test_who_joined_a_flock_here_need_not_be_told_of_it() -> None:
    screen = connected(status(node=node(flock="")))
    joined = session.FlockChanged("office")
    assert screen.fold([happened(1, joined)]).news == []
    screen.fold([status(node=node(flock="office"))])
    changes = screen.fold([happened(2, joined)])
    assert [news.kind for news in changes.news] == [NewsKind.FLOCK]


def test_two_hundred_events_a_second_cost_little_of_it() -> None:
    """Folded with 2,000 workflows and 20,000 tasks known; a generous share of a busy machine."""
    views = [workflow(f"w{number}", counts={TaskState.READY: 10}) for number in range(2_000)]
    screen = connected(status(*views))
    for view in views:
        tasks = [task(f"{view.name}/{place}", TaskState.READY) for place in range(10)]
        screen.fold([shown(view, *tasks)])
    events = [
        happened(
            number + 1,
            moved(f"w{number}/0", TaskState.READY, TaskState.RUNNING, where=f"w{number}"),
        )
        for number in range(2_000)
    ]
    begin_s = time.process_time()
    screen.fold(events)
    assert time.process_time() - begin_s < 2.0
    assert sum(view.state == "running" for view in screen.workflows.values()) == 2_000


# -- what did not run, and what holds back -------------------------------------------------


@pytest.mark.parametrize(
    ("standing", "mark", "tip"),
    [
        ("unasked", Mark.WAITING, "Is not asked by these rules"),
        ("unseen", Mark.CANCELLED, "Cannot see"),
        ("free", Mark.DONE, "Lets this computer help"),
        ("holds", Mark.SUSPENDED, "Keeps this computer from helping"),
    ],
)
def test_a_source_that_holds_back_has_no_tick(
    standing: SourceStanding, mark: Mark, tip: str
) -> None:
    assert (source_mark(standing), source_tip(standing)) == (mark, tip)


def test_the_load_is_told_of_this_machine_and_the_others() -> None:
    others = (peer("cagarro", load_percent=12), peer("milhafre", state="away"))
    screen = connected(status(load_percent=40), peers(*others, load_percent=40))
    assert [load_text(each) for each in machines(screen)] == ["40 %", "12 %", ""]
