"""Georeferencing: puts points of the scanner's frame in their place, and tells how good the way was.

A beam goes from the scanner, which is turned against the inertial unit (boresight) and sits beside
it (lever arm), from the unit, which is turned against the Earth (roll, pitch, heading), and from a
place above the ellipsoid. So a point is turned three times and moved twice; the last step is done
in coordinates of the whole Earth, that no grid is taken for true north. Between two records of the
way everything is taken as a straight line, the heading the short way round.

Points that say where they lie are passed on as they are, with the reason. The quality of each second
of the way is told in any case.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.inspection.conversation import Work, WorkError
from tasks.line.cloud import Cloud, CloudWriter, Points
from tasks.line.crs import Change, Reference, named, of_wkt
from tasks.line.importing import INDEX, POINTS, WAY, plan_of
from tasks.line.tiles import Plan
from tasks.line.trajectory import COLUMNS, STANDARD_S, Trajectory, read_written

Column = NDArray[np.float64]
Vectors = NDArray[np.float64]

QUALITY = "quality.csv"
GAP_S_MAX = 1.0
"""Between two records of the way; a place farther in between is none."""
EARTH = named("EPSG:4978", "ellipsoid")
GEOGRAPHIC = named("EPSG:4979", "")
SKIPPED = "the points say where they lie already, so nothing was turned"


def do(work: Work) -> Sequence[str]:
    """Write the tile's points in the target system, its way and the quality of each second, and
    return the files' names. Raises ``WorkError`` and ``CancelledError``."""
    plan = plan_of(work)
    points, way = work.input(0, "points"), read_written(work.input(1, "the way"))
    done: dict[str, object] = {"skipped": SKIPPED}
    if plan.frame == "ground":
        shutil.copyfile(points, POINTS)
    else:
        done = _turn_all(work, plan, points, way)
    shutil.copyfile(work.inputs[1], WAY)
    counts = _write_quality(Path(QUALITY), Path(POINTS), way)
    Path(INDEX).write_text(json.dumps({**done, **counts}, indent=1) + "\n", "utf-8")
    return POINTS, WAY, QUALITY, INDEX


def _turn_all(work: Work, plan: Plan, path: Path, way: Trajectory) -> dict[str, object]:
    if not way.has_attitudes:
        raise WorkError("points in the scanner's frame need a way with attitudes, such as an SBET")
    tile = plan.tile(work.parameter("tile", 0))
    target = replace(of_wkt(plan.wkt), heights=plan.heights or "ellipsoid")
    west, south, east, north = plan.box(tile)
    cloud, lost = Cloud(path), 0
    with CloudWriter(
        Path(POINTS),
        ((west + east) / 2, (south + north) / 2, 0.0),
        plan.wkt,
        standard_time=cloud.header.standard_time,
    ) as writer:
        for chunk in cloud.chunks():
            work.progress(0.5)
            placed, known = georeferenced(chunk, way, target, plan)
            lost += int((~known).sum())
            along, beside = plan.chainage(placed.x, placed.y)
            writer.write(placed.at(plan.inside(tile, along, beside)))
    return {"points_without_a_way": lost}


def georeferenced(
    points: Points, way: Trajectory, target: Reference, plan: Plan
) -> tuple[Points, NDArray[np.bool_]]:
    """Return the points of the scanner's frame in the target system, and which of those given they
    are: those at a time of which the way is known."""
    time_s = _time_s(points, way)
    known = _known(time_s, way)
    points, time_s = points.at(known), time_s[known]
    beams = np.stack([points.x, points.y, points.z], axis=1)
    body = beams @ boresight(plan.boresight_deg).T + np.array(plan.lever_m)
    place = interpolated(way, time_s)
    north_east_down = np.einsum("nji,nj->ni", body_from_ned(place), body)
    earth = _earth(place) + np.einsum("nij,nj->ni", earth_from_ned(place), north_east_down)
    x, y, z = Change(EARTH, target)(*earth.T)
    return replace(points, x=x, y=y, z=z), known


def interpolated(way: Trajectory, time_s: Column) -> dict[str, Column]:
    """Return every column of the way at these times."""
    found = {name: np.interp(time_s, way.time_s, getattr(way, name)) for name in COLUMNS}
    for name in ("longitude_deg", "heading_rad"):
        turn = 360.0 if name.endswith("deg") else 2 * np.pi
        steady = np.unwrap(getattr(way, name), period=turn)
        found[name] = np.interp(time_s, way.time_s, steady)
    return found


