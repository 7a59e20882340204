"""Whose turn it is among workflows, before any look ahead.

The orders that respect waiting start from one rank: interactive before low, then the level, then
submission. A low workflow that waits rises, so that none starves behind a stream of more urgent
ones; it never rises to the level of interactive work, because a person waits for that.

Neighbours in rank that were given the same priority at about the same time form a *band*. Only
within a band may a policy serve out of turn for the good of the whole; so nobody is overtaken by
work that came much later. A band is bounded by the difference of two ages, which time does not
change, and not by the level, which jumps: otherwise the order of a flock would stumble at every
tenth minute.
"""

from __future__ import annotations

from typing import Final

from agent.protocol.policy.view import (
    INTERACTIVE_PRIORITY,
    LOW_PRIORITY_MAX,
    FlockView,
    WorkflowView,
)

AGEING_STEP_S: Final = 600.0
"""Waiting this long raises a low workflow by one level; a band spans less than this."""


def level(workflow: WorkflowView) -> int:
    """Return the workflow's priority with what waiting has added to it; interactive stays as it
    is."""
    if workflow.priority >= INTERACTIVE_PRIORITY:
        return INTERACTIVE_PRIORITY
    if not workflow.age_s >= AGEING_STEP_S:
        return workflow.priority
    steps = min(workflow.age_s / AGEING_STEP_S, LOW_PRIORITY_MAX - workflow.priority)
    return workflow.priority + int(steps)


def ranked(flock: FlockView) -> list[WorkflowView]:
    """Return the workflows in the order in which they are entitled to be served."""
    levels: dict[int, list[WorkflowView]] = {}
    for workflow in flock.workflows:
        levels.setdefault(level(workflow), []).append(workflow)
    # Level by level: comparing stamps alone is several times faster than comparing nested ranks.
    return [each for at in sorted(levels, reverse=True) for each in sorted(levels[at], key=_stamp)]


def bands(workflows: list[WorkflowView]) -> list[int]:
    """Return for each workflow, given in rank order, the number of its band; those of one priority
    that have waited about as long as its first share a band, and band 0 is served first."""
    numbers: list[int] = []
    band, head = -1, None
    for workflow in workflows:
        if head is None or not _within_a_step(head, workflow):
            band, head = band + 1, workflow
        numbers.append(band)
    return numbers


def _stamp(workflow: WorkflowView) -> tuple[int, int, str]:
    return *workflow.submitted, workflow.workflow


def _within_a_step(head: WorkflowView, workflow: WorkflowView) -> bool:
    same = min(head.priority, INTERACTIVE_PRIORITY) == min(workflow.priority, INTERACTIVE_PRIORITY)
    return same and abs(head.age_s - workflow.age_s) < AGEING_STEP_S
