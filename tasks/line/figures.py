"""The map of a line, to scale.

It has north up and a scale of the round ones, so that a ruler laid on the print tells metres. Where
marks come to lie on each other their numbers are left out rather than drawn over each other; the
table has them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.line.drawing import FAINT, INK, QUIET, Box, Drawing, Line, Mark, Place, Text, cut
from tasks.line.facts import Facts
from tasks.line.joining import TOWER_KIND, Point
from tasks.line.sections import Section

Floats = NDArray[np.float64]
Numbers = dict[str, int]
"""The number of each point in the table, by its id."""

WIDTH_MM = 180.0
"""Of what is left between the margins of A4."""
LEFT_MM, TOP_MM, RIGHT_MM, FOOT_MM = 13.0, 5.0, 3.0, 15.0
MAP_MM_MAX = 215.0
STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5)
SHAPES = {"vegetation": "circle", "building": "square", "ground": "triangle", "crossing": "cross"}
SHAPES |= {TOWER_KIND: "diamond"}
COLOURS = {3: "#c03a1a", 2: "#d98200", 1: "#2f6fc0", 0: "#5f6b78"}
WIRE, ROUTE = "#27406b", "#9aa4b0"
LABELS_APART_MM = 4.0
PLAIN_WIRES_MAX = 20_000
"""Scales up to this show each wire and number; beyond it a span is one line."""


@dataclass(frozen=True)
class Sheet:
    """Where nature lies on paper: ``left``, ``top`` is the place of ``west``, ``north``."""

    scale: float
    west: float
    north: float
    left: float
    top: float
    scale_up: float = 0.0
    """Of heights, where they have one of their own."""

    def at(self, x: float, y: float) -> Place:
        """Return where a place lies on paper."""
        up = self.scale_up or self.scale
        return (
            self.left + (x - self.west) * 1000.0 / self.scale,
            self.top + (self.north - y) * 1000.0 / up,
        )

    def line(self, x: Floats, y: Floats) -> list[Place]:
        """Return where places lie on paper."""
        return [self.at(float(a), float(b)) for a, b in zip(x, y, strict=True)]

    def facts(self) -> dict[str, str]:
        """Return what somebody needs to measure on the picture."""
        return {name: f"{value:.6f}".rstrip("0").rstrip(".") for name, value in vars(self).items()}


def round_scale(metres: float, millimetres: float, least: float = 100.0) -> float:
    """Return the largest round scale in which so many metres find room."""
    wanted = max(metres * 1000.0 / millimetres, least)
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(next(s * power for s in (*STEPS, 10.0) if s * power >= wanted * (1 - 1e-9)))


def map_of(facts: Facts, sections: Sequence[Section], numbers: Numbers) -> Drawing:
    """Return the map of the whole line, north up."""
    places = _extent(facts)
    (west, south), (east, north) = places.min(axis=0), places.max(axis=0)
    wide, high = WIDTH_MM - LEFT_MM - RIGHT_MM, MAP_MM_MAX - TOP_MM - FOOT_MM
    scale = max(round_scale(1.06 * (east - west), wide), round_scale(1.06 * (north - south), high))
    tall = min(high, max(50.0, (north - south) * 1060.0 / scale + 8.0))
    middle = (west + east) / 2, (south + north) / 2
    sheet = Sheet(
        scale,
        middle[0] - wide / 2 * scale / 1000.0,
        middle[1] + tall / 2 * scale / 1000.0,
        LEFT_MM,
        TOP_MM,
    )
    box = LEFT_MM, TOP_MM, LEFT_MM + wide, TOP_MM + tall
    drawing = Drawing(WIDTH_MM, TOP_MM + tall + FOOT_MM, f"Map of {facts.name}", [], sheet.facts())
    _grid(drawing, sheet, box)
    for part in facts.plan.route:
        for line in cut([sheet.at(x, y) for x, y in part], box):
            drawing.add(Line(line, ROUTE, 0.5, (1.6, 0.8), title="route", kind="route"))
    for section in sections:
        _span_on_map(drawing, sheet, section, box)
    labels = _Labels()
    _towers_on_map(drawing, sheet, facts, numbers, labels)
    _points_on_map(drawing, sheet, facts.line.points, numbers, labels)
    _foot(drawing, sheet, box, "grid north")
    return drawing


def _extent(facts: Facts) -> Floats:
    """Everything that the map has to show."""
    parts = [np.array(part) for part in facts.plan.route]
    parts += [np.array([each.place[:2] for each in facts.line.points]).reshape(-1, 2)]
    parts += [np.array([(each.x, each.y) for each in facts.line.towers]).reshape(-1, 2)]
    for curve in facts.line.curves:
        parts.append(curve.places(np.array([curve.start_m, curve.end_m]))[:, :2])
    return np.concatenate(parts)


def _span_on_map(drawing: Drawing, sheet: Sheet, section: Section, box: Box) -> None:
    if sheet.scale > PLAIN_WIRES_MAX:
        ends = np.outer([0.0, section.length_m], section.way) + section.start
        wire_on(drawing, sheet.line(*ends.T), box, section.name)
        return
    for curve in section.curves:
        along = np.linspace(curve.start_m, curve.end_m, 9)
        wire_on(drawing, sheet.line(*curve.places(along)[:, :2].T), box, section.name)


def wire_on(drawing: Drawing, places: Sequence[Place], box: Box, name: str) -> None:
    """Draw a wire as far as it lies in a box."""
    for line in cut(places, box):
        drawing.add(Line(line, WIRE, 0.18, title=f"wire of {name}", kind="wire"))


def _towers_on_map(
    drawing: Drawing, sheet: Sheet, facts: Facts, numbers: Numbers, labels: _Labels
) -> None:
    ids = {each.span: each.id for each in facts.line.points if each.kind == TOWER_KIND}
    for number, tower in enumerate(facts.line.towers, 1):
        x, y = sheet.at(tower.x, tower.y)
        point = ids.get(f"T{number}", "")
        title = f"tower T{number} {point}".strip()
        lead = f"p-{point}" if point in numbers else ""
        near = sheet.scale <= PLAIN_WIRES_MAX
        drawing.add(Mark(x, y, "diamond", INK, 2.6 if near else 1.0, title, TOWER_KIND, lead))
        if (near or number % 10 == 1) and labels.free(x + 3.0, y - 1.8):
            drawing.add(Text(x + 1.6, y - 1.2, f"T{number}", 2.3, bold=True))


def _points_on_map(
    drawing: Drawing, sheet: Sheet, points: Iterable[Point], numbers: Numbers, labels: _Labels
) -> None:
    """What matters least first, so that what matters most lies on top; numbers the other way."""
    shown = [each for each in points if each.kind != TOWER_KIND]
    for point in sorted(shown, key=lambda each: -numbers[each.id]):
        drawing.add(mark_of(point, sheet.at(*point.place[:2]), numbers))
    if sheet.scale > PLAIN_WIRES_MAX:
        return
    for point in sorted(shown, key=lambda each: numbers[each.id]):
        x, y = sheet.at(*point.place[:2])
        if labels.free(x + 2.4, y + 1.0):
            drawing.add(Text(x + 1.4, y + 0.8, str(numbers[point.id]), 2.1))


def mark_of(point: Point, at: Place, numbers: Numbers) -> Mark:
    """Return the sign of a point, which leads to its row in the table."""
    far = "" if point.distance_m is None else f", {point.distance_m:.2f} m"
    title = f"{numbers[point.id]}: {point.kind} {point.id}{far}"
    shape, colour = SHAPES.get(point.kind, "circle"), COLOURS.get(point.relevance, COLOURS[0])
    return Mark(*at, shape, colour, 2.2, title, "point", f"p-{point.id}")


class _Labels:
    """Where there are words already."""

    def __init__(self) -> None:
        self._taken: dict[tuple[int, int], list[Place]] = {}

    def free(self, x: float, y: float) -> bool:
        """Take a place on the map for a label and return True; return False where another label is
        too near."""
        column, row = int(x // LABELS_APART_MM), int(y // LABELS_APART_MM)
        around = (
            each
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            for each in self._taken.get((column + i, row + j), ())
        )
        if any(abs(x - a) < LABELS_APART_MM and abs(y - b) < 2.4 for a, b in around):
            return False
        self._taken.setdefault((column, row), []).append((x, y))
        return True


def _grid(drawing: Drawing, sheet: Sheet, box: Box) -> None:
    left, top, right, bottom = box
    drawing.add(Line(((left, top), (right, top), (right, bottom), (left, bottom)), FAINT, 0.2,
                     fill="#fbfcfd"))  # fmt: skip
    step = round_step((right - left) * sheet.scale / 1000.0 / 5.0)
    for x in steps_of(sheet.west, sheet.west + (right - left) * sheet.scale / 1000.0, step):
        at, _ = sheet.at(x, 0.0)
        drawing.add(Line(((at, top), (at, bottom)), FAINT, 0.12))
        drawing.add(Text(at, top - 1.2, f"{x:.0f} E", 1.9, QUIET, "middle"))
    for y in steps_of(sheet.north - (bottom - top) * sheet.scale / 1000.0, sheet.north, step):
        _, at = sheet.at(0.0, y)
        drawing.add(Line(((left, at), (right, at)), FAINT, 0.12))
        drawing.add(Text(left - 1.2, at, f"{y:.0f} N", 1.9, QUIET, "middle", turned_deg=-90.0))


def round_step(about: float) -> float:
    """Return the round number next above."""
    power = 10.0 ** np.floor(np.log10(max(about, 1e-6)))
    return float(next(each * power for each in (1.0, 2.0, 5.0, 10.0) if each * power >= about))


def steps_of(low: float, high: float, step: float) -> list[float]:
    """Return the multiples of a step between two numbers."""
    return [float(each) for each in np.arange(np.ceil(low / step) * step, high, step)]


def _foot(drawing: Drawing, sheet: Sheet, box: Box, north: str) -> None:
    """Scale bar, scale, north and what the signs mean."""
    left, _, right, bottom = box
    metres = round_step(25.0 * sheet.scale / 1000.0)
    long, y = metres * 1000.0 / sheet.scale, bottom + 5.0
    half = left + long / 2
    bar = ((left, y), (left + long, y))
    drawing.add(
        Line(bar, INK, 0.9, title=f"{metres:g} m", kind="scale-bar"),
        Line(((half, y), (left + long, y)), "#ffffff", 0.5),
        Text(left, y + 3.4, "0", 2.1, anchor="middle"),
        Text(left + long, y + 3.4, f"{metres:g} m", 2.1, anchor="middle"),
        Text(
            left + long + 6.0, y + 0.9, f"1 : {sheet.scale:,.0f}".replace(",", " "), 3.0, bold=True
        ),
    )
    north_arrow(drawing, right - 5.0, bottom + 1.5, 0.0)
    drawing.add(Text(right - 9.0, bottom + 8.0, north, 2.0, QUIET, "end"))
    x = left + long + 34.0
    for kind, shape in SHAPES.items():
        drawing.add(Mark(x, y, shape, INK if kind == TOWER_KIND else COLOURS[0], 2.2))
        drawing.add(Text(x + 2.0, y + 0.8, kind, 2.1))
        x += 6.0 + 1.3 * len(kind)


def north_arrow(drawing: Drawing, x: float, y: float, turned_rad: float) -> None:
    """Draw an arrow 9 mm long that points north, its middle below ``y``, turned to the left."""
    sine, cosine = np.sin(turned_rad), np.cos(turned_rad)
    centre = x, y + 4.5

    def at(right: float, up: float) -> Place:
        return (
            float(centre[0] + right * cosine - up * sine),
            float(centre[1] - right * sine - up * cosine),
        )

    drawing.add(Line((at(0, 4.0), at(1.5, -3.0), at(0, -1.6), at(-1.5, -3.0)), INK, 0.15, fill=INK,
                     title="north", kind="north"))  # fmt: skip
    drawing.add(Text(*at(0, 4.6), "N", 2.2, anchor="middle", bold=True))
