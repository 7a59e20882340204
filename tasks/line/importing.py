"""Import: what of a flight belongs to one tile, in the target reference system and in metres.

Takes the plan and the folder of the flight with ``-p`` and ``tile=3``. Leaves the tile's points with
its halo, the way of the aircraft while they were measured, the terrain of a map, and an index: what
was read, what was lived with, which second of which video, which photographs and which marks of the
operator lie here; and small pictures of those.

A flight is larger than memory, so points go through chunk by chunk; scans whose box does not touch
the tile are not opened. Points in the scanner's frame have no place yet: of these a tile takes what
was measured while the aircraft was near, and georeferencing cuts it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.inspection.conversation import Work, WorkError
from tasks.line.cloud import CHUNK_POINTS, Cloud, CloudWriter, Points
from tasks.line.crs import Change, Reference, named
from tasks.line.marks import Mark, read_marks
from tasks.line.photographs import Photograph
from tasks.line.plan import reference_of, target_of
from tasks.line.shots import SHOTS, write_shots
from tasks.line.terrain import cut_terrain
from tasks.line.tiles import Plan, Scan, Tile
from tasks.line.trajectory import (
    COLUMNS,
    STANDARD_S,
    Clock,
    Trajectory,
    on_clock,
    read_trajectory,
)
from tasks.line.video import read_video

Column = NDArray[np.float64]

POINTS, WAY, INDEX = "points.laz", "trajectory.csv", "index.json"
TERRAIN = "terrain.tif"
REACH_M = 400.0
"""How far ahead or behind itself an aircraft measures, at most."""
AROUND_S = 2.0
"""By how much the way is longer than the time in which a tile was measured."""
WGS84 = "EPSG:4326"


def do(work: Work) -> Sequence[str]:
    """Write points, way and index of a tile and return the files' names. Raises ``WorkError`` where
    something cannot be used, and ``CancelledError``."""
    plan, flight = told(work)
    tile = plan.tile(work.parameter("tile", 0))
    importer = _Import(work, plan, flight, tile)
    importer.points(Path(POINTS))
    importer.way(Path(WAY))
    importer.terrain(Path(TERRAIN))
    importer.index(Path(INDEX), Path(SHOTS))
    return POINTS, WAY, INDEX, TERRAIN, SHOTS


def told(work: Work) -> tuple[Plan, Path]:
    """Return the plan and the folder of the flight. Raises ``WorkError`` where one is missing."""
    folders = [each for each in work.raw if each.is_dir()]
    if len(folders) != 1:
        raise WorkError("one folder of a flight is wanted, given with -p")
    return plan_of(work), folders[0]


def plan_of(work: Work) -> Plan:
    """Return the plan among what was given. Raises ``WorkError`` where there is none."""
    files = [each for each in work.raw if each.is_file()]
    if len(files) != 1:
        raise WorkError("the plan is wanted, given with -p")
    return Plan.read(files[0])


class _Import:
    """The work of one tile, step after step."""

    def __init__(self, work: Work, plan: Plan, flight: Path, tile: Tile) -> None:
        self._work, self._plan, self._flight, self._tile = work, plan, flight, tile
        self._box = plan.box(tile)
        self._scans = [each for each in plan.scans if _touches(each, self._box)]
        self._survived: Counter[str] = Counter()
        self._read = self._kept = 0
        self._standard: bool | None = None
        self._times = (np.inf, -np.inf)
        self._target: Reference | None = None
        self._ways: list[Trajectory] | None = None

    def points(self, path: Path) -> None:
        west, south, east, north = self._box
        middle = ((west + east) / 2, (south + north) / 2, 0.0)
        wkt = self._plan.wkt if self._plan.frame == "ground" else ""
        offsets = middle if self._plan.frame == "ground" else (0.0, 0.0, 0.0)
        headers = [Cloud(self._flight / each.path).header for each in self._scans]
        kinds = {each.standard_time for each in headers}
        if len(kinds) > 1:
            raise WorkError(
                "scans of one tile tell their times in two ways, of the week and of GPS: "
                "write them anew in one"
            )
        self._standard = kinds.pop() if kinds else True
        with CloudWriter(path, offsets, wkt, standard_time=self._standard) as writer:
            for points in self._chosen():
                writer.write(points)
                self._kept += len(points)
                seen = points.gps_time[points.gps_time != 0]
                if len(seen):
                    low, high = self._times
                    self._times = (min(low, seen.min()), max(high, seen.max()))

    def _chosen(self) -> Iterator[Points]:
        wanted = sum(each.points for each in self._scans)
        for scan in self._scans:
            cloud = Cloud(self._flight / scan.path)
            choose = (
                self._by_time(cloud) if self._plan.frame == "scanner" else self._by_place(cloud)
            )
            for chunk in cloud.chunks(CHUNK_POINTS):
                self._read += len(chunk)
                self._work.progress(0.95 * self._read / max(wanted, 1))
                yield choose(chunk)
            self._survived += cloud.survived

    def _by_place(self, cloud: Cloud) -> Any:
        own = reference_of(cloud.header, self._plan)
        self._target = self._target or target_of(self._plan, own)
        way, plan, tile = Change(own, self._target), self._plan, self._tile
        west, south, east, north = self._box

        def choose(chunk: Points) -> Points:
            x, y, z = way(chunk.x, chunk.y, chunk.z)
            lost = ~(np.isfinite(x) & np.isfinite(y) & np.isfinite(z))
            self._survived["points that lie nowhere in the target system"] += int(lost.sum())
            near = ~lost & (x >= west) & (x <= east) & (y >= south) & (y <= north)
            along, beside = plan.chainage(x[near], y[near])
            kept = np.flatnonzero(near)[plan.inside(tile, along, beside)]
            places = {"x": x[kept], "y": y[kept], "z": z[kept]}
            return Points(**{**vars(chunk.at(kept)), **places})

        return choose

    def _by_time(self, cloud: Cloud) -> Any:
        clock: Clock = "gps" if cloud.header.standard_time else "week"
        spans = [self._near(way, clock) for way in self._trajectories()]
        offset = STANDARD_S if clock == "gps" else 0.0

        def choose(chunk: Points) -> Points:
            kept = np.zeros(len(chunk), bool)
            for time_s, near in spans:
                share = np.interp(chunk.gps_time + offset, time_s, near, 0.0, 0.0)
                kept |= share > 0
            return chunk.at(kept)

        return choose

    def _near(self, way: Trajectory, clock: Clock) -> tuple[Column, Column]:
        """When the aircraft was near enough to measure something of this tile."""
        x, y = self._placed(way.longitude_deg, way.latitude_deg)
        along, _ = self._plan.chainage(x, y)
        slack = self._plan.halo_m + REACH_M
        near = (along >= self._tile.first_m - slack) & (along <= self._tile.last_m + slack)
        return on_clock(way.time_s, way.clock, clock, self._day()), near.astype(np.float64)

    def _placed(self, longitude: Column, latitude: Column) -> tuple[Column, Column]:
        target = self._target or named(self._plan.target or self._plan.wkt, "")
        flat = Reference(target.horizontal, "metres")
        x, y, _ = Change(named(WGS84, "metres"), flat)(longitude, latitude, np.zeros(len(latitude)))
        return x, y

    def _trajectories(self) -> list[Trajectory]:
        if self._ways is None:
            self._ways = [read_trajectory(self._flight / each) for each in self._plan.trajectories]
            for each in self._ways:
                self._survived += each.survived
        return self._ways

    def _day(self) -> date | None:
        return date.fromisoformat(self._plan.date) if self._plan.date else None

    def way(self, path: Path) -> None:
        """Write the way while these points were measured, on their clock; without their times, the
        way above this tile."""
        clock: Clock = "gps" if self._standard else "week"
        parts: list[Trajectory] = []
        for way in self._trajectories():
            try:
                time_s = on_clock(way.time_s, way.clock, clock, self._day())
            except WorkError:
                self._survived["ways whose times cannot be told as those of the points"] += 1
                continue
            if np.isfinite(self._times).all():
                offset = STANDARD_S if clock == "gps" else 0.0
                first_s, last_s = (each + offset for each in self._times)
                on_it = Trajectory(**{**vars(way), "time_s": time_s, "clock": clock})
                parts.append(on_it.between(first_s - AROUND_S, last_s + AROUND_S))
            else:
                x, y = self._placed(way.longitude_deg, way.latitude_deg)
                inside = self._plan.inside(self._tile, *self._plan.chainage(x, y))
                columns = {name: getattr(way, name)[inside] for name in COLUMNS}
                columns["time_s"] = time_s[inside]
                parts.append(Trajectory(**columns, clock=clock))
        _joined(parts, clock).write(path)

    def terrain(self, path: Path) -> None:
        maps = [self._flight / each for each in self._plan.terrain]
        self._survived += cut_terrain(maps, self._box, self._plan.wkt, path)

    def index(self, path: Path, shots: Path) -> None:
        """Write what was read, and the small pictures that it names."""
        plan = self._plan
        videos = [found for name in plan.videos if (found := self._seen_by(name))]
        photographs = self._photographs()
        seconds_of: dict[str, Sequence[float]] = {
            each["file"]: [row[0] for row in each["seconds"]] for each in videos
        }
        taken = write_shots(
            shots, self._flight, self._tile.number, [each for each, _ in photographs],
            seconds_of, self._survived,
        )  # fmt: skip
        told = {
            "tile": self._tile.number,
            "scans": [each.path for each in self._scans],
            "points_read": self._read,
            "points": self._kept,
            "videos": videos,
            "photographs": [{"file": each.path, "x": x, "y": y} for each, (x, y) in photographs],
            "shots": taken,
            "marks": [row for name in plan.marks for row in self._marks(name)],
            "survived": dict(sorted((+self._survived).items())),
        }
        path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")

    def _seen_by(self, name: str) -> dict[str, Any] | None:
        """The seconds of a video that show this tile, with the place of the camera at each."""
        video = read_video(self._flight / name)
        self._survived += video.survived
        rows = self._inside(video.longitude_deg, video.latitude_deg)
        seconds = [[round(float(video.at_s[n]), 2), *place] for n, place in rows]
        return {"file": name, "seconds": seconds} if seconds else None

    def _photographs(self) -> list[tuple[Photograph, tuple[float, float]]]:
        """The photographs that were taken above this tile, with their places."""
        taken = self._plan.photographs
        return [(taken[n], (x, y)) for n, (x, y, *_) in self._those_inside(taken)]

    def _marks(self, name: str) -> list[dict[str, Any]]:
        marks, left_out = read_marks(self._flight / name)
        self._survived += left_out
        placed = [self._with_place(each) for each in marks]
        known = [each for each in placed if np.isfinite(each.latitude_deg)]
        self._survived["marks of the operator without a place"] += len(placed) - len(known)
        rows = self._those_inside(known)
        names = ("x", "y", "chainage_m", "offset_m")
        return [
            {"text": known[n].text, "file": name, **dict(zip(names, place, strict=True))}
            for n, place in rows
        ]

    def _with_place(self, mark: Mark) -> Mark:
        """The mark where the aircraft was at its time, if it does not say its place itself."""
        for way in [] if np.isfinite(mark.latitude_deg) else self._trajectories():
            try:
                time_s = on_clock(way.time_s, way.clock, "utc", self._day())
            except WorkError:
                continue
            if time_s[0] <= mark.time_s <= time_s[-1]:
                latitude = float(np.interp(mark.time_s, time_s, way.latitude_deg))
                longitude = float(np.interp(mark.time_s, time_s, way.longitude_deg))
                return mark._replace(latitude_deg=latitude, longitude_deg=longitude)
        return mark

    def _those_inside(self, known: Sequence[Mark | Photograph]) -> list[tuple[int, list[float]]]:
        """As ``_inside``, of what knows its own place."""
        return self._inside(
            np.array([each.longitude_deg for each in known]),
            np.array([each.latitude_deg for each in known]),
        )

    def _inside(self, longitude: Column, latitude: Column) -> list[tuple[int, list[float]]]:
        """Which of these places belong to this tile and no other, with place and chainage."""
        x, y = self._placed(longitude, latitude)
        along, beside = self._plan.chainage(x, y)
        own = (self._plan.owner(along) == self._tile.number) & np.isfinite(x)
        own &= np.abs(beside) <= self._plan.corridor_m
        columns = np.stack([x, y, along, beside], axis=1).round(2)
        return [(int(n), columns[n].tolist()) for n in np.flatnonzero(own)]


def _joined(parts: Sequence[Trajectory], clock: Clock) -> Trajectory:
    """One way of several, in the order of time; of what two tell at once the later file's goes."""
    columns = {
        name: np.concatenate([np.zeros(0), *(getattr(each, name) for each in parts)])
        for name in COLUMNS
    }
    _, order = np.unique(columns["time_s"], return_index=True)
    ordered: dict[str, Any] = {name: each[order] for name, each in columns.items()}
    return Trajectory(**ordered, clock=clock)


def _touches(scan: Scan, box: tuple[float, float, float, float]) -> bool:
    """Whether a scan may have points in a box; one of which nobody knows where it lies may."""
    if scan.box is None:
        return True
    west, south, east, north = scan.box
    return west <= box[2] and east >= box[0] and south <= box[3] and north >= box[1]
