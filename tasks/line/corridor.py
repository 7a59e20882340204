"""What lies below and beside the wires of a tile, small enough to travel: for the report's profiles.

A tile has millions of points, a report of 50 km has 125 tiles. So whoever has the points of a tile
leaves of its corridor one row for each cell of two metres, with the height of the ground and the tops
of vegetation and buildings, and for each wire and kind the place that comes nearest to it. What is
nearer than detection looks is left to detection: there it is known what belongs to a wire.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tasks.line.curve import Curve
from tasks.line.obstacles import Place
from tasks.line.parameters import OBSTACLE_POINTS_MIN
from tasks.line.scene import BUILDING, GROUND, HIGH, LOW, MEDIUM, WATER
from tasks.line.spans import Spans, read_tile_file

Floats = NDArray[np.float64]
Classes = NDArray[np.uint8]

CORRIDOR = "corridor.json"
VERSION = 1
CELL_M = 2.0
BESIDE_M = 20.0
"""So far beside the outermost wire the corridor reaches."""
REACH_M = 60.0
"""What is farther from a wire than that is not told as near."""
COMPANY_M = 2.5
"""A point without others of its kind so near is an error rather than the ground or a roof."""
STEP_M = 0.5
"""Between the places of a wire from which is measured; at five metres this costs six millimetres."""
ROAD = 11
"""Nothing here finds roads; a person may have told of them, and they are level with the ground."""
COLUMNS = {
    "ground": (GROUND, WATER, ROAD),
    "vegetation": (LOW, MEDIUM, HIGH),
    "building": (BUILDING,),
}


@dataclass(frozen=True, slots=True)
class Clearance:
    """The nearest that something of a kind comes to a wire, beyond what detection looks at."""

    kind: str
    distance_m: float
    place: Place
    wire_place: Place


@dataclass(frozen=True)
class Corridor:
    """The corridor of a tile; ``tile`` is None where it is the whole. Heights are NaN where there is
    nothing of that kind."""

    tile: int | None
    points: int
    density: float
    too_sparse: bool
    counts: dict[int, int]
    within_m: float
    cells: Floats
    """Rows of the middle's x and y, ground, top of vegetation, top of building."""
    clearances: tuple[Clearance, ...]

    def write(self, path: Path) -> None:
        """Write the corridor as JSON, over what is there. Raises ``OSError``."""
        rows = [[None if np.isnan(each) else each for each in row] for row in self.cells.tolist()]
        near = [[c.kind, c.distance_m, c.place, c.wire_place] for c in self.clearances]
        told = {"version": VERSION, **vars(self), "cells": rows, "clearances": near}
        path.write_text(json.dumps(told, separators=(",", ":")) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> Corridor:
        """Return the corridor that ``write`` wrote. Raises ``WorkError`` for a file that holds none,
        and ``OSError``."""
        return read_tile_file(path, VERSION, cls.told, "corridor", "detect the tile anew")

    @classmethod
    def told(cls, told: dict[str, Any]) -> Corridor:
        """Return the corridor that a decoded document tells of. Raises ``ValueError``,
        ``TypeError`` or ``KeyError`` where it tells something else."""
        if told["version"] != VERSION:
            raise ValueError("it is of another version")
        cells = np.array(told["cells"], np.float64).reshape(-1, 2 + len(COLUMNS))
        near = tuple(
            Clearance(str(kind), float(far), _place(place), _place(wire))
            for kind, far, place, wire in told["clearances"]
        )
        counts = {int(each): int(count) for each, count in told["counts"].items()}
        numbers = int(told["points"]), float(told["density"]), bool(told["too_sparse"])
        return cls(told["tile"], *numbers, counts, float(told["within_m"]), cells, near)


def corridor_of(
    tile: int | None, spans: Spans, places: Floats, classes: Classes, within_m: float
) -> Corridor:
    """Return the corridor of a tile, from its points with their classes and its wires."""
    curves = [each.curve for each in spans.wires]
    told = len(places), spans.density, spans.too_sparse, spans.counts, within_m
    if not curves:
        return Corridor(tile, *told, np.zeros((0, 2 + len(COLUMNS))), ())
    lines = [each.places(np.arange(each.start_m, each.end_m, STEP_M)) for each in curves]
    near = tuple(
        found
        for kind in COLUMNS
        for found in _nearest(lines, _of_kind(kind, lines, places, classes), kind, within_m)
    )
    return Corridor(tile, *told, _cells(curves, places, classes), near)


def _cells(curves: Sequence[Curve], places: Floats, classes: Classes) -> Floats:
    line = np.concatenate([e.places(np.arange(e.start_m, e.end_m, CELL_M))[:, :2] for e in curves])
    low, high = line.min(axis=0) - BESIDE_M, line.max(axis=0) + BESIDE_M
    told = np.isin(classes, [each for of in COLUMNS.values() for each in of])
    inside = told & ((places[:, :2] >= low) & (places[:, :2] <= high)).all(axis=1)
    places, classes = places[inside], classes[inside]
    grid = np.floor(places[:, :2] / CELL_M).astype(np.int64)
    keys, cell = np.unique(grid, axis=0, return_inverse=True)
    middles = (keys + 0.5) * CELL_M
    heights = np.full((len(COLUMNS), len(keys)), np.nan)
    for number, (kind, of) in enumerate(COLUMNS.items()):
        own = np.isin(classes, of)
        if kind == "ground":
            count = np.bincount(cell[own], minlength=len(keys))
            total = np.bincount(cell[own], places[own, 2], minlength=len(keys))
            heights[number, count > 0] = total[count > 0] / count[count > 0]
        else:
            np.fmax.at(heights[number], cell[own], places[own, 2])
    beside = np.isfinite(
        cKDTree(line).query(middles, distance_upper_bound=BESIDE_M)[0] if len(keys) else middles[:0]
    )
    rows: Floats = np.column_stack([middles, heights.T.round(2)])[beside.reshape(-1)]
    return rows


def _of_kind(kind: str, lines: Sequence[Floats], places: Floats, classes: Classes) -> Floats:
    line = np.concatenate(lines)
    low, high = line.min(axis=0) - REACH_M, line.max(axis=0) + REACH_M
    own = np.isin(classes, COLUMNS[kind])
    these: Floats = places[own & ((places >= low) & (places <= high)).all(axis=1)]
    return these


def _nearest(
    lines: Sequence[Floats], places: Floats, kind: str, within_m: float
) -> Iterator[Clearance]:
    """For each wire the nearest place of those that are not as near to any as detection looks."""
    far, _ = cKDTree(np.concatenate(lines)).query(places, distance_upper_bound=within_m)
    places = places[~np.isfinite(far)]
    if not len(places):
        return
    tree = cKDTree(places)
    for line in lines:
        away, at = tree.query(line, distance_upper_bound=REACH_M)
        for nearest in np.argsort(away, kind="stable")[: np.isfinite(away).sum()]:
            place = places[at[nearest]]
            if len(tree.query_ball_point(place, COMPANY_M)) >= OBSTACLE_POINTS_MIN:
                told = _place(place), _place(line[nearest])
                yield Clearance(kind, round(float(away[nearest]), 3), *told)
                break


def _place(place: Sequence[float] | Floats) -> Place:
    x, y, z = (round(float(each), 3) for each in place)
    return x, y, z
