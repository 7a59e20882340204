"""When a workflow has ended: read off the moves of its tasks, once for everybody who wants to know.

The table is ahead of the notices, so that several moves of one moment all see the workflow ended; it
is told once. What goes on after a retry may end again.
"""

from __future__ import annotations

from agent.api.session import WorkflowEnded
from agent.api.values import ENDED, workflow_state
from agent.protocol.effects import TaskMoved
from agent.protocol.records import WorkflowId
from agent.protocol.table import Table


class WorkflowEnds:
    """Tells each end of a workflow once, and remembers which were told."""

    def __init__(self) -> None:
        self._told: dict[WorkflowId, None] = {}

    def after(self, moved: TaskMoved, table: Table) -> WorkflowEnded | None:
        """Return how the workflow of this task has ended, once; None where it goes on or is not
        known, its end was told already, or this move ends nothing. What goes on again may be told
        again."""
        workflow = table.workflow_of.get(moved.task)
        if workflow is None or moved.task not in table.specs:
            self._forget(table)
            return None
        if table.unfinished.get(workflow):
            self._told.pop(workflow, None)
            return None
        if moved.after not in ENDED or moved.before is None or workflow in self._told:
            return None
        self._told[workflow] = None
        counts, spec = table.counts(workflow), table.workflows[workflow].spec
        whose = (spec.name, spec.submitter, spec.host)
        return WorkflowEnded(workflow, workflow_state(counts), counts, *whose)

    def _forget(self, table: Table) -> None:
        """Drop what was cleaned up."""
        for workflow in [each for each in self._told if each not in table.workflows]:
            del self._told[workflow]
