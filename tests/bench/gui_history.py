"""The place of the past with two years in it: how fast it opens and searches, and what ever blocks it.

`python -m tests.bench gui_history [--quick]`. A real agent on a home whose history has so many workflows,
and the window in a process of its own: gone to, typed into, scrolled, chosen in, days dragged over. What
is typed is answered when the list is painted with what fits.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.past_made import make
from tests.bench.report import Limit
from tests.hosts.machine import Machine
from tests.style.source import REPOSITORY

WHAT = "History with 10,000 finished workflows of two years: opening, searching, scrolling"
MOST: dict[str, tuple[float, str]] = {
    "open_s": (0.5, "s from the key to painted lines, at first"),
    "open_again_s": (0.5, "s the same, seen before"),
    "search_ms": (100.0, "ms from a letter to the painted answer, at most"),
    "search_median_ms": (100.0, "ms, the middle one"),
    "detail_ms": (500.0, "ms from a line to its graph, at most"),
    "blocked_own_ms": (50.0, "ms that a frame took at most, without others' time"),
    "busy_ms": (50.0, "ms of the window's own processor time in one turn at most"),
    "window_mb": (300.0, "MB of the window at most"),
    "agent_mb": (300.0, "MB of the agent at most"),
    "disk_mb": (300.0, "MB on the disk"),
}
LIMITS = [Limit(f"{key}: {of}", key, most) for key, (most, of) in MOST.items()]
WORKFLOWS, WORKFLOWS_QUICK = 10_000, 300
PROCESS_S_MAX = 300.0


def measure(*, quick: bool = False) -> dict[str, float]:
    """All figures, of a home made anew."""
    with tempfile.TemporaryDirectory() as name:
        machine = Machine(Path(name) / "acor")
        make(machine.home, WORKFLOWS_QUICK if quick else WORKFLOWS)
        with machine.agent("--name", "acor", "--port", "0") as agent:
            environment = {"QT_QPA_PLATFORM": "offscreen", **machine.environment}
            environment.pop("PYTHONWARNINGS", None)
            done = subprocess.run(
                [sys.executable, "-m", "tests.bench.gui_history_session"],
                cwd=REPOSITORY,
                env=environment,
                stdout=subprocess.PIPE,
                check=True,
                timeout=PROCESS_S_MAX,
            )
            agent_mb = _peak_mb(agent.pid)
        told: dict[str, float] = json.loads(done.stdout.decode().strip().splitlines()[-1])
        disk = sum(each.stat().st_size for each in machine.home.data.glob("history.sqlite*"))
    return {**told, "agent_mb": agent_mb, "disk_mb": disk / 1e6}


def _peak_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text("utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6
