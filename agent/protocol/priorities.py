"""How urgent each task is: as urgent as its workflow, or as it says itself.

A step may be given a priority when it is submitted, and people may change that of each task later.
Both go before the workflow's, whichever was said last: whoever wants one step sooner than the rest
wants that still when the rest is moved. What was said later goes before what was submitted.

The word of the submission travels under ``more`` of the task, that of people as registers of the
workflow; versions before know neither, and take the task for as urgent as its workflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from agent.protocol.records import (
    PRIORITY_INTERACTIVE,
    More,
    NodeId,
    PriorityWish,
    TaskId,
    TaskPriority,
    TaskSpec,
    Workflow,
    WorkflowId,
)

PRIORITY = "priority"
"""By which name a task carries it under ``more``."""
_encode = msgspec.msgpack.Encoder().encode
_read = msgspec.msgpack.Decoder(int).decode


def with_priority(value: int | None) -> More:
    """Return what a task carries that is submitted with a priority of its own; nothing for None."""
    return {} if value is None else {PRIORITY: Raw(_encode(value))}


def submitted_priority(spec: TaskSpec) -> int | None:
    """Return the priority that a task was submitted with; None where it has none of its own, or
    none from 0 to 100 that can be read."""
    if PRIORITY not in spec.more:
        return None
    try:
        value = _read(spec.more[PRIORITY])
    except msgspec.MsgspecError:
        return None
    return value if 0 <= value <= PRIORITY_INTERACTIVE else None


def wished(workflow: Workflow, tasks: Iterable[TaskId], host: NodeId, value: int) -> Workflow:
    """Return the workflow with this priority wished for each of these tasks, by ``host``, newer
    than all wishes before."""
    known = {each.task: each.wish for each in workflow.tasks}
    for task in tasks:
        revision = known[task].revision + 1 if task in known else 1
        known[task] = PriorityWish(revision, host, value)
    return replace(workflow, tasks=tuple(TaskPriority(each, known[each]) for each in sorted(known)))


class Priorities:
    """The priorities of all tasks of a table, and where interactive ones are."""

    def __init__(self, workflows: Mapping[WorkflowId, Workflow]) -> None:
        self._workflows = workflows
        self._own: dict[TaskId, int] = {}
        self._urgent: dict[WorkflowId, frozenset[TaskId] | None] = {}
        """Workflows with interactive tasks: None is all of them."""

    def own(self, task: TaskId) -> int | None:
        """Return the priority that a task has of its own; None where it has its workflow's."""
        return self._own.get(task)

    def of(self, task: TaskId, workflow: WorkflowId) -> int:
        """Return the priority of a task: its own, else its workflow's; 0 where neither is known."""
        own = self._own.get(task)
        if own is not None:
            return own
        known = self._workflows.get(workflow)
        return 0 if known is None else known.priority.value

    def take(self, workflow: Workflow) -> None:
        """Note the priorities of a workflow and its tasks, in place of those known of it."""
        name = workflow.spec.workflow
        self.forget(workflow)
        own = self._told(workflow)
        self._own |= own
        usual = workflow.priority.value >= PRIORITY_INTERACTIVE
        if usual and not own:
            self._urgent[name] = None
        elif usual or PRIORITY_INTERACTIVE in own.values():
            low = PRIORITY_INTERACTIVE if usual else 0
            tasks = (each.task for each in workflow.spec.tasks)
            self._urgent[name] = frozenset(
                each for each in tasks if own.get(each, low) >= PRIORITY_INTERACTIVE
            )

    def forget(self, workflow: Workflow) -> None:
        """Drop the noted priorities of a workflow and its tasks."""
        self._urgent.pop(workflow.spec.workflow, None)
        if self._own:
            for each in workflow.spec.tasks:
                self._own.pop(each.task, None)

    def any_interactive(self, unfinished: Mapping[WorkflowId, Mapping[TaskId, None]]) -> bool:
        """Tell whether any task of these (by workflow, those not finished) is interactive, that is,
        a person waits for it."""
        for workflow, urgent in self._urgent.items():
            left = unfinished.get(workflow)
            if left and (urgent is None or not urgent.isdisjoint(left)):
                return True
        return False

    @staticmethod
    def _told(workflow: Workflow) -> dict[TaskId, int]:
        own = {
            each.task: value
            for each in workflow.spec.tasks
            if each.more and (value := submitted_priority(each)) is not None
        }
        if workflow.tasks:
            tasks = {each.task for each in workflow.spec.tasks}
            own |= {each.task: each.wish.value for each in workflow.tasks if each.task in tasks}
        return own
