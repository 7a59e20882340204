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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import psutil
from PySide6.QtCore import QEvent, QEventLoop, QObject, QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QScrollBar, QTabWidget, QWidget

from agent.client import Home
from agent.client.link import read_control_file
from gui import settings
from gui.__main__ import make_application
from gui.application import Application
from gui.theme.look import look
from gui.views.settings_dialog import SettingsDialog
from gui.views.side_bar import Place
from gui.views.submit_sheet import SubmitSheet
from gui.views.table import Table
from gui.views.window import Window
from tests.bench.gui_probe import Probe, Watch, until, wait

FRAME_MS, KEY_MS, LOOK_MS, SHEET_MS = 16, 60, 400, 3_000
SCROLL_STEPS, KEYS_DOWN, RESIZE_STEPS = 60, 15, 20
SIZES = ((1180, 780), (1900, 1150))
TYPED = "line 17"
SUBMIT_TASKS = 400

W = TypeVar("W", bound=QWidget)


@dataclass(frozen=True, slots=True)
class Step:
    """What is done, and for how long its consequences are watched."""

    doing: str
    act: Callable[[], object]
    watch_ms: int = LOOK_MS


def walk(probe: Probe, steps: Iterator[Step]) -> None:
    """One step after the other, each in a turn of the loop of its own."""
    loop = QEventLoop()

    def go_on() -> None:
        step = next(steps, None)
        if step is None:
            loop.quit()
            return
        probe.doing = step.doing
        step.act()
        QTimer.singleShot(step.watch_ms, go_on)

    QTimer.singleShot(0, go_on)
    loop.exec()


def whole_walk(whole: Application, large: str, folder: Path, watch_ms: int) -> Iterator[Step]:
    """All of it; the second time round nothing is new any more. ``large``: a workflow to choose."""
    window = whole.window
    for turn in ("first look", "again"):
        for place in Place:
            yield Step(f"{place.value}, {turn}", partial(window.go, place), watch_ms)
    yield from _workflows(window, large, watch_ms)
    yield from _listed(window, Place.QUEUE, watch_ms)
    yield from _listed(window, Place.FLOCK, watch_ms)
    yield from _log(window, watch_ms)
    yield from _size_and_colours(window)
    yield from _sheets(window, folder)
    yield from _coming_and_going(whole, watch_ms)


def _workflows(window: Window, large: str, watch_ms: int) -> Iterator[Step]:
    page = window.workflows
    yield Step("workflows, again", partial(window.go, Place.WORKFLOWS))
    yield from _scroll(page.table, "workflows, scrolled")
    yield from _down(page.table, "workflow chosen")
    yield from _tabs(page.tabs, "workflow", watch_ms)
    yield Step("large graph", partial(page.choose, large), 2 * watch_ms)
    for key in (Qt.Key.Key_Plus, Qt.Key.Key_Plus, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_0):
        yield Step("large graph, keys", partial(_press, page.graph, key))
    yield from _tabs(page.tabs, "large workflow", watch_ms)
    yield from _sort(page.table, "workflows, sorted")
    yield from _type(page.filter, "workflows, filtered")


def _listed(window: Window, place: Place, watch_ms: int) -> Iterator[Step]:
    """A place with a table, a filter and maybe tabs."""
    name, page = place.value, window.places[place]
    yield Step(f"{name}, again", partial(window.go, place), watch_ms)
    table = _only(page, Table)
    yield from _scroll(table, f"{name}, scrolled")
    yield from _down(table, f"{name}, chosen")
    yield from _sort(table, f"{name}, sorted")
    for tabs in page.findChildren(QTabWidget):
        yield from _tabs(tabs, name, watch_ms)
    yield from _type(_only(page, QLineEdit), f"{name}, filtered")


def _log(window: Window, watch_ms: int) -> Iterator[Step]:
    yield Step("log, again", partial(window.go, Place.LOG), watch_ms)
    yield from _type(_only(window.places[Place.LOG], QLineEdit), "log, filtered")


