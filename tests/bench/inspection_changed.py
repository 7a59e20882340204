"""The labelled lines as other flights might have seen them, and lines and things that were made.

What was tuned on two tiles may hold for no third. Here the same tiles have more noise, run another
way, hang lower, lack whole strips, are cut to a piece, or stand in a wood. Made lines hang above the
real terrain of a corridor in Quebec; made things are long and straight and no wires.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates
from scipy.spatial import cKDTree

from tasks.line.cloud import Points
from tasks.line.ground import Terrain, terrain_of
from tests.bench.inspection_scans import FOLDER, Scan, scan
from tests.tasks.made_line import KINDS, Made, made_line

Floats = NDArray[np.float64]

TURNS_DEG: Final = (17.0, 128.0, 251.0)
QUEBEC_DENSITY: Final = 10.0
WOOD: Final = "negatives/Megaplot.laz"
WOOD_HIGH: Final = 0.55
WOOD_FREE_M: Final = 1.5
WIRE: Final = 14


def noisy(part: Scan) -> Scan:
    """Return it with 8 cm of noise."""
    return _at(part, part.places + np.random.default_rng(1).normal(0.0, 0.08, part.places.shape))


def turned(part: Scan) -> Scan:
    """Return it turned by 37 degrees."""
    places, angle = part.places, np.radians(37.0)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    middle = places[:, :2].mean(axis=0)
    places[:, :2] = (places[:, :2] - middle) @ turn + middle
    return _at(part, places)


def mirrored(part: Scan) -> Scan:
    """Return it seen in a mirror."""
    places = part.places
    places[:, 0] = 2.0 * places[:, 0].mean() - places[:, 0]
    return _at(part, places)


def lower(part: Scan) -> Scan:
    """Return it with everything six tenths as high above the ground."""
    places, below = part.places, _ground(part).below(part.points.x, part.points.y)
    high = places[:, 2] - below
    places[:, 2] = below + np.where(high > 0.0, 0.6 * high, high)
    return _at(part, places)


def stripped(part: Scan) -> Scan:
    """Return it without a third of its strips, which are four metres wide."""
    angle = np.radians(20.0)
    across = part.points.x * np.cos(angle) + part.points.y * np.sin(angle)
    strip = ((across - across.min()) / 4.0).astype(np.int64)
    kept = np.random.default_rng(0).random(strip.max() + 1) > 0.35
    return Scan(part.points.at(kept[strip]))


def cut(part: Scan) -> Scan:
    """Return a quarter of its length, in which no tower stands."""
    wire = part.places[part.points.classification == WIRE][:, :2]
    middle = wire.mean(axis=0)
    way = np.linalg.svd(wire - middle, full_matrices=False)[2][0]
    along, line = (part.places[:, :2] - middle) @ way, (wire - middle) @ way
    first, last = (line.min() + share * np.ptp(line) for share in (0.35, 0.6))
    return Scan(part.points.at((along >= first) & (along <= last)))


def in_a_wood(part: Scan) -> Scan:
    """Return it with the trees of another scan wherever no wire is near."""
    trees = scan(WOOD).places
    trees = trees[trees[:, 2] > 0.7] * (1.0, 1.0, WOOD_HIGH)
    trees[:, :2] -= trees[:, :2].min(axis=0)
    size, places = trees.max(axis=0), part.places
    low, high = places.min(axis=0), places.max(axis=0)
    moves = [
        (x, y, 0.0)
        for x in np.arange(low[0], high[0], size[0])
        for y in np.arange(low[1], high[1], size[1])
    ]
    wood = np.concatenate([trees + np.array(each) for each in moves])
    wood = wood[(wood[:, :2] < high[:2]).all(axis=1)]
    wood[:, 2] += _ground(part).below(wood[:, 0], wood[:, 1])
    wires = cKDTree(places[part.points.classification == WIRE])
    wood = wood[~np.isfinite(wires.query(wood, distance_upper_bound=WOOD_FREE_M)[0])]
    one, leaf = np.ones(len(wood)), np.full(len(wood), 5)
    added = Points.of(*wood.T.copy(), classification=leaf, return_number=one, returns=one)
    return Scan(Points.joined([part.points, added]))


CHANGES: dict[str, Callable[[Scan], Scan]] = {
    "8 cm of noise": noisy,
    "turned": turned,
    "mirrored": mirrored,
    "0.6 as high": lower,
    "a third of the strips lost": stripped,
    "a piece without a tower": cut,
    "in a wood": in_a_wood,
}


def made_above_quebec(kind: str, turned_deg: float) -> Made:
    """Return a made line above the real terrain of the corridor."""
    terrain, middle = _quebec()
    return made_line(
        KINDS[kind],
        density=QUEBEC_DENSITY,
        turned_deg=turned_deg,
        ground=terrain.below,
        middle=middle,
        seed=int(turned_deg),
    )


@cache
def _quebec() -> tuple[_Grid, tuple[float, float]]:
    import rasterio

    with rasterio.open(FOLDER / "route" / "wire-dtm.tif") as map_:
        heights = map_.read(1, masked=True)
        grid = _Grid(
            heights.filled(float(heights.mean())), map_.bounds.left, map_.bounds.top, map_.res[0]
        )
        middle = map_.xy(heights.shape[0] // 2, heights.shape[1] // 2)
    return grid, (float(middle[0]), float(middle[1]))


class _Grid:
    """Heights of a map whose first row is the northernmost."""

    def __init__(self, heights: Floats, west: float, north: float, cell_m: float) -> None:
        self._heights, self._west, self._north, self._cell_m = heights, west, north, cell_m

    def below(self, x: Floats, y: Floats) -> Floats:
        row, column = (self._north - y) / self._cell_m - 0.5, (x - self._west) / self._cell_m - 0.5
        found: Floats = map_coordinates(self._heights, [row, column], order=1, mode="nearest")
        return found


def _ground(part: Scan) -> Terrain:
    known = np.isin(part.points.classification, (2, 9))
    return terrain_of(*part.places[known].T)


def _at(part: Scan, places: Floats) -> Scan:
    x, y, z = (column.copy() for column in places.T)
    return Scan(replace(part.points, x=x, y=y, z=z))
