"""How well real scans are read: wires, towers, ground, buildings, vegetation, and how long it takes.

From the labelled scans of ``../shared/data/lidar``; without them there is nothing to measure. Points
of class 1 count nowhere but for wires, where only those within 1.5 m of a labelled wire are left out.
Roofs are learned anew without the scan that they are measured on. Nothing of the scans with wires was
held out while thresholds were found; what was changed or made (``inspection_changed``) tells how far
they depend on these scans.
"""

from __future__ import annotations

import sys
import time
from statistics import fmean
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tasks.line.cloud import Points
from tasks.line.roofs import Roofs
from tasks.line.scene import BUILDING, GROUND, TOWER, WIRE, Scene, scene_of
from tasks.line.shapes import Echoes
from tests.bench import inspection_report
from tests.bench.inspection_changed import CHANGES, TURNS_DEG, made_above_quebec
from tests.bench.inspection_learning import learned_from, lessons_of
from tests.bench.inspection_obstacles import obstacles_told
from tests.bench.inspection_scans import FOLDER, NEGATIVES, TRUTH, WIRES, Scan, scan
from tests.bench.report import Figures, Sheet, Verdict
from tests.tasks.made_line import KINDS
from tests.tasks.made_objects import OBJECTS, made_objects

WHAT: Final = "wires, towers, ground, buildings, vegetation of labelled scans; the report of a line"

LEAVES: Final = (3, 4, 5)
UNKNOWN: Final = (0, 1, 7, 64, 65, 66, 67)
SHARES: Final = {1.0: 0.96, 0.25: 0.93, 0.125: 0.80}
BESIDE_M: Final = 1.5
DENSITIES: Final = (5.0, 15.0)
BARE: Final = "a piece without a tower"
OBSTACLE_COLUMNS: Final = ["scan", "share", "told", "missed", "none", "off"]
OBSTACLE_LIMITS: Final = (
    ("obstacles missed", "missed", 0),
    ("obstacles that are none", "none", 1),
    ("obstacles with a distance off by more than 0.25 m", "off", 0),
)
COLUMNS: Final = ["scan", "share", "wires", "towers", "sites", "ground", "s/M", "wire points"]

Mask = NDArray[np.bool_]


def measure(*, quick: bool) -> Figures:
    """Measure all of it; ``quick``: one scan with wires, one without."""
    if not FOLDER.is_dir():
        sys.exit("the labelled scans are not there: ../shared/data/lidar is looked for")
    shares = (1.0,) if quick else tuple(SHARES)
    wires = [_line(name, share) for name in WIRES[: 1 if quick else None] for share in shares]
    negatives = [_line(name, 1.0) for name in NEGATIVES[: 1 if quick else None]]
    names = WIRES[: 1 if quick else None]
    return {
        "lines": wires,
        "negatives": negatives,
        "roofs": [] if quick else _roofs(),
        "changed": [_judged(CHANGES[how](scan(n)), n, how) for how in CHANGES for n in names],
        "made": [_made(kind, turn) for kind in KINDS for turn in TURNS_DEG[: 1 if quick else None]],
        "things": [_thing(kind, each) for kind in OBJECTS for each in DENSITIES],
        "obstacles": [_obstacles(name, share) for name in names for share in (1.0, 0.25)],
        "report": inspection_report.measured(quick=quick),
    }


def judge(figures: Figures) -> list[Verdict]:
    """Hold what was measured against the limits."""
    lines, roofs = figures["lines"], figures["roofs"]
    whole = [each for each in lines if each["share"] == 1.0]
    told = [
        Verdict(
            f"wires, {each['scan']}, {each['share']:g}",
            each["wires"],
            SHARES[each["share"]],
            at_least=True,
        )
        for each in lines
    ]
    told.append(Verdict("wires, mean", fmean(e["wires"] for e in whole), 0.97, at_least=True))
    told += [Verdict(f"towers, {e['scan']}", e["towers"], 0.92, at_least=True) for e in whole]
    told.append(
        Verdict("wire points where none hangs", sum(e["found"] for e in figures["negatives"]), 0)
    )
    told.append(Verdict("time", max(e["seconds"] for e in whole), 8.0, "s/M"))
    grounds = [each["ground"] for each in whole + roofs]
    told.append(Verdict("ground, least", min(grounds), 0.93, at_least=True))
    told.append(Verdict("ground, mean", fmean(grounds), 0.97, at_least=True))
    told += _judged_elsewhere(figures)
    if roofs:
        leaves = [each["leaves"] for each in roofs if each["leaves"] is not None]
        told.append(
            Verdict("buildings, mean", fmean(e["buildings"] for e in roofs), 0.90, at_least=True)
        )
        told.append(Verdict("vegetation, mean", fmean(leaves), 0.88, at_least=True))
    return told + inspection_report.verdicts(figures["report"])


