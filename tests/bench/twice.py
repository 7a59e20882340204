"""Whether a task is ever started twice when nothing goes wrong.

Two kinds of fault-free runs. *Calm* runs are the simulator's own: random flocks of 1 to 30, one
or two places each, workflows of every shape, programs that fail now and then, newcomers, single
missing links, stalls below two seconds. *Crowds* are flocks of 2 to 12 with more ready tasks than
places, submitted at once at many nodes, short ones too, so that everybody races for everything.

Twice means: more starts of a task than one, plus one for each run of it that its program failed.
"""

from __future__ import annotations

from random import Random
from typing import Final

from tests.bench.report import Figures, Sheet, Verdict
from tests.sim.classes import draw_plan
from tests.sim.failure import Broken
from tests.sim.lan import Flock, Step
from tests.sim.settle import settle
from tests.sim.simulation import Simulation

WHAT: Final = "tasks started twice in 1,000 runs without faults"

CALM_RUNS: Final = 300
CROWDED_RUNS: Final = 700
RUNS_QUICK: Final = 2
CLASS: Final = "calm"


def measure(*, quick: bool) -> Figures:
    calm = RUNS_QUICK if quick else CALM_RUNS
    crowded = RUNS_QUICK if quick else CROWDED_RUNS
    rows = [
        _together("calm", [_calm(seed) for seed in range(1, calm + 1)]),
        _together("crowds", [_crowd(seed) for seed in range(1, crowded + 1)]),
    ]
    return {"rows": rows}


def _together(kind: str, runs: list[Figures]) -> Figures:
    return {
        "kind": kind,
        "runs": len(runs),
        "tasks": sum(run["tasks"] for run in runs),
        "starts": sum(run["starts"] for run in runs),
        "after_failures": sum(run["after_failures"] for run in runs),
        "twice": sum(run["twice"] for run in runs),
        "broken": sum(run["broken"] for run in runs),
        "broken_seeds": [run["seed"] for run in runs if run["broken"] or run["twice"]],
    }


def _calm(seed: int) -> Figures:
    simulation = Simulation(draw_plan(seed, CLASS))
    broken = 0
    try:
        simulation.start()
        simulation.world.run(simulation.plan.until_s)
        settle(simulation)
    except Broken:
        broken = 1
    return {"seed": seed, "broken": broken, **_counted(simulation)}


def _crowd(seed: int) -> Figures:
    draw = Random(f"crowd {seed}")
    nodes = draw.randint(2, 12)
    flock = Flock(nodes, seed=seed, slots=draw.choice((1, 1, 2)))
    length_s = draw.choice((0.2, 1.0, 5.0))
    for number in range(draw.randint(nodes, 3 * nodes)):
        steps = [Step(draw.uniform(0.5, 1.5) * length_s) for _ in range(draw.randint(1, 3))]
        at = flock.world.now + draw.choice((0.0, 0.0, draw.uniform(0.0, 2.0)))
        flock.submit(f"w{number:02}", steps, node=draw.randrange(nodes), at=at)
    broken = 0
    try:
        broken = 0 if flock.run(1_000.0) else 1
    except Broken:
        broken = 1
    return {"seed": seed, "broken": broken, **_counted(flock.simulation)}


def _counted(simulation: Simulation) -> Figures:
    ledger = simulation.ledger
    starts = {task: len(runs) for task, runs in ledger.starts.items()}
    failures = {task: len(ledger.failures.get(task, ())) for task in starts}
    return {
        "tasks": len(starts),
        "starts": sum(starts.values()),
        "after_failures": sum(failures.values()),
        "twice": sum(max(0, starts[task] - 1 - failures[task]) for task in starts),
    }


def judge(figures: Figures) -> list[Verdict]:
    rows = figures["rows"]
    return [
        Verdict("tasks started twice", sum(row["twice"] for row in rows), 0),
        Verdict("runs that broke a promise", sum(row["broken"] for row in rows), 0),
    ]


def sheets(figures: Figures) -> list[Sheet]:
    columns = ["runs of", "runs", "tasks started", "starts", "failed before", "twice", "seeds"]
    rows = [
        [
            row["kind"],
            row["runs"],
            row["tasks"],
            row["starts"],
            row["after_failures"],
            row["twice"],
            ", ".join(map(str, row["broken_seeds"][:5])) or "-",
        ]
        for row in figures["rows"]
    ]
    return [Sheet("Starts in runs without faults", columns, rows)]
