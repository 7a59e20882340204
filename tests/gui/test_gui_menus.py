"""Each entry of each context menu, done to a real agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMenu, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from agent.api.values import PRIORITY_NAMES, Requirements, TaskState
from agent.api.work import Task
from gui.views.flock_page import FlockPage
from gui.views.log_window import LogWindow
from gui.views.queue_page import QueuePage
from gui.views.side_bar import Place
from gui.views.task_details import TaskDetails
from gui.views.task_menu import add_priorities
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import WITHIN_MS, gone_to, press, submit, task_of, until, view_of, waiting

HERE = QPoint(0, 0)


class _Opener(QObject):
    """In the place of the desktop's programs."""

    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self._seen = seen

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self._seen.append(url.toLocalFile())


def import_task(parameters: str = "0.1") -> Task:
    return Task("import", "import", parameters=parameters, expected_s=1, failures_max=1)


def entry(menu: QMenu | None, name: str) -> QAction:
    assert menu is not None
    found: QAction | None = menu.findChild(QAction, name)
    assert found is not None, name
    return found


def choose(menu: QMenu | None, name: str) -> None:
    chosen = entry(menu, name)
    assert chosen.isEnabled(), name
    chosen.trigger()
    assert menu is not None
    menu.close()


def able(menu: QMenu | None) -> set[str]:
    assert menu is not None
    return {each.objectName() for each in menu.actions() if each.isEnabled() and each.objectName()}


@pytest.fixture
def opened_files(qapp: object) -> Iterator[list[str]]:
    """What the desktop would have been asked to open."""
    seen: list[str] = []

    opener = _Opener(seen)
    QDesktopServices.setUrlHandler("file", opener, "take")  # type: ignore[arg-type]
    yield seen
    QDesktopServices.unsetUrlHandler("file")


# -- a workflow ----------------------------------------------------------------------------


