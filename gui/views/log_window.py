"""The output of one task in a window of its own, live from whatever machine runs it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QWidget

from agent.api.logs import TaskLog, TaskLogPart
from agent.api.work import TaskView
from gui.model.marks import state_words
from gui.theme.look import GRID
from gui.views.log_page import copy_text, export_text, log_field, write_at_end
from gui.views.pieces import button, column, filter_field, quiet, row, set_up, strong
from gui.views.view_context import ViewContext
from gui.words import tr


class LogWindow(QWidget):
    """Follows until the run is over; search, copy, export."""

    def __init__(self, context: ViewContext, task: TaskView, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        workflow = context.screen.called(task.workflow)
        heading = tr("{task} of {workflow}", task=task.name, workflow=workflow)
        away = Qt.WidgetAttribute.WA_DeleteOnClose
        set_up(self, "logWindow", windowTitle=heading, attribute=away)
        self.resize(90 * GRID, 60 * GRID)
        name = f"{workflow}-{task.name}.log".replace("/", "-")
        self.text = log_field("taskLogText", tr("Output of {task}", task=task.name))
        self.note = quiet(state_words(task.state), "taskLogNote")
        self.search = filter_field("taskLogSearch", self._find_first, tr("Search …"))
        self.search.returnPressed.connect(self._find_next)
        copy = button(tr("Copy"), "taskLogCopy", lambda: copy_text(self.text), "copy")
        export = button(
            tr("Export …"),
            "taskLogExport",
            lambda: export_text(self, self.text, name, self.note.setText),
            "export",
        )
        acts = (self.search, copy, export)
        margins = (2 * GRID, GRID, 2 * GRID, GRID)
        head = row(strong(task.name), self.note, "stretch", *acts, margins=margins)
        column(head, (self.text, 1), on=self, spacing=0)
        QShortcut(QKeySequence("Esc"), self, self.close)
        QShortcut(QKeySequence("Ctrl+F"), self, self.search.setFocus)
        context.bridge.follow_log(self, TaskLog(task.task), self._took, self.note.setText)

    def _took(self, part: TaskLogPart) -> None:
        write_at_end(self.text, lambda cursor: cursor.insertText(part.text))
        said = tr("ended") if part.over else tr("live")
        where = tr("on {host}", host=part.host) if part.host else ""
        self.note.setText(f"{said} {where}".strip())
        if part.over and not part.size_bytes:
            self.note.setText(tr("It has said nothing."))

    def _find_first(self, typed: str) -> None:
        self.text.moveCursor(QTextCursor.MoveOperation.Start)
        if typed:
            self.text.find(typed)

    def _find_next(self) -> None:
        if not self.text.find(self.search.text()):
            self.text.moveCursor(QTextCursor.MoveOperation.Start)
            self.text.find(self.search.text())