def _judged_elsewhere(figures: Figures) -> list[Verdict]:
    """The limits of what was changed or made, and of obstacles."""
    changed, made = figures["changed"], figures["made"]
    told = [
        Verdict(f"wires, {how}, least", least, 0.95, at_least=True)
        for how in CHANGES
        for least in [min(each["wires"] for each in changed if each["share"] == how)]
    ]
    told += [
        Verdict(f"wires, made above Quebec, {kind}", least, 0.90, at_least=True)
        for kind in KINDS
        for least in [min(each["wires"] for each in made if each["scan"] == kind)]
    ]
    bare = [each["sites"] for each in changed if each["share"] == BARE]
    told.append(Verdict("towers where none stands", sum(bare), 0))
    told.append(Verdict("wire points on things", sum(e["found"] for e in figures["things"]), 0))
    for what, key, most in OBSTACLE_LIMITS:
        told.append(Verdict(what, sum(each[key] for each in figures["obstacles"]), most))
    return told


def sheets(figures: Figures) -> list[Sheet]:
    """Return the tables."""
    keys = ("scan", "share", "wires", "towers", "sites", "ground", "seconds", "found")
    lines = [*figures["lines"], *figures["negatives"], *figures["changed"], *figures["made"]]
    rows = [[each[key] for key in keys] for each in lines + figures["things"]]
    near = [[e[key] for key in OBSTACLE_COLUMNS] for e in figures["obstacles"]]
    roofs = [[e["scan"], e["buildings"], e["leaves"], e["ground"]] for e in figures["roofs"]]
    columns = ["scan", "buildings", "vegetation", "ground"]
    return [
        Sheet("Lines", COLUMNS, rows),
        Sheet("Roofs, learned without the scan", columns, roofs),
        Sheet("Obstacles nearer than 5 m", OBSTACLE_COLUMNS, near),
        inspection_report.sheet(figures["report"]),
    ]


def _line(name: str, share: float) -> dict[str, Any]:
    whole = scan(name)
    return _judged(whole if share == 1.0 else whole.thinned(share), name, share)


def _judged(part: Scan, name: str, share: float | str) -> dict[str, Any]:
    truth, places = part.points.classification, part.places
    began_s = time.process_time()
    scene = _scene(part)
    seconds = (time.process_time() - began_s) / len(truth) * 1e6
    wire, judged, known = truth == WIRE, np.ones(len(truth), bool), ~np.isin(truth, UNKNOWN)
    if wire.any():
        others = np.flatnonzero(truth == 1)
        near = cKDTree(places[wire]).query(places[others], distance_upper_bound=BESIDE_M)[0]
        judged[others[np.isfinite(near)]] = False
    found = scene.classes
    return {
        "scan": name.rpartition("/")[2],
        "share": share,
        "wires": _f1((found == WIRE) & judged, wire),
        "towers": _f1((found == TOWER) & known, truth == TOWER),
        "sites": len(scene.towers),
        "ground": _f1((found == GROUND) & known, truth == GROUND),
        "seconds": round(seconds, 1),
        "found": int((found == WIRE).sum()),
    }


def _made(kind: str, turned_deg: float) -> dict[str, Any]:
    made = made_above_quebec(kind, turned_deg)
    return _judged(_unechoed(made.places, made.truth), kind, f"{turned_deg:g} degrees")


def _thing(kind: str, density: float) -> dict[str, Any]:
    places = made_objects(kind, _rolling, density=density, seed=int(density))
    return _judged(_unechoed(places, np.full(len(places), 1)), kind, f"{density:g} on 1 m²")


def _rolling(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(100.0 + 6.0 * np.sin(x / 90.0) * np.cos(y / 70.0), np.float64)


def _unechoed(places: NDArray[np.float64], truth: NDArray[np.integer[Any]]) -> Scan:
    return Scan(Points.of(*places.T.copy(), classification=truth))


def _obstacles(name: str, share: float) -> dict[str, Any]:
    whole = scan(name)
    part = whole if share == 1.0 else whole.thinned(share)
    told = obstacles_told(part, whole, _scene(part))
    return {"scan": name.rpartition("/")[2], "share": share, **told}


def _roofs() -> list[dict[str, Any]]:
    lessons = {name: lessons_of(name) for name in TRUTH}
    told = []
    for name in TRUTH:
        roofs = learned_from(each for other in TRUTH if other != name for each in lessons[other])
        part = scan(name)
        truth, found = part.points.classification, _scene(part, roofs).classes
        known = ~np.isin(truth, UNKNOWN)
        fixed = known & ~np.isin(truth, (9, 17, 26))
        leaf = np.isin(truth, LEAVES)
        told.append(
            {
                "scan": name.rpartition("/")[2],
                "buildings": _f1((found == BUILDING) & fixed, truth == BUILDING),
                "leaves": _f1(np.isin(found, LEAVES) & fixed, leaf) if leaf.any() else None,
                "ground": _f1((found == GROUND) & known, truth == GROUND),
            }
        )
    return told


def _scene(part: Scan, roofs: Roofs | None = None) -> Scene:
    return scene_of(part.places, Echoes(part.points.return_number, part.points.returns), roofs)


def _f1(found: Mask, true: Mask) -> float:
    return round(2.0 * int((found & true).sum()) / max(1, int(found.sum() + true.sum())), 4)
