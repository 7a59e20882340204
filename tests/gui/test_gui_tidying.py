"""Finished work out of sight, or gone: hidden and seen again, removed with what it takes, forgotten."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from agent.api.work import CANCEL, RETRY, Cancel, Retry
from gui.views.computer_page import ComputerPage
from gui.views.history_page import HistoryPage
from gui.views.side_bar import Place
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import gone_to, press, submit, until, view_of, waiting
from tests.gui.conftest import NoLogin
from tests.hosts.machine import Machine


def cancelled(qtbot: QtBot, context: ViewContext) -> str:
    """A workflow that has ended."""
    name = submit(qtbot, context, waiting())
    context.ask(context, CANCEL, Cancel(name))
    until(qtbot, lambda: view_of(context, name).state == "cancelled")
    return name


def entry(menu: QMenu | None, name: str) -> None:
    """An entry of an open menu, pressed as a person does."""
    found = {each.objectName(): each for each in certain(menu).actions()}[name]
    assert found.isEnabled(), name
    found.trigger()
    certain(menu).close()


def answer(qtbot: QtBot, parent: QWidget, box: str, button: str) -> str:
    """What a question says, once it is there, and this answer to it."""
    found: list[QMessageBox] = []

    def there() -> bool:
        found[:] = parent.findChildren(QMessageBox, box)
        return bool(found)

    until(qtbot, there)
    said = f"{found[0].text()} {found[0].informativeText()}"
    press(found[0], button)
    return said


def test_what_has_ended_is_hidden_and_seen_again(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin
) -> None:
    first, second = cancelled(qtbot, context), cancelled(qtbot, context)
    page = window.workflows
    page.choose(first)
    entry(page.menu_at(QPoint()), "hide")
    assert page.rows.place_of(first) == -1
    assert page.rows.place_of(second) >= 0
    assert page.hidden.text() == "1 hidden"
    again = Window(context, login)
    qtbot.addWidget(again)
    assert again.workflows.rows.place_of(first) == -1
    page.hidden.click()
    assert page.rows.place_of(first) >= 0
    page.hidden.click()
    page.choose(second)
    entry(page.menu_at(QPoint()), "hideAll")
    assert page.rows.place_of(second) == -1
    window.show_there(Place.WORKFLOWS, first)  # a door that leads to what is hidden opens
    assert page.rows.place_of(first) >= 0
    context.ask(context, RETRY, Retry(second))
    until(qtbot, lambda: page.rows.place_of(second) >= 0)


def test_what_has_ended_is_removed_after_a_question_that_says_what_it_frees(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    name = cancelled(qtbot, context)
    called = view_of(context, name).name
    page = window.workflows
    page.choose(name)
    entry(page.menu_at(QPoint()), "remove")
    said = answer(qtbot, page, "removeBox", "remove")
    assert f"Remove {called}?" in said
    assert "That frees 0 B on this computer now; copies on other machines go when room is " in said
    assert "on all machines" not in said
    until(qtbot, lambda: name not in context.screen.workflows)
    until(qtbot, lambda: called in window.said.sentence.text())
    history = gone_to(window, Place.HISTORY, HistoryPage)
    until(qtbot, lambda: history.rows.place_of(name) > 0)
    history.table.choose(name)
    until(qtbot, lambda: certain(history.detail._view).workflow == name)
    entry(history.menu_at(QPoint()), "remove")
    assert "forgets" in answer(qtbot, history, "removeBox", "remove")
    until(qtbot, lambda: history.rows.place_of(name) < 0)


def test_a_program_is_forgotten_after_a_question(
    qtbot: QtBot, context: ViewContext, window: Window, machine: Machine, tmp_path: Path
) -> None:
    folder = tmp_path / "count"
    folder.mkdir()
    (folder / "program.py").write_text("print('TERMINATED')\n")
    (folder / "program.yaml").write_text('command: ["{python}", program.py]\n')
    name = machine.answer("programs", "publish", str(folder))["program"]
    context.bridge.want_flock()
    page = gone_to(window, Place.COMPUTER, ComputerPage)
    card = page.programs
    until(qtbot, lambda: card.rows.place_of(name) >= 0)
    card.table.choose(name)
    entry(card.menu_at(QPoint()), "forget")
    assert "Forget the program count?" in answer(qtbot, card, "forgetBox", "forget")
    until(qtbot, lambda: card.rows.place_of(name) < 0)
