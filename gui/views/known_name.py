"""What the sheet says where a workflow of that name was submitted before, and the ways on from there.

Another name, the same once more, or a look at the one that is there. While a script or a file may have
been changed nobody knows yet whether it is the same work; the answer to the submission tells.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container

from PySide6.QtWidgets import QLineEdit, QWidget

from agent.api.work import WorkflowView
from gui.model.times import moment
from gui.model.workflows import outlook
from gui.views.pieces import button, column, label, row, said_of, set_up
from gui.words import tr


class KnownName(QWidget):
    """``renamed`` is told another name, as it is typed; ``shown`` the id of the workflow that is
    there; ``again`` where the same is wanted once more."""

    def __init__(
        self,
        renamed: Callable[[str], object],
        shown: Callable[[str], object],
        again: Callable[[], object],
    ) -> None:
        super().__init__()
        self._renamed = renamed
        self._there = self._offered = ""
        self.said = label(name="knownSaid")
        self.said.setWordWrap(True)
        self.name = set_up(QLineEdit(), "knownName", tr("Another name"))
        self.name.textEdited.connect(renamed)
        self.offer = button("", "knownOffer", self._take)
        self.show_it = button(tr("Show it"), "knownShow", lambda: shown(self._there))
        self.run_again = button(tr("Run again"), "knownAgain", again, "retry")
        name = (said_of(self.name, tr("Name")), (self.name, 1), self.offer)
        column(self.said, row(*name, self.show_it, self.run_again), on=self, margins=0)
        self.hide()

    def tell(
        self, there: WorkflowView | None, name: str, taken: Container[str], *, same: bool
    ) -> None:
        """Show that ``there``, a workflow of the wanted name, exists, and offer a free name
        instead; ``same``: it is known to be the same work. For None show only that another name
        (``name``) was typed, nothing if that is empty."""
        self.setVisible(there is not None or name != "")
        for each in (self.show_it, self.run_again):
            each.setVisible(there is not None)
        if there is None:
            self.said.setText(tr("It runs under another name."))
            self.offer.hide()
            return
        now_s = time.time()
        when, how = moment(there.submitted_ms / 1000, now_s), outlook(there, (), now_s)
        if same:
            said = tr(
                "The same was submitted {when} ({how}), and is not run twice.", when=when, how=how
            )
        else:
            said = tr(
                "{name} was submitted before, {when} ({how}). If nothing has changed since, it is "
                "not run twice.",
                name=there.name,
                when=when,
                how=how,
            )
        self.said.setText(said)
        if self._there != there.workflow:
            self._there, self._offered = there.workflow, free_name(there.name, taken)
            self.offer.setText(tr("Call it {name}", name=self._offered))
        if not self.name.hasFocus():
            self.name.setText(name or there.name)
        self.offer.setVisible(name in ("", there.name))

    def _take(self) -> None:
        self.name.setText(self._offered)
        self._renamed(self._offered)


def free_name(name: str, taken: Container[str]) -> str:
    """Return the name with the first number behind it that makes it one that is not taken: counted
    on from a number that it ends in, else from 2."""
    stem, _, last = name.rpartition(" ")
    stem, number = (stem, int(last)) if stem and last.isascii() and last.isdecimal() else (name, 1)
    while f"{stem} {(number := number + 1)}" in taken:
        pass
    return f"{stem} {number}"
