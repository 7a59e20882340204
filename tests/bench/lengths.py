"""Lengths that nobody told: what it costs not to know them, and to be told wrong ones.

The real protocol on a simulated LAN; programs take what they take, and no node is told how long that
is unless a row says so. Everything is compared with a schedule that knows all lengths.

*Messages*: empty tasks of a program that the flock has never seen, heartbeats left out. *Wrongly*: the
makespan of work that is told a wrong length, to that of the same work told right. *Mixed*: empty tasks
and a few long ones of one program; and how long, at most, an empty one lay on a node that had claimed
it. *Cells*: the 27 of table 5.3 (``tables``). *Programs*: the same shapes, but each task is of
one of four programs whose lengths are drawn, after three runs of each. *Graphs*: real workflows as
WfFormat describes them (``--graphs`` names the folder), their work scaled to 25 s for each of nine nodes.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final

from tests.bench import optimum
from tests.bench.messages import Meter
from tests.bench.report import Cell, Figures, Sheet, Verdict
from tests.sim.lan import Flock, Step, chain
from tests.sim.work import PROGRAMS

WHAT: Final = "what it costs that lengths of tasks are not told, or told wrongly"
OPTIONS: Final = {
    "--graphs": {"default": "", "metavar": "FOLDER", "help": "real workflows in WfFormat"},
    "--only": {
        "default": "",
        "metavar": "PART",
        "help": "messages, wrongly, cells, programs, graphs",
    },
}
NODES: Final = 9
EMPTY_TASKS, EMPTY_MANY = 400, 2_000
START_S: Final = 0.01
"""What starting a program takes where it decides; a warm keeper needs no longer."""
NOT_TOLD: Final = 0.0
EMPTY: Final = Step(0.0, told_s=NOT_TOLD, outputs=0)
MESSAGES_MAX: Final = 6.5
WRONGLY_MAX: Final = 1.05
MIXED_MAX: Final = 1.03
MIXED_S: Final = 20.55
"""When a flock that asked for each task by itself ended the mixed work."""
BEHIND_S_MAX: Final = 3.0
AVERAGE_MAX: Final = 1.01
LAST_MAX: Final = 1.02
LIST_MAX: Final = 1.03
GRAPHS_MEAN_MAX: Final = 1.02
GRAPH_MAX: Final = 1.04
GRAPH_WORK_S: Final = 25.0
SEEDS: Final = (1, 2, 3)


def measure(*, quick: bool, graphs: str = "", only: str = "") -> Figures:
    parts: dict[str, Any] = {
        "messages": lambda: _messages(EMPTY_TASKS),
        "wrongly": lambda: _wrongly(SEEDS[:1] if quick else SEEDS, 900 if quick else EMPTY_MANY),
        "cells": lambda: _cells(SEEDS[:1] if quick else SEEDS, quick=quick),
        "programs": lambda: _programs(SEEDS[:1] if quick else SEEDS, quick=quick),
        "graphs": lambda: (
            [_graph(path) for path in sorted(Path(graphs).glob("*.json"))] if graphs else []
        ),
    }
    return {name: part() for name, part in parts.items() if only in ("", name)}


def _ended(flock: Flock) -> float:
    """When the last task has ended, since the first submission."""
    if not flock.run():
        raise RuntimeError(f"{flock.open_tasks} tasks have not ended")
    began_s = min(flock.submitted_s.values())
    return max(times.ended_s or 0.0 for times in flock.times.values()) - began_s


# Messages


def _messages(tasks: int) -> Figures:
    flock = Flock(NODES)
    flock.simulation.plan.progress_marks = 0
    meter = Meter(flock)
    flock.submit("empty", [EMPTY] * tasks)
    makespan_s = _ended(flock)
    meter.messages.pop("Heartbeat", None)
    return {
        "per_task": sum(meter.messages.values()) / tasks,
        "by_kind": {kind: count / tasks for kind, count in sorted(meter.messages.items())},
        "makespan_s": makespan_s,
    }


# Told wrongly, and mixed


def _wrongly(seeds: tuple[int, ...], empty_tasks: int) -> Figures:
    long = [_against(90, 2.0, 0.01, seed) for seed in seeds]
    empty = [_against(empty_tasks, 0.0, 59.0, seed) for seed in seeds]
    mixed = [_mixed(seed) for seed in seeds]
    return {
        "long": max(long),
        "empty": max(empty),
        "mixed_s": max(makespan_s for makespan_s, _ in mixed),
        "behind_s": max(behind_s for _, behind_s in mixed),
    }


def _against(tasks: int, length_s: float, told_s: float, seed: int) -> float:
    ends: list[float] = []
    for told in (told_s, max(length_s, 0.01)):
        flock = Flock(NODES, start_s=START_S, seed=seed)
        flock.submit("w", [Step(length_s, told_s=told, outputs=0)] * tasks)
        ends.append(_ended(flock))
    return ends[0] / ends[1]


def _mixed(seed: int) -> tuple[float, float]:
    """The makespan, and for how long an empty task lay in a row at most."""
    flock = Flock(NODES, start_s=0.001, seed=seed)
    steps = [EMPTY] * 390 + [Step(20.0, told_s=NOT_TOLD, outputs=0)] * 9
    Random(f"mixed {seed}").shuffle(steps)
    names = flock.submit("w", steps)
    makespan_s = _ended(flock)
    empty = [name for name, step in zip(names, steps, strict=True) if not step.duration_s]
    return makespan_s, max(flock.times[name].in_a_row_s for name in empty)


# Cells, and programs


def _cells(seeds: tuple[int, ...], *, quick: bool) -> list[Figures]:
    sizes = [(n, w) for w in optimum.WORKFLOWS for n in optimum.NODES]
    return [_cell(nodes, workflows, seeds) for nodes, workflows in (sizes[1:2] if quick else sizes)]


def _cell(nodes: int, workflows: int, seeds: tuple[int, ...]) -> Figures:
    best = optimum.of_cell(nodes, workflows)
    averages, lasts = [], []
    for seed in seeds:
        flock = Flock(nodes, seed=seed, data_s=(0.0, 0.0) if seed % 2 else (0.002, 0.05))
        draw = Random(f"tables {seed}")
        for number in range(workflows):
            steps = chain(optimum.CHAIN_TASKS, optimum.TASK_S, told_s=NOT_TOLD)
            flock.submit(f"w{number:02}", steps, node=draw.randrange(nodes))
        _ended(flock)
        makespans = [flock.makespan_s(each) for each in flock.submitted_s]
        averages.append(fmean(makespans) / best.average_s)
        lasts.append(max(makespans) / best.last_s)
    return {"nodes": nodes, "workflows": workflows, "average": max(averages), "last": max(lasts)}


def _programs(seeds: tuple[int, ...], *, quick: bool) -> list[Figures]:
    sizes = [(n, w) for w in optimum.WORKFLOWS for n in optimum.NODES]
    return [
        {"nodes": n, "workflows": w, "makespan": max(_of_programs(n, w, seed) for seed in seeds)}
        for n, w in (sizes[1:2] if quick else sizes)
    ]


def _of_programs(nodes: int, workflows: int, seed: int) -> float:
    """The last end to that of a list schedule, after three runs of each program."""
    draw = Random(f"programs {nodes} {workflows} {seed}")
    lengths_s = {program: draw.uniform(60.0, 900.0) for program in PROGRAMS}
    flock = Flock(nodes, seed=seed)
    before = [
        Step(lengths_s[each], (), each, told_s=NOT_TOLD) for each in PROGRAMS for _ in range(3)
    ]
    flock.submit("before", before)
    _ended(flock)
    flock.submitted_s.clear()
    flock.times.clear()
    whole: list[tuple[float, tuple[int, ...]]] = []
    for number in range(workflows):
        steps = [
            Step(lengths_s[program], (n - 1,) if n else (), program, told_s=NOT_TOLD)
            for n, program in enumerate(draw.choices(PROGRAMS, k=optimum.CHAIN_TASKS))
        ]
        base = len(whole)
        whole += [(s.duration_s, tuple(base + need for need in s.needs)) for s in steps]
        flock.submit(f"w{number:02}", steps, node=draw.randrange(nodes))
    return _ended(flock) / optimum.list_schedule_s(whole, nodes)


# Graphs


def _graph(path: Path) -> Figures:
    steps = _read_graph(path)
    best_s = optimum.list_schedule_s([(each.duration_s, each.needs) for each in steps], NODES)
    ratios = {
        "ratio": _ratio(steps, best_s),
        "one_program": _ratio([replace(each, program="sleep") for each in steps], best_s),
        "told": _ratio([replace(each, told_s=None) for each in steps], best_s),
    }
    return {"name": path.stem, "tasks": len(steps), "best_s": best_s, **ratios}


def _ratio(steps: list[Step], best_s: float) -> float:
    programs = tuple(dict.fromkeys(each.program for each in steps))
    flock = Flock(NODES, start_s=START_S, data_s=(0.0, 0.0), programs=programs)
    flock.submit("graph", steps)
    return _ended(flock) / best_s


def _read_graph(path: Path) -> list[Step]:
    """The tasks of a workflow in WfFormat, the ones they need in front."""
    workflow = json.loads(path.read_text(encoding="utf-8"))["workflow"]
    found = workflow.get("specification", workflow)["tasks"]
    executed = workflow.get("execution", workflow)["tasks"]
    runtimes_s = {each.get("id") or each["name"]: each["runtimeInSeconds"] for each in executed}
    by_id = {each.get("id") or each["name"]: each for each in found}
    program = {
        each["id"]: str(each["command"]["program"]) for each in executed if "command" in each
    }
    needs = {task: tuple(by_id[task].get("parents", ())) for task in by_id}
    order: dict[str, int] = {}
    while len(order) < len(by_id):
        for task, needed in needs.items():
            if task not in order and all(each in order for each in needed):
                order[task] = len(order)
    scale = GRAPH_WORK_S * NODES / sum(runtimes_s.values())
    return [
        Step(
            scale * runtimes_s[task],
            tuple(order[each] for each in needs[task]),
            program.get(task, task),
            told_s=NOT_TOLD,
        )
        for task in order
    ]


# What is said of it


def judge(figures: Figures) -> list[Verdict]:
    verdicts: list[Verdict] = []
    if "messages" in figures:
        found = figures["messages"]["per_task"]
        verdicts.append(Verdict("messages per empty task, cold, nothing told", found, MESSAGES_MAX))
    if "wrongly" in figures:
        found = figures["wrongly"]
        verdicts += [
            Verdict("2 s, told 10 ms: to told right", found["long"], WRONGLY_MAX),
            Verdict("empty, told 60 s: to told right", found["empty"], WRONGLY_MAX),
            Verdict("390 empty and 9 of 20 s", found["mixed_s"], MIXED_MAX * MIXED_S, "s"),
            Verdict("  an empty one lay in a row, at most", found["behind_s"], BEHIND_S_MAX, "s"),
        ]
    if "cells" in figures:
        for name, limit in (("average", AVERAGE_MAX), ("last", LAST_MAX)):
            worst = max(each[name] for each in figures["cells"])
            verdicts.append(Verdict(f"27 cells, {name}, worst", worst, limit))
    if "programs" in figures:
        worst = max(each["makespan"] for each in figures["programs"])
        verdicts.append(Verdict("four programs, 27 shapes, worst", worst, LIST_MAX))
    if figures.get("graphs"):
        for name, what in (("ratio", "graphs"), ("one_program", "graphs, all one program")):
            ratios = [each[name] for each in figures["graphs"]]
            verdicts.append(Verdict(f"{what}, mean", fmean(ratios), GRAPHS_MEAN_MAX))
            verdicts.append(Verdict(f"{what}, worst", max(ratios), GRAPH_MAX))
    return verdicts


def sheets(figures: Figures) -> list[Sheet]:
    """What lies behind the worst."""
    found: list[Sheet] = []
    cells = {(each["nodes"], each["workflows"]): each for each in figures.get("cells", ())}
    programs = {(e["nodes"], e["workflows"]): e["makespan"] for e in figures.get("programs", ())}
    rows: list[list[Cell]] = []
    for nodes, workflows in sorted({*cells, *programs}, key=lambda each: (each[1], each[0])):
        cell = cells.get((nodes, workflows), {})
        program = programs.get((nodes, workflows))
        rows.append([workflows, nodes, cell.get("average"), cell.get("last"), program])
    if rows:
        columns = ["workflows", "nodes", "average x", "last x", "four programs x"]
        found.append(Sheet("Cells, nothing told", columns, rows))
    if figures.get("graphs"):
        graphs = [
            [e["name"], e["tasks"], e["best_s"], e["told"], e["ratio"], e["one_program"]]
            for e in figures["graphs"]
        ]
        columns = ["graph", "tasks", "list s", "told x", "not told x", "all one program x"]
        found.append(Sheet("Real workflows", columns, graphs))
    return found
