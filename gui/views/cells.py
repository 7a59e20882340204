"""How a cell is painted: a mark before the text, a share as a thin bar, no focus rectangle."""

from __future__ import annotations

import time

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gui.model.marks import Mark
from gui.theme.drawing import draw_mark, paint_box, paint_text, word_colour
from gui.theme.look import GRID, look, small_font, strong_font
from gui.views.rows import Rows

MARK_SIZE = 2 * GRID
BAR_HEIGHT = 6
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Cells(QStyledItemDelegate):
    """Paints the cells of all tables alike."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint one cell of ``Rows``: its background if it is chosen or under the mouse, then the
        heading that stands in place of its row, or the column's bar, or its mark and text."""
        colours = look().colours
        rect = QRect(option.rect)
        state = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(colours.selected))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, QColor(colours.backdrop))
        inner = rect.adjusted(GRID, 0, -GRID, 0)
        model = index.model()
        assert isinstance(model, Rows)
        # Asked of the model itself: through the index each answer would cost twice as much.
        row, column = model.row(index.row()), model.columns[index.column()]
        heading = model.heading(row)
        if heading is not None:
            _heading(painter, inner, *heading)
            return
        mark = column.mark(row) if column.mark is not None else None
        if column.share is not None:
            _bar(painter, inner, column.share(row), mark[0] if mark else Mark.RUNNING)
            return
        if mark is not None:
            inner = _mark(painter, inner, mark)
        colour, side = (
            colours.quiet if column.quiet else colours.text,
            _RIGHT if column.right else _LEFT,
        )
        text, end = column.text(row, time.time()), Qt.TextElideMode.ElideRight
        paint_text(painter, inner, text, colour, option.font, side, end)


def _heading(painter: QPainter, rect: QRect, text: str, sums: str) -> None:
    """Across all columns; what is added stands behind it, paler."""
    colours, font = look().colours, strong_font()
    rect = rect.adjusted(0, GRID, 0, 0)
    end = Qt.TextElideMode.ElideRight
    paint_text(painter, rect, text, colours.text, font, _LEFT, end)
    wide = QFontMetrics(font).horizontalAdvance(text) + 2 * GRID
    paint_text(painter, rect.adjusted(wide, 0, 0, 0), sums, colours.quiet, small_font(), _LEFT, end)


def _mark(painter: QPainter, rect: QRect, mark: tuple[Mark, int | None]) -> QRect:
    top = rect.y() + (rect.height() - MARK_SIZE) / 2
    draw_mark(painter, mark[0], QRectF(rect.x(), top, MARK_SIZE, MARK_SIZE), mark[1])
    return rect.adjusted(MARK_SIZE + GRID, 0, 0, 0)


def _bar(painter: QPainter, rect: QRect, permille: int, mark: Mark) -> None:
    colours = look().colours
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    track = QRectF(rect.x(), rect.y() + (rect.height() - BAR_HEIGHT) / 2, rect.width(), BAR_HEIGHT)
    paint_box(painter, track, BAR_HEIGHT / 2, colours.track)
    if permille > 0:
        track.setWidth(max(BAR_HEIGHT, track.width() * min(1000, permille) / 1000))
        paint_box(painter, track, BAR_HEIGHT / 2, word_colour(mark, colours))
    painter.restore()
