"""Rows of the contract as an agent would tell them, with only what a test is about."""

from __future__ import annotations

from typing import Any

from agent.api.flock import PeersReply, PeerView
from agent.api.past import PastWorkflow
from agent.api.session import Event, Happening, TaskMoved, Welcome
from agent.api.values import Position, TaskState
from agent.api.volunteering import VolunteeringView, VolunteerRules
from agent.api.work import (
    CurrentTask,
    NodeView,
    ShowReply,
    StatusReply,
    TaskView,
    WorkflowView,
)
from gui.model.notices import (
    StatusPage,
)
from gui.model.screen import Screen

NOW_S = 1_800_000_000.0
LOG = "log"


def node(**changes: Any) -> NodeView:
    return NodeView(
        **{
            "node": "n1",
            "name": "acor",
            "version": "1",
            "flock": "office",
            "volunteering": True,
            "slots": 2,
            **changes,
        }
    )


def current(name: str = "segment", **changes: Any) -> CurrentTask:
    values = {"task": f"id-{name}", "name": name, "workflow": "line-42", "program": "segment"}
    return CurrentTask(**{**values, "state": TaskState.RUNNING, **changes})


def workflow(name: str = "line-42", **changes: Any) -> WorkflowView:
    counts = changes.pop("counts", {TaskState.READY: 1, TaskState.SUBMITTED: 2})
    values = {
        "workflow": name,
        "name": name,
        "state": "waiting",
        "priority": 10,
        "submitter": "ana",
        "host": "acor",
        "submitted_ms": int(NOW_S * 1000) - 60_000,
        "tasks": sum(counts.values()),
        "counts": counts,
    }
    return WorkflowView(**{**values, **changes})


def task(name: str, state: TaskState = TaskState.SUBMITTED, **changes: Any) -> TaskView:
    values = {"task": name, "name": name, "workflow": "line-42", "program": "p", "state": state}
    return TaskView(**{**values, **changes})


def chain() -> list[TaskView]:
    return [
        task("import", TaskState.READY),
        task("segment", needs=("import",)),
        task("report", needs=("segment",)),
    ]


def status(*workflows: WorkflowView, sequence: int = 0, **changes: Any) -> StatusPage:
    reply = StatusReply(
        changes.pop("node", node(**changes)), workflows, len(workflows), Position(LOG, sequence)
    )
    return StatusPage(0, reply)


def shown(view: WorkflowView, *tasks: TaskView, sequence: int = 0) -> ShowReply:
    return ShowReply(view, tasks, 0, Position(LOG, sequence))


def happened(sequence: int, happening: Happening) -> Event:
    return Event(sequence, int(NOW_S * 1000), happening)


def moved(
    name: str, before: TaskState | None, after: TaskState, host: str = "", where: str = "line-42"
) -> TaskMoved:
    return TaskMoved(name, name, where, before, after, host, "because")


def peer(name: str, **changes: Any) -> PeerView:
    values = {
        "node": f"id-{name}",
        "name": name,
        "state": "linked",
        "volunteering": True,
        "slots": 2,
    }
    return PeerView(**{**values, **changes})


def peers(*others: PeerView, **changes: Any) -> PeersReply:
    return PeersReply(node(**changes), others)


def volunteering(**changes: Any) -> VolunteeringView:
    values = {"volunteering": True, "owner_present": False, "reason": "", "rules": VolunteerRules()}
    return VolunteeringView(**{**values, **changes})


def connected(*more: Any) -> Screen:
    """A screen that has heard of an agent, and of this."""
    screen = Screen()
    screen.fold([Welcome(1, "1", "n1", "acor", Position(LOG, 0)), *more])
    return screen


def past_workflow(name: str = "line-42", **changes: Any) -> PastWorkflow:
    at_ms = int(NOW_S * 1000)
    values = {
        "workflow": name,
        "name": name,
        "state": "finished",
        "priority": 50,
        "submitter": "ana",
        "host": "acor",
        "host_node": "n1",
        "submitted_ms": at_ms - 90_000,
        "begun_ms": at_ms - 80_000,
        "ended_ms": at_ms,
        "waited_s": 10.0,
        "ran_s": 75.0,
        "makespan_s": 90.0,
        "tasks": 3,
        "attempts": 3,
        "machines": ("acor",),
        "programs": ("segment",),
    }
    return PastWorkflow(**{**values, **changes})
