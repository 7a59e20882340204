"""Queue: what runs where, what waits and why, in order. Repainted at most twice a second."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from gui.model.queue import Queue, QueueRow
from gui.model.screen import Changes
from gui.views.columns import queue_columns
from gui.views.menus import add_entry, context_menu
from gui.views.pieces import (
    HEAD_MARGINS,
    Empty,
    action,
    button,
    column,
    filter_field,
    quiet,
    row,
    timer,
    title,
)
from gui.views.rows import Rows
from gui.views.side_bar import Place
from gui.views.table import Table
from gui.views.task_details import TaskDetails
from gui.views.task_menu import TaskActs, add_priorities, task_menu
from gui.views.view_context import ViewContext
from gui.words import tr, tr_n

PAUSE_MS = 500


class QueuePage(QWidget):
    """All that is still to be done."""

    details_wanted = Signal(object)
    """What is to be done with the details of the workflow that was gone to."""

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._queue = context, Queue()
        self._news: set[str] | None = None
        """Workflows that changed since the rows were made; none: all."""
        self.rows = Rows(
            queue_columns(),
            lambda each: str(each.task.task),
            lambda each: str(each.task.name),
            self,
        )
        self.table = Table(self.rows, "queue", tr("Queue"))
        self.table.opened.connect(self._open)
        self.filter = filter_field("queueFilter", lambda _: self._timer.start())
        self.summary = quiet()
        self.log = button(tr("Log"), "queueLog", self._log, "log")
        self.empty = Empty(
            "queue",
            tr("Nothing is to be done"),
            tr("Tasks stand here from when they are submitted until they have ended: first those "
               "that run, then those that wait, in the order in which the flock takes them."),
            button(tr("Submit a workflow …"), "queueSubmit", lambda: context.submit.emit(None), "submit"),
        )  # fmt: skip
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.table)
        acts = (self.filter, self.log)
        head = row(title(tr("Queue")), self.summary, "stretch", *acts, margins=HEAD_MARGINS)
        column(head, (self._stack, 1), on=self, spacing=0)
        action(self, "Ctrl+F", "Ctrl+F", self.filter.setFocus)
        self._timer = timer(self, PAUSE_MS, self._show, once=True)
        self.table.chosen.connect(self._chosen)
        self.log.setEnabled(False)
        self.begins_at = self.table
        context.changed.connect(self._changed)

    def _chosen(self, chosen: QueueRow | None) -> None:
        """Of several that wait there is no log."""
        self.log.setEnabled(chosen is not None and len(chosen.tasks) == 1)

    def _changed(self, changes: Changes) -> None:
        relevant = changes.workflows or changes.tasks or changes.everything
        if changes.everything:
            self._news = None
        elif self._news is not None:
            self._news |= changes.workflows | changes.tasks
        if relevant and self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Show the queue as it is by now."""
        super().showEvent(event)
        QTimer.singleShot(0, self, self._show)

    def tick(self) -> None:
        """Show all texts anew, for time has passed."""
        self.rows.tick()

    def _show(self) -> None:
        screen = self._context.screen
        rows = self._queue.rows(screen.workflows, screen.tasks, self.filter.text(), self._news)
        self._news = set()
        self.rows.show(rows)
        self._stack.setCurrentWidget(self.table if self._queue.total else self.empty)
        running, gates = screen.totals.running, screen.totals.gates
        parts = [
            tr_n("%n task(s) run", "", running),
            tr_n("%n to be done", "tasks", self._queue.total),
        ]
        if gates:
            parts.append(tr_n("%n wait(s) for you", "gates", gates))
        self.summary.setText(" · ".join(parts) if self._queue.total else "")

    def _open(self, each: QueueRow | None) -> None:
        if each is not None:
            key = f"{each.workflow.workflow}\n{each.task.task}"
            self._context.go_to.emit(Place.WORKFLOWS, key)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the chosen task, if the mouse is over the table."""
        if self.table.rect().contains(self.table.mapFrom(self, event.pos())):
            self.menu_at(event.globalPos())

    def menu_at(self, place: QPoint) -> QMenu | None:
        """Open the menu of the chosen task, or of all that its row stands for, at this place of the
        screen, and return it without waiting; None, with nothing opened, if none is chosen. Entries
        that need the workflow's page lead there first."""
        each: QueueRow | None = self.table.current()
        if each is None:
            return None

        def there(act: Callable[[TaskDetails], object]) -> None:
            self._open(each)
            self.details_wanted.emit(act)

        if len(each.tasks) > 1:
            return self._menu_of_many(each, place)
        acts = TaskActs(
            lambda _: there(lambda details: details.show_why()),
            lambda task: there(lambda details: details.mark_done(task)),
            lambda task: there(lambda details: details.open_result(task)),
            lambda _: there(lambda details: details.try_again()),
            lambda _: there(lambda details: details.cancel.click()),
        )
        return task_menu(self, self._context, each.task, acts, place)

    def _menu_of_many(self, each: QueueRow, place: QPoint) -> QMenu:
        """What can be done with tasks that are alike: all of them at once."""
        menu = context_menu(self, "taskMenu")
        workflow, tasks = each.workflow.workflow, tuple(task.task for task in each.tasks)

        def cancel() -> None:
            self._open(each)
            self.details_wanted.emit(lambda details: details.cancel_wanted.emit(workflow, tasks))

        add_entry(menu, "why", tr("Why"), lambda: self._open(each), "why")
        said = tr_n("Cancel all %n", "tasks", len(tasks))
        add_entry(menu, "cancel", said, cancel, "cancel")
        add_priorities(menu, lambda value: self._context.set_priority(workflow, value, tasks))
        menu.popup(place)
        return menu

    def _log(self) -> None:
        each = self.table.current()
        if each is not None:
            self._context.log_of.emit(each.task)
