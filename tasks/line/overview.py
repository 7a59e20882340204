"""A tile at a glance, for whoever is asked at a gate whether it was read rightly.

Along the line: from above, each cell in the colour of what lies highest in it, with wires, towers and
points of interest; below that, everything from the side. Spans that are in doubt are drawn thick, and
said: those of which little was seen, and those whose points lie far from their curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.line.corridor import ROAD
from tasks.line.drawing import INK, QUIET, Box, Boxes, Drawing, Line, Mark, Text, counted, cut, svg
from tasks.line.figures import (
    COLOURS,
    LEFT_MM,
    RIGHT_MM,
    SHAPES,
    TOP_MM,
    WIDTH_MM,
    WIRE,
    Sheet,
    north_arrow,
    round_scale,
)
from tasks.line.obstacles import Obstacle
from tasks.line.scene import BUILDING, GROUND, HIGH, LOW, MEDIUM, TOWER, WATER
from tasks.line.spans import Spans, Wire

Floats = NDArray[np.float64]
Classes = NDArray[np.uint8]

OVERVIEW = "overview.svg"
PLAN_MM, SIDE_MM, GAP_MM = 90.0, 60.0, 6.0
CELLS_ACROSS = 150
OVER_MM = 0.05
"""So much a cell covers of the next, that no paper shows between."""
DOUBT_SEEN, DOUBT_M = 0.5, 0.3
COLOUR = {
    GROUND: "#efe6d6", LOW: "#dbe9d2", MEDIUM: "#b9d9b0", HIGH: "#8fbf86", BUILDING: "#b5a9a4",
    WATER: "#b8d4ea", ROAD: "#d3cfc9", TOWER: "#50565e",
}  # fmt: skip
NAMES = {
    GROUND: "ground", HIGH: "vegetation", BUILDING: "building", WATER: "water",
    TOWER: "tower",
}  # fmt: skip


def write_overview(
    path: Path, places: Floats, classes: Classes, spans: Spans, obstacles: Sequence[Obstacle] = ()
) -> None:
    """Write the picture of a tile as SVG. Raises ``OSError``."""
    drawn = overview_of(places, classes, spans, obstacles)
    path.write_text(svg(drawn, alone=True) + "\n", "utf-8")


def overview_of(
    places: Floats, classes: Classes, spans: Spans, obstacles: Sequence[Obstacle] = ()
) -> Drawing:
    """Return the picture of a tile."""
    if not len(places):
        drawing = Drawing(WIDTH_MM, 20.0, "A tile without points")
        drawing.add(Text(LEFT_MM, 10.0, "No point lies in this tile.", 3.0))
        return drawing
    turn = _Turn(spans, places)
    places = turn(places)
    (first, right, low), (last, left, high) = places.min(axis=0), places.max(axis=0)
    wide = WIDTH_MM - LEFT_MM - RIGHT_MM
    scale = max(round_scale(last - first, wide), round_scale(left - right, PLAN_MM))
    tall = (left - right) * 1000.0 / scale
    up = round_scale(high - low, SIDE_MM)
    foot = TOP_MM + tall + GAP_MM + (high - low) * 1000.0 / up
    drawing = Drawing(WIDTH_MM, foot + 14.0, "Overview of a tile")
    plan = Sheet(scale, first, left, LEFT_MM, TOP_MM)
    box = LEFT_MM, TOP_MM, LEFT_MM + wide, TOP_MM + tall
    _plan(drawing, plan, turn, places, classes, spans, box)
    for each in obstacles:
        along, aside, _ = turn(np.array([each.place]))[0]
        title = f"{each.kind}, {each.distance_m:.2f} m"
        shape = SHAPES.get(each.kind, "circle")
        drawing.add(Mark(*plan.at(along, aside), shape, COLOURS[3], 2.4, title, "point"))
    north_arrow(drawing, LEFT_MM - 6.0, TOP_MM, -float(np.arctan2(turn.way[1], turn.way[0])))
    _side(drawing, Sheet(scale, first, high, LEFT_MM, TOP_MM + tall + GAP_MM, up), turn, places,
          classes, spans)  # fmt: skip
    said = f"from above 1 : {scale:,.0f}; from the side, heights 1 : {up:,.0f}".replace(",", " ")
    drawing.add(Text(LEFT_MM, foot + 5.0, said, 2.6, QUIET))
    doubtful = spans.too_sparse or any(map(in_doubt, spans.wires))
    colour = COLOURS[3] if doubtful else INK
    drawing.add(Text(LEFT_MM, foot + 9.0, doubts_of(spans), 2.8, colour, bold=True))
    _legend(drawing, foot + 13.0)
    return drawing


class _Turn:
    """Turns places so that the line goes from left to right, west or south first."""

    def __init__(self, spans: Spans, places: Floats) -> None:
        if spans.wires:
            way = np.array(max(spans.wires, key=lambda each: each.curve.length_m).curve.way)
        else:
            wide, high = np.ptp(places[:, :2], axis=0)
            way = np.array([1.0, 0.0] if wide >= high else [0.0, 1.0])
        self.way: Floats = way if way[int(np.argmax(np.abs(way)))] > 0 else -way
        self._middle = places[:, :2].mean(axis=0)

    def __call__(self, places: Floats) -> Floats:
        """Return how far along, how far to the left, and how high places are."""
        flat = places[:, :2] - self._middle
        aside = flat @ np.array([-self.way[1], self.way[0]])
        turned: Floats = np.column_stack([flat @ self.way, aside, places[:, 2]])
        return turned


def doubts_of(spans: Spans) -> str:
    """Return what of a tile's spans is in doubt, in a sentence."""
    if spans.too_sparse:
        return "Too few points lie here to tell of wires."
    doubtful = [n for n, each in enumerate(spans.wires, 1) if in_doubt(each)]
    count = f"{counted(len(spans.wires), 'wire')}, {counted(len(spans.towers), 'tower')}"
    if not doubtful:
        return f"{count}; none is in doubt."
    told = ", ".join(str(each) for each in doubtful)
    return f"{count}; in doubt are the wires {told}: little of them was seen, or it fits badly."


