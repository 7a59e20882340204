"""Flock: every machine with its state, reason and work; who runs what when; invite and expel."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QWidget

from agent.api.flock import EXPEL, INVITATION_SUFFIX, INVITE, Expel, Expelled, Invitation, Invite
from gui.model.flock import Machine, administers, machines, reason_text
from gui.model.screen import Changes
from gui.model.times import span
from gui.model.trouble import Remedy, flock_trouble
from gui.theme.look import GRID
from gui.views.audit_sheet import AuditSheet
from gui.views.bars import TroubleBar
from gui.views.choosing import save_text
from gui.views.columns import machine_columns
from gui.views.join_requests import JoinRequests
from gui.views.menus import add_copy, add_entry, context_menu
from gui.views.pieces import (
    HEAD_MARGINS,
    Sheet,
    action,
    button,
    column,
    filter_field,
    label,
    number_field,
    quiet,
    row,
    said_of,
    set_up,
    tab_widget,
    timer,
    title,
)
from gui.views.questions import ask_to_expel
from gui.views.roles import RolesDialog
from gui.views.rows import Rows
from gui.views.rules_line import RulesLine
from gui.views.settings_dialog import choice
from gui.views.statistics import Statistics
from gui.views.table import Table
from gui.views.timeline_view import WorkflowTimeline
from gui.views.view_context import ViewContext
from gui.words import tr, tr_n

REFRESH_MS = 2_000
INVITATION_HOURS = 24


def _words(machine: Machine) -> str:
    tasks = (task.name for task in machine.view.tasks)
    return " ".join((machine.view.name, reason_text(machine), *tasks))


class FlockPage(QWidget):
    """Machines, their time line, and what the week brought."""

    def __init__(
        self,
        context: ViewContext,
        remedy: Callable[[Remedy], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._context = context
        self.trouble = TroubleBar("flockTrouble2", remedy)
        self.requests = JoinRequests(context)
        self.rules = RulesLine(context)
        self.rows = Rows(
            machine_columns(),
            lambda each: str(each.view.node),
            _words,
            self,
        )
        self.table = Table(self.rows, "machines", tr("Machines"))
        self.filter = filter_field("flockFilter", self.rows.type)
        self.invite = button(tr("Invite …"), "invite", self._invite, "invite", primary=True)
        self.roles = button(tr("Who may …"), "roles", self._roles)
        self.expel = button(tr("Expel …"), "expel", self._expel, "expel")
        self.expel.setEnabled(False)
        self.table.chosen.connect(lambda each: self.expel.setEnabled(bool(each and not each.own)))
        self.name = quiet()
        self.timeline = WorkflowTimeline(context)
        self.statistics = Statistics(context)
        self.tabs = tab_widget(
            "flockTabs",
            tr("Views of the flock"),
            (tr("Machines"), self.table),
            (tr("Timeline"), self.timeline),
            (tr("This week"), self.statistics),
        )
        acts = (self.filter, self.expel, self.invite)
        head = row(title(tr("Flock")), self.name, "stretch", *acts, margins=HEAD_MARGINS)
        rules = row((self.rules, 1), "stretch", self.roles, margins=(0, 0, 2 * GRID, GRID))
        column(head, self.trouble, self.requests, rules, (self.tabs, 1), on=self, spacing=0)
        timer(self, REFRESH_MS, self._refresh_slow).start()
        action(self, "Ctrl+F", "Ctrl+F", self.filter.setFocus)
        self.begins_at = self.table
        self.requests.left.connect(self.table.setFocus)
        context.changed.connect(self.refresh)

    def refresh(self, changes: Changes) -> None:
        """Show what the model says (trouble, who asks to be let in, rules, the flock's name), if
        machines, this node or the connection changed; the machines only while the page is seen.
        Inviting and the sheet of roles are possible while there is a flock and an agent."""
        if not (changes.flock or changes.node or changes.everything or changes.connection):
            return
        screen = self._context.screen
        self.trouble.tell(flock_trouble(screen))
        self.requests.tell(screen.requests)
        self.rules.tell(screen)
        node = screen.node
        self.name.setText(node.flock if node is not None else "")
        for each in (self.invite, self.roles):
            each.setEnabled(bool(node and node.flock and screen.absence is None))
        if self.isVisible():
            self.rows.show(machines(screen))

    def showEvent(self, event: QShowEvent) -> None:
        """Show the machines as they are by now."""
        super().showEvent(event)
        self.rows.show(machines(self._context.screen))

    def tick(self) -> None:
        """Show all texts anew, for time has passed."""
        self.rows.tick()

    def _refresh_slow(self) -> None:
        if self.timeline.isVisible():
            self.timeline.refresh()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the chosen machine, if the mouse is over the table."""
        if self.table.rect().contains(self.table.mapFrom(self, event.pos())):
            self.menu_at(event.globalPos())

    def menu_at(self, place: QPoint) -> QMenu | None:
        """Open the menu of the chosen machine at this place of the screen, and return it without
        waiting; None, with nothing opened, if none is chosen."""
        machine: Machine | None = self.table.current()
        if machine is None:
            return None
        menu = context_menu(self, "machineMenu")
        add_entry(menu, "expel", tr("Expel …"), self._expel, "expel", able=not machine.own)
        linked = machine.link is not None and machine.link.state == "linked"
        able = machine.own or (linked and administers(self._context.screen))
        add_entry(menu, "machineAudit", tr("Who did what there …"), self._audit, able=able)
        add_copy(menu, machine.view.node)
        menu.popup(place)
        return menu

    def _invite(self) -> None:
        self._dialog = InviteDialog(self._context, self)
        self._dialog.show()

    def _roles(self) -> None:
        self._roles_dialog = RolesDialog(self._context, self)
        self._roles_dialog.show()

    def _audit(self) -> None:
        machine: Machine | None = self.table.current()
        if machine is not None:
            there = "" if machine.own else machine.view.name
            AuditSheet(self._context, self.window(), there).show()

    def _expel(self) -> None:
        machine: Machine | None = self.table.current()
        if machine is not None and not machine.own:
            ask_to_expel(self, machine.view.name, lambda: self._do_expel(machine))

    def _do_expel(self, machine: Machine) -> None:
        def done(expelled: Expelled) -> None:
            self._context.bridge.want_flock()
            said = tr("{name} does not belong to the flock any more", name=expelled.name)
            if expelled.agreed:
                said = tr("{name} is an administrator's or a keeper: another administrator has to "
                          "expel it too", name=expelled.name)  # fmt: skip
            self._context.said.emit(f"{said}. {expelled.warning}".rstrip(". ") + ".")

        self._context.ask(self, EXPEL, Expel(machine.view.node), done)


class InviteDialog(Sheet):
    """The text to hand on, for so many machines; also as a file."""

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(parent, "inviteDialog", tr("Invite machines"), minimumWidth=60 * GRID)
        self._context = context
        self._invitation: Invitation | None = None
        self.uses = set_up(number_field("inviteUses", 1, 1000), says=tr("How many machines"))
        roles = (("operator", tr("may submit")), ("helper", tr("only run what others submit")))
        self.role = choice("inviteRole", roles, "operator", lambda _: None)
        self.text = set_up(
            QPlainTextEdit(), "inviteText", tr("Invitation"), readOnly=True, fixedHeight=9 * GRID
        )
        self.note = quiet(wrap=True)
        self.make = button(tr("Make an invitation"), "inviteMake", self._make, primary=True)
        self.copy = button(tr("Copy"), "inviteCopy", self._copy, "copy")
        self.keep = button(tr("Save as a file …"), "inviteSave", self._save, "export")
        for each in (self.text, self.copy, self.keep):
            each.setEnabled(False)
        away = button(tr("Close"), "inviteClose", self.close)
        column(
            label(tr("Whoever gets this text can join your flock with it. It works for so many "
                     "machines, and for a day.")),
            row(quiet(tr("Machines")), self.uses, said_of(self.role, tr("They")), self.role,
                "stretch", self.make),
            self.text,
            self.note,
            row(self.copy, self.keep, "stretch", away),
            on=self,
            spacing=GRID + 4,
            margins=2 * GRID,
        )  # fmt: skip

    def _make(self) -> None:
        self.make.setEnabled(False)
        wish = Invite(self.uses.value(), float(INVITATION_HOURS), self.role.currentData())
        self._context.bridge.ask(self, INVITE, wish, self._made, self._failed)

    def _made(self, invitation: Invitation) -> None:
        self._invitation = invitation
        self.text.setPlainText(invitation.text)
        self.note.setText(
            tr_n("Good for %n machine(s), for {length}.", "", invitation.uses,
                 length=span(INVITATION_HOURS * 3600))
        )  # fmt: skip
        for each in (self.text, self.copy, self.keep, self.make):
            each.setEnabled(True)
        self._copy()

    def _failed(self, sentence: str) -> None:
        self.make.setEnabled(True)
        self.note.setText(sentence)

    def _copy(self) -> None:
        if self._invitation is not None:
            QGuiApplication.clipboard().setText(self._invitation.text)

    def _save(self) -> None:
        made = self._invitation
        if made is not None:
            name = f"{made.flock}{INVITATION_SUFFIX}"
            save_text(self, tr("Save the invitation"), name, made.file, self.note.setText)
