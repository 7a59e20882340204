"""What the flock would do with a given order, by the expected lengths.

An order cannot be judged by looking at it: whether the last workflow ends late shows only when the
places have been dealt out to the end. So the remaining work is laid out once as numbers (`Work`)
and then played through for each order that is considered (`forecast`): a place that falls free
takes the first ready task of the order, as the nodes will.

Limits: fetching and starting up take no time here, all places are equal, and a task that waits for
something outside the picture never starts, so that its workflow counts in no average.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain
from math import inf

from agent.protocol.policy.ranking import believed_s, remaining_paths_s
from agent.protocol.policy.view import Stage, TaskView, WorkflowView


@dataclass(frozen=True, slots=True)
class Work:
    """Unfinished tasks as numbers. A task is its index, a workflow its place in rank order."""

    tasks: list[TaskView]
    workflow_of: list[int]
    lengths_s: list[float]
    paths_s: list[float]
    dependants: list[list[int]]
    missing: list[int]
    ready: list[int]
    running: list[tuple[float, int]]
    unfinished: list[int]


@dataclass(frozen=True, slots=True)
class Outlook:
    """How an order turns out: seconds until each workflow ends, added up, and until the last."""

    ends_sum_s: float
    last_end_s: float
    ended: int


def lay_out(workflows: list[WorkflowView]) -> Work:
    """Return what ``forecast`` plays through: the tasks of workflows, given in rank order, with
    their lengths, dependants and states as lists by number."""
    tasks = [task for workflow in workflows for task in workflow.tasks]
    numbered = list(enumerate(tasks))
    lengths_s = [believed_s(task.length_s) for task in tasks]
    return Work(
        tasks=tasks,
        workflow_of=[place for place, each in enumerate(workflows) for _ in each.tasks],
        lengths_s=lengths_s,
        paths_s=list(chain.from_iterable(map(remaining_paths_s, workflows))),
        dependants=_dependants(tasks),
        # Who waits without a known reason waits for something outside, which never comes here.
        missing=[max(1, len(task.needs)) for task in tasks],
        ready=[number for number, task in numbered if task.state is Stage.READY],
        running=[(lengths_s[i], i) for i, task in numbered if task.state is Stage.RUNNING],
        unfinished=[len(workflow.tasks) for workflow in workflows],
    )


def forecast(
    work: Work, order: list[int], slots: int, ending: int = 0, give_up_s: float = inf
) -> Outlook | None:
    """Play an order of tasks through and return when workflows end; None once the ends of
    ``ending`` workflows must exceed ``give_up_s``."""
    place_of = [0] * len(order)
    for place, task in enumerate(order):
        place_of[task] = place
    startable = [place_of[task] for task in work.ready]
    running, missing, unfinished = work.running.copy(), work.missing.copy(), work.unfinished.copy()
    heapify(startable)
    heapify(running)
    lengths_s, dependants, workflow_of = work.lengths_s, work.dependants, work.workflow_of
    free, ended, now_s, ends_sum_s, last_end_s = slots - len(running), 0, 0.0, 0.0, 0.0
    while True:
        while free > 0 and startable:
            task = order[heappop(startable)]
            heappush(running, (now_s + lengths_s[task], task))
            free -= 1
        if not running:
            return Outlook(ends_sum_s, last_end_s, ended)
        now_s = running[0][0]
        if ends_sum_s + (ending - ended) * now_s > give_up_s:
            return None
        while running and running[0][0] <= now_s:
            task = heappop(running)[1]
            free += 1
            for dependant in dependants[task]:
                missing[dependant] -= 1
                if not missing[dependant]:
                    heappush(startable, place_of[dependant])
            unfinished[workflow_of[task]] -= 1
            if not unfinished[workflow_of[task]]:
                ended += 1
                ends_sum_s += now_s
                last_end_s = now_s


def _dependants(tasks: list[TaskView]) -> list[list[int]]:
    index = {task.task: number for number, task in enumerate(tasks)}
    dependants: list[list[int]] = [[] for _ in tasks]
    for number, task in enumerate(tasks):
        if task.state is Stage.WAITING:
            for need in task.needs:
                if need in index:
                    dependants[index[need]].append(number)
    return dependants
