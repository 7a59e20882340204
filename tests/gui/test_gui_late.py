"""Replies, failures and further parts that come when who asked for them is closed: nothing happens.

Each view is brought to where its question is under way, closed, and only then answered; or answered
so that the reply lies in Qt's queue while it is closed. An exception in a slot fails the test. The
table is whole: a view that asks and does not stand in it fails a test too.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from pkgutil import iter_modules
from typing import cast

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

import gui.views
from agent.api.again import AgainReply
from agent.api.flock import Invitation
from agent.api.history import Runs
from agent.api.volunteering import ProgramsRunning
from agent.api.work import Origin
from agent.client import Home
from gui.bridge import bridge as bridge_module
from gui.bridge import following
from gui.bridge.bridge import Bridge
from gui.model.screen import Changes, Screen
from gui.theme.look import look
from gui.views import choosing, inspect_sheet, log_page, permission_sheet, submit_sheet
from gui.views.computer_page import ComputerPage
from gui.views.flock_page import FlockPage, InviteDialog
from gui.views.gate_dialog import GateDialog
from gui.views.history_page import HistoryPage
from gui.views.log_page import LogPage
from gui.views.permission_sheet import PermissionSheet
from gui.views.side_bar import Place
from gui.views.submit_sheet import SubmitSheet
from gui.views.timeline_view import TASKS_MAX
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import press
from tests.gui.conftest import NoLogin, ended
from tests.gui.held import FAILURE, GATE, NODE, PAST, REPLIES, RUNNING, HeldAgent, WatchedBridge
from tests.gui.under_way import (
    CASES,
    FILE,
    SILENT,
    Case,
    Stage,
    audit_opened,
    close,
    flight_sheet,
    permission,
    settings,
    turn,
    until,
)


@pytest.fixture
def stage(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stage]:
    agent = HeldAgent()
    for module in (bridge_module, following):
        monkeypatch.setattr(module, "Client", agent)
    monkeypatch.setattr(submit_sheet, "editor_command", lambda *_: agent.hold("editor"))
    monkeypatch.setattr(inspect_sheet, "inspected", lambda *_: agent.hold("inspected"))
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda *_: False)
    home = Home.at(tmp_path)
    bridge = WatchedBridge(home, agent)
    context = ViewContext(home, Screen(), bridge)
    bridge.start()
    window = Window(context, NoLogin())
    window.show()
    made = Stage(qtbot, agent, bridge, context, window, tmp_path)
    screen = context.screen
    until(qtbot, lambda: None not in (screen.asked, screen.settings, screen.tasks.get("line-42")))
    yield made
    bridge.stop()
    if Shiboken.isValid(window):
        close(window)
    ended(context)


IDS = [f"{each.site} {each.asks}" for each in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("good", [True, False], ids=["reply", "failure"])
def test_what_comes_for_a_closed_view_is_not_told(stage: Stage, case: Case, good: bool) -> None:
    said: list[str] = []
    stage.context.failed.connect(said.append)
    thing = under_way(stage, case)
    close(thing)
    turn()
    assert not Shiboken.isValid(thing)
    if not case.act:
        until(stage.qtbot, lambda: case.asks in stage.agent.called_off())
    assert case.act == (case.asks in stage.agent.waiting())
    stage.agent.release(good=good)
    until(stage.qtbot, stage.bridge.is_settled)
    turn()
    assert said == ([FAILURE] if case.act and not good else [])


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("good", [True, False], ids=["reply", "failure"])
def test_what_is_on_its_way_when_a_view_is_closed_is_not_told(
    stage: Stage, case: Case, good: bool
) -> None:
    thing = under_way(stage, case)
    stage.agent.release(good=good)
    stage.bridge.settle()
    close(thing)
    QApplication.processEvents()  # what was sent before comes before the end
    turn()
    assert not Shiboken.isValid(thing)
    until(stage.qtbot, stage.bridge.is_settled)
    turn()


def under_way(stage: Stage, case: Case) -> QWidget:
    thing = case.begin(stage)
    until(stage.qtbot, lambda: case.asks in stage.agent.waiting())
    assert case.site in stage.bridge.sites
    return thing


def test_every_view_that_asks_stands_in_the_table() -> None:
    scanned = {site for view in VIEWS for site in asking_sites(view)}
    assert scanned == {each.site for each in CASES}
    asking = {each.site.partition(".")[0] for each in CASES}
    assert classes_with_a_context() == asking | SILENT


def views_read() -> Iterator[ast.Module]:
    folder = Path(next(iter(gui.views.__path__)))
    for path in sorted(folder.glob("*.py")):
        if path.name != "view_context.py":
            yield ast.parse(path.read_text("utf-8"))


VIEWS = list(views_read())
"""Read while there is one thread: before Python 3.12, two at a time disturb each other's parsing."""


