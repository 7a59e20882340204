"""Run the simulator: ``python -m tests.sim --seeds 10000`` or ``--seed N --trace``.

Many seeds are spread over processes; one seed is replayed, with every step told if wanted. The
seed of a failing run is the first thing it prints. With ``--hostile`` one member of each flock lies.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from agent.protocol.node import Node
from agent.protocol.policy import DEFAULT_RULE, flock_rules
from tests.bench import policies_page
from tests.sim.classes import CLASSES
from tests.sim.failure import SimulationFailure
from tests.sim.hostile import HostileMember
from tests.sim.run import Result, class_of, run_seed
from tests.sim.scores import RandomScores

Asked = tuple[int, str | None, type[Node], str]
"""A seed, the class of scenarios if only one is wanted, what runs on the machines, and by which rules."""
PROGRESS_S = 1.0
FAILURES_SHOWN = 5


@dataclass(slots=True)
class Outcome:
    seed: int
    kind: str
    result: Result | None = None
    check: str = ""
    text: str = ""


@dataclass(slots=True)
class Summary:
    runs: int = 0
    failed: int = 0
    events: int = 0
    starts: int = 0
    faults: int = 0
    cpu_s: float = 0.0
    slowest_settled_s: float = 0.0
    checks: dict[str, int] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        self.runs += 1
        if outcome.result is None:
            self.failed += 1
            self.checks[outcome.check] = self.checks.get(outcome.check, 0) + 1
            return
        result = outcome.result
        self.events += result.events
        self.cpu_s += result.cpu_s
        self.starts += result.counts.get("starts", 0)
        self.faults += sum(result.counts.get(kind, 0) for kind in FAULTS)
        self.slowest_settled_s = max(self.slowest_settled_s, result.settled_s)


FAULTS = (
    "crash",
    "gone",
    "shutdown",
    "expelled",
    "stall",
    "long stall",
    "cut",
    "reset",
    "drops",
    "disk full",
    "datasets lost",
    "clock set",
)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--seed", type=int, help="replay this one only")
    parser.add_argument("--trace", action="store_true", help="tell every step of it")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--class", dest="kind", choices=sorted(CLASSES), help="only this class")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a failure")
    parser.add_argument("--json", action="store_true", help="the summary as JSON")
    parser.add_argument("--random-scores", action="store_true", help="score every claim at random")
    parser.add_argument("--policy", choices=sorted(flock_rules), default="", help="by these rules")
    parser.add_argument(
        "--keep", action="store_true", help="count the runs on the page of policies"
    )
    parser.add_argument("--hostile", action="store_true", help="one member of each flock lies")
    options = parser.parse_args(argv)
    node_class = RandomScores if options.random_scores else Node
    if options.hostile:
        node_class = HostileMember
    if options.seed is not None:
        tell = print if options.trace else None
        return _replay((options.seed, options.kind, node_class, options.policy), tell)
    seeds = [
        (seed, options.kind, node_class, options.policy)
        for seed in range(options.first, options.first + options.seeds)
    ]
    return _run_all(seeds, options)


def _replay(one: Asked, tell: Callable[[str], None] | None) -> int:
    seed, kind, node_class, policy = one
    print(f"seed {seed}, class {kind or class_of(seed)}", flush=True)
    try:
        result = run_seed(seed, node_class, kind, tell, policy)
    except SimulationFailure as failure:
        print(failure)
        return 1
    print(
        f"kept every promise: {result.nodes} nodes, {result.events} events in "
        f"{result.virtual_s:.1f} virtual seconds, settled after {result.settled_s:.1f} s, "
        f"trace {result.trace}"
    )
    return 0


def run_one(one: Asked) -> Outcome:
    """One seed, in a process of the pool."""
    seed, kind, node_class, policy = one
    try:
        result = run_seed(seed, node_class, kind, policy=policy)
        return Outcome(seed, kind or class_of(seed), result)
    except SimulationFailure as failure:
        return Outcome(seed, failure.kind, None, failure.check, str(failure))


def _outcomes(seeds: list[Asked], jobs: int) -> Iterator[Outcome]:
    if jobs <= 1:
        yield from map(run_one, seeds)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap_unordered(run_one, seeds, chunksize=4)


def _run_all(seeds: list[Asked], options: argparse.Namespace) -> int:
    summaries: dict[str, Summary] = {}
    failures: list[Outcome] = []
    began = told = time.monotonic()
    for done, outcome in enumerate(_outcomes(seeds, options.jobs), 1):
        summaries.setdefault(outcome.kind, Summary()).add(outcome)
        if outcome.result is None:
            failures.append(outcome)
            if not options.keep_going:
                break
        if time.monotonic() - told > PROGRESS_S:
            told = time.monotonic()
            _tell_progress(done, len(seeds), len(failures), told - began)
    _tell_summary(summaries, failures, time.monotonic() - began, options.json)
    if options.keep:
        runs = sum(summary.runs for summary in summaries.values())
        _count(options.policy or DEFAULT_RULE, runs, len(failures))
    return 1 if failures else 0


def _count(policy: str, runs: int, failed: int) -> None:
    """Add runs of fresh seeds to those that were kept."""
    kept = policies_page.kept(policies_page.SCENARIOS) or {}
    before = kept.get(policy, [0, 0])
    policies_page.keep(
        policies_page.SCENARIOS, kept | {policy: [before[0] + runs, before[1] + failed]}
    )


def _tell_progress(done: int, all_of: int, failed: int, took_s: float) -> None:
    text = f"{done} of {all_of} seeds, {failed} failed, {took_s:.0f} s"
    end = "\r" if sys.stderr.isatty() else "\n"
    if sys.stderr.isatty() or int(took_s) % 20 == 0:
        print(text, end=end, file=sys.stderr, flush=True)


def _tell_summary(
    summaries: dict[str, Summary], failures: list[Outcome], took_s: float, as_json: bool
) -> None:
    if as_json:
        _tell_json(summaries, failures, took_s)
        return
    for failure in sorted(failures, key=lambda one: one.seed)[:FAILURES_SHOWN]:
        print(failure.text, end="\n\n")
    print(
        f"{'class':<18} {'runs':>6} {'failed':>6} {'events':>10} {'starts':>7} {'faults':>7} settled"
    )
    for kind, summary in sorted(summaries.items()):
        print(
            f"{kind:<18} {summary.runs:>6} {summary.failed:>6} {summary.events:>10} "
            f"{summary.starts:>7} {summary.faults:>7} {summary.slowest_settled_s:>5.0f} s"
        )
    events, cpu_s = _totals(summaries)
    runs = sum(summary.runs for summary in summaries.values())
    print(f"{runs} runs in {took_s:.1f} s, {events} events, {events / max(cpu_s, 1e-9):,.0f} per s")
    for failure in sorted(failures, key=lambda one: one.seed):
        print(f"failed: seed {failure.seed}, class {failure.kind}: {failure.check}")


def _tell_json(summaries: dict[str, Summary], failures: list[Outcome], took_s: float) -> None:
    events, cpu_s = _totals(summaries)
    print(
        json.dumps(
            {
                "took_s": round(took_s, 3),
                "events": events,
                "events_per_s": round(events / max(cpu_s, 1e-9)),
                "classes": {
                    kind: {
                        "runs": one.runs,
                        "failed": one.failed,
                        "events": one.events,
                        "starts": one.starts,
                        "faults": one.faults,
                        "settled_s_max": round(one.slowest_settled_s, 1),
                    }
                    for kind, one in sorted(summaries.items())
                },
                "failures": [
                    {"seed": one.seed, "class": one.kind, "check": one.check, "text": one.text}
                    for one in sorted(failures, key=lambda one: one.seed)
                ],
            }
        )
    )


def _totals(summaries: dict[str, Summary]) -> tuple[int, float]:
    events = sum(summary.events for summary in summaries.values())
    return events, sum(summary.cpu_s for summary in summaries.values())


if __name__ == "__main__":
    sys.exit(main())
