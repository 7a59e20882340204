"""The default order: look ahead, then keep as many workflows in strict order as is good for all.

Strict order gives the least average end of workflows and a late last one; advancing all evenly
gives the reverse. Both at once comes from keeping the first m in strict order and advancing the
others evenly, the task with the longest remaining path first; which m depends on the number of
places and on what is left. So each m is played through with the expected lengths. Least average end
wins, but not at any price of the last: an average that is better by a thousandth is not worth a last
end that is a third later. So a share of the last end counts as `LAST_COUNTS` of such a share of the
average; of equals the larger m wins, which is nearer to turn by turn. Where places are not equal,
forecasts of the last end are too rough for that, and it decides among equal averages only.

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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Final, Protocol

from agent.protocol.policy.forecast import (
    Outlook,
    UnequalPlaces,
    Work,
    forecast,
    forecast_listed,
    forecast_unequal,
    lay_out,
)
from agent.protocol.policy.ranking import bands, ranked, strict_order
from agent.protocol.policy.view import FlockView, Stage, WorkflowView

TASKS_MAX: Final = 400
"""So many unfinished tasks are looked ahead."""

CANDIDATES_MAX: Final = 24
"""About so many values of m are tried per sequence, evenly spread over longer ones."""

CANDIDATES_UNEQUAL_MAX: Final = 12
"""The same where places are not equal: each forecast costs several times as much."""

TOLERANCE: Final = 0.001
"""Relative difference of ends that counts as none."""

LAST_COUNTS: Final = 0.25
"""How much a share of the last end counts beside the same share of the average end."""

SPARED: Final = 0.05
"""No more than this share of the average end is given for the last."""

MARGIN: Final = 0.005
"""Share of the average end that must be gained before workflows of one band leave their rank."""


class _Play(Protocol):
    """Plays an order through on the places that there are, as ``forecast`` does."""

    def __call__(
        self, work: Work, order: list[int], *, ending: int = 0, give_up_s: float = inf
    ) -> Outlook | None:
        """Return how it turns out; None where that is worse than what is to be given up at."""
        ...


@dataclass(frozen=True, slots=True)
class _Candidate:
    order: list[int]
    outlook: Outlook


@dataclass(frozen=True, slots=True)
class _Judging:
    """How many orders are tried, and what the last end counts beside the average, which may be worse
    for it by the share ``spared``."""

    candidates_max: int
    last_counts: float
    spared: float


EQUAL: Final = _Judging(CANDIDATES_MAX, LAST_COUNTS, SPARED)
UNEQUAL: Final = _Judging(CANDIDATES_UNEQUAL_MAX, 0.0, TOLERANCE)


class LookAhead:
    """The first m workflows in strict order, the others evenly, m by looking ahead."""

    def order(self, flock: FlockView) -> list[str]:
        """Return the id of every ready task once, the one to start first in front; where there is
        no choice, or there are more than ``TASKS_MAX`` tasks, in strict order. Where places are not
        equal, tasks that are not ready stand among them if they are to keep places."""
        workflows = ranked(flock)
        if not _is_a_choice(flock):
            return strict_order(workflows)
        work = lay_out(workflows)
        ready = set(work.ready)
        if not flock.places:
            best = _best_order(work, workflows, partial(forecast, slots=flock.slots), EQUAL)
            return [work.tasks[i].task for i in best.order if i in ready]
        places = UnequalPlaces(flock.places)
        by_moment = _best_order(work, workflows, partial(forecast_unequal, places=places), UNEQUAL)
        listed = _best_order(work, workflows, partial(forecast_listed, places=places), UNEQUAL)
        if _best([by_moment, listed], UNEQUAL) is by_moment:
            return [work.tasks[i].task for i in by_moment.order if i in ready]
        running = {task for _, task in work.running}
        return [work.tasks[i].task for i in listed.order if i not in running]


def _is_a_choice(flock: FlockView) -> bool:
    """Whether looking ahead can change who starts, at a bounded cost."""
    if sum(len(workflow.tasks) for workflow in flock.workflows) > TASKS_MAX:
        return False
    states = [task.state for workflow in flock.workflows for task in workflow.tasks]
    if flock.places:
        return states.count(Stage.READY) > 0
    free = max(0, flock.slots - states.count(Stage.RUNNING))
    return flock.slots > 0 and states.count(Stage.READY) > max(1, free)


def _best_order(
    work: Work, workflows: list[WorkflowView], play: _Play, judging: _Judging
) -> _Candidate:
    band_of = bands(workflows)
    by_rank = list(range(len(workflows)))
    orders = _orders(work, band_of, by_rank, judging.candidates_max)
    best = _best(_survey(work, orders, play, judging.spared), judging)
    least_left = _least_left_first(work, band_of)
    if least_left != by_rank:
        orders = _orders(work, band_of, least_left, judging.candidates_max)
        target = Outlook(best.outlook.ends_sum_s, 0.0, best.outlook.ended)
        rivals = _survey(work, orders, play, judging.spared, target)
        better = [each for each in rivals if _is_worth_it(each.outlook, best.outlook, judging)]
        best = _best(better, judging) if better else best
    return best


def _is_worth_it(rival: Outlook, ranked_best: Outlook, judging: _Judging) -> bool:
    """Whether leaving the rank gains enough, or costs nothing of the average and ends sooner."""
    gained = _cost(rival, ranked_best, judging) <= 1 + judging.last_counts - MARGIN
    sooner = rival.last_end_s < ranked_best.last_end_s * (1 - TOLERANCE)
    return gained or (sooner and rival.ends_sum_s <= ranked_best.ends_sum_s * (1 + TOLERANCE))


def _cost(outlook: Outlook, least: Outlook, judging: _Judging) -> float:
    """Average and last end as shares of the least ones, weighed and added up."""
    average = outlook.ends_sum_s / (least.ends_sum_s or 1.0)
    return average + judging.last_counts * outlook.last_end_s / (least.last_end_s or 1.0)


def _survey(
    work: Work,
    orders: Iterator[list[int]],
    play: _Play,
    spared: float,
    target: Outlook | None = None,
) -> list[_Candidate]:
    """Play the orders through, dropping early what is worse than the target or one before by more
    than is spared."""
    limit_s, ending = (target.ends_sum_s, target.ended) if target else (inf, 0)
    found: list[_Candidate] = []
    for order in orders:
        outlook = play(work, order, ending=ending, give_up_s=limit_s * (1 + spared))
        if outlook is not None:
            found.append(_Candidate(order, outlook))
            limit_s, ending = min(limit_s, outlook.ends_sum_s), outlook.ended
    return found


def _best(candidates: list[_Candidate], judging: _Judging) -> _Candidate:
    """Least average end with what the last end counts, then least last end, then the first: the one
    with the largest m."""
    ends_s = [(each.outlook.ends_sum_s, each.outlook.last_end_s) for each in candidates]
    least = Outlook(min(each for each, _ in ends_s), min(each for _, each in ends_s), 0)
    spared_s = least.ends_sum_s * (1 + judging.spared)
    shortlist = [each for each in candidates if each.outlook.ends_sum_s <= spared_s]
    limit = min(_cost(each.outlook, least, judging) for each in shortlist) + TOLERANCE
    shortlist = [each for each in shortlist if _cost(each.outlook, least, judging) <= limit]
    limit_s = min(each.outlook.last_end_s for each in shortlist) * (1 + TOLERANCE)
    return next(each for each in shortlist if each.outlook.last_end_s <= limit_s)


def _orders(
    work: Work, band_of: list[int], sequence: list[int], candidates_max: int
) -> Iterator[list[int]]:
    """All tasks in order, for each m from all of `sequence` down; none twice in a row."""
    turn_of = [0] * len(sequence)
    for turn, workflow in enumerate(sequence):
        turn_of[workflow] = turn
    turns = [turn_of[workflow] for workflow in work.workflow_of]
    tasks, paths_s = range(len(turns)), work.paths_s
    strictly = sorted(tasks, key=lambda i: (turns[i], -paths_s[i]))
    evenly = sorted(tasks, key=lambda i: (band_of[work.workflow_of[i]], -paths_s[i], turns[i]))
    step = -(-len(sequence) // candidates_max)
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