def asking_sites(view: ast.Module) -> Iterator[str]:
    """``View.method`` for each question that a file asks."""
    for kind in view.body:
        for method in getattr(kind, "body", ()):
            if isinstance(kind, ast.ClassDef) and isinstance(method, ast.FunctionDef):
                yield from (f"{kind.name}.{method.name}" for n in ast.walk(method) if _asks(n))


def _asks(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    of = ast.unparse(node.func.value)
    asks = node.func.attr in ("ask", "work", "client_work", "follow_log")
    return asks and of.endswith(("context", "bridge"))


def classes_with_a_context() -> set[str]:
    found = set()
    for module in iter_modules(gui.views.__path__, "gui.views."):
        for name, each in inspect.getmembers(import_module(module.name), inspect.isclass):
            ours = issubclass(each, QObject) and each.__module__.startswith("gui.views.")
            if ours and "context" in inspect.signature(each.__init__).parameters:
                found.add(name)
    return found


def test_scripts_that_cannot_be_read_now_are_read_a_moment_later(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permission_sheet, "READ_AGAIN_MS", 1)
    sheet = cast("PermissionSheet", permission(stage))
    stage.agent.release(good=False)
    until(stage.qtbot, sheet.never.isEnabled)
    assert sheet.fault.isVisible()
    assert not sheet.once.isEnabled()
    stage.agent.release(good=True)
    until(stage.qtbot, sheet.once.isEnabled)
    assert (sheet.files.count(), sheet.fault.isVisible()) == (1, False)


# -- further parts ---------------------------------------------------------------------------


def test_a_part_for_somebody_who_is_gone_is_not_told(stage: Stage) -> None:
    asker, heard = QObject(), list[object]()
    stage.bridge.tell(asker, heard.append, 1)
    turn()
    stage.bridge.tell(asker, heard.append, 2)
    Shiboken.delete(asker)
    turn()
    assert heard == [1]


def test_a_page_that_is_only_hidden_is_told(stage: Stage) -> None:
    page = stage.page(Place.FLOCK, FlockPage)
    page.tabs.setCurrentWidget(page.statistics)
    until(stage.qtbot, lambda: "statistics" in stage.agent.waiting())
    stage.window.go(Place.QUEUE)
    stage.window.hide()
    stage.agent.release(good=True)
    until(stage.qtbot, lambda: page.statistics._numbers["done"].text() == "4")
    assert page.statistics.balance.text() == (
        "Last 7 days: gave 12 h to others (30 min of it thrown away), took 30 h\n"
        "Last 30 days: gave 40 h to others, took 0 h"
    )
    assert not page.statistics.balance.isHidden()


def asked_what_runs(stage: Stage) -> ComputerPage:
    page = stage.page(Place.COMPUTER, ComputerPage)
    page._timer.setInterval(3_600_000)  # nothing of it is sent
    page.exclusive.setText("Zoom.exe, obs")
    page.running.setFocus()
    for _ in range(2):  # whoever presses twice gets one menu
        QTest.keyClick(page.running, Qt.Key.Key_Space)
    stage.bridge.settle()  # the first is called off
    assert stage.agent.waiting().count("running_programs") == 1
    return page


@pytest.mark.parametrize(
    ("keys", "text"), [(1, "Zoom.exe, obs, blender"), (2, "obs")], ids=["added", "taken out"]
)
def test_what_runs_is_chosen_by_keyboard(stage: Stage, keys: int, text: str) -> None:
    page = asked_what_runs(stage)
    stage.agent.release(good=True)
    until(stage.qtbot, lambda: page.findChild(QMenu) is not None)
    [menu] = page.findChildren(QMenu)
    told = [(each.text(), each.isChecked()) for each in menu.actions()]
    assert told == [("blender", False), ("zoom", True)]
    for _ in range(keys):
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert page.exclusive.text() == text
    assert page._timer.isActive(), "it is sent"
    page._timer.stop()


def test_where_nothing_runs_the_menu_says_so_and_why_nobody_tells_is_said(stage: Stage) -> None:
    page = asked_what_runs(stage)
    stage.agent.answer("running_programs", ProgramsRunning(()))
    until(stage.qtbot, lambda: page.findChild(QMenu) is not None)
    [none] = certain(page.findChild(QMenu)).actions()
    assert (none.text(), none.isEnabled()) == ("No program of yours runs at the moment", False)
    certain(page.findChild(QMenu)).close()
    asked_what_runs(stage)
    stage.agent.release(good=False)
    until(stage.qtbot, page.fault.isVisible)


def test_a_menu_of_what_runs_does_not_open_over_another_page(stage: Stage) -> None:
    page = asked_what_runs(stage)
    stage.window.go(Place.QUEUE)
    stage.agent.release(good=True)
    until(stage.qtbot, stage.bridge.is_settled)
    turn()
    assert page.findChild(QMenu) is None


def test_runs_of_a_workflow_that_was_chosen_before_are_not_shown(stage: Stage) -> None:
    page = stage.page(Place.FLOCK, FlockPage)
    page.tabs.setCurrentWidget(page.timeline)
    until(stage.qtbot, lambda: "runs" in stage.agent.waiting())
    page.timeline.choose("line-43")

    def asked() -> list[object]:
        return [each for each in stage.agent.params() if isinstance(each, Runs)]

    until(stage.qtbot, lambda: asked() == [Runs("line-43", limit=TASKS_MAX)])


def test_what_is_brought_before_it_runs_again_is_told_and_can_be_called_off(stage: Stage) -> None:
    sheet = stage.window.run_again("line-42")
    origin = Origin(str(stage.file("say.sh", "echo 1")))
    known = replace(cast("AgainReply", REPLIES["again"]), origin=origin, host=NODE.name)
    stage.agent.answer("again", known)
    until(stage.qtbot, lambda: "publish" in stage.agent.waiting())
    until(stage.qtbot, lambda: sheet.note.text() == "Publishing say")
    assert sheet.away.text() == "Cancel"
    press(sheet, "againClose")
    until(stage.qtbot, lambda: "publish" in stage.agent.called_off())


def test_a_view_that_was_not_shown_yet_is_told(stage: Stage) -> None:
    made = SubmitSheet(stage.context, [stage.file("late.wingbeat.yaml", FILE)], stage.window)
    stage.agent.release(good=True)
    until(stage.qtbot, made.submit.isEnabled)


def test_what_is_called_off_is_not_told_even_if_it_is_on_its_way(stage: Stage) -> None:
    heard: list[object] = []

    async def nothing() -> None:
        pass

    task = stage.bridge.work(stage.context, nothing, heard.append, heard.append)
    stage.bridge.settle()
    task.cancel()
    turn()
    assert heard == []


def test_a_dialog_that_was_closed_is_not_told_before_its_end(stage: Stage) -> None:
    dialog, heard = InviteDialog(stage.context, stage.window), list[object]()
    dialog.show()

    async def nothing() -> None:
        pass

    stage.bridge.work(dialog, nothing, heard.append, heard.append, act=True)
    stage.bridge.settle()
    dialog.close()
    QApplication.sendPostedEvents(stage.bridge)
    assert Shiboken.isValid(dialog)
    assert heard == []


def test_each_question_has_to_name_its_asker() -> None:
    for method in (Bridge.ask, Bridge.work, Bridge.client_work, Bridge.follow_log, Bridge.tell):
        first = list(inspect.signature(method).parameters.values())[1]
        assert (first.name, first.annotation) == ("asker", "QObject")
        assert first.default is inspect.Parameter.empty


def test_a_log_is_read_on_only_while_it_is_followed(stage: Stage) -> None:
    page = stage.page(Place.LOG, LogPage)
    page.follow.setChecked(False)
    stage.agent.answer("agent_log")
    until(stage.qtbot, lambda: "begun" in page.text.toPlainText())
    until(stage.qtbot, lambda: stage.agent.waiting().count("agent_log") == 0)
    page.follow.setChecked(True)
    until(stage.qtbot, lambda: stage.agent.waiting().count("agent_log") == 1)


def test_what_outlives_the_window_tells_it_nothing(stage: Stage) -> None:
    for place in Place:
        stage.window.go(place)
    settings(stage)
    stage.first_run()
    close(stage.window)
    turn()
    look().changed.emit()
    context = stage.context
    context.changed.emit(Changes(everything=True, flock=True, connection=True))
    for signal, values in (
        (context.failed, ("no",)),
        (context.said, ("yes",)),
        (context.go_to, (Place.LOG, "")),
        (context.submit, (["a.wingbeat.yaml"],)),
        (context.log_of, (RUNNING,)),
    ):
        signal.emit(*values)
    turn()


# -- choosing files --------------------------------------------------------------------------


def invited(stage: Stage) -> InviteDialog:
    dialog = InviteDialog(stage.context, stage.window)
    dialog._invitation = Invitation("wingbeat-1", "wingbeat-1", "office", 1, 9)
    return dialog


def gate_dialog(stage: Stage) -> GateDialog:
    return GateDialog(stage.context, GATE, stage.window)


CHOOSERS: dict[str, Callable[[Stage], tuple[QWidget, Callable[[], object]]]] = {
    "FirstRun._open": lambda stage: both(stage.first_run(), "_open"),
    "InviteDialog._save": lambda stage: both(invited(stage), "_save"),
    "AuditSheet._export": lambda stage: both(audit_opened(stage), "_export"),
    "GateDialog._add": lambda stage: both(gate_dialog(stage), "_add"),
    "GateDialog._choose": lambda stage: both(gate_dialog(stage), "_choose", "scan"),
    "Outputs._save": lambda stage: (
        stage.window,
        lambda: stage.window.workflows.details.outputs._save(RUNNING),  # type: ignore[arg-type]
    ),
    "InspectSheet._choose": lambda stage: both(flight_sheet(stage), "_choose"),
    "ProgramForm._add": lambda stage: both(program_sheet(stage), "program._add"),
    "PastExport._save": lambda stage: both(
        stage.page(Place.HISTORY, HistoryPage).export, "_save", "csv", PAST
    ),
    "Window.submit": lambda stage: both(stage.window, "submit", None),
    ".export_text": lambda stage: (
        stage.window,
        lambda: log_page.export_text(
            stage.window, QPlainTextEdit("text"), "a.log", stage.context.failed.emit
        ),
    ),
}


def both(thing: QWidget, act: str, *values: object) -> tuple[QWidget, Callable[[], object]]:
    return thing, lambda: attrgetter(act)(thing)(*values)


def program_sheet(stage: Stage) -> SubmitSheet:
    return certain(stage.window.submit([str(stage.file("count.sh", "echo"))]))


@pytest.mark.parametrize("site", CHOOSERS)
def test_a_file_chosen_for_a_view_that_was_closed_meanwhile_is_let_be(
    stage: Stage, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    thing, act = CHOOSERS[site](stage)
    chosen = str(stage.folder / "chosen")

    def choose(answer: object) -> Callable[..., object]:
        def chooser(*_: object) -> object:
            close(thing)
            turn()
            return answer

        return chooser

    monkeypatch.setattr(QFileDialog, "getOpenFileName", choose((chosen, "")))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose((chosen, "")))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", choose(([chosen], "")))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", choose(chosen))
    act()
    assert not Shiboken.isValid(thing)
    assert not Path(chosen).exists()


def test_every_chooser_of_files_stands_in_the_table() -> None:
    functions = inspect.getmembers(choosing, inspect.isfunction)
    dialogs = {name for name, each in functions if each.__module__ == choosing.__name__}
    found = set()
    for view in VIEWS:
        for top in view.body:
            inner = top.body if isinstance(top, ast.ClassDef) else [top]
            for each in inner:
                if not isinstance(each, ast.FunctionDef) or each.name in dialogs:
                    continue
                assert "QFileDialog" not in ast.unparse(each), "they are all opened in one place"
                if dialogs & {name.id for name in ast.walk(each) if isinstance(name, ast.Name)}:
                    owner = top.name if isinstance(top, ast.ClassDef) else ""
                    found.add(f"{owner}.{each.name}")
    assert found == set(CHOOSERS)
