"""The disk of a simulated machine: records, identity and datasets, and how disks go wrong.

The records on it are all that a node has after a restart, so a disk can be full, lost, or come
back as an image of an earlier day: a disk that says less than its host had already told others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.protocol.effects import Identity, Persist
from agent.protocol.records import DatasetId, Pruning, TaskId, TaskLife, Workflow, WorkflowId


@dataclass(slots=True, eq=False)
class Disk:
    identity: Identity | None = None
    workflows: dict[WorkflowId, Workflow] = field(default_factory=dict)
    lives: dict[TaskId, TaskLife] = field(default_factory=dict)
    prunings: dict[WorkflowId, Pruning] = field(default_factory=dict)
    noted: dict[WorkflowId, None] = field(default_factory=dict)
    datasets: dict[DatasetId, None] = field(default_factory=dict)
    full: bool = False

    def write(self, persist: Persist) -> None:
        """Put the records of a ``Persist`` on the disk, all or nothing."""
        self.identity = persist.identity
        self.workflows |= {each.spec.workflow: each for each in persist.workflows}
        self.lives |= {each.task: each for each in persist.lives}
        self.prunings |= {each.workflow: each for each in persist.prunings}
        for name in persist.forgotten_workflows:
            self.workflows.pop(name, None)
        for task in persist.forgotten_tasks:
            self.lives.pop(task, None)
        for name in persist.forgotten_prunings:
            self.prunings.pop(name, None)
        self.noted |= dict.fromkeys(persist.noted)
        for name in persist.unnoted:
            self.noted.pop(name, None)

    def image(self) -> Disk:
        """A copy as it is now; records are immutable, so only the indexes are copied."""
        records = dict(self.workflows), dict(self.lives), dict(self.prunings), dict(self.noted)
        return Disk(self.identity, *records, dict(self.datasets))
