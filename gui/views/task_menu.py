"""What one can do with a task, wherever it stands: in the graph, among the tasks, in the queue.

The same entries everywhere, so that a person learns them once. What cannot be done now is shown and
disabled, because an entry that comes and goes is looked for in vain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget

from agent.api.values import ENDED, PRIORITY_NAMES, NamedPriority, TaskState
from agent.api.work import TaskView
from gui.model.workflows import has_log
from gui.theme.drawing import icon
from gui.views.menus import add_copy, add_entry, context_menu
from gui.views.view_context import ViewContext
from gui.words import tr


@dataclass(frozen=True, slots=True)
class TaskActs:
    """What the place where the task stands does; the rest is the same everywhere."""

    show_why: Callable[[TaskView], object]
    mark_done: Callable[[TaskView], object]
    open_result: Callable[[TaskView], object]
    retry: Callable[[TaskView], object]
    cancel: Callable[[TaskView], object]


def task_menu(
    parent: QWidget, context: ViewContext, task: TaskView, acts: TaskActs, place: QPoint
) -> QMenu:
    """Open the menu of a task at this place of the screen, and return it without waiting; what
    cannot be done now is disabled. ``parent`` owns it."""
    menu = context_menu(parent, "taskMenu")
    ended = task.state in ENDED
    has_result = any(not each.external for each in task.outputs)
    for name, text, icon_name, able, act in (
        ("log", tr("Log"), "log", has_log(task), context.log_of.emit),
        ("why", tr("Why"), "why", True, acts.show_why),
        ("done", tr("Mark done"), "check", task.state is TaskState.WAITING, acts.mark_done),
        ("result", tr("Open result"), "folder", has_result, acts.open_result),
        ("", "", "", False, None),
        ("again", tr("Do this step once more …"), "retry", task.state is TaskState.TERMINATED,
         lambda task: context.once_more.emit(task.workflow, (task.name,))),
        ("retry", tr("Retry from here"), "retry", ended and task.state is not TaskState.TERMINATED,
         acts.retry),
        ("cancel", tr("Cancel"), "cancel", not ended, acts.cancel),
    ):  # fmt: skip
        if act is None:
            menu.addSeparator()
        else:
            add_entry(menu, name, text, partial(act, task), icon_name, able=able)
    own = (task.task,)
    inner = add_priorities(menu, lambda value: context.set_priority(task.workflow, value, own))
    inner.setEnabled(not (ended or task.gate))
    menu.addSeparator()
    add_copy(menu, task.task)
    menu.popup(place)
    return menu


def add_priorities(menu: QMenu, act: Callable[[NamedPriority], object]) -> QMenu:
    """Add a submenu of priorities to this menu, which calls ``act`` with the one chosen, and return
    it."""
    inner = menu.addMenu(icon("priority"), tr("Priority"))
    inner.setObjectName("priority")
    list_priorities(inner, act)
    return inner


def list_priorities(menu: QMenu, act: Callable[[NamedPriority], object]) -> None:
    """Add an entry for each of three priorities, interactive, low and one between, which calls
    ``act`` with its number."""
    for text, value in (
        (tr("Interactive"), PRIORITY_NAMES["interactive"]),
        (tr("Between"), sum(PRIORITY_NAMES.values()) // 2),
        (tr("Low"), PRIORITY_NAMES["low"]),
    ):
        add_entry(menu, f"priority {value}", text, partial(act, value))
