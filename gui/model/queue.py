"""The queue: what runs where, then what waits for a person, then what waits and why, in order.

The order among what waits is the flock's: priority first, then who was submitted first. It is what
people expect to see; machines may advance a later workflow when that makes nobody wait longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.api.values import TaskState
from agent.api.work import TaskView, WorkflowView
from gui.model.filtering import matching
from gui.model.folding import is_open

ROWS_MAX = 1_000
"""More than anybody scrolls through; the filter finds the others."""
_RANKS = {
    TaskState.RUNNING: 0,
    TaskState.SCHEDULED: 1,
    TaskState.SUSPENDED: 2,
    TaskState.WAITING: 3,
    TaskState.READY: 4,
    TaskState.SUBMITTED: 5,
}


@dataclass(slots=True)
class QueueRow:
    """A task with its workflow. The same object as long as both are the same."""

    task: TaskView
    workflow: WorkflowView
    place: int


class Queue:
    """Keeps its rows, so that only what changed is new; at most so many are shown at a time."""

    def __init__(self) -> None:
        self._rows: dict[str, QueueRow] = {}
        self.total = 0
        """How many there are in all, shown or not."""

    def rows(
        self,
        workflows: Mapping[str, WorkflowView],
        tasks: Mapping[str, Mapping[str, TaskView]],
        typed: str = "",
    ) -> list[QueueRow]:
        """The tasks that are still to be done and have these words, in the order of the flock."""
        found = [pair for group in _ranked(workflows, tasks) for pair in group]
        self.total = len(found)
        numbered = list(enumerate(found, 1))
        if typed.strip():
            numbered = matching(numbered, typed, lambda each: _words(*each[1]))
        rows: dict[str, QueueRow] = {}
        for place, (task, workflow) in numbered[:ROWS_MAX]:
            rows[task.task] = self._row(task, workflow, place)
        self._rows = rows
        return list(rows.values())

    def _row(self, task: TaskView, workflow: WorkflowView, place: int) -> QueueRow:
        kept = self._rows.get(task.task)
        if kept is not None and kept.task is task and kept.place == place:
            return kept
        return QueueRow(task, workflow, place)


def _ranked(
    workflows: Mapping[str, WorkflowView], tasks: Mapping[str, Mapping[str, TaskView]]
) -> list[list[tuple[TaskView, WorkflowView]]]:
    open_ones = [each for each in workflows.values() if is_open(each)]
    open_ones.sort(key=lambda each: (-each.priority, each.submitted_ms, each.workflow))
    ranked: list[list[tuple[TaskView, WorkflowView]]] = [[] for _ in _RANKS]
    # States are single objects; their hash is computed in Python, which twenty thousand times is felt.
    ranks = {id(state): rank for state, rank in _RANKS.items()}
    for workflow in open_ones:
        for task in tasks.get(workflow.workflow, {}).values():
            rank = ranks.get(id(task.state))
            if rank is not None:
                ranked[rank].append((task, workflow))
    return ranked


def _words(task: TaskView, workflow: WorkflowView) -> str:
    return f"{task.name} {workflow.name} {task.host} {task.program}"


def counts(workflows: Mapping[str, WorkflowView]) -> tuple[int, int]:
    """How many tasks run, and how many wait for a person; for the side bar."""
    running = sum(each.counts.get(TaskState.RUNNING, 0) for each in workflows.values())
    gates = sum(each.counts.get(TaskState.WAITING, 0) for each in workflows.values())
    return running, gates
