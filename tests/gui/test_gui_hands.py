"""Rows that events bring: they are shown as they are, and nothing is asked that was just told."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.api import session
from agent.api.flock import PeerView
from agent.api.values import Capabilities, TaskState
from gui.model.notices import FlockPart
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


def test_a_task_is_in_the_hands_of_whoever_has_it_now() -> None:
    view = workflow()
    screen = connected(status(view), shown(view, *chain()), peers(peer("garajau")))

    def move(sequence: int, state: TaskState, node: str, **more: object) -> list[list[int]]:
        row = task("import", state, host_node=node, **more)
        told = replace(moved("import", TaskState.READY, state), rows=(row,))
        screen.fold([happened(sequence, told)])
        assert screen.peers is not None
        assert screen.node is not None
        own, (other,) = screen.node, screen.peers.peers
        return [[len(own.tasks), own.running], [len(other.tasks), other.running]]

    assert move(1, TaskState.SCHEDULED, "n1") == [[1, 0], [0, 0]]
    assert move(2, TaskState.RUNNING, "n1") == [[1, 1], [0, 0]]
    assert move(3, TaskState.RUNNING, "id-garajau") == [[0, 0], [1, 1]]
    progress = session.TaskProgressed("import", "import", "line-42", "garajau", 250, 30_000)
    screen.fold([happened(4, progress)])
    assert screen.peers is not None
    assert screen.peers.peers[0].tasks[0].permille == 250
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
    view = volunteering(volunteering=False, paused=True, paused_until_ms=5).view
    told = session.VolunteeringChanged(False, False, "paused", True, view)
    assert screen.fold([happened(1, told)]).volunteering
    assert screen.volunteering is view
