"""The lines of the past in a table: days as headings, workflows below them, read as they are seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QDateTime, QLocale, QModelIndex, Qt, Signal
from PySide6.QtWidgets import QWidget

from agent.api.past import PastWorkflow
from gui.model.past import (
    MARKS,
    PAGE,
    UNREAD,
    Heading,
    PastLines,
    day_sums,
    end_words,
    ended_clock,
    past_tip,
)
from gui.model.times import span
from gui.model.workflows import whose
from gui.views.pieces import timer
from gui.views.rows import Column, Index, Rows
from gui.words import plain_tip, tr

Text = Callable[[PastWorkflow], str]


def day_words(begins_ms: int, now_s: float) -> str:
    """Return a day as people call it: today, yesterday, or by its name and date, with the year where
    it is another one."""
    date = QDateTime.fromMSecsSinceEpoch(begins_ms).date()
    today = QDateTime.fromMSecsSinceEpoch(round(now_s * 1000)).date()
    ago = date.daysTo(today)
    if ago in (0, 1):
        return tr("Yesterday") if ago else tr("Today")
    locale = QLocale()
    said = tr(
        "{weekday} {day} {month}",
        weekday=locale.dayName(date.dayOfWeek()),
        day=date.day(),
        month=locale.monthName(date.month()),
    )
    said = said[:1].upper() + said[1:]
    return said if date.year() == today.year() else f"{said} {date.year()}"


def past_columns() -> tuple[Column, ...]:
    """Return the columns of the past: which, how it ended, whose, when, how long, how often tried,
    where. In the heading of a day all but the first are empty."""

    def of(text: Text) -> Callable[[Any, float], str]:
        return lambda line, now_s: text(line) if isinstance(line, PastWorkflow) else ""

    def name(line: Any, now_s: float) -> str:
        if isinstance(line, Heading):
            return day_words(line.day.begins_ms, now_s)
        return line.name if isinstance(line, PastWorkflow) else "…"

    tip = of(past_tip)
    return (
        Column("name", tr("Workflow"), name, 220, narrow=150, tip=tip, mark=_mark),
        Column("end", tr("State"), of(end_words), 220, stretch=True, tip=tip),
        Column("owner", tr("Owner"), of(whose), 150, narrow=120, quiet=True, spare=True, tip=tip),
        Column("ended", tr("Ended"), of(ended_clock), 84, right=True, tip=tip),
        Column("waited", tr("Waited"), of(lambda each: span(each.waited_s)), 80, right=True, tip=tip,
               quiet=True, spare=True),
        Column("ran", tr("Ran"), of(lambda each: span(each.ran_s)), 80, right=True, tip=tip),
        Column("makespan", tr("In all"), of(lambda each: span(each.makespan_s)), 80, right=True,
               tip=tip),
        Column("attempts", tr("Attempts"), of(lambda each: str(each.attempts)), 80, right=True,
               quiet=True, spare=True, tip=tip),
        Column("machines", tr("Machines"), of(lambda each: ", ".join(each.machines)), 230,
               narrow=130,
               quiet=True, spare=True, tip=tip),
    )  # fmt: skip


def _mark(line: Any) -> Any:
    return (MARKS[line.state], None) if isinstance(line, PastWorkflow) else None


class PastRows(Rows):
    """``wanted`` with the pages that are in sight and were not read yet."""

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(past_columns(), str, str, parent)
        self.lines = PastLines()
        self._missing: dict[int, None] = {}
        self._asked: set[int] = set()
        self._ask_soon = timer(self, 0, self._ask, once=True)

    def reset(self, lines: PastLines) -> None:
        """Show these lines instead of those before, and forget which pages were asked for."""
        self.beginResetModel()
        self.lines = lines
        self._missing.clear()
        self._asked.clear()
        self.endResetModel()

    def fill(self, first: int, workflows: Sequence[PastWorkflow]) -> None:
        """Take in a page that begins with the workflow of this number, and paint it where it is in
        sight."""
        begin, end = self.lines.put(first, workflows)
        self._asked.discard(first // PAGE)
        self.dataChanged.emit(self.index(begin, 0), self.index(end, len(self.columns) - 1))

    def failed(self, page: int) -> None:
        """Note that a page could not be read: it is asked for again when it is seen again."""
        self._asked.discard(page)

    def heading(self, row: Any) -> tuple[str, str] | None:
        """Return the words of a day and its sums; None for a workflow."""
        if not isinstance(row, Heading):
            return None
        return day_words(row.day.begins_ms, time.time()), day_sums(row.day)

    # -- what a table asks -------------------------------------------------------------------

    def row(self, place: int) -> Any:
        """Return the line at a place, None where there is none, ``UNREAD`` for one that was not
        read, whose page is asked for in a moment."""
        line = self.lines.line(place)
        if line is UNREAD:
            self._missing[self.lines.page_of(place)] = None
            if not self._ask_soon.isActive():
                self._ask_soon.start()
        return line

    def place_of(self, key: str) -> int:
        """Return where a workflow stands, -1 where it is not known to."""
        return self.lines.place_of(key)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of lines, those that were not read too."""
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, tip, alignment or what screen readers say, for Qt; None for other
        roles and where no line is. A line that was not read yet has dots for a name and nothing
        else, and is asked for."""
        line, column = self.row(index.row()), self.columns[index.column()]
        if line is None:
            return None
        now_s = time.time()
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(line, now_s)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip((column.tip or column.text)(line, now_s))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = column.text(line, now_s)
            return said if isinstance(line, Heading) else f"{column.title}: {said}"
        if role == Qt.ItemDataRole.TextAlignmentRole and column.right:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return that headings are only to be read."""
        is_heading = isinstance(self.lines.line(index.row()), Heading)
        return Qt.ItemFlag.NoItemFlags if is_heading else super().flags(index)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Leave the order: it is that of time."""

    def _ask(self) -> None:
        pages = [page for page in self._missing if page not in self._asked]
        self._missing.clear()
        self._asked.update(pages)
        if pages:
            self.wanted.emit(pages)
