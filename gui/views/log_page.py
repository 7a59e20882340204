"""Log: the agent's own, filtered and followed; and the output of any task of any machine.

The agent answers as soon as there is more, so following costs nothing while nothing is said.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QHideEvent,
    QShowEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QPlainTextEdit,
    QWidget,
)

from agent.api.logs import AGENT_LOG, AgentLog, AgentLogReply, LogLine, Severity
from agent.client import Client
from gui.bridge.bridge import Task
from gui.model.screen import Screen
from gui.model.times import exact
from gui.theme.look import look
from gui.views.choosing import save_text
from gui.views.pieces import (
    HEAD_MARGINS,
    SELECTABLE,
    action,
    column,
    filter_field,
    quiet,
    row,
    set_up,
    timer,
    title,
    tool,
)
from gui.views.view_context import ViewContext
from gui.words import tr

LINES_MAX = 5_000
LINES_FIRST = 500
LINES_AT_ONCE, WRITING_PAUSE_MS = 100, 4
WAIT_S = 20.0
TYPING_PAUSE_MS = 300
NO_MARK = "\N{NO-BREAK SPACE}"
MARKS = {"warning": "\N{BLACK UP-POINTING TRIANGLE}", "error": "\N{MULTIPLICATION X}"}
"""Before a line: severity is told by shape first, then by colour."""


class LogPage(QWidget):
    """The agent's log, filtered and followed."""

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._task: Task | None = None
        self._turn = 0
        self._read = False
        self._lines: list[LogLine] = []
        self._unwritten: deque[LogLine] = deque()
        self._writing = timer(self, WRITING_PAUSE_MS, self._write, once=True)
        self._typing = timer(self, TYPING_PAUSE_MS, self._begin, once=True)
        severities_ = [(text, value) for value, text in severities()]
        self.severity = _list("logSeverity", tr("Least severity"), *severities_)
        self.severity.setCurrentIndex(1)
        self.machine = machine_choice("logMachine", tr("Whose log"))
        for each in (self.severity, self.machine):
            each.currentIndexChanged.connect(self._begin)
        hint = tr("Task, machine or text …")
        self.filter = filter_field("logFilter", lambda _: self._typing.start(), hint)
        self.follow = set_up(
            QCheckBox(tr("Follow")), "logFollow", checked=True, toggled=self._follow_changed
        )
        self.text = log_field("agentLog", tr("Log of the agent"))
        self.note = quiet()
        copy = tool(tr("Copy"), "logCopy", lambda: copy_text(self.text), "copy")
        export = tool(
            tr("Export …"),
            "logExport",
            lambda: export_text(self, self.text, "wingbeat.log", self.note.setText),
            "export",
        )
        choices = (self.machine, self.severity, self.filter, self.follow, copy, export)
        head = row(title(tr("Log")), self.note, "stretch", *choices, margins=HEAD_MARGINS)
        column(head, (self.text, 1), on=self, spacing=0)
        action(self, "Ctrl+F", "Ctrl+F", self.filter.setFocus)
        self.begins_at = self.text
        look().changed.connect(self._show_all)
        context.changed.connect(self._changed)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to follow the log, from its last lines on, for somebody looks."""
        super().showEvent(event)
        self._tell_machines()
        self._begin()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop following the log, for nobody looks."""
        super().hideEvent(event)
        self._end()

    def _changed(self, changes: Any) -> None:
        if changes.flock:
            self._tell_machines()
        if changes.connection and self.isVisible() and self._context.screen.absence is None:
            self._begin()

    def _tell_machines(self) -> None:
        """List the machines that can be asked now; the one that is read stays, even when it has
        gone."""
        offer_machines(self.machine, linked_names(self._context.screen), self.machine.currentData())

    def _begin(self) -> None:
        self._end()
        if not self.isVisible():
            return
        self._lines.clear()
        self._unwritten.clear()
        self.text.clear()
        wish = AgentLog(
            severity=self.severity.currentData(),
            containing=self.filter.text().strip(),
            limit=LINES_FIRST,
        )
        bridge = self._context.bridge
        self._turn, self._read = self._turn + 1, False
        turn = self._turn

        def took(reply: AgentLogReply) -> None:
            if turn == self._turn:  # what was under way when another log was chosen is not of it
                self._took(reply)

        self._task = bridge.client_work(
            self,
            lambda client: follow_agent_log(
                client, wish, lambda reply: bridge.tell(self, took, reply)
            ),
            None,
            self.note.setText,
            self.machine.currentData(),
        )

    def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _took(self, reply: AgentLogReply) -> None:
        self._read = True
        if not self.follow.isChecked():
            self._end()
        self._lines = [*self._lines, *reply.lines][-LINES_MAX:]
        self._unwritten.extend(reply.lines)
        self._write()
        self.note.setText("" if self._lines else tr("No line is like that"))

    def _follow_changed(self, on: bool) -> None:
        if on:
            self._begin()
        elif self._read:
            self._end()

    def _write(self) -> None:
        """Some of what there is to write, the rest when the window has come to other things."""
        count = min(LINES_AT_ONCE, len(self._unwritten))
        append(self.text, [self._unwritten.popleft() for _ in range(count)])
        if self._unwritten:
            self._writing.start()

    def _show_all(self) -> None:
        self.text.clear()
        self._unwritten = deque(self._lines)
        self._write()


