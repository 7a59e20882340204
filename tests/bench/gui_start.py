"""From the double-click to a tray that can be used, on a real desktop without a screen.

`python -m tests.bench gui_start [--quick]`. Each round is a home of its own: the program is started as
a login starts it, its icon appears in a real panel, a right click opens its menu, its agent answers;
then it is started again as by a person, and the window comes. Wall clock depends on what else the
machine does, so the processor's time of the same stretch stands beside it. The last figures are what the
process holds when all has settled: before the window was opened, and after.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from agent.client import BlockingClient, Home
from agent.client.errors import ClientError
from tests.bench.report import Limit
from tests.certain import certain
from tests.desktop.virtual_desktop import VirtualDesktop, virtual_desktop
from tests.hosts.waiting import let_pass, wait_for

WHAT = "from the start of the tray to its icon, its menu and an answering agent"
MOST: dict[str, tuple[float, str]] = {
    "icon_s": (2.0, "s until the icon is in the panel"),
    "icon_cpu_s": (2.0, "s of the processor for that"),
    "menu_s": (2.0, "s until its menu is open"),
    "menu_cpu_s": (2.0, "s of the processor for that"),
    "agent_s": (5.0, "s until the agent answers"),
    "agent_cpu_s": (5.0, "s of the processor for that"),
    "second_s": (1.0, "s from a second start to the window of the first in front"),
    "second_cpu_s": (1.0, "s of the processor for the second process"),
    "tray_mb": (160.0, "MB resident before the window was ever opened"),
    "tray_own_mb": (160.0, "MB of them that nobody else has"),
    "idle_mb": (160.0, "MB resident: tray, window and agent in one process"),
    "idle_own_mb": (160.0, "MB of them that nobody else has"),
}
LIMITS = [Limit(f"{key}: {of}", key, most) for key, (most, of) in MOST.items()]
ROUNDS, ROUNDS_QUICK = 7, 2
SETTLE_S = 6.0
WITHIN_S, POLL_S = 60.0, 0.01
ICON_MAX = 64
CLASS = "^wingbeat$"


class Round:
    def __init__(self, desktop: VirtualDesktop, folder: Path) -> None:
        self._desktop, self._home = desktop, folder
        self.figures: dict[str, float] = {}

    def run(self) -> dict[str, float]:
        home = {"WINGBEAT_HOME": str(self._home)}
        began_s = time.monotonic()
        with self._desktop.program(*_command("--background"), **home) as program:
            self._process = psutil.Process(program.pid)
            self._until("icon", began_s, lambda: self._icon() is not None)
            before = set(self._windows())
            icon = self._icon()
            self._desktop.click(certain(icon), 3)
            self._until("menu", began_s, lambda: bool(set(self._windows()) - before))
            self._until("agent", began_s, self._answers)
            self._desktop.keys("Escape")
            self._held("tray")
            self._second(home)
            self._held("idle")
        return self.figures

    def _held(self, name: str) -> None:
        let_pass(SETTLE_S)
        held = self._process.memory_full_info()
        self.figures |= {f"{name}_mb": held.rss / 1e6, f"{name}_own_mb": held.uss / 1e6}

    def _second(self, home: dict[str, str]) -> None:
        began_s = time.monotonic()
        with self._desktop.program(*_command(), **home) as program:
            _, _, used = os.wait4(program.pid, 0)
            program.returncode = 0
        wait_for(
            lambda: self._desktop.in_front() == "Wingbeat", WITHIN_S, "the window", poll_s=POLL_S
        )
        self.figures["second_s"] = time.monotonic() - began_s
        self.figures["second_cpu_s"] = used.ru_utime + used.ru_stime

    def _until(self, name: str, began_s: float, true: Callable[[], bool]) -> None:
        wait_for(true, WITHIN_S, name, poll_s=POLL_S)
        used = self._process.cpu_times()
        self.figures[f"{name}_s"] = time.monotonic() - began_s
        self.figures[f"{name}_cpu_s"] = used.user + used.system

    def _answers(self) -> bool:
        with suppress(ClientError), BlockingClient(Home.at(self._home)):
            return True
        return False

    def _windows(self) -> list[str]:
        return self._desktop.windows("--class", CLASS)

    def _icon(self) -> tuple[int, int] | None:
        for each in self._windows():
            left, top, width, height = self._desktop.extents(each)
            if 1 < width <= ICON_MAX and 1 < height <= ICON_MAX:
                return left + width // 2, top + height // 2
        return None


def measure(*, quick: bool = False) -> dict[str, float]:
    """The medians of some rounds; one before them is not counted, for it reads the disk."""
    rounds = 1 + (ROUNDS_QUICK if quick else ROUNDS)
    with tempfile.TemporaryDirectory() as name, virtual_desktop(Path(name)) as desktop:
        found = [Round(desktop, Path(name) / f"home {each}").run() for each in range(rounds)][1:]
    return {key: statistics.median(each[key] for each in found) for key in MOST}


def _command(*more: str) -> list[str]:
    """An installed one, where the environment names it; else that of this working copy."""
    installed = os.environ.get("WINGBEAT_TRAY")
    return [installed, *more] if installed else [sys.executable, "-m", "gui", *more]
