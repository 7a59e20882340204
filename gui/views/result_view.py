"""A result in a window of its own: a text, a table, a picture or a map.

Nothing of it is executed. What is larger than can be looked at is cut, and that is said.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    QUrl,
)
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QImageReader,
    QKeySequence,
    QPainter,
    QPainterPath,
    QPalette,
    QPen,
    QPixmap,
    QResizeEvent,
    QShortcut,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView, QTableView, QWidget

from gui.model.results import (
    INSIDE,
    Kind,
    Shape,
    guarded,
    kind_of,
    rows_of,
    shapes_of,
    text_of,
)
from gui.theme.look import GRID
from gui.views.log_page import log_field
from gui.views.pieces import button, column, quiet, row, set_up, strong
from gui.words import plain_tip, tr

ZOOM_STEP = 1.2
POINT_SIZE = 8.0
LINE_WIDTH = 2.0
COLUMN_WIDTH_MAX = 40 * GRID
DRAWN_EDGE = 1600
"""So many pixels a drawing, which has none of its own, is wide or high: to be looked at from near."""
GUARDED = "shown-"
"""What the name of a page that was made harmless begins with, beside the page itself."""
_Index = QModelIndex | QPersistentModelIndex


def show_result(path: Path, parent: QWidget | None = None) -> QWidget | None:
    """Show a file or folder of results: in a window, which is returned, or by what the system has
    for documents and pages, and None is returned; a page as a harmless copy, which is written
    beside it, or as text where none can be made. A folder, and whatever is not known to be
    harmless, is shown in its folder and not opened. Raises ``OSError`` for what cannot be read, for
    a page beside which nothing can be written, and where nothing here opens it."""
    kind = Kind.OTHER if path.is_dir() else kind_of(path.name)
    if kind in INSIDE:
        return _shown(path, kind, parent)
    if kind is Kind.PAGE:
        page = guarded(path.read_bytes())
        if page is None:
            return _shown(path, Kind.TEXT, parent)
        path = path.with_name(f"{GUARDED}{path.name}")
        path.write_bytes(page)
    elif kind is Kind.OTHER and not path.is_dir():
        path = path.parent
    if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
        raise OSError(errno.ENOENT, tr("no program of this computer opens it"), str(path))
    return None


def _shown(path: Path, kind: Kind, parent: QWidget | None) -> QWidget:
    view = ResultView(path, kind, parent)
    view.show()
    view.raise_()
    return view


class ResultView(QWidget):
    """One result; closes with Esc."""

    def __init__(self, path: Path, kind: Kind, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        away = Qt.WidgetAttribute.WA_DeleteOnClose
        set_up(self, "resultView", windowTitle=path.name, attribute=away)
        self.resize(100 * GRID, 72 * GRID)
        self.note = quiet(name="resultNote")
        make: dict[Kind, Callable[[Path], QWidget]] = {
            Kind.TABLE: self._table,
            Kind.PICTURE: self._picture,
            Kind.MAP: self._map,
        }
        self.body = make.get(kind, self._text)(path)
        folder = button(
            tr("Show in its folder"),
            "resultFolder",
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent))),
        )
        margins = (2 * GRID, GRID, 2 * GRID, GRID)
        head = row(strong(path.name), self.note, "stretch", folder, margins=margins)
        column(head, (self.body, 1), on=self, spacing=0)
        QShortcut(QKeySequence("Esc"), self, self.close)
        self.body.setFocus()

    def _cut(self, whole: bool, text: str) -> None:
        self.note.setText(text if whole else tr("Only its beginning is shown"))

    def _text(self, path: Path) -> QWidget:
        text, whole = text_of(path)
        self._cut(whole, "" if text else tr("There is nothing in it."))
        field = log_field("resultText", path.name)
        field.setPlainText(text)
        return field

    def _table(self, path: Path) -> QWidget:
        rows, whole = rows_of(path)
        self._cut(whole, tr("{number} rows", number=max(len(rows) - 1, 0)))
        table = set_up(
            QTableView(),
            "resultTable",
            path.name,
            model=_RowsModel(rows, self),
            frameShape=QFrame.Shape.NoFrame,
            alternatingRowColors=True,
        )
        table.horizontalHeader().setMaximumSectionSize(COLUMN_WIDTH_MAX)
        table.resizeColumnsToContents()
        return table

    def _picture(self, path: Path) -> QWidget:
        reader = QImageReader(str(path))
        reader.setAutoTransform(True)
        drawn = path.suffix.lower() == ".svg" and reader.size().isValid()
        if drawn:
            edge = QSize(DRAWN_EDGE, DRAWN_EDGE)
            size = reader.size().scaled(edge, Qt.AspectRatioMode.KeepAspectRatio)
            reader.setScaledSize(size)
        image = reader.read()
        if image.isNull():
            self.note.setText(tr("This picture cannot be read: {why}", why=reader.errorString()))
        elif not drawn:
            self.note.setText(f"{image.width()} × {image.height()}")
        scene = QGraphicsScene(self)
        scene.addPixmap(QPixmap.fromImage(image))
        return _Plane(scene, path.name, enlarge=False)

    def _map(self, path: Path) -> QWidget:
        try:
            shapes, whole = shapes_of(path)
        except ValueError:
            field = self._text(path)
            self.note.setText(tr("This is no map that can be drawn; here is its text"))
            return field
        self._cut(whole, tr("{number} things", number=len(shapes)))
        scene = QGraphicsScene(self)
        for shape in shapes:
            _draw(scene, shape, self.palette().color(QPalette.ColorRole.Highlight))
        return _Plane(scene, path.name, enlarge=True, bounds=_bounds(shapes))


class _RowsModel(QAbstractTableModel):
    """The first row is the heading."""

    def __init__(self, rows: list[list[str]], parent: QWidget) -> None:
        super().__init__(parent)
        self._heading, self._rows = (rows[0] if rows else []), rows[1:]
        self._across = max(map(len, rows), default=0)

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else self._across

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text or tip, right alignment for a number, for Qt; None for other
        roles."""
        cells = self._rows[index.row()]
        text = cells[index.column()] if index.column() < len(cells) else ""
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(text)
        if role == Qt.ItemDataRole.TextAlignmentRole and _is_number(text):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the name of a column, empty beyond the heading, or the number of a row from 1;
        None for any role but the display."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation is Qt.Orientation.Vertical:
            return str(section + 1)
        return self._heading[section] if section < len(self._heading) else ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Plane(QGraphicsView):
    """All of it at first; nearer and farther by the wheel, plus and minus, moved by dragging."""

    def __init__(
        self, scene: QGraphicsScene, says: str, *, enlarge: bool, bounds: QRectF | None = None
    ) -> None:
        super().__init__()
        self._enlarge, self._fitted = enlarge, True
        set_up(
            self,
            "resultPlane",
            says,
            scene=scene,
            renderHints=QPainter.RenderHint.Antialiasing
            | QPainter.RenderHint.SmoothPixmapTransform,
            frameShape=QFrame.Shape.NoFrame,
            dragMode=QGraphicsView.DragMode.ScrollHandDrag,
            transformationAnchor=QGraphicsView.ViewportAnchor.AnchorUnderMouse,
        )
        bounds = bounds or scene.itemsBoundingRect()
        edge = max(bounds.width(), bounds.height()) / 20 or 1.0
        scene.setSceneRect(bounds.adjusted(-edge, -edge, edge, edge))
        for key, step in (("+", ZOOM_STEP), ("=", ZOOM_STEP), ("-", 1 / ZOOM_STEP)):
            QShortcut(QKeySequence(key), self, lambda by=step: self._zoom(by))
        QShortcut(QKeySequence("0"), self, self._fit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Go on showing all of it, until somebody has gone nearer."""
        super().resizeEvent(event)
        if self._fitted:
            self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Go nearer or farther, around the place under the mouse."""
        self._zoom(ZOOM_STEP if event.angleDelta().y() > 0 else 1 / ZOOM_STEP)

    def _zoom(self, by: float) -> None:
        self._fitted = False
        self.scale(by, by)

    def _fit(self) -> None:
        self._fitted = True
        bounds, room = self.sceneRect(), self.viewport().rect()
        small = bounds.width() < room.width() and bounds.height() < room.height()
        if small and not self._enlarge:
            self.resetTransform()
        else:
            self.fitInView(bounds, Qt.AspectRatioMode.KeepAspectRatio)


def _bounds(shapes: Sequence[Shape]) -> QRectF:
    """Where places lie; the dots that show them have a size on the screen and none on the map."""
    places = [at for shape in shapes for line in shape.lines for at in line]
    if not places:
        return QRectF()
    (left, top), (right, foot) = (tuple(map(of, zip(*places, strict=True))) for of in (min, max))
    return QRectF(left, top, right - left, foot - top)


def _draw(scene: QGraphicsScene, shape: Shape, colour: QColor) -> None:
    """Lines are as thick, and points as large, however near one is."""
    path = QPainterPath()
    pen = QPen(colour, LINE_WIDTH)
    pen.setCosmetic(True)
    for places in shape.lines:
        if len(places) == 1:
            dot = scene.addEllipse(
                QRectF(-POINT_SIZE / 2, -POINT_SIZE / 2, POINT_SIZE, POINT_SIZE),
                Qt.PenStyle.NoPen,
                colour,
            )
            dot.setPos(*places[0])
            dot.setFlag(dot.GraphicsItemFlag.ItemIgnoresTransformations)
            dot.setToolTip(plain_tip(shape.said))
            continue
        for number, (x, y) in enumerate(places):
            path.lineTo(x, y) if number else path.moveTo(x, y)
    if not path.isEmpty():
        inside = QColor(colour)
        inside.setAlpha(50 if shape.closed else 0)
        scene.addPath(path, pen, inside).setToolTip(plain_tip(shape.said))
