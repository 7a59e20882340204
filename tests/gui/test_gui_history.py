"""History as a place: by day, searched as one types, filtered, opened as it was, and taken along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from agent.api.past import PastDay, PastWorkflow
from agent.api.work import CANCEL, SUBMIT, Cancel, Submit, Task
from gui.model.past import UNREAD, Heading, PastLines, end_words, within
from gui.views.again_sheet import AgainSheet
from gui.views.history_page import HistoryPage
from gui.views.past_plot import PastPlot, buckets_of
from gui.views.past_rows import day_words
from gui.views.side_bar import Place
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import fresh, gone_to, id_of, press, until, waiting
from tests.gui.values import NOW_S, past_workflow

DAY_MS = 86_400_000
NOON_MS = int(NOW_S * 1000)
DAYS = tuple(
    PastDay(NOON_MS - at * DAY_MS, count, given_hours=1.0)
    for at, count in ((0, 2), (1, 0), (3, 150))
)


# -- the model ---------------------------------------------------------------------------------


def test_days_stand_above_their_workflows_which_are_known_as_they_are_read() -> None:
    lines = PastLines(DAYS)
    assert (len(lines), lines.workflows, lines.headings) == (154, 152, [0, 3])
    assert lines.line(0) == Heading(DAYS[0])
    assert lines.line(1) is UNREAD
    page = [past_workflow(f"w{number}") for number in range(100)]
    assert lines.put(0, page) == (1, 101)
    assert [getattr(lines.line(at), "name", "") for at in (1, 2, 3, 4)] == ["w0", "w1", "", "w2"]
    assert (lines.line(102), lines.page_of(102), lines.line(154)) == (UNREAD, 1, None)
    assert (lines.place_of("w2"), lines.place_of("w200")) == (4, -1)


def test_days_are_chosen_among_those_that_are_known() -> None:
    later = within(DAYS, NOON_MS - 3 * DAY_MS, NOON_MS - 2 * DAY_MS)
    assert (len(later), later.headings) == (151, [0])
    later.put(0, [past_workflow(f"w{number}") for number in range(100)])
    first = later.line(1)
    assert isinstance(first, PastWorkflow)
    assert first.name == "w2"  # the two of today are not of these days
    assert len(within(DAYS, 0, 1)) == 0


def test_bars_are_days_or_as_many_as_there_is_room_for() -> None:
    by_day = buckets_of(DAYS, 1)
    assert [each.sums.workflows for each in by_day] == [150, 0, 0, 2]
    by_two = buckets_of(DAYS, 2)
    assert [each.sums.workflows for each in by_two] == [150, 2]
    assert by_two[-1].ends_ms - by_two[0].begins_ms == 4 * DAY_MS


@pytest.mark.parametrize(
    ("ago", "said"), [(0, "Today"), (1, "Yesterday"), (2, "Wednesday 13 January"), (40, "Sunday 6 December 2026")]
)  # fmt: skip
def test_days_have_the_names_that_people_use(qapp: object, ago: int, said: str) -> None:
    assert day_words(NOON_MS - ago * DAY_MS, NOW_S) == said


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "done"),
        ({"state": "cancelled"}, "cancelled"),
        ({"state": "failed", "failed": "merge", "reason": "no film"}, "failed: merge: no film"),
        ({"state": "failed", "reason": "no film"}, "failed: no film"),
        ({"state": "failed"}, "failed"),
    ],
)
def test_how_it_ended_stands_in_its_line(told: dict[str, str], said: str) -> None:
    assert end_words(past_workflow(**told)) == said


# -- the place ---------------------------------------------------------------------------------


@pytest.fixture
def page(qtbot: QtBot, window: Window, context: ViewContext) -> HistoryPage:
    """The place, read, with two workflows of this test that have ended: one well, one not."""
    until(qtbot, lambda: context.screen.node is not None)
    made = gone_to(window, Place.HISTORY, HistoryPage)
    until(qtbot, lambda: made._reply is not None)
    return made


def ended(qtbot: QtBot, context: ViewContext, page: HistoryPage, submitter: str = "ana") -> str:
    """The name of a workflow that was cancelled, once the list has it."""
    name = f"past-{fresh()}-"
    tasks = (Task("made", "nobody-has-it"), waiting())
    context.ask(context, SUBMIT, Submit(name, tasks, submitter=submitter))
    until(qtbot, lambda: bool(id_of(context, name)))
    context.ask(context, CANCEL, Cancel(id_of(context, name)))
    until(qtbot, lambda: page.rows.place_of(id_of(context, name)) > 0)
    return name


def shown(page: HistoryPage) -> list[str]:
    lines = (page.rows.row(at) for at in range(page.rows.rowCount()))
    return [each.name for each in lines if isinstance(each, PastWorkflow)]


def test_what_ends_comes_to_the_top_and_is_opened_as_it_was(
    qtbot: QtBot, context: ViewContext, page: HistoryPage
) -> None:
    first = ended(qtbot, context, page)
    second = ended(qtbot, context, page)
    assert shown(page)[:2] == [second, first]
    assert isinstance(page.rows.row(0), Heading)
    page.table.choose(id_of(context, first))
    until(qtbot, lambda: page.detail._view is not None and page.detail._view.name == first)
    assert {each.name for each in page.detail._own.values()} == {"made", "look"}
    page.detail.tabs.setCurrentIndex(1)
    assert page.detail.rows.rowCount() == 2
    assert page.detail.details.name.text() == first
    QTest.keyClick(page.table, Qt.Key.Key_Up)
    until(qtbot, lambda: page.detail._view is not None and page.detail._view.name == second)
    QTest.keyClick(page.table, Qt.Key.Key_Up)  # the heading is only to be read
    assert page.table.current().name == second


def test_what_is_past_runs_again_also_when_the_flock_has_forgotten_it(
    qtbot: QtBot, context: ViewContext, window: Window, page: HistoryPage
) -> None:
    name = ended(qtbot, context, page)
    old = id_of(context, name)
    context.remove([old], past=False)
    until(qtbot, lambda: not id_of(context, name))
    until(qtbot, lambda: page.rows.place_of(old) > 0)
    page.table.choose(old)
    until(qtbot, lambda: certain(page.detail._view).workflow == old)
    press(page, "runAgainButton")
    sheet = certain(window.findChild(AgainSheet))
    assert sheet.name.text() == name
    until(qtbot, sheet.run.isEnabled)
    sheet.run.click()
    until(qtbot, lambda: id_of(context, name) not in ("", old))


def test_it_is_searched_as_one_types_and_an_empty_end_has_a_door(
    qtbot: QtBot, context: ViewContext, page: HistoryPage
) -> None:
    other, name = (ended(qtbot, context, page) for _ in range(2))
    QTest.keyClicks(page.filter, name.upper())
    until(qtbot, lambda: shown(page) == [name])
    QTest.keyClicks(page.filter, " nothing of the kind")
    until(qtbot, page.unfit.isVisible)
    assert not page.detail.isVisible()
    press(page, "historyClear")
    until(qtbot, lambda: {other, name} <= set(shown(page)))
    assert page.filter.text() == ""


def test_choices_filter_and_mine_comes_first(
    qtbot: QtBot, context: ViewContext, page: HistoryPage
) -> None:
    context.screen.me = "ana"
    own = ended(qtbot, context, page)
    page.whose.choose(True)
    theirs = ended(qtbot, context, page, submitter="bia")
    page.state.setCurrentIndex(page.state.findData("failed"))
    until(qtbot, page.unfit.isVisible)
    page.state.setCurrentIndex(page.state.findData("cancelled"))
    page.program.setCurrentIndex(page.program.findData("nobody-has-it"))
    until(qtbot, lambda: {own, theirs} <= set(shown(page)))
    press(page, "history_mine")
    until(qtbot, lambda: theirs not in shown(page) and own in shown(page))


def test_days_are_chosen_by_dragging_over_the_plot(
    qtbot: QtBot, context: ViewContext, page: HistoryPage
) -> None:
    ended(qtbot, context, page)
    days = page._reply.days if page._reply else ()
    page.plot.tell((*days, PastDay(days[-1].begins_ms - 5 * DAY_MS, 1)))
    before = len(shown(page))
    plot, y = page.plot, page.plot.height() // 2
    left = QPoint(round(plot._x(0)) + 2, y)
    QTest.mousePress(plot, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, left)
    QTest.mouseRelease(plot, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, left)
    assert page.unfit.isVisible()  # nothing of this list ended on that day
    assert page.range.isVisible()
    press(page, "historyRange")
    assert len(shown(page)) == before
    page.plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert page.range.text().strip() == "Today"
    QTest.keyClick(plot, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert page.range.text().strip().endswith("to Today")
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert page.range.isHidden()


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_what_is_shown_is_exported(
    qtbot: QtBot,
    context: ViewContext,
    page: HistoryPage,
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = ended(qtbot, context, page)
    page.filter.setText(name)
    until(qtbot, lambda: shown(page) == [name])
    file = tmp_path / f"past.{kind}"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    page.export.export(kind)
    until(qtbot, lambda: file.exists() and file.read_text() != "")
    if kind == "json":
        assert [each["name"] for each in json.loads(file.read_text())] == [name]
    else:
        assert (
            file.read_text()
            .splitlines()[1]
            .startswith(f"{id_of(context, name)},{name},cancelled,ana,")
        )


def test_a_plot_of_years_fits_its_room(qtbot: QtBot) -> None:
    plot = PastPlot()
    qtbot.addWidget(plot)
    plot.resize(600, plot.height())
    plot.tell([PastDay(NOON_MS - at * DAY_MS, 1, used_hours=1.0) for at in range(730)])
    assert 0 < len(plot._buckets) <= 150
    assert round(plot._x(0)) >= 0
    plot.grab()
