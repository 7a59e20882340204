"""The wing in the tray: how far it is filled tells progress, the badge tells the state by shape.

At 16 pixels there is room for one thing more than the wing, so the badge is a plain heavy shape on a
disc that is cut out of the wing. Panels are light or dark whatever the program's own colours are, and
none tells which: so the wing has a thin edge of the other ink, which stands out where it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from gui.model.tray import TrayState
from gui.theme.drawing import draw_svg, render_svg, source

SIZES = (16, 20, 22, 24, 32, 48, 64, 128, 256)
FILL_STEPS = 16
_BADGE_SHARE, _BADGE_SHARE_SMALL = 0.5, 0.625
_SMALL = 24
_EDGE_WIDTH = 5.4
"""Of 32, under a line of 2.2: at 16 pixels three quarters of a pixel on either side."""
_LIGHT_INK, _DARK_INK = "#f2f4f7", "#23272d"
_PLATES = {
    TrayState.RUNNING: "#0068a8",
    TrayState.OWNER: "#b87a00",
    TrayState.PAUSED: "#b87a00",
    TrayState.ALONE: "#5d6670",
    TrayState.TROUBLE: "#c84c00",
    TrayState.IDLE: "#007a58",
    TrayState.NEEDS_YOU: "#f0e442",
}


def wing_icon(state: TrayState, permille: int | None, dark_panel: bool) -> QIcon:
    """Return the tray's icon in all sizes that panels ask for, light for a ``dark_panel`` and dark
    for a light one, with the state's badge and filled by ``permille``, full where that is None as
    nothing runs; while alone, paused, in use or in trouble it is an outline."""
    step = FILL_STEPS if permille is None else round(permille * FILL_STEPS / 1000)
    return _icon(state, step, dark_panel)


@lru_cache(64)
def _icon(state: TrayState, step: int, dark_panel: bool) -> QIcon:
    icon = QIcon()
    for size in SIZES:
        icon.addPixmap(wing_pixmap(size, state, step, dark_panel))
    return icon


def wing_pixmap(size: int, state: TrayState, step: int, dark_panel: bool) -> QPixmap:
    """Return the tray's wing in one size: filled by ``step`` of ``FILL_STEPS``, but an outline
    while alone, paused, in use or in trouble; with the badge of the state, and light or dark as the
    panel needs it."""
    pixels = QPixmap(size, size)
    pixels.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixels)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ink, edge = (_LIGHT_INK, _DARK_INK) if dark_panel else (_DARK_INK, _LIGHT_INK)
    _edge(painter, size, edge)
    _wing(painter, size, state, step, ink)
    _badge(painter, size, state)
    painter.end()
    return pixels


def plain_wing(size: int, colour: str) -> QPixmap:
    """Return the wing filled and without a badge: the program's own icon."""
    svg = source("wing").replace('fill="none"', f'fill="{colour}"').replace("currentColor", colour)
    return draw_svg(svg, size)


def _edge(painter: QPainter, size: int, ink: str) -> None:
    wide = source("wing").replace('stroke-width="2.2"', f'stroke-width="{_EDGE_WIDTH}"')
    render_svg(painter, wide.replace("currentColor", ink), size)


def _wing(painter: QPainter, size: int, state: TrayState, step: int, ink: str) -> None:
    outline = source("wing").replace("currentColor", ink)
    painter.save()
    if state in (TrayState.ALONE, TrayState.PAUSED, TrayState.OWNER, TrayState.TROUBLE):
        step = 0
    render_svg(painter, outline, size)
    painter.setClipRect(QRectF(0, 0, size * step / FILL_STEPS, size))
    render_svg(painter, outline.replace('fill="none"', f'fill="{ink}"'), size)
    painter.restore()


def _badge(painter: QPainter, size: int, state: TrayState) -> None:
    if state is TrayState.IDLE:
        return
    edge = size * (_BADGE_SHARE_SMALL if size <= _SMALL else _BADGE_SHARE)
    plate = QRectF(size - edge, size - edge, edge, edge)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
    painter.setBrush(Qt.GlobalColor.black)
    margin = max(1.0, size / 22)
    painter.drawEllipse(plate.adjusted(-margin, -margin, margin, margin))
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
    painter.setBrush(QColor(_PLATES[state]))
    painter.drawEllipse(plate)
    _shape(painter, plate, state)


def _shape(painter: QPainter, plate: QRectF, state: TrayState) -> None:
    ink = QColor("#1b1f24" if state is TrayState.NEEDS_YOU else "#ffffff")
    x, y, edge = plate.x(), plate.y(), plate.width()

    def at(across: float, down: float) -> QPointF:
        return QPointF(x + across * edge, y + down * edge)

    painter.setBrush(ink)
    painter.setPen(Qt.PenStyle.NoPen)
    thick = QPen(ink, max(1.2, edge * 0.16), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    match state:
        case TrayState.RUNNING:
            painter.drawPolygon(QPolygonF([at(0.36, 0.24), at(0.78, 0.5), at(0.36, 0.76)]))
        case TrayState.PAUSED:
            painter.drawRect(QRectF(at(0.28, 0.26), at(0.44, 0.74)))
            painter.drawRect(QRectF(at(0.56, 0.26), at(0.72, 0.74)))
        case TrayState.OWNER:
            _person(painter, at, edge)
        case TrayState.ALONE:
            painter.setPen(thick)
            painter.drawLine(at(0.28, 0.72), at(0.72, 0.28))
        case TrayState.TROUBLE:
            painter.setPen(thick)
            painter.drawLine(at(0.3, 0.3), at(0.7, 0.7))
            painter.drawLine(at(0.7, 0.3), at(0.3, 0.7))
        case TrayState.NEEDS_YOU:
            painter.setPen(thick)
            painter.drawLine(at(0.5, 0.22), at(0.5, 0.54))
            painter.drawPoint(at(0.5, 0.78))
        case TrayState.IDLE:
            pass


def _person(painter: QPainter, at: Callable[[float, float], QPointF], edge: float) -> None:
    painter.drawEllipse(at(0.5, 0.34), edge * 0.15, edge * 0.15)
    body = QPainterPath(at(0.22, 0.8))
    body.cubicTo(at(0.22, 0.46), at(0.78, 0.46), at(0.78, 0.8))
    body.closeSubpath()
    painter.drawPath(body)
