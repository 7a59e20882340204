"""What the surroundings of each place look like, as numbers: the features by which roof and leaf differ.

The unit is a cube of ``CUBE_M`` with points in it. Two neighbourhoods tell how far its points are a
line, a plane or a cloud; the column below and around tells how rough the top is, how much of the
ground is seen through it, and how many echoes came back. Nothing here knows a direction of the
compass, and nothing an absolute height.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from tasks.line.ground import cells, corner
from tasks.line.parameters import CELL_M, CUBE_M, FLAT_M, TALL_M, WIDE_CUBE_M

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
BESIDE = ((0, 0), (0, 1), (1, -1), (1, 0), (1, 1))
"""The columns of half of the cubes around one: whose neighbour the other is its own as well."""
ECHOES = 4
"""The last so many features tell of echoes; not all scanners do."""


@dataclass(frozen=True)
class Echoes:
    """Of each point: the number of its return and how many there were; 0 where nobody told."""

    number: NDArray[np.uint8]
    count: NDArray[np.uint8]

    @property
    def told(self) -> bool:
        """Return whether any pulse came back more than once."""
        return bool((self.count > 1).any())


@dataclass(frozen=True)
class Shapes:
    """The features of each cube, and which cube each point above the ground is in."""

    features: Floats
    cube: Indices


def shapes_of(points: Floats, above_m: Floats, ground: Mask, echoes: Echoes) -> Shapes:
    """Return the shapes of all that is not ground, of which there is at least one point."""
    over = np.flatnonzero(~ground)
    near, cube = _moments(points[over], CUBE_M)
    wide, wide_cube = _moments(points[over], WIDE_CUBE_M)
    count = np.bincount(cube).astype(np.float64)
    first = np.full(len(count), len(over), np.int64)
    np.minimum.at(first, cube, np.arange(len(over)))
    of_column = _columns(points, above_m, ground, echoes, over[first])
    height = np.bincount(cube, above_m[over]) / count
    several = np.bincount(cube, echoes.count[over] > 1) / count
    order = echoes.number[over] / np.maximum(echoes.count[over], 1)
    order = np.bincount(cube, order) / count
    features = np.column_stack(
        [near, wide[wide_cube[first]], of_column[:, :-2], height, of_column[:, 0] - height]
    )
    told = np.column_stack([of_column[:, -2:], several, order])
    if not echoes.told:
        told[:] = np.nan
    return Shapes(np.column_stack([features, told]), cube)


def _moments(points: Floats, size_m: float) -> tuple[Floats, Indices]:
    """For each cube how linear, flat and scattered it and its 26 neighbours are, and which way."""
    place = np.floor(points / size_m).astype(np.int64)
    place += 1 - place.min(axis=0)
    size = place.max(axis=0) + 2
    key = (place[:, 0] * size[1] + place[:, 1]) * size[2] + place[:, 2]
    keys, cube = np.unique(key, return_inverse=True)
    here = points - points.mean(axis=0)
    weights = [None, *here.T, *(here[:, a] * here[:, b] for a, b in PAIRS)]
    sums = np.stack([np.bincount(cube, each, len(keys)) for each in weights], axis=1)
    total = sums.astype(np.float64)
    padded = np.append(keys, -1)
    for x, y in BESIDE:
        wanted = keys + (x * size[1] + y) * size[2] - 1
        at = np.searchsorted(keys, wanted)
        for z in (-1, 0, 1):
            there = padded[at] == wanted + (z + 1)
            if (x, y, z) > (0, 0, 0):
                hit = np.flatnonzero(there)
                total[hit] += sums[at[hit]]
                total[at[hit]] += sums[hit]
            at += there
    count, mean = total[:, 0], total[:, 1:4] / total[:, :1]
    spread = [total[:, 4 + n] / count - mean[:, a] * mean[:, b] for n, (a, b) in enumerate(PAIRS)]
    low, middle, high, upright = _axes(*spread)
    shape = [(high - middle) / high, (middle - low) / high, low / high, upright, low, high]
    return np.column_stack([*shape, np.log(count)]), cube


def _axes(*spread: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """How far points spread along the three axes of their cloud, and how upright the shortest is:
    roots and minors of each matrix, in a tenth of the time of finding its vectors."""
    xx, xy, xz, yy, yz, zz = spread
    usual = (xx + yy + zz) / 3.0
    x, y, z = xx - usual, yy - usual, zz - usual
    beside = xy * xy + xz * xz + yz * yz
    size = np.sqrt(np.maximum((x * x + y * y + z * z + 2.0 * beside) / 6.0, 1e-30))
    volume = x * (y * z - yz * yz) - xy * (xy * z - yz * xz) + xz * (xy * yz - y * xz)
    angle = np.arccos(np.clip(volume / (2.0 * size**3), -1.0, 1.0)) / 3.0
    high, low = (usual + 2.0 * size * np.cos(angle + turn) for turn in (0.0, 2.0 * np.pi / 3.0))
    middle = 3.0 * usual - high - low
    x, y, z = xx - low, yy - low, zz - low
    level = x * y - xy * xy
    minors = level + x * z - xz * xz + y * z - yz * yz
    upright = np.sqrt(np.clip(level / np.maximum(minors, 1e-30), 0.0, 1.0))
    short, wide, long = (np.sqrt(np.maximum(each, 1e-9)) for each in (low, middle, high))
    return short, wide, long, upright


def _columns(
    points: Floats, above_m: Floats, ground: Mask, echoes: Echoes, wanted: Indices
) -> Floats:
    """Features of the cells, seen from above, of these points. First how high its top is, last two of
    echoes."""
    row, column = (cells(each, corner(each), CELL_M) for each in points.T[:2])
    shape = int(row.max()) + 1, int(column.max()) + 1
    cell, over = row * shape[1] + column, ~ground
    size = shape[0] * shape[1]

    def counted(which: Mask) -> Floats:
        return np.bincount(cell[which], minlength=size).reshape(shape).astype(np.float64)

    top, high, low = np.zeros(size), np.full(size, -np.inf), np.full(size, np.inf)
    np.maximum.at(top, cell[over], above_m[over])
    np.maximum.at(high, cell, points[:, 2])
    np.minimum.at(low, cell[over], above_m[over])
    top, high = top.reshape(shape), high.reshape(shape)
    low = np.where(np.isfinite(low), low, 0.0).reshape(shape)
    every, others = counted(np.ones(len(cell), bool)), counted(over)
    bare, several = counted(ground), counted(over & (echoes.count > 1))
    mean = ndimage.uniform_filter(top, 3, mode="constant")
    square = ndimage.uniform_filter(top * top, 3, mode="constant")
    tall = [top, ndimage.maximum_filter(top, 5), mean, np.sqrt(np.maximum(square - mean**2, 0.0))]
    tall += [low, top - low, ndimage.minimum_filter(top, 3), ndimage.maximum_filter(top, 3) - top]
    told = [_share(several, others, size) for size in (3, 7)]
    found = [*tall, *_roughness(top, high), *(_share(bare, every, s) for s in (3, 7)), *told]
    return np.stack([each.ravel()[cell[wanted]] for each in found], axis=1)


def _roughness(top: Floats, high: Floats) -> list[Floats]:
    """How far the top of the columns is from a plane, how steep, how much of it is smooth."""
    at = ndimage.distance_transform_edt(
        ~np.isfinite(high), return_distances=False, return_indices=True
    )
    surface = high[tuple(at)] - high[np.isfinite(high)].min()
    found: list[Floats] = []
    rough = []
    for size in (3, 5):
        step = np.arange(-(size // 2), size // 2 + 1).astype(np.float64)
        slopes = []
        for axis in (0, 1):
            mean = ndimage.uniform_filter1d(surface, size, axis=1 - axis)
            slopes.append(ndimage.correlate1d(mean, step, axis=axis) / (step**2).sum())
        mean = ndimage.uniform_filter(surface, size)
        spread = ndimage.uniform_filter(surface**2, size) - mean**2
        steep = slopes[0] ** 2 + slopes[1] ** 2
        rough.append(np.sqrt(np.maximum(spread - steep * (step**2).mean(), 0.0)))
        found += [rough[-1], np.sqrt(steep)]
    is_tall = (top > TALL_M).astype(np.float64)
    smooth = is_tall * (rough[0] < FLAT_M)
    return found + [_share(smooth, is_tall, size) for size in (5, 9, 15)]


def _share(part: Floats, whole: Floats, size: int) -> Floats:
    """How much of the whole the part is, in a window of so many cells."""
    one = ndimage.uniform_filter(part, size, mode="constant")
    all_ = ndimage.uniform_filter(whole, size, mode="constant")
    share: Floats = np.maximum(one, 0.0) / np.maximum(all_, 1e-6)
    return share
