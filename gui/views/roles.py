"""Who may do what in the flock, machine by machine, in words for people; administrators change it here, and
everybody says which machines are his.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from agent.api.administration import APPOINT, SET_ROLE, Acted, Appoint, SetRole
from agent.api.flock import EXPEL, Expel, Expelled, MemberView
from agent.api.people import PAIR, UNPAIR, Pair, Paired, Unpair
from agent.api.rpc import Method
from gui.model.flock import administers, own_member
from gui.model.screen import Changes, Screen
from gui.theme.look import GRID
from gui.views.pieces import Sheet, button, column, label, quiet, row, said_of, set_up
from gui.views.questions import ACCEPT, AWAY, ask, ask_to_expel
from gui.views.rows import Column, Rows
from gui.views.table import Table
from gui.views.view_context import ViewContext
from gui.words import tr

GIVEN = ("administrator", "keeper")
"""What is given by an appointment, and taken back by another."""


class RolesDialog(Sheet):
    """All members with what each may, and what an administrator can make of the chosen one."""

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(parent, "rolesDialog", tr("Who may do what"), minimumWidth=92 * GRID)
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
        self.acts = self._acts()
        machines = self._machines()
        self.table.chosen.connect(self._chosen)
        self.own = label(name="rolesOwn")
        column(
            self.own,
            quiet(tr("What is changed here is signed with this computer's key, and all machines check "
                     "it. What concerns an administrator or keeper takes two others, who do the same."),
                  wrap=True),
            (self.table, 1),
            row(*self.acts.values(), "stretch"),
            row(said_of(self.phrase, tr("Recovery phrase")), (self.phrase, 1)),
            machines,
            self.note,
            row("stretch", button(tr("Close"), "rolesClose", self.close)),
            on=self,
            spacing=GRID + 4,
            margins=2 * GRID,
        )  # fmt: skip
        context.changed.connect(self._changed)
        self._show()

    def _acts(self) -> dict[str, QPushButton]:
        return {
            "helper": button(tr("Only helps"), "rolesHelper", partial(self._make, "helper")),
            "operator": button(tr("May submit"), "rolesOperator", partial(self._make, "operator")),
            "administrator": button(
                tr("Administrator …"), "rolesAdministrator", partial(self._ask, "administrator")
            ),
            "keeper": button(tr("Keeper …"), "rolesKeeper", partial(self._ask, "keeper")),
            "expelled": button(tr("Expel …"), "rolesExpel", self._expel),
        }

    def _machines(self) -> QHBoxLayout:
        """What says which machines are one's own."""
        self.code = set_up(
            QLineEdit(),
            "rolesCode",
            tr("Code"),
            placeholderText=tr("the code that it shows"),
            textChanged=self._code_typed,
        )
        self.pair = button(tr("Show a code"), "rolesPair", self._pair)
        self.unpair = button(tr("Not my machine any more …"), "rolesUnpair", self._ask_unpair)
        named = said_of(self.code, tr("My other computer"))
        return row(named, (self.code, 1), self.pair, self.unpair)

    def _code_typed(self, code: str) -> None:
        """Without one, this computer shows one for the other."""
        text = tr("Pair") if code.strip() else tr("Show a code")
        set_up(self.pair, text=text, accessibleName=text)

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
        self.own.setText(own_text(self._context.screen))
        self._chosen(self.table.current())

    def _chosen(self, member: MemberView | None) -> None:
        """What changes something can be pressed; what an administrator or keeper has is taken back."""
        able = member is not None and administers(self._context.screen)
        for what, each in self.acts.items():
            has = member is not None and what in (member.role, "keeper" if member.keeper else "")
            away = what == "expelled" and member is not None and member.own
            each.setEnabled(able and not away and (what in GIVEN or not has))
            if what in GIVEN:
                text = _give_words(what, has=has)
                set_up(each, text=text, accessibleName=text)
        self.unpair.setEnabled(member is not None)

    def _make(self, role: Any) -> None:
        member: MemberView | None = self.table.current()
        if member is None:
            return
        wish = SetRole(member.node, role, self.phrase.text())
        if member.role != "administrator":
            self._sign(SET_ROLE, wish)
            return
        question = tr("Let {name} administer the flock no more?", name=member.name)
        self._question(question, _warning("administrator", has=True), SET_ROLE, wish)

    def _ask(self, what: Any) -> None:
        member: MemberView | None = self.table.current()
        if member is None:
            return
        has = member.keeper if what == "keeper" else member.role == what
        question = {
            ("administrator", False): tr("Make {name} an administrator?", name=member.name),
            ("keeper", False): tr("Make {name} a keeper?", name=member.name),
            ("administrator", True): tr(
                "Let {name} administer the flock no more?", name=member.name
            ),
            ("keeper", True): tr("Let {name} be a keeper no more?", name=member.name),
        }[what, has]
        wish = Appoint(member.node, what, withdraw=has, phrase=self.phrase.text())
        self._question(question, _warning(what, has=has), APPOINT, wish)

    def _question(self, question: str, more: str, method: Method[Any, Acted], wish: Any) -> None:
        """What cannot be taken back by whoever does it."""
        yes = tr("Take it back") if getattr(wish, "withdraw", method is SET_ROLE) else tr("Appoint")
        answer = ("appoint", yes, ACCEPT, lambda: self._sign(method, wish))
        ask(self, "appointBox", question, more, tr("Leave it"), answer, careful=True)

    def _expel(self) -> None:
        member: MemberView | None = self.table.current()
        if member is not None:
            wish = Expel(member.node, self.phrase.text())
            ask_to_expel(self, member.name, lambda: self._sign(EXPEL, wish))

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

    def _sign(self, method: Method[Any, Any], wish: Any) -> None:
        done: Callable[[Acted | Expelled], object] = self._signed
        self._context.bridge.ask(self, method, wish, done, self.note.setText)

    def _signed(self, acted: Acted | Expelled) -> None:
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


