"""The sheet for the folder of a flight: what lies in it, what only a person knows, and the plan.

What no file says is asked for by a field of its own, and nothing is guessed. The plan is written when
its person goes on; then the ordinary sheet opens with it.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from agent.client.inspecting import Flight
from gui.bridge.bridge import Task
from gui.bridge.inspecting import inspected, place_of_plan
from gui.model.times import size
from gui.theme.look import GRID
from gui.views.bars import Bar
from gui.views.choosing import folder_to_fill
from gui.views.pieces import (
    Sheet,
    button,
    column,
    form,
    form_row,
    held,
    label,
    quiet,
    row,
    set_up,
    strong,
    timer,
)
from gui.views.view_context import ViewContext
from gui.words import tr, tr_n

TYPING_PAUSE_MS = 500
SURVIVED_MAX = 8


def _questions() -> dict[str, tuple[str, str]]:
    """What is asked for, by the option of the plan that says it: its name, and an example."""
    return {
        "crs": (tr("Reference system of the scans"), "EPSG:28992"),
        "heights": (tr("What their heights are"), "EPSG:5709"),
        "target": (tr("Reference system to work in"), "EPSG:28992"),
        "route": (tr("Map of the line"), "route.gpkg"),
        "route-crs": (tr("Reference system of the map"), "EPSG:4326"),
        **_more(),
    }


def _more() -> dict[str, tuple[str, str]]:
    """What may be said as well: of most flights nobody has to."""
    return {
        "name": (tr("Name of the line"), "line-7"),
        "date": (tr("Day of the flight"), "2026-05-04"),
        "tile-m": (tr("Length of a tile in metres"), "400"),
        "frame": (tr("Where the points are"), ""),
        "lever-m": (tr("From the antenna to the scanner: x y z in metres"), "0.1 -0.2 0.35"),
        "boresight-deg": (tr("Boresight: roll pitch heading in degrees"), "0.01 0 -0.02"),
    }


def _choices() -> dict[str, list[tuple[str, str]]]:
    """What there is to choose from, by what is asked for: the words, and what they say."""
    return {
        "heights": [("", ""), ("ellipsoid", "ellipsoid"), ("metres", "metres")],
        "frame": [
            (tr("In their place on the ground"), "ground"),
            (tr("In the scanner's frame"), "scanner"),
        ],
    }


class InspectSheet(Sheet):
    """``planned`` with the workflow that was written, and the flight's folder, which it takes along
    unless that lies in a share."""

    planned = Signal(object, object)

    def __init__(self, context: ViewContext, flight: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent, "inspectSheet", tr("Inspect this flight"))
        self._context, self._flight = context, flight
        self._said: dict[str, str] = {}
        self._asked: list[str] = []
        self.fields: dict[str, QWidget] = {}
        self._looking: Task | None = None
        self._found: Flight | None = None
        self.place = place_of_plan(flight)
        self.resize(84 * GRID, 52 * GRID)
        self._make_parts()
        self._typing = timer(self, TYPING_PAUSE_MS, self._look, once=True)

    def _make_parts(self) -> None:
        self.summary = label(name="inspectSummary")
        self.summary.setWordWrap(True)
        self.fault = Bar("inspectFault", margin=0)
        self.form = form()
        self.form_holder = held(self.form)
        self.plan = label(name="inspectPlan")
        self.plan.setWordWrap(True)
        self.note = quiet(name="inspectNote", wrap=True)
        self.where = quiet(name="inspectWhere", wrap=True)
        self.choose = button(tr("Choose …"), "inspectChoose", self._choose, "folder")
        self.more = button(tr("More about the flight …"), "inspectMore", self._ask_more)
        self.away = button(tr("Close"), "inspectClose", self.close)
        self.go_on = button(tr("Continue"), "inspectGo", self._go_on, "submit", primary=True)
        self.go_on.setDefault(True)
        column(
            *(strong(self._flight.name, "inspectName"), self.summary, self.fault),
            *(self.form_holder, self.plan, self.note, "stretch"),
            row((self.where, 1), self.choose),
            row(self.more, "stretch", self.away, self.go_on),
            on=self,
            spacing=GRID + 4,
            margins=2 * GRID,
        )

    def showEvent(self, event: QShowEvent) -> None:
        """Look at the flight when the sheet is first seen."""
        super().showEvent(event)
        if self._found is None and self._looking is None:
            self._look()

    # -- looking ---------------------------------------------------------------------------

    def _typed(self, name: str, text: str) -> None:
        self._said[name] = text
        self.go_on.setEnabled(False)
        self._typing.start()

    def _choose(self) -> None:
        chosen = folder_to_fill(self, "inspect", tr("Where plan and workflow go"))
        if chosen is not None:
            self.place = chosen / f"{self._flight.name}-inspection"
            self._show()

    def _look(self, into: Path | None = None) -> None:
        flight, said = self._flight, dict(self._said)
        if self._looking is not None:  # what is typed since makes it vain
            self._looking.cancel()
        self._looking = self._context.bridge.client_work(
            self,
            lambda client: inspected(client, flight, said, into),
            self._looked,
            self._failed,
        )
        self._show()

    def _go_on(self) -> None:
        self._look(self.place)

    def _looked(self, told: tuple[Flight, str]) -> None:
        self._looking, (self._found, share) = None, told
        if self._found.workflow:
            self.planned.emit(Path(self._found.workflow), None if share else self._flight)
            self.accept()
            return
        for name in self._found.asks:
            self._ask(name)
        self._show(share)

    def _failed(self, sentence: str) -> None:
        self._looking = None
        self._show()
        self.summary.clear()
        self.fault.say(sentence)

    def done(self, result: int) -> None:
        """Close the sheet, whatever the ``result`` for Qt, and look no more."""
        if self._looking is not None:
            self._looking.cancel()
        super().done(result)

    # -- showing ---------------------------------------------------------------------------

    def _ask(self, name: str) -> None:
        if name in self._asked or name not in _questions():
            return
        self._asked.append(name)
        said, example = _questions()[name]
        field: QWidget
        if name in _choices():
            box = set_up(QComboBox(), f"inspect_{name}", said, editable=name == "heights")
            meant: dict[str, str] = dict(_choices()[name])
            box.addItems([*meant])
            box.currentTextChanged.connect(lambda text: self._typed(name, meant.get(text) or text))
            line = box.lineEdit()
            if line is not None:
                line.setPlaceholderText(example)
            field = box
        else:
            field = set_up(
                QLineEdit(),
                f"inspect_{name}",
                said,
                placeholderText=example,
                textEdited=lambda text: self._typed(name, text),
            )
        self.fields[name] = field
        form_row(self.form, said, field)
        if len(self._asked) == 1:
            field.setFocus()

    def _ask_more(self) -> None:
        """Everything that a person may say of a flight; the keyboard goes to the first of it."""
        first, *_ = names = [*_more()]
        for name in names:
            self._ask(name)
        self.more.hide()
        self.form_holder.show()
        self.fields[first].show()  # what is hidden does not take the keyboard
        self.fields[first].setFocus()

    def _show(self, share: str = "") -> None:
        found, looking = self._found, self._looking is not None
        self.where.setText(tr("Plan and workflow go to {folder}", folder=str(self.place)))
        self.form_holder.setVisible(bool(self._asked))
        self.go_on.setEnabled(found is not None and not found.faults and not looking)
        if looking or found is None:
            self.plan.setText(tr("Looking at the flight …"))
            return
        self.fault.hide()
        kinds = _kinds()
        files = (
            f"{kinds.get(name, name)}: {count}" for name, count in found.files.items() if count
        )
        self.summary.setText(
            tr("{files} in {folder}", files=", ".join(files), folder=str(self._flight))
        )
        if found.faults:
            self.plan.setText("\n".join(found.faults_in(tr)))
            self.note.setText(tr("Nothing is guessed and nothing is left out in silence."))
            return
        tiles = tr_n("%n tile(s)", "", found.tiles)
        self.plan.setText(
            tr(
                "{tiles} along {metres} m of line, {points} points. Steps: {steps}.",
                tiles=tiles,
                metres=found.length_m,
                points=f"{found.points:,}",
                steps=", ".join(each.removeprefix("line_") for each in found.steps),
            )
        )
        lines = list(found.lived_with_in(tr))[:SURVIVED_MAX]
        if share:
            lines.append(tr("It lies in the share {name}: only tiles travel.", name=share))
        else:
            whole = size(found.size_bytes)
            lines.append(tr("The whole folder, {size}, is brought into the flock.", size=whole))
        self.note.setText("\n".join(lines))


def _kinds() -> dict[str, str]:
    return {
        "scans": tr("scans"),
        "trajectories": tr("trajectories"),
        "videos": tr("videos"),
        "photographs": tr("photographs"),
        "marks": tr("lists of marks"),
        "terrain": tr("terrain maps"),
        "routes": tr("maps of the route"),
    }
