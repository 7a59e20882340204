"""The output of one task in a window of its own, live from whatever machine runs it.

Where there are several attempts, each can be chosen; of a machine that is off it is the copy of the
end that another one keeps, and the note says so.
"""

from __future__ import annotations

import time

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QComboBox, QWidget

from agent.api.history import RUNS, Runs, RunsReply
from agent.api.logs import TaskLog, TaskLogPart
from agent.api.work import TaskView
from gui.bridge.bridge import Task
from gui.model.marks import state_words
from gui.model.timeline import outcome_text
from gui.model.times import moment, size
from gui.theme.look import GRID
from gui.views.log_page import copy_text, export_text, log_field, write_at_end
from gui.views.pieces import button, column, filter_field, quiet, row, set_up, strong
from gui.views.view_context import ViewContext
from gui.words import plain_tip, tr

TIP = Qt.ItemDataRole.ToolTipRole


class LogWindow(QWidget):
    """Follows an attempt until it is over; attempts to choose from, search, copy, export."""

    def __init__(self, context: ViewContext, task: TaskView, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._context, self._of = context, task.task
        self._following: Task | None = None
        self._turn = 0
        workflow = context.screen.called(task.workflow)
        heading = tr("{task} of {workflow}", task=task.name, workflow=workflow)
        away = Qt.WidgetAttribute.WA_DeleteOnClose
        set_up(self, "logWindow", windowTitle=heading, attribute=away)
        self.resize(90 * GRID, 60 * GRID)
        name = f"{workflow}-{task.name}.log".replace("/", "-")
        self.text = log_field("taskLogText", tr("Output of {task}", task=task.name))
        self.note = quiet(state_words(task.state), "taskLogNote", wrap=True)
        self.attempts = set_up(QComboBox(), "taskLogAttempts", tr("Attempt"), visible=False)
        self.attempts.currentIndexChanged.connect(lambda _: self._follow())
        self.search = filter_field("taskLogSearch", self._find_first, tr("Search …"))
        self.search.returnPressed.connect(self._find_next)
        clear = tr("Not found: clear the search")
        self.missed = button(clear, "taskLogMissed", self.search.clear, flat=True)
        self.missed.setVisible(False)
        copy = button(tr("Copy"), "taskLogCopy", self._copy, "copy")
        export = button(
            tr("Export …"),
            "taskLogExport",
            lambda: export_text(self, self.text, name, self.note.setText),
            "export",
        )
        acts = (self.attempts, self.missed, self.search, copy, export)
        margins = (2 * GRID, GRID, 2 * GRID, GRID)
        head = row(strong(task.name), "stretch", *acts, margins=margins)
        said = row((self.note, 1), margins=(2 * GRID, 0, 2 * GRID, GRID))
        column(head, said, (self.text, 1), on=self, spacing=0)
        QShortcut(QKeySequence("Esc"), self, self.close)
        QShortcut(QKeySequence("Ctrl+F"), self, self.search.setFocus)
        self._follow()
        self._ask_attempts()

    def _ask_attempts(self) -> None:
        context = self._context
        context.bridge.ask(self, RUNS, Runs(task=self._of), self._told_attempts, self.note.setText)

    def _told_attempts(self, reply: RunsReply) -> None:
        """The latest first, which is what is shown until another one is chosen."""
        runs = [run for task in reply.tasks for run in reversed(task.runs)]
        chosen = self.attempts.currentData()
        self.attempts.blockSignals(True)
        self.attempts.clear()
        for number, run in zip(range(len(runs), 0, -1), runs, strict=True):
            begun = moment(run.begun_ms / 1000, time.time())
            said = tr("{number}: {host}, {moment}", number=number, host=run.host, moment=begun)
            self.attempts.addItem(said, run.run)
            self.attempts.setItemData(self.attempts.count() - 1, plain_tip(outcome_text(run)), TIP)
        self.attempts.setCurrentIndex(max(0, self.attempts.findData(chosen)))
        self.attempts.blockSignals(False)
        self.attempts.setVisible(len(runs) > 1)

    def _follow(self) -> None:
        """From its beginning; what is still told of another attempt is let be."""
        if self._following is not None:
            self._following.cancel()
            self.text.clear()
            self.note.setText("")
        self._turn += 1
        turn = self._turn

        def took(part: TaskLogPart) -> None:
            if turn == self._turn:
                self._took(part)

        wanted = TaskLog(self._of, self.attempts.currentData() or "")
        self._following = self._context.bridge.follow_log(self, wanted, took, self.note.setText)

    def _took(self, part: TaskLogPart) -> None:
        write_at_end(self.text, lambda cursor: cursor.insertText(part.text))
        if self.missed.isVisibleTo(self):
            self._find_first(self.search.text())  # it may be in what came
        said = tr("ended") if part.over else tr("live")
        where = tr("on {host}", host=part.host) if part.host else ""
        if part.over and not part.size_bytes:
            said, where = tr("It has said nothing."), ""
        if part.copy_on:
            at = moment(part.copied_ms / 1000, time.time())
            said, where = (
                tr("Its machine is off: copy on {host}, {moment}", host=part.copy_on, moment=at),
                "",
            )
        if part.begins:
            where = tr("without its first {size}", size=size(part.begins))
        self.note.setText(f"{said} {where}".strip())

    def _find_first(self, typed: str) -> None:
        self.text.moveCursor(QTextCursor.MoveOperation.Start)
        self.missed.setVisible(bool(typed) and not self.text.find(typed))

    def _find_next(self) -> None:
        if not self.text.find(self.search.text()):
            self._find_first(self.search.text())

    def _copy(self) -> None:
        """What the person has selected, else all; what the search has found is no selection."""
        cursor = self.text.textCursor()
        if cursor.selectedText().casefold() == self.search.text().casefold():
            cursor.clearSelection()
            self.text.setTextCursor(cursor)
        copy_text(self.text)
