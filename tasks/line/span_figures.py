"""A span as a plan with its profile below, to scale.

It is drawn along itself: above as seen from the sky, below from the side, both with one scale along
the span; heights have their own, which is told.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from numpy.typing import NDArray

from tasks.line.drawing import FAINT, INK, QUIET, Box, Drawing, Line, Mark, Place, Text, cut
from tasks.line.figures import (
    COLOURS,
    LABELS_APART_MM,
    LEFT_MM,
    RIGHT_MM,
    TOP_MM,
    WIDTH_MM,
    WIRE,
    Numbers,
    Sheet,
    mark_of,
    north_arrow,
    round_scale,
    round_step,
    steps_of,
    wire_on,
)
from tasks.line.joining import TOWER_KIND, Point
from tasks.line.sections import Near, Section

Floats = NDArray[np.float64]

PLAN_MM, PROFILE_MM = (14.0, 46.0), (28.0, 72.0)
LEAF, EARTH, ROOF = "#b9d9b0", "#8a6b45", "#b5a9a4"
LABEL_ROWS = 4
STEP_M = 2.0
BEYOND_M = 4.0
ASIDE_M = 12.0
TALL_M = 2.0


class Cells:
    """The cells of all corridors, in order along the axis on which the line is longest: each span
    looks at those about it alone."""

    def __init__(self, parts: Sequence[Floats]) -> None:
        self._cells = np.concatenate([np.zeros((0, 5)), *parts])
        wide, high = np.ptp(self._cells[:, :2], axis=0) if len(self._cells) else (0.0, 0.0)
        self._axis = int(high > wide)
        self._order = np.argsort(self._cells[:, self._axis], kind="stable")
        self._sorted = self._cells[self._order, self._axis]

    def about(self, place: tuple[float, float], reach_m: float) -> Floats:
        """Return all that may lie so near to a place, and others, in the order that they came in."""
        ends = place[self._axis] - reach_m, place[self._axis] + reach_m
        first, last = np.searchsorted(self._sorted, ends)
        rows: Floats = self._cells[np.sort(self._order[first:last])]
        return rows


def span_of(section: Section, cells: Cells, numbers: Numbers) -> Drawing:
    """Return the plan and the profile of a span, from the cells of its corridor."""
    wide = WIDTH_MM - LEFT_MM - RIGHT_MM
    _, asides = _along_aside(section)
    reach_m = float(np.abs(asides).max())
    near = _cells_near(section, cells, max(reach_m, 3.0) + ASIDE_M)
    low, high = _heights(section, near)
    up = round_scale(high - low, PROFILE_MM[1])
    scale = max(up, round_scale(section.length_m + 2 * BEYOND_M, wide))
    half_m = min(reach_m + ASIDE_M, PLAN_MM[1] / 2 * scale / 1000.0)
    strip = max(PLAN_MM[0], 2 * half_m * 1000.0 / scale)
    plan = Sheet(scale, -BEYOND_M, strip / 2 * scale / 1000.0, LEFT_MM, TOP_MM)
    tall = max(PROFILE_MM[0], (high - low) * 1000.0 / up)
    top = TOP_MM + strip + 4.0 + 2.6 * LABEL_ROWS
    side = Sheet(scale, -BEYOND_M, low + tall * up / 1000.0, LEFT_MM, top, up)
    facts = {
        **{f"plan-{name}": told for name, told in plan.facts().items()},
        **{f"side-{name.replace('_', '-')}": told for name, told in side.facts().items()},
        "start-x": f"{section.start[0]:.4f}",
        "start-y": f"{section.start[1]:.4f}",
        "way-x": f"{section.way[0]:.9f}",
        "way-y": f"{section.way[1]:.9f}",
    }
    drawing = Drawing(WIDTH_MM, top + tall + 8.0, f"Plan and profile of {section.name}", [], facts)
    right = LEFT_MM + wide
    _plan(drawing, plan, section, near, numbers, (LEFT_MM, TOP_MM, right, TOP_MM + strip))
    _profile(drawing, side, section, near, numbers, (LEFT_MM, top, right, top + tall))
    north_arrow(drawing, right - 5.0, TOP_MM + 1.0, float(np.arctan2(*section.way[::-1])) * -1.0)
    return drawing


def _along_aside(section: Section) -> tuple[Floats, Floats]:
    places = [
        curve.places(np.linspace(curve.start_m, curve.end_m, 17))[:, :2] for curve in section.curves
    ]
    return section.frame(np.concatenate(places))


def _cells_near(section: Section, told: Cells, beside_m: float) -> Floats:
    """Cells of the corridor as rows of along, aside, ground, vegetation, building."""
    cells = told.about(section.middle, section.length_m / 2 + 2 * BEYOND_M + beside_m)
    along, aside = section.frame(cells[:, :2])
    kept = (along >= -BEYOND_M) & (along <= section.length_m + BEYOND_M)
    kept &= np.abs(aside) <= beside_m
    rows: Floats = np.column_stack([along[kept], aside[kept], cells[kept, 2:]])
    return rows


def _heights(section: Section, near: Floats) -> tuple[float, float]:
    told = [
        curve.height_at(np.linspace(curve.start_m, curve.end_m, 33)) for curve in section.curves
    ]
    told += [near[:, 2:].ravel()]
    told += [np.array([each.foot_m, each.top_m]) for _, each in section.towers]
    told += [np.array([point.place[2] for point in section.points])]
    heights = np.concatenate(told)
    return float(np.nanmin(heights)) - 2.0, float(np.nanmax(heights)) + 2.0


def _plan(
    drawing: Drawing, sheet: Sheet, section: Section, near: Floats, numbers: Numbers, box: Box
) -> None:
    left, top, right, bottom = box
    frame = (left, top), (right, top), (right, bottom), (left, bottom)
    drawing.add(Line(frame, FAINT, 0.2, fill="#fbfcfd"))
    for column, colour, title in ((3, LEAF, "vegetation"), (4, ROOF, "building")):
        for area in _areas(sheet, near, column, box):
            drawing.add(Line(area, colour, 0.0, fill=colour, title=title, kind=title))
    for curve in section.curves:
        places = curve.places(np.linspace(curve.start_m, curve.end_m, 17))[:, :2]
        wire_on(drawing, sheet.line(*section.frame(places)), box, section.name)
    for number, tower in section.towers:
        (along,), (aside,) = section.frame(np.array([(tower.x, tower.y)]))
        drawing.add(Mark(*sheet.at(along, aside), "diamond", INK, 2.6, f"tower T{number}"))
    for point in section.points:
        (along,), (aside,) = section.frame(np.array([point.place[:2]]))
        at = sheet.at(along, aside)
        if point.kind != TOWER_KIND and left <= at[0] <= right and top <= at[1] <= bottom:
            drawing.add(mark_of(point, at, numbers))


def _areas(sheet: Sheet, near: Floats, column: int, box: Box) -> list[tuple[Place, ...]]:
    """What stands higher than a person, as areas on paper."""
    ground = np.where(np.isfinite(near[:, 2]), near[:, 2], -np.inf)
    rows = near[near[:, column] > ground + TALL_M]
    if not len(rows):
        return []
    x, y = (np.array(each) for each in zip(*sheet.line(rows[:, 0], rows[:, 1]), strict=True))
    half = 1.45 * STEP_M / 2 * 1000.0 / sheet.scale
    whole = shapely.union_all(shapely.box(x - half, y - half, x + half, y + half))
    shown = shapely.simplify(whole, half / 2).intersection(shapely.box(*box))
    return [
        tuple((float(a), float(b)) for a, b in np.array(part.exterior.coords).tolist())
        for part in shapely.get_parts(shown)
        if part.geom_type == "Polygon"
    ]


def _profile(
    drawing: Drawing, sheet: Sheet, section: Section, near: Floats, numbers: Numbers, box: Box
) -> None:
    _axes(drawing, sheet, section, box)
    along, ground, leaf, roof = _silhouettes(near)
    for heights, colour, name in ((leaf, LEAF, "vegetation"), (roof, ROOF, "building")):
        for run in _runs(np.isfinite(heights)):
            x = np.pad(along[run], 1, mode="edge") + STEP_M / 2 * _ends(along[run])
            over, under = (np.pad(each[run], 1, mode="edge") for each in (heights, ground))
            area = sheet.line(x, over) + sheet.line(x, under)[::-1]
            drawing.add(Line(tuple(area), colour, 0.0, fill=colour, title=name, kind=name))
    for run in _runs(np.isfinite(ground)):
        for line in cut(sheet.line(along[run], ground[run]), box):
            drawing.add(Line(line, EARTH, 0.35, title="terrain", kind="terrain"))
    for curve in section.curves:
        places = curve.places(np.append(np.arange(curve.start_m, curve.end_m, 4.0), curve.end_m))
        ahead, _ = section.frame(places)
        for line in cut(sheet.line(ahead, places[:, 2]), box):
            drawing.add(Line(line, WIRE, 0.18, title="fitted curve", kind="curve"))
    for number, tower in section.towers:
        (ahead,), _ = section.frame(np.array([(tower.x, tower.y)]))
        at, top = sheet.at(ahead, tower.foot_m), sheet.at(ahead, tower.top_m)
        drawing.add(Line((at, top), INK, 0.8, title=f"tower T{number}", kind="tower"))
        drawing.add(Text(at[0] + 1.0, at[1] - 1.0, f"T{number}", 2.4, bold=True))
    for each in section.nearest:
        _dimension(drawing, sheet, section, each, box)
    _numbered(drawing, sheet, section, numbers, box)


def _axes(drawing: Drawing, sheet: Sheet, section: Section, box: Box) -> None:
    left, top, right, bottom = box
    drawing.add(Line(((left, top), (left, bottom), (right, bottom)), QUIET, 0.2))
    lowest = sheet.north - (bottom - top) * sheet.scale_up / 1000.0
    step = max(5.0, round_step((sheet.north - lowest) / 6.0))
    for z in steps_of(lowest, sheet.north, step):
        _, y = sheet.at(0.0, z)
        drawing.add(Line(((left, y), (right, y)), FAINT, 0.12))
        drawing.add(Text(left - 1.2, y + 0.8, f"{z:g}", 2.0, QUIET, "end"))
    step = round_step(section.length_m / 8.0)
    for x in steps_of(0.0, section.length_m + 0.01, step):
        at, _ = sheet.at(x, 0.0)
        drawing.add(Line(((at, bottom), (at, bottom + 1.0)), QUIET, 0.2))
        drawing.add(Text(at, bottom + 3.6, f"{x:g}", 2.0, QUIET, "middle"))
    said = f"{sheet.scale:,.0f}; heights 1 : {sheet.scale_up:,.0f}".replace(",", " ")
    drawing.add(Text(right, bottom + 7.0, f"metres; length and plan 1 : {said}", 2.1, QUIET, "end"))


def _silhouettes(near: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Along the span: the ground below its middle, and the tops of what stands in the corridor."""
    if not len(near):
        nothing = np.zeros(0)
        return nothing, nothing, nothing, nothing
    first = int(np.floor(near[:, 0].min() / STEP_M))
    bins = np.floor(near[:, 0] / STEP_M).astype(np.int64) - first
    size = int(bins.max()) + 1
    tops = np.full((2, size), np.nan)
    for number in (0, 1):
        np.fmax.at(tops[number], bins, near[:, 3 + number])
    ground: Floats = np.full(size, np.nan)
    for reach in (np.inf, 4.0):
        own = np.isfinite(near[:, 2]) & (np.abs(near[:, 1]) <= reach)
        count = np.bincount(bins[own], minlength=size)
        total = np.bincount(bins[own], near[own, 2], minlength=size)
        ground[count > 0] = total[count > 0] / count[count > 0]
    known: NDArray[np.bool_] = np.isfinite(ground)
    if known.any():
        below = np.interp(np.arange(size), np.flatnonzero(known), ground[known])
        gap = np.array([_far_from(known, at) for at in range(size)])
        ground[gap <= 5] = below[gap <= 5]
    tops = np.where(np.isfinite(ground) & (tops > ground + 0.5), tops, np.nan)
    leaf, roof = (np.asarray(each, np.float64) for each in tops)
    return np.arange(first + 0.5, first + size) * STEP_M, ground, leaf, roof


