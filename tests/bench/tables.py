"""Tables 5.3, 5.4 and 5.5 of the source: its figures, the best possible, ours, and its own rules.

Nine workstations, workflows of four chained tasks of exactly two minutes: the source's tests leave
nothing to guess but the network, so they are repeated here with the real protocol on a simulated
LAN (0.2 to 1 ms of delay, 50 ms to start a process). The optimum knows no overhead at all.

Outputs are, as in the source, identifiers in somebody's database, which cost nothing to bring
somewhere. As many runs again bring them from disk to disk (2 to 50 ms each), and count towards the
same limits. They are the kinder ones: without copies, tasks that started together end within less
than a message takes, and every node has to choose before it knows what the others chose.

Waiting is the time from ready to running. Whoever schedules, each process takes 50 ms to start, and
a task waits for its own start and for that of each task before it on the same place. So two figures
stand beside ours: the waiting of the optimum schedule, and the waiting of that same schedule with
tasks that take 120.05 s and start after 0.05 s. The limit is the second with the 10 ms more per
start that the design allows a dispatch (DESIGN 7). A task out of turn would cost a whole round of
two minutes, at least 2 s of the average, which is more than all that is allowed in any cell.

In table 5.5 each killed node dies at a moment of its own within its first task, half of the runs by
its process (links are reset), half by its power (nobody is told). A task that was killed waits
again. The best after that starts the killed tasks anew and loses nothing else.

The source's own rules run on the same machines (``source_rules``, which says how it was read); its
figures are one run each, ours for it the mean of many, with the least and the greatest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Any, Final

from tests.bench import optimum
from tests.bench.report import Cell, Figures, Sheet, Verdict
from tests.bench.source_rules import INTERACTIVE, LOW, NODE_CLASSES, Reading, SourceWatch
from tests.sim.lan import Flock, Step, chain

WHAT: Final = "tables 5.3, 5.4 and 5.5 of the source: source, optimum, ours, the source's rules"

SEEDS: Final = (1, 2, 3)
SEEDS_WITH_COPIES: Final = (4, 5, 6)
SOURCE_SEEDS: Final = 10
START_S: Final = 0.05
DISPATCH_S: Final = 0.01
IDENTIFIERS_S: Final = (0.0, 0.0)
COPIES_S: Final = (0.002, 0.05)
IDLE_BEFORE_S: Final = 130.0
"""By then every node of the source has found its CPU idle."""

AVERAGE_MAX: Final = 1.01
LAST_MAX: Final = 1.02
KILLED_MAX: Final = 1.03
MINUTE_S: Final = 60.0

NOTE_53: Final = (
    "Average makespan of a workflow and end of the last one; the worst of all seeds. "
    "x: divided by the optimum without any overhead."
)
NOTE_54: Final = (
    "optimum: no overhead; with starts: each task takes 120.05 s; limit: 120.06 s. "
    "over: ours less the schedule with starts, per task."
)
NOTE_55: Final = "x: divided by the least average makespan that is possible after the kills."
NOTE_RULES: Final = (
    "Average makespan in minutes, mean (least to greatest) of so many runs, and x: mean divided by "
    "the source's figure. narrow: interactive tasks at home when asked; wide: when ready."
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run: cells of tables 5.3 and 5.4, rows of 5.5, seeds."""

    cells: tuple[tuple[int, int], ...]
    failed: tuple[int, ...]
    seeds: tuple[int, ...]
    copies_seeds: tuple[int, ...]
    source_seeds: int


FULL: Final = Size(
    tuple((nodes, workflows) for workflows in optimum.WORKFLOWS for nodes in optimum.NODES),
    (0, *optimum.NODES_FAILED),
    SEEDS,
    SEEDS_WITH_COPIES,
    SOURCE_SEEDS,
)
QUICK: Final = Size(((2, 5),), (2,), (1,), (4,), 1)


def measure(*, quick: bool) -> Figures:
    size = QUICK if quick else FULL
    source = optimum.figures()
    return {
        "seeds": [*size.seeds, *size.copies_seeds],
        "source_runs": size.source_seeds,
        "cells": [_cell(source, *each, size) for each in size.cells],
        "failures": [_failure(source, failed, size) for failed in size.failed],
    }


# Ours


@dataclass(frozen=True, slots=True)
class Ends:
    average_s: float
    last_s: float
    waiting_s: float


