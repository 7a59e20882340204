"""The default order: look ahead, then keep as many workflows in strict order as is good for all.

Strict order gives the least average end of workflows and a late last one; advancing all evenly
gives the reverse. Both at once comes from keeping the first m in strict order and advancing the
others evenly, the task with the longest remaining path first; which m depends on the number of
places and on what is left. So each m is played through with the expected lengths. Least average end
wins, then least last end, then the larger m, which is nearer to turn by turn.

The first are meant by rank. Where that costs more than `MARGIN` of the average, or makes the last
end later at the same average, first are within a band those with the least left to start: when
nodes die and the survivors sit on workflows far down the rank, finishing what is well advanced is
worth more than returning to the lost beginnings.

The question is put anew at every decision, on every node, with pictures that differ by
milliseconds. So differences below `TOLERANCE` count as none, and what is left of running tasks
moves no keys, only forecasts.

Limits: with more than `TASKS_MAX` tasks left the order is strict. The last round is then far away,
the average is what strict order gives anyway, and a node must not think longer than a task takes to
start. As the work shrinks, looking ahead sets in long before it matters.

**What the flock would do with a given order, by the expected lengths.**

An order cannot be judged by looking at it: whether the last workflow ends late shows only when the
places have been dealt out to the end. So the remaining work is laid out once as numbers (`Work`)
and then played through for each order that is considered (`forecast`): a place that falls free
takes the first ready task of the order, as the nodes will.

Limits: fetching and starting up take no time here, all places are equal, and a task that waits for
something outside the picture never starts, so that its workflow counts in no average.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain
from math import inf
from typing import Final

from agent.protocol.policy.ranking import bands, believed_s, ranked, remaining_paths_s, strict_order
from agent.protocol.policy.view import FlockView, Stage, TaskView, WorkflowView

TASKS_MAX: Final = 400
"""So many unfinished tasks are looked ahead."""

CANDIDATES_MAX: Final = 24
"""About so many values of m are tried per sequence, evenly spread over longer ones."""

TOLERANCE: Final = 0.001
"""Relative difference of ends that counts as none."""

MARGIN: Final = 0.005
"""Share of the average end that must be gained before workflows of one band leave their rank."""


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
    their lengths, dependants and states as lists by number. A task that waits for something unknown
    never starts there."""
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


@dataclass(frozen=True, slots=True)
class _Candidate:
    order: list[int]
    outlook: Outlook


class LookAhead:
    """The first m workflows in strict order, the others evenly, m by looking ahead."""

    def order(self, flock: FlockView) -> list[str]:
        """Return the id of every ready task once, the one to start first in front; where there is
        no choice, or there are more than ``TASKS_MAX`` tasks, in strict order."""
        workflows = ranked(flock)
        if not _is_a_choice(flock):
            return strict_order(workflows)
        work = lay_out(workflows)
        ready = set(work.ready)
        return [work.tasks[i].task for i in _best_order(work, workflows, flock.slots) if i in ready]


def _is_a_choice(flock: FlockView) -> bool:
    """Whether looking ahead can change who starts, at a bounded cost."""
    if sum(len(workflow.tasks) for workflow in flock.workflows) > TASKS_MAX:
        return False
    states = [task.state for workflow in flock.workflows for task in workflow.tasks]
    free = max(0, flock.slots - states.count(Stage.RUNNING))
    return flock.slots > 0 and states.count(Stage.READY) > max(1, free)


def _best_order(work: Work, workflows: list[WorkflowView], slots: int) -> list[int]:
    band_of = bands(workflows)
    by_rank = list(range(len(workflows)))
    best = _best(_survey(work, _orders(work, band_of, by_rank), slots))
    least_left = _least_left_first(work, band_of)
    if least_left != by_rank:
        target = Outlook(best.outlook.ends_sum_s, 0.0, best.outlook.ended)
        rivals = _survey(work, _orders(work, band_of, least_left), slots, target)
        better = [rival for rival in rivals if _is_worth_it(rival.outlook, best.outlook)]
        best = _best(better) if better else best
    return best.order


def _is_worth_it(rival: Outlook, ranked_best: Outlook) -> bool:
    """Whether leaving the rank gains enough of the average, or costs none and ends sooner."""
    gained = rival.ends_sum_s <= ranked_best.ends_sum_s * (1 - MARGIN)
    sooner = rival.last_end_s < ranked_best.last_end_s * (1 - TOLERANCE)
    return gained or (sooner and rival.ends_sum_s <= ranked_best.ends_sum_s * (1 + TOLERANCE))


def _survey(
    work: Work, orders: Iterator[list[int]], slots: int, target: Outlook | None = None
) -> list[_Candidate]:
    """Play the orders through, dropping early what is worse than the target or one before."""
    limit_s, ending = (target.ends_sum_s, target.ended) if target else (inf, 0)
    found: list[_Candidate] = []
    for order in orders:
        outlook = forecast(work, order, slots, ending, limit_s * (1 + TOLERANCE))
        if outlook is not None:
            found.append(_Candidate(order, outlook))
            limit_s, ending = min(limit_s, outlook.ends_sum_s), outlook.ended
    return found


def _best(candidates: list[_Candidate]) -> _Candidate:
    """Least average end, then least last end, then the first: the one with the largest m."""
    limit_s = min(each.outlook.ends_sum_s for each in candidates) * (1 + TOLERANCE)
    shortlist = [each for each in candidates if each.outlook.ends_sum_s <= limit_s]
    limit_s = min(each.outlook.last_end_s for each in shortlist) * (1 + TOLERANCE)
    return next(each for each in shortlist if each.outlook.last_end_s <= limit_s)


def _orders(work: Work, band_of: list[int], sequence: list[int]) -> Iterator[list[int]]:
    """All tasks in order, for each m from all of `sequence` down; none twice in a row."""
    turn_of = [0] * len(sequence)
    for turn, workflow in enumerate(sequence):
        turn_of[workflow] = turn
    turns = [turn_of[workflow] for workflow in work.workflow_of]
    tasks, paths_s = range(len(turns)), work.paths_s
    strictly = sorted(tasks, key=lambda i: (turns[i], -paths_s[i]))
    evenly = sorted(tasks, key=lambda i: (band_of[work.workflow_of[i]], -paths_s[i], turns[i]))
    step = -(-len(sequence) // CANDIDATES_MAX)
    before: list[int] = []
    for m in range(len(sequence), -1, -step):
        order = [i for i in strictly if turns[i] < m] + [i for i in evenly if turns[i] >= m]
        if order != before:
            yield order
        before = order


def _least_left_first(work: Work, band_of: list[int]) -> list[int]:
    """Workflows by band, then by what is left to start; what runs already moves no order."""
    left_s = [0.0] * len(band_of)
    running = {task for _, task in work.running}
    for task, workflow in enumerate(work.workflow_of):
        if task not in running:
            left_s[workflow] += work.lengths_s[task]
    return sorted(range(len(band_of)), key=lambda workflow: (band_of[workflow], left_s[workflow]))
