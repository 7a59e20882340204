"""Pictures of the report, drawn once and written twice: as SVG inside a page, and on a sheet of PDF.

A picture is measured in millimetres of paper, from its upper left corner, so that a scale of a map is
the scale in print, and both writings show the same. Whatever is text comes from anybody: it is
escaped, and what has no shape (control characters, marks that turn the direction of reading) is
left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
import shapely

Place = tuple[float, float]
Places = Sequence[Place]
Box = tuple[float, float, float, float]

INK, QUIET, FAINT, PAPER = "#1c2430", "#66707c", "#d5dae0", "#ffffff"
DIGITS = 4
"""Of a millimetre, in SVG: at 1 : 500,000 that is five centimetres in nature."""
MM = 72.0 / 25.4
"""Points of print in a millimetre."""
PAINTED = {(False, False): "n", (True, False): "S", (False, True): "h f*", (True, True): "h B*"}
"""The words of PDF that end a path, by whether its line and its area are drawn: some hundred thousand
places are written as they stand in the file, in a tenth of the time that a path of reportlab takes."""
TEXT_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Line:
    """A line through places, or an area inside them."""

    places: tuple[Place, ...]
    colour: str = INK
    width_mm: float = 0.2
    dash: tuple[float, ...] = ()
    fill: str = ""
    title: str = ""
    kind: str = ""
    """What it shows, for whoever reads the picture with a program."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign at a place: its shape tells the kind, its colour how much it matters."""

    x: float
    y: float
    shape: str
    fill: str
    size_mm: float = 2.2
    title: str = ""
    kind: str = ""
    leads_to: str = ""
    """The part of the page that tells more."""

    def outline(self) -> tuple[Place, ...]:
        """Return the corners of the sign."""
        half = self.size_mm / 2
        return tuple((self.x + half * x, self.y + half * y) for x, y in SHAPES[self.shape])


@dataclass(frozen=True, slots=True)
class Text:
    """A line of words."""

    x: float
    y: float
    words: str
    size_mm: float = 2.4
    colour: str = INK
    anchor: str = "start"
    bold: bool = False
    turned_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class Boxes:
    """Areas of one colour: some thousand of them are one item, which is written in a tenth of the time."""

    boxes: tuple[Box, ...]
    fill: str


Item = Line | Mark | Text | Boxes


@dataclass(slots=True)
class Drawing:
    """A picture; ``facts`` are told with the SVG, such as the scale and where its corner lies."""

    width_mm: float
    height_mm: float
    title: str
    items: list[Item] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    def add(self, *items: Item) -> None:
        """Draw these on top of what is there."""
        self.items += items


SHAPES: dict[str, tuple[Place, ...]] = {
    "circle": tuple((float(np.cos(a)), float(np.sin(a))) for a in np.arange(12) * np.pi / 6),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": ((0.0, -1.1), (1.0, 0.8), (-1.0, 0.8)),
    "diamond": ((0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)),
    "cross": (
        *((-0.4, -1.0), (0.4, -1.0), (0.4, -0.4), (1.0, -0.4), (1.0, 0.4), (0.4, 0.4)),
        *((0.4, 1.0), (-0.4, 1.0), (-0.4, 0.4), (-1.0, 0.4), (-1.0, -0.4), (-0.4, -0.4)),
    ),
}


def plain(words: object) -> str:
    """Return what anybody wrote as one line that can be shown, ``TEXT_MAX`` letters at the most."""
    return shown(str(words)[:TEXT_MAX])


def shown(words: str) -> str:
    """Return words without anything that controls, hides or turns."""
    if words.isascii() and words.isprintable():
        return " ".join(words.split())
    told = unicodedata.normalize("NFC", words)
    seen = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in told)
    return " ".join(seen.split())


def counted(count: int, what: str) -> str:
    """Return how many there are of something, in words."""
    return f"{grouped(count)} {what}{'' if count == 1 else 's'}"


def grouped(number: float) -> str:
    """Return a whole number with its thousands apart."""
    return f"{number:,.0f}".replace(",", " ")


def cut(places: Places, box: Box) -> list[tuple[Place, ...]]:
    """Return the parts of a line that lie in a box: left, top, right, bottom."""
    if len(places) < 2:
        return []
    inside = shapely.LineString(places).intersection(shapely.box(*box))
    return [
        tuple((float(x), float(y)) for x, y in np.array(part.coords)[:, :2].tolist())
        for part in shapely.get_parts(inside)
        if part.geom_type == "LineString"
    ]


def svg(drawing: Drawing, *, alone: bool = False) -> str:
    """Return a picture as SVG, to stand in a page; ``alone``: as a file of its own."""
    width, height = _number(drawing.width_mm), _number(drawing.height_mm)
    facts = "".join(f' data-{name}="{escape(said)}"' for name, said in drawing.facts.items())
    space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
    head = (
        f'<svg{space} width="{width}mm" height="{height}mm" viewBox="0 0 {width} {height}" '
        f'role="img" font-family="Helvetica,Arial,sans-serif"{facts}>'
    )
    title = f"<title>{escape(plain(drawing.title))}</title>"
    return "\n".join([head, title, *map(_svg_of, drawing.items), "</svg>"])


