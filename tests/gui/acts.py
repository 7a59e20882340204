"""What tests of the window do again and again: wait, submit, find, press."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TypeVar

from PySide6.QtWidgets import QAbstractButton, QWidget
from pytestqt.qtbot import QtBot

from agent.api.work import SUBMIT, Submit, Task, TaskView, WorkflowView
from gui.views.side_bar import Place
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.hosts.waiting import EVENTUALLY_S_MAX

WITHIN_MS = round(1000 * EVENTUALLY_S_MAX)
_NUMBERS = count(1)
Page = TypeVar("Page", bound=QWidget)


def fresh() -> int:
    """A number that no other workflow of this run has."""
    return next(_NUMBERS)


def until(qtbot: QtBot, true: Callable[[], bool]) -> None:
    qtbot.waitUntil(true, timeout=WITHIN_MS)


def submit(qtbot: QtBot, context: ViewContext, *tasks: Task) -> str:
    """The id of a workflow of a new name, known to the screen with its tasks."""
    name = f"line {fresh()}"
    until(qtbot, lambda: context.screen.node is not None)
    context.ask(context, SUBMIT, Submit(name, tasks, submitter="ana"))
    found: list[str] = []

    def known() -> bool:
        views = context.screen.workflows.values()
        found[:] = [each.workflow for each in views if each.name == name]
        return bool(found) and len(context.screen.tasks.get(found[0], {})) == len(tasks)

    until(qtbot, known)
    return found[0]


def id_of(context: ViewContext, name: str) -> str:
    """The id of the workflow of this name; empty where there is none."""
    views = context.screen.workflows.values()
    return next((each.workflow for each in views if each.name == name), "")


def view_of(context: ViewContext, name: str) -> WorkflowView:
    return context.screen.workflows[name]


def task_of(context: ViewContext, name: str, task: str) -> TaskView:
    return next(each for each in context.screen.tasks_of(name) if each.name == task)


def waiting(name: str = "look") -> Task:
    return Task(name, gate=True, asks="look at the wires")


def gone_to(window: Window, place: Place, kind: type[Page]) -> Page:
    """The page that is shown there."""
    window.go(place)
    page = window.places[place]
    assert isinstance(page, kind)
    return page


def press(widget: object, name: str) -> None:
    found = widget.findChild(QAbstractButton, name)  # type: ignore[attr-defined]
    assert found is not None, name
    assert found.isEnabled(), name
    found.click()
