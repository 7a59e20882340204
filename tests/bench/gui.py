"""The window under load: how fast it opens, how long it ever blocks, what it weighs, what it costs.

`python -m tests.bench gui [--quick] [SESSION]`. Each session is a process of its own, so that one
does not pay for another. The load is `tests.bench.gui_flock`; under it a person goes through all of
the window (`tests.bench.gui_session`), and a table tells what blocked it for how long. The idle figures
are with a real agent inside the tray's own process. No screen is needed, painting is real, into
memory; with `QT_QPA_PLATFORM=xcb` it goes to the display.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tests.bench.report import Limit
from tests.certain import certain
from tests.style.source import REPOSITORY

WHAT = "the window with 2,000 workflows, 20,000 tasks, 30 machines and 200 events a second"
MOST: dict[str, tuple[float, str]] = {
    "open_s": (1.0, "s from the click until rows are painted, nothing known before"),
    "open_late_s": (1.0, "s from the click until rows are painted, all known already"),
    "open_remote_s": (1.0, "s until rows are painted, every answer 50 ms late"),
    "blocked_ms": (50.0, "ms that the event loop was blocked at most, once open"),
    "blocked_p99_ms": (50.0, "ms, 99 of 100"),
    "blocked_own_ms": (50.0, "ms, without the time in which others had the processor"),
    "busy_ms": (50.0, "ms of the window's own processor time in one turn at most"),
    "blocked_remote_ms": (
        50.0,
        "ms blocked at most while all is read from afar, without others' time",
    ),
    "loaded_mb": (300.0, "MB at most, with all of it loaded and every place seen"),
    "remote_mb": (300.0, "MB at most, with all of it read from afar"),
    "usable_tray_s": (2.0, "s from the start of the process to an answering tray"),
    "idle_percent": (0.5, "% of a core, window open and agent in one process, nothing happens"),
    "idle_large_percent": (0.5, "% of a core, window open with all tasks, nothing happens"),
    "idle_mb": (160.0, "MB at most, tray, window and agent in one process"),
    "killed_told_s": (2.0, "s until a killed agent is told"),
}
LIMITS = [Limit(f"{key}: {of}", key, most) for key, (most, of) in MOST.items()]
OPTIONS = {"only": {"nargs": "?", "default": "", "help": "only this session"}}
LOAD, LOAD_QUICK = "2000", "200"
EVENTS, EVENTS_QUICK = "200", "50"
REMOTE_MS = "50"
WATCH_S, WATCH_QUICK_S = 20.0, 4.0
PROCESS_S_MAX = 400.0


def measure(*, quick: bool = False, only: str = "") -> dict[str, float]:
    watch_s = WATCH_QUICK_S if quick else WATCH_S
    workflows, rate = (LOAD_QUICK, EVENTS_QUICK) if quick else (LOAD, EVENTS)
    flocks = {
        "load": (workflows, rate, "0"),
        "late": (workflows, rate, "0"),
        "remote": (workflows, rate, REMOTE_MS),
        "quiet": (workflows, "0", "0"),
        "idle": None,
        "killed": ("50", "0", "0"),
    }
    figures: dict[str, float] = {}
    for kind, flock in flocks.items():
        if only in ("", kind):
            with tempfile.TemporaryDirectory() as name:
                home = Path(name) / "home"
                with _generated(home, *flock) if flock is not None else nullcontext():
                    figures |= _session(kind, home, watch_s)
    return figures


def _session(kind: str, home: Path, watch_s: float) -> dict[str, float]:
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "WINGBEAT_HOME": str(home)}
    command = [sys.executable, "-m", "tests.bench.gui_session", kind, str(watch_s)]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        timeout=PROCESS_S_MAX,
    )
    last = done.stdout.decode().strip().splitlines()[-1]
    told: dict[str, Any] = json.loads(last)
    return {key: float(value) for key, value in told.items()}


@contextmanager
def _generated(home: Path, *load: str) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.bench.gui_flock", str(home), *load]
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE)
    try:
        assert certain(process.stdout).readline(), "the flock was not made"
        yield
    finally:
        process.kill()
        process.communicate()
