"""Whose people may act on work beside its submitter: nobody, all operators, everybody, or named machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QComboBox, QWidget

from gui.model.workflows import EVERYBODY, NOBODY, OPERATORS, shared_text
from gui.views.menus import add_entry, context_menu
from gui.views.pieces import button, row, set_up
from gui.views.view_context import ViewContext
from gui.words import plain_tip, tr

NAMED = "named"


class ShareChoice(QWidget):
    """A list, and beside it, for named machines, a button with a menu of them. ``changed`` is called
    with names of machines, or one of the three words, when a person has chosen."""

    def __init__(
        self, context: ViewContext, name: str, changed: Callable[[tuple[str, ...]], object]
    ) -> None:
        super().__init__()
        self._context, self._changed = context, changed
        self._names: tuple[str, ...] = ()
        self.choice = set_up(QComboBox(), name, tr("Shared with"))
        for value in (NOBODY, OPERATORS, EVERYBODY):
            self.choice.addItem(shared_text((value,)), value)
        self.choice.addItem(tr("named machines …"), NAMED)
        self.choice.setToolTip(
            plain_tip(tr("They may read it, cancel it, try it again, change how urgent it is and mark "
                         "its steps done, as its submitter may."))
        )  # fmt: skip
        self.choice.activated.connect(lambda _: self._chose())
        self.which = button(tr("Choose …"), f"{name}Which", self._open)
        self.setLayout(row(self.choice, self.which))

    def tell(self, shared: tuple[str, ...]) -> None:
        """Show with whom it is shared; nobody for none."""
        word = shared[0] if len(shared) == 1 else NOBODY if not shared else NAMED
        known = self.choice.findData(word) >= 0 and word != NAMED
        self._names = () if known else shared
        self._show(word if known else NAMED)

    def _show(self, word: str) -> None:
        self.choice.setCurrentIndex(self.choice.findData(word))
        self.which.setVisible(word == NAMED)
        said = shared_text(self._names) if self._names else tr("Choose …")
        set_up(self.which, text=said.replace("&", "&&"), accessibleName=said, toolTip=said)

    def _chose(self) -> None:
        word = self.choice.currentData()
        self._show(word)
        if word != NAMED:
            self._changed((word,))
        elif self._names:
            self._changed(self._names)
        else:
            self._changed((NOBODY,))  # until one is named
            self._open()

    def _open(self) -> None:
        """Machines of the flock but this one, each to be ticked; those that have gone as well."""
        members = known.members if (known := self._context.screen.members) is not None else ()
        names = [each.name for each in members]
        called = {
            each.name if _means_one(each.name, names) else each.node: each.name
            for each in members
            if not each.own
        }
        menu = context_menu(self, f"{self.choice.objectName()}Menu")
        for name in sorted({*called, *self._names}):
            entry = menu.addAction(called.get(name, name).replace("&", "&&"))
            entry.setObjectName(name)
            entry.setCheckable(True)
            entry.setChecked(name in self._names)
            entry.toggled.connect(partial(self._tick, name))
        if menu.isEmpty():
            add_entry(menu, "none", tr("There is no other machine yet"), lambda: None, able=False)
        menu.popup(self.which.mapToGlobal(QPoint(0, self.which.height())))

    def _tick(self, name: str, chosen: bool) -> None:
        others = tuple(each for each in self._names if each != name)
        self._names = (*others, name) if chosen else others
        self._show(NAMED)
        self._changed(self._names or (NOBODY,))


def _means_one(name: str, names: Sequence[str]) -> bool:
    """Whether a machine can be named by its name; else it is by its id."""
    return names.count(name) == 1 and name not in (NOBODY, OPERATORS, EVERYBODY)
