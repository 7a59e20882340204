"""A quiet table of ``rows``: order, selection and scroll stay where they are unless rows come or go."""

from __future__ import annotations

import time
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
MEASURE_MS, MEASURE_AGAIN_MS = 50, 5_000
ROWS_MEASURED_MAX = 60
"""Their texts decide how wide a column is where there is room."""
AROUND_TEXT, AROUND_MARK, WIDTH_MAX = 2 * GRID + 4, 3 * GRID, 40 * GRID


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
        self._needed = [0] * len(columns)
        """What the texts of each column have needed so far: columns do not shrink under somebody's eyes."""
        self._measuring = timer(self, MEASURE_MS, self._measure, once=True)
        self.rows.layoutChanged.connect(lambda: self._measure_in(MEASURE_MS))
        self.rows.dataChanged.connect(lambda: self._measure_in(MEASURE_AGAIN_MS))
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
        self._measure()

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
        self._give_room(widths, room - needed)
        for place, column in enumerate(columns):
            if not (self.isColumnHidden(place) or column.stretch):
                self.setColumnWidth(place, widths[place])

    def _give_room(self, widths: list[int], spare: int) -> None:
        """Room that nobody needs goes to columns in which something is cut, but for those that a person
        has made as they are; the rest is for the one that stretches, which gives what it does not
        need itself."""
        for place, column in enumerate(self.rows.columns):
            spare += max(0, widths[place] - self._need(place)) if column.stretch else 0
        for place, column in enumerate(self.rows.columns):
            by_hand = self._widths[place] != column.width
            if spare <= 0 or column.stretch or by_hand or self.isColumnHidden(place):
                continue
            more = min(spare, max(0, self._need(place) - widths[place]))
            widths[place], spare = widths[place] + more, spare - more

    def _need(self, place: int) -> int:
        """The most that its texts have needed so far, so that nothing jumps back and forth."""
        self._needed[place] = max(self._needed[place], self._text_width(place))
        return self._needed[place]

    def _text_width(self, place: int) -> int:
        """As wide as the longest text of the rows that are looked at, with what stands around it."""
        column, now_s = self.rows.columns[place], time.time()
        if column.share is not None:
            return 0
        texts = [column.text(row, now_s) for row in self.rows.rows[:ROWS_MEASURED_MAX]]
        longest = max(map(self.fontMetrics().horizontalAdvance, (*texts, column.title)))
        return min(longest + AROUND_TEXT + (AROUND_MARK if column.mark else 0), WIDTH_MAX)

    def _measure_in(self, wait_ms: int) -> None:
        """Texts may need another width."""
        if not self._measuring.isActive() or self._measuring.remainingTime() > wait_ms:
            self._measuring.start(wait_ms)

    def _measure(self) -> None:
        self._fitting = True
        self._fit(self.viewport().width())
        self._fitting = False

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
