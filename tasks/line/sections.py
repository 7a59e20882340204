"""The line span by span, as the report tells of it: what hangs between two towers, what comes near.

A span is made of the wires that end at the same two towers. Where only one tower was seen, it is what
goes on before or beyond it; where none was, what hangs beside each other. Each has a frame of its own:
how far along from its start, how far to the left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tasks.line.corridor import COLUMNS, Clearance, Corridor
from tasks.line.curve import Curve
from tasks.line.joining import TOWER_KIND, Line, Point, spans_of_wires
from tasks.line.tiles import Plan
from tasks.line.towers import Tower

Floats = NDArray[np.float64]
Flat = tuple[float, float]
_OfWire = dict[int, list[Curve]]
"""The curves of each wire by its number."""

STEP_M = 2.0
BESIDE_M = 60.0
"""What hangs farther beside each other is not of one span."""


@dataclass(frozen=True)
class Near:
    """The least clearance of a span to something of a kind; ``point`` is the id of the point of
    interest that tells of it, empty where nothing came as near as detection looks."""

    kind: str
    distance_m: float
    place: tuple[float, float, float]
    wire_place: tuple[float, float, float]
    point: str = ""


@dataclass(frozen=True)
class Section:
    """A span: its frame, its wires, towers with their numbers, points and least clearances."""

    name: str
    chainage_m: float
    start: Flat
    way: Flat
    length_m: float
    wires: int
    curves: tuple[Curve, ...]
    towers: tuple[tuple[int, Tower], ...]
    points: tuple[Point, ...] = ()
    nearest: tuple[Near, ...] = ()

    def frame(self, places: Floats) -> tuple[Floats, Floats]:
        """Return how far along and how far to the left places are."""
        east, north = places[:, 0] - self.start[0], places[:, 1] - self.start[1]
        along = east * self.way[0] + north * self.way[1]
        return along, north * self.way[0] - east * self.way[1]

    @property
    def residual_m(self) -> float:
        """Return how far the points of the worst wire lie from its curve."""
        return max((each.residual_m for each in self.curves), default=0.0)

    @property
    def sag_m(self) -> float:
        """Return how far the lowest wire hangs below the straight line between its ends."""
        return max((_sag(each) for each in self.curves), default=0.0)

    @property
    def middle(self) -> Flat:
        """Return where the middle of it is."""
        half = self.length_m / 2
        return self.start[0] + half * self.way[0], self.start[1] + half * self.way[1]

    def clearance(self, kind: str) -> Near | None:
        """Return the least clearance to a kind, None where nothing of it is near."""
        return next((each for each in self.nearest if each.kind == kind), None)


def sections_of(line: Line, corridors: Sequence[Corridor], plan: Plan) -> tuple[Section, ...]:
    """Return the spans of a line in the order of their chainage, each with its points."""
    ends = spans_of_wires(line.curves, line.wire_of_curve, line.towers)
    of_wire: _OfWire = {}
    for curve, wire in zip(line.curves, line.wire_of_curve, strict=True):
        of_wire.setdefault(wire, []).append(curve)
    made = sorted(
        (
            _section(line.towers, ends, {wire: of_wire[wire] for wire in wires}, plan)
            for wires in _groups(of_wire, ends, plan)
        ),
        key=lambda each: each.chainage_m,
    )
    wire_at = {wire: at for at, section in enumerate(made) for wire in _wires(section, line)}
    points: list[list[Point]] = [[] for _ in made]
    curves = _Curves(made)
    for point in line.points:
        for at in _where(point, made, wire_at, curves):
            points[at].append(point)
    near: list[list[Clearance]] = [[] for _ in made]
    for clearance in (each for corridor in corridors for each in corridor.clearances):
        for at in curves.nearest(clearance.wire_place):
            near[at].append(clearance)
    named = _named(made)
    return tuple(
        replace(section, points=tuple(own), nearest=_least(own, others))
        for section, own, others in zip(named, points, near, strict=True)
    )


def _groups(of_wire: _OfWire, ends: dict[int, tuple[int, ...]], plan: Plan) -> list[list[int]]:
    """The wires of each span: those with the same towers, and of the others those side by side."""
    by_towers: dict[tuple[int, ...], list[int]] = {}
    loose: list[tuple[float, float, float, tuple[int, ...], int]] = []
    for wire, curves in of_wire.items():
        if len(ends[wire]) > 1:
            by_towers.setdefault(ends[wire], []).append(wire)
            continue
        places = np.concatenate([_flat(each) for each in curves])
        along, beside = plan.chainage(places[:, 0], places[:, 1])
        row = float(along.min()), float(along.max()), float(np.median(beside)), ends[wire], wire
        loose.append(row)
    return [*by_towers.values(), *_side_by_side(loose)]


def _side_by_side(
    loose: list[tuple[float, float, float, tuple[int, ...], int]],
) -> Iterator[list[int]]:
    """Groups of wires that go along the same part of the route, the longest of them first."""
    left = sorted(loose, key=lambda each: (each[0] - each[1], each[4]))
    while left:
        first, last, beside, towers, _ = left[0]
        same = [
            each
            for each in left
            if each[3] == towers
            and abs(each[2] - beside) <= BESIDE_M
            and min(each[1], last) - max(each[0], first) >= 0.5 * (each[1] - each[0])
        ]
        same = same or left[:1]
        left = [each for each in left if each not in same]
        yield [each[4] for each in same]


def _section(
    seen: Sequence[Tower], ends: dict[int, tuple[int, ...]], wires: _OfWire, plan: Plan
) -> Section:
    curves = tuple(curve for own in wires.values() for curve in own)
    places = np.concatenate([_flat(each) for each in curves])
    numbers = sorted({number for wire in wires for number in ends[wire]})
    towers = [(number, seen[number - 1]) for number in numbers]
    anchors = np.array([(each.x, each.y) for _, each in towers]).reshape(-1, 2)
    whole = np.concatenate([places, anchors])
    way = _way(anchors if len(anchors) > 1 else whole)
    along = whole @ way
    first, last = whole[np.argmin(along)], whole[np.argmax(along)]
    chainage, _ = plan.chainage(*np.array([first, last]).T)
    if chainage[1] < chainage[0]:
        way, along = -way, -along
    if len(anchors) > 1:
        along = anchors @ way
    middle = anchors[0] if len(anchors) else np.median(places, axis=0)
    start = middle + (along.min() - middle @ way) * way
    length_m = float(along.max() - along.min())
    ordered = tuple(sorted(towers, key=lambda each: np.array([each[1].x, each[1].y]) @ way))
    frame = (float(start[0]), float(start[1])), (float(way[0]), float(way[1]))
    return Section("", float(chainage.min()), *frame, length_m, len(wires), curves, ordered)


def _named(sections: Sequence[Section]) -> list[Section]:
    """By their towers; where there are not two, by where they lie; no name twice."""
    named, taken = [], dict[str, int]()
    for section in sections:
        name = "-".join(f"T{number}" for number, _ in section.towers)
        if len(section.towers) == 1:
            tower = section.towers[0][1]
            (along,), _ = section.frame(np.array([(tower.x, tower.y)]))
            name = f"{'beyond' if along < section.length_m / 2 else 'before'} {name}"
        name = name or f"at {section.chainage_m:.0f} m"
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            name = f"{name} ({taken[name]})"
        named.append(replace(section, name=name))
    return named


def _where(
    point: Point, sections: Sequence[Section], wire_at: dict[int, int], curves: _Curves
) -> list[int]:
    """The span of its wire; a tower is of both spans that end there; else the nearest."""
    if point.kind == TOWER_KIND:
        return [
            at
            for at, each in enumerate(sections)
            if any(f"T{number}" == point.span for number, _ in each.towers)
        ]
    if point.wire in wire_at:
        return [wire_at[point.wire]]
    return curves.nearest(point.place)


class _Curves:
    """Places along the curves of all spans, to tell which is nearest."""

    def __init__(self, sections: Sequence[Section]) -> None:
        places = [
            (at, each.places(np.append(np.arange(each.start_m, each.end_m, STEP_M), each.end_m)))
            for at, section in enumerate(sections)
            for each in section.curves
        ]
        self._section = np.repeat([at for at, _ in places], [len(each) for _, each in places])
        self._tree = cKDTree(np.concatenate([each for _, each in places])) if places else None

    def nearest(self, place: tuple[float, float, float]) -> list[int]:
        """Return the span to which a place is nearest; none where there is no span."""
        return [] if self._tree is None else [int(self._section[self._tree.query(place)[1]])]


def _least(points: Iterable[Point], clearances: Iterable[Clearance]) -> tuple[Near, ...]:
    """What was found near is told by its point; what was not, by what is nearest beyond."""
    found = [
        Near(each.kind, each.distance_m, each.place, each.wire_place, each.id)
        for each in points
        if each.distance_m is not None and each.wire_place is not None
    ]
    found += [Near(c.kind, c.distance_m, c.place, c.wire_place) for c in clearances]
    best: dict[str, Near] = {}
    for each in sorted(found, key=lambda near: near.distance_m):
        best.setdefault(each.kind, each)
    order = [*COLUMNS, *sorted(set(best) - set(COLUMNS))]
    return tuple(best[kind] for kind in order if kind in best)


def _wires(section: Section, line: Line) -> list[int]:
    own = {id(each) for each in section.curves}
    pairs = zip(line.curves, line.wire_of_curve, strict=True)
    return list(dict.fromkeys(wire for curve, wire in pairs if id(curve) in own))


def _flat(curve: Curve) -> Floats:
    along = np.append(np.arange(curve.start_m, curve.end_m, STEP_M), curve.end_m)
    return curve.places(along)[:, :2]


def _way(places: Floats) -> Floats:
    if len(places) == 2:
        way: Floats = places[1] - places[0]
    else:
        way = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)[2][0]
    length = float(np.linalg.norm(way))
    return way / length if length > 0 else np.array([1.0, 0.0])


def _sag(curve: Curve) -> float:
    along = np.linspace(curve.start_m, curve.end_m, 65)
    height = curve.height_at(along)
    chord = np.linspace(height[0], height[-1], 65)
    return max(0.0, float((chord - height).max()))
