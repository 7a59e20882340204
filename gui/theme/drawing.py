"""From SVG to pixels, in the colours of the moment.

An icon asks for its colour when it is painted, not when it is made: so buttons follow light and
dark without being told. Pixels are kept, because tables paint the same mark thousands of times.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from importlib import resources

from PySide6.QtCore import QByteArray, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QIcon, QIconEngine, QPainter, QPen, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gui.model.marks import Mark
from gui.theme.colours import Colours, text_on
from gui.theme.look import look

PIXMAPS_KEPT = 600
PROGRESS_STEPS = 20
FINER = 2
_DISABLED_OPACITY = 0.4


@cache
def source(name: str) -> str:
    """Return the SVG text of an icon's file."""
    return (resources.files("gui.theme") / "icons" / f"{name}.svg").read_text("utf-8")


@lru_cache(PIXMAPS_KEPT)
def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """Return an icon in one colour, at a size in logical pixels."""
    return draw_svg(_coloured(source(name), colour), size, ratio)


def mark_pixmap(mark: Mark, size: int, ratio: float, permille: int | None = None) -> QPixmap:
    """Return a mark drawn in the colours of now, at a size in logical pixels, each of ``ratio``
    pixels of the screen; running work as a disc filled by ``permille``, never quite empty or full,
    plain where that is None as nobody knows it."""
    colours = look().colours
    colour = mark_colour(mark, colours)
    if mark is Mark.RUNNING and permille is not None:
        step = max(1, min(PROGRESS_STEPS - 1, round(permille * PROGRESS_STEPS / 1000)))
        return _progress_pixmap(colour, step, size, ratio)
    return _mark_pixmap(mark, colour, colours.person_edge, colours.dark, size, ratio)


def mark_colour(mark: Mark, colours: Colours) -> str:
    """Return the colour that says the same as the mark's shape."""
    return str(getattr(colours, mark.value))


def word_colour(mark: Mark, colours: Colours) -> str:
    """Return a mark's colour for words, where a light yellow could not be read."""
    return colours.person_edge if mark is Mark.PERSON else mark_colour(mark, colours)


def draw_mark(painter: QPainter, mark: Mark, rect: QRectF, permille: int | None = None) -> None:
    """Paint a mark into this square, sharp at the painter's scale; running work as a disc filled by
    ``permille``, plain where that is None."""
    device = painter.device()
    ratio = device.devicePixelRatio()
    scale = math.hypot(painter.worldTransform().m11(), painter.worldTransform().m12())
    if scale != 1:  # from more pixels than are needed: from as many, a thin ring would get gaps
        ratio = FINER * math.ceil(ratio * scale)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    pixels = mark_pixmap(mark, max(1, round(rect.width())), ratio, permille)
    painter.drawPixmap(rect, pixels, QRectF(pixels.rect()))


def icon(name: str, role: str = "text") -> QIcon:
    """Return an icon in a colour of the theme, named by its role there; it follows the theme."""
    return QIcon(_Engine(name, role))


def mark_icon(mark: Mark) -> QIcon:
    """Return a mark as an icon, where only one will do, as in menus."""
    return QIcon(_MarkEngine(mark))


def draw_svg(svg: str, size: int, ratio: float = 1.0) -> QPixmap:
    """Return an SVG text drawn into a square of ``size`` logical pixels, each of ``ratio`` pixels
    of the screen."""
    edge = max(1, round(size * ratio))
    pixels = QPixmap(edge, edge)
    pixels.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixels)
    render_svg(painter, svg, edge)
    painter.end()
    pixels.setDevicePixelRatio(ratio)
    return pixels


def render_svg(painter: QPainter, svg: str, edge: int) -> None:
    """Paint an SVG text into the square of so many pixels in the upper left corner."""
    QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(0, 0, edge, edge))


def paint_box(
    painter: QPainter,
    rect: QRectF | QRect,
    radius: float,
    fill: QColor | str | None = None,
    edge: QColor | str | None = None,
    width: float = 1.0,
) -> None:
    """Paint a box with round corners: what is inside in the colour ``fill``, the edge in the colour
    ``edge``; None: it is not painted. The painter keeps this pen and brush."""
    painter.setPen(Qt.PenStyle.NoPen if edge is None else QPen(QColor(edge), width))
    painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else QColor(fill))
    painter.drawRoundedRect(rect, radius, radius)


