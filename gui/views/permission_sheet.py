"""May this run here? One card for each workflow that brings programs, with every script to be read.

Who asks, from where, and for what beyond what all programs have stands above, the scripts at the left, each with what became of it since it was
allowed last, and at the right the chosen one: all of it, or what changed. None of the answers is the default.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from difflib import unified_diff
from unicodedata import category

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QColor, QSyntaxHighlighter
from PySide6.QtWidgets import QLabel, QListWidget, QListWidgetItem, QWidget

from agent.api.permissions import (
    PERMIT,
    SCRIPTS,
    Change,
    OwnerAnswer,
    PermissionAsked,
    Permit,
    Permitted,
    Script,
    Scripts,
    ScriptsReply,
)
from agent.api.programs import bare_name
from gui.model.times import moment, size
from gui.theme.look import GRID, look
from gui.views.bars import Bar
from gui.views.log_page import log_field
from gui.views.pieces import PLAIN, Sheet, button, column, quiet, row, set_up, splitter, strong
from gui.views.room import keep_on_screen
from gui.views.view_context import ViewContext
from gui.views.wants import asks_words
from gui.words import plain_tip, tr

SIZE_FIRST, SIZE_MIN = (112 * GRID, 72 * GRID), (70 * GRID, 44 * GRID)
FILES_WIDTH, TEXT_WIDTH = 34 * GRID, 76 * GRID
READ_AGAIN_MS = 2_000


def change_words(change: Change) -> str:
    """Return what became of a script since it was allowed last, in a word or two."""
    return {
        "new": tr("new here"),
        "changed": tr("changed since you allowed it"),
        "same": tr("as you allowed it"),
        "gone": tr("not part of it any more"),
    }[change]


def shown_text(script: Script) -> str:
    """Return what is to be read of a script: what changed, or all of it. Letters that cannot be
    seen, and such as turn the order of others, are written out: nothing is hidden in it."""
    return "".join(f"<U+{ord(each):04X}>" if _is_unseen(each) else each for each in _text(script))


def _is_unseen(letter: str) -> bool:
    return category(letter) in ("Cf", "Cc") and letter not in "\t\n"


def _text(script: Script) -> str:
    if script.change == "changed" and script.text is not None and script.before is not None:
        before, now = script.before.splitlines(), script.text.splitlines()
        names = tr("allowed before"), tr("as it is now")
        return "\n".join(unified_diff(before, now, *names, lineterm=""))
    text = script.before if script.change == "gone" else script.text
    return text if text is not None else tr("This is no text, or too long to be shown here.")


def answered_too(
    asked: PermissionAsked, answer: OwnerAnswer, others: Iterable[PermissionAsked]
) -> list[str]:
    """Return the workflows among the other questions that an answer settles, too: all of the same
    machine, or those that bring no further programs; none where it was "once"."""
    if answer == "once":
        return []
    if answer == "machine":
        return [each.workflow for each in others if asked.node and each.node == asked.node]
    decided = {each.program for each in asked.programs}
    return [each.workflow for each in others if {p.program for p in each.programs} <= decided]


class PermissionSheet(Sheet):
    """One question after the other, until none is left or its person closes it."""

    def __init__(
        self, context: ViewContext, parent: QWidget | None = None, workflow: str = ""
    ) -> None:
        super().__init__(parent, "permissionSheet", tr("May this run here?"))
        self._context, self._first = context, workflow
        self._answered: list[str] = []
        self._asked: PermissionAsked | None = None
        self._make_parts()
        self._lay()
        self.resize(QSize(*SIZE_FIRST))
        keep_on_screen(self, SIZE_MIN)
        self._next()

    def _make_parts(self) -> None:
        self.fault = Bar("permissionFault", margin=0)
        self.name = strong(name="permissionName")
        self.who = quiet(name="permissionWho", wrap=True)
        self.wants = set_up(QLabel(), "permissionWants", textFormat=PLAIN, wordWrap=True)
        self.files = set_up(
            QListWidget(), "permissionScripts", tr("Scripts"), framed=True, wordWrap=True, spacing=3
        )
        self.files.currentItemChanged.connect(lambda item, _: self._read(item))
        self.text = log_field("permissionText", tr("What is in it"))
        self.text.setMaximumBlockCount(0)  # nobody pushes a line out of sight
        self._marks = _Differences(self.text.document())
        self.never = button(tr("Never"), "permitNever", lambda: self._answer("never"))
        self.programs = button(
            tr("Allow these programs"), "permitPrograms", lambda: self._answer("programs")
        )
        self.machine = button("", "permitMachine", lambda: self._answer("machine"))
        self.once = button(tr("Allow this once"), "permitOnce", lambda: self._answer("once"))
        for each, tip in (
            (self.never, tr("These programs never run here, whoever brings them.")),
            (self.programs, tr("These very programs run here, whoever brings them.")),
            (self.once, tr("They run here until this workflow has ended.")),
        ):
            each.setToolTip(plain_tip(tip))
        self._buttons = (self.never, self.programs, self.machine, self.once)

    def _lay(self) -> None:
        sizes = (FILES_WIDTH, TEXT_WIDTH)
        both = splitter("permission", Qt.Orientation.Horizontal, sizes, self.files, self.text)
        column(
            *(self.fault, self.name, self.who, self.wants, (both, 1)),
            row(self.never, "stretch", self.programs, self.machine, self.once),
            on=self,
            spacing=GRID,
            margins=2 * GRID,
        )

    # -- which one -----------------------------------------------------------------------------

    def _next(self) -> None:
        """Show the question that was meant, else the oldest; close where none is left."""
        told = self._context.screen.permissions
        left = [each for each in told.asked if each.workflow not in self._answered] if told else []
        meant = next((each for each in left if each.workflow == self._first), None)
        self._asked = meant or (left[0] if left else None)
        for each in self._buttons:
            each.setEnabled(False)
        self.files.clear()
        self.text.clear()
        if self._asked is None:
            self.name.setText(tr("Nobody asks to run anything here."))
            self.who.setText("")
            if self._answered:
                self.accept()
            return
        self._tell(self._asked, len(left))
        self._tell_wants(self._asked)
        self._ask_for_scripts(self._asked)

    def _tell(self, asked: PermissionAsked, left: int) -> None:
        self.name.setText(asked.name)
        who, since = asked.submitter, moment(asked.submitted_ms / 1000, time.time())
        said = (
            tr("{who} submitted it on {machine}, {when}, with programs of its own.",
               who=who, machine=asked.machine, when=since)
            if asked.machine
            else tr("{who} submitted it from another machine, {when}, with programs of its own.",
                    who=who, when=since)
        )  # fmt: skip
        more = " " + tr("Other questions: {count}", count=left - 1) if left > 1 else ""
        self.who.setText(said + more)
        self.machine.setVisible(bool(asked.node))
        self.machine.setText(tr("Allow all from {machine}", machine=asked.machine))
        self.machine.setAccessibleName(self.machine.text())
        self.machine.setToolTip(
            plain_tip(
                tr(
                    "All that is submitted on {machine} runs here from now on.",
                    machine=asked.machine,
                )
            )
        )

    def _tell_wants(self, asked: PermissionAsked) -> None:
        said = asks_words(asked.programs)
        self.wants.setText(said)
        self.wants.setVisible(bool(said))

    # -- reading -------------------------------------------------------------------------------

    def _ask_for_scripts(self, asked: PermissionAsked) -> None:
        wanted = Scripts(asked.workflow)
        self._context.bridge.ask(self, SCRIPTS, wanted, self._show_scripts, self._not_read)

    def _ask_again(self) -> None:
        """Unless there is an answer under way, or another question."""
        if self._asked is not None and self.never.isEnabled():
            self._ask_for_scripts(self._asked)

    def _show_scripts(self, reply: ScriptsReply) -> None:
        if self._asked is None or reply.asked.workflow != self._asked.workflow:
            return
        self.fault.hide()
        first: QListWidgetItem | None = None
        for script in reply.scripts:
            program, change = bare_name(script.program), change_words(script.change)
            said = f"{program}/{script.path}\n{size(script.size_bytes)} · {change}"
            item = QListWidgetItem(said)
            item.setData(Qt.ItemDataRole.UserRole, script)
            self.files.addItem(item)
            if first is None and script.change in ("new", "changed") and _is_script(script):
                first = item
        self.files.setCurrentItem(first or self.files.item(0))
        self.files.setFocus()
        self._tell_wants(reply.asked)
        closed = any(want.refused for each in reply.asked.programs for want in each.wants)
        for each in self._buttons:
            each.setEnabled(each is self.never or not closed)

    def _not_read(self, sentence: str) -> None:
        """What cannot be read is not allowed; refusing it is always possible. The machine that has
        it may be there again in a moment."""
        self.fault.say(sentence)
        self.never.setEnabled(True)
        QTimer.singleShot(READ_AGAIN_MS, self, self._ask_again)

    def _read(self, item: QListWidgetItem | None) -> None:
        script = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        self._marks.on = script is not None and script.change == "changed"
        self.text.setPlainText(shown_text(script) if script is not None else "")

    # -- answering -----------------------------------------------------------------------------

    def _answer(self, answer: OwnerAnswer) -> None:
        if self._asked is not None:
            self.fault.hide()
            for each in self._buttons:
                each.setEnabled(False)
            wanted = Permit(self._asked.workflow, answer)
            self._context.bridge.ask(self, PERMIT, wanted, self._permitted, self._refused)

    def _permitted(self, done: Permitted) -> None:
        told = self._context.screen.permissions
        if self._asked is not None and told is not None:
            self._answered += answered_too(self._asked, done.answer, told.asked)
        self._answered.append(done.workflow)
        self._context.bridge.want_flock()
        self._next()

    def _refused(self, sentence: str) -> None:
        self.fault.say(sentence)
        for each in self._buttons:
            each.setEnabled(True)


class _Differences(QSyntaxHighlighter):
    """Colours lines that came and went, while a difference is shown."""

    on = False

    def highlightBlock(self, text: str) -> None:
        """Colour one line by its first letter, + or -; other lines, and all while this is not
        ``on``, stay as they are."""
        colours = look().colours
        ink = {"+": colours.done, "-": colours.failed}.get(text[:1]) if self.on else None
        if ink is not None:
            self.setFormat(0, len(text), QColor(ink))


def _is_script(script: Script) -> bool:
    """Not the description beside it, which is read only by who wants to."""
    return not script.path.endswith((".yaml", ".yml"))
