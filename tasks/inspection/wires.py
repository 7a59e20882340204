"""The wires among the points high above the ground: long, thin and straight over a few metres.

Points are sorted into cells of a metre. The points of a cell and of those around it form a line when
nearly all of their spread is in one direction, and a level one. A tree may have such a cell by chance;
so only chains of them that reach far count, and of the points around them those that lie close to
the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, sqrt

CELL_M = 1.0
POINTS_MIN = 6
LINEAR_MIN = 0.96
LEVEL_MIN = 0.85
LENGTH_M_MIN = 10.0
BESIDE_M_MAX = 0.3
ITERATIONS = 12

Point = tuple[float, float, float]
Cell = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Line:
    """Where the points of a cell lie: their middle and their direction."""

    middle: Point
    direction: Point

    def beside_m(self, point: Point) -> float:
        """Return how far a point is from the line, straight across."""
        x, y, z = (point[axis] - self.middle[axis] for axis in range(3))
        a, b, c = self.direction
        along = x * a + y * b + z * c
        return sqrt(max(0.0, x * x + y * y + z * z - along * along))


def wire_points(points: Sequence[Point]) -> set[int]:
    """Return the numbers of the points that are on a wire, counted from 0 in this order; empty
    where there is none."""
    cells: dict[Cell, list[int]] = {}
    for number, point in enumerate(points):
        cells.setdefault(_cell(point), []).append(number)
    lines: dict[Cell, Line] = {}
    for cell in cells:
        line = line_through([points[n] for each in _around(cell) for n in cells.get(each, ())])
        if line is not None:
            lines[cell] = line
    found: set[int] = set()
    for chain in _chains(lines):
        for cell in chain:
            for each in _around(cell):
                found.update(
                    n for n in cells.get(each, ()) if lines[cell].beside_m(points[n]) < BESIDE_M_MAX
                )
    return found


def line_through(points: Sequence[Point]) -> Line | None:
    """Return the line along which nearly all of these points lie, if it is a level one; None where
    there is none, or they are fewer than ``POINTS_MIN``."""
    count = len(points)
    if count < POINTS_MIN:
        return None
    middle = (
        sum(each[0] for each in points) / count,
        sum(each[1] for each in points) / count,
        sum(each[2] for each in points) / count,
    )
    xx = xy = xz = yy = yz = zz = 0.0
    for px, py, pz in points:
        x, y, z = px - middle[0], py - middle[1], pz - middle[2]
        xx, xy, xz, yy, yz, zz = (
            xx + x * x,
            xy + x * y,
            xz + x * z,
            yy + y * y,
            yz + y * z,
            zz + z * z,
        )
    direction, most = _main_direction(xx, xy, xz, yy, yz, zz)
    total = xx + yy + zz
    level = sqrt(direction[0] ** 2 + direction[1] ** 2)
    if total <= 0.0 or most / total < LINEAR_MIN or level < LEVEL_MIN:
        return None
    return Line(middle, direction)


def _main_direction(
    xx: float, xy: float, xz: float, yy: float, yz: float, zz: float
) -> tuple[Point, float]:
    """The direction of the greatest spread and how great it is, by repeated multiplication.
    Begun with the longest row, which is never at right angles to it."""
    rows = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    a, b, c = max(rows, key=lambda row: row[0] ** 2 + row[1] ** 2 + row[2] ** 2)
    length = 0.0
    for _ in range(ITERATIONS):
        length = sqrt(a * a + b * b + c * c)
        if length == 0.0:
            return (0.0, 0.0, 1.0), 0.0
        a, b, c = a / length, b / length, c / length
        a, b, c = xx * a + xy * b + xz * c, xy * a + yy * b + yz * c, xz * a + yz * b + zz * c
    most = sqrt(a * a + b * b + c * c)
    return (a / most, b / most, c / most), most


def _chains(lines: dict[Cell, Line]) -> Iterable[list[Cell]]:
    """Cells next to each other whose lines go the same way, as far as they reach; long ones only."""
    left = dict.fromkeys(lines)
    while left:
        first = next(iter(left))
        del left[first]
        chain, edge = [first], [first]
        while edge:
            cell = edge.pop()
            for each in _around(cell):
                if each in left and _same_way(lines[cell], lines[each]):
                    del left[each]
                    chain.append(each)
                    edge.append(each)
        if _length_m(chain) >= LENGTH_M_MIN:
            yield chain


def _same_way(one: Line, other: Line) -> bool:
    return abs(sum(a * b for a, b in zip(one.direction, other.direction, strict=True))) > 0.9


def _length_m(chain: list[Cell]) -> float:
    spans = [
        max(each[axis] for each in chain) - min(each[axis] for each in chain) for axis in (0, 1)
    ]
    return CELL_M * sqrt(spans[0] ** 2 + spans[1] ** 2)


def _cell(point: Point) -> Cell:
    return floor(point[0] / CELL_M), floor(point[1] / CELL_M), floor(point[2] / CELL_M)


def _around(cell: Cell) -> list[Cell]:
    column, row, level = cell
    return [
        (column + i, row + j, level + k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)
    ]
