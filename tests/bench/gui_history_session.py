"""One measured look at the past: the window of ``tests.bench.gui_history``, in a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import QEventLoop, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from agent.client import Home
from gui.views.history_page import HistoryPage
from gui.views.side_bar import Place
from gui.views.window import Window
from tests.bench.gui_probe import WITHIN_S, Probe, until, wait
from tests.bench.gui_session import Step, _scroll, megabytes, shown, walk
from tests.certain import certain, of_kind

TYPED = ("line 17 north", "ana garajau", "point cloud")
LINES, KEY_S, REST_S = 12, 0.06, 0.5
RANGE_DAYS, RANGES = 20, 12


def session() -> dict[str, float]:
    """Opened, opened again, typed into, lines chosen, and all of it gone through."""
    with shown(Home.of()) as whole:
        whole.bridge.start()
        whole.bridge.attention.seen = True
        whole.open()
        window, probe = whole.window, Probe()
        until(lambda: whole.screen.node is not None)
        wait(2 * REST_S)
        probe.doing = "history opened"
        probe.start()
        open_s = _seconds(partial(window.go, Place.HISTORY), lambda: _is_read(window))
        page = of_kind(HistoryPage, window.places[Place.HISTORY])
        page.whose.choose(True)
        until(lambda: page.rows.rowCount() > 1)
        window.go(Place.WORKFLOWS)
        wait(REST_S)
        again_s = _seconds(partial(window.go, Place.HISTORY), lambda: _is_read(window))
        answers = list(_typed(page, probe))
        details = list(_opened(page, probe))
        walk(probe, _steps(page))
        sys.stderr.write(probe.sheet() + "\n")
        turns = probe.all()
        return {
            "open_s": open_s,
            "open_again_s": again_s,
            "search_ms": max(answers),
            "search_median_ms": statistics.median(answers),
            "detail_ms": max(details),
            "blocked_own_ms": max(turn.own_ms for turn in turns),
            "busy_ms": max(turn.busy_ms for turn in turns),
            "window_mb": megabytes(),
        }


def _seconds(act: Callable[[], object], done: Callable[[], bool]) -> float:
    """From an act until it is to be seen; looked for at every turn of the loop, which sleeps between."""
    begin_s = time.monotonic()
    act()
    while not done():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        if time.monotonic() - begin_s > WITHIN_S:
            raise TimeoutError(done)
    QApplication.processEvents()  # which paints it
    return time.monotonic() - begin_s


def _is_read(window: Window) -> bool:
    page = window.places.get(Place.HISTORY)
    return isinstance(page, HistoryPage) and page._reply is not None and page._asking is None


def _typed(page: HistoryPage, probe: Probe) -> Iterator[float]:
    """Letter by letter, each as soon as the one before is answered; in milliseconds."""
    for words in TYPED:
        for letter in words:
            probe.doing = "history searched"
            before = page._reply

            def answered(before: object = before) -> bool:
                return page._reply is not before and page._asking is None

            yield 1000 * _seconds(partial(QTest.keyClicks, page.filter, letter), answered)
            wait(KEY_S)
        page.filter.clear()
        wait(REST_S)


def _opened(page: HistoryPage, probe: Probe) -> Iterator[float]:
    """One line after the other, by the key; in milliseconds until its graph is there."""
    page.table.setFocus()

    def shows() -> bool:
        view = page.detail._view
        return (
            page.detail._asking is None and certain(view).workflow == page.table.current().workflow
        )

    for _ in range(LINES):
        probe.doing = "line chosen"
        yield 1000 * _seconds(partial(QTest.keyClick, page.table, Qt.Key.Key_Down), shows)
        wait(KEY_S)


def _steps(page: HistoryPage) -> Iterator[Step]:
    """Scrolled to the end and back, filters and days chosen, the other views looked at."""
    yield from _scroll(page.table, "history scrolled")
    for at in (*range(1, page.machine.count()), 0):
        yield Step("machine chosen", partial(page.machine.setCurrentIndex, at))
    days = certain(page._reply).days
    for at in range(RANGE_DAYS, len(days), max(1, len(days) // RANGES)):
        chosen = days[at].begins_ms, days[at - RANGE_DAYS].begins_ms
        yield Step("days chosen", partial(page._choose_days, *chosen))
    yield Step("days chosen", page.let_go)
    for tab in (1, 2, 0):
        yield Step("views of one", partial(page.detail.tabs.setCurrentIndex, tab))


if __name__ == "__main__":
    found = session()
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)
