"""The first run: three quiet steps. Each can be passed over; nothing here cannot be changed later."""

from __future__ import annotations

import socket
from pathlib import Path

import msgspec
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from agent.api.admission import ASK, Ask, AskView
from agent.api.flock import FLOCK_CREATE, JOIN, FlockCreate, Join, Joined
from agent.api.volunteering import SET_VOLUNTEERING, SetVolunteering, VolunteerRules
from gui import settings
from gui.bridge.bridge import is_gone
from gui.model.notices import AskRead
from gui.model.screen import Changes
from gui.model.week import ranges_of
from gui.startup import Login, switch
from gui.theme.look import GRID
from gui.views.asking import AskPanel, NearbyFlocks, is_asking
from gui.views.bars import Bar
from gui.views.pieces import button, label, quiet, row, title
from gui.views.room import Scrolled, keep_on_screen
from gui.views.view_context import ViewContext
from gui.views.week_grid import WeekGrid
from gui.words import tr

SIZE_FIRST, SIZE_MIN = (78 * GRID, 76 * GRID), (60 * GRID, 40 * GRID)
STEPS = 3
ASKING_PAGE = STEPS
"""Beside the three: the wait until a flock nearby lets this computer in."""
JOIN_S_MAX = 60.0
OFFICE_NIGHTS = frozenset(
    (day, hour) for day in range(7) for hour in range(24) if day > 4 or hour < 7 or hour > 18
)


