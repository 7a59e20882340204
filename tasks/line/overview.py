"""A tile at a glance, for whoever is asked at a gate whether it was read rightly.

From above, each cell in the colour of what lies highest in it, with wires, towers and points of
interest; below, everything from the side along the tile. Spans that are in doubt are drawn thick, and
said: those of which little was seen, and those whose points lie far from their curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.line.drawing import INK, QUIET, Box, Drawing, Line, Mark, Text, counted, cut, svg
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
PLAN_MM, SIDE_MM = 130.0, 60.0
CELLS_ACROSS = 150
OVER_MM = 0.05
"""So much a cell covers of the next, that no paper shows between."""
DOUBT_SEEN, DOUBT_M = 0.5, 0.3
OTHER = "#e4e0da"
COLOUR = {
    GROUND: "#efe6d6", LOW: "#dbe9d2", MEDIUM: "#b9d9b0", HIGH: "#8fbf86", BUILDING: "#b5a9a4",
    WATER: "#b8d4ea", TOWER: "#50565e",
}  # fmt: skip
NAMES = {GROUND: "ground", HIGH: "vegetation", BUILDING: "building", WATER: "water", TOWER: "tower"}


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
    (west, south, low), (east, north, high) = places.min(axis=0), places.max(axis=0)
    wide = WIDTH_MM - LEFT_MM - RIGHT_MM
    scale = max(round_scale(east - west, wide), round_scale(north - south, PLAN_MM))
    tall = (north - south) * 1000.0 / scale
    plan = Sheet(scale, west, north, LEFT_MM, TOP_MM)
    box = LEFT_MM, TOP_MM, LEFT_MM + wide, TOP_MM + tall
    up = round_scale(high - low, SIDE_MM)
    foot = TOP_MM + tall + 12.0 + (high - low) * 1000.0 / up
    drawing = Drawing(WIDTH_MM, foot + 14.0, "Overview of a tile", [], plan.facts())
    _cells(drawing, plan, places, classes, scale)
    for number, wire in enumerate(spans.wires, 1):
        _wire(drawing, plan, wire, number, box)
    for tower in spans.towers:
        drawing.add(Mark(*plan.at(tower.x, tower.y), "diamond", INK, 3.0, "tower", "tower"))
    for each in obstacles:
        title = f"{each.kind}, {each.distance_m:.2f} m"
        shape = SHAPES.get(each.kind, "circle")
        drawing.add(Mark(*plan.at(*each.place[:2]), shape, COLOURS[3], 2.4, title, "point"))
    north_arrow(drawing, LEFT_MM + wide - 4.0, TOP_MM, 0.0)
    across = _across(spans, east - west, north - south)
    side = Sheet(round_scale(across, wide), 0.0, high, LEFT_MM, TOP_MM + tall + 12.0, up)
    _side(drawing, side, places, classes, spans)
    said = f"from above 1 : {scale:,.0f}; from the side, heights 1 : {up:,.0f}".replace(",", " ")
    drawing.add(Text(LEFT_MM, foot + 5.0, said, 2.3, QUIET))
    drawing.add(Text(LEFT_MM, foot + 9.0, doubts_of(spans), 2.6, COLOURS[3], bold=True))
    _legend(drawing, foot + 12.5)
    return drawing


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


def _cells(drawing: Drawing, sheet: Sheet, places: Floats, classes: Classes, scale: float) -> None:
    """What lies highest in each cell but wires; cells of one row and class are one piece."""
    size = max(
        1.0, round((places[:, :2].max(axis=0) - places[:, :2].min(axis=0)).max() / CELLS_ACROSS)
    )
    shown = np.flatnonzero(np.isin(classes, list(COLOUR)))
    grid = np.floor((places[shown, :2] - (sheet.west, sheet.north)) / size).astype(np.int64)
    order = np.lexsort((-places[shown, 2], grid[:, 0], grid[:, 1]))
    grid, kinds = grid[order], classes[shown][order]
    first = np.ones(len(grid), bool)
    first[1:] = (grid[1:] != grid[:-1]).any(axis=1)
    grid, kinds = grid[first], kinds[first]
    breaks = np.ones(len(grid), bool)
    breaks[1:] = (grid[1:, 1] != grid[:-1, 1]) | (grid[1:, 0] != grid[:-1, 0] + 1)
    breaks[1:] |= kinds[1:] != kinds[:-1]
    starts = np.flatnonzero(breaks)
    for start, end in zip(starts, [*starts[1:], len(grid)], strict=True):
        column, row = grid[start]
        left, top = sheet.at(sheet.west + column * size, sheet.north + (row + 1) * size)
        right, foot = (
            left + (end - start) * size * 1000 / scale + OVER_MM,
            top + size * 1000 / scale + OVER_MM,
        )
        colour = COLOUR.get(int(kinds[start]), OTHER)
        drawing.add(
            Line(((left, top), (right, top), (right, foot), (left, foot)), colour, 0.0, fill=colour)
        )


def _wire(drawing: Drawing, sheet: Sheet, wire: Wire, number: int, box: Box) -> None:
    curve = wire.curve
    places = curve.places(np.linspace(curve.start_m, curve.end_m, 33))
    doubt = in_doubt(wire)
    title = (
        f"wire {number}: {wire.points} points, {wire.seen:.0%} seen, fit {curve.residual_m:.2f} m"
    )
    for line in cut(sheet.line(places[:, 0], places[:, 1]), box):
        colour, width = (COLOURS[3], 0.6) if doubt else (WIRE, 0.25)
        drawing.add(Line(line, colour, width, title=title, kind="wire"))
        if doubt:
            drawing.add(Text(line[0][0] + 0.8, line[0][1] - 0.8, str(number), 2.4, COLOURS[3]))


def _across(spans: Spans, wide: float, high: float) -> float:
    """How long the tile is along its wires, or along its longer side."""
    way = np.abs(_way(spans, wide, high))
    return float(way[0] * wide + way[1] * high)


def _way(spans: Spans, wide: float, high: float) -> Floats:
    if spans.wires:
        longest = max(spans.wires, key=lambda each: each.curve.length_m).curve.way
        return np.array(longest)
    return np.array([1.0, 0.0] if wide >= high else [0.0, 1.0])


def _side(drawing: Drawing, sheet: Sheet, places: Floats, classes: Classes, spans: Spans) -> None:
    """Columns from the ground up in the colours of what stands there, then wires and towers."""
    extent = places[:, :2].max(axis=0) - places[:, :2].min(axis=0)
    way = _way(spans, *(float(each) for each in extent))
    along = places[:, :2] @ way
    start = float(along.min())
    step = max(1.0, (float(along.max()) - start) / CELLS_ACROSS)
    bins = np.floor((along - start) / step).astype(np.int64)
    lowest = np.full(int(bins.max()) + 1, np.inf)
    ground = classes == GROUND
    np.minimum.at(lowest, bins[ground] if ground.any() else bins,
                  places[ground, 2] if ground.any() else places[:, 2])  # fmt: skip
    for kinds in ((HIGH, MEDIUM, LOW), (BUILDING,), (TOWER,)):
        own = np.isin(classes, kinds)
        top = np.full(len(lowest), -np.inf)
        np.maximum.at(top, bins[own], places[own, 2])
        for n in np.flatnonzero(np.isfinite(top) & np.isfinite(lowest) & (top > lowest)):
            (left, high), (right, low) = (
                sheet.at(n * step, float(top[n])), sheet.at((n + 1) * step, float(lowest[n]))
            )  # fmt: skip
            corners = (left, high), (right, high), (right, low), (left, low)
            drawing.add(Line(corners, COLOUR[kinds[0]], 0.0, fill=COLOUR[kinds[0]]))
    for wire in spans.wires:
        line = wire.curve.places(np.linspace(wire.curve.start_m, wire.curve.end_m, 33))
        colour, width = (COLOURS[3], 0.5) if in_doubt(wire) else (WIRE, 0.2)
        drawing.add(Line(tuple(sheet.line(line[:, :2] @ way - start, line[:, 2])), colour, width))
    for tower in spans.towers:
        at = float(np.array([tower.x, tower.y]) @ way - start)
        drawing.add(Line((sheet.at(at, tower.foot_m), sheet.at(at, tower.top_m)), INK, 0.8))


def _legend(drawing: Drawing, y: float) -> None:
    x = LEFT_MM
    for kind, name in NAMES.items():
        corners = (x, y - 2.0), (x + 3.0, y - 2.0), (x + 3.0, y), (x, y)
        drawing.add(Line(corners, QUIET, 0.1, fill=COLOUR[kind]), Text(x + 4.0, y - 0.3, name, 2.2))
        x += 10.0 + 1.4 * len(name)
