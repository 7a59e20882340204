"""What the flock would do with a given order, by the expected lengths.

An order cannot be judged by looking at it: whether the last workflow ends late shows only when the
places have been dealt out to the end. So the remaining work is laid out once as numbers (`Work`)
and then played through for each order that is considered (`forecast`): a place that falls free
takes the first ready task of the order, as the nodes will.

Where places are not equal a task goes to the one on which it ends first, be that one that is still
taken: then it waits, and what comes behind it in the order may take others. So a slow place stays
empty while what it would do is done sooner elsewhere. That can be done with what is ready, again
and again (`forecast_unequal`), or once with all that is still to come (`forecast_listed`): then
tasks that are not ready yet keep places, too, and slow places get something to do while there is
more than the fast ones can do. Places that differ by less than a quarter of an octave are taken for
equal: how many kinds there are decides what a forecast costs.

Limits: fetching and starting up take no time here, and a task that waits for something outside the
picture never starts, so that its workflow counts in no average.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace
from itertools import chain
from math import inf, log2
from typing import Final

from agent.protocol.policy.ranking import believed_s, remaining_paths_s
from agent.protocol.policy.view import Places, Stage, TaskView, WorkflowView

PER_OCTAVE: Final = 4
SLOWNESS_MIN, SLOWNESS_MAX = 1 / 64, 64.0


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
    their lengths as far as these are believed, dependants and states as lists by number. A task
    that waits for something unknown never starts there."""
    tasks = [task for workflow in workflows for task in workflow.tasks]
    numbered = list(enumerate(tasks))
    lengths_s = [believed_s(task.length_s) for task in tasks]
    return Work(
        tasks=tasks,
        workflow_of=[place for place, each in enumerate(workflows) for _ in each.tasks],
        lengths_s=lengths_s,
        paths_s=list(chain.from_iterable(map(remaining_paths_s, workflows))),
        dependants=_dependants(tasks),
        missing=[len(task.needs) for task in tasks],
        ready=[number for number, task in numbered if task.state is Stage.READY],
        running=[(lengths_s[i], i) for i, task in numbered if task.state is Stage.RUNNING],
        unfinished=[len(workflow.tasks) for workflow in workflows],
    )


def forecast(
    work: Work, order: list[int], slots: int, ending: int = 0, give_up_s: float = inf
) -> Outlook | None:
    """Play an order of all tasks, by their numbers, through on so many places, and return the ends
    of the workflows added up, the last one, and how many there are, in seconds from now; those that
    never can end are not counted. None once the sum of the first ``ending`` ends must exceed
    ``give_up_s``, which without these two never is. ``work`` stays as it is."""
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


class UnequalPlaces:
    """The places by how slow they are, the fastest first."""

    def __init__(self, places: Iterable[Places]) -> None:
        kinds: dict[int, list[Places]] = {}
        for each in places:
            slowness = min(max(each.slowness, SLOWNESS_MIN), SLOWNESS_MAX)
            kinds.setdefault(round(PER_OCTAVE * log2(slowness)), []).append(each)
        ordered = sorted(kinds)
        self.slowness = [2.0 ** (each / PER_OCTAVE) for each in ordered]
        self.slots = [sum(each.slots for each in kinds[at]) for at in ordered]
        self.kind_of = {
            each.node: number for number, at in enumerate(ordered) for each in kinds[at]
        }

    def free_s(self, work: Work) -> list[list[float]]:
        """Return for each kind when each of its places is free: now, or when what runs there has
        ended. What runs where no place is counted, as its owner is back, takes none."""
        free_s: list[list[float]] = [[] for _ in self.slots]
        for left_s, task in work.running:
            kind = self.kind_of.get(work.tasks[task].host)
            if kind is not None and len(free_s[kind]) < self.slots[kind]:
                free_s[kind].append(left_s)
        for kind, slots in enumerate(self.slots):
            free_s[kind] += [0.0] * (slots - len(free_s[kind]))
            free_s[kind].sort()
        return free_s


