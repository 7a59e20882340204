"""The first run: three quiet steps; nothing here cannot be changed later.

It is over when somebody has said when this computer may help, and *Not now* is an answer: no answer
is chosen before, unless by an administrator, whose word each person may change and the policy may
fix. Whoever has joined a flock already, or joins by itself, is asked only the rest.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QStackedWidget,
    QWidget,
)

from agent.api.admission import ASK, Ask, AskView
from agent.api.flock import FLOCK_CREATE, JOIN, FlockCreate, Join, Joined
from agent.api.rpc import Method
from agent.api.volunteering import (
    NOT_YET,
    SET_VOLUNTEERING,
    UNHELPFUL,
    SetVolunteering,
    VolunteeringView,
    VolunteerMode,
    VolunteerRules,
)
from gui.model.screen import Changes
from gui.model.trouble import joins_by_itself
from gui.model.week import cells_of, ranges_of
from gui.startup import Login, switch
from gui.theme.look import GRID
from gui.views.asking import AskPanel, NearbyFlocks, is_asking
from gui.views.bars import Bar
from gui.views.choosing import file_to_open
from gui.views.fixed import fixed_words, tell_fixed
from gui.views.pieces import (
    LEFT,
    Placed,
    Sheet,
    button,
    column,
    held,
    label,
    quiet,
    row,
    set_up,
    title,
)
from gui.views.questions import tell_phrase
from gui.views.room import Scrolled, keep_on_screen
from gui.views.view_context import ViewContext
from gui.views.week_grid import WeekGrid
from gui.words import tr

SIZE_FIRST, SIZE_MIN = (78 * GRID, 76 * GRID), (60 * GRID, 40 * GRID)
STEPS = 3
WHEN_PAGE = 1
ASKING_PAGE = STEPS
"""Beside the three: the wait until a flock nearby lets this computer in."""
JOIN_S_MAX = 60.0
OFFICE_NIGHTS = frozenset(
    (day, hour) for day in range(7) for hour in range(24) if day > 4 or hour < 7 or hour > 18
)

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)


class FirstRun(Sheet):
    """Join or create, when to help, start at login."""

    done_with = Signal()

    def __init__(self, context: ViewContext, login: Login, parent: QWidget | None = None) -> None:
        super().__init__(parent, "firstRun", tr("Welcome to Wingbeat"))
        self._context, self._login = context, login
        node = context.screen.node
        joins = joins_by_itself(context.screen)
        self._first = WHEN_PAGE if node is not None and (node.flock or joins) else 0
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
        bottom = row("stretch", self.back, self.next)
        margins = (3 * GRID, 3 * GRID, 3 * GRID, 2 * GRID)
        column(self.step, self.fault, (self.pages, 1), bottom, on=self, margins=margins)
        self.resize(self.sizeHint().expandedTo(QSize(*SIZE_FIRST)))
        keep_on_screen(self, SIZE_MIN)
        self._show(self._first)
        context.changed.connect(self._changed)
        if is_asking(context.screen.asked):
            self._show(ASKING_PAGE)

    # -- pages -------------------------------------------------------------------------------

    def _flock_page(self) -> QWidget:
        self.invitation = set_up(
            QPlainTextEdit(),
            "invitation",
            tr("Invitation"),
            placeholderText=tr("Paste the invitation here"),
            fixedHeight=9 * GRID,
            tabChangesFocus=True,
        )
        self.file = button(tr("Open an invitation file …"), "invitationFile", self._open, "folder")
        hint = tr("Name of the flock, such as survey office")
        says = tr("Name of the flock")
        self.name = set_up(QLineEdit(), "flockName", says, placeholderText=hint, maxLength=64)
        self.ask_it, self.join_it, self.create_it, self.alone = _choices(
            ("askFlock", tr("Ask a flock nearby")),
            ("joinFlock", tr("Join with an invitation")),
            ("createFlock", tr("Create a new flock")),
            ("decideLater", tr("Decide later")),
        )
        self.nearby = NearbyFlocks(self._context)
        self.nearby.chosen.connect(lambda: self.ask_it.setChecked(True))
        self.nearby.taken.connect(self._next)
        for each in (self.ask_it, self.join_it, self.create_it, self.alone):
            each.toggled.connect(self._flock_kind)
        self.join_it.setChecked(True)
        return _page(
            tr("Which flock does this computer belong to?"),
            tr("A flock is the machines that work together. Somebody who belongs to it lets you "
               "in, or makes you an invitation."),
            *(self.ask_it, self.nearby, self.join_it, self.invitation, (self.file, LEFT)),
            *(self.create_it, self.name, self.alone),
        )  # fmt: skip

    def _when_page(self) -> QWidget:
        self.idle, self.hours, self.always, self.own, self.not_now = _choices(
            ("helpIdle", tr("When nobody uses it")),
            ("helpHours", tr("When nobody uses it, and only in these hours")),
            ("helpAlways", tr("Always; nobody sits at it")),
            ("helpOwn", tr("Only with my own work")),
            ("helpNotNow", tr("Not now")),
        )
        self.week = WeekGrid()
        view = self._context.screen.volunteering
        rules = view.rules if view is not None else VolunteerRules("not yet")
        self.week.tell(cells_of(rules.hours) or OFFICE_NIGHTS)
        self.week.setVisible(False)
        self.hours.toggled.connect(self.week.setVisible)
        if (answer := self._answers().get(_answer_in(rules))) is not None:
            answer.setChecked(True)
        self.whose = quiet(_whose(view), "helpWhose", wrap=True)
        self.whose.setVisible(bool(self.whose.text()))
        if view is not None and "mode" in view.fixed:
            for each in self._answers().values():
                tell_fixed(each, view.fixed_by)
        return _page(
            tr("When may this computer help?"),
            tr("When you touch it, it is yours at once: what runs for others is held within a "
               "second, and handed on if you stay. What you submit here runs here, whatever you "
               "choose."),
            self.whose,
            *(self.idle, self.hours, self.week, self.always, self.own, self.not_now),
        )  # fmt: skip

    def _answers(self) -> dict[tuple[VolunteerMode, bool], QRadioButton]:
        """By mode and whether only for one's own work; some rules are among none of these."""
        return {
            ("when idle", False): self.idle,
            ("by schedule", False): self.hours,
            ("always", False): self.always,
            ("always", True): self.own,
            ("not now", False): self.not_now,
        }

    def _login_page(self) -> QWidget:
        self.at_login = set_up(
            QCheckBox(tr("Start when I log in")), "firstRunAtLogin", checked=True
        )
        return _page(
            tr("Start at login"),
            tr("Wingbeat then waits in the tray from when you log in. You can pause it from there "
               "at any time."),
            self.at_login,
        )  # fmt: skip

    # -- walking -----------------------------------------------------------------------------

    def _go(self, steps: int) -> None:
        self._show(self.pages.currentIndex() + steps)

    def _show(self, page: int) -> None:
        self.fault.hide()
        self.pages.setCurrentIndex(page)
        self._tell()

    def _tell(self) -> None:
        at = self.pages.currentIndex()
        asking = at == ASKING_PAGE
        step = (0 if asking else at) - self._first + 1
        count = STEPS - self._first
        self.step.setText(tr("Step {number} of {count}", number=step, count=count))
        self.back.setVisible(at > self._first and not asking)
        self.next.setVisible(not asking)
        self.next.setText(tr("Done") if at == STEPS - 1 else tr("Next"))
        self.next.setEnabled(True)

    def _next(self) -> None:
        match self.pages.currentIndex():
            case 0:
                self._enter_flock()
            case 1:  # WHEN_PAGE
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
        path = file_to_open(self, "invitation", tr("Open an invitation"))
        if path is not None:
            self._read(path)

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
            self._wish(JOIN, Join(text), self._entered)
        else:
            name = self.name.text().strip() or tr("flock of {name}", name=socket.gethostname())
            self._wish(FLOCK_CREATE, FlockCreate(name[:64]), self._entered)

    def _ask_nearby(self) -> None:
        flock = self.nearby.meant()
        if flock is None:
            self.fault.say(tr("Choose the flock to ask first."))
        else:
            self._wish(ASK, Ask(flock.flock), self._asked)

    def _wish(self, method: Method[P, R], params: P, done: Callable[[R], object]) -> None:
        """Ask for what this step is to do; the next one comes when it is done."""
        self.next.setEnabled(False)
        self._context.bridge.ask(self, method, params, done, self._refused, JOIN_S_MAX)

    def _asked(self, view: AskView) -> None:
        self._context.take((view,))
        self.asking.tell(view)
        if is_asking(view):
            self._show(ASKING_PAGE)

    def _asked_in_vain(self, why: str) -> None:
        self._show(0)
        if why:
            self.fault.say(why)

    def _changed(self, changes: Changes) -> None:
        asked = self._context.screen.asked
        if changes.flock and asked is not None and self.pages.currentIndex() == ASKING_PAGE:
            self.asking.tell(asked)

    def _entered(self, joined: Joined | None) -> None:
        if joined is not None and joined.phrase:
            tell_phrase(self, joined.phrase)
        self._context.bridge.want_flock()
        self._show(1)

    def _refused(self, sentence: str) -> None:
        self.next.setEnabled(True)
        self.fault.say(sentence)

    def _set_rules(self) -> None:
        view = self._context.screen.volunteering
        rules = view.rules if view is not None else VolunteerRules()
        chosen = [answer for answer, each in self._answers().items() if each.isChecked()]
        if not chosen:
            self.fault.say(tr("Choose one of these; Not now is one too."))
            return
        mode, own_only = chosen[0]
        hours = ranges_of(self.week.cells) if mode == "by schedule" else rules.hours
        wanted = msgspec.structs.replace(rules, mode=mode, hours=hours, own_only=own_only)
        self._wish(SET_VOLUNTEERING, SetVolunteering(wanted), lambda _: self._go(1))

    def _finish(self) -> None:
        if refused := switch(self._login, self.at_login.isChecked()):
            self.fault.say(refused)
        else:
            self.accept()

    def done(self, result: int) -> None:
        """Close, however far it has come, then emit ``done_with``."""
        self._context.changed.disconnect(self._changed)
        super().done(result)
        self.done_with.emit()


def _whose(view: VolunteeringView | None) -> str:
    """Who has chosen what is chosen already, if that is an administrator."""
    if view is None or (view.answered and "mode" not in view.fixed):
        return ""
    if "mode" in view.fixed:
        return fixed_words(view.fixed_by)
    if view.rules.mode == NOT_YET:
        return ""
    return tr("Whoever looks after this computer has chosen this; it is for you to say otherwise.")


def _answer_in(rules: VolunteerRules) -> tuple[VolunteerMode, bool]:
    return (rules.mode, rules.own_only and rules.mode not in UNHELPFUL)


def clipboard_invitation() -> str:
    """Return what was copied if it looks like an invitation; else empty."""
    text = QGuiApplication.clipboard().text().strip()
    return text if text.startswith("wingbeat-") and "\n" not in text else ""


def _page(heading: str, text: str, *parts: Placed) -> QWidget:
    head = set_up(title(heading), wordWrap=True)
    return held(column(head, label(text), *parts, "stretch", spacing=GRID + 4))


def _choices(*choices: tuple[str, str]) -> list[QRadioButton]:
    return [set_up(QRadioButton(text), name) for name, text in choices]
