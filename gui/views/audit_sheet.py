"""Who did what on a machine, the newest first: to be filtered, checked and exported.

That of this computer is for whoever sits here; that of another one for an administrator of the flock,
and the other machine notes that it was read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from PySide6.QtWidgets import QStackedWidget, QWidget

from agent.api.audit import AUDIT, CHECK_AUDIT, Audit, AuditChecked, AuditEntry, CheckAudit
from agent.client import Client
from gui.bridge.bridge import Task
from gui.model.audit import (
    checked_text,
    from_text,
    is_well,
    on_text,
    outcome_text,
    what_text,
    who_text,
)
from gui.model.flock import administers
from gui.model.marks import Mark
from gui.model.screen import Changes, Screen
from gui.model.times import exact, moment
from gui.theme.look import GRID
from gui.views.bars import Bar
from gui.views.choosing import save_text
from gui.views.log_page import linked_names, machine_choice, offer_machines
from gui.views.pieces import (
    Empty,
    Sheet,
    action,
    button,
    column,
    filter_field,
    quiet,
    row,
)
from gui.views.rows import Column, Rows
from gui.views.table import Table
from gui.views.view_context import ViewContext
from gui.words import tr, tr_n

PAGE = 1_000
SIZE = (112 * GRID, 76 * GRID)
CHECK_S_MAX = 120.0


class AuditSheet(Sheet):
    """Of this computer at first, or of the machine that is named."""

    def __init__(
        self, context: ViewContext, parent: QWidget | None = None, machine: str = ""
    ) -> None:
        super().__init__(parent, "auditSheet", tr("Who did what"))
        self._context = context
        self._entries: list[AuditEntry] = []
        self._reading: Task | None = None
        self._turn = 0
        self.machine = machine_choice("auditMachine", tr("Whose audit"))
        self._offer(machine)
        self.machine.currentIndexChanged.connect(self.read)
        self.rows = Rows(_columns(context.screen), lambda each: str(each.number), self._words, self)
        self.table = Table(self.rows, "audit", tr("Who did what"))
        self.filter = filter_field("auditFilter", self._type, tr("Person, machine or act …"))
        self.note, self.fault = quiet(name="auditNote"), Bar("auditFault", margin=0)
        self.checked = Bar("auditChecked", "notice", margin=0)
        self.check = button(tr("Check"), "auditCheck", self._check, "check")
        self.export = button(tr("Export …"), "auditExport", self._export, "export")
        self._make_empty()
        self._lay()
        self.resize(*SIZE)
        context.changed.connect(self._changed)
        self.read()

    def _make_empty(self) -> None:
        self.reading = Empty("history", tr("Reading …"), "")
        nothing = tr(
            "What people, programs and other machines change here stands in this list: signed, and so "
            "that nobody takes something out unseen."
        )
        self.empty = Empty("history", tr("Nothing was done here yet"), nothing)
        self.unfit = Empty(
            "search",
            tr("Nothing fits"),
            tr("No entry has all these words."),
            button(tr("Show all"), "auditClear", lambda: self.filter.clear()),
        )
        again = button(tr("Try again"), "auditAgain", self.read, "retry")
        self.unread = Empty("warning", tr("It cannot be read"), "", again)
        self.stack = QStackedWidget()
        for each in (self.reading, self.empty, self.unfit, self.unread, self.table):
            self.stack.addWidget(each)

    def _lay(self) -> None:
        head = row(self.machine, self.note, "stretch", self.filter)
        away = button(tr("Close"), "auditClose", self.close)
        foot = row(self.check, self.export, "stretch", away)
        parts = (head, self.fault, self.checked, (self.stack, 1), foot)
        column(*parts, on=self, spacing=GRID + 4, margins=2 * GRID)
        action(self, "Ctrl+F", "Ctrl+F", self.filter.setFocus)
        action(self, "F5", "F5", self.read)

    def done(self, result: int) -> None:
        """Close, and listen no more."""
        self._context.changed.disconnect(self._changed)
        super().done(result)

    def _changed(self, changes: Changes) -> None:
        if changes.flock or changes.everything:
            self._offer(self.machine.currentData())

    def _offer(self, chosen: str) -> None:
        """Linked machines, where this one administers the flock, and the one that is chosen."""
        screen = self._context.screen
        offer_machines(self.machine, linked_names(screen) if administers(screen) else [], chosen)
        self.machine.setVisible(self.machine.count() > 1)

    # -- reading -----------------------------------------------------------------------------

    def read(self) -> None:
        """Have all of the chosen machine's audit read anew; returns at once, and entries are shown
        as they come, the newest first. If reading fails, none stay, and why is said in their
        place."""
        if self._reading is not None:
            self._reading.cancel()
        self._entries = []
        self.rows.show(self._entries)
        for bar in (self.fault, self.checked):
            bar.hide()
        self._tell(self.reading)
        bridge, machine = self._context.bridge, self.machine.currentData()
        self._turn += 1
        took = partial(self._took, self._turn)
        self._reading = bridge.client_work(
            self,
            lambda client: read_audit(client, lambda page: bridge.tell(self, took, page)),
            lambda _: self._ended(),
            self._failed,
            machine,
        )

    def _took(self, turn: int, page: tuple[AuditEntry, ...]) -> None:
        if turn == self._turn:  # what was under way when it was read anew is not of it
            self._entries += reversed(page)
            self._show()

    def _ended(self) -> None:
        self._reading = None
        self._show()

    def _failed(self, sentence: str) -> None:
        self._reading, self._entries = None, []  # a part is no audit
        self.rows.show(self._entries)
        self.unread.text.setText(sentence)
        self._tell(self.unread)

    def _type(self, typed: str) -> None:
        self.rows.type(typed)
        if self.stack.currentWidget() is not self.unread:
            self._show()

    def _show(self) -> None:
        self.rows.show(self._entries)
        shown = self.table if self.rows.rows else self.unfit if self._entries else self.empty
        self._tell(shown)

    def _tell(self, part: QWidget) -> None:
        self.stack.setCurrentWidget(part)
        self.note.setText(tr_n("%n act(s)", "", len(self._entries)) if self._entries else "")
        whole = bool(self._entries) and self._reading is None
        for each in (self.export, self.check):
            each.setEnabled(whole)

    def _words(self, entry: AuditEntry) -> str:
        shown = (each.text(entry, 0.0) for each in self.rows.columns[1:])
        return " ".join((*shown, entry.who, entry.what, entry.on, exact(entry.at_ms / 1000)))

    # -- acts --------------------------------------------------------------------------------

    def _check(self) -> None:
        self.check.setEnabled(False)
        wanted = CheckAudit(self.machine.currentData())
        told, unchecked = (partial(each, self._turn) for each in (self._told, self._unchecked))
        self._context.bridge.ask(self, CHECK_AUDIT, wanted, told, unchecked, CHECK_S_MAX)

    def _told(self, turn: int, found: AuditChecked) -> None:
        if turn != self._turn:
            return  # another one is read meanwhile
        self.check.setEnabled(True)
        bar, other = (self.fault, self.checked) if found.broken else (self.checked, self.fault)
        other.hide()
        bar.say(checked_text(found))
        if found.broken:
            self.table.choose(str(found.broken))

    def _unchecked(self, turn: int, sentence: str) -> None:
        if turn == self._turn:
            self.check.setEnabled(True)
            self.fault.say(sentence)

    def _export(self) -> None:
        """As they were signed, in their order: an entry a line, whatever the filter hides."""
        lines = (msgspec.json.encode(each).decode() for each in reversed(self._entries))
        name = f"wingbeat-audit-{self.machine.currentData()}.jsonl".replace("-.", ".")
        text = "".join(f"{each}\n" for each in lines)
        save_text(self, tr("Export the audit"), name, text, self.fault.say)


async def read_audit(client: Client, took: Callable[[tuple[AuditEntry, ...]], object]) -> None:
    """Tell ``took`` all entries, page by page, the latest page first, each in its order. Raises
    ``ClientError``."""
    reply = await client.call(AUDIT, Audit(limit=PAGE))
    entries = reply.entries
    while entries:
        took(entries)
        first = entries[0].number
        if first == 1:
            return
        earlier = Audit(max(1, first - PAGE), min(PAGE, first - 1))
        reply = await client.call(AUDIT, earlier)
        entries = tuple(each for each in reply.entries if each.number < first)


def _columns(screen: Screen) -> tuple[Column, ...]:
    return (
        Column("when", tr("When"), lambda each, now_s: moment(each.at_ms / 1000, now_s), 120,
               sort=lambda each: each.number, tip=_when_tip),
        Column("who", tr("Who"), lambda each, now_s: who_text(each), 130, narrow=90,
               tip=lambda each, now_s: each.who),
        Column("what", tr("What"), lambda each, now_s: what_text(each), 190, narrow=130,
               tip=lambda each, now_s: each.what),
        Column("on", tr("On what"), lambda each, now_s: on_text(each, screen), 190, stretch=True,
               tip=lambda each, now_s: each.on),
        Column("from", tr("From where"), lambda each, now_s: from_text(each), 150, quiet=True,
               spare=True),
        Column("outcome", tr("How it ended"), lambda each, now_s: outcome_text(each), 110,
               tip=lambda each, now_s: each.outcome,
               mark=lambda each: None if is_well(each) else (Mark.FAILED, None)),
    )  # fmt: skip


def _when_tip(entry: AuditEntry, now_s: float) -> str:
    del now_s
    at = exact(entry.at_ms / 1000)
    return tr("Entry {number}, {moment}", number=entry.number, moment=at)