class FirstRun(QDialog):
    """Join or create, when to help, start at login."""

    done_with = Signal()

    def __init__(self, context: ViewContext, login: Login, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._login = context, login
        self.setObjectName("firstRun")
        self.setWindowTitle(tr("Welcome to Wingbeat"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.step = quiet()
        self.fault = Bar("firstRunFault", margin=0)
        self.pages = QStackedWidget()
        for page in (self._flock_page(), self._when_page(), self._login_page()):
            self.pages.addWidget(Scrolled(page))
        self.asking = AskPanel(context)
        self.asking.joined.connect(lambda: self._entered(None))
        self.asking.over.connect(self._asked_in_vain)
        self.pages.addWidget(self.asking)
        self.back = button(tr("Back"), "firstRunBack", lambda: self._go(-1))
        self.next = button(tr("Next"), "firstRunNext", self._next, primary=True)
        self.next.setDefault(True)
        lay = QVBoxLayout(self)
        lay.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 2 * GRID)
        lay.setSpacing(GRID)
        lay.addWidget(self.step)
        lay.addWidget(self.fault)
        lay.addWidget(self.pages, 1)
        bottom = row(self.back, self.next)
        bottom.insertStretch(0)
        lay.addLayout(bottom)
        self.resize(self.sizeHint().expandedTo(QSize(*SIZE_FIRST)))
        keep_on_screen(self, SIZE_MIN)
        self._tell()
        context.changed.connect(self._changed)
        if is_asking(context.screen.asked):
            self._show(ASKING_PAGE)

    # -- pages -------------------------------------------------------------------------------

    def _flock_page(self) -> QWidget:
        page, lay = _page(
            tr("Which flock does this computer belong to?"),
            tr("A flock is the machines that work together. Somebody who belongs to it lets you "
               "in, or makes you an invitation."),
        )  # fmt: skip
        self._make_flock_parts()
        for each in (
            self.ask_it,
            self.nearby,
            self.join_it,
            self.invitation,
            self.file,
            self.create_it,
            self.name,
            self.alone,
        ):
            lay.addWidget(
                each, 0, Qt.AlignmentFlag.AlignLeft if each is self.file else Qt.AlignmentFlag(0)
            )
        for each in (self.ask_it, self.join_it, self.create_it, self.alone):
            each.toggled.connect(self._flock_kind)
        self.join_it.setChecked(True)
        lay.addStretch(1)
        return page

    def _make_flock_parts(self) -> None:
        self.ask_it = QRadioButton(tr("Ask a flock nearby"))
        self.ask_it.setObjectName("askFlock")
        self.nearby = NearbyFlocks(self._context)
        self.nearby.chosen.connect(lambda: self.ask_it.setChecked(True))
        self.nearby.taken.connect(self._next)
        self.join_it = QRadioButton(tr("Join with an invitation"))
        self.join_it.setObjectName("joinFlock")
        self.create_it = QRadioButton(tr("Create a new flock"))
        self.create_it.setObjectName("createFlock")
        self.alone = QRadioButton(tr("Decide later"))
        self.alone.setObjectName("decideLater")
        self.invitation = QPlainTextEdit()
        self.invitation.setObjectName("invitation")
        self.invitation.setAccessibleName(tr("Invitation"))
        self.invitation.setPlaceholderText(tr("Paste the invitation here"))
        self.invitation.setFixedHeight(9 * GRID)
        self.invitation.setTabChangesFocus(True)
        self.file = button(tr("Open an invitation file …"), "invitationFile", self._open, "folder")
        self.name = QLineEdit()
        self.name.setObjectName("flockName")
        self.name.setAccessibleName(tr("Name of the flock"))
        self.name.setPlaceholderText(tr("Name of the flock, such as survey office"))
        self.name.setMaxLength(64)

    def _when_page(self) -> QWidget:
        page, lay = _page(
            tr("When may this computer help?"),
            tr("When you touch it, it is yours at once: what runs for others is held within a "
               "second, and handed on if you stay."),
        )  # fmt: skip
        self.idle = QRadioButton(tr("When nobody uses it"))
        self.idle.setObjectName("helpIdle")
        self.idle.setChecked(True)
        self.hours = QRadioButton(tr("When nobody uses it, and only in these hours"))
        self.hours.setObjectName("helpHours")
        self.always = QRadioButton(tr("Always; nobody sits at it"))
        self.always.setObjectName("helpAlways")
        self.week = WeekGrid()
        self.week.tell(OFFICE_NIGHTS)
        self.week.setVisible(False)
        self.hours.toggled.connect(self.week.setVisible)
        for each in (self.idle, self.hours, self.week, self.always):
            lay.addWidget(each)
        lay.addStretch(1)
        return page

    def _login_page(self) -> QWidget:
        page, lay = _page(
            tr("Start by itself?"),
            tr("Wingbeat then waits in the tray from when you log in. You can pause it from there "
               "at any time."),
        )  # fmt: skip
        self.at_login = QCheckBox(tr("Start when I log in"))
        self.at_login.setObjectName("firstRunAtLogin")
        self.at_login.setChecked(True)
        lay.addWidget(self.at_login)
        lay.addStretch(1)
        return page

    # -- walking -----------------------------------------------------------------------------

    def _go(self, steps: int) -> None:
        self.fault.hide()
        self._show(self.pages.currentIndex() + steps)

    def _show(self, page: int) -> None:
        self.pages.setCurrentIndex(page)
        self._tell()

    def _tell(self) -> None:
        at = self.pages.currentIndex()
        asking = at == ASKING_PAGE
        step = 1 if asking else at + 1
        self.step.setText(tr("Step {number} of {count}", number=step, count=STEPS))
        self.back.setVisible(at > 0 and not asking)
        self.next.setVisible(not asking)
        self.next.setText(tr("Done") if at == STEPS - 1 else tr("Next"))
        self.next.setEnabled(True)

    def _next(self) -> None:
        match self.pages.currentIndex():
            case 0:
                self._enter_flock()
            case 1:
                self._set_rules()
            case _:
                self._finish()

    def _flock_kind(self) -> None:
        self.invitation.setEnabled(self.join_it.isChecked())
        self.file.setEnabled(self.join_it.isChecked())
        self.name.setEnabled(self.create_it.isChecked())
        if self.create_it.isChecked() and not self.name.text():
            self.name.setFocus()

    # -- acts --------------------------------------------------------------------------------

    def offer(self, invitation: str) -> None:
        """Fill in an invitation that came as a file, and choose to join with it."""
        self.join_it.setChecked(True)
        self.invitation.setPlainText(invitation.strip())

    def _open(self) -> None:
        home = str(Path.home())
        chosen, _ = QFileDialog.getOpenFileName(self, tr("Open an invitation"), home)
        if chosen and not is_gone(self):
            self._read(Path(chosen))

    def _read(self, path: Path) -> None:
        try:
            self.offer(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError):
            self.fault.say(tr("{name} is no invitation.", name=path.name))

    def _enter_flock(self) -> None:
        node = self._context.screen.node
        if self.alone.isChecked() or (node is not None and node.flock):
            self._go(1)
        elif self.ask_it.isChecked():
            self._ask_nearby()
        elif self.join_it.isChecked():
            text = self.invitation.toPlainText().strip()
            if not text:
                self.fault.say(tr("Paste an invitation first, or choose one of the others."))
                return
            self.next.setEnabled(False)
            self._context.bridge.ask(
                self, JOIN, Join(text), self._entered, self._refused, JOIN_S_MAX
            )
        else:
            name = self.name.text().strip() or tr("flock of {name}", name=socket.gethostname())
            self.next.setEnabled(False)
            self._context.bridge.ask(
                self, FLOCK_CREATE, FlockCreate(name[:64]), self._entered, self._refused
            )

    def _ask_nearby(self) -> None:
        flock = self.nearby.meant()
        if flock is None:
            self.fault.say(tr("Choose the flock to ask first."))
            return
        self.next.setEnabled(False)
        self._context.bridge.ask(
            self, ASK, Ask(flock.flock), self._asked, self._refused, JOIN_S_MAX
        )

    def _asked(self, view: AskView) -> None:
        self._context.take((AskRead(view),))
        self.asking.tell(view)
        if is_asking(view):
            self.fault.hide()
            self._show(ASKING_PAGE)

    def _asked_in_vain(self, why: str) -> None:
        self._show(0)
        if why:
            self.fault.say(why)

    def _changed(self, changes: Changes) -> None:
        asked = self._context.screen.asked
        if changes.flock and asked is not None and self.pages.currentIndex() == ASKING_PAGE:
            self.asking.tell(asked)

    def _entered(self, _: Joined | None) -> None:
        self._context.bridge.want_flock()
        self._show(1)

    def _refused(self, sentence: str) -> None:
        self.next.setEnabled(True)
        self.fault.say(sentence)

    def _set_rules(self) -> None:
        view = self._context.screen.volunteering
        rules = view.rules if view is not None else VolunteerRules()
        if self.idle.isChecked():
            wanted = msgspec.structs.replace(rules, mode="when idle")
        elif self.hours.isChecked():
            hours = ranges_of(self.week.cells)
            wanted = msgspec.structs.replace(rules, mode="by schedule", hours=hours)
        else:
            wanted = msgspec.structs.replace(rules, mode="always")
        self.next.setEnabled(False)
        self._context.bridge.ask(
            self, SET_VOLUNTEERING, SetVolunteering(wanted), lambda _: self._go(1), self._refused
        )

    def _finish(self) -> None:
        if refused := switch(self._login, self.at_login.isChecked()):
            self.fault.say(refused)
        else:
            self.accept()

    def done(self, result: int) -> None:
        """Close, and remember that the first run is over however it ended; then emit
        ``done_with``."""
        settings.finish_first_run()
        self._context.changed.disconnect(self._changed)
        super().done(result)
        self.done_with.emit()


def clipboard_invitation() -> str:
    """Return what was copied if it looks like an invitation; else empty."""
    text = QGuiApplication.clipboard().text().strip()
    return text if text.startswith("wingbeat-") and "\n" not in text else ""


def _page(heading: str, text: str) -> tuple[QWidget, QVBoxLayout]:
    page = QWidget()
    lay = QVBoxLayout(page)
    lay.setContentsMargins(0, 0, 0, 0)
    lay.setSpacing(GRID + 4)
    head = title(heading)
    head.setWordWrap(True)
    lay.addWidget(head)
    lay.addWidget(label(text))
    return page, lay
