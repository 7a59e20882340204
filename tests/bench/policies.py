"""The documents' rules of who runs what, and ours, in the documents' own settings: one table.

* **Who takes which task** (003, chapter 4): hosts that come and go, tasks of very different lengths, in a
  simulator on the level of queues (``tests/sim/queues.py``) that loads the product's classes. First come,
  first served and ours at full scale, a thousand hosts and 1e9 s of work; all rules at a fifth of it.
* **Lengths told wrongly** (003, section 4.6.1): each task takes up to k times as long as told, or as short.
* **How many copies** (003, chapter 3): the two models of availability.
* **Fairness** (002, table 1): the variance of jobs on twenty machines, and the messages of it.

Nothing is fitted to a cell. Where the source leaves something out, the simulators say how it was read. The
makespans of the source hold overheads and an end that it does not publish, so what is held against it are
executions for each task, gains over first come, first served, and the order of rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from math import trunc
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final

from agent.protocol.policy.availability import Repairs, lifetime, of_group
from agent.protocol.policy.best_fit import BestFit, CorrectedBestFit, GroupBestFit
from agent.protocol.policy.central import (
    FailureRate,
    LastingReplication2,
    LastingReplication4,
    Replication2,
    Replication4,
)
from agent.protocol.policy.competition import Competition, GroupCompetition
from agent.protocol.policy.late_claims import LateClaims
from agent.protocol.policy.placing import Placing
from agent.protocol.policy.reaching import Lasting
from agent.protocol.policy.refraining import STRATEGIES
from tests.bench.report import Figures, Sheet, Verdict
from tests.sim.queues import EXPONENTIAL, MIXES, STABLE_SHARES, WEIBULL, Queues, hosts, work
from tests.sim.rings import FAULTS, Ring

WHAT: Final = "who takes which task: the documents' rules and ours, in the documents' settings"
OPTIONS: Final = {
    "--jobs": {"type": int, "default": 2, "help": "processes at once"},
    "--seeds": {"type": int, "default": 3, "help": "so many runs of each cell"},
    "--only": {"default": "", "help": "this rule; what was kept is taken of all others"},
}

KEPT: Final = Path(__file__).parent / "figures" / "policies.json"
RULES: Final = {
    each.name: each
    for each in (
        Placing,
        Replication2,
        Replication4,
        LastingReplication2,
        LastingReplication4,
        FailureRate,
        Competition,
        GroupCompetition,
        BestFit,
        GroupBestFit,
        CorrectedBestFit,
        LateClaims,
        Lasting,
    )
}
MANNERS: Final = {"exponential": EXPONENTIAL, "Weibull": WEIBULL}
SEEDS: Final = 3
HOSTS, HOSTS_FULL = 200, 1_000
WORK_S: Final = 1e6
"""For each host."""
QUICK_HOSTS, QUICK_WORK_S = 10, 2e5
SAVES_EVERY_S: Final = 60.0
WRONG: Final = (1.0, 1.5, 2.0, 2.5, 3.0)
WRONG_IN: Final = (("stable", "small"), ("mixed", "large"), ("unstable", "medium"))
WRONG_RULES: Final = ("FCFS", "WQR-4", "WQR-FA-4", "FR", "BFGC", "BFGCE", "ours")
EXECUTIONS: Final = {"small": 1.413, "medium": 1.641, "large": 3.633}
GAINS: Final = {
    "stable": {"small": 1.37, "medium": 1.41, "large": 3.33},
    "mixed": {"small": 16.88, "medium": 16.97, "large": 15.92},
    "unstable": {"small": 19.13, "medium": 20.46, "large": 17.79},
}
"""Of BFGC over FCFS, in percent."""
TABLE_31: Final = {
    3: (99.999, 99.999, 99.700),
    5: (99.999, 99.999, 99.501),
    7: (100, 99.999, 99.303),
}
TABLE_32: Final = {
    3: (99.899, 99.799, 99.699),
    5: (99.899, 99.699, 99.499),
    7: (99.899, 99.599, 99.301),
}
LASTS_S: Final = {3: 3.25e11, 5: 1.90e17}
VARIANCES: Final = {
    "no fairness": 85.26,
    "not best": 0.0,
    "worst": 36.42,
    "worse than average": 0.0,
    "worse than the majority": 0.32,
    "equal or worse than the majority": 0.73,
}
MESSAGES: Final = {2: 6_680, 10: 49_432, 20: 102_872}
RING_SEEDS: Final = 10


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a rule in the queues."""

    rule: str
    share: str
    kind: str
    seed: int
    manner: str = "exponential"
    count: int = HOSTS
    saves_every_s: float = 0.0
    wrong: float = 1.0
    work_s: float = WORK_S