def _size_and_colours(window: Window) -> Iterator[Step]:
    for place in Place:
        yield Step("places in turn", partial(window.go, place))
        for dark in (True, False):
            doing = f"{'dark' if dark else 'light'}, {place.value}"
            yield Step(doing, partial(look().show, dark))
        (width, height), (wide, high) = SIZES
        for step in range(RESIZE_STEPS + 1):
            share = 1 - abs(2 * step / RESIZE_STEPS - 1)
            size = round(width + (wide - width) * share), round(height + (high - height) * share)
            yield Step(f"resized, {place.value}", partial(window.resize, *size), 2 * FRAME_MS)


def _sheets(window: Window, folder: Path) -> Iterator[Step]:
    for doing, tasks in (("submit sheet", 10), ("large submit sheet", SUBMIT_TASKS)):
        path = folder / f"{tasks}.wingbeat.yaml"
        path.write_text(_workflow(tasks), "utf-8")
        yield Step(doing, partial(window.submit, [str(path)]), SHEET_MS)
        yield Step(doing, _only(window, SubmitSheet).close, SHEET_MS)
    yield Step("settings", window.open_settings, 2 * LOOK_MS)
    yield Step("settings", _only(window, SettingsDialog).close)


def _coming_and_going(whole: Application, watch_ms: int) -> Iterator[Step]:
    window = whole.window
    yield Step("workflows, again", partial(window.go, Place.WORKFLOWS))
    yield Step("closed", window.close, watch_ms)
    yield Step("opened again", window.to_front, watch_ms)
    process = read_control_file(whole.context.home).process
    yield Step("agent lost and found", partial(os.kill, process, signal.SIGUSR1), 3 * watch_ms)


def _scroll(table: Table, doing: str) -> Iterator[Step]:
    """To the end and back, as with a wheel that is spun."""
    bar = table.verticalScrollBar()
    for step in range(SCROLL_STEPS + 1):
        share = 1 - abs(2 * step / SCROLL_STEPS - 1)
        yield Step(doing, partial(_turn_to, bar, share), FRAME_MS)


def _down(table: Table, doing: str) -> Iterator[Step]:
    yield Step(doing, partial(table.selectRow, 0))
    for _ in range(KEYS_DOWN):
        yield Step(doing, partial(_press, table, Qt.Key.Key_Down), 2 * KEY_MS)


def _sort(table: Table, doing: str) -> Iterator[Step]:
    up = Qt.SortOrder.AscendingOrder
    for column in range(table.rows.columnCount()):
        yield Step(doing, partial(table.sortByColumn, column, up))
    yield Step(doing, partial(table.sortByColumn, -1, up))


def _type(field: QLineEdit, doing: str) -> Iterator[Step]:
    for letter in TYPED:
        yield Step(doing, partial(QTest.keyClicks, field, letter), 2 * KEY_MS)
    yield Step(doing, field.clear, 2 * LOOK_MS)


def _tabs(tabs: QTabWidget, doing: str, watch_ms: int) -> Iterator[Step]:
    for place in [*range(1, tabs.count()), 0]:
        name = f"{doing}: {tabs.tabText(place).lower()}"
        yield Step(name, partial(tabs.setCurrentIndex, place), watch_ms)


def _turn_to(bar: QScrollBar, share: float) -> None:
    bar.setValue(round(bar.maximum() * share))


def _press(widget: QWidget, key: Qt.Key) -> None:
    QTest.keyClick(widget, key)


def _only(page: QWidget, kind: type[W]) -> W:
    found = page.findChild(kind)
    assert isinstance(found, kind), f"no {kind.__name__} here"
    return found


def _workflow(tasks: int) -> str:
    lines = ["name: a large one", "tasks:"]
    for place in range(tasks):
        after = f", after: [s{place - 1}, s{place * 2 // 3}]" if place > 2 else ""
        lines.append(f'  s{place}: {{program: "program {place % 20}", expected: 60s{after}}}')
    return "\n".join(lines) + "\n"


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
        settings.show_all("workflows", wanted=True)
        look().follow(application)
        whole = Application(application, home, NoLogin())
        try:
            yield whole
        finally:
            whole.bridge.stop()
            whole.first.close()


def main(kind: str, watch_s: float) -> dict[str, float]:
    with shown(Home.of()) as whole:
        return SESSIONS[kind](whole, watch_s)


if __name__ == "__main__":
    found = main(sys.argv[1], float(sys.argv[2]))
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)
