"""The graph of a workflow: pan by dragging, zoom by wheel or keys, a small map from 50 tasks on.

Laid out anew only when its shape changes; states are repainted in place.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView, QWidget

from agent.api.work import TaskView
from gui.model.graph import BOX_HEIGHT, BOX_WIDTH, Picture, closer, label_of, shape_of
from gui.model.marks import URGENCY, Mark
from gui.theme.drawing import word_colour
from gui.theme.look import GRID, look, strong_font
from gui.views.graph_building import GraphBuilding
from gui.views.graph_items import FAR_TEXT_ROOM, LETTERS_MAX, NEAR, BoxItem
from gui.views.pieces import set_up, tool
from gui.words import tr

ZOOM_STEP, ZOOM_MIN, ZOOM_MAX = 1.2, 0.05, 3.0
FIT_ZOOM_MAX = 1.0
READABLE_ZOOM_MIN, READABLE_BOXES_MAX = 0.62, 24
"""So few boxes are not made smaller than can be read: what runs is shown, and the map tells the rest."""
WALKED = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
FOLLOWED = (Mark.FAILED, Mark.PERSON, Mark.RUNNING, Mark.SUSPENDED, Mark.READY)
"""Boxes in these states are brought into sight when it is their turn."""
MAP_TASKS_MIN, MAP_BOXES_MIN = 50, 12
MAP_WIDTH, MAP_HEIGHT, MAP_HEIGHT_MIN = 20 * GRID, 12 * GRID, 4 * GRID
MARGIN = 2.0 * GRID


class GraphView(QGraphicsView):
    """``chosen`` with the ids of the tasks of a box; ``opened`` when one is double-clicked."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up(
            self,
            "graph",
            tr("Graph of the workflow"),
            scene=QGraphicsScene(self),
            renderHint=QPainter.RenderHint.Antialiasing,
            frameShape=QFrame.Shape.NoFrame,
            dragMode=QGraphicsView.DragMode.ScrollHandDrag,
            transformationAnchor=QGraphicsView.ViewportAnchor.AnchorUnderMouse,
            viewportUpdateMode=QGraphicsView.ViewportUpdateMode.SmartViewportUpdate,
            horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
            verticalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
        )
        self.viewport().setAcceptDrops(False)  # a scene takes any file from the window and drops it
        self.picture = Picture()
        self._building = GraphBuilding(self.scene(), self)
        self._building.built.connect(self._built)
        self.boxes, self.arrows = self._building.boxes, self._building.arrows
        self._shape = self.picture.shape
        self._bounds = QRectF()
        self._tasks: Mapping[str, TaskView] = {}
        self._meant = ""
        self._wide, self._close = self.picture, False
        self._followed, self._ringed = "", False
        self.map = MiniMap(self)
        self._by_hand = False
        """Whether a person has gone to where they want to look."""
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

    def tell(self, tasks: Mapping[str, TaskView]) -> None:
        """Show these tasks in their states; the graph is built anew only when its shape is another
        one, a large one after this returns."""
        self._tasks = tasks
        shape = shape_of(tasks.values())
        if shape != self._shape:
            self._shape, self._meant = shape, ""
            self.viewport().setUpdatesEnabled(False)
            self._building.begin(tasks)
        elif not self._building.busy:
            self._retell()

    def choose(self, task: str) -> None:
        """Select the box of a task and bring it into sight, without emitting ``chosen``; select
        none if it has no box. In a graph that is being built that is done when it is there."""
        self.scene().blockSignals(True)
        self.scene().clearSelection()
        self._meant = task
        item = self.boxes.get(self.picture.box_of.get(task, ""))
        if item is not None and not self._building.busy:
            item.setSelected(True)
            self.ensureVisible(item, 2 * GRID, 2 * GRID)
        self.scene().blockSignals(False)
        self.viewport().update()

    def fit(self) -> None:
        """Show all of it, never larger than life. Where it gets small, boxes say less in larger
        letters."""
        self._come_closer()
        self._fit(ZOOM_MIN)

    def settle(self) -> None:
        """Zoom so that all of the graph is shown, if that can be read or there are very many boxes;
        else as large as can be read, around the chosen task or what is most urgent, which is
        followed. What a person had zoomed or moved is forgotten."""
        self._come_closer()
        few = len(self.boxes) <= READABLE_BOXES_MAX
        if self._fit(READABLE_ZOOM_MIN if few else ZOOM_MIN):
            return
        meant = self.boxes.get(self.picture.box_of.get(self._meant, ""))
        item = meant or self._urgent()
        if item is not None:
            self._followed = item.box.key
            self.centerOn(item)

    def _urgent(self) -> BoxItem | None:
        return min(
            self.boxes.values(),
            key=lambda item: (URGENCY.index(item.mark), item.box.x),
            default=None,
        )

    def _follow(self) -> None:
        """When it is the turn of a box out of sight; not while a person looks at another one."""
        item = self._urgent()
        if item is None or item.box.key == self._followed or item.mark not in FOLLOWED:
            return
        self._followed = item.box.key
        looks_elsewhere = self._by_hand or bool(self.scene().selectedItems())
        seen = self.mapToScene(self.viewport().rect()).boundingRect()
        if not looks_elsewhere and not seen.contains(item.sceneBoundingRect()):
            self.centerOn(item)

    def _come_closer(self) -> None:
        """A few boxes stand closer where otherwise they were too small to say what they do."""
        few = len(self.boxes) <= READABLE_BOXES_MAX
        close = few and self._fitting_zoom(_bounds_of(self._wide)) < NEAR
        if close is self._close or self._building.busy:
            return
        self._close = close
        self._take(closer(self._wide) if close else self._wide)
        self._building.move(self.picture)
        self.map.dots_changed()

    def _take(self, picture: Picture) -> None:
        self.picture = picture
        self._bounds = _bounds_of(picture)

    def _fitting_zoom(self, bounds: QRectF) -> float:
        room, rect = self.viewport().rect(), bounds.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
        return float(min(room.width() / rect.width(), room.height() / rect.height()))

    def _fit(self, zoom_min: float) -> bool:
        """Whether all of it is seen."""
        self._by_hand = False
        rect = self._bounds.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
        self.setSceneRect(rect)
        if self._bounds.isEmpty() or not self.viewport().width():
            return True
        fitting = self._fitting_zoom(self._bounds)
        self.resetTransform()
        scale = max(zoom_min, min(FIT_ZOOM_MAX, fitting))
        self.scale(scale, scale)
        self.centerOn(rect.center())
        self._tell_map()
        return scale <= fitting

    def _tell_map(self) -> None:
        """Show the map where it tells more than the view does."""
        seen = self.mapToScene(self.viewport().rect()).boundingRect()
        hidden = not seen.adjusted(-1, -1, 1, 1).contains(self._bounds)
        many = len(self._tasks) >= MAP_TASKS_MIN and len(self.boxes) >= MAP_BOXES_MIN
        self.map.setVisible(len(self.boxes) > 1 and (hidden or many))
        self.map.update()

    # -- Qt ----------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom, with Ctrl or without: in a graph dragging pans."""
        self._zoom(ZOOM_STEP if event.angleDelta().y() > 0 else 1 / ZOOM_STEP)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom with plus and minus, fit with nought, walk to the nearest box with the arrows; leave
        other keys to Qt."""
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

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Choose the box under the mouse, if it was the mouse and one is there, and leave the menu
        to the page."""
        item = self.itemAt(event.pos())
        if event.reason() == QContextMenuEvent.Reason.Mouse and isinstance(item, BoxItem):
            self.scene().clearSelection()
            item.setSelected(True)
        event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan; what was dragged by hand is not fitted by itself any more."""
        super().mouseMoveEvent(event)
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.stay()

    def stay(self) -> None:
        """Keep what is seen where it is, until somebody wants to see all of it, or another
        graph."""
        self._by_hand = True

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Emit ``opened`` with the tasks of the box under the mouse, if one is there."""
        item = self.itemAt(event.position().toPoint())
        if isinstance(item, BoxItem):
            self.opened.emit(item.box.tasks)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Draw a ring if keys led here: they work from now on, though no box is chosen yet."""
        super().focusInEvent(event)
        self._ringed = event.reason() in WALKED
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away, for the keys are elsewhere."""
        super().focusOutEvent(event)
        self._ringed = False
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the graph, with a ring around it while keys led here."""
        super().paintEvent(event)
        if self._ringed:
            painter = QPainter(self.viewport())
            painter.setPen(QPen(QColor(look().colours.accent), 1))
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep buttons and map in their corners, and fit the graph again, unless a person has
        zoomed or moved it."""
        super().resizeEvent(event)
        self._place_corners()
        if self._by_hand:
            self._tell_map()
        else:
            self.settle()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the graph, for only now its size is right; what was moved by hand stays."""
        super().showEvent(event)
        if not self._by_hand:
            self.settle()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Scroll, and show on the map where one is."""
        super().scrollContentsBy(dx, dy)
        self.map.update()

    # -- own ---------------------------------------------------------------------------------

    def _retell(self) -> None:
        tasks, now_s = self._tasks, time.time()
        for arrow in self.arrows:
            known = arrow.producer in tasks
            arrow.tell(label_of(tasks[arrow.producer]) if known else "")
        changed = [item.tell(tasks, now_s) for item in self.boxes.values()]
        if any(changed):
            self.map.dots_changed()
            self._follow()

    def _built(self, picture: Picture) -> None:
        """All items are there; what was told and chosen meanwhile holds."""
        self._wide, self._close, self._followed = picture, False, ""
        self._take(picture)
        self._size_letters()
        self._retell()
        self.map.dots_changed()
        self._place_corners()
        self.viewport().setUpdatesEnabled(True)
        self.settle()
        if self._meant:
            self.choose(self._meant)

    def _size_letters(self) -> None:
        """One size for all names, such that the longest fits."""
        metrics = QFontMetricsF(strong_font())
        widths = [metrics.horizontalAdvance(each.far_title) for each in self.boxes.values()]
        most = FAR_TEXT_ROOM / max(widths, default=FAR_TEXT_ROOM)
        for each in self.boxes.values():
            each.letters_max = min(LETTERS_MAX, most)

    def _zoom(self, factor: float) -> None:
        scale = self.transform().m11() * factor
        if ZOOM_MIN <= scale <= ZOOM_MAX:
            self._by_hand = True
            self.scale(factor, factor)
            self._tell_map()

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
        distances: dict[BoxItem, float] = {}
        for item in self.boxes.values():
            across, along = item.box.x - origin.box.x, item.box.y - origin.box.y
            ahead, aside = (across * right, abs(along)) if right else (along * down, abs(across))
            if item is not origin and ahead > 1:
                distances[item] = ahead + 2 * aside
        return min(distances, key=distances.__getitem__, default=None)

    def _selection_changed(self) -> None:
        chosen = [item for item in self.boxes.values() if item.isSelected()]
        self.setAccessibleDescription(str(chosen[0].data(0)) if chosen else "")
        self.chosen.emit(chosen[0].box.tasks if chosen else ())

    def _place_corners(self) -> None:
        left = self.width() - GRID
        for each in reversed(self._buttons):
            each.adjustSize()
            left -= each.width()
            each.move(left, GRID)
            left -= 2
        shape = self._bounds.height() / max(1.0, self._bounds.width())
        high = round(min(MAP_HEIGHT, max(MAP_HEIGHT_MIN, MAP_WIDTH * shape + 2 * GRID)))
        left, top = self.width() - MAP_WIDTH - GRID, self.height() - high - GRID
        self.map.setGeometry(left, top, MAP_WIDTH, high)

    def _colours(self) -> None:
        self.setBackgroundBrush(QColor(look().colours.surface))
        self.viewport().update()


