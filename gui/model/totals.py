"""Sums over all workflows, kept as each changes: they are shown ten times a second."""

from __future__ import annotations

from dataclasses import dataclass

from agent.api.values import TaskState
from agent.api.work import WorkflowView


@dataclass(slots=True)
class Totals:
    """``running`` tasks, ``gates`` that wait for a person, ``active`` workflows."""

    running: int = 0
    gates: int = 0
    active: int = 0

    def replace(self, before: WorkflowView | None, after: WorkflowView) -> None:
        """Count ``after`` in, in place of ``before``; None if the workflow is new."""
        if before is not None:
            self._add(before, -1)
        self._add(after, 1)

    def _add(self, view: WorkflowView, times: int) -> None:
        self.running += times * view.counts.get(TaskState.RUNNING, 0)
        self.gates += times * view.counts.get(TaskState.WAITING, 0)
        self.active += times * (view.state == "running")
