"""The whole window by keyboard alone, and what a screen reader is told of everything in it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from agent.api.values import TaskState
from agent.api.work import Task
from gui.model.tray import TrayState, state_of
from gui.views.computer_page import ComputerPage
from gui.views.history_page import HistoryPage
from gui.views.queue_page import QueuePage
from gui.views.settings_dialog import SettingsDialog
from gui.views.side_bar import Place
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain, of_kind
from tests.gui.acts import submit, task_of, until, view_of, waiting
from tests.gui.conftest import NoLogin

TABS_MAX = 200
CONTROL = Qt.KeyboardModifier.ControlModifier
PLACE_KEYS = {place: Qt.Key(Qt.Key.Key_0 + at) for at, place in enumerate(Place, 1)}
MUST_REACH = {
    Place.WORKFLOWS: {"workflows", "workflowsFilter", "submit", "graph", "details", "markDone"},
    Place.QUEUE: {"queue", "queueFilter", "queueLog"},
    Place.FLOCK: {"machines", "flockFilter", "invite"},
    Place.COMPUTER: {
        *("showAudit", "mode_when_idle", "idleMinutes", "othersCpu", "onMains"),
        *("exclusivePrograms", "exclusiveRunning"),
    },
    Place.HISTORY: {
        *("history", "historySearch", "history_mine", "historyState", "historyProgram"),
        *("historyMachine", "pastPlot", "historyExport", "graph", "details"),
    },
    Place.LOG: {"agentLog", "logSeverity", "logFilter", "logFollow", "logCopy", "logExport"},
}


def focused() -> QWidget:
    return certain(QApplication.focusWidget())


def tabbed_through(window: QWidget) -> list[QWidget]:
    """All that Tab leads to, once around."""
    seen: list[QWidget] = []
    for _ in range(TABS_MAX):
        at = focused()
        if at in seen:
            return seen
        seen.append(at)
        QTest.keyClick(at, Qt.Key.Key_Tab)
    raise AssertionError(f"Tab does not come around: {[each.objectName() for each in seen]}")


@pytest.fixture
def active(qtbot: QtBot, window: Window) -> Window:
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    return window


@pytest.mark.parametrize("place", list(Place))
def test_tab_reaches_everything_in_each_place(
    qtbot: QtBot, context: ViewContext, active: Window, place: Place
) -> None:
    name = submit(qtbot, context, waiting("by keyboard"))
    QTest.keyClick(active, PLACE_KEYS[place], CONTROL)
    until(qtbot, lambda: active.stack.currentWidget() is active.places.get(place))
    if place is Place.WORKFLOWS:
        active.workflows.choose(name, task_of(context, name, "by keyboard").task)
        until(qtbot, active.workflows.details.done.isVisible)
    if place is Place.HISTORY:
        context.cancel(name)
        history = of_kind(HistoryPage, active.places[place])
        until(qtbot, lambda: history.rows.place_of(name) > 0)
        history.table.setFocus()
    if place is Place.QUEUE:
        page = of_kind(QueuePage, active.places[place])
        until(qtbot, lambda: page.rows.place_of(task_of(context, name, "by keyboard").task) >= 0)
        page.table.selectRow(0)
    if place is Place.COMPUTER:
        until(qtbot, lambda: context.screen.volunteering is not None)
        computer = of_kind(ComputerPage, active.places[place])
        until(qtbot, computer.mains.isChecked)
        computer._timer.setInterval(3_600_000)  # nothing of it is sent
        computer.modes["when idle"].setChecked(True)
        computer.setFocus()
    reached = tabbed_through(active)
    names = {each.objectName() for each in reached}
    assert MUST_REACH[place] <= names
    assert {"settingsButton", "pauseButton"} <= names


def takes_keyboard(widget: QWidget) -> bool:
    """Itself, not by a part inside that Qt made."""
    policy = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    inside = widget.focusProxy() is not None or widget.objectName().startswith("qt_")
    return bool(policy) and widget.isVisible() and not inside


def described(widget: QWidget) -> str:
    return f"{type(widget).__name__} {widget.objectName()}"


def told(widget: QWidget) -> str:
    """What a screen reader says of it."""
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


@pytest.mark.parametrize("place", list(Place))
def test_everything_that_takes_the_keyboard_has_a_name(
    qtbot: QtBot, context: ViewContext, active: Window, place: Place
) -> None:
    submit(qtbot, context, waiting())
    active.go(place)
    focusable = [each for each in active.findChildren(QWidget) if takes_keyboard(each)]
    assert focusable
    nameless = [described(each) for each in focusable if not told(each)]
    assert nameless == []


def test_dialogs_have_names_too(
    qtbot: QtBot, context: ViewContext, active: Window, login: NoLogin
) -> None:
    until(qtbot, lambda: context.screen.settings is not None)
    dialog = SettingsDialog(context, login, active)
    dialog.show()
    nameless = []
    for tab in range(dialog.tabs.count()):
        dialog.tabs.setCurrentIndex(tab)
        nameless += [
            described(each)
            for each in dialog.findChildren(QWidget)
            if takes_keyboard(each) and not told(each)
        ]
    assert nameless == []
    dialog.close()


def test_a_row_is_chosen_alone_while_ctrl_is_held(
    qtbot: QtBot, context: ViewContext, active: Window
) -> None:
    names = [submit(qtbot, context, waiting()) for _ in range(2)]
    QTest.keyPress(active, Qt.Key.Key_1, CONTROL)
    for name in names:
        active.workflows.choose(name)
        assert [each.workflow for each in active.workflows.table.selected()] == [name]
    QTest.keyRelease(active, Qt.Key.Key_1)


def test_the_graph_is_walked_by_arrows_and_told_to_screen_readers(
    qtbot: QtBot, context: ViewContext, active: Window
) -> None:
    tasks = (waiting("first"), Task("second", gate=True, after=("first",)))
    name = submit(qtbot, context, *tasks)
    graph = active.workflows.graph
    active.workflows.choose(name)
    until(qtbot, lambda: len(graph.boxes) == len(tasks))
    graph.setFocus()
    for expected in ("first", "second"):
        QTest.keyClick(graph, Qt.Key.Key_Right)
        assert graph.accessibleDescription().startswith(expected)
    assert active.workflows.details.name.text() == "second"


def test_f5_leaves_the_keyboard_where_it_was(
    qtbot: QtBot, context: ViewContext, active: Window
) -> None:
    failing = Task("segment", "segment", parameters="0.1 fails", expected_s=1, failures_max=1)
    name = submit(qtbot, context, failing)
    until(qtbot, lambda: view_of(context, name).state == "failed")
    page = active.workflows
    page.choose(name)
    page.table.setFocus()
    generation = task_of(context, name, "segment").generation
    QTest.keyClick(page.table, Qt.Key.Key_F5)
    until(qtbot, lambda: task_of(context, name, "segment").generation > generation)
    until(qtbot, lambda: view_of(context, name).state == "failed")
    assert focused() is page.table
    assert page.table.current().workflow == name


def test_a_button_that_goes_hands_the_keyboard_to_its_place(
    qtbot: QtBot, context: ViewContext, active: Window
) -> None:
    name = submit(qtbot, context, waiting())
    page = active.workflows
    page.choose(name, task_of(context, name, "look").task)
    assert state_of(context.screen) is TrayState.NEEDS_YOU
    until(qtbot, page.details.done.isVisible)
    page.details.done.setFocus()
    QTest.keyClick(page.details.done, Qt.Key.Key_Space)
    until(qtbot, lambda: task_of(context, name, "look").state is TaskState.TERMINATED)
    until(qtbot, lambda: not page.details.done.isVisible())
    assert focused() is page.details


def test_a_workflow_is_submitted_marked_done_and_cancelled_by_keys(
    qtbot: QtBot, context: ViewContext, active: Window
) -> None:
    name = submit(qtbot, context, waiting())
    page = active.workflows
    page.choose(name)
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    assert page.undo.isVisible()
    QTest.keyClick(page.table, Qt.Key.Key_Z, CONTROL)
    until(qtbot, lambda: not page.undo.isVisible())
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    page.undo.do_now()
    until(qtbot, lambda: view_of(context, name).state == "cancelled")


def test_a_place_gone_to_by_key_has_the_keyboard(
    qtbot: QtBot, context: ViewContext, active: Window
) -> None:
    submit(qtbot, context, waiting())
    active.side.buttons[Place.WORKFLOWS].setFocus()
    QTest.keyClick(active, PLACE_KEYS[Place.FLOCK], CONTROL)
    assert active.stack.currentWidget() is active.places[Place.FLOCK]
    assert not active.side.isAncestorOf(focused())
    QTest.keyClick(active, PLACE_KEYS[Place.WORKFLOWS], CONTROL)
    assert focused() is active.workflows.table