def _give_words(what: str, *, has: bool) -> str:
    return {
        ("administrator", False): tr("Administrator …"),
        ("administrator", True): tr("No administrator …"),
        ("keeper", False): tr("Keeper …"),
        ("keeper", True): tr("No keeper …"),
    }[what, has]


def _warning(what: str, *, has: bool) -> str:
    return {
        ("administrator", False): tr(
            "It can invite, expel and appoint others. To take that back takes two other "
            "administrators, or one and the recovery phrase."
        ),
        ("keeper", False): tr(
            "It gets the flock's key, and a key that was seen cannot be taken back: what it lets in "
            "counts until it is no keeper any more."
        ),
        ("administrator", True): tr(
            "It can then change nothing in the flock any more, and only other administrators can "
            "give that back. It keeps its work."
        ),
        ("keeper", True): tr(
            "Whom it lets in from then on does not belong. The flock's key that it has seen cannot be "
            "taken back."
        ),
    }[what, has]


def own_text(screen: Screen) -> str:
    """Return what the keys of this computer can do in the flock, and who can change something there
    where it cannot; empty while that is not known."""
    own, known = own_member(screen), screen.members
    if own is None or known is None:
        return ""
    said = [tr("This computer may submit, and act on its own work.")]
    if own.role == "administrator":
        said = [
            tr("This computer administers the flock: whoever sits here can invite, expel and appoint "
               "others, read what is noted on all machines, and stop any work.")
        ]  # fmt: skip
    elif own.role == "helper":
        said = [tr("This computer only runs what others submit.")]
    if own.keeper:
        said.append(tr("It holds the flock's key, by which machines are let in."))
    names = [each.name for each in known.members if each.role == "administrator"]
    if not names:
        said.append(
            tr("The flock has no administrators yet, so each keeper may do everything in it.")
        )
    elif own.role != "administrator":
        said.append(
            tr("Only administrators can change something here: {names}.", names=", ".join(names))
        )
    return " ".join(said)
