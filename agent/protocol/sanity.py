"""Numbers that no honest node reaches: what carries them is left out.

A node writes numbers above the highest that it accepted. What it accepts therefore stays well
below what the codec can read, or one hostile record would make it write what no peer can decode.
"""

from __future__ import annotations

from agent.protocol.records import COUNTER_SANE_MAX, Life, Stamp, Workflow

INCARNATION_SANE_MAX = 2**52
STAMP_SANE_MAX = 2**61


def sane_life(life: Life) -> bool:
    """Tell whether all counters of the life leave room above them."""
    if max(life.generation, life.floor, life.cancel) > COUNTER_SANE_MAX:
        return False
    return all(
        max(run.generation, run.attempt, run.revision) <= COUNTER_SANE_MAX
        and sane_incarnation(run.incarnation)
        for run in life.runs
    )


def sane_workflow(workflow: Workflow) -> bool:
    """Tell whether the counters of the wishes on a workflow leave room above them."""
    return max(workflow.generation, workflow.priority.revision) <= COUNTER_SANE_MAX


def sane_incarnation(incarnation: int) -> bool:
    """Tell whether a successor of this incarnation can still be told."""
    return incarnation <= INCARNATION_SANE_MAX


def sane_stamp(stamp: Stamp) -> bool:
    """Tell whether a later stamp can still be told."""
    return max(stamp) <= STAMP_SANE_MAX
