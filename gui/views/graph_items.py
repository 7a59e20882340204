"""The parts of a graph on the screen: boxes with marks and bars, arrows with the names of datasets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import is_

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsObject,
    QGraphicsPathItem,
    QStyle,
    QStyleOptionGraphicsItem,
    QWidget,
)

from agent.api.values import TaskState
from agent.api.work import TaskView
from gui.model.graph import BOX_HEIGHT, BOX_WIDTH, Arrow, Box, count_marks
from gui.model.marks import URGENCY, Mark, mark_of_task, mark_words, task_words
from gui.model.workflows import task_outlook
from gui.theme.colours import Colours
from gui.theme.drawing import draw_mark, paint_box, paint_text, word_colour
from gui.theme.look import GRID, look, small_font, strong_font
from gui.words import plain_tip

MARK_SIZE = 2.0 * GRID
ARROW_LENGTH, ARROW_WIDTH = 7.0, 4.0
NEAR, FAR_LETTERS, LETTERS_MAX = 0.75, 0.85, 1.8
"""Below this zoom a box has its mark and its name only, in letters of a size that can be read."""
TINY = 0.15
"""Below this there are no letters that could be read; a box is a dot in its colour."""
NEAR_LETTERS_MAX = 1.25
"""So much larger than life are letters in a box that is a little smaller than life."""
LABEL_ROOM_MIN = 30
"""A name in less room would be dots."""
FAR_TEXT_LEFT = 10.0 + MARK_SIZE + 4
FAR_TEXT_ROOM = BOX_WIDTH - FAR_TEXT_LEFT - 6
BETWEEN = " · "
SMALLER = 0.85
"""Letters of a long line are so much smaller before it is cut."""
HOST_ROOM_MIN = 18.0
"""Of a name that has less there would be nothing but dots."""
NEAR_TEXT_ROOM = BOX_WIDTH - MARK_SIZE - 24
NEAR_SHARE = (NEAR_TEXT_ROOM - 6) / FAR_TEXT_ROOM
"""So much of the letters of far away has room here; a little less, as letters are as wide as pixels
let them be."""
_TIMED = (Mark.RUNNING, Mark.DONE)
"""What is said of these changes with time alone."""


class BoxItem(QGraphicsObject):
    """One task, or many alike. It can be walked to by keyboard."""

    def __init__(self, box: Box) -> None:
        super().__init__()
        self.box = box
        self.tasks: list[TaskView] = []
        self._counts: Counter[Mark] = Counter()
        self.mark = Mark.WAITING
        """The most urgent one."""
        self._line = ""
        self.letters_max = LETTERS_MAX
        """So much larger than life at most, that all names of a graph fit; the same for all of it."""
        self.move(box)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsFocusable)
        self.setAcceptHoverEvents(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def move(self, box: Box) -> None:
        """Put the same box in another place."""
        self.box = box
        self.setPos(box.x, box.y)

    def tell(self, tasks: Mapping[str, TaskView], now_s: float) -> bool:
        """Take the states of now, of the box's tasks that are among these; repaint, and return
        true, only if something of them or of what is said of them has changed."""
        own = [tasks[each] for each in self.box.tasks if each in tasks]
        same = len(own) == len(self.tasks) and all(map(is_, own, self.tasks))
        if own and same and self.mark not in _TIMED:
            return False
        counts, said = count_marks(self.box, tasks), self._said(own, now_s)
        equal = counts == self._counts and said == self._line and own == self.tasks
        self.tasks, self._counts, self._line = own, counts, said
        if equal:
            return False
        self.mark = next((mark for mark in URGENCY if counts[mark]), Mark.WAITING)
        tip = self._tip()
        self.setToolTip(plain_tip(tip))
        self.setData(0, tip)
        self.update()
        return True

    @property
    def far_title(self) -> str:
        """What stands in it when it is seen from far away."""
        many = len(self.box.tasks) > 1
        return f"{self.box.title} ×{len(self.box.tasks)}" if many else self.box.title

    def boundingRect(self) -> QRectF:
        """Return what is painted on, with room for the border."""
        return QRectF(-2, -2, BOX_WIDTH + 4, BOX_HEIGHT + 4)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the box with its edge in the colour of its state, in the accent's if it is chosen,
        and with a second one behind it if it stands for several tasks; the farther away, the less
        is in it and the larger its letters are, in the end only a colour."""
        colours = look().colours
        rect = QRectF(0, 0, BOX_WIDTH, BOX_HEIGHT)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        edge = word_colour(self.mark, colours)
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        if zoom < TINY:
            painter.fillRect(rect, QColor(colours.accent if chosen else edge))
            return
        if len(self.box.tasks) > 1:
            paint_box(painter, rect.translated(3, 3), 7, colours.surface, colours.line)
        if chosen:
            paint_box(painter, rect, 7, colours.selected, colours.accent, 2.5)
        else:
            paint_box(painter, rect, 7, colours.surface, edge, 1.25)
        if zoom < NEAR:
            larger = FAR_LETTERS / max(zoom, 0.01)
            self._paint_far(painter, colours, max(1.0, min(self.letters_max, larger)))
        else:
            larger = max(1.0, min(NEAR_LETTERS_MAX, self.letters_max * NEAR_SHARE, 1 / zoom))
            self._paint_inside(painter, colours, larger)

    def _paint_far(self, painter: QPainter, colours: Colours, larger: float) -> None:
        """Paint what can still be read from far away, as large as the box lets it."""
        many = len(self.box.tasks) > 1
        top = (BOX_HEIGHT - MARK_SIZE) / 2 - (6 if many else 0)
        permille = self.tasks[0].permille if len(self.tasks) == 1 else None
        draw_mark(painter, self.mark, QRectF(8, top, MARK_SIZE, MARK_SIZE), permille)
        text = QRectF(FAR_TEXT_LEFT, top - 10, FAR_TEXT_ROOM + 1, MARK_SIZE + 20)
        font, middle = _larger(strong_font(), larger), Qt.TextElideMode.ElideMiddle
        paint_text(painter, text, self.far_title, colours.text, font, elide=middle)
        if many:
            self._paint_share(painter, QRectF(10, 42, BOX_WIDTH - 20, 7), colours)

    def _paint_inside(self, painter: QPainter, colours: Colours, larger: float) -> None:
        """Its name, in letters as large as those of all, and what it does, as large as fits."""
        permille = self.tasks[0].permille if len(self.tasks) == 1 else None
        draw_mark(painter, self.mark, QRectF(10, 9, MARK_SIZE, MARK_SIZE), permille)
        text = QRectF(10 + MARK_SIZE + 6, 6, NEAR_TEXT_ROOM, 22)
        font, many = _larger(strong_font(), larger), len(self.box.tasks) > 1
        if many:
            number = f"×{len(self.box.tasks)}"
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            paint_text(painter, text, number, colours.text, font, right)
            text.setWidth(text.width() - painter.fontMetrics().horizontalAdvance(number) - 6)
        middle = Qt.TextElideMode.ElideMiddle
        paint_text(painter, text, self.box.title, colours.text, font, elide=middle)
        if many:
            self._paint_share(painter, QRectF(10, 39, BOX_WIDTH - 20, 6), colours)
            return
        below = QRectF(10, 30, BOX_WIDTH - 20, 20)
        metrics = QFontMetricsF(small_font())
        line = shortened(self._line, metrics, (below.width() - 4) / SMALLER)
        needed = metrics.horizontalAdvance(line) + 1
        font = _larger(small_font(), max(SMALLER, min(larger, (below.width() - 4) / needed)))
        right_end = Qt.TextElideMode.ElideRight
        paint_text(painter, below, line, colours.quiet, font, elide=right_end)

    def _paint_share(self, painter: QPainter, rect: QRectF, colours: Colours) -> None:
        """How many of a fan-out are in which state."""
        whole = sum(self._counts.values()) or 1
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        path = QPainterPath()
        path.addRoundedRect(rect, 3, 3)
        painter.setClipPath(path, Qt.ClipOperation.IntersectClip)
        painter.fillRect(rect, QColor(colours.track))
        left = rect.x()
        for mark in reversed(URGENCY):
            if mark is Mark.WAITING or not self._counts[mark]:
                continue
            width = rect.width() * self._counts[mark] / whole
            painter.fillRect(
                QRectF(left, rect.y(), width, rect.height()), QColor(word_colour(mark, colours))
            )
            left += width
        painter.restore()

    def _said(self, own: list[TaskView], now_s: float) -> str:
        if len(own) != 1:
            return ""
        task = own[0]
        suspended = task.state is TaskState.SUSPENDED
        said = task_words(task) if suspended else task_outlook(task, now_s)
        return BETWEEN.join(part for part in (task.host, said) if part) or task_words(task)

    def _tip(self) -> str:
        if len(self.tasks) == 1:
            task = self.tasks[0]
            said = (task.name, task_words(task), task.program, self._line)
            return "\n".join(dict.fromkeys(line for line in said if line))
        lines = [f"{self.box.title} ×{len(self.box.tasks)}"]
        lines += [
            f"{self._counts[mark]} {mark_words(mark)}" for mark in URGENCY if self._counts[mark]
        ]
        return "\n".join(lines)

    def state(self) -> Mark | None:
        """Return the mark of a single task, None for many; for tests and screen readers."""
        return mark_of_task(self.tasks[0]) if len(self.tasks) == 1 else None


