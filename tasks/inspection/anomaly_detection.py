"""Anomaly detection: vegetation that is nearer to a wire than it may be.

Each point of vegetation is compared with the wire points around it. Those that are too near are put
together where they belong to one plant, so that a person looks at each plant once. A single stray
point is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt
from pathlib import Path

from tasks.inspection.conversation import Work, WorkError
from tasks.inspection.las import VEGETATION, WIRE, Cloud, read_las
from tasks.inspection.points_of_interest import PointOfInterest, write_points_of_interest

ANOMALIES = "anomalies.csv"
CLEARANCE_M = 5.0
ONE_PLANT_M = 2.0
POINTS_MIN = 3
TOLD_EVERY = 500

Point = tuple[float, float, float]
Cell = tuple[int, int, int]
Cells = dict[Cell, list[Point]]


def do(work: Work) -> Sequence[str]:
    """Write the points of interest of a section, none perhaps, and return the file's name. Raises
    ``WorkError`` where points are missing or points or a parameter make no sense, and
    ``CancelledError`` when nobody wants it any more."""
    cloud = read_las(work.input(0, "the segmented points"))
    clearance_m = work.parameter("clearance_m", CLEARANCE_M)
    if clearance_m <= 0:
        raise WorkError("the parameter clearance_m has to be more than 0")
    section = work.parameter("section", "")
    work.progress(0.2)
    near = too_near(work, cloud, clearance_m)
    found = [
        PointOfInterest(section, *nearest, distance_m, clearance_m, len(plant))
        for plant in plants(near)
        for distance_m, nearest in [min(plant)]
    ]
    write_points_of_interest(Path(ANOMALIES), found)
    return (ANOMALIES,)


def too_near(work: Work, cloud: Cloud, clearance_m: float) -> list[tuple[float, Point]]:
    """Return the points of vegetation nearer to a wire than they may be, each behind its distance;
    progress is told. Raises ``WorkError`` where there are no wires, and ``CancelledError`` when
    nobody wants it any more."""
    wires: Cells = {}
    for number, kind in enumerate(cloud.classes):
        if kind == WIRE:
            point = (cloud.x[number], cloud.y[number], cloud.z[number])
            wires.setdefault(_cell(point, clearance_m), []).append(point)
    if not wires:
        raise WorkError("there are no wires among the points: was this flown along the line?")
    around: dict[Cell, list[Point]] = {}
    found: list[tuple[float, Point]] = []
    for number, kind in enumerate(cloud.classes):
        if number % TOLD_EVERY == 0:
            work.progress(0.2 + 0.7 * number / len(cloud))
        if kind not in VEGETATION:
            continue
        point = (cloud.x[number], cloud.y[number], cloud.z[number])
        cell = _cell(point, clearance_m)
        if cell not in around:
            around[cell] = [each for near in _around(cell) for each in wires.get(near, ())]
        distance_m = _nearest_m(point, around[cell], clearance_m)
        if distance_m < clearance_m:
            found.append((distance_m, point))
    return found


def plants(near: list[tuple[float, Point]]) -> list[list[tuple[float, Point]]]:
    """Return the points in groups that belong together: those in cells of ``ONE_PLANT_M`` that
    touch, also over others. Groups of fewer than ``POINTS_MIN`` points are left out."""
    cells: dict[Cell, list[tuple[float, Point]]] = {}
    for each in near:
        cells.setdefault(_cell(each[1], ONE_PLANT_M), []).append(each)
    found = []
    while cells:
        plant: list[tuple[float, Point]] = []
        edge = [next(iter(cells))]
        while edge:
            cell = edge.pop()
            plant += cells.pop(cell, [])
            edge += [each for each in _around(cell) if each in cells]
        if len(plant) >= POINTS_MIN:
            found.append(plant)
    return found


def _nearest_m(point: Point, wires: list[Point], limit_m: float) -> float:
    x, y, z = point
    least = limit_m * limit_m
    for a, b, c in wires:
        square = (a - x) * (a - x) + (b - y) * (b - y) + (c - z) * (c - z)
        if square < least:
            least = square
    return sqrt(least)


def _cell(point: Point, size_m: float) -> Cell:
    return floor(point[0] / size_m), floor(point[1] / size_m), floor(point[2] / size_m)


def _around(cell: Cell) -> list[Cell]:
    column, row, level = cell
    return [
        (column + i, row + j, level + k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)
    ]
