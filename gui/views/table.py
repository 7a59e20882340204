"""A quiet table of ``rows``: order, selection and scroll stay where they are unless rows come or go."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QItemSelectionModel,
    QSettings,
    Qt,
    Signal,
)
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gui.theme.look import GRID, look
from gui.views.cells import Cells
from gui.views.pieces import set_up, timer
from gui.views.rows import Rows

ROW_HEIGHT = 4 * GRID
REMEMBER_MS = 800


class Table(QTableView):
    """A quiet table: no grid, whole rows, remembered columns."""

    chosen = Signal(object)
    """A row, or none."""
    opened = Signal(object)

    def __init__(self, rows: Rows, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = rows
        set_up(
            self,
            name,
            title,
            model=rows,
            showGrid=False,
            selectionBehavior=QAbstractItemView.SelectionBehavior.SelectRows,
            selectionMode=QAbstractItemView.SelectionMode.ExtendedSelection,
            verticalScrollMode=QAbstractItemView.ScrollMode.ScrollPerPixel,
            horizontalScrollMode=QAbstractItemView.ScrollMode.ScrollPerPixel,
            tabKeyNavigation=False,
            wordWrap=False,
            textElideMode=Qt.TextElideMode.ElideRight,
        )
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self._lay_header()
        self.activated.connect(lambda index: self.opened.emit(rows.row(index.row())))
        self.setItemDelegate(Cells(self))
        look().changed.connect(self.viewport().update)

    def _lay_header(self) -> None:
        columns = self.rows.columns
        header = set_up(
            self.horizontalHeader(),
            highlightSections=False,
            sectionResizeMode=QHeaderView.ResizeMode.Interactive,
            minimumSectionSize=7 * GRID,
            defaultAlignment=Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            sortIndicatorClearable=True,
        )
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        stored = QSettings().value(f"columns/{self.objectName()}")
        known = isinstance(stored, list) and len(stored) == len(columns)
        self._widths = [
            max(4 * GRID, int(stored[place])) if known else column.width
            for place, column in enumerate(columns)
        ]
        for place, column in enumerate(columns):
            self.setColumnWidth(place, self._widths[place])
            if column.stretch:
                header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)
        self._fitting = False
        """Whether widths change by the room there is, and not by a person's hand."""
        self._resized = timer(self, REMEMBER_MS, self._remember, once=True)
        header.sectionResized.connect(self._section_resized)

    def _section_resized(self, place: int, before: int, width: int) -> None:
        del before
        if width and not self._fitting:  # what is left out has none, and gets its own again
            self._widths[place] = width
            self._resized.start()

    def _remember(self) -> None:
        QSettings().setValue(f"columns/{self.objectName()}", self._widths)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns into the new width; those that can be spared are hidden rather than all
        made too narrow."""
        super().resizeEvent(event)
        self._fitting = True
        self._fit(self.viewport().width())
        self._fitting = False

    def _fit(self, room: int) -> None:
        """First columns get narrower, then those that can be spared are left out."""
        columns = self.rows.columns
        widths = [
            column.width if column.stretch else kept
            for column, kept in zip(columns, self._widths, strict=True)
        ]
        if sum(widths) > room:
            widths = [
                min(width, column.narrow or width)
                for column, width in zip(columns, widths, strict=True)
            ]
        needed = sum(widths)
        for place in reversed(range(len(columns))):
            left_out = columns[place].spare and needed > room
            needed -= widths[place] if left_out else 0
            if self.isColumnHidden(place) is not left_out:
                self.setColumnHidden(place, left_out)
            if not (left_out or columns[place].stretch):
                self.setColumnWidth(place, widths[place])

    def selectionChanged(self, selected: Any, deselected: Any) -> None:
        """Tell which row is current now."""
        super().selectionChanged(selected, deselected)
        self.chosen.emit(self.current())

    def current(self) -> Any:
        """Return the chosen row, the first of several; None if none is chosen."""
        chosen = self.selectionModel().selectedRows()
        return self.rows.row(chosen[0].row()) if chosen else None

    def selected(self) -> list[Any]:
        """Return all chosen rows, in their order."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.rows.row(place) for place in places]

    def choose(self, key: str) -> bool:
        """Select the row with this key, and no other, and scroll to it; return false, and change
        nothing, if it is not shown."""
        place = self.rows.place_of(key)
        if place < 0:
            return False
        self.choose_place(place)
        self.scrollTo(self.rows.index(place, 0))
        return True

    def choose_place(self, place: int) -> None:
        """Select the row at this place and no other, whatever key is held: ``selectRow`` adds to
        what is chosen while somebody holds Ctrl, and most shortcuts are made with it."""
        index, flag = self.rows.index(place, 0), QItemSelectionModel.SelectionFlag
        model = self.selectionModel()
        model.setCurrentIndex(index, flag.ClearAndSelect | flag.Rows)
