"""What a node notices, as events for clients: ids become names where a person reads them."""

from __future__ import annotations

from typing import assert_never

from agent.api import session
from agent.control.surface import Surface
from agent.protocol.effects import CancelFinished, OutcomeChanged, TaskMoved, WorkflowSafe
from agent.protocol.records import TaskId
from agent.service_facts import MembersMoved, Notice, PeersChanged


def happening_of(notice: Notice, surface: Surface) -> session.Happening:
    """The event for clients."""
    match notice:
        case TaskMoved(task, before, after, cause):
            name, workflow = _place(surface, task)
            host = _host(surface, task)
            return session.TaskMoved(task, name, workflow, before, after, host, cause)
        case OutcomeChanged(task, before_run, after_run, cause):
            old, new = surface.name_of(before_run[2]), surface.name_of(after_run[2])
            return session.OutcomeChanged(task, *_place(surface, task), old, new, cause)
        case WorkflowSafe(workflow):
            return session.WorkflowSafe(workflow)
        case CancelFinished(task):
            return session.CancelFinished(task, *_place(surface, task))
        case PeersChanged(peer, _):
            return session.PeerChanged(peer)
        case MembersMoved():
            return session.FlockChanged(surface.flock.name if surface.flock else "")
        case _:
            assert_never(notice)


def _place(surface: Surface, task: TaskId) -> tuple[str, str]:
    """Name and workflow of a task; a workflow that was cleaned up meanwhile has neither."""
    spec = surface.table.specs.get(task)
    return (spec.name if spec else task), surface.table.workflow_of.get(task) or "?"


def _host(surface: Surface, task: TaskId) -> str:
    reading = surface.table.reading(task)
    run = (reading.owner or reading.outcome) if reading else None
    return surface.name_of(run.host) if run else ""