def shortened(line: str, metrics: QFontMetricsF, room: float) -> str:
    """Return where a task runs and how far it is, with as much of the machine's name as there is room
    for, none where that is hardly a letter: how far it is is worth more."""
    host, between, said = line.rpartition(BETWEEN)
    if not host or metrics.horizontalAdvance(line) <= room:
        return line
    left = room - metrics.horizontalAdvance(between + said)
    if left < HOST_ROOM_MIN:
        return said
    return metrics.elidedText(host, Qt.TextElideMode.ElideRight, left) + between + said


def _larger(font: QFont, factor: float) -> QFont:
    font.setPointSizeF(font.pointSizeF() * factor)
    return font


class ArrowItem(QGraphicsPathItem):
    """From one box to another, with the name of what flows at its middle."""

    def __init__(self, arrow: Arrow, source: Box, target: Box) -> None:
        super().__init__()
        self.move(arrow, source, target)
        self.setZValue(-1)
        self.producer = source.tasks[0]
        self.label = arrow.label
        self.setToolTip(plain_tip(self.label))

    def move(self, arrow: Arrow, source: Box, target: Box) -> None:
        """Lead the arrow from one box to the other as the picture bends it, from now on, with as
        much room for its label as lies before the first bend."""
        self.prepareGeometryChange()
        self._end = QPointF(target.x, target.y + BOX_HEIGHT / 2)
        self._begin = begin = QPointF(source.x + BOX_WIDTH, source.y + BOX_HEIGHT / 2)
        self.setPath(_route(begin, arrow.bends, self._end))
        self._bounds = super().boundingRect().adjusted(-4, -22, 4, 8)
        self._label_at = QPointF(begin.x() + 5, begin.y() - 4)
        first = arrow.bends[0][0] - BOX_WIDTH / 2 if arrow.bends else target.x
        self._room = round(first - begin.x() - 12)

    def tell(self, label: str) -> None:
        """Set the arrow's label and tool tip, what flows along it, and repaint if that is another
        text than before."""
        if label != self.label:
            self.label = label
            self.setToolTip(plain_tip(label))
            self.update()

    def boundingRect(self) -> QRectF:
        """Return what is painted on, with room for the label and the head."""
        return self._bounds

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint a thin line with a head, and the label where one is near enough to read it and
        there is room; from far away only a straight line."""
        colours = look().colours
        painter.setPen(QPen(QColor(colours.waiting), 1.25))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        if zoom < TINY:
            painter.drawLine(self._begin, self._end)
            return
        painter.drawPath(self.path())
        painter.setBrush(QColor(colours.waiting))
        painter.setPen(Qt.PenStyle.NoPen)
        tip = self._end
        painter.drawPolygon(
            QPolygonF(
                [
                    tip,
                    QPointF(tip.x() - ARROW_LENGTH, tip.y() - ARROW_WIDTH),
                    QPointF(tip.x() - ARROW_LENGTH, tip.y() + ARROW_WIDTH),
                ]
            )
        )
        if self.label and zoom >= NEAR and self._room >= LABEL_ROOM_MIN:
            self._paint_label(painter, colours)

    def _paint_label(self, painter: QPainter, colours: Colours) -> None:
        """On a plate, because other lines may begin in the same place and bend through it."""
        painter.setFont(small_font())
        metrics = painter.fontMetrics()
        text = metrics.elidedText(self.label, Qt.TextElideMode.ElideMiddle, self._room)
        plate = QRectF(metrics.tightBoundingRect(text)).translated(self._label_at)
        painter.fillRect(plate.adjusted(-1, -1, 1, 1), QColor(colours.surface))
        painter.setPen(QColor(colours.quiet))
        painter.drawText(self._label_at, text)


def _route(begin: QPointF, bends: tuple[tuple[float, float], ...], end: QPointF) -> QPainterPath:
    """Leaves and arrives level; around other boxes where there are any between."""
    path = QPainterPath(begin)
    at = begin
    for x, y in bends:
        enter, leave = QPointF(x - BOX_WIDTH / 2, y), QPointF(x + BOX_WIDTH / 2, y)
        _curve(path, at, enter)
        path.lineTo(leave)
        at = leave
    _curve(path, at, end)
    return path


def _curve(path: QPainterPath, begin: QPointF, end: QPointF) -> None:
    middle = (begin.x() + end.x()) / 2
    path.cubicTo(QPointF(middle, begin.y()), QPointF(middle, end.y()), end)
