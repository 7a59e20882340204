"""One cell of the third document's evaluation through the real ``Node``: each of the rules on 30 nodes.

``policies`` has all rules in the document's own size, where nothing is sent. Here the product's nodes run by
each rule that an administrator can choose, with every message, claim, record and heartbeat of theirs, in the
simulator: 30 nodes, of which three are stable and 27 are not (*unstable*), tasks of *medium* lengths. All times
of the document are divided by 20, so that a cell is an hour and not a day: a node that is not stable is up
for 500 s and away for 50 s on the average, most tasks take 75 to 300 s. Each node tells its peers how likely
it stays, as the document estimates that: by the mean of the times that it was up so far. What a node had in
hand when it died is lost. A death resets links and is seen at once, so beats are four times as rare as on a
network: they are most of what a cell costs, and decide nothing here.

Makespans hold what the document leaves out: finding a loss, the round of questions, the copies of results.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from math import exp, inf
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final

from agent.protocol.policy import CHOSEN
from agent.protocol.policy.lasting import CURVE_S
from agent.protocol.policy.placing import HostPast
from agent.protocol.settings import Settings
from tests.bench.report import Figures, Sheet, Verdict
from tests.sim.lan import Flock, Step
from tests.sim.machine import Machine
from tests.sim.queues import EXPONENTIAL, STABLE_SHARES, work

WHAT: Final = "each rule through the real nodes: 30 of them that come and go, simulated"
OPTIONS: Final = {
    "--jobs": {"type": int, "default": 2, "help": "processes at once"},
    "--only": {"default": "", "help": "this rule; what was kept is taken of all others"},
}
KEPT: Final = Path(__file__).parent / "figures" / "policies_nodes.json"
NODES, SHORTER = 30, 20.0
WORK_S, QUICK_WORK_S = 300.0, 30.0
"""For each node."""
SHARE, KIND = "unstable", "medium"
SEEDS: Final = (1,)
RULES: Final = tuple(each.name for each in CHOSEN)
QUICK_NODES, QUICK_RULES = 4, ("look-ahead", "reaching", "BFGCE")
SETTINGS: Final = Settings(
    deaths_max=100, heartbeat_s=2.0, beat_s_max=6.0, suspect_after_s=8.0, down_after_s=20.0
)
LIMIT_S = 50_000.0
NAMES = tuple(f"host{number:02}" for number in range(NODES))


def measure(*, quick: bool = False, jobs: int = 2, only: str = "") -> Figures:
    """Return what each rule comes to, or one ``only`` with what was kept of the others; a quick run has
    four nodes, little work and three rules."""
    chosen, nodes, work_s = (
        (QUICK_RULES, QUICK_NODES, QUICK_WORK_S) if quick else (RULES, NODES, WORK_S)
    )
    if only:
        chosen = tuple(each for each in chosen if each == only)
    asked = [(rules, seed, nodes, work_s) for seed in SEEDS for rules in chosen]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_cell, asked))
    rows = []
    for rules in chosen:
        those = [each for (name, *_), each in zip(asked, found, strict=True) if name == rules]
        rows.append(
            {"rules": rules} | {key: fmean(each[key] for each in those) for key in found[0]}
        )
    if only and KEPT.exists():
        others = json.loads(KEPT.read_text("utf-8"))["cells"]
        rows = [*(row for row in others if row["rules"] != only), *rows]
        rows.sort(key=lambda row: RULES.index(row["rules"]))
    return {"cells": rows, "seeds": len(SEEDS)}


class Comings:
    """Nodes that die and return after drawn times, and say how likely they stay by what they have seen
    of themselves."""

    def __init__(self, flock: Flock, rng: Random) -> None:
        self._flock, self._rng = flock, rng
        self.deaths_s: dict[str, list[float]] = {}
        machines = flock.simulation.machines
        stable = round(len(machines) * STABLE_SHARES[SHARE])
        for number, machine in enumerate(machines):
            manner = EXPONENTIAL[number >= stable]
            past = HostPast(machine.plan.name, up_since_s=flock.world.now)
            times = (manner.up_s / SHORTER, manner.down_s / SHORTER)
            machine.lasts = _curve(past)
            machine.tell_presence()
            flock.world.after(rng.expovariate(1 / times[0]), self._dies, (machine, past, *times))

    def _dies(self, whose: tuple[Machine, HostPast, float, float], _: object = None) -> None:
        machine, past, up_s, down_s = whose
        now_s, away_s = self._flock.world.now, self._rng.expovariate(1 / down_s)
        past.failed(now_s)
        past.up_since_s = now_s + away_s
        self.deaths_s.setdefault(machine.plan.name, []).append(now_s)
        machine.lasts = _curve(past)
        self._flock.simulation.faults.crash_now(machine, back_s=away_s)
        again_s = away_s + self._rng.expovariate(1 / up_s)
        self._flock.world.after(again_s, self._dies, whose)


def _curve(past: HostPast) -> tuple[int, ...]:
    return tuple(round(1000 * exp(-past.failure_rate * at_s)) for at_s in CURVE_S)


def _cell(asked: tuple[str, int, int, float]) -> dict[str, float]:
    rules, seed, nodes, work_s = asked
    rng = Random(f"nodes {seed}")
    lengths = [each.length_s / SHORTER for each in work(KIND, nodes * work_s * SHORTER, rng)]
    flock = Flock(nodes, seed=seed, settings=SETTINGS, names=NAMES, policy=rules)
    comings = Comings(flock, rng)
    names = flock.submit("w", [Step(each) for each in lengths])
    if not flock.run(LIMIT_S):
        raise RuntimeError(f"{flock.open_tasks} tasks have not ended under {rules}")
    begun = [flock.times[name].started for name in names]
    return {
        "makespan_s": flock.makespan_s("w"),
        "executions": fmean(len(each) for each in begun),
        "wasted_s": fmean(_wasted_s(each, comings.deaths_s) for each in begun),
        "least_s": _least_s(sum(lengths), nodes),
    }


def _wasted_s(begun: list[tuple[float, str]], deaths_s: dict[str, list[float]]) -> float:
    """How long runs went on that came to nothing: until their node died."""
    spent_s = 0.0
    for at_s, host in begun[:-1]:
        spent_s += min((each - at_s for each in deaths_s.get(host, ()) if each > at_s), default=0.0)
    return spent_s


def _least_s(work_s: float, nodes: int) -> float:
    """As long as it takes where nothing is ever lost, of nodes that are there so much of the time."""
    shares = [manner.up_s / (manner.up_s + manner.down_s) for manner in EXPONENTIAL]
    stable = STABLE_SHARES[SHARE]
    return work_s / (nodes * (stable * shares[0] + (1 - stable) * shares[1]))


# -- how it is judged and shown ------------------------------------------------------------


def judge(figures: Figures) -> list[Verdict]:
    """Return whether ours takes no longer than the best of the documents' rules."""
    rows = {each["rules"]: each["makespan_s"] for each in figures["cells"]}
    ours = ("look-ahead", "reaching")
    best = min((value for name, value in rows.items() if name not in ours), default=inf)
    return [
        Verdict(f"{name} to the best of the documents' rules", rows[name] / best, 1.0)
        for name in ours
        if name in rows
    ]


def sheets(figures: Figures) -> list[Sheet]:
    """Return one table of all rules."""
    return [_sheet(figures["cells"], figures["seeds"])]


def _sheet(rows: Iterable[dict[str, Any]], seeds: int) -> Sheet:
    lines = [
        [
            each["rules"],
            round(each["makespan_s"]),
            round(each["makespan_s"] / each["least_s"], 2),
            round(each["executions"], 3),
            round(each["wasted_s"], 1),
        ]
        for each in rows
    ]
    columns = ["rules", "makespan s", "x least", "executions a task", "wasted s a task"]
    note = f"{NODES} nodes, {SHARE}, {KIND}; means of {seeds} seeds; least: nothing is ever lost."
    return Sheet("Through the real nodes", columns, lines, note)
