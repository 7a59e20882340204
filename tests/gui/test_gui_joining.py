"""Who asks to join, and asking to join: what the window shows of it and says to the agent, at both ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from agent.api.admission import (
    ASK,
    Ask,
    AskChanged,
    AskView,
    JoinRequested,
    JoinRequestView,
    NearbyFlock,
    NearbyReply,
    RequestsReply,
)
from agent.net.invitation import parse_invitation
from gui.model.news import NewsKind
from gui.model.tray import TrayState, state_of, tray_of
from gui.views.first_run import ASKING_PAGE, FirstRun
from gui.views.flock_page import FlockPage
from gui.views.side_bar import Place
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import gone_to, press, until
from tests.gui.conftest import NoLogin, context_on
from tests.gui.machines import prepared
from tests.gui.values import NOW_S, connected, happened, status
from tests.hosts.machine import Machine

CODE = "418 230"


def request(**changes: object) -> JoinRequestView:
    now_ms = int(time.time() * 1000)
    values = {
        "request": "r1", "name": "garajau", "user": "rui", "address": "10.0.0.7", "code": CODE,
        "keeper": "acor", "asked_ms": now_ms, "expires_ms": now_ms + 300_000,
    }  # fmt: skip
    return JoinRequestView(**{**values, **changes})  # type: ignore[arg-type]


def asks(*, may_admit: bool = True, **changes: object) -> RequestsReply:
    return RequestsReply((request(**changes),), may_admit, ("acor",))


def nobody() -> RequestsReply:
    return RequestsReply((), may_admit=True)


def ask(state: str, **changes: object) -> AskView:
    values = {"state": state, "flock": "survey office", "keeper": "acor", "code": CODE}
    return AskView(**{**values, **changes})  # type: ignore[arg-type]


# -- somebody asks -------------------------------------------------------------------------


def test_who_asks_stands_above_the_machines_with_the_code(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    until(qtbot, lambda: context.screen.requests is not None or context.screen.peers is not None)
    page = gone_to(window, Place.FLOCK, FlockPage)
    context.take((asks(),))
    assert page.requests.isVisible()
    code = certain(page.findChild(QLabel, "joinCode0"))
    assert code.text() == CODE
    plain = Qt.TextFormat.PlainText  # names are the words of strangers, and may look like markup
    assert {each.textFormat() for each in page.requests.findChildren(QLabel)} == {plain}
    admit, refuse = (page.findChild(QPushButton, name) for name in ("admit0", "refuse0"))
    assert admit is not None
    assert refuse is not None
    assert admit.accessibleName() == "Admit garajau"
    assert "want to join" in window.side.buttons[Place.FLOCK].accessibleName()
    context.take((nobody(),))
    assert not page.requests.isVisible()


def test_only_a_keeper_can_answer(qtbot: QtBot, context: ViewContext, window: Window) -> None:
    page = gone_to(window, Place.FLOCK, FlockPage)
    context.take((asks(may_admit=False),))
    assert page.findChild(QPushButton, "admit0") is None
    said = [each.text() for each in page.requests.findChildren(QLabel)]
    assert "It can be answered at acor." in said


def test_a_request_is_told_once_and_the_tray_asks_for_its_person() -> None:
    screen = connected(status(), asks())
    assert state_of(screen) is TrayState.NEEDS_YOU
    texts = [entry.text for entry in tray_of(screen, NOW_S).entries]
    assert "1 machine want to join the flock" in texts  # plurals are the translator's
    told = screen.fold([happened(9, JoinRequested("r1", "garajau", "rui", CODE, "acor"))])
    (news,) = told.news
    assert news.kind is NewsKind.JOIN
    assert news.title == "garajau wants to join the flock"
    assert CODE in news.sentence
    screen.fold([asks(admitted=True)])
    assert state_of(screen) is not TrayState.NEEDS_YOU


def test_who_asked_is_told_that_the_code_is_to_be_confirmed() -> None:
    screen = connected(status())
    told = screen.fold([happened(9, AskChanged("admitted", "survey office"))])
    (news,) = told.news
    assert news.title == "survey office lets this computer in"
    assert screen.fold([happened(10, AskChanged("waiting", "survey office"))]).news == []


# -- asking --------------------------------------------------------------------------------


def outside(context: ViewContext, login: NoLogin, window: Window) -> FirstRun:
    """As it is shown where the computer belongs to no flock yet."""
    if context.screen.node is not None:
        context.screen.node = replace(context.screen.node, flock="")
    return FirstRun(context, login, window)


def test_flocks_nearby_are_listed_and_one_is_asked(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin
) -> None:
    dialog = outside(context, login, window)
    dialog.show()
    flocks = (
        NearbyFlock("f1", "survey office", 9, askable=True),
        NearbyFlock("f2", "", 2, askable=False),
    )
    dialog.nearby.tell(NearbyReply(flocks))
    assert [dialog.nearby.list.item(row).text() for row in range(2)] == [
        "survey office · 9 machines",
        "a flock that has not told its name · 2 machines · nobody there can be asked",
    ]
    dialog.nearby.list.setCurrentRow(0)
    assert dialog.ask_it.isChecked()
    dialog._asked(ask("waiting"))
    assert (dialog.pages.currentIndex(), dialog.asking.code.text()) == (ASKING_PAGE, CODE)
    assert dialog.step.text() == "Step 1 of 3"
    context.take((ask("admitted"),))
    assert "lets this computer in" in dialog.asking.state.text()
    context.take((ask("joined"),))
    assert dialog.pages.currentIndex() == 1
    dialog.close()


def test_a_flock_that_is_heard_does_not_choose_itself(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin
) -> None:
    dialog = FirstRun(context, login, window)
    dialog.offer("wingbeat-invitation")
    dialog.nearby.tell(NearbyReply((NearbyFlock("f1", "survey office", 9, askable=True),)))
    assert dialog.join_it.isChecked()
    meant = certain(dialog.nearby.meant())
    assert meant.flock == "f1"
    dialog.close()


def test_who_is_refused_is_told_and_can_choose_again(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin
) -> None:
    dialog = outside(context, login, window)
    dialog.show()
    dialog._asked(ask("waiting"))
    context.take((ask("refused"),))
    assert dialog.pages.currentIndex() == 0
    assert "acor does not let this computer in" in dialog.fault.sentence.text()
    dialog.close()


def test_a_network_without_flocks_says_what_to_do(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin
) -> None:
    dialog = FirstRun(context, login, window)
    dialog.nearby.tell(NearbyReply(()))
    assert "Ask for an invitation" in dialog.nearby.note.text()
    dialog.nearby.tell(NearbyReply((), "Multicast is switched off here."))
    assert dialog.nearby.note.text() == "Multicast is switched off here."
    dialog.close()


# -- two windows: two people meet over the code ----------------------------------------------


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
    until(qtbot, lambda: "milhafre" in [each.view.name for each in page.rows.rows])
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