def _svg_of(item: Item) -> str:
    if isinstance(item, Text):
        turned = f' transform="rotate({item.turned_deg:g} {_at(item)})"' if item.turned_deg else ""
        anchor = "" if item.anchor == "start" else f' text-anchor="{item.anchor}"'
        bold = ' font-weight="bold"' if item.bold else ""
        return (
            f'<text x="{_number(item.x)}" y="{_number(item.y)}" font-size="{item.size_mm:g}" '
            f'fill="{item.colour}"{anchor}{bold}{turned}>{escape(plain(item.words))}</text>'
        )
    if isinstance(item, Boxes):
        numbers = (map(_number, each) for each in item.boxes)
        path = "".join(
            f"M{left} {top}H{right}V{foot}H{left}Z" for left, top, right, foot in numbers
        )
        return f'<path d="{path}" fill="{item.fill}"/>'
    kind = f' class="{escape(plain(item.kind))}"' if item.kind else ""
    title = f"<title>{escape(plain(item.title))}</title>" if item.title else ""
    if isinstance(item, Mark):
        facts = f' data-x="{_number(item.x)}" data-y="{_number(item.y)}"'
        drawn = (
            f'<path{kind}{facts} d="{_path(item.outline(), closed=True)}" fill="{item.fill}" '
            f'stroke="{PAPER}" stroke-width=".25">{title}</path>'
        )
        return f'<a href="#{escape(item.leads_to)}">{drawn}</a>' if item.leads_to else drawn
    dash = f' stroke-dasharray="{" ".join(f"{d:g}" for d in item.dash)}"' if item.dash else ""
    stroke = f'stroke="{item.colour}" stroke-width="{item.width_mm:g}"' if item.width_mm else ""
    path = _path(item.places, closed=bool(item.fill))
    return f'<path{kind} d="{path}" fill="{item.fill or "none"}" {stroke}{dash}>{title}</path>'


def _at(item: Text) -> str:
    return f"{_number(item.x)} {_number(item.y)}"


def _path(places: Iterable[Place], *, closed: bool) -> str:
    told = "L".join(f"{_number(x)} {_number(y)}" for x, y in places)
    return f"M{told}{'Z' if closed else ''}"


@lru_cache(10_000)
def _number(value: float) -> str:
    told = f"{value:.{DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if told in ("", "-0") else told


def print_on(canvas: Any, drawing: Drawing) -> None:
    """Draw a picture on a canvas of reportlab, whose origin is its lower left corner."""
    for item in drawing.items:
        if isinstance(item, Text):
            _print_text(canvas, drawing.height_mm, item)
        elif isinstance(item, Boxes):
            _print_boxes(canvas, drawing.height_mm, item)
        else:
            _print_line(canvas, drawing.height_mm, item)


@lru_cache
def _ink(colour: str) -> tuple[float, ...]:
    """Red, green and blue of a colour, for a canvas reads a name anew each time."""
    return tuple(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))


def _print_line(canvas: Any, height_mm: float, item: Line | Mark) -> None:
    if isinstance(item, Mark):
        item = Line(item.outline(), PAPER, 0.25, fill=item.fill)
    canvas.setStrokeColor(_ink(item.colour))
    canvas.setLineWidth(item.width_mm * MM)
    canvas.setDash([each * MM for each in item.dash])
    if item.fill:
        canvas.setFillColor(_ink(item.fill))
    first, *others = (f"{x * MM:.3f} {(height_mm - y) * MM:.3f}" for x, y in item.places)
    ways = "".join(f"{each} l " for each in others)
    canvas.addLiteral(f"n {first} m {ways}{PAINTED[item.width_mm > 0, bool(item.fill)]}")


def _print_boxes(canvas: Any, height_mm: float, item: Boxes) -> None:
    canvas.setFillColor(_ink(item.fill))
    for left, top, right, foot in item.boxes:
        place = left * MM, (height_mm - foot) * MM, (right - left) * MM, (foot - top) * MM
        canvas.rect(*place, stroke=0, fill=1)


def _print_text(canvas: Any, height_mm: float, item: Text) -> None:
    canvas.saveState()
    canvas.setFillColor(_ink(item.colour))
    canvas.setFont("Helvetica-Bold" if item.bold else "Helvetica", item.size_mm * MM)
    canvas.translate(item.x * MM, (height_mm - item.y) * MM)
    canvas.rotate(-item.turned_deg)
    draw = {"middle": canvas.drawCentredString, "end": canvas.drawRightString}
    draw.get(item.anchor, canvas.drawString)(0, 0, printable(item.words))
    canvas.restoreState()


def printable(words: str) -> str:
    """Return words in the letters that the PDF's typeface has, those of Western Europe; of others
    the letter without its marks, or a question mark."""
    told: list[str] = []
    words = shown(words)
    if words.isascii():
        return words
    for letter in words:
        bare = unicodedata.normalize("NFKD", letter)[0]
        known = next((each for each in (letter, bare) if _has_shape(each)), "?")
        told.append(known)
    return "".join(told)


def _has_shape(letter: str) -> bool:
    return bool(letter.encode("cp1252", "ignore"))
