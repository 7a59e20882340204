"""Rows that somebody else owns, and columns that say how to show, sort and search them.

Rows are compared by identity, so an update repaints only what is new. Text is made when it is
painted, so that times grow without a new row, and only for what is visible.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtWidgets import QWidget

from gui.model.queue import has_all
from gui.words import plain_tip

Index = QModelIndex | QPersistentModelIndex


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
    mark: Callable[[Any], tuple[Any, int | None] | None] | None = None
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
        """Show these rows from now on, sorted and filtered."""
        self._all = list(rows)
        self._arrange()

    def type(self, typed: str) -> None:
        """Show only rows that have all these words."""
        self._typed = typed
        self._arrange()

    def row(self, place: int) -> Any:
        """Return the row at a place; None where there is none."""
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def heading(self, row: Any) -> tuple[str, str] | None:
        """Return what is said across all columns in place of a row, and what is added to it; None
        where a row is one, as all are here."""
        del row
        return None

    def place_of(self, key: str) -> int:
        """Return where the row with this key stands now, or -1."""
        return self._place.get(key, -1)

    @property
    def rows(self) -> list[Any]:
        """The rows that are shown, in their order."""
        return self._rows

    @property
    def hidden(self) -> int:
        """How many rows the filter hides."""
        return len(self._all) - len(self._rows)

    def tick(self) -> None:
        """Have all texts shown anew, for time has passed."""
        if self._rows:
            last = self.index(len(self._rows) - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.DisplayRole])

    # -- Qt's questions ----------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows that are shown; a row has none below it."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns; below a row there are none."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, tip, alignment or what screen readers say, for Qt; None for other
        roles: what is painted asks the columns themselves."""
        row, column = self._rows[index.row()], self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row, time.time())
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip((column.tip or column.text)(row, time.time()))
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
        """Return the title or the alignment of a column for Qt; None for other roles, and beside
        the rows."""
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
        """Sort by this column from now on; a column that does not exist, such as -1: as the rows
        are given."""
        self._sorted_by = column if 0 <= column < len(self.columns) else None
        self._descending = order == Qt.SortOrder.DescendingOrder
        self._arrange()

    # -- keeping still -----------------------------------------------------------------------

    def _arrange(self) -> None:
        words = self._typed.casefold().split()
        rows = [
            row for row in self._all if not words or has_all(self._text_of(row).casefold(), words)
        ]
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