def body_from_ned(place: dict[str, Column]) -> Vectors:
    """Return the turn from north, east, down into the body, for each place: roll after pitch after
    heading."""
    turned: Vectors = _x(place["roll_rad"]) @ _y(place["pitch_rad"]) @ _z(place["heading_rad"])
    return turned


def boresight(degrees: Sequence[float]) -> Vectors:
    """Return the turn from the scanner into the body: roll, pitch and heading of the scanner."""
    roll, pitch, heading = (np.array([np.radians(each)]) for each in degrees)
    turned: Vectors = (_x(roll) @ _y(pitch) @ _z(heading))[0].T
    return turned


def earth_from_ned(place: dict[str, Column]) -> Vectors:
    """Return the turn from north, east, down into the coordinates of the whole Earth."""
    latitude, longitude = np.radians(place["latitude_deg"]), np.radians(place["longitude_deg"])
    north = -np.sin(latitude)
    zero = np.zeros(len(latitude))
    rows = [
        [north * np.cos(longitude), -np.sin(longitude), -np.cos(latitude) * np.cos(longitude)],
        [north * np.sin(longitude), np.cos(longitude), -np.cos(latitude) * np.sin(longitude)],
        [np.cos(latitude), zero, north],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def _turn(angle: Column, first: int, second: int) -> Vectors:
    """Turns of the frame in the plane of two axes, one for each angle."""
    turns = np.tile(np.eye(3), (len(angle), 1, 1))
    turns[:, first, first] = turns[:, second, second] = np.cos(angle)
    turns[:, first, second] = np.sin(angle)
    turns[:, second, first] = -np.sin(angle)
    return turns


def _x(angle: Column) -> Vectors:
    return _turn(angle, 1, 2)


def _y(angle: Column) -> Vectors:
    return _turn(angle, 2, 0)


def _z(angle: Column) -> Vectors:
    return _turn(angle, 0, 1)


def _earth(place: dict[str, Column]) -> Vectors:
    way = Change(GEOGRAPHIC, EARTH)
    told = way(place["longitude_deg"], place["latitude_deg"], place["height_m"])
    return np.stack(told, axis=1)


def _time_s(points: Points, way: Trajectory) -> Column:
    return points.gps_time + (STANDARD_S if way.clock == "gps" else 0.0)


def _known(time_s: Column, way: Trajectory) -> NDArray[np.bool_]:
    """Which times lie between two records of the way that are near each other."""
    if len(way) < 2:
        return np.zeros(len(time_s), bool)
    behind = np.clip(np.searchsorted(way.time_s, time_s), 1, len(way) - 1)
    near = way.time_s[behind] - way.time_s[behind - 1] <= GAP_S_MAX
    known: NDArray[np.bool_] = near & (time_s >= way.time_s[0]) & (time_s <= way.time_s[-1])
    return known


def _write_quality(path: Path, points: Path, way: Trajectory) -> dict[str, int]:
    """Write for each second of the way how many records and points there are, the longest gap, how
    sure the place is and how fast it went; return in how many seconds something is wanting."""
    measured = _per_second(points, way)
    seconds = np.floor(way.time_s).astype(np.int64)
    gaps = np.concatenate([np.diff(way.time_s), [0.0]])
    place = _earth({name: getattr(way, name) for name in COLUMNS}) if len(way) else np.zeros((0, 3))
    metres = np.concatenate([np.linalg.norm(np.diff(place, axis=0), axis=1), [0.0]])
    wanting = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["second", "records", "longest_gap_s", "sigma_m", "speed_m_s", "points"])
        for second in np.unique(seconds):
            own = seconds == second
            gap, went_s = gaps[own].max(), gaps[own].sum()
            wanting += bool(gap > GAP_S_MAX)
            known = way.sigma_m[own][np.isfinite(way.sigma_m[own])]
            writer.writerow(
                [
                    int(second),
                    int(own.sum()),
                    f"{gap:.3f}",
                    f"{known.max():.3f}" if len(known) else "",
                    f"{metres[own].sum() / went_s:.1f}" if went_s > 0 else "",
                    measured.get(int(second), 0),
                ]
            )
    return {"seconds": len(np.unique(seconds)), "seconds_with_a_gap": wanting}


def _per_second(path: Path, way: Trajectory) -> dict[int, int]:
    found: dict[int, int] = {}
    for chunk in Cloud(path).chunks():
        seconds, counts = np.unique(
            np.floor(_time_s(chunk, way)).astype(np.int64), return_counts=True
        )
        for second, count in zip(seconds.tolist(), counts.tolist(), strict=True):
            found[second] = found.get(second, 0) + count
    return found
