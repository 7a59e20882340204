"""The graph of a workflow: pan by dragging, zoom by wheel or keys, a small map from 50 tasks on.

Laid out anew only when its shape changes; states are repainted in place.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView, QWidget

from agent.api.work import TaskView
from gui.model.graph import Picture, draw, label_of, shape_of
from gui.theme.look import GRID, look
from gui.views.graph_items import ArrowItem, BoxItem
from gui.views.pieces import tool
from gui.words import tr

ZOOM_STEP, ZOOM_MIN, ZOOM_MAX = 1.2, 0.05, 3.0
FIT_ZOOM_MAX = 1.0
MAP_TASKS_MIN = 50
MAP_WIDTH, MAP_HEIGHT = 20 * GRID, 12 * GRID
MARGIN = 2.0 * GRID


class GraphView(QGraphicsView):
    """``chosen`` with the ids of the tasks of a box; ``opened`` when one is double-clicked."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("graph")
        self.setAccessibleName(tr("Graph of the workflow"))
        self.setScene(QGraphicsScene(self))
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.SmartViewportUpdate)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.picture = Picture()
        self.boxes: dict[str, BoxItem] = {}
        self.arrows: list[ArrowItem] = []
        self.map = MiniMap(self)
        self._zoomed_by_hand = False
        self._buttons = [
            tool(tr("Show all (0)"), "graphFit", self.fit, "fit"),
            tool(tr("Larger (+)"), "graphLarger", lambda: self._zoom(ZOOM_STEP), "plus"),
            tool(tr("Smaller (-)"), "graphSmaller", lambda: self._zoom(1 / ZOOM_STEP), "minus"),
        ]
        for each in self._buttons:
            each.setParent(self)
        self.scene().selectionChanged.connect(self._selection_changed)
        look().changed.connect(self._colours)
        self._colours()

    def tell(self, tasks: Mapping[str, TaskView], names: Mapping[str, str] | None = None) -> None:
        """These tasks, in these states; ``names`` of datasets, for the arrows."""
        if shape_of(tasks.values()) != self.picture.shape:
            self._lay(tasks)
        for arrow in self.arrows:
            arrow.tell(label_of(tasks[arrow.producer], names) if arrow.producer in tasks else "")
        now_s = time.time()
        for item in self.boxes.values():
            item.tell(tasks, now_s)
        if self.map.isVisible():
            self.map.update()

    def choose(self, task: str) -> None:
        """Select the box of a task, without telling."""
        self.scene().blockSignals(True)
        self.scene().clearSelection()
        key = self.picture.box_of.get(task)
        if key is not None:
            self.boxes[key].setSelected(True)
            self.ensureVisible(self.boxes[key], 2 * GRID, 2 * GRID)
        self.scene().blockSignals(False)
        self.viewport().update()

    def fit(self) -> None:
        """All of it, never larger than life. Where it gets small, boxes say less in larger letters."""
        self._zoomed_by_hand = False
        rect = self.scene().itemsBoundingRect().adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
        self.setSceneRect(rect)
        if rect.isEmpty() or not self.viewport().width():
            return
        room = self.viewport().rect()
        scale = min(room.width() / rect.width(), room.height() / rect.height())
        self.resetTransform()
        scale = max(ZOOM_MIN, min(FIT_ZOOM_MAX, scale))
        self.scale(scale, scale)
        self.centerOn(rect.center())
        self.map.update()

    # -- Qt ----------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ctrl or not: in a graph the wheel zooms, dragging pans."""
        self._zoom(ZOOM_STEP if event.angleDelta().y() > 0 else 1 / ZOOM_STEP)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Plus, minus and nought; arrows walk along the edges."""
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self._zoom(ZOOM_STEP)
            case Qt.Key.Key_Minus:
                self._zoom(1 / ZOOM_STEP)
            case Qt.Key.Key_0:
                self.fit()
            case Qt.Key.Key_Left | Qt.Key.Key_Right | Qt.Key.Key_Up | Qt.Key.Key_Down:
                self._walk(Qt.Key(event.key()))
            case _:
                super().keyPressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the log of what is under the mouse."""
        item = self.itemAt(event.position().toPoint())
        if isinstance(item, BoxItem):
            self.opened.emit(item.box.tasks)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fitted stays fitted; buttons and map keep their corners."""
        super().resizeEvent(event)
        self._place_corners()
        if not self._zoomed_by_hand:
            self.fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Only now the size is right."""
        super().showEvent(event)
        if not self._zoomed_by_hand:
            self.fit()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """The map shows where one is."""
        super().scrollContentsBy(dx, dy)
        self.map.update()

    # -- own ---------------------------------------------------------------------------------

    def _lay(self, tasks: Mapping[str, TaskView]) -> None:
        self.picture = draw(list(tasks.values()))
        scene = self.scene()
        scene.blockSignals(True)
        scene.clear()
        scene.blockSignals(False)
        self.boxes, self.arrows = {}, []
        boxes = {box.key: box for box in self.picture.boxes}
        for arrow in self.picture.arrows:
            line = ArrowItem(arrow, boxes[arrow.source], boxes[arrow.target])
            self.arrows.append(line)
            scene.addItem(line)
        for box in self.picture.boxes:
            item = self.boxes[box.key] = BoxItem(box)
            scene.addItem(item)
        self.map.setVisible(len(tasks) >= MAP_TASKS_MIN and len(boxes) > 1)
        self._place_corners()
        self.fit()

    def _zoom(self, factor: float) -> None:
        scale = self.transform().m11() * factor
        if ZOOM_MIN <= scale <= ZOOM_MAX:
            self._zoomed_by_hand = True
            self.scale(factor, factor)
            self.map.update()

    def _walk(self, key: Qt.Key) -> None:
        """To the nearest box in that direction."""
        chosen = [item for item in self.boxes.values() if item.isSelected()]
        if not chosen:
            target = min(self.boxes.values(), key=lambda each: each.box.x, default=None)
        else:
            target = self._next_box(chosen[0], key)
        if target is not None:
            self.scene().clearSelection()
            target.setSelected(True)
            self.ensureVisible(target)

    def _next_box(self, origin: BoxItem, key: Qt.Key) -> BoxItem | None:
        right, down = _DIRECTIONS[key]
        best: tuple[float, BoxItem] | None = None
        for item in self.boxes.values():
            across, along = item.box.x - origin.box.x, item.box.y - origin.box.y
            ahead, aside = (across * right, abs(along)) if right else (along * down, abs(across))
            if item is origin or ahead <= 1:
                continue
            distance = ahead + 2 * aside
            if best is None or distance < best[0]:
                best = (distance, item)
        return best[1] if best else None

    def _selection_changed(self) -> None:
        chosen = [item.box.tasks for item in self.boxes.values() if item.isSelected()]
        self.chosen.emit(chosen[0] if chosen else ())

    def _place_corners(self) -> None:
        left = self.width() - GRID
        for each in reversed(self._buttons):
            each.adjustSize()
            left -= each.width()
            each.move(left, GRID)
            left -= 2
        self.map.setGeometry(
            self.width() - MAP_WIDTH - GRID,
            self.height() - MAP_HEIGHT - GRID,
            MAP_WIDTH,
            MAP_HEIGHT,
        )

    def _colours(self) -> None:
        self.setBackgroundBrush(QColor(look().colours.surface))
        self.viewport().update()


