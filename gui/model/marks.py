"""The marks: one shape for each state, the same in list, graph, queue, tray and log.

Shape first, then colour. A mark is a word here; ``gui.theme`` draws and colours it.
"""

from __future__ import annotations

from enum import Enum

from agent.api.values import UNDER_WAY, TaskState, WorkflowState
from agent.api.work import TaskView, WorkflowView
from gui.words import tr


class Mark(Enum):
    """Named as their files in ``gui/theme/icons``, and as their colours."""

    WAITING = "waiting"
    READY = "ready"
    RUNNING = "running"
    SUSPENDED = "suspended"
    PERSON = "person"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


_OF_TASK = {
    TaskState.SUBMITTED: Mark.WAITING,
    TaskState.READY: Mark.READY,
    TaskState.WAITING: Mark.PERSON,
    TaskState.SCHEDULED: Mark.RUNNING,
    TaskState.RUNNING: Mark.RUNNING,
    TaskState.SUSPENDED: Mark.SUSPENDED,
    TaskState.TERMINATED: Mark.DONE,
    TaskState.CANCELLED: Mark.CANCELLED,
    TaskState.ABORTED: Mark.FAILED,
}
_OF_WORKFLOW: dict[WorkflowState, Mark] = {
    "waiting": Mark.WAITING,
    "running": Mark.RUNNING,
    "finished": Mark.DONE,
    "failed": Mark.FAILED,
    "cancelled": Mark.CANCELLED,
}
URGENCY = (
    *(Mark.FAILED, Mark.PERSON, Mark.RUNNING, Mark.SUSPENDED),
    *(Mark.READY, Mark.WAITING, Mark.CANCELLED, Mark.DONE),
)
"""What a person wants to see first; also the order of the parts of a fan-out's bar, reversed."""


def never_ran(task: TaskView) -> bool:
    """Tell whether a task was given up because something before it failed: nothing is wrong with
    the task itself."""
    return task.state is TaskState.ABORTED and not task.attempt and not task.begun_ms


def mark_of_task(task: TaskView) -> Mark:
    """Return the mark of a task or gate."""
    if task.gone_ms:
        return Mark.WAITING
    return Mark.CANCELLED if never_ran(task) else _OF_TASK[task.state]


def mark_of_workflow(workflow: WorkflowView) -> Mark:
    """Return the mark of a workflow by its state, finer while it is open: if nothing runs, it shows
    a step that waits for a person, that all machines which have tasks of it are gone, that work
    under way is suspended, or that tasks are ready."""
    counts = workflow.counts
    if workflow.state in ("waiting", "running") and counts.get(TaskState.WAITING):
        busy = any(counts.get(each) for each in (TaskState.RUNNING, TaskState.SCHEDULED))
        return Mark.RUNNING if busy else Mark.PERSON
    if workflow.gone and workflow.gone >= sum(counts.get(each, 0) for each in UNDER_WAY):
        return Mark.WAITING
    if workflow.state == "running" and not (
        counts.get(TaskState.RUNNING) or counts.get(TaskState.SCHEDULED)
    ):
        return Mark.SUSPENDED
    if workflow.state == "waiting" and counts.get(TaskState.READY):
        return Mark.READY
    return _OF_WORKFLOW[workflow.state]


def mark_words(mark: Mark) -> str:
    """Return the mark's state in a word or two, for columns and for screen readers."""
    return {
        Mark.WAITING: tr("waiting"),
        Mark.READY: tr("ready"),
        Mark.RUNNING: tr("running"),
        Mark.SUSPENDED: tr("suspended"),
        Mark.PERSON: tr("waits for you"),
        Mark.DONE: tr("done"),
        Mark.FAILED: tr("failed"),
        Mark.CANCELLED: tr("cancelled"),
    }[mark]


def task_words(task: TaskView) -> str:
    """Return a task's state in a word or two; what never ran is not said to have failed, and what a
    machine has that is gone not to run."""
    if task.gone_ms:
        return tr("its machine is gone")
    return tr("did not run") if never_ran(task) else state_words(task.state)


def state_words(state: TaskState) -> str:
    """Return a task's state in a word or two, that of its mark, but for scheduled tasks, which
    fetch their inputs."""
    if state is TaskState.SCHEDULED:
        return tr("fetching inputs")
    return mark_words(_OF_TASK[state])
