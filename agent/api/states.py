"""What the states of tasks say of their workflow: reckoned by the node, and by whoever follows it."""

from __future__ import annotations

from collections.abc import Mapping

from agent.api.values import WorkflowState
from agent.protocol.states import ENDED, TaskState

__all__ = ["ENDED", "UNDER_WAY", "workflow_state"]

UNDER_WAY = (TaskState.SCHEDULED, TaskState.RUNNING, TaskState.SUSPENDED)
"""A machine has the task in hand."""


def workflow_state(counts: Mapping[TaskState, int]) -> WorkflowState:
    """Return the state of a workflow of which so many tasks are in each state."""
    seen = {state for state, count in counts.items() if count}
    if not seen.isdisjoint(UNDER_WAY):
        return "running"
    if not seen.issubset(ENDED):
        return "waiting"
    if TaskState.ABORTED in seen:
        return "failed"
    return "cancelled" if TaskState.CANCELLED in seen else "finished"
