"""Joining without an invitation: the flocks of this network, and the wait until one lets us in.

The list is asked for when it is first seen and again on request, because other machines need a
moment to answer. While a request waits, the code stands large on both screens: whoever sits here
confirms it, whoever sits there admits; the order does not matter.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QListWidget, QListWidgetItem, QWidget

from agent.api.admission import (
    CONFIRM_ASK,
    NEARBY,
    WITHDRAW_ASK,
    AskView,
    ConfirmAsk,
    Nearby,
    NearbyFlock,
    NearbyReply,
    WithdrawAsk,
)
from gui.theme.drawing import icon
from gui.theme.look import GRID
from gui.views.pieces import (
    CENTRED,
    ICON_SIZE,
    PLAIN,
    SELECTABLE,
    button,
    column,
    label,
    quiet,
    row,
    set_up,
    title,
)
from gui.views.view_context import ViewContext
from gui.words import plain_tip, tr, tr_n

NEARBY_S_MAX = 30.0
ROW_HEIGHT, ROWS_SHOWN_MAX = 28, 4
CODE_SCALE = 2.0


class NearbyFlocks(QWidget):
    """``chosen`` when one is chosen, ``taken`` when it is meant (Enter, double click)."""

    chosen = Signal()
    taken = Signal()

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        self._flocks: list[NearbyFlock] = []
        self._looking = False
        self.list = set_up(
            QListWidget(),
            "nearbyFlocks",
            tr("Flocks nearby"),
            iconSize=ICON_SIZE,
            framed=True,
            visible=False,
            itemSelectionChanged=self.chosen.emit,
            itemActivated=lambda _: self.taken.emit(),
        )
        self.note = quiet(name="nearbyNote", wrap=True)
        self.again = button(tr("Look again"), "nearbyAgain", self.look, "retry", flat=True)
        column(self.list, row((self.note, 1), self.again), on=self, spacing=GRID // 2)

    def showEvent(self, event: QShowEvent) -> None:
        """Listen to the network, unless flocks are listed already."""
        super().showEvent(event)
        if not self._flocks:
            self.look()

    def look(self) -> None:
        """Ask the agent which flocks are on the network, and return at once; the answer is shown by
        ``tell``, or by the note why there is none. Does nothing while it listens already."""
        if self._looking:
            return
        self._looking = True
        self.again.setEnabled(False)
        self.note.setText(tr("Listening to the network …"))
        self._context.bridge.ask(self, NEARBY, Nearby(), self.tell, self._failed, NEARBY_S_MAX)

    def current(self) -> NearbyFlock | None:
        """Return the chosen flock, or None."""
        at = self.list.currentRow()
        return self._flocks[at] if 0 <= at < len(self._flocks) else None

    def meant(self) -> NearbyFlock | None:
        """Return the chosen flock, else the only one that can be asked, else None."""
        askable = [each for each in self._flocks if each.askable]
        return self.current() or (askable[0] if len(askable) == 1 else None)

    def tell(self, reply: NearbyReply) -> None:
        """Show these flocks but our own instead of those before, those that cannot be asked
        disabled; what the person has chosen stays chosen if it is still there. The note says what
        to do now."""
        self._looking = False
        self.again.setEnabled(True)
        before = self.current()
        self.list.blockSignals(True)  # what is chosen is the person's, not the network's
        self._flocks = [each for each in reply.flocks if not each.own]
        self.list.clear()
        for each in self._flocks:
            item = QListWidgetItem(icon("flock"), _flock_text(each))
            item.setSizeHint(QSize(0, ROW_HEIGHT))
            item.setToolTip(plain_tip(each.flock))
            if not each.askable:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
            self.list.addItem(item)
            if before is not None and before.flock == each.flock:
                self.list.setCurrentItem(item)
        self.list.blockSignals(False)
        self.list.setFixedHeight(ROW_HEIGHT * min(ROWS_SHOWN_MAX, len(self._flocks)) + GRID + 4)
        self.list.setVisible(bool(self._flocks))
        self.note.setText(reply.trouble or _found_text(len(self._flocks)))

    def _failed(self, sentence: str) -> None:
        self._looking = False
        self.again.setEnabled(True)
        self.note.setText(sentence)


class AskPanel(QWidget):
    """``joined`` when this machine belongs, ``over`` with why when it will not."""

    joined = Signal()
    over = Signal(str)

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        self._view: AskView | None = None
        self.heading, self.words = title(""), label(name="askWords")
        font = self.heading.font()
        font.setPointSizeF(font.pointSizeF() * CODE_SCALE)
        self.code = set_up(
            QLabel(),
            "askCode",
            font=font,
            alignment=CENTRED,
            textFormat=PLAIN,
            textInteractionFlags=SELECTABLE,
        )
        self.state = quiet(name="askState", wrap=True)
        self.same = button(tr("The same code stands there"), "askConfirm", self._confirm, "check",
                           primary=True)  # fmt: skip
        self.withdraw = button(tr("Do not join"), "askWithdraw", self._withdraw)
        across = row(self.same, self.withdraw, "stretch")
        words = (self.heading, self.words, self.code, self.state)
        column(*words, across, "stretch", on=self, spacing=2 * GRID)

    def tell(self, view: AskView) -> None:
        """Show what has become of the request. When its state changes to an end, ``joined`` or
        ``over`` is emitted, once."""
        before, self._view = self._view, view
        self.heading.setText(tr("Asking {flock} to let this computer in", flock=view.flock))
        self.words.setText(
            tr("Ask somebody at {keeper} to open the flock there and to admit this computer. "
               "There the same code must stand; if it is another one, do not join.",
               keeper=view.keeper)
        )  # fmt: skip
        self.code.setText(view.code)
        self.code.setAccessibleName(tr("Code {code}", code=view.code))
        self.state.setText(_state_text(view))
        self.same.setEnabled(not view.confirmed)
        if before is not None and before.state == view.state:
            return
        if view.state == "joined":
            self.joined.emit()
        elif view.state in ("refused", "ended"):
            self.over.emit(_end_text(view))

    def _confirm(self) -> None:
        if self._view is not None:
            self.same.setEnabled(False)
            code = ConfirmAsk(self._view.code)
            context = self._context
            context.bridge.ask(
                self, CONFIRM_ASK, code, lambda view: context.take((view,)), self._failed
            )

    def _withdraw(self) -> None:
        self._context.bridge.ask(self, WITHDRAW_ASK, WithdrawAsk(), self._withdrawn, self._failed)

    def _withdrawn(self, view: AskView) -> None:
        self._view = view
        self._context.take((view,))
        self.over.emit("")

    def _failed(self, sentence: str) -> None:
        self.same.setEnabled(True)
        self.state.setText(sentence)


def is_asking(view: AskView | None) -> bool:
    """Tell whether a request is under way; false where nothing is known of one."""
    return view is not None and view.state in ("waiting", "admitted", "joining")


def _flock_text(each: NearbyFlock) -> str:
    name = each.name or tr("a flock that has not told its name")
    machines = tr_n("%n machine(s)", "of a flock", each.machines) if each.machines else ""
    said = " · ".join(filter(None, (name, machines)))
    return said if each.askable else said + " · " + tr("nobody there can be asked")


def _found_text(count: int) -> str:
    if count:
        return tr("Ask one of them; somebody there has to let this computer in.")
    return tr("No flock is heard on this network. Ask for an invitation instead.")


def _state_text(view: AskView) -> str:
    match view.state:
        case "waiting" if view.confirmed:
            return tr("You have confirmed the code; now somebody at {keeper} has to admit.",
                      keeper=view.keeper)  # fmt: skip
        case "waiting":
            return tr("Waiting for somebody at {keeper} …", keeper=view.keeper)
        case "admitted":
            return tr("Somebody at {keeper} lets this computer in. Is the code the same?",
                      keeper=view.keeper)  # fmt: skip
        case "joining":
            return tr("Joining …")
        case _:
            return view.reason


def _end_text(view: AskView) -> str:
    if view.state == "refused":
        return tr("Somebody at {keeper} does not let this computer in.", keeper=view.keeper)
    return view.reason or tr("The request has ended; ask again.")