def paint_text(
    painter: QPainter,
    rect: QRectF | QRect,
    text: str,
    colour: str,
    font: QFont,
    side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignVCenter,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideNone,
) -> None:
    """Paint a line of text in a rectangle where ``side`` says, which names the height too (by
    default left, in the middle). Where there is not room for all of it, dots stand where ``elide``
    says; by default there are none. The painter keeps this font and pen."""
    painter.setFont(font)
    painter.setPen(QColor(colour))
    shown = painter.fontMetrics().elidedText(text, elide, round(rect.width()))
    painter.drawText(rect, side, shown)


@lru_cache(PIXMAPS_KEPT)
def _mark_pixmap(
    mark: Mark, colour: str, edge: str, dark: bool, size: int, ratio: float
) -> QPixmap:
    del dark  # a part of the key only: the edges differ
    ink = "#1b1f24" if mark is Mark.PERSON else text_on(colour)
    svg = source(mark.value).replace("hole2", ink).replace("hole", ink).replace("edge", edge)
    return draw_svg(_coloured(svg, colour), size, ratio)


@lru_cache(PIXMAPS_KEPT)
def _progress_pixmap(colour: str, step: int, size: int, ratio: float) -> QPixmap:
    """A ring around a disc that fills clockwise from the top."""
    angle = 2 * math.pi * step / PROGRESS_STEPS
    end = QPointF(8 + 4.25 * math.sin(angle), 8 - 4.25 * math.cos(angle))
    far = 1 if step * 2 > PROGRESS_STEPS else 0
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
        f'<circle cx="8" cy="8" r="6.25" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        f'<path d="M8 8 V3.75 A4.25 4.25 0 {far} 1 {end.x():.3f} {end.y():.3f} Z" '
        f'fill="{colour}"/></svg>'
    )
    return draw_svg(svg, size, ratio)


def _coloured(svg: str, colour: str) -> str:
    return svg.replace("currentColor", colour)


class _Engine(QIconEngine):
    """Paints at whatever size and scale is asked for, in the colours of that moment."""

    def __init__(self, name: str, role: str) -> None:
        super().__init__()
        self._name, self._role = name, role

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Paint the icon into the square; a disabled one is paler, not grey on grey."""
        painter.drawPixmap(rect, self._faded(self._pixels(rect.size(), 2.0, mode), mode))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return the icon in this many pixels of the device, as Qt asks here."""
        return self._faded(self._pixels(size, 1.0, mode), mode)

    def scaledPixmap(
        self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float
    ) -> QPixmap:
        """Return the icon at this size in logical pixels, with as many real ones as the screen
        has."""
        pixels = QPixmap(self._faded(self._pixels(size * scale, 1.0, mode), mode))
        pixels.setDevicePixelRatio(scale)
        return pixels

    def clone(self) -> QIconEngine:
        """Return another of the same, as Qt wants when an icon is detached."""
        return _Engine(self._name, self._role)

    def _pixels(self, size: QSize, ratio: float, mode: QIcon.Mode) -> QPixmap:
        """What is made for an accent has none behind it while it is disabled."""
        pale = mode == QIcon.Mode.Disabled and self._role == "on_accent"
        colour = str(getattr(look().colours, "text" if pale else self._role))
        return pixmap(self._name, colour, min(size.width(), size.height()), ratio)

    def _faded(self, pixels: QPixmap, mode: QIcon.Mode) -> QPixmap:
        if mode != QIcon.Mode.Disabled:
            return pixels
        faint = QPixmap(pixels.size())
        faint.fill(QColor(0, 0, 0, 0))
        painter = QPainter(faint)
        painter.setOpacity(_DISABLED_OPACITY)
        painter.drawPixmap(0, 0, pixels)
        painter.end()
        return faint


class _MarkEngine(_Engine):
    """Paints marks at whatever size is asked for; they have more than one colour."""

    def __init__(self, mark: Mark) -> None:
        super().__init__(mark.value, mark.value)
        self._mark = mark

    def clone(self) -> QIconEngine:
        """Return another of the same, as Qt wants when an icon is detached."""
        return _MarkEngine(self._mark)

    def _pixels(self, size: QSize, ratio: float, mode: QIcon.Mode) -> QPixmap:
        del mode
        return mark_pixmap(self._mark, min(size.width(), size.height()), ratio)
