"""Rows that events bring: they are shown as they are, and nothing is asked that was just told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from agent.api import session
from agent.api.flock import PeerView
from agent.api.reasons import CancelledStopping, Diagnosis, as_why
from agent.api.session import Event
from agent.api.values import Capabilities, TaskState
from agent.api.work import TaskView
from agent.wording.speech import english
from gui.model.hands import parts_behind, with_task
from gui.model.notices import FlockPart
from gui.model.screen import Changes, Screen
from gui.model.trouble import flock_trouble
from tests.certain import certain
from tests.gui.values import (
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


def test_of_many_tasks_those_that_are_not_told_are_counted_on() -> None:
    """The agent tells the first of a hundred."""
    busy = peer("garajau", running=100, tasks=(current("first"),))
    row = task("import", TaskState.RUNNING, host_node="id-garajau")
    heard = with_task(busy, row, "line 42")  # one of the others
    assert (len(heard.tasks), heard.running) == (2, 100)
    fewer = with_task(heard, replace(row, state=TaskState.TERMINATED), "line 42")
    assert (len(fewer.tasks), fewer.running) == (1, 99)
    new = with_task(busy, replace(row, state=TaskState.SCHEDULED), "line 42")
    assert (len(new.tasks), new.running) == (2, 100)
    assert with_task(new, row, "line 42").running == 101


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


# -- in which order answers and events come ------------------------------------------------


def told(sequence: int, before: TaskState, row: TaskView, *others: TaskView) -> Event:
    """A move with its row, and those of others."""
    happening = moved(row.task, before, row.state, where=row.workflow)
    return happened(sequence, replace(happening, rows=(row, *others)))


def own_row(state: TaskState, **changes: object) -> TaskView:
    return task("import", state, **{"host_node": "n1", **changes})


S = TaskState
VIEW = workflow()
BUSY = node(load_percent=80)
PAUSED = volunteering(volunteering=False, paused=True, paused_until_ms=5)
RUNS = workflow(counts={S.RUNNING: 1})
RUNS_TWO = workflow(state="running", counts={S.RUNNING: 2})
BEGUN, ENDED = own_row(S.RUNNING), own_row(S.TERMINATED)
SCHEDULED = own_row(S.SCHEDULED, workflow="new")
FIRST_OF_THREE = workflow(counts={S.RUNNING: 1, S.SUBMITTED: 2})
LATER = workflow(counts={S.TERMINATED: 1, S.SUBMITTED: 2})
DONE = workflow(counts={S.TERMINATED: 1})
OTHER = workflow("other", counts={S.READY: 1})
NEWER = task("map", S.READY, workflow="other")
OLDER = task("map", workflow="other", reason="waits for import")
END = replace(moved("import", S.RUNNING, S.TERMINATED), rows=(ENDED,))
KNOWN = [status(VIEW), shown(VIEW, *chain())]


def own_tasks(screen: Screen) -> list[TaskState]:
    return [each.state for each in certain(screen.node).tasks]


FOLDS: dict[str, tuple[Sequence[Any], Sequence[Any], Callable[[Screen, Changes], object], object]]
FOLDS = {
    "what this machine says of itself is shown": (
        [status(VIEW)],
        [happened(1, session.PeerChanged("n1", own=BUSY))],
        lambda screen, changes: (screen.node, changes.node, changes.parts),
        (BUSY, True, set()),
    ),
    "presence that comes whole is shown whole": (
        [status(VIEW), volunteering()],
        [happened(1, session.VolunteeringChanged(False, False, "paused", True, PAUSED))],
        lambda screen, changes: (changes.volunteering, screen.volunteering),
        (True, PAUSED),
    ),
    "an answer that is ahead of its events is not counted twice": (
        [status(RUNS_TWO)],
        [happened(1, moved("import", S.READY, S.RUNNING))],
        lambda screen, changes: (screen.workflows["line-42"].counts, changes.wanted),
        ({S.RUNNING: 2}, {"line-42"}),
    ),
    "what begins before its workflow is known is in hand": (
        [status(), peers()],
        [
            told(1, S.READY, SCHEDULED),
            told(2, S.SCHEDULED, replace(SCHEDULED, state=S.RUNNING)),
        ],
        lambda screen, changes: (changes.wanted, changes.node, own_tasks(screen)),
        ({"new"}, True, [S.RUNNING]),
    ),
    "what has ended before an answer is in nobody's hand": (
        [status(RUNS), shown(RUNS, BEGUN), peers(), told(1, S.READY, BEGUN)],
        [shown(DONE, ENDED, sequence=2), told(2, S.RUNNING, ENDED)],
        lambda screen, _: own_tasks(screen),
        [],
    ),
    "an outlook does not make rows newer than they are, but its counts have the event": (
        [status(FIRST_OF_THREE), shown(FIRST_OF_THREE, BEGUN, *chain()[1:])],
        [shown(LATER, ENDED, sequence=1), told(1, S.RUNNING, ENDED)],
        lambda screen, _: (screen.tasks["line-42"]["import"], screen.workflows["line-42"]),
        (ENDED, LATER),
    ),
    "a row that is older than an answer stays away, also in another workflow": (
        [status(VIEW, OTHER), shown(VIEW, *chain()), shown(OTHER, NEWER, sequence=3)],
        [told(2, S.RUNNING, ENDED, OLDER)],
        lambda screen, _: (screen.tasks["line-42"]["import"], screen.tasks["other"]["map"]),
        (ENDED, NEWER),
    ),
    "progress from before an answer is past": (
        [status(DONE), shown(DONE, replace(ENDED, permille=1000), sequence=2)],
        [happened(1, session.TaskProgressed("import", "import", "line-42", "acor", 250, 9))],
        lambda screen, _: screen.tasks["line-42"]["import"],
        replace(ENDED, permille=1000),
    ),
    "where all that wait are told nothing is read again": (
        KNOWN,
        [happened(1, END)],
        lambda _, changes: changes.stale,
        set(),
    ),
    "where more wait than are told all are read again": (
        KNOWN,
        [happened(1, END), happened(2, replace(END, more=True))],
        lambda _, changes: changes.stale,
        {"line-42"},
    ),
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


def test_machines_that_go_by_other_rules_are_told_of_on_the_page_of_the_flock() -> None:
    why = Diagnosis("RulesDiffer", name="look-ahead", places=("birch",))
    mixed = replace(peers(peer("birch")), warning=english(why), why=as_why(why))
    told = certain(flock_trouble(connected(status(), mixed)))
    assert told.sentence.startswith("This computer decides by the rules look-ahead")
    assert "by others do birch:" in told.sentence


def test_other_rules_of_a_machine_have_all_machines_read_again() -> None:
    before = peer("birch", rules="look-ahead")
    assert FlockPart.PEERS in parts_behind(before, replace(before, rules="EC"))
    assert parts_behind(before, before) == frozenset()