def ours(nodes: int, workflows: int, seed: int, data_s: tuple[float, float]) -> Ends:
    """One run of the protocol; the node of each submission is drawn, as in the source."""
    return _ends(_submitted(nodes, workflows, seed, data_s, Random(f"tables {seed}")))


def ours_with_kills(failed: int, seed: int, *, silent: bool) -> Ends:
    """One run of table 5.5; each kill at a moment of its own, in the first task of its node."""
    draw = Random(f"kills {failed} {seed}")
    size = optimum.FLOCK_NODES, optimum.FLOCK_WORKFLOWS
    flock = _submitted(*size, seed, IDENTIFIERS_S, draw)
    return _ends(flock, _kill_some(flock, failed, draw, silent=silent))


def _submitted(
    nodes: int, workflows: int, seed: int, data_s: tuple[float, float], draw: Random
) -> Flock:
    flock = Flock(nodes, start_s=START_S, seed=seed, data_s=data_s)
    for number in range(workflows):
        steps = chain(optimum.CHAIN_TASKS, optimum.TASK_S)
        flock.submit(f"w{number:02}", steps, node=draw.randrange(nodes))
    return flock


def _kill_some(flock: Flock, failed: int, draw: Random, *, silent: bool) -> dict[str, float]:
    kills: dict[str, float] = {}
    for node in draw.sample(range(optimum.FLOCK_NODES), failed):
        at = flock.world.now + draw.uniform(0.04, 0.95) * optimum.TASK_S
        flock.kill(node, at=at, silent=silent)
        kills[flock.simulation.machines[node].plan.name] = at
    return kills


def _ends(flock: Flock, kills: dict[str, float] | None = None) -> Ends:
    if not flock.run():
        raise RuntimeError(f"{flock.open_tasks} tasks have not ended")
    makespans = [flock.makespan_s(workflow) for workflow in flock.submitted_s]
    return Ends(fmean(makespans), max(makespans), _waiting_s(flock, kills or {}))


def _waiting_s(flock: Flock, kills: dict[str, float]) -> float:
    """From ready to the last start, less what ran in vain before."""
    waited: list[float] = []
    for times in flock.times.values():
        in_vain_s = sum(kills.get(host, at) - at for at, host in times.started[:-1])
        waited.append(times.started[-1][0] - (times.ready_s or 0.0) - in_vain_s)
    return fmean(waited)


# The source's rules


def source_rules(
    nodes: int, workflows: int, seed: int, reading: Reading, failed: int = 0
) -> tuple[float, float]:
    """One run of the source's rules: average makespan and average waiting."""
    flock = Flock(
        nodes,
        start_s=START_S,
        seed=seed,
        node_class=NODE_CLASSES[reading],
        watch_class=SourceWatch,
    )
    flock.run_until(IDLE_BEFORE_S)
    priorities, draw = Random(f"priorities {seed}"), Random(f"source {nodes} {seed}")
    for number in range(workflows):
        steps = [
            Step(each.duration_s, each.needs, name=priorities.choice((LOW, INTERACTIVE)))
            for each in chain(optimum.CHAIN_TASKS, optimum.TASK_S)
        ]
        flock.submit(f"w{number:02}", steps, node=draw.randrange(nodes))
    ends = _ends(flock, _kill_running(flock, failed, draw))
    return ends.average_s, ends.waiting_s


def _kill_running(flock: Flock, failed: int, draw: Random) -> dict[str, float]:
    """These nodes start one after the other, so each is killed after its own first start."""
    chosen = draw.sample(range(len(flock.simulation.machines)), failed)
    names = {flock.simulation.machines[node].plan.name: node for node in chosen}
    kills: dict[str, float] = {}
    while len(kills) < failed:
        flock.run_until(flock.world.now + 1.0)
        for at, host in [start for times in flock.times.values() for start in times.started]:
            if host in names and host not in kills:
                kills[host] = at + draw.uniform(0.04, 0.95) * optimum.TASK_S
                flock.kill(names[host], at=kills[host])
    return kills


# Rows


