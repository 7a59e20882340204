"""What a list schedule comes to that knows every length and the speed of every host.

Each task of the list, in its order, is given to the host on which it ends first, as early as that
host and what the task needs allow; no order is revised afterwards and nothing is put into gaps.
That is the usual yardstick for hosts that differ (HEFT, without its insertion). Which order is good
depends on the work, so several lists are tried, and the one counts that gives the least average
end of workflows, then the least last end: the first m workflows one after the other and the others
evenly by what remains to be done behind each task, for every m, with the workflows in their order
of submission and by their lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listed:
    """A task of workflow number ``workflow``; ``needs`` are numbers of tasks before it."""

    workflow: int
    length_s: float
    needs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """The average end of workflows, and the last end, since submission."""

    average_s: float
    last_s: float


def best(tasks: Sequence[Listed], slowness: Sequence[float]) -> Schedule:
    """Return the list schedule with the least average end of workflows on hosts on which programs
    run so many times their length; of equal ones that with the least last end."""
    found = [scheduled(tasks, slowness, order) for order in _orders(tasks)]
    return min(found, key=lambda each: (round(each.average_s, 6), each.last_s))


def least_last_s(tasks: Sequence[Listed], slowness: Sequence[float]) -> float:
    """Return the least last end of any of the lists."""
    return min(scheduled(tasks, slowness, order).last_s for order in _orders(tasks))


def scheduled(tasks: Sequence[Listed], slowness: Sequence[float], order: Sequence[int]) -> Schedule:
    """Return what becomes of the tasks in this order, in which each stands behind its needs."""
    free_s = [0.0] * len(slowness)
    ends_s = [0.0] * len(tasks)
    for number in order:
        task = tasks[number]
        ready_s = max((ends_s[need] for need in task.needs), default=0.0)
        end_s, host = min(
            (max(ready_s, free_s[host]) + task.length_s * slow, host)
            for host, slow in enumerate(slowness)
        )
        ends_s[number] = free_s[host] = end_s
    workflows: dict[int, float] = {}
    for task, end_s in zip(tasks, ends_s, strict=True):
        workflows[task.workflow] = max(workflows.get(task.workflow, 0.0), end_s)
    return Schedule(sum(workflows.values()) / len(workflows), max(workflows.values()))


def _orders(tasks: Sequence[Listed]) -> Iterator[list[int]]:
    paths_s = _paths_s(tasks)
    left_s: dict[int, float] = {}
    for task in tasks:
        left_s[task.workflow] = left_s.get(task.workflow, 0.0) + task.length_s
    submitted = sorted(left_s)
    for sequence in (submitted, sorted(left_s, key=lambda each: (left_s[each], each))):
        turn_of = {workflow: turn for turn, workflow in enumerate(sequence)}
        turns = [turn_of[task.workflow] for task in tasks]
        numbers = range(len(tasks))
        strictly = sorted(numbers, key=lambda n: (turns[n], -paths_s[n], n))
        evenly = sorted(numbers, key=lambda n: (-paths_s[n], turns[n], n))
        for m in range(len(sequence) + 1):
            yield [n for n in strictly if turns[n] < m] + [n for n in evenly if turns[n] >= m]


def _paths_s(tasks: Sequence[Listed]) -> list[float]:
    """The length of the longest path from the start of each task; its needs stand before it."""
    paths_s = [task.length_s for task in tasks]
    behind_s = [0.0] * len(tasks)
    for number in reversed(range(len(tasks))):
        paths_s[number] += behind_s[number]
        for need in tasks[number].needs:
            behind_s[need] = max(behind_s[need], paths_s[number])
    return paths_s
