"""A machine without a flock asks one, and its person and the keeper's meet over the code: two windows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from agent.api.admission import Ask
from agent.api.methods import ASK
from agent.net.invitation import parse_invitation
from gui.views.first_run import ASKING_PAGE, FirstRun
from gui.views.flock_page import FlockPage
from gui.views.side_bar import Place
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import gone_to, press, until
from tests.gui.conftest import NoLogin, context_on
from tests.gui.machines import prepared
from tests.hosts.machine import Machine


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """The keeper."""
    made = prepared(tmp_path_factory.mktemp("keeper"), "acor")
    with made.agent("--name", "acor", "--port", "0"):
        made.said("flock", "create", "survey office")
        yield made


@pytest.fixture(scope="module")
def port(machine: Machine) -> int:
    """Where the keeper listens, as its invitations tell."""
    return parse_invitation(machine.said("flock", "invite")).addresses[0].port


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Machine]:
    made = prepared(tmp_path, "milhafre")
    with made.agent("--name", "milhafre", "--port", "0"):
        yield made


@pytest.fixture
def there(newcomer: Machine, qapp: object) -> Iterator[ViewContext]:
    """The context of the machine that wants to join."""
    with context_on(newcomer) as made:
        yield made


@pytest.fixture
def asking(
    qtbot: QtBot, machine: Machine, port: int, there: ViewContext, login: NoLogin
) -> Iterator[FirstRun]:
    """Its first run, from when the keeper was asked on."""
    until(qtbot, lambda: there.screen.node is not None)
    dialog = FirstRun(there, login)
    dialog.show()
    asked = Ask(f"127.0.0.1:{port}")
    there.bridge.ask(dialog, ASK, asked, dialog._asked, dialog._refused, 60.0)
    until(qtbot, lambda: dialog.pages.currentIndex() == ASKING_PAGE)
    yield dialog
    dialog.close()


def flock_page(window: Window) -> FlockPage:
    return gone_to(window, Place.FLOCK, FlockPage)


def shown_code(page: FlockPage) -> str:
    label = page.findChild(QLabel, "joinCode0")
    return label.text() if label is not None else ""


def test_both_compare_the_code_and_the_machine_belongs(
    qtbot: QtBot, context: ViewContext, window: Window, there: ViewContext, asking: FirstRun
) -> None:
    page = flock_page(window)
    until(qtbot, lambda: page.findChild(QPushButton, "admit0") is not None)
    assert shown_code(page) == asking.asking.code.text() != ""
    admit = certain(page.findChild(QPushButton, "admit0"))
    window.activateWindow()
    admit.setFocus()
    press(page, "admit0")
    until(qtbot, lambda: "lets this computer in" in asking.asking.state.text())
    press(asking, "askConfirm")
    until(qtbot, lambda: asking.pages.currentIndex() == 1)
    until(qtbot, lambda: "milhafre" in [each.name for each in page.rows.rows])
    until(qtbot, lambda: not page.requests.isVisible())
    focus = certain(QApplication.focusWidget())
    assert not window.side.isAncestorOf(focus)


def test_who_is_refused_is_told(
    qtbot: QtBot, context: ViewContext, window: Window, there: ViewContext, asking: FirstRun
) -> None:
    page = flock_page(window)
    until(qtbot, lambda: page.findChild(QPushButton, "refuse0") is not None)
    press(page, "refuse0")
    until(qtbot, lambda: asking.pages.currentIndex() == 0)
    assert "does not let this computer in" in asking.fault.sentence.text()
    until(qtbot, lambda: not page.requests.isVisible())


def test_a_request_is_withdrawn(
    qtbot: QtBot, context: ViewContext, window: Window, there: ViewContext, asking: FirstRun
) -> None:
    page = flock_page(window)
    until(qtbot, lambda: page.findChild(QPushButton, "admit0") is not None)
    press(asking, "askWithdraw")
    until(qtbot, lambda: asking.pages.currentIndex() == 0)
    until(qtbot, lambda: not page.requests.isVisible())