def _ends(inside: Floats) -> Floats:
    """-1 before the first and 1 behind the last, where one more is laid on both sides."""
    ends = np.zeros(len(inside) + 2)
    ends[0], ends[-1] = -1.0, 1.0
    return ends


def _far_from(known: NDArray[np.bool_], at: int) -> int:
    return int(np.abs(np.flatnonzero(known) - at).min())


def _runs(known: NDArray[np.bool_]) -> list[slice]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _dimension(drawing: Drawing, sheet: Sheet, section: Section, near: Near, box: Box) -> None:
    """The least clearance to a kind, as a line with its length."""
    places = np.array([near.place, near.wire_place])
    along, _ = section.frame(places)
    for line in cut(sheet.line(along, places[:, 2]), box):
        title = f"least clearance to {near.kind}: {near.distance_m:.2f} m"
        drawing.add(Line(line, COLOURS[3], 0.3, (0.9, 0.5), title=title, kind="clearance"))
        (x, y), (_, other) = line[0], line[-1]
        words = f"{near.distance_m:.2f} m"
        drawing.add(Text(x + 0.8, (y + other) / 2 + 0.8, words, 2.2, COLOURS[3]))


def _numbered(drawing: Drawing, sheet: Sheet, section: Section, numbers: Numbers, box: Box) -> None:
    """Points with their numbers above the picture, in as many rows as there is room for."""
    ends = [-LABELS_APART_MM] * LABEL_ROWS
    found: list[tuple[Place, Point]] = []
    for point in section.points:
        if point.kind != TOWER_KIND:
            (along,), _ = section.frame(np.array([point.place[:2]]))
            found.append((sheet.at(float(along), point.place[2]), point))
    for (x, foot), point in sorted(found, key=lambda each: each[0]):
        drawing.add(mark_of(point, (x, foot), numbers))
        row = next((n for n, end in enumerate(ends) if x - end >= LABELS_APART_MM), None)
        if row is not None:
            ends[row] = x
            y = box[1] - 1.0 - 2.6 * row
            drawing.add(Line(((x, foot - 1.2), (x, y + 0.5)), FAINT, 0.12))
            drawing.add(Text(x, y, str(numbers[point.id]), 2.1, INK, "middle"))
