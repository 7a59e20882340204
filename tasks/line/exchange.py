"""The report's findings for other programs: CSV, GeoJSON and GeoPackage.

CSV and GeoPackage are in the reference system of the work, in metres; GeoJSON is in degrees of WGS 84,
as its standard wants, with the metres beside. What people wrote never begins as a formula does.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio
import pyproj
import shapely
from numpy.typing import NDArray

from tasks.inspection.conversation import WorkError
from tasks.line.content import Report, clearance_of
from tasks.line.corridor import COLUMNS
from tasks.line.curve import Curve
from tasks.line.facts import Second

Floats = NDArray[np.float64]
Row = dict[str, Any]

POINTS, PLACES, MAP = "points.csv", "report.geojson", "report.gpkg"
WGS84 = "EPSG:4326"
WIRE_STEP_M = 5.0
FORMULA = ("=", "+", "-", "@")
UNCHANGING = {"OGR_CURRENT_DATE": "2000-01-01T00:00:00Z"}
"""When a GeoPackage was written would make every one another file."""


def point_rows(report: Report) -> list[Row]:
    """Return what is told of each point of interest, the first first."""
    facts, numbers = report.facts, report.numbers
    pictures, marks = report.pictures, facts.mark_of(report.points)
    places = np.array([each.place for each in report.points]).reshape(-1, 3)
    longitude, latitude = _degrees(facts.plan.wkt, places)
    rows = []
    for number, each in enumerate(report.points):
        picture, far = pictures.get(each.id, (None, None))
        mark = marks.get(each.id)
        notes = report.notes.of_points.get(each.id, ())
        row: Row = {
            "number": numbers[each.id], "id": each.id, "kind": each.kind,
            "x": each.place[0], "y": each.place[1], "z": each.place[2],
            "longitude": round(float(longitude[number]), 8),
            "latitude": round(float(latitude[number]), 8),
            "span": report.span_of.get(each.id, each.span),
            "chainage_m": round(report.chainage_m[each.id], 2),
            "offset_m": round(report.offset_m[each.id], 2),
            "distance_m": each.distance_m, "relevance": each.relevance,
            "maintenance": each.maintenance, "decision": each.decision,
            "picture": picture.file if picture else "",
            "picture_s": picture.second if picture else None,
            "picture_m": None if far is None else round(far, 1),
            "mark": mark[0].text if mark else "",
            "note": "; ".join(note.note for note in notes),
            "author": "; ".join(dict.fromkeys(note.author for note in notes if note.author)),
        }  # fmt: skip
        rows.append(row)
    return rows


def write_table(report: Report, path: Path) -> None:
    """Write the points as CSV: with a note in its column it is what the gate of annotations takes.
    Raises ``OSError``."""
    rows = point_rows(report)
    names = list(rows[0]) if rows else ["number", "id", "kind", "x", "y", "z", "note", "author"]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(names)
        for row in rows:
            table.writerow([_harmless(row[name]) for name in names])


def write_map(report: Report, path: Path) -> None:
    """Write a GeoPackage with a layer for each kind of thing. Raises ``WorkError`` where it cannot
    be written."""
    facts, wkt = report.facts, report.facts.plan.wkt
    path.unlink(missing_ok=True)
    pyogrio.set_gdal_config_options(UNCHANGING)
    layers: list[tuple[str, str, list[shapely.Geometry], list[Row]]] = [
        ("points", "Point Z", _points(report), point_rows(report)),
        ("towers", "Point Z", [shapely.Point(t.x, t.y, t.foot_m) for t in facts.line.towers],
         [{"name": f"T{n}", "foot_m": t.foot_m, "top_m": t.top_m}
          for n, t in enumerate(facts.line.towers, 1)]),
        ("wires", "LineString Z", [_wire(each) for each in facts.line.curves],
         [{"wire": wire, "fit_m": round(curve.residual_m, 3)}
          for curve, wire in zip(facts.line.curves, facts.line.wire_of_curve, strict=True)]),
        ("spans", "LineString", [_axis(each.start, each.way, each.length_m) for each in report.sections],
         _span_rows(report)),
        ("route", "LineString", [shapely.LineString(part) for part in facts.plan.route],
         [{"part": number} for number, _ in enumerate(facts.plan.route)]),
        ("orphans", "Point", [shapely.Point(n.place[:2]) if n.place else shapely.Point()
                              for n, _ in report.notes.orphans], _orphan_rows(report)),
    ]  # fmt: skip
    try:
        for layer, kind, shapes, rows in layers:
            if shapes:
                _write(path, shapes, rows, layer=layer, geometry_type=kind, crs=wkt)
        if facts.seconds:
            _write(path, None, _quality(facts.seconds), layer="quality")
    except (RuntimeError, ValueError) as error:
        raise WorkError(f"{path.name} cannot be written: {error}") from None


def write_places(report: Report, path: Path) -> None:
    """Write all that lies somewhere as GeoJSON. Raises ``WorkError`` where it cannot be written."""
    facts = report.facts
    shapes: list[shapely.Geometry] = []
    rows: list[Row] = []
    for row, point in zip(point_rows(report), report.points, strict=True):
        shapes.append(shapely.Point(point.place[:2]))
        rows.append({"layer": "point", **row})
    for part in facts.plan.route:
        shapes.append(shapely.LineString(part))
        rows.append({"layer": "route"})
    rows += [{"layer": "span", **section} for section in _span_rows(report)]
    shapes += [_axis(each.start, each.way, each.length_m) for each in report.sections]
    for curve in facts.line.curves:
        shapes.append(shapely.force_2d(_wire(curve)))
        rows.append({"layer": "wire"})
    turned = _turned(facts.plan.wkt, shapes)
    try:
        path.unlink(missing_ok=True)
        _write(path, turned, rows, driver="GeoJSON", geometry_type="Unknown", crs=WGS84,
               layer=report.facts.name or "line", RFC7946="YES", COORDINATE_PRECISION="8")  # fmt: skip
    except (RuntimeError, ValueError) as error:
        raise WorkError(f"{path.name} cannot be written: {error}") from None


def _span_rows(report: Report) -> list[Row]:
    return [
        {
            "span": each.name,
            "chainage_m": round(each.chainage_m, 2),
            "length_m": round(each.length_m, 2),
            "wires": each.wires,
            "sag_m": round(each.sag_m, 2),
            **{kind: clearance_of(each, kind, report) for kind in COLUMNS},
        }
        for each in report.sections
    ]


def _orphan_rows(report: Report) -> list[Row]:
    return [
        {"id": n.id, "kind": n.kind, "span": n.span, "note": n.note, "author": n.author, "why": why}
        for n, why in report.notes.orphans
    ]


def _quality(seconds: Sequence[Second]) -> list[Row]:
    names = ("second", "records", "longest_gap_s", "sigma_m", "speed_m_s")
    return [{name: getattr(each, name) for name in names} for each in seconds]


def _points(report: Report) -> list[shapely.Geometry]:
    return [shapely.Point(each.place) for each in report.points]


def _wire(curve: Curve) -> shapely.Geometry:
    along = np.append(np.arange(curve.start_m, curve.end_m, WIRE_STEP_M), curve.end_m)
    return shapely.LineString(curve.places(along).round(3))


def _axis(start: Sequence[float], way: Sequence[float], length_m: float) -> shapely.Geometry:
    end = start[0] + length_m * way[0], start[1] + length_m * way[1]
    return shapely.LineString([tuple(start), end])


def _write(path: Path, shapes: list[Any] | None, rows: Sequence[Row], **told: Any) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_column(row.get(name) for row in rows) for name in names]
    wkb = None if shapes is None else np.array([shapely.to_wkb(each) for each in shapes], object)
    pyogrio.raw.write(path, wkb, columns, names, append=path.exists(), **told)


def _column(values: Iterable[Any]) -> NDArray[Any]:
    """Numbers as numbers, missing ones as NaN; all else as words."""
    held = list(values)
    known = [each for each in held if each is not None]
    if known and all(isinstance(each, int) for each in held):
        return np.array(held, np.int64)
    if known and all(isinstance(each, int | float) for each in known):
        return np.array([np.nan if each is None else float(each) for each in held])
    return np.array(["" if each is None else str(each) for each in held], object)


def _harmless(value: object) -> object:
    """A spreadsheet takes words that begin as a formula for one."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return "" if value is None else value


def _degrees(wkt: str, places: Floats) -> tuple[Floats, Floats]:
    """Longitude and latitude on WGS 84; heights stay what they are."""
    system = pyproj.CRS(wkt)
    flat = system.sub_crs_list[0] if system.is_compound else system
    way = pyproj.Transformer.from_crs(flat, WGS84, always_xy=True)
    longitude, latitude = way.transform(places[:, 0], places[:, 1])
    return np.asarray(longitude), np.asarray(latitude)


def _turned(wkt: str, shapes: Sequence[shapely.Geometry]) -> list[shapely.Geometry]:
    """All at once: to find the way between two systems takes longer than a thousand places."""
    turned = shapely.transform(
        np.array(shapes, object), lambda at: np.column_stack(_degrees(wkt, at))
    )
    return list(turned)