_DIRECTIONS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class MiniMap(QWidget):
    """All boxes as dots, and a frame around what is seen; a click goes there."""

    def __init__(self, graph: GraphView) -> None:
        super().__init__(graph)
        self.setObjectName("graphMap")
        self.setAccessibleName(tr("Map of the graph"))
        self.setCursor(Qt.CursorShape.CrossCursor)
        self._graph = graph
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Boxes are plain: at this size only their places and colours can be told."""
        from gui.icons.drawing import word_colour

        colours = look().colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.backdrop))
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        scale, offset = self._fit()
        for item in self._graph.boxes.values():
            rect = QRectF(item.pos() * scale + offset, item.boundingRect().size() * scale)
            colour = QColor(word_colour(item.mark, colours))
            painter.fillRect(rect.adjusted(0, 0, 1, 1), colour)
        seen = self._graph.mapToScene(self._graph.viewport().rect()).boundingRect()
        painter.setPen(QPen(QColor(colours.accent), 1.5))
        frame = QRectF(seen.topLeft() * scale + offset, seen.size() * scale)
        painter.drawRect(frame.intersected(QRectF(self.rect()).adjusted(1, 1, -2, -2)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go there."""
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go along."""
        self._go(event.position())

    def _go(self, at: QPointF) -> None:
        scale, offset = self._fit()
        self._graph.centerOn((at - offset) / scale)

    def _fit(self) -> tuple[float, QPointF]:
        rect = self._graph.sceneRect()
        scale = min(self.width() / max(1.0, rect.width()), self.height() / max(1.0, rect.height()))
        middle = QPointF(self.width() / 2, self.height() / 2)
        return scale, middle - rect.center() * scale
