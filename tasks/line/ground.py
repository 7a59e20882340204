"""The terrain below a tile, and which points lie on it.

The lowest point of each cell is opened (worn down and built up again) with ever wider windows, as the
simple morphological filter does (Pingel 2013): what a window takes away by more than a slope would is
an object. The terrain is what is left, filled smoothly under the objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from tasks.line.parameters import (
    BUILDING_M_MAX,
    CELL_M,
    GROUND_M,
    PIT_M,
    SLOPE_MAX,
    SPARSE_CELL_M,
    STEP_M_MIN,
)

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.int64]

ANCHOR_M = 280.0
"""A multiple of every size of cells and cubes."""
CORNER_M = 16.0
HALF_MM = 0.0005


@dataclass(frozen=True)
class Terrain:
    """Heights of the ground on a grid that begins at a corner."""

    west: float
    south: float
    cell_m: float
    heights: Floats

    def below(self, x: Floats, y: Floats) -> Floats:
        """Return the height of the ground at these places; at the edge where they lie outside."""
        at = [(x - self.west) / self.cell_m - 0.5, (y - self.south) / self.cell_m - 0.5]
        found: Floats = ndimage.map_coordinates(self.heights, at, order=1, mode="nearest")
        return found

    def slopes(self) -> Floats:
        """Return how steep each cell is."""
        if min(self.heights.shape) < 2:
            return np.zeros_like(self.heights)
        east, north = np.gradient(self.heights, self.cell_m)
        steep: Floats = np.hypot(east, north)
        return steep


def terrain_of(x: Floats, y: Floats, z: Floats) -> Terrain:
    """Return the terrain under points, of which there is at least one."""
    cell_m = _cell_m(x, y)
    west, south = corner(x), corner(y)
    row, column = cells(x, west, cell_m), cells(y, south, cell_m)
    shape = int(row.max()) + 1, int(column.max()) + 1
    low = np.full(shape[0] * shape[1], np.inf)
    np.minimum.at(low, row * shape[1] + column, z)
    low = low.reshape(shape)
    seen = np.isfinite(low)
    low = _nearest(low, seen)
    middle = ndimage.median_filter(low, size=5)
    pits = middle - low > PIT_M
    surface = np.where(pits, middle, low)
    bare = seen & ~pits & ~_objects(surface, cell_m)
    return Terrain(west, south, cell_m, ndimage.gaussian_filter(_filled(surface, bare), 0.7))


def ground_of(terrain: Terrain, x: Floats, y: Floats, above_m: Floats) -> Mask:
    """Return which points lie on the terrain; ``above_m`` is how far each is above it."""
    row = np.minimum(cells(x, terrain.west, terrain.cell_m), terrain.heights.shape[0] - 1)
    column = np.minimum(cells(y, terrain.south, terrain.cell_m), terrain.heights.shape[1] - 1)
    near_m = GROUND_M + 0.5 * terrain.cell_m * np.minimum(terrain.slopes(), 1.0)
    on: Mask = np.abs(above_m) <= near_m[row, column]
    return on


def anchor(places: Floats) -> Floats:
    """Return where places are counted from: near their least, and the same for all of a region, so
    that cells and cubes lie as they do in the tile beside it. Half a millimetre off, because places are
    told in whole ones: none lies on a border."""
    base: Floats = np.floor(places.min(axis=0) / ANCHOR_M) * ANCHOR_M - HALF_MM
    return base


def corner(along: Floats) -> float:
    """Return where a grid begins that has these places in it and coarser cells where others have theirs."""
    return float(np.floor(along.min() / CORNER_M) * CORNER_M)


def cells(along: Floats, least: float, cell_m: float) -> Indices:
    """Return the number of the cell of each place, counted from the least on."""
    return np.floor((along - least) / cell_m).astype(np.int64)


def _cell_m(x: Floats, y: Floats) -> float:
    """A cell has to hold a point as a rule: less than one on a square metre asks for wider ones."""
    row, column = cells(x, 0.0, 5.0), cells(y, 0.0, 5.0)
    places = len(np.unique(row * (int(np.ptp(column)) + 1) + column))
    return CELL_M if len(x) >= 25.0 * places else SPARSE_CELL_M


def _objects(surface: Floats, cell_m: float) -> Mask:
    found = np.zeros(surface.shape, bool)
    last, radius = surface, 1
    while radius * cell_m <= BUILDING_M_MAX:
        size = 2 * radius + 1
        worn = ndimage.minimum_filter(last, size, mode="nearest")
        opened = ndimage.maximum_filter(worn, size, mode="nearest")
        found |= last - opened > max(SLOPE_MAX * radius * cell_m, STEP_M_MIN)
        last = opened
        radius = radius + 1 if radius < 6 else int(np.ceil(radius * 1.25))
    return found


def _nearest(heights: Floats, known: Mask) -> Floats:
    if known.all():
        return heights
    at = ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
    near: Floats = heights[tuple(at)]
    return near


def _filled(heights: Floats, known: Mask) -> Floats:
    """The unknown from coarser and coarser means of what is known around it."""
    if not known.any():
        return heights
    value, weight = np.where(known, heights, 0.0), known.astype(np.float64)
    finer: list[tuple[Floats, Floats]] = []
    while min(value.shape) > 2 and not weight.all():
        finer.append((value, weight))
        value, weight = _halved(value, weight)
    value = _nearest(value, weight > 0)
    for fine, known_there in reversed(finer):
        wide: Any = ndimage.zoom(value, 2, order=1, grid_mode=True, mode="nearest")
        wide = wide[: fine.shape[0], : fine.shape[1]]
        value = known_there * fine + (1.0 - known_there) * wide
    return value


def _halved(value: Floats, weight: Floats) -> tuple[Floats, Floats]:
    even = [(0, size % 2) for size in value.shape]
    weighed, weight = np.pad(value * weight, even), np.pad(weight, even)

    def four(each: Floats) -> Floats:
        return each[::2, ::2] + each[1::2, ::2] + each[::2, 1::2] + each[1::2, 1::2]

    total = four(weight)
    mean = np.where(total > 0, four(weighed) / np.maximum(total, 1e-9), 0.0)
    return mean, np.minimum(total, 1.0)