def _bounds_of(picture: Picture) -> QRectF:
    """Return the bounds of the boxes, and of lines that bend around them."""
    bounds = QRectF()
    for box in picture.boxes:
        bounds |= QRectF(box.x, box.y, BOX_WIDTH, BOX_HEIGHT)
    for arrow in picture.arrows:
        for x, y in arrow.bends:
            bounds |= QRectF(x - 1, y - 1, 2, 2)
    return bounds


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
        says = tr("Map of the graph")
        set_up(self, "graphMap", says, cursor=Qt.CursorShape.CrossCursor)
        self._graph = graph
        self._dots, self._dots_of = QPixmap(), ""
        self.hide()

    def dots_changed(self) -> None:
        """Paint the dots anew, for their colours or places are other ones."""
        self._dots_of = ""
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint all boxes as dots, and a frame around what the graph shows."""
        colours = look().colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.backdrop))
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        scale, offset = self._fit()
        painter.drawPixmap(0, 0, self._dots_now(scale, offset))
        seen = self._graph.mapToScene(self._graph.viewport().rect()).boundingRect()
        painter.setPen(QPen(QColor(colours.accent), 1.5))
        frame = QRectF(seen.topLeft() * scale + offset, seen.size() * scale)
        painter.drawRect(frame.intersected(QRectF(self.rect()).adjusted(1, 1, -2, -2)))

    def _dots_now(self, scale: float, offset: QPointF) -> QPixmap:
        """Kept, because while one pans only the frame moves. Boxes are plain: at this size only
        their places and colours can be told."""
        colours, ratio = look().colours, self.devicePixelRatioF()
        drawn = f"{scale} {offset} {colours.dark} {ratio}"
        if drawn == self._dots_of:
            return self._dots
        self._dots, self._dots_of = QPixmap(self.size() * ratio), drawn
        self._dots.setDevicePixelRatio(ratio)
        self._dots.fill(Qt.GlobalColor.transparent)
        painter = QPainter(self._dots)
        size = QSizeF(BOX_WIDTH * scale + 1, BOX_HEIGHT * scale + 1)
        for item in self._graph.boxes.values():
            at = QPointF(item.box.x, item.box.y) * scale + offset
            painter.fillRect(QRectF(at, size), QColor(word_colour(item.mark, colours)))
        painter.end()
        return self._dots

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the graph to what was clicked."""
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the graph along with the mouse."""
        self._go(event.position())

    def _go(self, at: QPointF) -> None:
        scale, offset = self._fit()
        self._graph.stay()
        self._graph.centerOn((at - offset) / scale)

    def _fit(self) -> tuple[float, QPointF]:
        rect = self._graph.sceneRect()
        scale = min(self.width() / max(1.0, rect.width()), self.height() / max(1.0, rect.height()))
        middle = QPointF(self.width() / 2, self.height() / 2)
        return scale, middle - rect.center() * scale
