"""Tiles put together: wires that go over borders are one, and nothing is told twice.

A wire of one tile goes on in the next when the halo shows the same curve to both. What was found
keeps the id that it has from its place; with an earlier list it keeps the id that it had there,
although parameters changed and the place moved a little.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.inspection.conversation import WorkError
from tasks.line.curve import Curve
from tasks.line.interest import Interest
from tasks.line.obstacles import Around, Obstacle, Place, told_once
from tasks.line.parameters import SAME_PLACE_M, SAME_TOWER_M, SAME_WIRE_M, SAME_WIRE_M_MIN
from tasks.line.tables import Tables
from tasks.line.towers import Tower

Floats = NDArray[np.float64]

ID_DIGITS = 10
TOWER_KIND = "tower"
STEP_M = 2.0


@dataclass(frozen=True)
class Point:
    """A point of interest of the line."""

    id: str
    kind: str
    place: Place
    span: str
    wire: int | None
    wire_place: Place | None
    distance_m: float | None
    relevance: int
    maintenance: str
    decision: str = ""
    """What a person has decided about it; empty where nobody has."""


@dataclass(frozen=True)
class Line:
    """The wires of all tiles, those of one wire with the same number, its towers, and what was
    found."""

    curves: tuple[Curve, ...]
    wire_of_curve: tuple[int, ...]
    towers: tuple[Tower, ...]
    points: tuple[Point, ...]
    too_sparse: tuple[int | None, ...]
    """The tiles in which too few points lie to tell of wires."""


def joined_line(name: str, tiles: Sequence[Interest], voltage_kv: float, tables: Tables) -> Line:
    """Return the line that the tiles make up."""
    curves = [wire.curve for tile in tiles for wire in tile.spans.wires]
    wires = wires_joined(curves)
    towers = _towers(each for tile in tiles for each in tile.spans.towers)
    spans = spans_of_wires(curves, wires, towers)
    points: list[Point] = []
    for each in told_once(_obstacles(tiles, wires)):
        span = "-".join(f"T{number}" for number in spans[each.wire])
        relevance = tables.relevance_of(each.kind, voltage_kv, each.distance_m)
        points.append(
            Point(
                id_of(name, each.kind, each.place), each.kind, each.place, span,
                each.wire, each.wire_place, round(each.distance_m, 2),
                relevance, tables.maintenance_of(each.kind, relevance),
            )
        )  # fmt: skip
    points = _once(points)
    for number, tower in enumerate(towers, 1):
        place = round(tower.x, 3), round(tower.y, 3), round(tower.foot_m, 3)
        told = id_of(name, TOWER_KIND, place), TOWER_KIND, place, f"T{number}", None, None, None, 0
        points.append(Point(*told, tables.maintenance_of(TOWER_KIND, 0)))
    sparse = tuple(tile.tile for tile in tiles if tile.spans.too_sparse)
    return Line(tuple(curves), tuple(wires), tuple(towers), tuple(points), sparse)


def _obstacles(tiles: Sequence[Interest], wires: Sequence[int]) -> list[Obstacle]:
    """Everything near of all tiles, with the wires by their numbers in the line."""
    numbers = iter(wires)
    found: list[Obstacle] = []
    for tile in tiles:
        own = [next(numbers) for _ in tile.spans.wires]
        found += [replace(each, wire=own[each.wire]) for each in tile.obstacles]
    return found


def wires_joined(curves: Sequence[Curve]) -> list[int]:
    """Return for each curve the number of its wire; curves of one wire have the same."""
    number = list(range(len(curves)))
    places = [each.places(np.arange(each.start_m, each.end_m, STEP_M)) for each in curves]
    for one, others in enumerate(_beside(curves, places)):
        for other in others:
            if number[one] != number[other] and _is_same(curves[other], places[one]):
                old, new = number[one], number[other]
                number = [new if each == old else each for each in number]
    order = {each: rank for rank, each in enumerate(dict.fromkeys(number))}
    return [order[each] for each in number]


def _beside(curves: Sequence[Curve], places: Sequence[Floats]) -> Iterator[list[int]]:
    """For each curve those before it that may be the same wire: places of the one that lie on the
    other lie in the box around it, which between two places it leaves by less than a step."""
    ends = [each.places(np.array([each.end_m])) for each in curves]
    whole = [np.concatenate(each) for each in zip(places, ends, strict=True)]
    low = np.array([each.min(axis=0) for each in whole]) - SAME_WIRE_M - STEP_M
    high = np.array([each.max(axis=0) for each in whole])
    for one in range(len(curves)):
        yield np.flatnonzero(
            ((low[:one] <= high[one]) & (low[one] <= high[:one])).all(axis=1)
        ).tolist()


def _is_same(curve: Curve, places: Floats) -> bool:
    along, across = curve.away(places)
    both = (along > curve.start_m) & (along < curve.end_m)
    return bool(both.sum() * STEP_M >= SAME_WIRE_M_MIN and np.median(across[both]) < SAME_WIRE_M)


def _towers(found: Iterable[Tower]) -> list[Tower]:
    """Each once, in the order of their places along the way on which they lie farthest apart."""
    towers: list[Tower] = []
    for tower in found:
        if all(np.hypot(tower.x - one.x, tower.y - one.y) > SAME_TOWER_M for one in towers):
            towers.append(tower)
    if len(towers) < 2:
        return towers
    flat = np.array([(each.x, each.y) for each in towers])
    centred = flat - flat.mean(axis=0)
    way = np.linalg.svd(centred, full_matrices=False)[2][0]
    way = way * (1.0 if way[np.argmax(np.abs(way))] > 0 else -1.0)
    return [towers[number] for number in np.argsort(centred @ way, kind="stable")]


def spans_of_wires(
    curves: Sequence[Curve], wires: Sequence[int], towers: Sequence[Tower]
) -> dict[int, tuple[int, ...]]:
    """Return for each wire the numbers of the towers, from 1, at which the curves of it end, also
    those of different tiles; only one where the other was not seen."""
    found: dict[int, set[int]] = {number: set() for number in wires}
    told = [(each.x, each.y, each.wide_m) for each in towers]
    east, north, wide_m = np.array(told).reshape(-1, 3).T
    for curve, number in zip(curves, wires, strict=True):
        for end in curve.places(np.array([curve.start_m, curve.end_m])):
            far = np.hypot(east - end[0], north - end[1]) - wide_m
            if len(far) and far.min() < SAME_TOWER_M:
                found[number].add(int(np.argmin(far)) + 1)
    return {number: tuple(sorted(each)) for number, each in found.items()}


def _once(points: Sequence[Point]) -> list[Point]:
    """The nearest of those of one kind at one place."""
    ranked = sorted(points, key=lambda each: (each.distance_m or 0.0, each.place))
    around = Around([each.place for each in ranked])
    kept: list[Point] = []
    gone: set[int] = set()
    for number, point in enumerate(ranked):
        if number not in gone:
            kept.append(point)
            near = around.within(point.place, SAME_PLACE_M)
            gone.update(each for each in near if ranked[each].kind == point.kind)
    return kept


def id_of(line: str, kind: str, place: Place) -> str:
    """Return the id of what is found for the first time."""
    told = json.dumps([line, kind, *(round(each) for each in place)])
    return sha256(told.encode()).hexdigest()[:ID_DIGITS]


def with_earlier_ids(
    points: Sequence[Point], earlier: Sequence[Point]
) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """Return the points with the ids that they had before, and what was there before and is no
    longer: nobody's notes are dropped."""
    around = Around([each.place for each in earlier])
    left = dict(enumerate(earlier))
    told: list[Point] = []
    for point in points:
        near = (each for each in around.within(point.place, SAME_PLACE_M) if each in left)
        same = [each for each in near if left[each].kind == point.kind]
        nearest = min(same, key=lambda each: math.dist(left[each].place, point.place), default=None)
        told.append(point if nearest is None else replace(point, id=left.pop(nearest).id))
    return tuple(told), tuple(left.values())


