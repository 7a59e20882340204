"""Whose turn it is among workflows before any look ahead, and the two orders made of that alone.

The orders that respect waiting start from one rank: interactive before low, then the level, then
submission, put back for whoever has had more than others lately (``behind_s``, counted in ``shares``). A low workflow that waits rises, so that none starves behind a stream of more urgent
ones; it never rises to the level of interactive work, because a person waits for that.

Neighbours in rank that were given the same priority at about the same time form a *band*. Only
within a band may a policy serve out of turn for the good of the whole; so nobody is overtaken by
work that came much later. A band is bounded by the difference of two ages, which time does not
change, and not by the level, which jumps: otherwise the order of a flock would stumble at every
tenth minute.

**Paths**: how far each task is from the end of its workflow. The longest remaining path is the one
number that says how urgent a task is among its siblings: started late, it makes the workflow end
late, whatever else runs beside it. A need that the picture does not hold adds nothing to any path,
and tasks that need each other in a circle count by their own length: neither can start, but neither
may hang a node.

**Strict** workflow order finishes what came first before starting what came later. It gives about
the least average end of workflows at next to no cost, whatever their number, and everybody can
predict it. What it does not give is a good end of the last workflow: that one is begun last and
then runs alone while other places stand idle.

**First come, first served** within a priority is the queue of the source, kept for comparison:
whatever became ready first starts first. So all workflows advance together and end together: mostly
the last one early and the average late. It knows neither ageing nor lengths, and tasks that became
ready together follow submission.
"""

from __future__ import annotations

from typing import Final

from agent.protocol.policy.view import (
    INTERACTIVE_PRIORITY,
    LOW_PRIORITY_MAX,
    FlockView,
    Stage,
    WorkflowView,
)

AGEING_STEP_S: Final = 600.0
"""Waiting this long raises a low workflow by one level; a band spans less than this."""
LENGTH_S_MAX: Final = 30 * 24 * 3600.0
"""No expectation is believed beyond this."""


def level(workflow: WorkflowView) -> int:
    """Return the workflow's priority, raised by one for each ``AGEING_STEP_S`` that a low one has
    waited, to the highest low one at most; interactive stays as it is."""
    if workflow.priority >= INTERACTIVE_PRIORITY:
        return INTERACTIVE_PRIORITY
    if not workflow.age_s >= AGEING_STEP_S:
        return workflow.priority
    steps = min(workflow.age_s / AGEING_STEP_S, LOW_PRIORITY_MAX - workflow.priority)
    return workflow.priority + int(steps)


def ranked(flock: FlockView) -> list[WorkflowView]:
    """Return the workflows in the order in which they are entitled to be served: by level, the
    highest first, then by submission, put back by what its submitter has had more than others."""
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
    wall_ms, count = workflow.submitted
    return wall_ms + int(1000 * workflow.behind_s), count, workflow.workflow


def _within_a_step(head: WorkflowView, workflow: WorkflowView) -> bool:
    same = min(head.priority, INTERACTIVE_PRIORITY) == min(workflow.priority, INTERACTIVE_PRIORITY)
    apart_s = (head.age_s - head.behind_s) - (workflow.age_s - workflow.behind_s)
    return same and abs(apart_s) < AGEING_STEP_S


def believed_s(length_s: float) -> float:
    """Return an expected length as far as it can be believed; what is not a number counts as
    nothing."""
    return min(length_s, LENGTH_S_MAX) if length_s > 0 else 0.0


def remaining_paths_s(workflow: WorkflowView) -> list[float]:
    """Return for each task, in the order of the workflow, the length of the longest path from its
    start to the end of the workflow. Needs outside it add nothing; tasks in a circle count by their
    own length."""
    paths_s = [believed_s(task.length_s) for task in workflow.tasks]
    if len(paths_s) == 1:
        return paths_s
    index = {task.task: number for number, task in enumerate(workflow.tasks)}
    producers = [[index[need] for need in task.needs if need in index] for task in workflow.tasks]
    open_dependants = [0] * len(paths_s)
    for needed in producers:
        for producer in needed:
            open_dependants[producer] += 1
    behind_s = [0.0] * len(paths_s)
    settled = [number for number, count in enumerate(open_dependants) if not count]
    while settled:
        number = settled.pop()
        paths_s[number] += behind_s[number]
        for producer in producers[number]:
            behind_s[producer] = max(behind_s[producer], paths_s[number])
            open_dependants[producer] -= 1
            if not open_dependants[producer]:
                settled.append(producer)
    return paths_s


class Strict:
    """Workflows by rank; within one the longest remaining path first."""

    def order(self, flock: FlockView) -> list[str]:
        """Return every ready task once, the one to start first in front."""
        return strict_order(ranked(flock))


def strict_order(workflows: list[WorkflowView]) -> list[str]:
    """Return the ids of the ready tasks of workflows that are given in rank order: workflow by
    workflow, the longest remaining path first."""
    names: list[str] = []
    for workflow in workflows:
        ready = [i for i, task in enumerate(workflow.tasks) if task.state is Stage.READY]
        if len(ready) > 1:  # one alone needs no comparison, and that is the case with chains
            paths_s = remaining_paths_s(workflow)
            ready.sort(key=paths_s.__getitem__, reverse=True)
        names.extend(workflow.tasks[i].task for i in ready)
    return names


class FirstCome:
    """By priority, then by how long a task has been ready, then by submission."""

    def order(self, flock: FlockView) -> list[str]:
        """Return the id of every ready task once, the one to start first in front: by priority
        without ageing, then who has been ready longest, then by submission."""
        queue = [
            (
                -min(workflow.priority, INTERACTIVE_PRIORITY),
                -task.ready_s,
                workflow.submitted,
                workflow.workflow,
                place,
                task.task,
            )
            for workflow in flock.workflows
            for place, task in enumerate(workflow.tasks)
            if task.state is Stage.READY
        ]
        return [entry[-1] for entry in sorted(queue)]
