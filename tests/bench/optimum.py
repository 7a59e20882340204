"""The best that any order could do: what our figures are divided by.

A ratio is worth what its denominator is worth, so the optimum is computed here and not measured.

All tasks of a cell are equally long, so it is enough to look at schedules that start tasks at whole
multiples of that length: rounding every start down to such a multiple keeps chains in order (starts
that were a length apart stay so), puts no more tasks side by side than before (those that now share
a start all ran at the end of that interval), and makes no end later. So a schedule is a sequence of
rounds. A state is how many workflows have 1, 2, ... tasks left; what a round costs is the number
of unfinished workflows; and an idle place helps nobody, so that a round fills all it can. The least
sum of ends, and among those the least last end, follow by dynamic programming over all rounds.

Waiting needs no search: a workflow of k tasks that was submitted at 0 and ends at E has waited E
less k lengths, so schedules with the least average end have the least average waiting, too.

A node that is killed takes its running task along, and the survivors are busy with their own first
task until its end: whenever the kill happens before that, the best from then on is the same. It has
the survivors' workflows one task ahead, after one length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any, Final, cast

TASK_S: Final = 120.0
CHAIN_TASKS: Final = 4
NODES: Final = range(1, 10)
WORKFLOWS: Final = (5, 10, 15)
NODES_FAILED: Final = (2, 5, 8)
FLOCK_NODES: Final = 9
FLOCK_WORKFLOWS: Final = 10


@dataclass(frozen=True, slots=True)
class Optimum:
    """The least average end of workflows, and the least last end with it, since submission."""

    average_s: float
    last_s: float


def figures() -> dict[str, Any]:
    """The figures of the source, and the optimum as it was found by other means."""
    text = (Path(__file__).parent / "figures.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def of_cell(
    nodes: int, workflows: int, chain_tasks: int = CHAIN_TASKS, task_s: float = TASK_S
) -> Optimum:
    """The optimum of so many chains of equal tasks, all submitted at 0."""
    ends, last = _rounds(nodes, (*[0] * (chain_tasks - 1), workflows))
    return Optimum(average_s=ends / workflows * task_s, last_s=last * task_s)


def waiting_s(
    nodes: int, workflows: int, chain_tasks: int = CHAIN_TASKS, task_s: float = TASK_S
) -> float:
    """The average time from ready to running, in every schedule with the least average end."""
    return of_cell(nodes, workflows, chain_tasks, task_s).average_s / chain_tasks - task_s


def after_kill(
    failed: int,
    nodes: int = FLOCK_NODES,
    workflows: int = FLOCK_WORKFLOWS,
    chain_tasks: int = CHAIN_TASKS,
    task_s: float = TASK_S,
) -> Optimum:
    """The optimum when so many nodes die in their first task, whose workflows start anew."""
    survivors = nodes - failed
    ahead = min(survivors, workflows)
    left = (*[0] * (chain_tasks - 2), ahead, workflows - ahead)
    ends, last = _rounds(survivors, left[-chain_tasks:])
    return Optimum(average_s=(ends / workflows + 1) * task_s, last_s=(last + 1) * task_s)


def list_schedule_s(steps: Sequence[tuple[float, Sequence[int]]], places: int) -> float:
    """When the last of these tasks ends, each so long and after those that it needs, if whoever
    knows all lengths always begins the one with the longest path to the end."""
    dependants: list[list[int]] = [[] for _ in steps]
    for number, (_, needs) in enumerate(steps):
        for need in needs:
            dependants[need].append(number)
    order = TopologicalSorter({n: needs for n, (_, needs) in enumerate(steps)}).static_order()
    paths_s = [length_s for length_s, _ in steps]
    for number in reversed(list(order)):
        paths_s[number] += max((paths_s[each] for each in dependants[number]), default=0.0)
    missing = [len(set(needs)) for _, needs in steps]
    ready = [(-paths_s[number], number) for number in range(len(steps)) if not missing[number]]
    heapify(ready)
    running: list[tuple[float, int]] = []
    now_s = 0.0
    while ready or running:
        while ready and len(running) < places:
            number = heappop(ready)[1]
            heappush(running, (now_s + steps[number][0], number))
        now_s, ended = heappop(running)
        for number in set(dependants[ended]):
            missing[number] -= 1
            if not missing[number]:
                heappush(ready, (-paths_s[number], number))
    return now_s


@cache
def _rounds(nodes: int, left: tuple[int, ...]) -> tuple[int, int]:
    """Least sum of ends and last end, in rounds; `left[i]` workflows have i + 1 tasks left."""
    unfinished = sum(left)
    if not unfinished:
        return 0, 0
    nexts = (_rounds(nodes, _after(left, moved)) for moved in _moves(left, min(nodes, unfinished)))
    ends, last = min(nexts)
    return ends + unfinished, last + 1


def _moves(left: tuple[int, ...], places: int) -> Iterator[tuple[int, ...]]:
    """Every way to fill all places, by how many tasks the chosen workflows have left."""
    if not left:
        if not places:
            yield ()
        return
    for chosen in range(min(places, left[0]) + 1):
        for others in _moves(left[1:], places - chosen):
            yield (chosen, *others)


def _after(left: tuple[int, ...], moved: tuple[int, ...]) -> tuple[int, ...]:
    arrived = (*moved[1:], 0)
    return tuple(here - gone + come for here, gone, come in zip(left, moved, arrived, strict=True))
