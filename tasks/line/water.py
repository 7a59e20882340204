"""Water among the ground: a surface that is smooth, level to the centimetre, and lower than its banks.

A field may be as smooth, but over 150 square metres it is never as level. What reflects nothing at
all leaves no points and is nothing here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from tasks.line.ground import Terrain, cells
from tasks.line.parameters import (
    WATER_BESIDE_M,
    WATER_LEVEL_M,
    WATER_LOWER_SHARE,
    WATER_M2_MIN,
    WATER_ROUGH_M,
    WATER_SHARE_MAX,
    WATER_STEP_M,
)

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

WINDOW = 5


def water_of(terrain: Terrain, points: Floats, ground: Mask) -> Mask:
    """Return which points of the ground are water."""
    rows, columns = terrain.heights.shape
    row = np.minimum(cells(points[:, 0], terrain.west, terrain.cell_m), rows - 1)
    column = np.minimum(cells(points[:, 1], terrain.south, terrain.cell_m), columns - 1)
    cell = row * columns + column
    mean, rough = _surface(terrain, cell[ground], points[ground, 2])
    areas, _ = ndimage.label(rough < WATER_ROUGH_M)
    level = np.full((rows, columns), np.nan)
    smallest, largest = WATER_M2_MIN / terrain.cell_m**2, WATER_SHARE_MAX * np.isfinite(rough).sum()
    for number, box in enumerate(ndimage.find_objects(areas), 1):
        part = areas[box] == number
        if smallest <= part.sum() <= largest and np.std(mean[box][part]) <= WATER_LEVEL_M:
            _fill(level, areas == number, mean, terrain.heights)
    here = level.ravel()[cell]
    found: Mask = ground & (np.abs(points[:, 2] - here) < WATER_BESIDE_M)
    return found


def _surface(terrain: Terrain, cell: NDArray[np.int64], z: Floats) -> tuple[Floats, Floats]:
    """Mean height and roughness of the ground around each cell; infinite without points there."""
    shape = terrain.heights.shape
    size = shape[0] * shape[1]
    base = float(z.mean()) if len(z) else 0.0
    sums = [None, z - base, (z - base) ** 2]
    parts = [np.bincount(cell, each, size).reshape(shape).astype(np.float64) for each in sums]
    count, mean, square = (ndimage.uniform_filter(each, WINDOW, mode="constant") for each in parts)
    count = np.maximum(count, 1e-9)
    mean = mean / count
    rough = np.sqrt(np.maximum(square / count - mean**2, 0.0))
    return mean + base, np.where(parts[0] > 0, rough, np.inf)


def _fill(level: Floats, area: Mask, mean: Floats, heights: Floats) -> None:
    """Write the level of a piece of water into its cells and those beside it, unless something
    around it lies lower: then it is no water."""
    inner = ndimage.binary_dilation(area, iterations=2)
    outer = ndimage.binary_dilation(area, iterations=4)
    here = float(np.median(mean[area]))
    banks = heights[outer & ~inner]
    if len(banks) and (banks < here - WATER_STEP_M).mean() > WATER_LOWER_SHARE:
        return
    level[outer] = here
