"""Who asks to be let into the flock: name, user, the code to compare, and the two answers.

Above the list of machines, because that is where a machine then stands. Admitting without having
compared the code would let in whoever is quickest to call himself so; the card therefore says what
is to be compared with what, and the code is as large as a heading.
"""

from __future__ import annotations

import time

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from agent.api.admission import (
    ADMIT,
    REFUSE,
    Admit,
    Answered,
    JoinRequestView,
    Refuse,
    RequestsReply,
)
from agent.api.rpc import Method, P
from gui.model.times import moment
from gui.theme.look import GRID
from gui.views.pieces import (
    button,
    clear,
    column,
    has_keyboard,
    label,
    quiet,
    row,
    set_up,
    strong,
    title,
)
from gui.views.view_context import ViewContext
from gui.words import tr

CARDS_MAX = 6


class JoinRequests(QWidget):
    """Takes no room while nobody asks. ``left``: the button under the keyboard is about to go."""

    left = Signal()

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        self._shown: RequestsReply | None = None
        self._cards = column(on=set_up(self, "joinRequests"), margins=(2 * GRID, 0, 2 * GRID, 0))
        self.hide()

    def tell(self, reply: RequestsReply | None) -> None:
        """Show a card for each request, ``CARDS_MAX`` at the most, then how many more there are;
        hide where there is none, or none was read (None). Do nothing if they are those shown
        already. ``left`` is emitted first if the keyboard is here, for the cards go."""
        if reply == self._shown:
            return
        self._shown = reply
        if has_keyboard(self):
            self.left.emit()
        clear(self._cards)
        requests = reply.requests if reply is not None else ()
        for place, each in enumerate(requests[:CARDS_MAX]):
            assert reply is not None
            self._cards.addWidget(self._card(place, each, reply))
        if len(requests) > CARDS_MAX:
            self._cards.addWidget(quiet(tr("and {number} more", number=len(requests) - CARDS_MAX)))
        self.setVisible(bool(requests))

    def _card(self, place: int, each: JoinRequestView, reply: RequestsReply) -> QWidget:
        said = tr("{name} wants to join", name=each.name)
        whole = tr("{sentence}, code {code}", sentence=said, code=each.code)
        code = set_up(title(each.code, f"joinCode{place}"), says=tr("Code {code}", code=each.code))
        words = (strong(said), quiet(_who(each), wrap=True), label(_what_to_do(each, reply)))
        answers = []
        if reply.may_admit and not each.admitted:
            answers = [
                set_up(button(text, f"{name}{place}", act, primary=name == "admit"), says=says)
                for name, text, says, act in (
                    ("admit", tr("Admit"), tr("Admit {name}", name=each.name),
                     lambda: self._answer(ADMIT, Admit(each.request, each.code))),
                    ("refuse", tr("Refuse"), tr("Refuse {name}", name=each.name),
                     lambda: self._answer(REFUSE, Refuse(each.request))),
                )
            ]  # fmt: skip
        card = set_up(QFrame(), f"joinRequest{place}", whole, bar="notice")
        text = column(*words, spacing=2)
        margins = (2 * GRID, GRID, GRID, GRID)
        card.setLayout(row(code, (text, 1), *answers, spacing=2 * GRID, margins=margins))
        return card

    def _answer(self, method: Method[P, Answered], wish: P) -> None:
        self._context.ask(self, method, wish, self._answered)

    def _answered(self, answered: Answered) -> None:
        self._context.bridge.want_flock()
        if not answered.admitted:  # else its card says what comes next, until it has joined
            self._context.said.emit(tr("{name} is not let in.", name=answered.name))


def _who(each: JoinRequestView) -> str:
    parts = [
        tr("{user} sits at it", user=each.user) if each.user else "",
        each.address,
        tr("asked {when}", when=moment(each.asked_ms / 1000, time.time())),
    ]
    return " · ".join(part for part in parts if part)


def _what_to_do(each: JoinRequestView, reply: RequestsReply) -> str:
    if each.admitted:
        return tr("Let in. It joins as soon as its person has confirmed the code.")
    if reply.may_admit:
        return tr("Admit it only if the same code stands on its screen: ask its person.")
    keepers = ", ".join(reply.keepers) or each.keeper
    return tr("It can be answered at {keepers}.", keepers=keepers)
