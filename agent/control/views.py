"""Records as clients see them: one snapshot, read off where the question is answered."""

from __future__ import annotations

from collections import Counter

from agent import __version__
from agent.api import values, work
from agent.control.naming import readable
from agent.control.surface import Surface
from agent.protocol.reading import Reading
from agent.protocol.records import Dataset, TaskSpec, Workflow
from agent.protocol.specs import producers_of
from agent.protocol.states import ENDED, TaskState

UNDER_WAY = (TaskState.SCHEDULED, TaskState.RUNNING, TaskState.SUSPENDED)
_NOT_READ = Reading(TaskState.SUBMITTED)


def node_view(surface: Surface) -> work.NodeView:
    """The node that answers."""
    facts, flock = surface.facts(), surface.flock
    return work.NodeView(
        surface.node_id,
        surface.name,
        facts.version or __version__,
        flock.name if flock else "",
        facts.volunteering,
        facts.presence_reason,
    )


def workflow_view(surface: Surface, workflow: Workflow) -> work.WorkflowView:
    """A workflow with how many of its tasks are in which state."""
    spec = workflow.spec
    reading = surface.table.reading
    counts = Counter((reading(task.task) or _NOT_READ).state for task in spec.tasks)
    return work.WorkflowView(
        spec.workflow,
        spec.name,
        _state(counts),
        workflow.priority.value,
        spec.submitter,
        surface.name_of(spec.host),
        spec.submitted[0],
        len(spec.tasks),
        {state: counts[state] for state in TaskState if counts[state]},
    )


def task_view(surface: Surface, spec: TaskSpec) -> work.TaskView:
    """A task as its records read."""
    table = surface.table
    reading = table.reading(spec.task) or _NOT_READ
    run = reading.owner or reading.outcome
    return work.TaskView(
        spec.task,
        spec.name,
        table.workflow_of[spec.task],
        spec.program,
        reading.state,
        readable(reading.reason, table),
        surface.name_of(run.host) if run else "",
        run.attempt if run else 0,
        run.stamp[0] if run else 0,
        spec.expected_ms / 1000,
        spec.gate,
        spec.asks,
        tuple(producers_of(spec)),
        tuple(map(_dataset, reading.outputs)),
        reading.mixed_inputs,
    )


def _state(counts: Counter[TaskState]) -> values.WorkflowState:
    if any(counts[state] for state in UNDER_WAY):
        return "running"
    if any(state not in ENDED for state in counts):
        return "waiting"
    if counts[TaskState.ABORTED]:
        return "failed"
    return "cancelled" if counts[TaskState.CANCELLED] else "finished"


def _dataset(dataset: Dataset) -> values.Dataset:
    return values.Dataset(dataset.dataset, dataset.size_bytes, dataset.external)
