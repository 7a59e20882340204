"""What the steps before the report would leave of a line that nobody built: with a bend, towers every
300 m, three wires at 14 m above level ground, and points of interest at known places below them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tasks.line.annotations import ANNOTATIONS
from tasks.line.corridor import Clearance, Corridor
from tasks.line.crs import named
from tasks.line.curve import Curve
from tasks.line.joining import TOWER_KIND, Line, Point, id_of, write_points
from tasks.line.tiles import Plan, Scan
from tasks.line.towers import Tower

NAME = "line 7"
WEST, SOUTH, GROUND_M = 500_000.0, 3_318_000.0, 50.0
SPAN_M, WIRE_M, TENSION_M = 300.0, 14.0, 1_200.0
ASIDES = (-7.0, 0.0, 7.0)
SYSTEM = named("EPSG:32617", "ellipsoid")
WAYS = (np.array([np.cos(0.5), np.sin(0.5)]), np.array([np.cos(0.9), np.sin(0.9)]))
KINDS = ("vegetation", "vegetation", "building", "ground", "crossing")
DONE = {3: "cut now", 2: "this season", 1: "watch", 0: "watch"}


@dataclass
class MadeReport:
    """The inputs of a report as files, and what is true of them."""

    paths: list[Path]
    plan: Plan
    line: Line
    annotations: list[dict[str, Any]] = field(default_factory=list)


def made_report(
    folder: Path, *, spans: int = 4, points: int = 20, words: str = "", notes: Any = ()
) -> MadeReport:
    """Write the inputs of a report. ``words`` stand wherever anybody's words can."""
    feet = [np.array([WEST, SOUTH])]
    for number in range(spans):
        feet.append(feet[-1] + SPAN_M * WAYS[int(number >= spans / 2)])
    bend = feet[(spans + 1) // 2]
    route = tuple((float(x), float(y)) for x, y in (feet[0], bend, feet[-1]))
    scans = (Scan("scan.laz", 1_000_000),)
    survived = {"boxes that say what cannot be": 2}
    plan = Plan(
        words or NAME, (route,), SYSTEM.wkt(), scans=scans, survived=survived, date="2026-05-31"
    )
    line = _line(words or NAME, feet, points, words)
    made = MadeReport([folder / "plan.json", folder / "line.json"], plan, line)
    plan.write(made.paths[0])
    write_points(made.paths[1], words or NAME, line, _former(words), True, 110.0, {})
    for tile in range(plan.count):
        made.paths += _tile(folder, plan, tile, words)
    if notes:
        made.paths.append(folder / ANNOTATIONS)
        made.paths[-1].write_text(json.dumps({"annotations": list(notes)}))
    return made


def _line(name: str, feet: list[Any], points: int, words: str) -> Line:
    curves, wires, towers = [], [], []
    sag = 1.0 / (2.0 * TENSION_M)
    for number, (start, end) in enumerate(pairwise(feet)):
        way, middle, half = (end - start) / SPAN_M, (start + end) / 2, SPAN_M / 2
        base = GROUND_M + WIRE_M - sag * half * half
        for at, aside in enumerate(ASIDES):
            frame = (float(middle[0]), float(middle[1])), (float(way[0]), float(way[1]))
            curves.append(Curve(*frame, -half, half, (0.0, 0.0, aside), (sag, 0.0, base), 0.05))
            wires.append(len(ASIDES) * number + at)
    for foot, way in zip(feet, [*np.diff(feet, axis=0) / SPAN_M, WAYS[1]], strict=True):
        x, y = (float(each) for each in foot)
        towers.append(Tower(x, y, GROUND_M, GROUND_M + 18.0, (float(way[0]), float(way[1])), 8.0))
    found = [_point(name, n, points, curves, words) for n in range(points)]
    for number, tower in enumerate(towers, 1):
        place = tower.x, tower.y, tower.foot_m
        told = id_of(name, TOWER_KIND, place), TOWER_KIND, place, f"T{number}"
        found.append(Point(*told, None, None, None, 0, "watch"))
    return Line(tuple(curves), tuple(wires), tuple(towers), tuple(found), ())


def _point(name: str, number: int, count: int, curves: list[Curve], words: str) -> Point:
    """Below a wire, so far along the line as its number says."""
    share = (number + 0.5) / count * len(curves) / len(ASIDES)
    span = int(share)
    wire = span * len(ASIDES) + number % len(ASIDES)
    curve = curves[wire]
    at = curve.places(np.array([curve.start_m + (share - span) * curve.length_m]))[0]
    down = 0.5 + 4.4 * ((number * 7) % count) / count
    kind, relevance = KINDS[number % len(KINDS)], 3 - number % 4
    place = round(float(at[0]), 3), round(float(at[1]), 3), round(float(at[2]) - down, 3)
    on_wire = (*(round(float(each), 3) for each in at),)
    return Point(
        id_of(name, kind, place), words or kind, place, f"T{span + 1}-T{span + 2}", wire,
        (on_wire[0], on_wire[1], on_wire[2]), round(down, 2), relevance, words or DONE[relevance],
    )  # fmt: skip


def _former(words: str) -> list[Point]:
    place = (WEST + 5.0, SOUTH + 5.0, GROUND_M)
    return [
        Point("f0f0f0f0f0", "vegetation", place, "T1-T2", None, None, 1.0, 3, words or "cut now")
    ]


def _tile(folder: Path, plan: Plan, tile: int, words: str) -> list[Path]:
    """Corridor, indexes and quality of a tile."""
    names = ("corridor", "import", "georeference")
    paths = [folder / f"{name}-{tile}.json" for name in names] + [folder / f"quality-{tile}.csv"]
    first, route = plan.tile(tile), np.array(plan.route[0])
    along = np.arange(first.first_m, first.last_m, 2.0)
    middle = float(np.hypot(*(route[1] - route[0])))
    place = np.where(
        along[:, None] < middle, route[0] + along[:, None] * WAYS[0],
        route[1] + (along[:, None] - middle) * WAYS[1],
    )  # fmt: skip
    way = np.where(along[:, None] < middle, WAYS[0], WAYS[1])
    rows = []
    for aside in np.arange(-12.0, 13.0, 2.0):
        flat = place + aside * np.column_stack([-way[:, 1], way[:, 0]])
        tall = np.where((along % 60 < 20) & (abs(aside) > 6), GROUND_M + 7.0, np.nan)
        level, none = np.full(len(along), GROUND_M), np.full(len(along), np.nan)
        rows.append(np.column_stack([flat.round(2), level, tall, none]))
    here = tuple(float(each) for each in (*place[len(place) // 2], GROUND_M))
    near = Clearance("ground", 9.0, (here[0], here[1], here[2]), (here[0], here[1], GROUND_M + 9.0))
    counts = {2: 90_000, 5: 8_000, 14: 900, 15: 100}
    cells = np.concatenate(rows)
    Corridor(tile, 100_000, 12.5, False, counts, 5.0, cells, (near,)).write(paths[0])
    seconds = [[float(n), float(x), float(y), 0.0, 0.0] for n, (x, y) in enumerate(place[::10])]
    mark = {
        "text": words or "tree",
        "file": "marks.csv",
        "x": here[0],
        "y": here[1],
        "chainage_m": 1.0,
    }
    told = {
        "tile": tile, "scans": ["scan.laz"], "points_read": 120_000, "points": 100_000,
        "videos": [{"file": words or "film.mp4", "seconds": seconds}], "marks": [mark],
        "survived": {words or "points without a time": 3},
    }  # fmt: skip
    paths[1].write_text(json.dumps(told))
    paths[2].write_text(json.dumps({"skipped": words, "seconds": 5, "seconds_with_a_gap": 1}))
    lines = ["second,records,longest_gap_s,sigma_m,speed_m_s,points"]
    lines += [f"{400_000 + 10 * tile + n},200,0.005,{0.02 + 0.03 * n:.3f},30.0,9" for n in range(5)]
    paths[3].write_text("\n".join(lines) + "\n")
    return paths


def moved(line: Line, by: tuple[float, float, float]) -> Line:
    """The same line as other parameters would tell of it: every point a little elsewhere, with
    another id."""
    points = []
    for each in line.points:
        x, y, z = (a + b for a, b in zip(each.place, by, strict=True))
        points.append(replace(each, id=id_of("anew", each.kind, (x, y, z)), place=(x, y, z)))
    return replace(line, points=tuple(points))
