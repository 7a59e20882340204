"""How finished workflows leave the table without ever coming back.

Deleting a record locally brings it back with the next comparison, so pruning is itself a record
that hides what it names, up to a generation; a retry made elsewhere meanwhile has a higher one
and wins. It is written by the master, when the workflow is finished for longer than the retention
by the *flock's* clock, the median of all clocks it hears: no node prunes by its own clock alone. A
person may have it done earlier; ``requests`` sees to that.
"""

from __future__ import annotations

from agent.protocol.core import Core, Part
from agent.protocol.election import Election
from agent.protocol.records import Pruning, Workflow, WorkflowId
from agent.protocol.table import Table

PERIOD_S = 10.0
PRUNED_AT_ONCE_MAX = 200
REST_S = 3_600.0


class Prunings(Part):
    """Writes prunings when this node is the master; forgets very old ones."""

    def __init__(self, core: Core, election: Election) -> None:
        super().__init__(core)
        self._election = election
        self._looked_s = 0.0
        self._finished_s: dict[WorkflowId, float] = {}

    def on_tick(self) -> None:
        """Forget prunings that have been kept long enough and, as the master, prune workflows that
        finished long ago and that no unfinished work needs, some at a time; do nothing until it is
        time to look again, or while most other members are not heard."""
        core = self.core
        if core.now_s - self._looked_s < min(PERIOD_S, core.settings.retention_ms / 1000):
            return
        self._looked_s = core.now_s
        wall_ms = core.flock_wall_ms()
        if wall_ms is None:
            return
        if core.joined and self._election.master == core.me:
            self._prune(wall_ms)
        self._forget(wall_ms)

    def _prune(self, wall_ms: int) -> None:
        core = self.core
        oldest_ms = wall_ms - core.settings.retention_ms
        finished = [
            workflow
            for workflow_id, workflow in core.table.workflows.items()
            if self._rested(workflow_id)
            and self._last_moved_ms(workflow, wall_ms) < oldest_ms
            and not needed_elsewhere(core.table, workflow)
        ]
        if not finished:
            return
        stamp = (wall_ms, 0)
        core.cause = "retention is over"
        core.write(
            prunings=[
                Pruning(workflow.spec.workflow, workflow.generation, stamp, core.me)
                for workflow in finished[:PRUNED_AT_ONCE_MAX]
            ]
        )

    def _rested(self, workflow: WorkflowId) -> bool:
        """It was seen finished for a while: a wish that ended it carries no stamp of its own."""
        core = self.core
        if core.table.unfinished.get(workflow):
            self._finished_s.pop(workflow, None)
            return False
        since_s = self._finished_s.setdefault(workflow, core.now_s)
        return core.now_s - since_s >= min(REST_S, core.settings.retention_ms / 1000)

    def _last_moved_ms(self, workflow: Workflow, wall_ms: int) -> int:
        """When a run of it last moved; a stamp from the future tells nothing."""
        table = self.core.table
        stamps = [workflow.spec.submitted[0]]
        for spec in workflow.spec.tasks:
            stamps += [run.stamp[0] for run in table.life(spec.task).runs]
        believable = wall_ms + self.core.settings.clock_ahead_ms_max
        return max((stamp for stamp in stamps if stamp <= believable), default=0)

    def _forget(self, wall_ms: int) -> None:
        """Only by a clock that is near this node's own: one far ahead would forget too early."""
        core = self.core
        for workflow in [each for each in self._finished_s if each not in core.table.workflows]:
            del self._finished_s[workflow]
        if abs(wall_ms - core.wall_ms) > core.settings.clock_ahead_ms_max:
            return
        oldest_ms = min(wall_ms, core.wall_ms) - core.settings.pruning_kept_ms
        old = [w for w, pruning in core.table.prunings.items() if pruning.stamp[0] < oldest_ms]
        for workflow in old:
            core.forget_pruning(workflow)


def needed_elsewhere(table: Table, workflow: Workflow) -> bool:
    """Tell whether another workflow that is unfinished has a task that needs one of this
    workflow's."""
    for spec in workflow.spec.tasks:
        for dependant in table.dependants(spec.task):
            other = table.workflow_of.get(dependant, "")
            if other != workflow.spec.workflow and table.unfinished.get(other):
                return True
    return False