def _run(cell: Cell) -> dict[str, float]:
    rng = Random(cell.seed)
    tasks = work(cell.kind, cell.count * cell.work_s, rng, cell.wrong)
    members = hosts(cell.count, cell.share, MANNERS[cell.manner])
    rule = RULES[cell.rule]()
    outcome = Queues(rule, members, tasks, rng, cell.saves_every_s).run()
    return {
        "makespan_s": outcome.makespan_s,
        "executions": outcome.executions,
        "wasted_s": outcome.wasted_s,
        "given_up": float(outcome.given_up),
    }


def measure(*, quick: bool = False, jobs: int = 2, seeds: int = SEEDS, only: str = "") -> Figures:
    """Return what every rule comes to, or one ``only`` with what was kept of the others; a quick run
    has ten hosts, a fifth of the work and one seed."""
    drawn = range(1, 2 if quick else 1 + seeds)
    cells = {"rules": _cells(drawn), "full": _full(drawn), "wrong": _wrong(drawn)}
    kept: Figures = json.loads(KEPT.read_text("utf-8")) if only else {}
    if only:
        for part, all_ in cells.items():
            cells[part] = [each for each in all_ if each.rule == only]
    if quick:
        for part, all_ in cells.items():
            cells[part] = [replace(each, count=QUICK_HOSTS, work_s=QUICK_WORK_S) for each in all_]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found: Figures = {part: _over(pool, each) for part, each in cells.items()}
    if only:
        others = {part: [row for row in kept[part] if row["rule"] != only] for part in cells}
        return kept | {part: [*others[part], *found[part]] for part in cells}
    found["seeds"] = len(drawn)
    return found | {"copies": _copies(), "fairness": _fairness(1 if quick else RING_SEEDS)}


def _cells(seeds: Iterable[int]) -> list[Cell]:
    return [
        Cell(rule, share, kind, seed, manner, HOSTS, saves)
        for manner in MANNERS
        for share in STABLE_SHARES
        for kind in MIXES
        for rule, saves in [*((each, 0.0) for each in RULES), ("ours", SAVES_EVERY_S)]
        for seed in seeds
    ]


def _full(seeds: Iterable[int]) -> list[Cell]:
    return [
        Cell(rule, "unstable", kind, seed, count=HOSTS_FULL)
        for kind in MIXES
        for rule in ("FCFS", "ours")
        for seed in seeds
    ]


def _wrong(seeds: Iterable[int]) -> list[Cell]:
    return [
        Cell(rule, share, kind, seed, wrong=wrong)
        for share, kind in WRONG_IN
        for rule in WRONG_RULES
        for wrong in WRONG
        for seed in seeds
    ]


