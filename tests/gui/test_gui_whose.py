"""Mine first: the list, the badge, the tray and the news are of my work; everybody's is one click away."""

from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from agent.api import session
from agent.api.values import TaskState
from agent.api.work import SUBMIT, Submit, WorkflowView
from gui import settings
from gui.model.screen import Screen
from gui.model.tray import TrayState, gates_waiting, state_of
from gui.model.workflows import whose
from gui.views.settings_dialog import SettingsDialog
from gui.views.side_bar import Place
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.gui.acts import fresh, id_of, press, until, waiting
from tests.gui.conftest import NoLogin
from tests.gui.values import happened, node, shown, status, task, workflow

WAITS = {TaskState.WAITING: 1}


def seen_by(me: str, *views: WorkflowView, **changes: Any) -> Screen:
    screen = Screen(me)
    screen.fold([status(*views, node=node(**changes))])
    return screen


@pytest.mark.parametrize(
    ("me", "told", "mine"),
    [
        ("ana", {"submitter": "ana", "host_node": "n1"}, True),
        ("ana", {"submitter": "bia", "host_node": "n1"}, False),
        ("ana", {"submitter": "ana", "host_node": "n2"}, False),
        ("ana", {"submitter": "acor", "host_node": "n1"}, True),  # nobody put a name to it
        ("ana", {"submitter": "", "host_node": "n1"}, True),
        ("", {"submitter": "ana", "host_node": "n1"}, True),  # nobody knows who looks
        ("", {"submitter": "ana", "host_node": "n2"}, False),
        ("ana", {"submitter": "ana", "host": "acor"}, True),  # an agent of before tells no ids
        ("ana", {"submitter": "ana", "host": "milhafre"}, False),
    ],
)
def test_whose_a_workflow_is(me: str, told: dict[str, str], mine: bool) -> None:
    screen = seen_by(me, workflow("w", counts=WAITS, gates=1, **told))
    assert screen.is_mine(screen.workflows["w"]) is mine
    assert (screen.mine.gates, screen.totals.gates) == (int(mine), 1)
    assert gates_waiting(screen) == int(mine)
    assert (state_of(screen) is TrayState.NEEDS_YOU) is mine
    screen.minds_all = True
    assert gates_waiting(screen) == 1


def test_news_are_of_my_work_even_where_it_was_never_read() -> None:
    screen = seen_by("ana", workflow("w", submitter="bia", host_node="n1"))
    rows: list[tuple[session.Happening, int]] = [
        (session.WorkflowEnded("w", "failed", {}), 0),
        (session.WorkflowEnded("x", "failed", {}, "line 9", "bia", "n1"), 0),
        (session.WorkflowEnded("x", "failed", {}, "line 9", "ana", "n2"), 0),
        (session.WorkflowEnded("x", "failed", {}, "line 9", "ana", "n1"), 1),
        (session.WorkflowEnded("x", "failed", {}), 1),  # an agent of before
        (session.GateWaiting("g", "look", "x", "", "line 9", "bia", "n1"), 0),
        (session.GateWaiting("g", "look", "x", "", "line 9", "ana", "n1"), 1),
        (session.ProgramWaiting("map@1", "bia"), 1),
    ]
    told = [screen.fold([happened(number, each)]).news for number, (each, _) in enumerate(rows, 9)]
    assert [len(news) for news in told] == [expected for _, expected in rows]
    assert told[3][0].title == "line 9 failed"
    screen.minds_all = True
    assert len(screen.fold([happened(99, rows[0][0])]).news) == 1


def test_a_list_that_is_read_again_counts_mine_again() -> None:
    mine = workflow("w", counts=WAITS, gates=1, submitter="ana")
    screen = seen_by("ana", mine, workflow("x", counts=WAITS, gates=1, submitter="bia"))
    screen.fold([shown(workflow("y", counts=WAITS, gates=1), task("g", TaskState.WAITING))])
    assert (screen.mine.gates, screen.totals.gates) == (2, 3)
    screen.fold([status(mine)])
    assert (screen.mine.gates, screen.totals.gates) == (1, 1)


@pytest.mark.parametrize(
    ("submitter", "host", "said"),
    [("ana", "acor", "ana on acor"), ("acor", "acor", "acor"), ("", "acor", "acor"), ("ana", "", "ana")],
)  # fmt: skip
def test_a_submitter_is_a_person_and_a_machine(submitter: str, host: str, said: str) -> None:
    assert whose(workflow(submitter=submitter, host=host)) == said


def test_the_list_is_mine_and_everybodys_is_one_click_away(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin
) -> None:
    until(qtbot, lambda: context.screen.node is not None)
    context.screen.me = "ana"
    page = window.workflows
    theirs, own = f"theirs {fresh()}", f"mine {fresh()}"

    def place(name: str) -> int:
        return page.rows.place_of(id_of(context, name))

    context.ask(context, SUBMIT, Submit(theirs, (waiting(),), submitter="bia"))
    until(qtbot, lambda: bool(id_of(context, theirs)))
    assert place(theirs) == -1
    assert page.others.isVisible()
    count = window.side.buttons[Place.WORKFLOWS]
    assert "wait" not in count.accessibleName()
    context.ask(context, SUBMIT, Submit(own, (waiting(),), submitter="ana"))
    until(qtbot, lambda: place(own) == 0)
    assert place(theirs) == -1
    until(qtbot, lambda: "1 wait" in count.accessibleName())
    press(page, "workflows_everybodys")
    assert (place(own), place(theirs)) == (0, 1)
    again = Window(context, login)
    qtbot.addWidget(again)
    assert again.workflows.rows.place_of(id_of(context, theirs)) == 1
    press(page, "workflows_mine")
    assert place(theirs) == -1
    window.show_there(
        Place.WORKFLOWS, id_of(context, theirs)
    )  # a door that leads to another's work opens
    assert place(theirs) == 1
    dialog = SettingsDialog(context, login)
    qtbot.addWidget(dialog)
    press(dialog, "newsEverybody")
    assert settings.minds_all()
    until(qtbot, lambda: "2 wait" in count.accessibleName())
