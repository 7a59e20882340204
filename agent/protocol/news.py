"""What a change of the table brought: what is saved, told to others, and read off anew because of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.protocol.reading import DerivedState
from agent.protocol.records import (
    NodeId,
    Pruning,
    Run,
    TaskId,
    TaskLife,
    Workflow,
    WorkflowId,
    run_name,
)


@dataclass(slots=True)
class News:
    """What a join changed. ``listed``: workflows that were not known before; ``ended``: runs
    that were not known to have ended; ``moved``: task, reading before, reading now."""

    workflows: list[Workflow] = field(default_factory=list)
    lives: list[TaskLife] = field(default_factory=list)
    prunings: list[Pruning] = field(default_factory=list)
    forgotten_workflows: list[WorkflowId] = field(default_factory=list)
    forgotten_tasks: list[TaskId] = field(default_factory=list)
    unknown_tasks: list[TaskId] = field(default_factory=list)
    listed: list[WorkflowId] = field(default_factory=list)
    replaced: list[WorkflowId] = field(default_factory=list)
    gone: list[tuple[Workflow, list[TaskLife]]] = field(default_factory=list)
    ended: list[tuple[TaskId, Run]] = field(default_factory=list)
    contradictions: int = 0
    moved: list[tuple[TaskId, DerivedState | None, DerivedState]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(
            self.workflows
            or self.lives
            or self.prunings
            or self.forgotten_workflows
            or self.forgotten_tasks
            or self.unknown_tasks
            or self.moved
        )


def left_machine(before: DerivedState | None, now: DerivedState) -> NodeId:
    """Return the machine that owned the task before, where another run owns it now; empty where
    none owned it, none does now, or the run is the same."""
    old, new = None if before is None else before.owner, now.owner
    if old is None or new is None or run_name(old) == run_name(new):
        return ""
    return old.host
