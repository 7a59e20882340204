"""One measured process of the window: under load, far from its agent, idle, or losing its agent.

With ``WHERE=1`` in the environment the session under load also tells where long turns were spent.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from PySide6.QtCore import QEvent, QObject, QSettings, QTimer

from agent.client import Home
from agent.client.link import read_control_file
from gui import settings
from gui.app import make_application
from gui.application import Application
from gui.theme.look import look
from gui.views.window import Window
from tests.bench.gui_probe import Probe, Watch, until, wait
from tests.bench.gui_walk import walk, whole_walk

SETTLE_S = 3.0


class NoLogin:
    """Nothing of this machine is touched."""

    def enabled(self) -> bool:
        return False

    def enable(self) -> None:
        """Not here."""

    def disable(self) -> None:
        """Not here."""


def megabytes() -> float:
    """As much as it ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


class Painted(QObject):
    """Notes when a table with rows was painted for the first time."""

    def __init__(self, window: Window) -> None:
        super().__init__()
        self.at_s, self._rows = 0.0, window.workflows.rows
        self._viewport = window.workflows.table.viewport()
        self._viewport.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """The paint that follows this is done when the loop turns next."""
        if event.type() == QEvent.Type.Paint and self._rows.rows and not self.at_s:
            QTimer.singleShot(0, self._note)
        return super().eventFilter(watched, event)

    def _note(self) -> None:
        self.at_s = self.at_s or time.monotonic()


def opened(whole: Application) -> tuple[Window, float]:
    """The window, and how long it took from the click until rows were painted in it."""
    begin_s = time.monotonic()
    whole.bridge.attention.seen = True
    whole.open()
    painted = Painted(whole.window)
    until(lambda: painted.at_s > 0)
    return whole.window, painted.at_s - begin_s


def everything_read(whole: Application) -> bool:
    """All workflows, and the tasks of all."""
    screen = whole.screen
    return screen.total > 0 and len(screen.tasks) >= screen.total


def load(whole: Application, watch_s: float) -> dict[str, float]:
    """Opened before anything is known; then everything looked at while events come."""
    probe = Probe()
    probe.watch = Watch() if os.environ.get("WHERE") else None
    whole.bridge.start()
    _, open_s = opened(whole)
    probe.doing = "loading"
    probe.start()
    loaded_s = until(lambda: everything_read(whole))
    large = f"line {whole.screen.total - 1}"
    with tempfile.TemporaryDirectory() as name:
        walk(probe, whole_walk(whole, large, Path(name), round(watch_s * 100)))
    sys.stderr.write(probe.sheet() + "\n")
    if probe.watch is not None:
        sys.stderr.write(probe.watch.sheet() + "\n")
    turns = probe.all()
    late = sorted(turn.late_ms for turn in turns)
    return {
        "open_s": open_s,
        "all_tasks_s": loaded_s,
        "blocked_ms": late[-1],
        "blocked_p99_ms": late[len(late) * 99 // 100],
        "blocked_own_ms": max(turn.own_ms for turn in turns),
        "busy_ms": max(turn.busy_ms for turn in turns),
        "loaded_mb": megabytes(),
    }


def late(whole: Application, watch_s: float) -> dict[str, float]:
    """The tray has followed the flock for long when somebody opens the window."""
    del watch_s
    whole.bridge.start()
    until(lambda: everything_read(whole))
    return {"open_late_s": opened(whole)[1]}


def remote(whole: Application, watch_s: float) -> dict[str, float]:
    """The same as under load, with an agent that takes long to answer."""
    del watch_s
    whole.bridge.start()
    _, open_s = opened(whole)
    probe = Probe()
    probe.start()
    until(lambda: everything_read(whole))
    return {
        "open_remote_s": open_s,
        "blocked_remote_ms": max(turn.own_ms for turn in probe.all()),
        "remote_mb": megabytes(),
    }


def quiet(whole: Application, watch_s: float) -> dict[str, float]:
    """All of it is loaded and in sight, and nothing happens."""
    whole.bridge.start()
    opened(whole)
    until(lambda: everything_read(whole))
    wait(SETTLE_S)
    return {"idle_large_percent": percent(watch_s)}


def idle(whole: Application, watch_s: float) -> dict[str, float]:
    """The whole tray with its own agent."""
    whole.start(background=False, paths=[])
    until(lambda: whole.screen.node is not None)
    usable_s = time.time() - psutil.Process().create_time()
    wait(SETTLE_S)
    figures = {
        "usable_tray_s": usable_s,
        "idle_percent": percent(watch_s),
        "idle_mb": megabytes(),
    }
    whole.hosting.end("measured")
    return figures


def percent(watch_s: float) -> float:
    """How much of a core this process takes."""
    process = psutil.Process()
    before, begin_s = process.cpu_times(), time.monotonic()
    wait(watch_s)
    after, passed_s = process.cpu_times(), time.monotonic() - begin_s
    return 100 * (after.user + after.system - before.user - before.system) / passed_s


def killed(whole: Application, watch_s: float) -> dict[str, float]:
    """From the kill to the sentence on the screen."""
    del watch_s
    whole.bridge.start()
    window, _ = opened(whole)
    os.kill(read_control_file(whole.context.home).process, signal.SIGKILL)
    return {"killed_told_s": until(window.trouble.isVisible)}


SESSIONS = {
    "load": load,
    "late": late,
    "remote": remote,
    "quiet": quiet,
    "idle": idle,
    "killed": killed,
}


@contextmanager
def shown(home: Home) -> Iterator[Application]:
    """The whole program in this process, without its agent; nothing of this machine is touched."""
    with tempfile.TemporaryDirectory(prefix="qt-") as remembered:
        QSettings.setDefaultFormat(QSettings.Format.IniFormat)
        QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, remembered)
        application = make_application()
        settings.finish_first_run()
        look().follow(application)
        whole = Application(application, home, NoLogin())
        try:
            yield whole
        finally:
            whole.bridge.stop()
            whole.first.close()


def main(kind: str, watch_s: float) -> dict[str, float]:
    """One of them."""
    with shown(Home.of()) as whole:
        return SESSIONS[kind](whole, watch_s)


if __name__ == "__main__":
    found = main(sys.argv[1], float(sys.argv[2]))
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)
