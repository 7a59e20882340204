"""A thin plot of the past: per day what machines worked, what waited, and what this computer gave.

Dragging chooses days, which filters the list below; the keys do the same: arrows walk, with Shift they
extend, and Esc shows all days again. Where there are more days than room, several make one bar.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QDateTime, QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QToolTip, QWidget

from agent.api.past import PastDay
from gui.model.past import day_sums
from gui.theme.drawing import paint_box, paint_text
from gui.theme.look import GRID, look, small_font
from gui.views.past_rows import day_words
from gui.views.pieces import set_up
from gui.words import tr

HEIGHT = 8 * GRID
LEGEND = 2 * GRID + 2
BAR_MIN, BAR_MAX = 4.0, 3.0 * GRID
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Bucket:
    """Some days that make one bar: the sums of those between two moments."""

    begins_ms: int
    ends_ms: int
    sums: PastDay


class PastPlot(QWidget):
    """``chosen`` with a begin and an end in milliseconds; both are 0 when nothing is chosen any more."""

    chosen = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        says = tr("Hours per day: used, waiting, given")
        set_up(self, "pastPlot", says, fixedHeight=HEIGHT, mouseTracking=True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._days: tuple[PastDay, ...] = ()
        self._whole = True
        self._buckets: list[Bucket] = []
        self._range: tuple[int, int] | None = None
        self._from = 0
        look().changed.connect(self.update)

    def tell(self, days: Sequence[PastDay], *, whole: bool = True) -> None:
        """Show these days from now on, the latest of which comes first; what is chosen stays. Where
        they are not the ``whole`` past, what was given is left out: it was given to all."""
        self._days, self._whole = tuple(days), whole
        self._lay_out()

    def choose(self, since_ms: int, until_ms: int) -> None:
        """Mark the bars of the days in this time as chosen, or none where both are 0 or no bar is
        in it; no signal is emitted."""
        inside = [
            place
            for place, each in enumerate(self._buckets)
            if each.ends_ms > since_ms and each.begins_ms < until_ms
        ]
        self._range = (inside[0], inside[-1]) if inside else None
        self.update()

    # -- what is painted ---------------------------------------------------------------------

    def _lay_out(self) -> None:
        """As many days in a bar as it takes for each to be seen."""
        kept = self._moments()
        self._buckets = []
        if self._days:
            first, last = self._days[-1].begins_ms, self._days[0].begins_ms
            count = 1 + round((last - first) / DAY_MS)
            each = max(1, -(-count * round(BAR_MIN) // max(1, self.width() - 2 * GRID)))
            self._buckets = buckets_of(self._days, each)
        if kept is None:
            self._range = None
        else:
            self.choose(*kept)
        self.update()

    def _moments(self) -> tuple[int, int] | None:
        if self._range is None or not self._buckets:
            return None
        begin, end = (min(each, len(self._buckets) - 1) for each in self._range)
        return self._buckets[begin].begins_ms, self._buckets[end].ends_ms

    def resizeEvent(self, event: object) -> None:
        """Make bars anew for the room there is."""
        self._lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the legend, what is chosen, and a bar for each day: used, waiting on it, and a line
        for what was given."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = look().colours
        self._paint_legend(painter)
        bottom = self.height() - 2.0
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.drawLine(QPointF(0, bottom), QPointF(self.width(), bottom))
        if not self._buckets:
            return
        if self._range is not None:
            left, right = self._x(self._range[0]), self._x(self._range[1] + 1)
            inside = QRectF(left, LEGEND, right - left, bottom - LEGEND)
            paint_box(painter, inside, 3, colours.selected, colours.accent)
        elif self.hasFocus():
            around = QRectF(0.5, LEGEND, self.width() - 1, bottom - LEGEND)
            paint_box(painter, around, 3, None, colours.accent)
        self._paint_bars(painter, bottom)

    def _paint_bars(self, painter: QPainter, bottom: float) -> None:
        """What waited stands on what was used, for together they are what was wanted."""
        colours, tall, wide = look().colours, bottom - LEGEND - 3, self._step()
        sums = [each.sums for each in self._buckets]
        most = max(max(_wanted(each), each.given_hours * self._whole) for each in sums) or 1.0
        gap = min(2.0, wide * 0.2)
        given = QPolygonF()
        for place, each in enumerate(sums):
            left, low = self._x(place), bottom
            for hours, colour in (
                (each.used_hours, colours.running),
                (each.waited_hours, colours.waiting),
            ):
                high = max(1.0, tall * hours / most) if hours else 0.0
                box = QRectF(left + gap, low - high, wide - 2 * gap, high)
                painter.fillRect(box, QColor(colour))
                low -= high
            given.append(QPointF(left + wide / 2, bottom - tall * each.given_hours / most))
        if self._whole and any(each.given_hours for each in sums):
            painter.setPen(QPen(QColor(colours.suspended), 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPolyline(given)

    def _paint_legend(self, painter: QPainter) -> None:
        colours, left = look().colours, float(self.width())
        painter.setFont(small_font())
        given = ((tr("given by this computer"), colours.suspended),) if self._whole else ()
        for words, colour in (
            *given,
            (tr("waiting"), colours.waiting),
            (tr("hours used"), colours.running),
        ):
            wide = painter.fontMetrics().horizontalAdvance(words)
            left -= wide
            paint_text(
                painter, QRectF(left, 0, wide + 2, LEGEND), words, colours.quiet, small_font()
            )
            left -= GRID + 4
            painter.fillRect(QRectF(left, LEGEND / 2 - 4, GRID, GRID), QColor(colour))
            left -= 2 * GRID

    def _step(self) -> float:
        room = self.width() / max(1, len(self._buckets))
        return min(BAR_MAX, room)

    def _x(self, place: int) -> float:
        """Bars stand at the right end, where today is."""
        return self.width() - (len(self._buckets) - place) * self._step()

    # -- what a person does ------------------------------------------------------------------

    def _at(self, event: QMouseEvent | QHelpEvent) -> int:
        at = event.position().x() if isinstance(event, QMouseEvent) else float(event.pos().x())
        place = int((at - self._x(0)) // self._step())
        return max(0, min(len(self._buckets) - 1, place))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to choose at the day below the mouse, if it is the left button; nothing is told
        until that is released."""
        if self._buckets and event.button() is Qt.MouseButton.LeftButton:
            self._from = self._at(event)
            self._range = (self._from, self._from)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Choose up to the day below the mouse, while it is held."""
        if self._buckets and event.buttons() & Qt.MouseButton.LeftButton:
            at = self._at(event)
            self._range = (min(self._from, at), max(self._from, at))
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tell what was chosen."""
        if self._buckets and event.button() is Qt.MouseButton.LeftButton:
            self._tell_chosen()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the next bar by the arrows, with Shift more of them, and tell it by the signal;
        leave other keys to Qt. Esc is the window's."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        last = len(self._buckets) - 1
        if step and self._buckets:
            begin, end = self._range or (last - step, last - step)
            at = max(0, min(last, (end if step > 0 else begin) + step))
            wider = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self._range = (min(begin, at), max(end, at)) if wider else (at, at)
        else:
            super().keyPressEvent(event)
            return
        self.update()
        self._tell_chosen()

    def _tell_chosen(self) -> None:
        moments = self._moments()
        self.setAccessibleDescription("" if moments is None else range_words(*moments))
        self.chosen.emit(*(moments or (0, 0)))

    def event(self, event: QEvent) -> bool:
        """Show the sums of the day below the mouse in a tool tip; leave other events to Qt."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._buckets:
            bucket = self._buckets[self._at(event)]
            said = f"{range_words(bucket.begins_ms, bucket.ends_ms)}\n{day_sums(bucket.sums)}"
            QToolTip.showText(event.globalPos(), said.strip(), self)
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show that the keyboard is here."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show that it is not here any more."""
        super().focusOutEvent(event)
        self.update()


