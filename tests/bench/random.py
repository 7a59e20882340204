"""Random workflows of both priorities on nine machines: who waits, and how it ends, to a list schedule.

The source's tester draws workflows until it is stopped; here widths, depths, lengths, priorities and
the moments of submission are drawn too. Work is told how long it takes, unless ``--untold`` leaves
that to what the flock learns.

An interactive task waits from when it is ready until it is claimed and started, without the 50 ms
that starting a process takes, and is looked at where its home was free meanwhile: nothing ran there
when it became ready, and no other interactive task was begun there before it. The list schedule knows all lengths, has no overhead, and starts on the place
that is free first what is ready: interactive before low, then by submission, then the longest
remaining path. Ends are since the submission of each workflow, and the last one since the first.

Priorities are those of workflows: tasks have none of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from random import Random
from statistics import fmean
from typing import Any, Final

from tests.bench.report import Figures, Limit, Sheet
from tests.sim.lan import Flock, Step

WHAT: Final = "random workflows of both priorities: interactive waiting, ends to a list schedule"

NODES: Final = 9
START_S: Final = 0.05
IDENTIFIERS_S: Final = (0.0, 0.0)
"""Outputs are words of somebody's database, as the source's are: bringing files is not waited for."""
SEEDS: Final = 8
WORKFLOWS: Final = 14
SPREAD_S: Final = 600.0
INTERACTIVE: Final = 0.3
PRIORITY: Final = {False: 50, True: 100}

OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "--untold": {"action": "store_true", "help": "nobody tells how long the work takes"}
}
LIMITS: Final = (
    Limit("an interactive task whose home is free waits", "waits_max_ms", 20.0, "ms"),
    Limit("average end to the list schedule, worst seed", "average_ratio", 1.03),
    Limit("last end to the list schedule, worst seed", "last_ratio", 1.03),
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """One workflow: when and where it is submitted, and what it is made of."""

    name: str
    at_s: float
    node: int
    interactive: bool
    steps: tuple[Step, ...]


def measure(*, quick: bool, untold: bool = False) -> Figures:
    seeds = range(1, 2 if quick else SEEDS + 1)
    rows = [_row(seed, 4 if quick else WORKFLOWS, untold=untold) for seed in seeds]
    return {
        "rows": rows,
        "waits_max_ms": max(row["waits_max_ms"] for row in rows),
        "average_ratio": max(row["average_ratio"] for row in rows),
        "last_ratio": max(row["last_ratio"] for row in rows),
    }


def _row(seed: int, workflows: int, *, untold: bool) -> Figures:
    draw = Random(f"random workflows {seed}")
    flock = Flock(NODES, start_s=START_S, seed=seed, data_s=IDENTIFIERS_S)
    drawn = [drawn_workflow(draw, number, flock.world.now) for number in range(workflows)]
    for each in drawn:
        flock.submit(
            *(each.name, each.steps),
            at=each.at_s,
            node=each.node,
            priority=PRIORITY[each.interactive],
            told=not untold,
        )
    if not flock.run():
        raise RuntimeError(f"{flock.open_tasks} tasks have not ended")
    began_s = min(each.at_s for each in drawn)
    ends = {each.name: each.at_s + flock.makespan_s(each.name) for each in drawn}
    listed = list_schedule(drawn, NODES)
    waits = waits_ms(flock, drawn)
    return {
        "seed": seed,
        "tasks": sum(len(each.steps) for each in drawn),
        "interactive": len(waits),
        "waits_mean_ms": fmean(waits) if waits else 0.0,
        "waits_max_ms": max(waits, default=0.0),
        "average_ratio": _average(drawn, ends) / _average(drawn, listed),
        "last_ratio": (max(ends.values()) - began_s) / (max(listed.values()) - began_s),
    }


def sheets(figures: Figures) -> list[Sheet]:
    """One row for each seed."""
    columns = ["seed", "tasks", "interactive", "waits_mean_ms", "waits_max_ms"]
    columns += ["average_ratio", "last_ratio"]
    rows = [[row[column] for column in columns] for row in figures["rows"]]
    return [
        Sheet(WHAT, columns, rows, "interactive: tasks whose home was free when they were ready")
    ]


def _average(drawn: list[Drawn], ends: dict[str, float]) -> float:
    return fmean(ends[each.name] - each.at_s for each in drawn)


def drawn_workflow(draw: Random, number: int, since_s: float) -> Drawn:
    """Layers of drawn width, each task after some of the layer before, with lengths from seconds to
    minutes; interactive ones are small, as somebody waits for them."""
    interactive = draw.random() < INTERACTIVE
    steps: list[Step] = []
    before: list[int] = []
    for _ in range(draw.randint(1, 2 if interactive else 5)):
        layer = range(len(steps), len(steps) + draw.randint(1, 2 if interactive else 6))
        for _ in layer:
            needs = draw.sample(before, draw.randint(1, len(before))) if before else []
            length_s = draw.uniform(2.0, 20.0) if interactive else draw.uniform(5.0, 180.0)
            steps.append(Step(length_s, tuple(sorted(needs))))
        before = list(layer)
    at_s = since_s + draw.uniform(0.0, SPREAD_S)
    return Drawn(f"w{number:02}", at_s, draw.randrange(NODES), interactive, tuple(steps))


def waits_ms(flock: Flock, drawn: list[Drawn]) -> list[float]:
    """For how long interactive tasks waited whose home was free when they became ready, and was not
    taken by another interactive one."""
    waited_for = {each.name for each in drawn if each.interactive}
    runs: dict[str, list[tuple[float, float, str]]] = {}
    for task, times in flock.times.items():
        for started_s, host in times.started:
            run = (started_s - START_S, times.ended_s or 0.0, task)
            runs.setdefault(host, []).append(run)
    waits = []
    for each in drawn:
        home = flock.simulation.machines[each.node].plan.name
        for number in range(len(each.steps) if each.interactive else 0):
            task = f"{each.name}/{number}"
            ready_s, waited_s = flock.times[task].ready_s or 0.0, flock.times[task].waited_s
            if not any(
                begun_s <= ready_s < ended_s
                or (
                    ready_s <= begun_s <= ready_s + waited_s
                    and other != task
                    and other.partition("/")[0] in waited_for
                )
                for begun_s, ended_s, other in runs.get(home, ())
            ):
                waits.append(1000 * (waited_s - START_S))
    return waits


def list_schedule(drawn: list[Drawn], places: int) -> dict[str, float]:
    """When each workflow ends if a place that is free takes the first of what is ready."""
    paths = {each.name: _paths_s(each.steps) for each in drawn}
    missing = {
        (each.name, n): len(step.needs) for each in drawn for n, step in enumerate(each.steps)
    }
    by_name = {each.name: each for each in drawn}
    coming = [(each.at_s, 0, each.name, -1) for each in drawn]
    heapify(coming)
    startable: list[tuple[bool, float, float, str, int]] = []
    free, ends = places, dict.fromkeys(by_name, 0.0)

    def is_ready(name: str, number: int) -> None:
        each = by_name[name]
        rank = (not each.interactive, each.at_s, -paths[name][number])
        heappush(startable, (*rank, name, number))

    while coming:
        now_s, _, name, number = heappop(coming)
        steps = by_name[name].steps
        if number < 0:
            for first in (n for n, step in enumerate(steps) if not step.needs):
                is_ready(name, first)
        else:
            free, ends[name] = free + 1, now_s
            for following in (n for n, step in enumerate(steps) if number in step.needs):
                missing[name, following] -= 1
                if not missing[name, following]:
                    is_ready(name, following)
        while free and startable and not (coming and coming[0][0] <= now_s):
            *_, name, number = heappop(startable)
            free -= 1
            heappush(coming, (now_s + by_name[name].steps[number].duration_s, 1, name, number))
    return ends


def _paths_s(steps: tuple[Step, ...]) -> list[float]:
    paths = [step.duration_s for step in steps]
    for number in reversed(range(len(steps))):
        behind = [paths[n] for n, step in enumerate(steps) if number in step.needs]
        paths[number] += max(behind, default=0.0)
    return paths
