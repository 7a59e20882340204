"""The disk of a simulated machine: records, identity and datasets, and how disks go wrong.

The records on it are all that a node has after a restart, so a disk can be full, lost, or come
back as an image of an earlier day: a disk that says less than its host had already told others.
"""

from __future__ import annotations

from agent.protocol.effects import Identity, Persist
from agent.protocol.records import DatasetId, Pruning, TaskId, TaskLife, Workflow, WorkflowId


class Disk:
    __slots__ = ("datasets", "full", "identity", "lives", "prunings", "workflows")

    def __init__(self) -> None:
        self.identity: Identity | None = None
        self.workflows: dict[WorkflowId, Workflow] = {}
        self.lives: dict[TaskId, TaskLife] = {}
        self.prunings: dict[WorkflowId, Pruning] = {}
        self.datasets: dict[DatasetId, None] = {}
        self.full = False

    def write(self, persist: Persist) -> None:
        """Put the records of a ``Persist`` on the disk, all or nothing."""
        self.identity = persist.identity
        for workflow in persist.workflows:
            self.workflows[workflow.spec.workflow] = workflow
        for life in persist.lives:
            self.lives[life.task] = life
        for pruning in persist.prunings:
            self.prunings[pruning.workflow] = pruning
        for name in persist.forgotten_workflows:
            self.workflows.pop(name, None)
        for task in persist.forgotten_tasks:
            self.lives.pop(task, None)
        for name in persist.forgotten_prunings:
            self.prunings.pop(name, None)

    def image(self) -> Disk:
        """A copy as it is now; records are immutable, so only the indexes are copied."""
        copy = Disk()
        copy.identity = self.identity
        copy.workflows = dict(self.workflows)
        copy.lives = dict(self.lives)
        copy.prunings = dict(self.prunings)
        copy.datasets = dict(self.datasets)
        return copy
