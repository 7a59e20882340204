"""A quiet table of ``rows``: order, selection and scroll stay where they are unless rows come or go."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QItemSelectionModel,
    QSettings,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gui.theme.look import GRID, look
from gui.views.cells import Cells
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
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setModel(rows)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self._lay_header()
        self.activated.connect(lambda index: self.opened.emit(rows.row(index.row())))
        self.setItemDelegate(Cells(self))
        look().changed.connect(self.viewport().update)

    def _lay_header(self) -> None:
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setMinimumSectionSize(7 * GRID)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        stored = QSettings().value(f"columns/{self.objectName()}")
        for place, column in enumerate(self.rows.columns):
            self.setColumnWidth(place, column.width)
        if isinstance(stored, list) and len(stored) == len(self.rows.columns):
            for place, width in enumerate(stored):
                self.setColumnWidth(place, max(4 * GRID, int(width)))
        for place, column in enumerate(self.rows.columns):
            if column.stretch:
                header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)
        self._widths = [self.columnWidth(place) for place in range(len(self.rows.columns))]
        self._fitting = False
        """Whether widths change by the room there is, and not by a person's hand."""
        self._resized = QTimer(self)
        self._resized.setSingleShot(True)
        self._resized.setInterval(REMEMBER_MS)
        self._resized.timeout.connect(self._remember)
        header.sectionResized.connect(self._section_resized)

    def _section_resized(self, place: int, before: int, width: int) -> None:
        del before
        if width and not self._fitting:  # what is left out has none, and gets its own again
            self._widths[place] = width
            self._resized.start()

    def _remember(self) -> None:
        QSettings().setValue(f"columns/{self.objectName()}", self._widths)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns into the new width; spare ones are hidden rather than all made too
        narrow."""
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
        """Select the row with this key and scroll to it; return whether it is there."""
        place = self.rows.place_of(key)
        if place < 0:
            return False
        self.choose_place(place)
        self.scrollTo(self.rows.index(place, 0))
        return True

    def choose_place(self, place: int) -> None:
        """Select this row and no other, whatever key is held: ``selectRow`` adds to what is chosen
        while somebody holds Ctrl, and most shortcuts are made with it."""
        index, flag = self.rows.index(place, 0), QItemSelectionModel.SelectionFlag
        model = self.selectionModel()
        model.setCurrentIndex(index, flag.ClearAndSelect | flag.Rows)
