"""The window under load: how fast it opens, how long it ever blocks, what it weighs, what it costs.

`python -m tests.bench.gui [--quick]`. Each figure is taken in a process of its own, so that one does
not pay for another. The load is `tests.bench.gui_flock`; the idle figures are with a real agent
inside the tray's own process. No screen is needed; painting is real, into memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.style.source import REPOSITORY

WHAT = "the window with 2,000 workflows, 20,000 tasks, 30 machines and 200 events a second"
LIMITS: dict[str, tuple[float, str]] = {
    "open_s": (1.0, "s until the window is painted"),
    "blocked_ms": (50.0, "ms that the event loop was blocked at most, once open"),
    "busy_ms": (50.0, "ms of processor time between two turns of the event loop at most"),
    "blocked_p99_ms": (50.0, "ms, 99 of 100"),
    "loaded_mb": (300.0, "MB with all of it loaded"),
    "usable_tray_s": (2.0, "s from the start of the process to an answering tray"),
    "idle_percent": (0.5, "% of a core, window open, nothing happens"),
    "idle_mb": (160.0, "MB, tray, window and agent in one process"),
    "killed_told_s": (2.0, "s until a killed agent is told"),
}
LOAD = ("2000", "200")
LOAD_QUICK = ("200", "50")
WATCH_S, WATCH_QUICK_S = 20.0, 4.0
PROCESS_S_MAX = 240.0


def measure(*, quick: bool = False) -> dict[str, float]:
    """All figures."""
    watch_s = WATCH_QUICK_S if quick else WATCH_S
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        with _generated(home / "large", *(LOAD_QUICK if quick else LOAD)):
            figures = _session("load", home / "large", watch_s)
        figures |= _session("idle", home / "small", watch_s)
        with _generated(home / "killed", "50", "0") as process:
            figures |= _session("killed", home / "killed", 0.0, process.pid)
    return figures


def _session(kind: str, home: Path, watch_s: float, kill: int = 0) -> dict[str, float]:
    environment = {**os.environ, "WINGBEAT_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "tests.bench.gui_session", kind, str(watch_s), str(kill)]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=PROCESS_S_MAX,
    )
    last = done.stdout.decode().strip().splitlines()[-1]
    told: dict[str, Any] = json.loads(last)
    return {key: float(value) for key, value in told.items()}


@contextmanager
def _generated(home: Path, workflows: str, rate: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.bench.gui_flock", str(home), workflows, rate]
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline(), "the flock was not made"
        yield process
    finally:
        process.kill()
        process.communicate()


def main(arguments: list[str]) -> int:
    """Show the figures; the exit code says whether all limits were kept."""
    figures = measure(quick="--quick" in arguments)
    missed = 0
    for key, value in figures.items():
        limit, unit = LIMITS.get(key, (float("inf"), ""))
        kept = value <= limit
        missed += not kept
        mark = "" if kept else f"   MISSED, limit {limit:g}"
        print(f"{key:16} {value:9.2f} {unit}{mark}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
