"""The hours of the week as a grid to paint on with mouse or keyboard."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui.model.week import DAYS, HOURS_OF_DAY, Cells, with_block
from gui.theme.drawing import paint_box, paint_text
from gui.theme.look import GRID, look, small_font
from gui.views.pieces import CENTRED, set_up
from gui.words import tr

CELL_HEIGHT, CELL_WIDTH_MIN = 20, 16
DAY_WIDTH, AXIS_HEIGHT = 6 * GRID, 20
_STEPS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


def day_words(day: int) -> str:
    """Return the day's short name; 0 is Monday."""
    return (
        tr("Mon"), tr("Tue"), tr("Wed"), tr("Thu"), tr("Fri"), tr("Sat"), tr("Sun"),
    )[day]  # fmt: skip


class WeekGrid(QWidget):
    """Drag paints or wipes, as the first cell was; space does with one cell."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up(
            self,
            "weekGrid",
            focusPolicy=Qt.FocusPolicy.StrongFocus,
            minimumWidth=DAY_WIDTH + HOURS_OF_DAY * CELL_WIDTH_MIN,
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.cells: Cells = frozenset()
        self._before: Cells = frozenset()
        self._first: tuple[int, int] | None = None
        self._on = True
        self._at = (0, 8)
        self._tell_name()

    def tell(self, cells: Cells) -> None:
        """Show these hours, without emitting ``changed``; do nothing while the person paints."""
        if self._first is None and cells != self.cells:
            self.cells = cells
            self._tell_name()
            self.update()

    def sizeHint(self) -> QSize:
        """Return the size that shows all hours of all days."""
        return QSize(DAY_WIDTH + HOURS_OF_DAY * 26, AXIS_HEIGHT + len(DAYS) * CELL_HEIGHT + 2)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a block at the cell under the mouse, by the left button and unless disabled: it
        switches hours on if the cell is off, else off; the cell itself changes at once, ``changed``
        is emitted at the end."""
        cell = self._cell(event.position())
        left = event.button() is Qt.MouseButton.LeftButton
        if cell is not None and left and self.isEnabled():
            self._first, self._before, self._at = cell, self.cells, cell
            self._on = cell not in self.cells
            self._paint_to(cell)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Let the block that was begun reach to this cell."""
        cell = self._cell(event.position())
        if cell is not None and self._first is not None:
            self._paint_to(cell)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the block, if one was begun, and emit ``changed``."""
        if self._first is not None:
            self._first = None
            self._tell_name()
            self.changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk by arrows; paint or wipe the cell by space, which emits ``changed``; leave other
        keys to Qt."""
        day, hour = self._at
        down, right = _STEPS.get(Qt.Key(event.key()), (0, 0))
        if event.key() == Qt.Key.Key_Space:
            self.cells = with_block(self.cells, self._at, self._at, self._at not in self.cells)
            self.changed.emit()
        elif not (down or right):
            super().keyPressEvent(event)
            return
        self._at = (
            min(max(0, day + down), len(DAYS) - 1),
            min(max(0, hour + right), HOURS_OF_DAY - 1),
        )
        self._tell_name()
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Repaint, to show where the keyboard is."""
        super().focusInEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cells, their days, every third hour, and where the keyboard is."""
        colours = look().colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        able = self.isEnabled()
        for day in range(len(DAYS)):
            name = QRectF(0, AXIS_HEIGHT + day * CELL_HEIGHT, DAY_WIDTH - 6, CELL_HEIGHT)
            paint_text(painter, name, day_words(day), colours.quiet, small_font())
            for hour in range(HOURS_OF_DAY):
                on = (day, hour) in self.cells
                colour = (colours.accent if able else colours.waiting) if on else colours.raised
                paint_box(painter, self._rect(day, hour).adjusted(1, 1, -1, -1), 2, colour)
        for hour in range(0, HOURS_OF_DAY + 1, 3):
            x = self._rect(0, 0).x() + hour * self._rect(0, 0).width()
            across = QRectF(min(x - 20, self.width() - 34), 0, 40, AXIS_HEIGHT - 2)
            paint_text(painter, across, str(hour), colours.quiet, small_font(), CENTRED)
        if self.hasFocus():
            paint_box(painter, self._rect(*self._at), 3, edge=colours.text, width=1.5)

    def _paint_to(self, cell: tuple[int, int]) -> None:
        assert self._first is not None
        self.cells = with_block(self._before, self._first, cell, self._on)
        self.update()

    def _cell(self, place: QPointF) -> tuple[int, int] | None:
        width = self._rect(0, 0).width()
        hour = int((place.x() - DAY_WIDTH) // width)
        day = int((place.y() - AXIS_HEIGHT) // CELL_HEIGHT)
        inside = 0 <= hour < HOURS_OF_DAY and 0 <= day < len(DAYS)
        return (day, hour) if inside else None

    def _rect(self, day: int, hour: int) -> QRectF:
        width = (self.width() - DAY_WIDTH - GRID) / HOURS_OF_DAY
        return QRectF(DAY_WIDTH + hour * width, AXIS_HEIGHT + day * CELL_HEIGHT, width, CELL_HEIGHT)

    def _tell_name(self) -> None:
        day, hour = self._at
        state = tr("helps") if self._at in self.cells else tr("does not help")
        self.setAccessibleName(
            tr("Hours of the week; {day} {hour}:00, {state}",
               day=day_words(day), hour=hour, state=state)
        )  # fmt: skip
