"""One measured process of the window: under load, idle with its own agent, or losing its agent."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable

import psutil
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from agent.client import Home
from gui import settings
from gui.app import Application, make_application
from gui.bridge.bridge import Bridge
from gui.model.screen import Screen
from gui.theme.look import look
from gui.views.desk import Desk
from gui.views.side_bar import Place
from gui.views.window import Window

PROBE_MS = 5
WITHIN_S = 120.0
SETTLE_S = 3.0


class NoLogin:
    """Nothing of this machine is touched."""

    def enabled(self) -> bool:
        return False

    def enable(self) -> None:
        """Not here."""

    def disable(self) -> None:
        """Not here."""


class Probe:
    """A timer that should fire every five milliseconds; what it is late is a blocked loop."""

    def __init__(self) -> None:
        self.late_ms: list[float] = []
        self.busy_ms: list[float] = []
        self._cpu_s = 0.0
        self._last_s = time.monotonic()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(PROBE_MS)
        self._timer.timeout.connect(self._fired)

    def start(self) -> None:
        self._last_s, self._cpu_s = time.monotonic(), time.thread_time()
        self._timer.start()

    def _fired(self) -> None:
        now_s, cpu_s = time.monotonic(), time.thread_time()
        self.busy_ms.append((cpu_s - self._cpu_s) * 1000)
        self._cpu_s = cpu_s
        self.late_ms.append((now_s - self._last_s) * 1000 - PROBE_MS)
        self._last_s = now_s


def until(true: Callable[[], bool], within_s: float = WITHIN_S) -> float:
    """How long it took."""
    begin_s = time.monotonic()
    while not true():
        if time.monotonic() - begin_s > within_s:
            raise TimeoutError(true)
        QTest.qWait(5)
    return time.monotonic() - begin_s


def wait(for_s: float) -> None:
    end_s = time.monotonic() + for_s
    until(lambda: time.monotonic() >= end_s)


def megabytes() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6


def opened(home: Home) -> tuple[Desk, Window, float]:
    """A window on a home whose agent runs, and how long it took until it was painted."""
    bridge = Bridge(home)
    desk = Desk(home, Screen(), bridge)
    bridge.attention.seen = True
    bridge.start()
    begin_s = time.monotonic()
    window = Window(desk, NoLogin())
    window.show()
    window.grab()
    return desk, window, time.monotonic() - begin_s


def load(watch_s: float) -> dict[str, float]:
    """All places looked at while events come."""
    desk, window, open_s = opened(Home.of())
    probe = Probe()
    probe.start()
    first_s = until(lambda: bool(window.workflows.rows.rows))
    until(lambda: len(desk.screen.workflows) >= max(1, desk.screen.total))
    loaded_s = until(lambda: len(desk.screen.tasks) >= desk.screen.total)
    for place in (Place.WORKFLOWS, Place.QUEUE, Place.FLOCK, Place.WORKFLOWS):
        window.go(place)
        wait(watch_s / 4)
    window.workflows.filter.setText("line 17")
    wait(0.5)
    late = sorted(probe.late_ms)
    figures = {
        "open_s": open_s,
        "first_rows_s": first_s,
        "all_tasks_s": loaded_s,
        "blocked_ms": late[-1],
        "busy_ms": max(probe.busy_ms),
        "blocked_p99_ms": late[len(late) * 99 // 100],
        "loaded_mb": megabytes(),
    }
    desk.bridge.stop()
    return figures


def idle(application: QApplication, watch_s: float) -> dict[str, float]:
    """The whole tray with its own agent."""
    whole = Application(application, Home.of(), NoLogin())
    whole.start(background=False, paths=[])
    until(lambda: whole.screen.node is not None)
    usable_s = time.time() - psutil.Process().create_time()
    wait(SETTLE_S)
    process = psutil.Process()
    before, begin_s = process.cpu_times(), time.monotonic()
    wait_without_polling(watch_s)
    after, passed_s = process.cpu_times(), time.monotonic() - begin_s
    used_s = after.user + after.system - before.user - before.system
    figures = {
        "usable_tray_s": usable_s,
        "idle_percent": 100 * used_s / passed_s,
        "idle_mb": megabytes(),
    }
    whole.bridge.stop()
    whole.hosting.end("measured")
    return figures


def wait_without_polling(for_s: float) -> None:
    """The loop sleeps as it does when a person is elsewhere."""
    from PySide6.QtCore import QEventLoop

    loop = QEventLoop()
    QTimer.singleShot(round(for_s * 1000), loop.quit)
    loop.exec()


def killed(process: int) -> dict[str, float]:
    """From the kill to the sentence on the screen."""
    desk, window, _ = opened(Home.of())
    until(lambda: bool(window.workflows.rows.rows))
    os.kill(process, signal.SIGKILL)
    told_s = until(window.trouble.isVisible)
    desk.bridge.stop()
    return {"killed_told_s": told_s}


def main(kind: str, watch_s: float, process: int) -> dict[str, float]:
    """One of the three."""
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    QSettings.setPath(
        QSettings.Format.IniFormat, QSettings.Scope.UserScope, tempfile.mkdtemp(prefix="qt-")
    )
    application = make_application()
    settings.finish_first_run()
    look().follow(application)
    match kind:
        case "load":
            return load(watch_s)
        case "idle":
            return idle(application, watch_s)
        case _:
            return killed(process)


if __name__ == "__main__":
    found = main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)
