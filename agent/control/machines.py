"""Machines as clients see them: this one, those that are linked, those that are away."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from agent.api import flock, work
from agent.api.reasons import reason_of
from agent.api.volunteering import VolunteeringView
from agent.control.port import Snapshot
from agent.control.views import Views, tasks_by_host
from agent.protocol.records import NodeId, Run, TaskId, TaskState
from agent.wording.speech import english

TASKS_SHOWN_MAX = 64
_Machine = TypeVar("_Machine", work.NodeView, flock.PeerView)
Hands = dict[NodeId, list[tuple[TaskId, Run]]]


def seen(now: Snapshot) -> tuple[work.NodeView | flock.PeerView, ...]:
    """Return the machines that are there now, this one first; what they run is not told."""
    return (now.status, *now.peers)


def node_view(views: Views) -> work.NodeView:
    """Return the row of the node that answers."""
    return _row(views.now.status, tasks_by_host(views.now.table), views)


def peer_views(views: Views) -> tuple[flock.PeerView, ...]:
    """Return the rows of the other machines by name; those without a link say why, as far as it is
    known."""
    now, hands = views.now, tasks_by_host(views.now.table)
    rows = [*(_row(peer, hands, views) for peer in now.peers), *now.away]
    return tuple(sorted(rows, key=lambda view: (view.name, view.node)))


def peer_view(views: Views, node: NodeId) -> flock.PeerView | None:
    """Return the row of one machine; None where it neither is linked nor belongs."""
    now = views.now
    for peer in now.peers:
        if peer.node == node:
            return _row(peer, tasks_by_host(now.table), views)
    return next((each for each in now.away if each.node == node), None)


def reason_said(machine: work.NodeView | flock.PeerView) -> str:
    """Return why a machine helps or not, in English."""
    return english(reason_of(machine.why, machine.reason))


def volunteering_said(view: VolunteeringView) -> VolunteeringView:
    """Return the view with its reasons in English too."""
    sources = tuple(
        replace(each, text=english(reason_of(each.why, each.text))) for each in view.sources
    )
    return replace(view, reason=english(reason_of(view.why, view.reason)), sources=sources)


def _row(machine: _Machine, hands: Hands, views: Views) -> _Machine:
    """A machine with what it has in hand."""
    tasks = _tasks(hands.get(machine.node, ()), views)
    reason = reason_said(machine)
    return replace(machine, reason=reason, running=_running(tasks), tasks=tasks)


def _tasks(
    hand: list[tuple[TaskId, Run]] | tuple[()], views: Views
) -> tuple[work.CurrentTask, ...]:
    return tuple(views.current(task, run) for task, run in hand[:TASKS_SHOWN_MAX])


def _running(tasks: tuple[work.CurrentTask, ...]) -> int:
    return sum(each.state is not TaskState.SCHEDULED for each in tasks)