def write_points(
    path: Path,
    name: str,
    line: Line,
    orphans: Sequence[Point],
    example: bool,
    voltage_kv: float,
    validation: dict[str, object],
) -> None:
    """Write the line's points of interest, with orphans, tables used and validation, as JSON.
    Raises ``OSError``."""
    told = {"line": name, "voltage_kv": voltage_kv, "tables_are_examples": example, **asdict(line)}
    told["validation"] = validation
    told["orphans"] = [asdict(each) for each in orphans]
    path.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def read_points(path: Path) -> tuple[Point, ...]:
    """Return the points of an earlier list, those too that were orphans there. Raises ``WorkError``
    where it is none, and ``OSError``."""
    try:
        told = json.loads(path.read_text("utf-8"))
        return tuple(point_of(each) for each in [*told["points"], *told["orphans"]])
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise WorkError(f"{path.name} is no earlier list of points: {error!r}") from None


def point_of(told: dict[str, object]) -> Point:
    """Return the point that a document tells of. Raises ``TypeError`` where it tells of none,
    ``OverflowError`` of a number that no place has."""
    places = {
        name: tuple(value) if isinstance(value := told.get(name), list) else None
        for name in ("place", "wire_place")
    }
    place = places["place"] or ()
    if len(place) != 3 or not all(map(math.isfinite, place)):
        raise TypeError("the place of a point is three numbers")
    return Point(**{**told, **places})  # type: ignore[arg-type]
