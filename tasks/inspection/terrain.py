"""The ground below the points: the lowest of each cell, smoothed against single wrong ones.

Laser light finds its way to the ground nearly everywhere, so the lowest point of a small cell is on
it. Between the middles of the cells the height is interpolated. A cell without points takes the
height of its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor
from statistics import median

CELL_M = 2.0

Cell = tuple[int, int]


@dataclass
class Terrain:
    """The heights of the ground, by cell."""

    heights: dict[Cell, float]
    cell_m: float = CELL_M

    def height(self, x: float, y: float) -> float:
        """Return the height of the ground at a place, by the cells around it; that of the nearest
        cell where there is none around. Raises ``ValueError`` for a terrain without cells."""
        u, v = x / self.cell_m - 0.5, y / self.cell_m - 0.5
        column, row = floor(u), floor(v)
        right, up = u - column, v - row
        total = weights = 0.0
        for across, share_x in ((0, 1.0 - right), (1, right)):
            for along, share_y in ((0, 1.0 - up), (1, up)):
                found = self.heights.get((column + across, row + along))
                if found is not None:
                    total += share_x * share_y * found
                    weights += share_x * share_y
        if weights > 1e-9:
            return total / weights
        return self._nearest((column, row))

    def _nearest(self, cell: Cell) -> float:
        near = min(
            self.heights, key=lambda each: (each[0] - cell[0]) ** 2 + (each[1] - cell[1]) ** 2
        )
        return self.heights[near]


def ground_below(points: Iterable[tuple[float, float, float]], cell_m: float = CELL_M) -> Terrain:
    """Return the terrain below some points, in cells of this size; without points it has no cells.

    The lowest point of a cell lies at its lower edge where the ground slopes, so what it says of
    the middle is too low by half of what the ground rises within the cell; the neighbours tell how
    much.
    """
    lowest: dict[Cell, float] = {}
    for x, y, z in points:
        cell = (floor(x / cell_m), floor(y / cell_m))
        if z < lowest.get(cell, float("inf")):
            lowest[cell] = z
    smooth = {cell: _smoothed(lowest, cell) for cell in lowest}
    return Terrain({cell: smooth[cell] + _rise(smooth, cell) for cell in smooth}, cell_m)


def _smoothed(lowest: dict[Cell, float], cell: Cell) -> float:
    """Where a cell stands out from its neighbours, it saw something else than the ground."""
    around = [
        lowest[each]
        for each in ((cell[0] + i, cell[1] + j) for i in (-1, 0, 1) for j in (-1, 0, 1))
        if each in lowest
    ]
    usual = median(around)
    return usual if abs(lowest[cell] - usual) > 0.5 else lowest[cell]


def _rise(heights: dict[Cell, float], cell: Cell) -> float:
    here = heights[cell]
    column, row = cell
    rise = 0.0
    for before, after in (
        ((column - 1, row), (column + 1, row)),
        ((column, row - 1), (column, row + 1)),
    ):
        if before in heights and after in heights:
            rise += abs(heights[after] - heights[before]) / 4
        else:
            rise += abs(heights.get(after, heights.get(before, here)) - here) / 2
    return rise
