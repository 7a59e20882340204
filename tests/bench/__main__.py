"""Run a benchmark: ``python -m tests.bench NAME``; without a name, say which there are.

Each is a module of this folder with the same three functions, so that showing, judging and the
exit code exist once. A benchmark that misses a limit ends with exit code 1.
"""

from __future__ import annotations

import argparse
import cProfile
import importlib
import pstats
import sys
from collections.abc import Sequence
from typing import cast

from tests.bench import journal, live
from tests.bench.report import Benchmark, Figures, hand_over

NAMES = ("tables", "messages", "twice", "speed", "dispatch", "requests")
PROFILE_LINES = 40


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 when every limit was kept."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["journal"]:
        return journal.main(given[1:])
    if given[:1] == ["live"]:
        return live.main(given[1:])
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=NAMES)
    parser.add_argument("--json", action="store_true", help="figures as JSON, no tables")
    parser.add_argument("--quick", action="store_true", help="small, to see that it runs at all")
    parser.add_argument("--profile", action="store_true", help="also where the time goes")
    chosen = parser.parse_args(given)
    if chosen.name is None:
        for name in NAMES:
            sys.stdout.write(f"{name:10} {benchmark(name).WHAT}\n")
        sys.stdout.write(f"live       {live.WHAT}\n")
        sys.stdout.write("journal    what flushes cost, and the time and memory of a start\n")
        return 0
    bench = benchmark(chosen.name)
    measure = _profiled if chosen.profile else _measured
    return hand_over(bench, measure(bench, quick=chosen.quick), as_json=chosen.json)


def benchmark(name: str) -> Benchmark:
    """The module of this name, loaded only when it is wanted."""
    return cast("Benchmark", importlib.import_module(f"tests.bench.{name}"))


def _measured(bench: Benchmark, *, quick: bool) -> Figures:
    return bench.measure(quick=quick)


def _profiled(bench: Benchmark, *, quick: bool) -> Figures:
    """The same, with a profile of the protocol's functions on the standard error."""
    profile = cProfile.Profile()
    figures: Figures = profile.runcall(bench.measure, quick=quick)
    stats = pstats.Stats(profile, stream=sys.stderr)
    stats.sort_stats("tottime").print_stats("agent/protocol", PROFILE_LINES)
    return figures


if __name__ == "__main__":
    sys.exit(main())
