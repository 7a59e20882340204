"""Flock: every machine with its state, reason and work; who runs what when; invite and expel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from agent.api.flock import EXPEL, INVITATION_SUFFIX, INVITE, Expel, Expelled, Invitation, Invite
from gui.bridge.bridge import is_gone
from gui.model.flock import Machine, machines, reason_text
from gui.model.screen import Changes
from gui.model.times import span
from gui.model.trouble import Remedy, flock_trouble
from gui.theme.drawing import icon
from gui.theme.look import GRID
from gui.views.bars import TroubleBar
from gui.views.columns import machine_columns
from gui.views.join_requests import JoinRequests
from gui.views.menus import add_copy, context_menu
from gui.views.pieces import (
    action,
    button,
    filter_field,
    label,
    number_field,
    quiet,
    row,
    tab_widget,
    title,
)
from gui.views.rows import Rows
from gui.views.statistics import Statistics
from gui.views.table import Table
from gui.views.timeline_view import WorkflowTimeline
from gui.views.view_context import ViewContext
from gui.words import tr, tr_n

REFRESH_MS = 2_000
INVITATION_HOURS = 24


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
        self.rows = Rows(
            machine_columns(),
            lambda each: str(each.node),
            lambda each: f"{each.name} {reason_text(each)} {' '.join(t.name for t in each.tasks)}",
            self,
        )
        self.table = Table(self.rows, "machines", tr("Machines"))
        self.table.chosen.connect(self._chosen)
        self.filter = filter_field("flockFilter", self.rows.type)
        self.invite = button(tr("Invite …"), "invite", self._invite, "invite", primary=True)
        self.expel = button(tr("Expel …"), "expel", self._expel, "expel")
        self.expel.setEnabled(False)
        self.name = quiet()
        self.timeline = WorkflowTimeline(context)
        self.statistics = Statistics(context)
        self.tabs = tab_widget("flockTabs", tr("Views of the flock"))
        self.tabs.addTab(self.table, tr("Machines"))
        self.tabs.addTab(self.timeline, tr("Timeline"))
        self.tabs.addTab(self.statistics, tr("This week"))
        self._lay()
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._refresh_slow)
        self._timer.start()
        action(self, "Ctrl+F", "Ctrl+F", self.filter.setFocus)
        self.begins_at = self.table
        self.requests.left.connect(self.table.setFocus)
        context.changed.connect(self.refresh)

    def _lay(self) -> None:
        head = row(title(tr("Flock")), self.name, self.filter, self.expel, self.invite)
        head.insertStretch(2)
        head.setContentsMargins(2 * GRID, GRID + 4, 2 * GRID, GRID)
        lay = QVBoxLayout(self)
        lay.setContentsMargins(0, 0, 0, 0)
        lay.setSpacing(0)
        lay.addLayout(head)
        lay.addWidget(self.trouble)
        lay.addWidget(self.requests)
        lay.addWidget(self.tabs, 1)

    def refresh(self, changes: Changes) -> None:
        """Show what the model says, if machines, members or the connection changed."""
        if not (changes.flock or changes.node or changes.everything or changes.connection):
            return
        screen = self._context.screen
        self.trouble.tell(flock_trouble(screen))
        self.requests.tell(screen.requests)
        node = screen.node
        self.name.setText(node.flock if node is not None else "")
        self.invite.setEnabled(bool(node and node.flock and screen.absence is None))
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
        """Open the menu of the chosen machine at this place, and return it; None if none is
        chosen."""
        machine: Machine | None = self.table.current()
        if machine is None:
            return None
        menu = context_menu(self, "machineMenu")
        expel = menu.addAction(icon("expel"), tr("Expel …"), self._expel)
        expel.setObjectName("expel")
        expel.setEnabled(not machine.own)
        add_copy(menu, machine.node)
        menu.popup(place)
        return menu

    def _chosen(self, machine: Machine | None) -> None:
        self.expel.setEnabled(bool(machine and not machine.own))

    def _invite(self) -> None:
        self._dialog = InviteDialog(self._context, self)
        self._dialog.show()

    def _expel(self) -> None:
        machine: Machine | None = self.table.current()
        if machine is None or machine.own:
            return
        box = QMessageBox(self)
        box.setObjectName("expelBox")
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(tr("Expel {name} from the flock?", name=machine.name))
        box.setInformativeText(
            tr("Its certificate is void on all machines at once. To come back it has to be "
               "invited anew.")
        )  # fmt: skip
        yes = box.addButton(tr("Expel"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(tr("Keep it"), QMessageBox.ButtonRole.RejectRole)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.buttonClicked.connect(
            lambda pressed: self._do_expel(machine) if pressed is yes else None
        )
        box.open()

    def _do_expel(self, machine: Machine) -> None:
        def done(expelled: Expelled) -> None:
            self._context.bridge.want_flock()
            said = tr("{name} does not belong to the flock any more", name=expelled.name)
            self._context.said.emit(f"{said}. {expelled.warning}".rstrip(". ") + ".")

        self._context.ask(self, EXPEL, Expel(machine.node), done)


class InviteDialog(QDialog):
    """The text to hand on, for so many machines; also as a file."""

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._invitation: Invitation | None = None
        self.setObjectName("inviteDialog")
        self.setWindowTitle(tr("Invite machines"))
        self.setMinimumWidth(60 * GRID)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.uses = number_field("inviteUses", 1, 1000)
        self.uses.setAccessibleName(tr("How many machines"))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setObjectName("inviteText")
        self.text.setAccessibleName(tr("Invitation"))
        self.text.setFixedHeight(9 * GRID)
        self.note = quiet(wrap=True)
        self.make = button(tr("Make an invitation"), "inviteMake", self._make, primary=True)
        self.copy = button(tr("Copy"), "inviteCopy", self._copy, "copy")
        self.keep = button(tr("Save as a file …"), "inviteSave", self._save, "export")
        for each in (self.text, self.copy, self.keep):
            each.setEnabled(False)
        lay = QVBoxLayout(self)
        lay.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        lay.setSpacing(GRID + 4)
        lay.addWidget(
            label(tr("Whoever gets this text can join your flock with it. It works for so many "
                     "machines, and for a day."))
        )  # fmt: skip
        across = row(quiet(tr("Machines")), self.uses, self.make)
        across.addStretch()
        lay.addLayout(across)
        lay.addWidget(self.text)
        lay.addWidget(self.note)
        bottom: QHBoxLayout = row(
            self.copy, self.keep, button(tr("Close"), "inviteClose", self.close)
        )
        bottom.insertStretch(2)
        lay.addLayout(bottom)

    def _make(self) -> None:
        self.make.setEnabled(False)
        wish = Invite(self.uses.value(), float(INVITATION_HOURS))
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
        if self._invitation is None:
            return
        name = str(Path.home() / f"{self._invitation.flock}{INVITATION_SUFFIX}")
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Save the invitation"), name)
        if chosen and not is_gone(self):
            try:
                Path(chosen).write_text(self._invitation.file, "utf-8")
            except OSError as error:
                self.note.setText(f"{chosen}: {error.strerror}.")