def in_doubt(wire: Wire) -> bool:
    """Return whether somebody should look at a wire."""
    return wire.seen < DOUBT_SEEN or wire.curve.residual_m > DOUBT_M


def _plan(
    drawing: Drawing, sheet: Sheet, turn: _Turn, places: Floats, classes: Classes, spans: Spans,
    box: Box,
) -> None:  # fmt: skip
    _cells(drawing, sheet, places, classes)
    for number, wire in enumerate(spans.wires, 1):
        curve, doubt = wire.curve, in_doubt(wire)
        line = turn(curve.places(np.linspace(curve.start_m, curve.end_m, 33)))
        fit = f"{wire.points} points, {wire.seen:.0%} seen, fit {curve.residual_m:.2f} m"
        for part in cut(sheet.line(line[:, 0], line[:, 1]), box):
            colour, width = (COLOURS[3], 0.6) if doubt else (WIRE, 0.25)
            drawing.add(Line(part, colour, width, title=f"wire {number}: {fit}", kind="wire"))
            if doubt:
                drawing.add(Text(part[0][0] + 0.8, part[0][1] - 0.8, str(number), 2.4, COLOURS[3]))
    for tower in spans.towers:
        along, aside, _ = turn(np.array([(tower.x, tower.y, 0.0)]))[0]
        drawing.add(Mark(*sheet.at(along, aside), "diamond", INK, 3.0, "tower", "tower"))