def _wanted(day: PastDay) -> float:
    return day.used_hours + day.waited_hours


def buckets_of(days: Sequence[PastDay], each: int) -> list[Bucket]:
    """Return bars of so many days ``each``, the first one first and the last one whole, with the
    sums of the days; days that are missing count as nothing. ``days`` come with the latest first;
    raise ``IndexError`` without any."""
    first = QDateTime.fromMSecsSinceEpoch(days[-1].begins_ms).date()
    last = QDateTime.fromMSecsSinceEpoch(days[0].begins_ms).date()
    count = -(-(first.daysTo(last) + 1) // each)
    borders = [last.addDays(1 - each * (count - at)) for at in range(count + 1)]
    moments = [date.startOfDay().toMSecsSinceEpoch() for date in borders]
    found = [PastDay(begin, 0) for begin in moments[:-1]]
    place = count - 1
    for day in days:
        while day.begins_ms < moments[place]:
            place -= 1
        found[place] = _sum(found[place], day)
    return [Bucket(moments[at], moments[at + 1], found[at]) for at in range(count)]


def _sum(one: PastDay, other: PastDay) -> PastDay:
    return PastDay(
        one.begins_ms,
        one.workflows + other.workflows,
        one.failed + other.failed,
        one.used_hours + other.used_hours,
        one.waited_hours + other.waited_hours,
        one.given_hours + other.given_hours,
    )


def range_words(since_ms: int, until_ms: int) -> str:
    """Return the days between two moments in words."""
    now_s, last_ms = time.time(), until_ms - 1
    first, last = day_words(since_ms, now_s), day_words(last_ms, now_s)
    return first if first == last else tr("{first} to {last}", first=first, last=last)
