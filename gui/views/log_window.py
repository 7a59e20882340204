"""The output of one task in a window of its own, live from whatever machine runs it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from agent.api.logs import TaskLog, TaskLogPart
from agent.api.work import TaskView
from gui.model.marks import state_words
from gui.theme.look import GRID
from gui.views.log_page import export_text, log_field
from gui.views.pieces import button, filter_field, quiet, row, strong
from gui.views.view_context import ViewContext
from gui.words import tr


class LogWindow(QWidget):
    """Follows until the run is over; search, copy, export."""

    def __init__(self, context: ViewContext, task: TaskView, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("logWindow")
        self.setWindowTitle(tr("{task} of {workflow}", task=task.name, workflow=task.workflow))
        self.resize(90 * GRID, 60 * GRID)
        self._name = f"{task.workflow}-{task.name}.log".replace("/", "-")
        self.text = log_field("taskLogText", tr("Output of {task}", task=task.name))
        self.note = quiet(state_words(task.state))
        self.note.setObjectName("taskLogNote")
        self.search: QLineEdit = filter_field("taskLogSearch", self._find_first)
        self.search.setPlaceholderText(tr("Search …"))
        self.search.returnPressed.connect(self._find_next)
        head = row(
            strong(task.name),
            self.note,
            self.search,
            button(tr("Copy"), "taskLogCopy", self._copy, "copy"),
            button(tr("Export …"), "taskLogExport", self._export, "export"),
        )
        head.insertStretch(2)
        head.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        lay = QVBoxLayout(self)
        lay.setContentsMargins(0, 0, 0, 0)
        lay.setSpacing(0)
        lay.addLayout(head)
        lay.addWidget(self.text, 1)
        QShortcut(QKeySequence("Esc"), self, self.close)
        QShortcut(QKeySequence("Ctrl+F"), self, self.search.setFocus)
        context.bridge.follow_log(self, TaskLog(task.task), self._took, self._failed)

    def _took(self, part: TaskLogPart) -> None:
        bar = self.text.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 4
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(part.text)
        if at_end:
            bar.setValue(bar.maximum())
        said = tr("ended") if part.over else tr("live")
        where = tr("on {host}", host=part.host) if part.host else ""
        self.note.setText(f"{said} {where}".strip())
        if part.over and not part.size_bytes:
            self.note.setText(tr("It has said nothing."))

    def _failed(self, sentence: str) -> None:
        self.note.setText(sentence)

    def _find_first(self, typed: str) -> None:
        self.text.moveCursor(QTextCursor.MoveOperation.Start)
        if typed:
            self.text.find(typed)

    def _find_next(self) -> None:
        if not self.text.find(self.search.text()):
            self.text.moveCursor(QTextCursor.MoveOperation.Start)
            self.text.find(self.search.text())

    def _copy(self) -> None:
        chosen = self.text.textCursor().selectedText().replace("\u2029", "\n")
        QGuiApplication.clipboard().setText(chosen or self.text.toPlainText())

    def _export(self) -> None:
        export_text(self, self.text.toPlainText(), self._name, self._failed)
