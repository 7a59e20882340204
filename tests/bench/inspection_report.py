"""The report of 50 km with 1,000 points: how long, how large, whether every id is in it, and to scale."""

from __future__ import annotations

import csv
import json
import os
import re
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from tasks.inspection.conversation import Work
from tasks.line.exchange import MAP, PLACES, POINTS
from tasks.line.reporting import PAGE, SHEETS, do
from tests.bench.report import Sheet, Verdict
from tests.tasks.made_report import SPAN_M, MadeReport, made_report
from tests.tasks.test_line_report import MM, back, places_of, sheets, the_map

SPANS, POINTS_FOUND = 167, 1_000
MEGABYTE = 1e6


def measured(*, quick: bool) -> dict[str, Any]:
    """Make a report and measure on it; ``quick``: of four spans."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given"
        given.mkdir()
        made = made_report(given, spans=4 if quick else SPANS, points=20 if quick else POINTS_FOUND)
        os.chdir(folder)
        try:
            began_s = time.process_time()
            do(Work(raw=made.paths[:1], inputs=made.paths[1:]))
            seconds = time.process_time() - began_s
            return {"seconds": round(seconds, 1), **_figures(Path(folder), made)}
        finally:
            os.chdir(before)


def _figures(folder: Path, made: MadeReport) -> dict[str, Any]:
    ids = {each.id for each in made.line.points}
    said, drawn = the_map(folder / PAGE)
    marks = np.array([(float(e["data-x"]), float(e["data-y"])) for e in drawn.of("tower")])
    metres = np.linalg.norm(np.diff(marks, axis=0), axis=1) * said["scale"] / 1000.0
    route = shapely.LineString(made.plan.route[0])
    corners = np.concatenate([back(said, places_of(e["d"])) for e in drawn.of("route")])
    return {
        "points": len(ids),
        "html_mb": round((folder / PAGE).stat().st_size / MEGABYTE, 2),
        "pdf_mb": round((folder / SHEETS).stat().st_size / MEGABYTE, 2),
        "ids_missing": sum(len(ids - each) for each in _ids_in(folder)),
        "scale_off": round(float(np.abs(metres / SPAN_M - 1.0).max()), 5),
        "scale_off_pdf": round(_off_on_sheets(folder, said), 5),
        "off_route_m": round(max(route.distance(shapely.Point(each)) for each in corners), 3),
    }


def _ids_in(folder: Path) -> list[set[str]]:
    """The ids of points in each of the five files."""
    page, text = (folder / PAGE).read_text("utf-8"), sheets(folder / SHEETS)
    with (folder / POINTS).open(encoding="utf-8", newline="") as file:
        table = {row["id"] for row in csv.DictReader(file)}
    features = json.loads((folder / PLACES).read_text("utf-8"))["features"]
    with closing(sqlite3.connect(folder / MAP)) as held:
        layer = {row[0] for row in held.execute("select id from points")}
    return [
        set(re.findall(r'id="p-(\w+)"', page)),
        set(re.findall(r"\((\w{10})\)", text)),
        {each["properties"].get("id") for each in features},
        layer,
        table,
    ]


def _off_on_sheets(folder: Path, said: dict[str, float]) -> float:
    """By how much the scale bar of the sheets is too long, measured in points of print."""
    number = r"(-?[\d.]+)"
    bar = rf"{0.9 * MM:.3f}\d* w.*?{number} {number} m {number} {number} l\sS"
    found = re.search(bar, sheets(folder / SHEETS), re.DOTALL)
    title = re.search(r'class="scale-bar".*?<title>(\d+) m', (folder / PAGE).read_text("utf-8"))
    assert found is not None
    assert title is not None
    millimetres = (float(found[3]) - float(found[1])) / MM
    return abs(millimetres * said["scale"] / 1000.0 / float(title[1]) - 1.0)


def verdicts(told: dict[str, Any]) -> list[Verdict]:
    """Hold what was measured against the limits."""
    points = f"report of {told['points']} points"
    return [
        Verdict(f"{points}, page", told["html_mb"], 20.0, "MB"),
        Verdict(f"{points}, PDF", told["pdf_mb"], 20.0, "MB"),
        Verdict("ids that are not in all five files", told["ids_missing"], 0),
        Verdict("scale of the map, page", told["scale_off"], 0.01),
        Verdict("scale of the map, PDF", told["scale_off_pdf"], 0.01),
        Verdict("route, back from the map", told["off_route_m"], 1.0, "m"),
    ]


def sheet(told: dict[str, Any]) -> Sheet:
    """Return the table."""
    return Sheet("Report", list(told), [list(told.values())])
