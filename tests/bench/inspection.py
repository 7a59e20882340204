"""How well real scans are read: wires, towers, ground, buildings, vegetation, and how long it takes.

From the labelled scans of ``../shared/data/lidar``; without them there is nothing to measure. Points
of class 1 count nowhere but for wires, where only those within 1.5 m of a labelled wire are left out.
Roofs are learned anew without the scan that they are measured on.
"""

from __future__ import annotations

import sys
import time
from statistics import fmean
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tasks.line.roofs import Roofs
from tasks.line.scene import BUILDING, GROUND, TOWER, WIRE, Scene, scene_of
from tasks.line.shapes import Echoes
from tests.bench import inspection_report
from tests.bench.inspection_learning import learned_from, lessons_of
from tests.bench.inspection_scans import FOLDER, NEGATIVES, TRUTH, WIRES, Scan, scan
from tests.bench.report import Figures, Sheet, Verdict

WHAT: Final = "wires, towers, ground, buildings, vegetation of labelled scans; the report of a line"

LEAVES: Final = (3, 4, 5)
UNKNOWN: Final = (0, 1, 7, 64, 65, 66, 67)
SHARES: Final = {1.0: 0.96, 0.25: 0.93, 0.125: 0.80}
BESIDE_M: Final = 1.5
COLUMNS: Final = ["scan", "share", "wires", "towers", "sites", "ground", "s/M", "wire points"]

Mask = NDArray[np.bool_]


def measure(*, quick: bool) -> Figures:
    """Measure all of it; ``quick``: one scan with wires, one without."""
    if not FOLDER.is_dir():
        sys.exit("the labelled scans are not there: ../shared/data/lidar is looked for")
    shares = (1.0,) if quick else tuple(SHARES)
    wires = [_line(name, share) for name in WIRES[: 1 if quick else None] for share in shares]
    negatives = [_line(name, 1.0) for name in NEGATIVES[: 1 if quick else None]]
    told = {"lines": wires, "negatives": negatives, "roofs": [] if quick else _roofs()}
    return {**told, "report": inspection_report.measured(quick=quick)}


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
    if roofs:
        leaves = [each["leaves"] for each in roofs if each["leaves"] is not None]
        told.append(
            Verdict("buildings, mean", fmean(e["buildings"] for e in roofs), 0.90, at_least=True)
        )
        told.append(Verdict("vegetation, mean", fmean(leaves), 0.88, at_least=True))
    return told + inspection_report.verdicts(figures["report"])


def sheets(figures: Figures) -> list[Sheet]:
    """Return the tables."""
    keys = ("scan", "share", "wires", "towers", "sites", "ground", "seconds", "found")
    rows = [[each[key] for key in keys] for each in figures["lines"] + figures["negatives"]]
    roofs = [[e["scan"], e["buildings"], e["leaves"], e["ground"]] for e in figures["roofs"]]
    columns = ["scan", "buildings", "vegetation", "ground"]
    told = [Sheet("Lines", COLUMNS, rows), Sheet("Roofs, learned without the scan", columns, roofs)]
    return [*told, inspection_report.sheet(figures["report"])]


def _line(name: str, share: float) -> dict[str, Any]:
    whole = scan(name)
    part = whole if share == 1.0 else whole.thinned(share)
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
