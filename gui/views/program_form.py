"""How a program runs that was dropped by itself: with which files, how often, and what it is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from agent.workflow.one_program import RUNS_MAX, Alone
from gui.theme.look import GRID
from gui.views.choosing import files_to_open
from gui.views.pieces import (
    button,
    column,
    form,
    held,
    number_field,
    quiet,
    row,
    set_up,
)
from gui.words import plain_tip, tr, tr_n

NAMES_SHOWN_MAX = 4
ONCE, EACH, OFTEN = range(3)


class ProgramForm(QWidget):
    """``changed`` with what holds from now on, whenever its person has changed something."""

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._alone = Alone()
        self.files = quiet(name="programFiles", wrap=True)
        self.add = button(tr("Add files …"), "programAdd", self._add, "plus")
        self.none = button(
            tr("Without files"), "programNone", lambda: self._change(files=()), flat=True
        )
        self.often = set_up(QComboBox(), "programOften", tr("How often"))
        self.often.addItems([tr("Once"), tr("Once for each file"), tr("Several times")])
        self.often.currentIndexChanged.connect(lambda _: self._change())
        self.times = set_up(number_field("programTimes", 2, RUNS_MAX), says=tr("How many times"))
        self.times.valueChanged.connect(lambda _: self._change())
        self.parameters = set_up(QLineEdit(), "programParameters")
        self.parameters.textChanged.connect(lambda _: self._change())
        self.told = quiet(name="programTold", wrap=True)
        lines = form(
            (tr("With which files"), held(row((self.files, 1), self.none, self.add))),
            (tr("How often"), held(row(self.often, self.times, "stretch"))),
            (tr("Parameters"), self.parameters),
        )
        column(held(lines), self.told, on=set_up(self, "programForm"), spacing=GRID // 2)

    def tell(self, alone: Alone) -> None:
        """Show with which files and parameters, and how often, a program that comes alone runs,
        without emitting ``changed``."""
        self._alone = alone
        for each in (self.often, self.times, self.parameters):
            each.blockSignals(True)
        self.often.setCurrentIndex(EACH if alone.each else OFTEN if alone.times > 1 else ONCE)
        self.times.setValue(alone.times)
        if self.parameters.text().strip() != alone.parameters:
            self.parameters.setText(alone.parameters)
        for each in (self.often, self.times, self.parameters):
            each.blockSignals(False)
        self._say()

    def offer(self, paths: list[Path]) -> None:
        """Let it have these files too, besides those that it has."""
        names = dict.fromkeys([*self._alone.files, *(str(each.absolute()) for each in paths)])
        self._change(files=tuple(names))

    def _add(self) -> None:
        if chosen := files_to_open(self, "submitWith", tr("Files for the program")):
            self.offer(chosen)

    def _change(self, **files: tuple[str, ...]) -> None:
        often = self.often.currentIndex()
        self._alone = replace(
            self._alone,
            each=often == EACH,
            times=self.times.value() if often == OFTEN else 1,
            parameters=self.parameters.text().strip(),
            **files,
        )
        self._say()
        self.changed.emit(self._alone)

    def _say(self) -> None:
        names = [Path(each).name for each in self._alone.files]
        more = len(names) - NAMES_SHOWN_MAX
        listed = ", ".join(names[:NAMES_SHOWN_MAX])
        if more > 0:
            listed = tr_n("{names} and %n more", "files", more, names=listed)
        self.files.setText(listed or tr("None; files can be dropped here"))
        self.files.setToolTip(plain_tip("\n".join(self._alone.files)))
        self.none.setVisible(bool(names))
        self.times.setVisible(self.often.currentIndex() == OFTEN)
        self.told.setText(tr("It is told: {words}", words=self._words()))
        self.told.setVisible(bool(self._words()))

    def _words(self) -> str:
        """What stands on its command line, of one run."""
        alone = self._alone
        names = [Path(each).name for each in alone.files[: 1 if alone.each else NAMES_SHOWN_MAX]]
        number = "1" if alone.times > 1 else ""
        parameters = " ".join(filter(None, (alone.parameters, number)))
        told = [*(f"-p {name}" for name in names), *([f"-x {parameters}"] if parameters else [])]
        return " ".join(told)
