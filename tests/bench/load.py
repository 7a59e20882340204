"""How well a flock is used under load: the third document's clusters (003, section 2.5) through the real nodes.

10, 20, 40 and 80 nodes with 20 tasks each, of up to 150 s, submitted at all nodes one after the other so
fast that together they would keep this share of the nodes busy: the load. In the source that is a rate of
tasks; its utilisation at 0.2 is 20 %, so it was read as work offered. The first 150 s, in which the flock
fills up, do not count, nor what comes after the last submission.

* *Utilisation*: of all places, over that time. At small loads it cannot be more than was offered.
* *Scheduling*: from when a task waits and a place is free until its program is started.
* *Collisions*: starts of a task too many. Copies that idle nodes begin on purpose are switched off, as the
  source has none.

Links and clocks are the simulator's, and so no processor time is in it. Nothing fails, so beats are rare:
they are most of what a run costs.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final

from agent.protocol.settings import Settings
from tests.bench.report import Figures, Sheet, Verdict, quantile
from tests.sim.lan import Flock, Step

WHAT: Final = "utilisation, scheduling time and collisions of 10 to 80 nodes under load"
OPTIONS: Final = {
    "--jobs": {"type": int, "default": 2, "help": "processes at once"},
    "--nodes": {"type": int, "default": 0, "help": "this size; what was kept is taken of others"},
}
KEPT: Final = Path(__file__).parent / "figures" / "load.json"
SIZES: Final = (10, 20, 40, 80)
LOADS: Final = (0.2, 0.6, 0.9, 1.2, 2.0)
TASKS, LONGEST_S = 20, 150.0
"""For each node."""
SEEDS: Final = {10: 2, 20: 1, 40: 1, 80: 1}
SETTINGS: Final = Settings(
    copies_max=0, heartbeat_s=10.0, beat_s_max=30.0, suspect_after_s=60.0, down_after_s=120.0
)
PUBLISHED: Final = {
    0.2: (20.1, 19.8, 20.0, 26.7),
    0.6: (57.7, 55.5, 56.4, 65.5),
    1.2: (86.6, 87.5, 87.7, 89.1),
    2.0: (91.5, 90.2, 87.8, 88.4),
}
FULL_FROM, FULL = 1.2, 97.0
BELOW, SLACK = 0.9, 2.0
SCHEDULED_MS = 20.0
LIMIT_S: Final = 50_000.0


def measure(*, quick: bool = False, jobs: int = 2, nodes: int = 0) -> Figures:
    """Return what each size comes to under each load, or one size with what was kept of the others; a
    quick run has four nodes and one load."""
    sizes = (nodes,) if nodes else SIZES
    cells = [(n, load, seed) for n in sizes for load in LOADS for seed in range(SEEDS[n])]
    if quick:
        cells = [(4, FULL_FROM, 0)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_cell, cells))
    rows = []
    for size, load in dict.fromkeys(each[:2] for each in cells):
        those = [one for cell, one in zip(cells, found, strict=True) if cell[:2] == (size, load)]
        rows.append(
            {"nodes": size, "load": load, "runs": len(those)}
            | {key: fmean(each[key] for each in those) for key in those[0]}
        )
    if nodes and KEPT.exists():
        others = json.loads(KEPT.read_text("utf-8"))["rows"]
        rows = sorted([*rows, *(row for row in others if row["nodes"] != nodes)], key=_place)
    return {"rows": rows}


def _place(row: dict[str, Any]) -> tuple[int, float]:
    return row["nodes"], row["load"]


def _cell(asked: tuple[int, float, int]) -> dict[str, float]:
    size, load, seed = asked
    rng = Random(f"load {asked}")
    names = [f"host{number:02}" for number in range(size)]
    flock = Flock(size, seed=1 + seed, settings=SETTINGS, names=names)
    lengths = [rng.uniform(0.0, LONGEST_S) for _ in range(size * TASKS)]
    since_s = flock.world.now
    until_s = since_s + sum(lengths) / (size * load)
    every_s = (until_s - since_s) / len(lengths)
    length_of: dict[str, float] = {}
    for number, length_s in enumerate(lengths):
        at_s = since_s + (number + rng.random()) * every_s
        submitted = [Step(length_s)], rng.randrange(size)
        (name,) = flock.submit(f"w{number:04}", submitted[0], at=at_s, node=submitted[1])
        length_of[name] = length_s
    if not flock.run(LIMIT_S):
        raise RuntimeError(f"{flock.open_tasks} tasks have not ended")
    waited_s = _scheduling_s(flock, length_of)
    return {
        "utilisation": 100 * _used(flock, length_of, since_s + LONGEST_S, until_s) / size,
        "scheduling_p50_ms": 1000 * quantile(waited_s, 0.5),
        "scheduling_p99_ms": 1000 * quantile(waited_s, 0.99),
        "collisions": sum(len(flock.simulation.ledger.starts[each]) - 1 for each in length_of),
    }


def _used(flock: Flock, length_of: dict[str, float], since_s: float, until_s: float) -> float:
    """How many places ran programs, on the average of this time."""
    ran_s = 0.0
    for name, length_s in length_of.items():
        for begun_s, _ in flock.times[name].started:
            ran_s += max(0.0, min(begun_s + length_s, until_s) - max(begun_s, since_s))
    return ran_s / (until_s - since_s)


def _scheduling_s(flock: Flock, length_of: dict[str, float]) -> list[float]:
    """For each start, since when the task had waited and its place had been free."""
    start_s = flock.simulation.plan.start_s
    free_s: dict[str, float] = {}
    found: list[float] = []
    starts = [(at_s, host, name) for name in length_of for at_s, host in flock.times[name].started]
    for at_s, host, name in sorted(starts):
        ready_s = flock.times[name].ready_s
        assert ready_s is not None
        found.append(at_s - start_s - max(ready_s, free_s.get(host, 0.0)))
        free_s[host] = at_s + length_of[name]
    return found


# -- how it is judged and shown ------------------------------------------------------------


def judge(figures: Figures) -> list[Verdict]:
    """Return whether places are used as far as there is work, at once and without collisions."""
    rows, found = figures["rows"], []
    for row in rows:
        where = f"{row['nodes']} nodes, load {row['load']:g}"
        if row["load"] <= BELOW:
            least = 100 * row["load"] - SLACK
            found.append(Verdict(f"{where}: utilisation", row["utilisation"], least, "%", True))
        elif row["load"] >= FULL_FROM:
            found.append(Verdict(f"{where}: utilisation", row["utilisation"], FULL, "%", True))
    for size in dict.fromkeys(row["nodes"] for row in rows):
        slowest = max(row["scheduling_p99_ms"] for row in rows if row["nodes"] == size)
        found.append(Verdict(f"{size} nodes: scheduling, p99", slowest, SCHEDULED_MS, "ms"))
    return [*found, Verdict("load: collisions", sum(row["collisions"] for row in rows), 0)]


def sheets(figures: Figures) -> list[Sheet]:
    """Return one table: utilisation for each size and load, and how soon tasks were started."""
    sizes = list(dict.fromkeys(row["nodes"] for row in figures["rows"]))
    lines: list[list[Any]] = []
    for load in dict.fromkeys(row["load"] for row in figures["rows"]):
        those = {row["nodes"]: row for row in figures["rows"] if row["load"] == load}
        cells: list[Any] = [f"{load:g}"]
        for size in sizes:
            row = those.get(size)
            if row is None:
                cells.append("")
                continue
            published = load in PUBLISHED and size in SIZES
            theirs = f"; {PUBLISHED[load][SIZES.index(size)]}" if published else ""
            cells.append(f"{row['utilisation']:.1f}{theirs} ({row['scheduling_p99_ms']:.1f})")
        lines.append(cells)
    columns = ["load", *(f"{size} nodes" for size in sizes)]
    note = "Utilisation in %, behind a semicolon as published; in brackets p99 of scheduling in ms."
    return [Sheet("Clusters under load", columns, lines, note)]