async def follow_agent_log(
    client: Client,
    wish: AgentLog,
    took: Callable[[AgentLogReply], object],
) -> None:
    """Tell ``took`` the last lines that are as wished, none perhaps, then new ones as they are
    written, until this is called off; never returns. Raises ``ClientError``."""
    reply = await client.call(AGENT_LOG, wish)
    took(reply)
    while True:
        reply = await client.call(
            AGENT_LOG,
            AgentLog(reply.after, wish.severity, wish.containing, wish.limit, WAIT_S),
        )
        if reply.lines:
            took(reply)


def severities() -> tuple[tuple[Severity, str], ...]:
    """Return the severities with their words, from the least on."""
    return (
        ("debug", tr("Everything")),
        ("info", tr("Events")),
        ("warning", tr("Warnings")),
        ("error", tr("Errors")),
    )


def log_field(name: str, accessible: str) -> QPlainTextEdit:
    """Return a field for many lines that can only be read, in letters of one width; of more than
    ``LINES_MAX`` the oldest fall out."""
    font = QFont()  # only what is set here is kept when the system changes its font
    font.setFamilies(["DejaVu Sans Mono", "Cascadia Mono", "Consolas", "monospace"])
    font.setStyleHint(font.StyleHint.Monospace)
    return set_up(
        QPlainTextEdit(),
        name,
        accessible,
        readOnly=True,
        maximumBlockCount=LINES_MAX,
        lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap,
        undoRedoEnabled=False,
        tabChangesFocus=True,
        font=font,
        cursorWidth=0,  # nothing is typed here; what is selected by keys is seen as selected
        textInteractionFlags=SELECTABLE | Qt.TextInteractionFlag.TextSelectableByKeyboard,
    )


def write_at_end(field: QPlainTextEdit, write: Callable[[QTextCursor], object]) -> None:
    """Call ``write`` with a cursor at the end of the field, which stays where a person has scrolled
    to, or follows to the new end if the old one was shown."""
    bar = field.verticalScrollBar()
    at_end = bar.value() == bar.maximum()
    cursor = QTextCursor(field.document())
    cursor.movePosition(QTextCursor.MoveOperation.End)
    write(cursor)
    if at_end:
        bar.setValue(bar.maximum())


def append(field: QPlainTextEdit, lines: Sequence[LogLine]) -> None:
    """Add lines at the end of the field, each with its moment, in the colour of its severity."""
    looks = {severity: _letters(severity) for severity in {each.severity for each in lines}}

    def write(cursor: QTextCursor) -> None:
        cursor.beginEditBlock()
        empty = field.document().isEmpty()
        for each in lines:
            if not empty:
                cursor.insertBlock()
            empty = False
            mark = MARKS.get(each.severity, NO_MARK)
            said = f"{mark} {exact(each.at_ms / 1000)}  {each.text}"
            cursor.insertText(said, looks[each.severity])
        cursor.endEditBlock()

    write_at_end(field, write)


def _letters(severity: str) -> QTextCharFormat:
    colours, letters = look().colours, QTextCharFormat()
    role = {"warning": colours.suspended, "error": colours.failed, "debug": colours.quiet}
    letters.setForeground(QColor(role.get(severity, colours.text)))
    return letters


def copy_text(field: QPlainTextEdit) -> None:
    """Copy what is selected in a field, or all of it."""
    chosen = field.textCursor().selectedText().replace("\u2029", "\n")
    QGuiApplication.clipboard().setText(chosen or field.toPlainText())


def export_text(
    parent: QWidget, field: QPlainTextEdit, name: str, failed: Callable[[str], object]
) -> None:
    """Ask the person for a file, wait for the answer and write all of a field into it; nothing if
    they cancel or the parent is gone meanwhile. ``failed`` is called with a sentence if the file
    cannot be written."""
    save_text(parent, tr("Export the log"), name, field.toPlainText() + "\n", failed)


def machine_choice(name: str, says: str) -> QComboBox:
    """Return a list of machines to choose from, with this computer alone, whose key is empty."""
    return _list(name, says, (tr("This computer"), ""))


def linked_names(screen: Screen) -> list[str]:
    """Return what the machines are called that can be asked now."""
    peers = screen.peers.peers if screen.peers is not None else ()
    return [each.name for each in peers if each.state == "linked"]


def offer_machines(choice: QComboBox, names: Sequence[str], chosen: str) -> None:
    """Put these machines' names and ``chosen``, sorted, behind the first entry of the list and
    select ``chosen``, or the first entry where that is empty; no signal is emitted. Where these
    names stand there already nothing changes, the selection neither."""
    shown = [choice.itemData(at) for at in range(1, choice.count())]
    wanted = sorted({*names, *([chosen] if chosen else [])})
    if shown == wanted:
        return
    choice.blockSignals(True)
    while choice.count() > 1:
        choice.removeItem(1)
    for name in wanted:
        choice.addItem(name, name)
    choice.setCurrentIndex(max(0, choice.findData(chosen)))
    choice.blockSignals(False)


def _list(name: str, says: str, *choices: tuple[str, str]) -> QComboBox:
    made = set_up(QComboBox(), name, says)
    for text, value in choices:
        made.addItem(text, value)
    return made