def _cells(drawing: Drawing, sheet: Sheet, places: Floats, classes: Classes) -> None:
    """What lies highest in each cell but wires; cells of one row and class are one piece."""
    shown = np.flatnonzero(np.isin(classes, list(COLOUR)))
    if not len(shown):
        return
    low = places[:, :2].min(axis=0)
    size = max(1.0, float(np.ptp(places[:, :2], axis=0).max()) / CELLS_ACROSS)
    shown = shown[np.argsort(-places[shown, 2], kind="stable")[::-1]]
    column, row = np.floor((places[shown, :2] - low) / size).astype(np.int64).T
    columns, rows = int(column.max()) + 1, int(row.max()) + 1
    highest = np.zeros((rows, columns + 1), np.uint8)
    highest[row, column] = classes[shown]  # of several points of a cell the last stays
    kinds = highest.ravel()
    starts = np.flatnonzero(np.diff(kinds, prepend=0))
    ends = np.append(starts[1:], len(kinds))
    x = [sheet.at(low[0] + n * size, 0.0)[0] for n in range(columns + 1)]
    y = [sheet.at(0.0, low[1] + n * size)[1] for n in range(rows + 1)]
    for kind, colour in COLOUR.items():
        own = kinds[starts] == kind
        first, last = (each[own].tolist() for each in (starts, ends))
        boxes = [
            (x[a % (columns + 1)], y[row + 1], x[b % (columns + 1)] + OVER_MM, y[row] + OVER_MM)
            for a, b in zip(first, last, strict=True)
            for row in [a // (columns + 1)]
        ]
        if boxes:
            drawing.add(Boxes(tuple(boxes), colour))


def _side(
    drawing: Drawing, sheet: Sheet, turn: _Turn, places: Floats, classes: Classes, spans: Spans
) -> None:
    """Columns from the ground up in the colours of what stands there, then wires and towers."""
    along, first = places[:, 0], float(places[:, 0].min())
    step = max(1.0, float(np.ptp(along)) / CELLS_ACROSS)
    bins = np.floor((along - first) / step).astype(np.int64)
    lowest = np.full(int(bins.max()) + 1, np.inf)
    ground = classes == GROUND
    known = ground if ground.any() else np.ones(len(ground), bool)
    np.minimum.at(lowest, bins[known], places[known, 2])
    for kinds in ((HIGH, MEDIUM, LOW), (BUILDING,), (TOWER,)):
        own = np.isin(classes, kinds)
        top = np.full(len(lowest), -np.inf)
        np.maximum.at(top, bins[own], places[own, 2])
        boxes = []
        for n in np.flatnonzero(np.isfinite(top) & np.isfinite(lowest) & (top > lowest)):
            left, high = sheet.at(first + n * step, float(top[n]))
            right, low = sheet.at(first + (n + 1) * step, float(lowest[n]))
            boxes.append((left, high, right + OVER_MM, low))
        if boxes:
            drawing.add(Boxes(tuple(boxes), COLOUR[kinds[0]]))
    for wire in spans.wires:
        line = turn(wire.curve.places(np.linspace(wire.curve.start_m, wire.curve.end_m, 33)))
        colour, width = (COLOURS[3], 0.5) if in_doubt(wire) else (WIRE, 0.2)
        drawing.add(Line(tuple(sheet.line(line[:, 0], line[:, 2])), colour, width))
    for tower in spans.towers:
        at = float(turn(np.array([(tower.x, tower.y, 0.0)]))[0, 0])
        drawing.add(Line((sheet.at(at, tower.foot_m), sheet.at(at, tower.top_m)), INK, 0.8))


def _legend(drawing: Drawing, y: float) -> None:
    x = LEFT_MM
    for kind, name in NAMES.items():
        corners = (x, y - 2.0), (x + 3.0, y - 2.0), (x + 3.0, y), (x, y)
        drawing.add(Line(corners, QUIET, 0.1, fill=COLOUR[kind]), Text(x + 4.0, y - 0.3, name, 2.2))
        x += 10.0 + 1.4 * len(name)