def test_a_workflow_is_cancelled_tried_again_and_copied(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    name = submit(qtbot, context, waiting())
    page = window.workflows
    page.choose(name)
    assert not entry(page.menu_at(HERE), "retry").isEnabled()
    choose(page.menu_at(HERE), "copy")
    assert QGuiApplication.clipboard().text() == name
    choose(page.menu_at(HERE), "cancel")
    assert page.undo.isVisible()
    page.undo.do_now()
    until(qtbot, lambda: view_of(context, name).state == "cancelled")
    choose(page.menu_at(HERE), "retry")
    until(qtbot, lambda: view_of(context, name).state == "waiting")


@pytest.mark.parametrize("priority", [PRIORITY_NAMES["interactive"], 75, PRIORITY_NAMES["low"]])
def test_each_priority(qtbot: QtBot, context: ViewContext, window: Window, priority: int) -> None:
    name = submit(qtbot, context, waiting())
    before = 20
    context.set_priority(name, before)
    until(qtbot, lambda: view_of(context, name).priority == before)
    window.workflows.choose(name)
    choose(window.workflows.menu_at(HERE), f"priority {priority}")
    until(qtbot, lambda: view_of(context, name).priority == priority)


def test_a_step_is_given_a_priority_of_its_own(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    step = Task("far", "import", requirements=Requirements(tags=("moon",)))
    name = chosen_task(qtbot, context, window, step, TaskState.READY)
    before = view_of(context, name).priority
    choose(window.workflows.task_menu_at(HERE), "priority 75")
    until(qtbot, lambda: task_of(context, name, "far").priority == 75)
    until(qtbot, lambda: "75" in [each.text() for each in window.findChildren(QLabel)])
    assert view_of(context, name).priority == before


# -- a task --------------------------------------------------------------------------------


def chosen_task(
    qtbot: QtBot, context: ViewContext, window: Window, task: Task, state: TaskState
) -> str:
    name = submit(qtbot, context, task)
    until(qtbot, lambda: task_of(context, name, task.id).state is state)
    window.workflows.choose(name, task_of(context, name, task.id).task)
    return name


def test_a_done_task_has_a_log_a_why_and_a_result(
    qtbot: QtBot, context: ViewContext, window: Window, opened_files: list[str]
) -> None:
    name = chosen_task(qtbot, context, window, import_task("0.1 hello"), TaskState.TERMINATED)
    page = window.workflows
    until(qtbot, lambda: view_of(context, name).state == "finished")
    assert page.rows.place_of(name) >= 0
    until(qtbot, lambda: bool(task_of(context, name, "import").outputs))
    until(qtbot, lambda: page.details.name.text() == "import")
    until(qtbot, lambda: page.details.moves.text() != "")
    until(qtbot, lambda: task_of(context, name, "import").attempt == 1)
    assert able(page.task_menu_at(HERE)) == {"again", "log", "why", "result", "copy"}
    choose(page.task_menu_at(HERE), "log")
    (log,) = window._logs
    assert isinstance(log, LogWindow)
    until(qtbot, lambda: "reading 0.1 hello" in log.text.toPlainText())
    log.search.setText("hello")
    assert log.text.textCursor().selectedText() == "hello"
    assert not log.missed.isVisible()
    log.search.setText("hello world")
    assert log.missed.isVisible(), "a search that finds nothing says so"
    log.missed.click()
    assert (log.search.text(), log.missed.isVisible()) == ("", False)
    log.close()
    choose(page.task_menu_at(HERE), "why")
    until(qtbot, lambda: "finished on acor" in page.details.now.text())
    choose(page.task_menu_at(HERE), "result")
    until(qtbot, lambda: len(opened_files) == 1)
    assert Path(opened_files[0]).read_text("utf-8").startswith("points\n")
    choose(page.task_menu_at(HERE), "copy")
    assert QGuiApplication.clipboard().text() == task_of(context, name, "import").task


def test_what_lies_where_a_result_is_to_be_kept_is_never_replaced_unasked(
    qtbot: QtBot,
    context: ViewContext,
    window: Window,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen_task(qtbot, context, window, import_task("0.1 hello"), TaskState.TERMINATED)
    folder = tmp_path / "chosen"
    folder.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))
    until(qtbot, window.workflows.details.outputs.isVisible)

    def save(answer: str = "") -> None:
        with qtbot.waitSignal(context.said, timeout=WITHIN_MS):
            press(window, "saveOutput0")
            if answer:
                until(qtbot, lambda: window.findChild(QPushButton, answer) is not None)
                press(window, answer)

    save()
    (kept,) = folder.iterdir()
    kept.write_text("mine")
    save("keepBoth")
    (beside,) = set(folder.iterdir()) - {kept}
    assert (beside.name, kept.read_text()) == (f"{kept.stem} (2){kept.suffix}", "mine")
    press(window, "saveOutput0")
    until(qtbot, lambda: window.findChild(QMessageBox, "replaceBox") is not None)
    certain(window.findChild(QMessageBox, "replaceBox")).reject()
    until(qtbot, lambda: window.findChild(QMessageBox, "replaceBox") is None)
    assert kept.read_text() == "mine"
    save("replace")
    assert kept.read_text() == beside.read_text() != "mine"
    assert sorted(folder.iterdir()) == sorted([kept, beside])


def test_each_attempt_has_its_log_to_choose(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    task = Task("import", "import", parameters="0.1 fails", expected_s=1, failures_max=2)
    chosen_task(qtbot, context, window, task, TaskState.ABORTED)
    choose(window.workflows.task_menu_at(HERE), "log")
    (log,) = window._logs
    assert isinstance(log, LogWindow)
    until(qtbot, lambda: log.attempts.isVisible() and log.attempts.count() == 2)
    until(qtbot, lambda: "reading 0.1 fails" in log.text.toPlainText())
    assert [log.attempts.itemText(at).partition(",")[0] for at in (0, 1)] == ["2: acor", "1: acor"]
    log.attempts.setCurrentIndex(1)
    assert log.text.toPlainText() == ""
    until(qtbot, lambda: log.note.text() == "ended on acor")
    assert log.text.toPlainText().count("reading 0.1 fails") == 1
    log.close()


def test_a_failed_task_is_tried_again(qtbot: QtBot, context: ViewContext, window: Window) -> None:
    name = chosen_task(qtbot, context, window, import_task("0.1 fails"), TaskState.ABORTED)
    generation = task_of(context, name, "import").generation
    choose(window.workflows.task_menu_at(HERE), "retry")
    until(qtbot, lambda: task_of(context, name, "import").generation > generation)


def test_a_task_is_cancelled_and_a_gate_marked_done(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    name = chosen_task(qtbot, context, window, waiting(), TaskState.WAITING)
    page = window.workflows
    choose(page.task_menu_at(HERE), "cancel")
    page.undo.do_now()
    until(qtbot, lambda: task_of(context, name, "look").state is TaskState.CANCELLED)
    name = chosen_task(qtbot, context, window, waiting(), TaskState.WAITING)
    choose(page.task_menu_at(HERE), "done")
    until(qtbot, lambda: view_of(context, name).state == "finished")


# -- queue and flock -----------------------------------------------------------------------


def only_in_queue(qtbot: QtBot, window: Window, typed: str) -> QueuePage:
    """The queue, with the one row that has this."""
    page = gone_to(window, Place.QUEUE, QueuePage)
    page.filter.setText(typed)
    until(qtbot, lambda: len(page.rows.rows) == 1)
    return page


def test_the_queue_has_the_same_menu_and_leads_to_the_workflow(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    name = submit(qtbot, context, waiting("only this one"))
    page = only_in_queue(qtbot, window, "ONLY this one")
    page._open(page.rows.rows[0])
    assert window.stack.currentWidget() is window.workflows
    assert certain(window.workflows.chosen).workflow == name
    window.go(Place.QUEUE)
    assert page.menu_at(HERE) is None
    page.table.selectRow(0)
    choose(page.menu_at(HERE), "done")
    until(qtbot, lambda: view_of(context, name).state == "finished")
    assert window.stack.currentWidget() is window.workflows


def test_why_and_cancel_lead_from_the_queue_to_the_workflow(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    name = submit(qtbot, context, waiting("that one there"))
    page = only_in_queue(qtbot, window, "that one there")
    page.table.selectRow(0)
    assert able(page.menu_at(HERE)) == {"why", "done", "cancel", "copy"}
    choose(page.menu_at(HERE), "why")
    details = window.workflows.details
    until(qtbot, lambda: "waits until a person marks it done" in details.now.text())
    window.go(Place.QUEUE)
    choose(page.menu_at(HERE), "cancel")
    assert window.workflows.undo.isVisible()
    window.workflows.undo.do_now()
    until(qtbot, lambda: view_of(context, name).state == "cancelled")


def test_a_machine_is_not_expelled_by_itself_and_its_id_copied(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    page = gone_to(window, Place.FLOCK, FlockPage)
    until(qtbot, lambda: len(page.rows.rows) == 1)
    page.table.selectRow(0)
    assert not page.expel.isEnabled()
    assert able(page.menu_at(HERE)) == {"copy", "machineAudit"}
    choose(page.menu_at(HERE), "copy")
    (row,) = page.rows.rows
    assert (row.view.name, QGuiApplication.clipboard().text()) == ("acor", row.view.node)


def test_the_button_for_the_priority_opens_the_priorities(
    qtbot: QtBot, context: ViewContext
) -> None:
    """And not a menu whose only entry is called as the button is."""
    details = TaskDetails(context)
    qtbot.addWidget(details)
    said = [each.text() for each in details.priority_menu.actions()]
    assert said == ["Interactive", "Between", "Low"]


def test_each_priority_of_the_menu_is_another_one(qapp: QApplication) -> None:
    menu, heard = QMenu(), list[object]()
    add_priorities(menu, heard.append)
    (inner,) = menu.findChildren(QMenu)
    for entry in inner.actions():
        entry.trigger()
    assert heard == [100, 75, 50]
