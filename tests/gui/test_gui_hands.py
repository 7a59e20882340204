"""Rows that events bring: they are shown as they are, and nothing is asked that was just told."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.api import session
from agent.api.flock import PeerView
from agent.api.reasons import CancelledStopping, as_why
from agent.api.session import Event
from agent.api.values import Capabilities, TaskState
from agent.api.work import TaskView
from gui.model.notices import FlockPart
from tests.certain import certain
from tests.gui.values import (
    chain,
    connected,
    happened,
    moved,
    node,
    peer,
    peers,
    shown,
    status,
    task,
    volunteering,
    workflow,
)


def test_the_row_that_an_event_brings_is_shown_and_nothing_is_asked() -> None:
    view = workflow()
    screen = connected(status(view), shown(view, *chain()), peers(peer("garajau"), peer("ilha")))
    row = task("import", TaskState.RUNNING, host="garajau", host_node="id-garajau", attempt=2)
    behind = task("segment", needs=("import",), reason="waits for import")
    told = replace(moved("import", TaskState.READY, TaskState.RUNNING), rows=(row, behind))
    changes = screen.fold([happened(1, told)])
    assert screen.tasks["line-42"]["import"] is row
    assert screen.tasks["line-42"]["segment"] is behind
    assert (changes.stale, changes.parts, changes.flock) == (set(), set(), True)
    assert screen.peers is not None
    assert [[each.name for each in one.tasks] for one in screen.peers.peers] == [["import"], []]
    assert [each.running for each in screen.peers.peers] == [1, 0]


def test_an_answer_that_is_ahead_of_its_events_is_not_counted_twice() -> None:
    view = workflow(state="running", counts={TaskState.RUNNING: 2})
    screen = connected(status(view))
    changes = screen.fold([happened(1, moved("import", TaskState.READY, TaskState.RUNNING))])
    assert screen.workflows["line-42"].counts == {TaskState.RUNNING: 2}
    assert changes.wanted == {"line-42"}


def test_a_task_is_in_the_hands_of_whoever_has_it_now() -> None:
    view = workflow()
    screen = connected(status(view), shown(view, *chain()), peers(peer("garajau")))

    def move(sequence: int, state: TaskState, node: str, **more: object) -> list[list[int]]:
        row = task("import", state, host_node=node, **more)
        told = replace(moved("import", TaskState.READY, state), rows=(row,))
        screen.fold([happened(sequence, told)])
        own, (other,) = certain(screen.node), certain(screen.peers).peers
        return [[len(own.tasks), own.running], [len(other.tasks), other.running]]

    assert move(1, TaskState.SCHEDULED, "n1") == [[1, 0], [0, 0]]
    assert move(2, TaskState.RUNNING, "n1") == [[1, 1], [0, 0]]
    assert move(3, TaskState.RUNNING, "id-garajau") == [[0, 0], [1, 1]]
    progress = session.TaskProgressed("import", "import", "line-42", "garajau", 250, 30_000)
    screen.fold([happened(4, progress)])
    assert certain(screen.peers).peers[0].tasks[0].permille == 250
    assert move(5, TaskState.TERMINATED, "id-garajau") == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("told", "parts"),
    [
        (peer("garajau", load_percent=90), set()),
        (peer("garajau", capabilities=Capabilities(programs=("map",))), {FlockPart.PROGRAMS}),
        (replace(peer("garajau"), name="ilha"), {FlockPart.MEMBERS}),
        (peer("garajau", state="away"), {FlockPart.PROGRAMS}),
        (peer("new"), {FlockPart.MEMBERS, FlockPart.PROGRAMS}),
    ],
)
def test_the_row_of_a_machine_says_what_else_is_to_be_read(
    told: PeerView, parts: set[FlockPart]
) -> None:
    screen = connected(status(workflow()), peers(peer("garajau"), peer("zimbro")))
    changes = screen.fold([happened(1, session.PeerChanged(told.node, told))])
    assert (changes.parts, changes.flock) == (parts, True)
    assert screen.peers is not None
    assert told in screen.peers.peers
    names = [each.name for each in screen.peers.peers]
    assert names == sorted(
        {"garajau", "zimbro", told.name} - {"garajau" if told.name == "ilha" else ""}
    )


def test_what_this_machine_says_of_itself_is_shown() -> None:
    screen = connected(status(workflow()))
    busy = node(load_percent=80)
    changes = screen.fold([happened(1, session.PeerChanged("n1", own=busy))])
    assert (screen.node, changes.node, changes.parts) == (busy, True, set())


def test_presence_that_comes_whole_is_shown_whole() -> None:
    screen = connected(status(workflow()), volunteering())
    view = volunteering(volunteering=False, paused=True, paused_until_ms=5)
    told = session.VolunteeringChanged(False, False, "paused", True, view)
    assert screen.fold([happened(1, told)]).volunteering
    assert screen.volunteering is view


# -- in which order answers and events come ------------------------------------------------


def told(sequence: int, before: TaskState, row: TaskView, *others: TaskView) -> Event:
    """A move with its row, and those of others."""
    happening = moved(row.task, before, row.state, where=row.workflow)
    return happened(sequence, replace(happening, rows=(row, *others)))


def own_row(state: TaskState, **changes: object) -> TaskView:
    return task("import", state, **{"host_node": "n1", **changes})


def test_what_begins_before_its_workflow_is_known_is_in_hand() -> None:
    screen = connected(status(), peers())
    row = own_row(TaskState.SCHEDULED, workflow="new")
    began = replace(row, state=TaskState.RUNNING)
    changes = screen.fold(
        [told(1, TaskState.READY, row), told(2, TaskState.SCHEDULED, began)],
    )
    assert (changes.wanted, changes.node) == ({"new"}, True)
    assert [each.state for each in certain(screen.node).tasks] == [TaskState.RUNNING]


def test_what_has_ended_before_an_answer_is_in_nobody_s_hand() -> None:
    view = workflow(counts={TaskState.RUNNING: 1})
    row = own_row(TaskState.RUNNING)
    screen = connected(status(view), shown(view, row), peers())
    screen.fold([told(1, TaskState.READY, row)])
    ended = replace(row, state=TaskState.TERMINATED)
    done = workflow(counts={TaskState.TERMINATED: 1})
    screen.fold([shown(done, ended, sequence=2), told(2, TaskState.RUNNING, ended)])
    assert certain(screen.node).tasks == ()


def test_an_outlook_does_not_make_rows_newer_than_they_are() -> None:
    view = workflow(counts={TaskState.RUNNING: 1, TaskState.SUBMITTED: 2})
    screen = connected(status(view), shown(view, own_row(TaskState.RUNNING), *chain()[1:]))
    ended = own_row(TaskState.TERMINATED)
    later = workflow(counts={TaskState.TERMINATED: 1, TaskState.SUBMITTED: 2})
    screen.fold([shown(later, ended, sequence=1), told(1, TaskState.RUNNING, ended)])
    assert screen.tasks["line-42"]["import"] is ended
    assert screen.workflows["line-42"] is later, "its counts have the event already"


def test_an_answer_that_events_have_overtaken_takes_nothing_back() -> None:
    view = workflow(counts={TaskState.RUNNING: 1, TaskState.SUBMITTED: 2})
    begun = own_row(TaskState.RUNNING)
    screen = connected(status(view), shown(view, begun, *chain()[1:]))
    ended = own_row(TaskState.TERMINATED)
    screen.fold([told(2, TaskState.RUNNING, ended)])
    counts = screen.workflows["line-42"].counts
    other = replace(chain()[1], reason="waits for a person")
    screen.fold([shown(replace(view, priority=90), begun, other, chain()[2], sequence=1)])
    assert screen.tasks["line-42"]["import"] is ended
    assert screen.tasks["line-42"]["segment"] is other
    seen = screen.workflows["line-42"]
    assert (seen.counts, seen.state, seen.priority) == (counts, "waiting", 90)


def test_a_row_that_is_older_than_an_answer_stays_away_also_in_another_workflow() -> None:
    view, other = workflow(), workflow("other", counts={TaskState.READY: 1})
    newer = task("map", TaskState.READY, workflow="other")
    screen = connected(status(view, other), shown(view, *chain()), shown(other, newer, sequence=3))
    older = task("map", workflow="other", reason="waits for import")
    ended = own_row(TaskState.TERMINATED)
    screen.fold([told(2, TaskState.RUNNING, ended, older)])
    assert screen.tasks["line-42"]["import"] is ended
    assert screen.tasks["other"]["map"] is newer


def test_progress_from_before_an_answer_is_past() -> None:
    view = workflow(counts={TaskState.TERMINATED: 1})
    ended = own_row(TaskState.TERMINATED, permille=1000)
    screen = connected(status(view), shown(view, ended, sequence=2))
    screen.fold(
        [happened(1, session.TaskProgressed("import", "import", "line-42", "acor", 250, 9))]
    )
    assert screen.tasks["line-42"]["import"] is ended


def test_who_has_a_task_is_not_known_from_a_name_alone() -> None:
    """An agent of before tells no rows: machines are read, and progress does not change hands."""
    view = workflow(counts={TaskState.RUNNING: 1})
    screen = connected(status(view), shown(view, own_row(TaskState.RUNNING, host="acor")))
    move = moved("import", TaskState.RUNNING, TaskState.RUNNING, "garajau")
    screen.fold([happened(1, move)])
    assert screen.tasks["line-42"]["import"].host_node == ""
    row = own_row(TaskState.RUNNING, host_node="id-garajau")
    read = connected(peers(peer("garajau")))
    read.fold([status(view), told(1, TaskState.READY, row)])
    screen.fold([peers(*certain(read.peers).peers)])
    progress = session.TaskProgressed("import", "import", "line-42", "garajau", 250, 30_000)
    screen.fold([happened(2, progress)])
    assert (certain(screen.node).tasks, len(certain(screen.peers).peers[0].tasks)) == ((), 1)


# -- what rows leave out -------------------------------------------------------------------


def test_what_is_cancelled_while_it_runs_is_read_again_and_when_it_has_stopped() -> None:
    view = workflow()
    stopping = own_row(TaskState.CANCELLED, why=as_why(CancelledStopping(("acor",))))
    screen = connected(status(view), shown(view, *chain()))
    assert screen.fold([told(1, TaskState.READY, own_row(TaskState.CANCELLED))]).stale == set()
    assert screen.fold([told(2, TaskState.RUNNING, stopping)]).stale == {"line-42"}
    assert screen.is_stopping("line-42")
    over = session.CancelFinished("import", "import", "line-42")
    assert screen.fold([happened(3, over)]).stale == {"line-42"}
    screen.fold([shown(view, own_row(TaskState.CANCELLED), *chain()[1:], sequence=3)])
    assert not screen.is_stopping("line-42")


def test_where_more_wait_than_are_told_all_are_read_again() -> None:
    view = workflow()
    screen = connected(status(view), shown(view, *chain()))
    ended = own_row(TaskState.TERMINATED)
    happening = replace(moved("import", TaskState.RUNNING, ended.state), rows=(ended,))
    assert screen.fold([happened(1, happening)]).stale == set()
    assert screen.fold([happened(2, replace(happening, more=True))]).stale == {"line-42"}
