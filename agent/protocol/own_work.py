"""What was submitted on this machine by its own person, by the word of this machine alone.

A record says on which machine it was submitted, and any member can write one that names another's. So
what comes over this machine's own door is noted here, beside the records: the notes are kept on its
disk, never told to anybody, and go with their workflows. A workflow that another record took the
place of, as of two under one id the earlier stands, is not what was noted.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.protocol.records import NodeId, TaskId, WorkflowId, WorkflowSpec
from agent.protocol.table import Table


class OwnWork:
    """The workflows of the table that were submitted here, and which of these notes changed."""

    def __init__(self, me: NodeId, table: Table, noted: Iterable[WorkflowId]) -> None:
        self._me, self._table = me, table
        self.noted = {each: None for each in noted if each in table.workflows}
        self.changed: dict[WorkflowId, None] = dict.fromkeys(noted)

    def believe_records(self) -> None:
        """Note what the records that are here now say was submitted here: those of a version that
        noted nothing, which have been taken for that all along."""
        told = self._table.workflows.items()
        self.note(name for name, each in told if each.spec.home == self._me)

    def note(self, workflows: Iterable[WorkflowId]) -> None:
        """Note that these were submitted here."""
        for each in workflows:
            self.noted[each] = self.changed[each] = None

    def drop(self, workflows: Iterable[WorkflowId]) -> None:
        """Drop the notes of these workflows, where there are any."""
        for each in workflows:
            if each in self.noted:
                del self.noted[each]
                self.changed[each] = None

    def take_changes(self) -> tuple[tuple[WorkflowId, ...], tuple[WorkflowId, ...]]:
        """Return the workflows whose notes changed since the last call: those noted now, and those
        not noted any more."""
        changed, self.changed = self.changed, {}
        noted = tuple(each for each in changed if each in self.noted)
        return noted, tuple(each for each in changed if each not in self.noted)

    def has(self, task: TaskId) -> bool:
        """Tell whether a task of the table belongs to what was submitted here."""
        return self._table.workflow_of[task] in self.noted

    def home(self, task: TaskId) -> NodeId:
        """Return what ``home_of`` does of the workflow of a task, which the table must know."""
        return self.home_of(self._table.workflows[self._table.workflow_of[task]].spec)

    def home_of(self, spec: WorkflowSpec) -> NodeId:
        """Return the node on which the person who sits there submitted this workflow; empty where
        it came from elsewhere, or this node has no note that it was so here."""
        if spec.workflow in self.noted:
            return self._me
        return "" if spec.home == self._me else spec.home
