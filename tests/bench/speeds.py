"""Hosts of unequal speed of which nobody is told: average and last end beside a list schedule.

Nine machines, three each on which programs run half as long, as long and twice as long as on an
ordinary one. First each runs three tasks of each program, which is all that the flock may learn
from: no length is told of any task, no speed of any machine. Then come workflows of all shapes at
once, at drawn machines: the chains of the source's table 5.3, and forks, diamonds and drawn graphs
whose programs have lengths of their own, drawn from twelve seconds to three minutes (a fifth of one to fifteen, which costs a fifth of the beats).

All begin when one task has ended, so that every machine knows of all of them, as the list does.

Beside them stands a list schedule that knows every length and every speed (``list_schedule``, which
says which). Starting a process takes 50 ms here and nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Final

from tests.bench import list_schedule, optimum
from tests.bench.list_schedule import Listed
from tests.bench.report import Figures, Sheet, Verdict
from tests.sim.lan import Flock, Step, chain
from tests.sim.work import PROGRAMS

WHAT: Final = "hosts of speed 0.5, 1 and 2, nothing told: beside a list schedule that knows"

RATIO_MAX: Final = 1.03
SLOWNESS: Final = (2.0, 0.5, 1.0) * 3
LEARNED_FROM: Final = 3
MINUTE_S: Final = 60.0
LENGTHS_S: Final = (0.2 * MINUTE_S, 3 * MINUTE_S)
JITTER: Final = 0.03
STARTER_S: Final = 3.0
NOTE: Final = (
    "Minutes from submission; x: divided by the list schedule with the least average end. least: its "
    "last end divided by the least last end of any list."
)

Shape = Callable[[Random, Sequence[float]], list[Step]]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run: workflows of each cell of the source, shapes, seeds."""

    workflows: tuple[int, ...]
    shapes: tuple[str, ...]
    seeds: tuple[int, ...]


def measure(*, quick: bool) -> Figures:
    size = QUICK if quick else FULL
    cells = [("chains", number, seed) for number in size.workflows for seed in size.seeds]
    cells += [(shape, 8, seed) for shape in size.shapes for seed in size.seeds]
    return {"seeds": [*size.seeds], "cells": [_cell(*each) for each in cells]}


def _cell(shape: str, workflows: int, seed: int) -> Figures:
    draw = Random(f"speeds {shape} {workflows} {seed}")
    lengths_s = [draw.uniform(*LENGTHS_S) for _ in PROGRAMS]
    if shape == "chains":
        lengths_s = [optimum.TASK_S] * len(PROGRAMS)
    work = [SHAPES[shape](draw, lengths_s) for _ in range(workflows)]
    tasks = _listed(work)
    best = list_schedule.best(tasks, SLOWNESS)
    average_s, last_s = _ours(work, lengths_s, seed, draw)
    return {
        "shape": shape,
        "workflows": workflows,
        "seed": seed,
        "list_average_min": best.average_s / MINUTE_S,
        "average_min": average_s / MINUTE_S,
        "average_ratio": average_s / best.average_s,
        "list_last_min": best.last_s / MINUTE_S,
        "last_min": last_s / MINUTE_S,
        "last_ratio": last_s / best.last_s,
        "list_last_ratio": best.last_s / list_schedule.least_last_s(tasks, SLOWNESS),
    }


def _listed(work: list[list[Step]]) -> list[Listed]:
    tasks: list[Listed] = []
    for workflow, steps in enumerate(work):
        first = len(tasks)
        tasks += [
            Listed(workflow, each.duration_s, tuple(first + need for need in each.needs))
            for each in steps
        ]
    return tasks


