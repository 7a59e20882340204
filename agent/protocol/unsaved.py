"""What has changed and is not on this disk yet, by id: it is saved as it reads when its turn comes."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.protocol.records import TaskId, WorkflowId


@dataclass(slots=True)
class Unsaved:
    """Records to be saved or forgotten, and whether the identity of the node has changed."""

    lives: dict[TaskId, None] = field(default_factory=dict)
    workflows: dict[WorkflowId, None] = field(default_factory=dict)
    prunings: dict[WorkflowId, None] = field(default_factory=dict)
    forgotten_workflows: dict[WorkflowId, None] = field(default_factory=dict)
    forgotten_tasks: dict[TaskId, None] = field(default_factory=dict)
    forgotten_prunings: dict[WorkflowId, None] = field(default_factory=dict)
    identity: bool = False

    def __bool__(self) -> bool:
        return bool(
            self.lives
            or self.workflows
            or self.prunings
            or self.forgotten_workflows
            or self.forgotten_tasks
            or self.forgotten_prunings
            or self.identity
        )
