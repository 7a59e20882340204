"""Which programs the machine stands back for, chosen from those that its owner runs just now.

The names stand in a field, between commas, where others can be written that do not run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLineEdit, QPushButton

from agent.api.volunteering import RUNNING_PROGRAMS, ProgramsRunning, RunningPrograms
from gui.bridge.bridge import Task
from gui.views.menus import add_entry, context_menu
from gui.views.pieces import set_up, words_in
from gui.views.view_context import ViewContext
from gui.words import tr

LISTED_LENGTH = 15
"""So much of a name the agent compares."""


class RunningChoice(QPushButton):
    """A button that opens a menu of what runs; an entry adds its name to the field, or takes it out.
    ``changed`` is called then, ``failed`` with a sentence when nobody tells what runs."""

    def __init__(
        self,
        context: ViewContext,
        field: QLineEdit,
        changed: Callable[[], object],
        failed: Callable[[str], object],
    ) -> None:
        text = tr("From running programs …")
        super().__init__(text)
        self._context, self._field = context, field
        self._changed, self._failed = changed, failed
        self._asked: Task | None = None
        set_up(self, "exclusiveRunning", text, autoDefault=False)
        self.clicked.connect(lambda: self._ask())

    def _ask(self) -> None:
        if self._asked is not None:
            self._asked.cancel()  # so that one menu opens, however often it is pressed
        self._asked = self._context.bridge.ask(
            self, RUNNING_PROGRAMS, RunningPrograms(), self._open, self._failed
        )

    def _open(self, running: ProgramsRunning) -> None:
        """Not over another page, if its person went on meanwhile."""
        if not (self.isVisible() and self.isEnabled()):
            return
        menu = context_menu(self, "exclusiveRunningMenu")
        menu.setStyleSheet("QMenu { menu-scrollable: 1; }")
        taken = {_compared(each) for each in words_in(self._field.text())}
        for name in running.names:
            entry = menu.addAction(name.replace("&", "&&"))
            entry.setObjectName(name)
            entry.setCheckable(True)
            entry.setChecked(_compared(name) in taken)
            entry.toggled.connect(partial(self._choose, name))
        if not running.names:
            none = tr("No program of yours runs at the moment")
            add_entry(menu, "none", none, lambda: None, able=False)
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))

    def _choose(self, name: str, chosen: bool) -> None:
        words = words_in(self._field.text())
        others = [each for each in words if _compared(each) != _compared(name)]
        self._field.setText(", ".join([*others, name] if chosen else others))
        self._changed()


def _compared(name: str) -> str:
    """As the agent does; what is longer than a listed name may be is compared by its beginning."""
    return name.casefold().removesuffix(".exe")[:LISTED_LENGTH]