def _cell(source: Figures, nodes: int, workflows: int, size: Size) -> Figures:
    best = optimum.of_cell(nodes, workflows)
    runs = [ours(nodes, workflows, seed, IDENTIFIERS_S) for seed in size.seeds]
    copied = [ours(nodes, workflows, seed, COPIES_S) for seed in size.copies_seeds]
    tasks = workflows * optimum.CHAIN_TASKS
    waiting_s = max(each.waiting_s for each in runs)
    with_starts_s = _waiting_with(nodes, workflows, START_S)
    return {
        "nodes": nodes,
        "workflows": workflows,
        "source_min": source["table_5_3_avg_workflow_makespan_min"][f"{workflows}_workflows"][
            nodes - 1
        ],
        "optimum_min": best.average_s / MINUTE_S,
        "ours_min": max(each.average_s for each in runs) / MINUTE_S,
        "average_ratio": max(each.average_s for each in runs) / best.average_s,
        "last_ratio": max(each.last_s for each in runs) / best.last_s,
        "average_ratio_copies": max(each.average_s for each in copied) / best.average_s,
        "last_ratio_copies": max(each.last_s for each in copied) / best.last_s,
        "waiting_source_min": source["table_5_4_avg_task_waiting_min"][f"{tasks}_tasks"][nodes - 1],
        "waiting_optimum_s": optimum.waiting_s(nodes, workflows),
        "waiting_with_starts_s": with_starts_s,
        "waiting_limit_s": _waiting_with(nodes, workflows, START_S + DISPATCH_S),
        "waiting_ours_s": waiting_s,
        "waiting_over_ms": (waiting_s - with_starts_s) * 1000,
        "rules": _rules(nodes, workflows, size),
    }


def _waiting_with(nodes: int, workflows: int, start_s: float) -> float:
    """Waiting in the optimum schedule when every task takes so long to start, too."""
    task_s = optimum.TASK_S + start_s
    return optimum.waiting_s(nodes, workflows, optimum.CHAIN_TASKS, task_s) + start_s


def _rules(nodes: int, workflows: int, size: Size, failed: int = 0) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for reading in Reading:
        runs = [
            source_rules(nodes, workflows, seed, reading, failed)
            for seed in range(1, size.source_seeds + 1)
        ]
        makespans = [makespan_s / MINUTE_S for makespan_s, _ in runs]
        figures[reading.value] = {
            "mean_min": fmean(makespans),
            "least_min": min(makespans),
            "greatest_min": max(makespans),
            "waiting_min": fmean(waiting_s for _, waiting_s in runs) / MINUTE_S,
        }
    return figures


def _failure(source: Figures, failed: int, size: Size) -> Figures:
    table = source["table_5_5_failures"]
    place = table["failed"].index(failed)
    best = optimum.after_kill(failed) if failed else optimum.of_cell(9, 10)
    runs = [
        ours_with_kills(failed, seed, silent=silent)
        for seed in size.seeds
        for silent in ((False, True) if failed else (False,))
    ]
    average_s = max(each.average_s for each in runs)
    return {
        "failed": failed,
        "source_min": table["avg_workflow_makespan_min"][place],
        "optimum_min": best.average_s / MINUTE_S,
        "ours_min": average_s / MINUTE_S,
        "ratio": average_s / best.average_s,
        "source_waiting_min": table["avg_task_waiting_min"][place],
        "ours_waiting_min": max(each.waiting_s for each in runs) / MINUTE_S,
        "rules": _rules(optimum.FLOCK_NODES, optimum.FLOCK_WORKFLOWS, size, failed),
    }


# What they are worth


def judge(figures: Figures) -> list[Verdict]:
    """Every cell keeps every limit; so the worst one is shown."""
    cells, failures = figures["cells"], figures["failures"]
    over_s = [each["waiting_ours_s"] - each["waiting_limit_s"] for each in cells]
    return [
        Verdict("5.3 average, worst cell", _worst(cells, "average_ratio"), AVERAGE_MAX, "x"),
        Verdict("5.3 last, worst cell", _worst(cells, "last_ratio"), LAST_MAX, "x"),
        Verdict(
            "5.3 average, outputs copied", _worst(cells, "average_ratio_copies"), AVERAGE_MAX, "x"
        ),
        Verdict("5.3 last, outputs copied", _worst(cells, "last_ratio_copies"), LAST_MAX, "x"),
        Verdict("5.4 waiting above its limit, worst cell", max(over_s) * 1000, 0.0, "ms"),
        Verdict("5.5 average after kills, worst", _worst(failures, "ratio"), KILLED_MAX, "x"),
    ]


def _worst(rows: Iterable[Figures], name: str) -> float:
    return max(float(row[name]) for row in rows)


