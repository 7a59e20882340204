"""A table of rows that somebody else owns: columns say how to show, sort and search a row.

Rows are compared by identity, so an update repaints only what is new; order, selection and scroll
stay where they are unless rows come or go. Text is made when it is painted, so that times grow
without a new row, and only for what is visible.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QSettings,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gui.model.filtering import matching
from gui.theme.look import GRID, look

Index = QModelIndex | QPersistentModelIndex
ROW_HEIGHT = 4 * GRID
REMEMBER_MS = 800


@dataclass(frozen=True, slots=True)
class Column:
    """How one thing of a row is shown. ``key`` names it in what is remembered.

    ``mark`` is a mark and its permille or none, ``share`` a share in permille, painted as a bar.
    """

    key: str
    title: str
    text: Callable[[Any, float], str]
    width: int = 120
    sort: Callable[[Any], Any] | None = None
    right: bool = False
    tip: Callable[[Any, float], str] | None = None
    mark: Callable[[Any], tuple[Any, int | None]] | None = None
    share: Callable[[Any], int] | None = None
    quiet: bool = False
    narrow: int = 0
    """So little is enough where the table has too little room; nought: it never gets narrower."""
    stretch: bool = False
    """Takes what room is left; ``width`` is what it needs to be read."""
    spare: bool = False
    """Left out, the last first, where that one would have less than it needs."""


class Rows(QAbstractTableModel):
    """Rows in the order that a person chose, filtered by what was typed."""

    def __init__(
        self,
        columns: Sequence[Column],
        key: Callable[[Any], str],
        text_of: Callable[[Any], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self._key, self._text_of = key, text_of
        self._all: list[Any] = []
        self._rows: list[Any] = []
        self._place: dict[str, int] = {}
        self._typed = ""
        self._sorted_by: int | None = None
        self._descending = False

    # -- what views of this program ask ------------------------------------------------------

    def show(self, rows: Sequence[Any]) -> None:
        """These rows from now on."""
        self._all = list(rows)
        self._arrange()

    def type(self, typed: str) -> None:
        """Show only rows that have all these words."""
        self._typed = typed
        self._arrange()

    def row(self, place: int) -> Any:
        """The row at a place; none where there is none."""
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def place_of(self, key: str) -> int:
        """Where a row stands now, or -1."""
        return self._place.get(key, -1)

    @property
    def rows(self) -> list[Any]:
        """Those that are shown."""
        return self._rows

    @property
    def hidden(self) -> int:
        """How many the filter hides."""
        return len(self._all) - len(self._rows)

    def tick(self) -> None:
        """Time has passed: texts may read differently."""
        if self._rows:
            last = self.index(len(self._rows) - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.DisplayRole])

    # -- Qt's questions ----------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """A flat table."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """A flat table."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, tip and alignment; the delegate asks the columns themselves."""
        row, column = self._rows[index.row()], self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row, time.time())
        if role == Qt.ItemDataRole.ToolTipRole:
            return (column.tip or column.text)(row, time.time())
        if role == Qt.ItemDataRole.TextAlignmentRole and column.right:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{column.title}: {column.text(row, time.time())}"
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Titles."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = (
                Qt.AlignmentFlag.AlignRight
                if self.columns[section].right
                else Qt.AlignmentFlag.AlignLeft
            )
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """-1: in the order in which the rows are given."""
        self._sorted_by = column if 0 <= column < len(self.columns) else None
        self._descending = order == Qt.SortOrder.DescendingOrder
        self._arrange()

    # -- keeping still -----------------------------------------------------------------------

    def _arrange(self) -> None:
        rows = matching(self._all, self._typed, self._text_of)
        if self._sorted_by is not None:
            column = self.columns[self._sorted_by]
            now_s = time.time()
            key = column.sort or (lambda row: column.text(row, now_s).casefold())
            rows.sort(key=key, reverse=self._descending)
        keys = [self._key(row) for row in rows]
        if keys == list(self._place):
            self._replace(rows)
        else:
            self._reorder(rows, keys)

    def _replace(self, rows: list[Any]) -> None:
        """The same rows in the same order: repaint what is new, in as few strokes as possible."""
        before, self._rows = self._rows, rows
        last_column = len(self.columns) - 1
        begin: int | None = None
        for place, row in enumerate(rows):
            if row is not before[place]:
                begin = place if begin is None else begin
            elif begin is not None:
                self.dataChanged.emit(self.index(begin, 0), self.index(place - 1, last_column))
                begin = None
        if begin is not None:
            self.dataChanged.emit(self.index(begin, 0), self.index(len(rows) - 1, last_column))

    def _reorder(self, rows: list[Any], keys: list[str]) -> None:
        """Rows came, went or moved: whatever was selected stays selected."""
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        held = [(self._key(self._rows[each.row()]), each.column()) for each in before]
        self._rows = rows
        self._place = {key: place for place, key in enumerate(keys)}
        after = [
            self.index(self._place[key], column) if key in self._place else QModelIndex()
            for key, column in held
        ]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()


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
        from gui.views.cells import Cells

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
        """Few columns that can be read rather than all of them."""
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
        """The row that a person means."""
        chosen = self.selectionModel().selectedRows()
        return self.rows.row(chosen[0].row()) if chosen else None

    def selected(self) -> list[Any]:
        """All chosen rows."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.rows.row(place) for place in places]

    def choose(self, key: str) -> bool:
        """Select a row by its key; whether it is there."""
        place = self.rows.place_of(key)
        if place < 0:
            return False
        self.choose_place(place)
        self.scrollTo(self.rows.index(place, 0))
        return True

    def choose_place(self, place: int) -> None:
        """This row and no other, whatever key is held: ``selectRow`` adds to what is chosen while
        somebody holds Ctrl, and most shortcuts are made with it."""
        index, flag = self.rows.index(place, 0), QItemSelectionModel.SelectionFlag
        model = self.selectionModel()
        model.setCurrentIndex(index, flag.ClearAndSelect | flag.Rows)
