"""Whether it matters where a line is cut: a labelled scan as one tile and as four, step by step.

The steps are those of the programs, in this process; scans in their place are not georeferenced. A
point counts in the tile that owns it; ids are those of the aggregated line. What import and segment
take of the processor is measured on woods as well, whose points lie far apart.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.spatial import cKDTree

from tasks.inspection.conversation import Work
from tasks.line import aggregating, detecting, importing, segmenting
from tasks.line.cloud import read
from tasks.line.interest import INTEREST
from tasks.line.joining import read_points
from tasks.line.plan import make_plan
from tasks.line.scene import WIRE
from tasks.line.tiles import PLAN, Plan
from tests.bench.inspection import BESIDE_M
from tests.bench.inspection_scans import FOLDER, NEGATIVES, WIRES
from tests.bench.report import Figures, Sheet, Verdict

WHAT: Final = "labelled scans as one tile and as four: F1 of wires, ids, processor time"
TILES: Final = (1, 4)
F1_APART: Final = 0.002
S_A_MILLION: Final = 8.0
WHOLE: Final = Plan("line", (), "", "EPSG:28992", "EPSG:5709", tile_m=1e6)


def measure(*, quick: bool) -> Figures:
    """Work each scan in one tile and in four; ``quick``: one scan."""
    if not FOLDER.is_dir():
        sys.exit("the labelled scans are not there: ../shared/data/lidar is looked for")
    names = slice(1 if quick else None)
    return {
        "scans": [_scan(FOLDER / name) for name in WIRES[names]],
        "woods": [_scan(FOLDER / name, tiles=(1,)) for name in NEGATIVES[names]],
    }


def judge(figures: Figures) -> list[Verdict]:
    """Hold what was measured against the limits."""
    told = []
    for each in figures["scans"]:
        one, four = each["cut"]
        apart = round(abs(one["wires"] - four["wires"]), 4)
        told.append(Verdict(f"wires, one tile against four, {each['scan']}", apart, F1_APART))
        others = len(set(one["ids"]) ^ set(four["ids"]))
        told.append(Verdict(f"ids in one of both, {each['scan']}", others, 0))
    for each in figures["scans"] + figures["woods"]:
        what = f"import and segment, {each['scan']}"
        told.append(Verdict(what, each["cut"][0]["seconds"], S_A_MILLION, "s/M"))
    return told


def sheets(figures: Figures) -> list[Sheet]:
    """Return the tables."""
    rows = [
        [each["scan"], cut["tiles"], cut["wires"], len(cut["ids"]), cut["seconds"]]
        for each in figures["scans"] + figures["woods"]
        for cut in each["cut"]
    ]
    return [Sheet("Tiles", ["scan", "tiles", "wires", "points of interest", "s/M"], rows)]


def _scan(path: Path, tiles: tuple[int, ...] = TILES) -> dict[str, Any]:
    return {"scan": path.name, "cut": [_cut(path, each) for each in tiles]}


def _cut(path: Path, tiles: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as made:
        flight = Path(made, "flight")
        flight.mkdir()
        shutil.copy(path, flight)
        plan = make_plan(flight, WHOLE)
        if tiles > 1:
            plan = replace(plan, tile_m=plan.length_m / tiles + 0.01)
        plan.write(Path(made, PLAN))
        found, true, interest, took_s = [], [], [], []
        for number in range(plan.count):
            told, labels, seconds = _tile(Path(made), flight, plan, number)
            took_s.append(seconds)
            interest.append(Path(made, str(number), INTEREST))
            found.append(told)
            true.append(labels)
        with _inside(Path(made, "line")):
            aggregating.do(Work(inputs=interest, parameters={"line": "line"}))
            ids = sorted(each.id for each in read_points(Path(aggregating.LINE)))
        wires, seconds = _f1(np.hstack(found), np.hstack(true)), round(max(took_s), 1)
        return {"tiles": plan.count, "wires": wires, "ids": ids, "seconds": seconds}


def _tile(made: Path, flight: Path, plan: Plan, number: int) -> tuple[Any, Any, float]:
    """What was found of the points that a tile owns, and what they are; those that count. And how long
    import and segment took, for a million points."""
    told = {"tile": str(number)}
    with _inside(made / str(number)) as here:
        began_s = time.process_time()
        importing.do(Work(raw=[made / PLAN, flight], parameters=told))
        segmenting.do(Work(inputs=[here / "points.laz"]))
        seconds = time.process_time() - began_s
        truth = read(here / "points.laz")
        inputs = [here / segmenting.SEGMENTED, here / "spans.json"]
        detecting.do(Work(raw=[made / PLAN], inputs=inputs, parameters=told))
        along, _ = plan.chainage(truth.x, truth.y)
        own = plan.owner(along) == number
        found = read(inputs[0]).classification == WIRE
    true = truth.classification == WIRE
    places = np.column_stack([truth.x, truth.y, truth.z])
    unlabelled = np.flatnonzero(truth.classification == 1)
    if true.any() and len(unlabelled):
        near = cKDTree(places[true]).query(places[unlabelled], distance_upper_bound=BESIDE_M)[0]
        own[unlabelled[np.isfinite(near)]] = False
    return found[own], true[own], 1e6 * seconds / max(len(truth), 1)


def _f1(found: Any, true: Any) -> float:
    return round(2.0 * int((found & true).sum()) / max(1, int(found.sum() + true.sum())), 4)


@contextmanager
def _inside(folder: Path) -> Iterator[Path]:
    before = Path.cwd()
    folder.mkdir()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)
