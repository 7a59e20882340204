"""What a node notices, as events for clients: ids become names where a person reads them.

One event is read off another: a task that moved may be a gate that waits for a person.

An event brings the rows that it changes, so that whoever follows need not ask for them; only where
somebody follows, for a row takes longer to make than the event itself, and thousands of tasks may move in a second while nobody looks. The table is ahead of the notices, so a row may be of a state
that a later event tells; it is never of an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from msgspec import structs
from msgspec.structs import replace

from agent.api import session, work
from agent.api.reasons import NO_REASON, Reason, as_why, reason_of
from agent.control.estimates import PERMILLE_MAX
from agent.control.naming import cause_of
from agent.control.port import NodePort, Notice, Snapshot
from agent.control.views import Views, node_view, peer_view, volunteering_said
from agent.protocol.effects import (
    CancelFinished,
    OutcomeChanged,
    TaskMoved,
    TaskProgressed,
    WorkflowGone,
    WorkflowSafe,
)
from agent.protocol.names import visible
from agent.protocol.records import ENDED, TaskId, TaskState, WorkflowId
from agent.protocol.table import Table
from agent.wording.run_ends import named
from agent.wording.speech import english

GIVEN_UP = (TaskState.ABORTED, TaskState.CANCELLED)
CAUSES_MAX = 256
WAITING_ROWS_MAX = 16
"""Of those that go on waiting when one task has ended: what they wait for may be another now."""


def happenings_of(notice: Notice, now: Snapshot) -> Iterator[session.Happening]:
    """Yield the events for clients that a notice amounts to, with names for ids and reasons in
    words, but without rows; a second one, that a gate waits, where a task moved to that state."""
    match notice:
        case TaskMoved(task, before, after, cause):
            name, workflow = _place(now, task)
            set_off = _cause(cause_of(cause, after.value, now.name_of))
            reason = _reason(now, task) if after in GIVEN_UP else NO_REASON
            moved = (before, after, _host(now, task), set_off, english(reason))
            called = _called(now, workflow)
            why = as_why(reason)
            yield session.TaskMoved(task, name, workflow, *moved, why=why, workflow_name=called)
            spec = now.table.specs.get(task)
            if after is TaskState.WAITING and spec is not None:
                whole = now.table.workflows[workflow].spec
                asked = (spec.asks, visible(whole.name), visible(whole.submitter), whole.host)
                yield session.GateWaiting(task, name, workflow, *asked)
        case TaskProgressed(task, node, permille, left_ms):
            host, known = now.name_of(node), min(permille, PERMILLE_MAX)
            left_ms = left_ms if known else 0  # of one that has said nothing it is made up
            yield session.TaskProgressed(task, *_place(now, task), host, known, left_ms)
        case OutcomeChanged(task, before_run, after_run, cause):
            old, new = now.name_of(before_run[2]), now.name_of(after_run[2])
            set_off = _cause(cause_of(cause, TaskState.TERMINATED.value, now.name_of))
            yield session.OutcomeChanged(task, *_place(now, task), old, new, set_off)
        case WorkflowSafe(workflow):
            yield session.WorkflowSafe(workflow)
        case WorkflowGone(workflow):
            yield session.WorkflowGone(workflow.spec.workflow, workflow.spec.name)
        case CancelFinished(task):
            yield session.CancelFinished(task, *_place(now, task))
        case session.VolunteeringChanged():
            yield replace(notice, reason=english(reason_of(notice.why, notice.reason)))
        case _:
            yield notice


@lru_cache(CAUSES_MAX)
def _cause(cause: Reason) -> str:
    """Causes say nothing of time, and thousands of tasks may have the same."""
    return english(cause)


def _place(now: Snapshot, task: TaskId) -> tuple[str, str]:
    """Name and workflow of a task; a workflow that was cleaned up meanwhile has neither."""
    spec = now.table.specs.get(task)
    return (visible(spec.name) if spec else task), now.table.workflow_of.get(task) or "?"


def _called(now: Snapshot, workflow: WorkflowId) -> str:
    there = now.table.workflows.get(workflow)
    return workflow if there is None else visible(there.spec.name)


def _reason(now: Snapshot, task: TaskId) -> Reason:
    """Why nothing comes of it, with names of tasks for their ids."""
    reading = now.table.reading(task)
    return named(reading.reason, now.table) if reading and reading.reason else NO_REASON


def _host(now: Snapshot, task: TaskId) -> str:
    reading = now.table.reading(task)
    run = (reading.owner or reading.outcome) if reading else None
    return now.name_of(run.host) if run else ""


def with_rows(happening: session.Happening, node: NodePort, views: Views) -> session.Happening:
    """Return the event with the present rows of the tasks, machines or volunteering that it changes
    added: of a task that has ended also those of the tasks that wait for it, ``WAITING_ROWS_MAX``
    at most. Unchanged where it is about none of them."""
    match happening:
        case session.TaskMoved(task=task, after=after):
            rows, more = _of_task(task, after, views)
            return structs.replace(happening, rows=rows, more=more)
        case session.PeerChanged(node=machine) if machine == views.now.node:
            return structs.replace(happening, own=node_view(views))
        case session.PeerChanged(node=machine):
            return structs.replace(happening, peer=peer_view(views, machine))
        case session.VolunteeringChanged():
            view = volunteering_said(node.rooms.presence.view())
            return structs.replace(happening, view=view)
        case _:
            return happening


def _of_task(
    task: TaskId, after: TaskState, views: Views
) -> tuple[tuple[work.TaskView, ...], bool]:
    """Return the rows, and whether there would be more of them."""
    table = views.now.table
    spec = table.specs.get(task)
    if spec is None:
        return (), False
    waiting = list(islice(_waiting(task, table), WAITING_ROWS_MAX + 1)) if after in ENDED else []
    specs = (spec, *(table.specs[each] for each in waiting[:WAITING_ROWS_MAX]))
    return tuple(map(views.task, specs)), len(waiting) > WAITING_ROWS_MAX


def _waiting(task: TaskId, table: Table) -> Iterator[TaskId]:
    for each in table.dependants(task):
        reading = table.reading(each)
        if reading is not None and reading.state is TaskState.SUBMITTED:
            yield each
