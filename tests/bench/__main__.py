"""Run a benchmark: ``python -m tests.bench NAME``; without a name, say which there are.

Each is a module of this folder with the same three functions, so that options, showing, judging,
keeping and the exit code exist once. A benchmark that misses a limit ends with exit code 1.
``python -m tests.bench report`` writes the tables of BENCHMARKS.md from what was kept.
"""

from __future__ import annotations

import argparse
import cProfile
import importlib
import pstats
import sys
from collections.abc import Sequence
from typing import Any, cast

from tasks.line.__main__ import take_one_core
from tests.bench import page, policies_page
from tests.bench.report import Benchmark, Figures, hand_over

SIMULATED = (
    *("tables", "dispatch", "twice", "speed", "messages", "policies", "policies_nodes"),
    *("late_claims", "load"),
    *("lengths", "speeds", "month", "random", "events"),
)
LIVE = (
    *("live_flock", "live", "live_throughput", "live_true", "live_client", "live_presence"),
    "live_signing",
    *("live_owner", "live_transfer", "live_idle", "live_soak", "live_fuzz", "journal"),
    *(
        "live_policies",
        "fleet",
        "gui",
        "gui_start",
        "gui_history",
        "requests",
        "inspection",
        "confinement",
    ),
    *("inspection_tiles", "inspection_flock"),
)
NAMES = (*SIMULATED, *LIVE)
GROUPS = {"in the simulator": SIMULATED, "with real agents": LIVE}
REPORT = "report"
PROFILE_LINES = 40


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 when every limit was kept."""
    given = list(sys.argv[1:] if argv is None else argv)
    name = given[0] if given else ""
    if name == REPORT:
        page.write(GROUPS)
        policies_page.write()
        return 0
    if name not in NAMES:
        for each in NAMES:
            sys.stdout.write(f"{each:16} {benchmark(each).WHAT}\n")
        return 2 if given else 0
    take_one_core()
    bench = benchmark(name)
    chosen = _parsed(bench, name, given[1:])
    as_json, keep, profile = (chosen.pop(each) for each in ("json", "keep", "profile"))
    kept = (page.result(name), " ".join(["python -m tests.bench", *_without_keep(given)]))
    figures = (_profiled if profile else _measured)(bench, **chosen)
    if keep and bench in policies_page.BENCHES:
        policies_page.keep(name, figures)
    return hand_over(bench, figures, as_json=as_json, keep=kept if keep else None)


def benchmark(name: str) -> Benchmark:
    """Return the module of this name, loaded only when it is wanted."""
    return cast("Benchmark", importlib.import_module(f"tests.bench.{name}"))


def _parsed(bench: Benchmark, name: str, given: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.bench {name}", description=bench.__doc__
    )
    parser.add_argument("--json", action="store_true", help="figures as JSON, no tables")
    parser.add_argument("--quick", action="store_true", help="small, to see that it runs at all")
    parser.add_argument("--keep", action="store_true", help="keep the rows for BENCHMARKS.md")
    parser.add_argument("--profile", action="store_true", help="also where the time goes")
    for option, told in getattr(bench, "OPTIONS", {}).items():
        parser.add_argument(option, **told)
    return vars(parser.parse_args(given))


def _without_keep(given: list[str]) -> list[str]:
    """The command as far as it says of what the kept figures are: of all, though a part was measured."""
    found = [each for each in given if each not in ("--keep", "--json")]
    for part in ("--only", "--nodes"):
        if part in found:
            at = found.index(part)
            del found[at : at + 2]
    return found


def _measured(bench: Benchmark, **chosen: Any) -> Figures:
    return bench.measure(**chosen)


def _profiled(bench: Benchmark, **chosen: Any) -> Figures:
    """The same, with a profile of the protocol's functions on the standard error."""
    profile = cProfile.Profile()
    figures: Figures = profile.runcall(bench.measure, **chosen)
    stats = pstats.Stats(profile, stream=sys.stderr)
    stats.sort_stats("tottime").print_stats("agent/protocol", PROFILE_LINES)
    return figures


if __name__ == "__main__":
    sys.exit(main())
