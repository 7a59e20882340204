"""Makes the plan of an inspection from the folder of a flight, and the workflow that works it.

    wingbeat inspect FLIGHT --route route.gpkg --crs EPSG:28992 --heights EPSG:5709

Every file of the flight is looked at as far as the plan needs it: headers of scans, whole
trajectories. Whatever cannot be used is told at once, all of it, and then there is no plan: a file
that is left out in silence is a gap in the line that nobody sees. What is no part of a flight is
counted and passed by.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from tasks.inspection.conversation import WorkError
from tasks.line import routes
from tasks.line.cloud import Cloud
from tasks.line.crs import AskedError, Change, Reference, named, of_scan
from tasks.line.las_header import LasHeader
from tasks.line.marks import read_marks
from tasks.line.photographs import Photograph, place_of
from tasks.line.sentences import Said, in_parts, said, sentence_of
from tasks.line.terrain import look_at_terrain
from tasks.line.tiles import CORRIDOR_M, HALO_M, TILE_M, Plan, Scan
from tasks.line.trajectory import read_trajectory
from tasks.line.video import read_video
from tasks.line.workflow import STEPS, name_of, write_workflow

KINDS = {
    "scans": (".las", ".laz"),
    "trajectories": (".sbet", ".out", ".pos", ".nmea", ".gpx"),
    "videos": (".mp4", ".mov"),
    "photographs": (".jpg", ".jpeg"),
    "marks": (".csv",),
    "terrain": (".tif", ".tiff"),
    "routes": routes.SUFFIXES,
}
MARKS_OF_GPX = "marks"
"""A GPX whose name says so is of marks and no way."""
FILES_MAX = 100_000
AXIS_POINTS = 500_000
TILE_M_MIN, METRES_MAX = 20.0, 100_000.0


class PlanError(WorkError):
    """All that stands against a plan, a sentence each, and what a person has to say for some."""

    def __init__(self, faults: Sequence[str], asks: Sequence[str] = ()) -> None:
        self.faults, self.asks = tuple(faults), tuple(asks)
        super().__init__("; ".join(faults))


def make_plan(flight: Path, wanted: Plan, route: Path | None = None, route_crs: str = "") -> Plan:
    """Return the plan for everything in a folder, with what ``wanted`` says of reference systems,
    frame and tiles. Raises ``PlanError`` with all that stands against it, and ``OSError``."""
    found = files_of(flight)
    faults: list[str] = []
    survived: Counter[str] = Counter(wanted.survived)
    headers = _headers(flight, found["scans"], faults, survived)
    for name in found["trajectories"] + found["marks"] + found["videos"] + found["terrain"]:
        try:
            _look_at(flight / name, survived)
        except WorkError as error:
            faults.append(sentence_of(error))
    photographs = _photographs(flight, found["photographs"], faults, survived)
    if not found["scans"]:
        no_scan = said("{file}: there is no scan, no file named .las or .laz", file=flight.name)
        faults.append(no_scan)
    if faults:
        raise PlanError(faults)
    target, scans = _target(headers, wanted)
    maps = [route] if route else [flight / name for name in found["routes"]]
    if len(maps) > 1:
        many = said("there are {count} maps: name the one with --route", count=len(maps))
        raise PlanError([many], ["route"])
    if maps:
        parts, left_out = routes.read_route(maps[0], target, route_crs)
        survived += left_out
    else:
        parts = _axis(headers, wanted, target)
        survived[said("no route was named: tiles lie along the principal axis")] = 1
    return replace(
        wanted,
        name=wanted.name or flight.name,
        route=parts,
        wkt=target.wkt(),
        scans=scans,
        survived=dict(sorted(survived.items())),
        trajectories=tuple(found["trajectories"]),
        videos=tuple(found["videos"]),
        photographs=photographs,
        marks=tuple(found["marks"]),
        terrain=tuple(found["terrain"]),
    )


def files_of(flight: Path) -> dict[str, list[str]]:
    """Return the files below a folder by their kind, as paths from it, in order; hidden ones and
    links out of it are passed by. Raises ``PlanError`` where there are too many or there is no
    folder."""
    if not flight.is_dir():
        raise PlanError([said("{folder} is no folder", folder=flight)])
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    kind_of = {suffix: kind for kind, suffixes in KINDS.items() for suffix in suffixes}
    inside = flight.resolve()
    for count, path in enumerate(sorted(flight.rglob("*"))):
        if count > FILES_MAX:
            raise PlanError(
                [
                    said(
                        "{folder} has more than {most} files: name one flight",
                        folder=flight.name,
                        most=FILES_MAX,
                    )
                ]
            )
        name = path.relative_to(flight).as_posix()
        if name.startswith(".") or "/." in name or not path.is_file():
            continue
        if not path.resolve().is_relative_to(inside):
            continue
        kind = kind_of.get(path.suffix.lower())
        if kind == "trajectories" and path.suffix.lower() == ".gpx" and MARKS_OF_GPX in path.stem:
            kind = "marks"
        if kind:
            found[kind].append(name)
    return found


def reference_of(header: LasHeader, plan: Plan) -> Reference:
    """Return the reference system of a scan, by its own word or the plan's. Raises ``WorkError``
    where neither says it."""
    try:
        return of_scan(header).completed(plan.crs, plan.heights)
    except AskedError as error:
        raise AskedError(error.asks, _of(header, error)) from None
    except WorkError as error:
        raise WorkError(_of(header, error)) from None


def _of(header: LasHeader, error: WorkError) -> str:
    return said("{file}: {why}", file=header.path.name, why=sentence_of(error))


def target_of(plan: Plan, first: Reference) -> Reference:
    """Return the system in which everything is worked, in metres: the one that the plan names, or
    that of the first scan. Raises ``WorkError``."""
    if not plan.target:
        return first.in_metres()
    told = named(plan.target, "")
    return Reference(told.horizontal, told.heights or first.heights_in_metres).in_metres()


def _headers(
    flight: Path, names: Sequence[str], faults: list[str], survived: Counter[str]
) -> list[tuple[str, LasHeader]]:
    found = []
    for name in names:
        try:
            cloud = Cloud(flight / name)
        except WorkError as error:
            faults.append(sentence_of(error))
            continue
        survived += cloud.survived
        found.append((name, cloud.header))
    return found


def _photographs(
    flight: Path, names: Sequence[str], faults: list[str], survived: Counter[str]
) -> tuple[Photograph, ...]:
    found = []
    for name in names:
        try:
            place = place_of(flight / name)
        except WorkError as error:
            faults.append(sentence_of(error))
            continue
        if place:
            found.append(Photograph(name, *place))
        else:
            survived[said("photographs that do not say where they were taken")] += 1
    return tuple(found)


def _look_at(path: Path, survived: Counter[str]) -> None:
    suffix = path.suffix.lower()
    if suffix in KINDS["terrain"]:
        look_at_terrain(path)
    elif suffix in KINDS["videos"]:
        survived += read_video(path).survived
    elif suffix in KINDS["marks"] or MARKS_OF_GPX in path.stem:
        survived += read_marks(path)[1]
    else:
        survived += read_trajectory(path).survived


def _target(
    headers: Sequence[tuple[str, LasHeader]], wanted: Plan
) -> tuple[Reference, tuple[Scan, ...]]:
    faults: list[str] = []
    asks: list[str] = []
    target: Reference | None = None
    scans = []
    for name, header in headers:
        try:
            own = _own(header, wanted)
            target = target or target_of(wanted, own)
            box = None if wanted.frame == "scanner" else _box(header, Change(own, target))
            scans.append(Scan(name, header.points, box))
        except WorkError as error:
            faults.append(sentence_of(error))
            asks += [error.asks] if isinstance(error, AskedError) else []
    if faults or target is None:
        raise PlanError(list(dict.fromkeys(faults)), list(dict.fromkeys(asks)))
    return target, tuple(scans)


def _own(header: LasHeader, plan: Plan) -> Reference:
    """Of points in the scanner's frame the target is what has to be named."""
    if plan.frame != "scanner":
        return reference_of(header, plan)
    if not plan.target:
        sentence = said("points in the scanner's frame have to go somewhere: --target EPSG:…")
        raise AskedError("target", sentence)
    return named(plan.target, plan.heights or "ellipsoid")


