"""The first run: over when somebody has said when the computer may help, and asked until then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.application import Application
from gui.model.tray import is_answered
from gui.views.computer_page import ComputerPage
from gui.views.first_run import FirstRun
from gui.views.view_context import ViewContext
from tests.certain import certain, of_kind
from tests.gui.acts import WITHIN_MS
from tests.gui.conftest import NoLogin, context_on
from tests.gui.machines import prepared
from tests.gui.whole import program
from tests.hosts.machine import Machine


@pytest.fixture
def ended(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The application of all tests does not really quit."""
    told: list[bool] = []
    monkeypatch.setattr(qapp, "quit", lambda: told.append(True))
    return told


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[tuple[Machine, ViewContext]]:
    """A machine of which nobody has said yet when it may help."""
    machine = prepared(tmp_path, "acor", answer="")
    with machine.agent("--port", "0"), context_on(machine) as context:
        yield machine, context


def begun(qtbot: QtBot, context: ViewContext, login: NoLogin) -> FirstRun:
    qtbot.waitUntil(lambda: context.screen.volunteering is not None, timeout=WITHIN_MS)
    dialog = FirstRun(context, login)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def at_page(qtbot: QtBot, dialog: FirstRun, page: int) -> None:
    qtbot.waitUntil(lambda: dialog.pages.currentIndex() == page, timeout=WITHIN_MS)


def test_the_first_run_makes_a_flock_sets_rules_and_the_login(
    qtbot: QtBot, asked: tuple[Machine, ViewContext], login: NoLogin
) -> None:
    machine, context = asked
    dialog = begun(qtbot, context, login)
    dialog.next.click()
    assert dialog.fault.isVisible()
    dialog.create_it.setChecked(True)
    dialog.name.setText("survey office")
    dialog.next.click()
    at_page(qtbot, dialog, 1)
    assert not dialog.fault.isVisible()
    dialog.next.click()
    assert dialog.fault.sentence.text() == "Choose one of these; Not now is one too."
    assert not is_answered(context.screen)
    dialog.idle.setChecked(True)
    dialog.next.click()
    at_page(qtbot, dialog, 2)
    with qtbot.waitSignal(dialog.done_with, timeout=WITHIN_MS):
        dialog.next.click()
    assert login.on
    assert machine.answer("status")["node"]["flock"] == "survey office"
    assert machine.answer("volunteering")["rules"]["mode"] == "when idle"
    qtbot.waitUntil(lambda: is_answered(context.screen), timeout=WITHIN_MS)


@pytest.mark.parametrize(
    ("choice", "mode", "own_only"),
    [("not_now", "not now", False), ("own", "always", True), ("always", "always", False)],
)
def test_who_joined_by_command_line_is_asked_the_rest(
    qtbot: QtBot,
    asked: tuple[Machine, ViewContext],
    login: NoLogin,
    choice: str,
    mode: str,
    own_only: bool,
) -> None:
    machine, context = asked
    machine.said("flock", "create", "meadow")
    qtbot.waitUntil(
        lambda: bool(context.screen.node and context.screen.node.flock), timeout=WITHIN_MS
    )
    dialog = begun(qtbot, context, login)
    assert (dialog.step.text(), dialog.back.isVisible()) == ("Step 1 of 2", False)
    assert not any(each.isChecked() for each in dialog._answers().values())
    getattr(dialog, choice).setChecked(True)
    dialog.next.click()
    at_page(qtbot, dialog, 2)
    rules = machine.answer("volunteering")["rules"]
    assert (rules.get("mode", "always"), rules.get("own_only", False)) == (mode, own_only)
    qtbot.waitUntil(lambda: is_answered(context.screen), timeout=WITHIN_MS)
    assert getattr(begun(qtbot, context, login), choice).isChecked(), "what was answered is shown"


@pytest.mark.parametrize("answer", ["", "not now"])
def test_until_somebody_has_answered_each_start_asks(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], tmp_path: Path, answer: str
) -> None:
    machine = prepared(tmp_path, "acor", answer)
    with machine.agent("--port", "0"):
        for _ in range(2):
            with program(qtbot, qapp, ended, machine) as whole:
                _is_asked(qtbot, whole) if answer == "" else _is_not_asked(qtbot, whole)
            ended.clear()


def _is_asked(qtbot: QtBot, whole: Application) -> None:
    window = whole.window
    qtbot.waitUntil(lambda: window.findChild(FirstRun) is not None, timeout=WITHIN_MS)
    certain(window.findChild(FirstRun)).reject()
    window.side.answer.click()
    page = of_kind(ComputerPage, window.stack.currentWidget())
    assert not any(each.isChecked() for each in page.modes.values())
    assert not any(each.isEnabled() for each in (page.idle, page.own_only))


def _is_not_asked(qtbot: QtBot, whole: Application) -> None:
    side = whole.window.side
    qtbot.waitUntil(lambda: "you said not now" in side.sentence.text(), timeout=WITHIN_MS)
    assert not side.answer.isVisible()
    assert whole.window.findChild(FirstRun) is None
