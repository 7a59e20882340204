"""The rows that an event changes, put into it, so that whoever follows need not ask for them.

Only where somebody follows: a row takes longer to make than the event itself, and thousands of tasks
may move in a second while nobody looks. The table is ahead of the notices, so a row may be of a state
that a later event tells; it is never of an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import structs

from agent.api import session, work
from agent.control.machines import node_view, peer_view, volunteering_said
from agent.control.port import NodePort
from agent.control.views import Views
from agent.protocol.records import ENDED, TaskId, TaskState
from agent.protocol.table import Table

WAITING_ROWS_MAX = 16
"""Of those that go on waiting when one task has ended: what they wait for may be another now."""


def with_rows(happening: session.Happening, node: NodePort, views: Views) -> session.Happening:
    """Return the event with the rows that it changes; as it is where it changes none."""
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