def _box(header: LasHeader, way: Change) -> tuple[float, float, float, float] | None:
    """Where a scan says that it lies, in the target system; None where that cannot be."""
    (west, south, _), (east, north, _) = header.least, header.most
    if not (west <= east and south <= north and np.isfinite([west, south, east, north]).all()):
        return None
    xs, ys = np.meshgrid(np.linspace(west, east, 5), np.linspace(south, north, 5))
    x, y, _ = way(xs.ravel(), ys.ravel(), np.zeros(xs.size))
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())


def _axis(
    headers: Sequence[tuple[str, LasHeader]], wanted: Plan, target: Reference
) -> routes.Route:
    """The principal axis of every so many points, that no more than some are in memory."""
    if wanted.frame == "scanner":
        sentence = said("points in the scanner's frame need a route: name it with --route")
        raise PlanError([sentence], ["route"])
    every = max(1, sum(header.points for _, header in headers) // AXIS_POINTS)
    xs, ys = [], []
    for _, header in headers:
        way = Change(reference_of(header, wanted), target)
        for chunk in Cloud(header.path).chunks():
            some = chunk.at(slice(None, None, every))
            x, y, _ = way(some.x, some.y, some.z)
            xs.append(x.copy())  # what came may be a view, which keeps the whole chunk
            ys.append(y.copy())
    return routes.principal_axis(np.concatenate(xs), np.concatenate(ys))


@dataclass(frozen=True)
class Found:
    """What comes of looking at a flight: its plan, or all that stands against one, and the words for
    what no file says and a person has to (``asks``)."""

    files: dict[str, int]
    plan: Plan | None = None
    faults: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    size_bytes: int = 0

    def told(self, workflow: Path | None) -> dict[str, object]:
        """Return what was found as a JSON document for the window and for `wingbeat inspect`;
        ``workflow`` is the path of the one written, if any."""
        told: dict[str, object] = {"files": self.files, "faults": self.faults, "asks": self.asks}
        told["said"] = [in_parts(each) for each in self.faults if isinstance(each, Said)]
        if self.plan is None:
            return told
        points = sum(scan.points for scan in self.plan.scans)
        made = {"tiles": self.plan.count, "length_m": round(self.plan.length_m), "points": points}
        lived_with = {"survived": self.plan.survived, "steps": STEPS}
        name = name_of(self.plan)
        made["size_bytes"] = self.size_bytes
        return {**told, **made, **lived_with, "name": name, "workflow": str(workflow or "")}


def look(flight: Path, wanted: Plan, route: Path | None = None, route_crs: str = "") -> Found:
    """Return what was found in a flight's folder and the plan for it; faults of the flight are told
    in the answer, also where a file cannot be read."""
    files: dict[str, int] = {}
    try:
        found = files_of(flight)
        files = {kind: len(names) for kind, names in found.items()}
        sizes = ((flight / each).stat().st_size for names in found.values() for each in names)
        size_bytes = sum(sizes)
        return Found(files, make_plan(flight, wanted, route, route_crs), size_bytes=size_bytes)
    except PlanError as error:
        return Found(files, None, error.faults, error.asks)
    except (WorkError, OSError) as error:
        asks = (error.asks,) if isinstance(error, AskedError) else ()
        return Found(files, None, (sentence_of(error),), asks)


def main(arguments: Sequence[str]) -> int:
    """Make the plan that the arguments ask for, tell of it, and return the exit code."""
    told = vars(_parser().parse_args(arguments))
    flight, out, route = told.pop("flight"), told.pop("out"), told.pop("route")
    route_crs, share, as_json = told.pop("route_crs"), told.pop("share"), told.pop("json")
    told |= {name: tuple(told[name]) for name in ("lever_m", "boresight_deg")}
    if wrong := tuple(_wrong(told)):
        found = Found({}, faults=wrong)
    else:
        found = look(flight, Plan(route=(), wkt="", **told), route, route_crs)
    path = None
    if found.plan is not None and out is not None:
        try:
            path = write_workflow(found.plan, flight, out, share)
        except OSError as error:
            sentence = said(
                "{file} cannot be written: {error}",
                file=error.filename or out,
                error=error.strerror or error,
            )
            found = replace(found, plan=None, faults=(sentence,))
    if as_json:
        sys.stdout.write(json.dumps(found.told(path)) + "\n")
    elif found.plan is None:
        sys.stderr.writelines(f"{each}\n" for each in found.faults)
    else:
        _tell(found.plan, path)
    return 0 if found.plan is not None else 1


def _wrong(told: dict[str, Any]) -> Iterator[str]:
    """What cannot be meant, of what a person says of any flight."""
    try:
        date.fromisoformat(told["date"] or "2026-01-01")
    except ValueError:
        yield said("{date} is no day: say it as 2026-05-04", date=repr(told["date"]))
    for name, least in (("tile_m", TILE_M_MIN), ("halo_m", 0.0), ("corridor_m", 1.0)):
        if not least <= told[name] <= METRES_MAX:
            yield said(
                "{name} is {length} m and has to be {least} to {most} m",
                name=name.removesuffix("_m"),
                length=f"{told[name]:g}",
                least=f"{least:g}",
                most=f"{METRES_MAX:g}",
            )
    if not np.isfinite([*told["lever_m"], *told["boresight_deg"]]).all():
        yield said("lever arm and boresight have to be numbers")


def _tell(plan: Plan, path: Path | None) -> None:
    points = sum(scan.points for scan in plan.scans)
    scans = f"{points} points in {len(plan.scans)} scans"
    where = f": {path}" if path else ""
    sys.stdout.write(f"{plan.count} tiles along {plan.length_m:.0f} m, {scans}{where}\n")
    sys.stdout.writelines(f"  {count} {what}\n" for what, count in plan.survived.items())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tasks.line.plan", description=__doc__)
    parser.add_argument("flight", type=Path)
    parser.add_argument("--out", type=Path, help="where plan and workflow go; else nothing is made")
    parser.add_argument("--share", default="", help="the flight within a share, as flights/line-7")
    parser.add_argument("--json", action="store_true", help="tell it for programs")
    parser.add_argument("--route", type=Path, help="the map of the line")
    for name in ("route-crs", "crs", "heights", "target", "date", "name"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--frame", choices=("ground", "scanner"), default="ground")
    for name in ("lever-m", "boresight-deg"):
        parser.add_argument(f"--{name}", type=float, nargs=3, default=(0.0, 0.0, 0.0))
    for name, default in (("tile-m", TILE_M), ("halo-m", HALO_M), ("corridor-m", CORRIDOR_M)):
        parser.add_argument(f"--{name}", type=float, default=default)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
