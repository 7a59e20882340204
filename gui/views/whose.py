"""Mine, or everybody's: one click, remembered for each place that asks."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QToolButton, QWidget

from gui import settings
from gui.views.pieces import row, set_up
from gui.words import tr


class Whose(QWidget):
    """Two buttons of which one is pressed; ``changed`` when a person has pressed the other."""

    changed = Signal()

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place
        self.mine, self.everybodys = (
            set_up(QToolButton(), f"{place}_{name}", tip, text=text, toolTip=tip, checkable=True)
            for name, text, tip in (
                ("mine", tr("Mine"), tr("Only what I have submitted from this computer")),
                ("everybodys", tr("Everybody's"), tr("What anybody in the flock has submitted")),
            )
        )
        self._group = QButtonGroup(self)
        for each in (self.mine, self.everybodys):
            self._group.addButton(each)
        self._show(settings.shows_all(place))
        self._group.buttonClicked.connect(lambda _: self.choose(self.everybodys.isChecked()))
        self.setLayout(row(self.mine, self.everybodys, spacing=2))

    @property
    def all(self) -> bool:
        """Whether everybody's is shown."""
        return self.everybodys.isChecked()

    def choose(self, everybodys: bool) -> None:
        """Show everybody's or one's own from now on, remember it, and tell."""
        self._show(everybodys)
        settings.show_all(self._place, everybodys)
        self.changed.emit()

    def _show(self, everybodys: bool) -> None:
        (self.everybodys if everybodys else self.mine).setChecked(True)