def forecast_unequal(
    work: Work, order: list[int], places: UnequalPlaces, ending: int = 0, give_up_s: float = inf
) -> Outlook | None:
    """Play an order of tasks through as ``forecast`` does, on places that differ in speed; None,
    too, once the ends must exceed ``give_up_s``."""
    place_of = [0] * len(order)
    for place, task in enumerate(order):
        place_of[task] = place
    startable = sorted(place_of[task] for task in work.ready)
    running, missing, unfinished = work.running.copy(), work.missing.copy(), work.unfinished.copy()
    heapify(running)
    free_s = places.free_s(work)
    ended, now_s, ends_sum_s, last_end_s = 0, 0.0, 0.0, 0.0
    while True:
        if startable:
            startable = _start(work, order, startable, places, free_s, running, now_s)
        if not running:
            return Outlook(ends_sum_s, last_end_s, ended)
        now_s = running[0][0]
        if ends_sum_s + (ending - ended) * now_s > give_up_s:
            return None
        while running and running[0][0] <= now_s:
            task = heappop(running)[1]
            for dependant in work.dependants[task]:
                missing[dependant] -= 1
                if not missing[dependant]:
                    heappush(startable, place_of[dependant])
            unfinished[work.workflow_of[task]] -= 1
            if not unfinished[work.workflow_of[task]]:
                ended += 1
                ends_sum_s += now_s
                last_end_s = now_s


def _start(
    work: Work,
    order: list[int],
    startable: list[int],
    places: UnequalPlaces,
    free_s: list[list[float]],
    running: list[tuple[float, int]],
    now_s: float,
) -> list[int]:
    """Start what ends first on a place that is free, and return what goes on waiting."""
    slowness, lengths_s = places.slowness, work.lengths_s
    kinds = range(len(slowness) - 1, -1, -1)  # of equal ends that on the slower place
    planned = [each.copy() for each in free_s]
    waiting: list[int] = []
    startable.sort()
    for place, at in enumerate(startable):
        if not any(each and each[0] <= now_s for each in planned):
            return waiting + startable[place:]
        length_s = lengths_s[order[at]]
        ends_s, _, kind = min(
            (max(now_s, planned[kind][0]) + length_s * slowness[kind], turn, kind)
            for turn, kind in enumerate(kinds)
            if planned[kind]
        )
        if planned[kind][0] <= now_s:
            heapreplace(free_s[kind], ends_s)
            heappush(running, (ends_s, order[at]))
        else:
            waiting.append(at)
        heapreplace(planned[kind], ends_s)
    return waiting


def forecast_listed(
    work: Work, order: list[int], places: UnequalPlaces, ending: int = 0, give_up_s: float = inf
) -> Outlook | None:
    """Play an order through with each task given once, in order, to the place where it ends first,
    behind all given there before; None once the ends must exceed ``give_up_s``. A need later in the
    order counts as waiting for what stands before it. Raise ``ValueError`` without any place."""
    slowness, lengths_s, free_s = places.slowness, work.lengths_s, places.free_s(work)
    kinds = range(len(slowness) - 1, -1, -1)
    # Who waits without a known reason waits for something outside, which never comes here.
    ready_s = [
        inf if each.state is Stage.WAITING and not each.needs else 0.0 for each in work.tasks
    ]
    ends_s = [0.0] * len(order)
    for left_s, task in work.running:
        ends_s[task] = left_s
    running = {task for _, task in work.running}
    for need in running:
        _wait_for(need, ends_s[need], work, ready_s)
    for task in order:
        if task not in running:
            begins_s, length_s = ready_s[task], lengths_s[task]
            ends_s[task], _, kind = min(
                (max(begins_s, free_s[kind][0]) + length_s * slowness[kind], turn, kind)
                for turn, kind in enumerate(kinds)
                if free_s[kind]
            )
            if begins_s < inf:
                _take(free_s[kind], begins_s, ends_s[task])
            _wait_for(task, ends_s[task], work, ready_s)
    last_s = [0.0] * len(work.unfinished)
    for task, workflow in enumerate(work.workflow_of):
        last_s[workflow] = max(last_s[workflow], ends_s[task])
    found = [each for each in last_s if each < inf]
    outlook = Outlook(sum(found), max(found, default=0.0), len(found))
    return None if sum(sorted(found)[:ending]) > give_up_s else outlook


def _take(free_s: list[float], begins_s: float, ends_s: float) -> None:
    """Of places that are free by then that which was so last: the others can do more before."""
    place = max(0, bisect_right(free_s, begins_s) - 1)
    del free_s[place]
    insort(free_s, ends_s)


def _wait_for(need: int, ends_s: float, work: Work, ready_s: list[float]) -> None:
    for dependant in work.dependants[need]:
        ready_s[dependant] = max(ready_s[dependant], ends_s)
