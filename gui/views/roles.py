"""Who may do what in the flock, machine by machine, in words for people; administrators change it here, and
everybody says which machines are his.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from agent.api.administration import APPOINT, SET_ROLE, Acted, Appoint, SetRole
from agent.api.flock import MemberView
from agent.api.people import PAIR, UNPAIR, Pair, Paired, Unpair
from agent.api.rpc import Method
from gui.model.screen import Changes
from gui.theme.look import GRID
from gui.views.pieces import Sheet, button, column, label, quiet, row, set_up
from gui.views.questions import ACCEPT, AWAY, ask
from gui.views.rows import Column, Rows
from gui.views.table import Table
from gui.views.view_context import ViewContext
from gui.words import tr


class RolesDialog(Sheet):
    """All members with what each may, and what an administrator can make of the chosen one."""

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(parent, "rolesDialog", tr("Who may do what"), minimumWidth=80 * GRID)
        self._context = context
        self.rows = Rows(_columns(), lambda each: each.node, lambda each: each.name, self)
        self.table = Table(self.rows, "members", tr("Members"))
        self.phrase = set_up(
            QLineEdit(),
            "rolesPhrase",
            tr("Recovery phrase"),
            echoMode=QLineEdit.EchoMode.Password,
            placeholderText=tr("only where there are not two administrators"),
        )
        self.note = quiet(wrap=True)
        acts = (
            button(tr("Only helps"), "rolesHelper", partial(self._make, "helper")),
            button(tr("May submit"), "rolesOperator", partial(self._make, "operator")),
            button(
                tr("Administrator …"), "rolesAdministrator", partial(self._ask, "administrator")
            ),
            button(tr("Keeper …"), "rolesKeeper", partial(self._ask, "keeper")),
        )
        machines = self._machines()
        self.acts = (*acts, self.unpair)
        self._chosen(None)
        self.table.chosen.connect(self._chosen)
        column(
            label(tr("Who changes this, signs it with this computer's key, and all check it. What "
                     "concerns an administrator or keeper takes two others, who do the same.")),
            (self.table, 1),
            row(*acts, "stretch"),
            row(quiet(tr("Recovery phrase")), self.phrase),
            machines,
            self.note,
            row("stretch", button(tr("Close"), "rolesClose", self.close)),
            on=self,
            spacing=GRID + 4,
            margins=2 * GRID,
        )  # fmt: skip
        context.changed.connect(self._changed)
        self._show()

    def _machines(self) -> QHBoxLayout:
        """What says which machines are one's own."""
        self.code = set_up(
            QLineEdit(),
            "rolesCode",
            tr("Code"),
            placeholderText=tr("that your other computer shows; nothing: a code is shown here"),
        )
        pair = button(tr("Pair"), "rolesPair", self._pair)
        self.unpair = button(tr("Not my machine any more …"), "rolesUnpair", self._ask_unpair)
        return row(quiet(tr("My other computer")), self.code, pair, self.unpair)

    def done(self, result: int) -> None:
        """Close, and listen no more."""
        self._context.changed.disconnect(self._changed)
        super().done(result)

    def _changed(self, changes: Changes) -> None:
        if changes.flock or changes.everything:
            self._show()

    def _show(self) -> None:
        known = self._context.screen.members
        self.rows.show(list(known.members) if known is not None else [])

    def _chosen(self, member: MemberView | None) -> None:
        for each in self.acts:
            each.setEnabled(member is not None)

    def _make(self, role: Any) -> None:
        member: MemberView | None = self.table.current()
        if member is not None:
            self._sign(SET_ROLE, SetRole(member.node, role, self.phrase.text()))

    def _ask(self, what: Any) -> None:
        member: MemberView | None = self.table.current()
        if member is None:
            return
        more = {
            "administrator": tr("It can invite, expel and appoint others. To take that back takes two "
                                "other administrators, or one and the recovery phrase."),
            "keeper": tr("It gets the flock's key, and a key that was seen cannot be taken back: what "
                         "it lets in counts until it is no keeper any more."),
        }[what]  # fmt: skip
        title = {
            "administrator": tr("Make {name} an administrator?", name=member.name),
            "keeper": tr("Make {name} a keeper?", name=member.name),
        }[what]
        wish = Appoint(member.node, what, phrase=self.phrase.text())
        answer = ("appoint", tr("Appoint"), ACCEPT, lambda: self._sign(APPOINT, wish))
        ask(self, "appointBox", title, more, tr("Leave it"), answer, careful=True)

    def _pair(self) -> None:
        wish = Pair(self.code.text().strip())
        self._context.bridge.ask(self, PAIR, wish, self._paired, self.note.setText)

    def _paired(self, paired: Paired) -> None:
        self.code.clear()
        machines = ", ".join(each.name for each in paired.me.machines)
        self.note.setText(tr("Yours in this flock: {machines}", machines=machines))
        if paired.code:
            self.note.setText(
                tr("Type this on your other computer, within ten minutes: {code}", code=paired.code)
            )
        self._context.bridge.want_flock()

    def _ask_unpair(self) -> None:
        member: MemberView | None = self.table.current()
        if member is None:
            return
        title = tr("Take {name} away from its person?", name=member.name)
        more = tr("It speaks for that person no more, for ever under its key. What was submitted there "
                  "stays that person's.")  # fmt: skip
        wish = Unpair(member.node, self.phrase.text())
        answer = ("unpair", tr("Take away"), AWAY, lambda: self._sign(UNPAIR, wish))
        ask(self, "unpairBox", title, more, tr("Leave it"), answer, careful=True)

    def _sign(self, method: Method[Any, Acted], wish: Any) -> None:
        done: Callable[[Acted], object] = self._signed
        self._context.bridge.ask(self, method, wish, done, self.note.setText)

    def _signed(self, acted: Acted) -> None:
        self.phrase.clear()
        self.note.setText(tr("{name}: done", name=acted.name))
        if acted.agreed:
            self.note.setText(
                tr("{name}: {who} said so; another administrator has to do the same",
                   name=acted.name, who=", ".join(acted.agreed))
            )  # fmt: skip
        self._context.bridge.want_flock()


def _columns() -> tuple[Column, ...]:
    return (
        Column("name", tr("Machine"),
               lambda each, now_s: (
                   tr("{name} (this one)", name=each.name) if each.own else str(each.name)
               ), 180),
        Column("person", tr("Person"), lambda each, now_s: each.person, 120),
        Column("role", tr("May"), lambda each, now_s: may_text(each), 380, stretch=True),
    )  # fmt: skip


def may_text(member: MemberView) -> str:
    """Return what a member may, in words for people."""
    may = {
        "administrator": tr("may submit, invite, expel and appoint others"),
        "helper": tr("only runs what others submit"),
    }.get(member.role, tr("may submit and read own work"))
    return tr("{may}; holds the flock's key", may=may) if member.keeper else may