def sheets(figures: Figures) -> list[Sheet]:
    return [
        _sheet_53(figures),
        _sheet_54(figures),
        _sheet_55(figures),
        _sheet_rules(figures),
        _sheet_nearness(figures),
    ]


def _sheet_53(figures: Figures) -> Sheet:
    columns = ["workflows, nodes", "source min", "x", "optimum min", "ours min", "x", "last x"]
    columns += ["copies x", "copies last x"]
    rows: list[list[Cell]] = [
        [
            f"{each['workflows']}, {each['nodes']}",
            each["source_min"],
            _times(each["source_min"] / each["optimum_min"]),
            each["optimum_min"],
            each["ours_min"],
            _times(each["average_ratio"]),
            _times(each["last_ratio"]),
            _times(each["average_ratio_copies"]),
            _times(each["last_ratio_copies"]),
        ]
        for each in figures["cells"]
    ]
    return Sheet("Table 5.3: makespan of a workflow", columns, rows, NOTE_53)


def _sheet_54(figures: Figures) -> Sheet:
    columns = ["tasks, nodes", "source min", "optimum s", "with starts s", "limit s", "ours s"]
    rows: list[list[Cell]] = [
        [
            f"{each['workflows'] * optimum.CHAIN_TASKS}, {each['nodes']}",
            each["waiting_source_min"],
            _seconds(each["waiting_optimum_s"]),
            _seconds(each["waiting_with_starts_s"]),
            _seconds(each["waiting_limit_s"]),
            _seconds(each["waiting_ours_s"]),
            f"{each['waiting_over_ms']:.1f}",
        ]
        for each in figures["cells"]
    ]
    return Sheet("Table 5.4: waiting of a task", [*columns, "over ms"], rows, NOTE_54)


def _sheet_55(figures: Figures) -> Sheet:
    columns = ["killed of 9", "source min", "x", "optimum after min", "ours min", "x"]
    columns += ["waiting: source min", "ours min"]
    rows: list[list[Cell]] = [
        [
            each["failed"],
            each["source_min"],
            _times(each["source_min"] / each["optimum_min"]),
            each["optimum_min"],
            each["ours_min"],
            _times(each["ratio"]),
            each["source_waiting_min"],
            each["ours_waiting_min"],
        ]
        for each in figures["failures"]
    ]
    return Sheet("Table 5.5: nodes killed in their first task", columns, rows, NOTE_55)


def _sheet_rules(figures: Figures) -> Sheet:
    columns = ["cell", "source min", "narrow min", "x", "wide min", "x"]
    rows: list[list[Cell]] = []
    for name, row in _rule_rows(figures):
        cells: list[Cell] = [name, row["source_min"]]
        for reading in Reading:
            rule = row["rules"][reading.value]
            spread = f"{rule['least_min']:.1f} to {rule['greatest_min']:.1f}"
            cells += [
                f"{rule['mean_min']:.2f} ({spread})",
                f"{rule['mean_min'] / row['source_min']:.2f}",
            ]
        rows.append(cells)
    runs = f"{figures['source_runs']} runs each. "
    return Sheet("The source's rules in our simulator", columns, rows, runs + NOTE_RULES)


def _sheet_nearness(figures: Figures) -> Sheet:
    """How near the rules come, in a line for each reading."""
    rows: list[list[Cell]] = []
    for reading in Reading:
        found = [(row, row["rules"][reading.value]) for _, row in _rule_rows(figures)]
        ratios = [rule["mean_min"] / row["source_min"] for row, rule in found]
        inside = [r["least_min"] <= row["source_min"] <= r["greatest_min"] for row, r in found]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        rows.append([reading.value, fmean(ratios), spread, f"{sum(inside)} of {len(inside)}"])
    columns = ["interactive at home", "mean x", "x from to", "source within our runs"]
    return Sheet("How near the source's rules come to its figures", columns, rows)


def _rule_rows(figures: Figures) -> list[tuple[str, Figures]]:
    rows = [(f"{each['workflows']} wf, {each['nodes']} nodes", each) for each in figures["cells"]]
    return rows + [(f"{each['failed']} of 9 killed", each) for each in figures["failures"]]


def _times(ratio: float) -> str:
    return f"{ratio:.4f}"


def _seconds(value: float) -> str:
    return f"{value:.3f}"