def _ours(
    work: list[list[Step]], lengths_s: list[float], seed: int, draw: Random
) -> tuple[float, float]:
    """Average and last end of the workflows, after what the flock may learn from."""
    flock = Flock(len(SLOWNESS), seed=seed, slowness=SLOWNESS)
    nodes = [machine.node_id for machine in flock.simulation.machines]
    used = {each.program for steps in work for each in steps}
    for program, length_s in zip(PROGRAMS, lengths_s, strict=True):
        for number in range(LEARNED_FROM if program in used else 0):
            steps = [Step(length_s, (), program, told_s=0, node=node) for node in nodes]
            flock.submit(f"learn {program} {number}", steps)
    _run(flock)
    names = [f"w{number:02}" for number in range(len(work))]
    [starter] = flock.submit("starter", [Step(STARTER_S, (), PROGRAMS[-1], node=nodes[0])])
    for name, steps in zip(names, work, strict=True):
        flock.submit(name, steps, node=draw.randrange(len(nodes)), after=(starter,))
    _run(flock)
    late_s = (flock.times[starter].ended_s or 0.0) - flock.submitted_s["starter"]
    makespans = [flock.makespan_s(name) - late_s for name in names]
    return fmean(makespans), max(makespans)


def _run(flock: Flock) -> None:
    if not flock.run():
        raise RuntimeError(f"{flock.open_tasks} tasks have not ended")


# Shapes


def _step(draw: Random, lengths_s: Sequence[float], needs: tuple[int, ...] = ()) -> Step:
    program = draw.randrange(len(PROGRAMS))
    length_s = lengths_s[program] * draw.uniform(1 - JITTER, 1 + JITTER)
    return Step(length_s, needs, PROGRAMS[program], told_s=0)


def _chains(draw: Random, lengths_s: Sequence[float]) -> list[Step]:
    steps = chain(optimum.CHAIN_TASKS, lengths_s[0])
    return [Step(each.duration_s, each.needs, told_s=0) for each in steps]


def _fork(draw: Random, lengths_s: Sequence[float]) -> list[Step]:
    width = draw.randint(3, 8)
    sides = [_step(draw, lengths_s, (0,)) for _ in range(width)]
    last = _step(draw, lengths_s, tuple(range(1, width + 1)))
    return [_step(draw, lengths_s), *sides, last]


def _drawn(draw: Random, lengths_s: Sequence[float]) -> list[Step]:
    steps: list[Step] = []
    for number in range(draw.randint(4, 12)):
        near = range(max(0, number - 4), number)
        needs = tuple(sorted(draw.sample(near, min(len(near), draw.randint(0, 2)))))
        steps.append(_step(draw, lengths_s, needs))
    return steps


def _alone(draw: Random, lengths_s: Sequence[float]) -> list[Step]:
    return [_step(draw, lengths_s) for _ in range(draw.randint(1, 12))]


SHAPES: Final[dict[str, Shape]] = {
    "chains": _chains,
    "forks": _fork,
    "graphs": _drawn,
    "single tasks": _alone,
}
FULL: Final = Size(optimum.WORKFLOWS, ("forks", "graphs", "single tasks"), (1, 2, 3))
QUICK: Final = Size((2,), (), (1,))


# What they are worth


def judge(figures: Figures) -> list[Verdict]:
    """The mean of each shape keeps the limit; so the worst one is shown."""
    return [
        Verdict("average end, worst shape", _worst(figures, "average_ratio"), RATIO_MAX, "x"),
        Verdict("last end, worst shape", _worst(figures, "last_ratio"), RATIO_MAX, "x"),
    ]


def _worst(figures: Figures, name: str) -> float:
    shapes: dict[tuple[str, int], list[float]] = {}
    for each in figures["cells"]:
        shapes.setdefault((each["shape"], each["workflows"]), []).append(each[name])
    return max(map(fmean, shapes.values()))


def sheets(figures: Figures) -> list[Sheet]:
    columns = ["shape", "workflows", "seed", "list min", "ours min", "x", "list last", "last", "x"]
    names = ["shape", "workflows", "seed", "list_average_min", "average_min", "average_ratio"]
    names += ["list_last_min", "last_min", "last_ratio", "list_last_ratio"]
    rows = [[each[name] for name in names] for each in figures["cells"]]
    return [Sheet("Hosts of unequal speed", [*columns, "least"], rows, NOTE)]
