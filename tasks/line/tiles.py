"""The plan of an inspection: the route, what was flown, and the tiles in which it is worked.

A line is 50 km long and a machine is small, so the work is cut along the route into tiles of 400 m
of chainage, the way along the route. Each point belongs to one tile, that of its chainage; a tile's
file has also what lies within the halo of 50 m on either side, so that a curve which crosses the
border is seen whole by both. What lies farther from the route than the corridor is left out.

A route may have parts that do not touch; chainage goes on from part to part, in their order.
The plan is a file that goes with every task, in metres of the target reference system.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.inspection.conversation import WorkError
from tasks.line.photographs import Photograph

Column = NDArray[np.float64]
Numbers = NDArray[np.int64]

PLAN = "plan.json"
PLAN_BYTES_MAX = 64 * 1024 * 1024
VERSION = 1
TILE_M, HALO_M, CORRIDOR_M = 400.0, 50.0, 200.0
ROWS_AT_ONCE = 200_000


@dataclass(frozen=True)
class Scan:
    """A file of points, by its place below the flight's folder, and where it says that they lie: a
    box in the target system, or none where what it says cannot be."""

    path: str
    points: int
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class Tile:
    """So much of the chainage; ``number`` counts from 0."""

    number: int
    first_m: float
    last_m: float


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the first task runs."""

    name: str
    route: tuple[tuple[tuple[float, float], ...], ...]
    wkt: str
    """The target system, in metres."""
    crs: str = ""
    """What a person said of files that do not say it, and so for ``heights``."""
    heights: str = ""
    target: str = ""
    frame: str = "ground"
    """Or ``scanner``, of points that nobody has put in their place yet."""
    date: str = ""
    lever_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    boresight_deg: tuple[float, float, float] = (0.0, 0.0, 0.0)
    tile_m: float = TILE_M
    halo_m: float = HALO_M
    corridor_m: float = CORRIDOR_M
    scans: tuple[Scan, ...] = ()
    trajectories: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    photographs: tuple[Photograph, ...] = ()
    marks: tuple[str, ...] = ()
    terrain: tuple[str, ...] = ()
    survived: dict[str, int] = field(default_factory=dict)
    version: int = VERSION

    @property
    def length_m(self) -> float:
        return float(sum(np.hypot(*np.diff(np.array(part), axis=0).T).sum() for part in self.route))

    @property
    def count(self) -> int:
        """How many tiles there are; a last one of less than a millimetre is none."""
        return max(1, int(np.ceil((self.length_m - 0.001) / self.tile_m)))

    def tile(self, number: int) -> Tile:
        """Return a tile. Raises ``WorkError`` where there is none of that number."""
        if not 0 <= number < self.count:
            raise WorkError(f"there is no tile {number}: the plan has 0 to {self.count - 1}")
        last_m = self.length_m if number == self.count - 1 else (number + 1) * self.tile_m
        return Tile(number, number * self.tile_m, last_m)

    def owner(self, chainage_m: Column) -> Numbers:
        """Return the number of the one tile to which each place along the route belongs."""
        numbers = np.floor(chainage_m / self.tile_m).astype(np.int64)
        return np.clip(numbers, 0, self.count - 1)

    def inside(self, tile: Tile, chainage_m: Column, offset_m: Column) -> NDArray[np.bool_]:
        """Return which places belong into the file of a tile, its halo too."""
        along = chainage_m >= tile.first_m - self.halo_m
        along &= chainage_m <= tile.last_m + self.halo_m
        return along & (np.abs(offset_m) <= self.corridor_m)

    def chainage(self, x: Column, y: Column) -> tuple[Column, Column]:
        """Return how far along the route each place lies and how far beside it, left of it above 0.
        Before the beginning and behind the end chainage stays, and the distance is to the end."""
        along, beside, legs = np.empty(len(x)), np.empty(len(x)), self._legs()
        if len(x):
            legs = _near(legs, (x.min(), y.min(), x.max(), y.max()), self.corridor_m)
        for first in range(0, len(x), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            along[rows], beside[rows] = _nearest(legs, x[rows], y[rows])
        return along, beside

    def box(self, tile: Tile) -> tuple[float, float, float, float]:
        """Return a box in which everything of a tile's file lies: west, south, east, north."""
        starts, ends, from_m, lengths = self._legs()
        first, last = tile.first_m - self.halo_m, tile.last_m + self.halo_m
        touched = (from_m + lengths >= first) & (from_m <= last)
        shares = [np.clip((each - from_m) / lengths, 0, 1) for each in (first, last)]
        ways = ends - starts
        corners = np.concatenate([(starts + s[:, None] * ways)[touched] for s in shares])
        (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0)
        slack = self.corridor_m
        return float(west - slack), float(south - slack), float(east + slack), float(north + slack)

    def _legs(self) -> tuple[Column, Column, Column, Column]:
        """Start and end of each straight piece, its chainage and its length; none of length 0."""
        starts = np.concatenate([np.array(part)[:-1] for part in self.route])
        ends = np.concatenate([np.array(part)[1:] for part in self.route])
        lengths = np.hypot(*(ends - starts).T)
        from_m = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
        long = lengths > 0
        return starts[long], ends[long], from_m[long], lengths[long]

    def write(self, path: Path) -> None:
        """Write the plan; raises ``OSError``."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Return a plan that was written. Raises ``WorkError`` for what is none, ``OSError``."""
        try:
            if path.stat().st_size > PLAN_BYTES_MAX:
                raise ValueError("it is too large")
            told: dict[str, Any] = json.loads(path.read_text("utf-8"))
            if told.get("version") != VERSION:
                raise ValueError(f"its version is {told.get('version')} and has to be {VERSION}")
            route = tuple(tuple((float(x), float(y)) for x, y in part) for part in told["route"])
            scans = tuple(
                Scan(each["path"], each["points"], None if each["box"] is None else (*each["box"],))
                for each in told["scans"]
            )
            told["photographs"] = tuple(
                Photograph(str(name), float(longitude), float(latitude))
                for name, longitude, latitude in told.get("photographs", ())
            )
            told |= {"route": route, "scans": scans, **{name: (*told[name],) for name in _TUPLES}}
            plan = cls(**told)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise WorkError(f"{path.name} is no plan: {error}") from None
        return plan


_TUPLES = ("lever_m", "boresight_deg", "trajectories", "videos", "marks", "terrain")


def _near(
    legs: tuple[Column, Column, Column, Column],
    box: tuple[float, float, float, float],
    far_m: float,
) -> tuple[Column, Column, Column, Column]:
    """The legs that can be nearest to anything in a box that is not farther than that from all of
    them; all where that is none."""
    starts, ends, *_ = legs
    lowest, highest = np.minimum(starts, ends) - far_m, np.maximum(starts, ends) + far_m
    near = (lowest <= box[2:]).all(axis=1) & (highest >= box[:2]).all(axis=1)
    if not near.any():
        return legs
    return legs[0][near], legs[1][near], legs[2][near], legs[3][near]


def _nearest(
    legs: tuple[Column, Column, Column, Column], x: Column, y: Column
) -> tuple[Column, Column]:
    """The nearest place of the route, leg after leg; of two as near the earlier."""
    along, beside = np.zeros(len(x)), np.full(len(x), np.inf)
    for start, end, from_m, length in zip(*legs, strict=True):
        way = (end - start) / length
        east, north = x - start[0], y - start[1]
        place = np.clip(east * way[0] + north * way[1], 0, length)
        off = np.hypot(east - place * way[0], north - place * way[1])
        nearer = off < np.abs(beside)
        left = np.where(way[0] * north - way[1] * east >= 0, 1.0, -1.0)
        along[nearer] = from_m + place[nearer]
        beside[nearer] = (off * left)[nearer]
    return along, beside