def _over(pool: ProcessPoolExecutor, cells: list[Cell]) -> list[dict[str, Any]]:
    """The means over the seeds."""
    found: dict[tuple[Any, ...], list[dict[str, float]]] = {}
    for cell, outcome in zip(
        cells, pool.map(_run, cells, chunksize=max(1, len(cells) // 32)), strict=True
    ):
        key = (cell.rule, cell.share, cell.kind, cell.manner, cell.saves_every_s, cell.wrong)
        found.setdefault(key, []).append(outcome)
    names = ("rule", "share", "kind", "manner", "saves_every_s", "wrong")
    return [
        dict(zip(names, key, strict=True))
        | {each: fmean(outcome[each] for outcome in outcomes) for each in outcomes[0]}
        for key, outcomes in found.items()
    ]


def _copies() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for nodes in (3, 5, 7):
        needed = (1, nodes // 2 + 1, nodes)
        lasts = [lifetime(nodes, 1e6, 1e3, Repairs(30, reads, 300)) for reads in (0.1, 1.0)]
        found[str(nodes)] = {
            "transient": [100 * of_group(nodes, each, 1e6, 1e3) for each in needed],
            "bare": [100 * lasts[0].answered[each - 1] for each in needed],
            "lasts_s": [each.until_lost_s for each in lasts],
        }
    return found


def _fairness(seeds: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for strategy in STRATEGIES:
        found[strategy] = row = {}
        for fault in FAULTS:
            rings = [Ring(strategy, fault, seed=seed) for seed in range(seeds)]
            for ring in rings:
                ring.run()
            row[fault] = fmean(ring.variance for ring in rings)
            row[f"{fault}, forced"] = sum(ring.forced for ring in rings)
    messages = {}
    for group in MESSAGES:
        ring = Ring("not best", group=group)
        ring.run()
        messages[str(group)] = ring.messages
    return {"variance": found, "messages": messages}


# -- how it is judged and shown ------------------------------------------------------------


def _find(rows: list[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    wanted = {"manner": "exponential", "saves_every_s": 0.0, "wrong": 1.0} | wanted
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def _ratio(rows: list[dict[str, Any]], one: str, other: str, **where: Any) -> float:
    mine, theirs = _find(rows, rule=one, **where), _find(rows, rule=other, **where)
    return float(mine["makespan_s"] / theirs["makespan_s"])


def judge(figures: Figures) -> list[Verdict]:
    """Return what is held against the sources, and ours against the best of them."""
    rules, found = figures["rules"], []
    for kind, published in EXECUTIONS.items():
        row = _find(figures["full"], rule="FCFS", share="unstable", kind=kind)
        off = abs(row["executions"] / published - 1)
        found.append(Verdict(f"FCFS, unstable, {kind}: executions, off by", off, 0.01))
    for share in ("mixed", "unstable"):
        for kind, gain in GAINS[share].items():
            ours = 100 * (1 - _ratio(rules, "BFGC", "FCFS", share=share, kind=kind))
            what = f"BFGC over FCFS, {share}, {kind}"
            found.append(Verdict(what, ours, gain / 2, "%", at_least=True))
    for manner in MANNERS:
        for share in STABLE_SHARES:
            for kind in MIXES:
                ratio = _ratio(rules, "ours", "BFGCE", share=share, kind=kind, manner=manner)
                found.append(Verdict(f"ours to BFGCE, {manner}, {share}, {kind}", ratio, 0.97))
    for kind in MIXES:
        saved = _find(rules, rule="ours", share="unstable", kind=kind, saves_every_s=SAVES_EVERY_S)
        found.append(
            Verdict(f"ours with saved states, unstable, {kind}", saved["makespan_s"], 1.15e6, "s")
        )
    for rule in ("BFGCE", "ours"):
        dropped = sum(row["given_up"] for row in figures["wrong"] if row["rule"] == rule)
        found.append(Verdict(f"{rule}, lengths told wrongly: given up", dropped, 0))
    return [*found, *_judge_copies(figures["copies"]), *_judge_fairness(figures["fairness"])]


def _judge_copies(copies: dict[str, Any]) -> list[Verdict]:
    found = []
    for nodes, row in copies.items():
        for published, had in ((TABLE_31, row["transient"]), (TABLE_32, row["bare"])):
            off = max(
                abs(trunc(1000 * value) / 1000 - printed)
                for value, printed in zip(had, published[int(nodes)], strict=True)
            )
            name = "3.1" if published is TABLE_31 else "3.2"
            found.append(Verdict(f"table {name}, {nodes} copies, off by", off, 0.0021, "%"))
        if int(nodes) in LASTS_S:
            off = max(abs(each / LASTS_S[int(nodes)] - 1) for each in row["lasts_s"])
            found.append(Verdict(f"time to loss, {nodes} copies, off by", off, 0.025))
    return found


def _judge_fairness(fairness: dict[str, Any]) -> list[Verdict]:
    variance = fairness["variance"]
    off = abs(variance["no fairness"]["no error"] - VARIANCES["no fairness"])
    found = [Verdict("no fairness: variance, off by", off, 0.01)]
    for strategy in ("not best", "worse than average"):
        worst = max(variance[strategy][fault] for fault in FAULTS)
        found.append(Verdict(f"{strategy}: variance, worst of four", worst, 0.11))
    forced = sum(row["no error, forced"] for row in variance.values())
    found.append(Verdict("tasks that nobody took for too long, without faults", forced, 0))
    for group, count in MESSAGES.items():
        off = abs(fairness["messages"][str(group)] / count - 1)
        found.append(Verdict(f"messages in groups of {group}, off by", off, 0.1))
    return found


def sheets(figures: Figures) -> list[Sheet]:
    """Return the tables of all parts."""
    return [
        *_sheets_of_rules(figures["rules"], figures.get("seeds", SEEDS)),
        _sheet_of_wrong(figures["wrong"]),
        _sheet_of_fairness(figures["fairness"]),
    ]


def _sheets_of_rules(rows: list[dict[str, Any]], seeds: int) -> list[Sheet]:
    places = [(share, kind) for share in STABLE_SHARES for kind in MIXES]
    found = []
    for manner in MANNERS:
        lines: list[list[Any]] = []
        for rule, saves in [*((each, 0.0) for each in RULES), ("ours", SAVES_EVERY_S)]:
            name = f"{rule}, saved each {saves:.0f} s" if saves else rule
            cells = [
                _find(rows, rule=rule, share=s, kind=k, manner=manner, saves_every_s=saves)
                for s, k in places
            ]
            lines.append([name, *(round(each["makespan_s"] / 1e6, 3) for each in cells)])
        columns = ["rule", *(f"{share} {kind}" for share, kind in places)]
        note = f"In 1e6 s; the least with hosts that never fail is 1. Seeds: {seeds}."
        found.append(Sheet(f"Makespan, {manner} times up and down", columns, lines, note))
    return found


def _sheet_of_wrong(rows: list[dict[str, Any]]) -> Sheet:
    lines: list[list[Any]] = []
    for rule in WRONG_RULES:
        cells: list[Any] = [rule]
        for share, kind in WRONG_IN:
            for wrong in WRONG[1:]:
                row = _find(rows, rule=rule, share=share, kind=kind, wrong=wrong)
                cells.append(f"{row['makespan_s'] / 1e6:.2f} ({row['given_up']:.0f})")
        lines.append(cells)
    columns = ["rule", *(f"{s} {k} {w}" for s, k in WRONG_IN for w in WRONG[1:])]
    note = "In 1e6 s; in brackets what was given up after 100 tries."
    return Sheet("Lengths told wrongly by up to 1.5, 2, 2.5, 3 times", columns, lines, note)


def _sheet_of_fairness(fairness: dict[str, Any]) -> Sheet:
    lines: list[list[Any]] = [
        [strategy, VARIANCES[strategy], *(round(row[fault], 2) for fault in FAULTS)]
        for strategy, row in fairness["variance"].items()
    ]
    columns = ["strategy", "published, no error", *FAULTS]
    note = "How well off a machine is, and how old its news are, is not in the source."
    return Sheet("Variance of jobs on twenty machines", columns, lines, note)
