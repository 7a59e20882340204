"""The route of a line, from the map of whoever runs it: GeoPackage, GeoJSON or shapefile; or, where
there is none, the principal axis of what was flown.

A map may have the line in many pieces; those that touch become one, and parts that do not are kept
apart, the longest first. What is no line is left out and counted.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyogrio
import pyproj
import shapely
from numpy.typing import NDArray
from pyogrio.errors import DataLayerError, DataSourceError

from tasks.inspection.conversation import WorkError
from tasks.line.crs import AskedError, Change, Reference, named
from tasks.line.las_header import FileFaultError
from tasks.line.sentences import said

Column = NDArray[np.float64]
Route = tuple[tuple[tuple[float, float], ...], ...]

SUFFIXES = (".gpkg", ".geojson", ".json", ".shp")
FEATURES_MAX, VERTICES_MAX = 100_000, 1_000_000
LENGTH_M_MIN = 1.0


def read_route(path: Path, target: Reference, crs: str = "") -> tuple[Route, Counter[str]]:
    """Return the parts of the route in the target system, and what was left out. ``crs`` is what a
    person says where the file does not say its own. Raises ``WorkError`` where there is no line or
    no reference system, and ``OSError``."""
    shapes, own_crs = _shapes(path)
    survived: Counter[str] = Counter()
    lines = [part for shape in shapes for part in _lines(shape, survived)]
    if not lines:
        raise FileFaultError(
            path, said("it has no line"), said("the route as lines"), said("export the route")
        )
    if sum(map(shapely.get_num_coordinates, lines)) > VERTICES_MAX:
        raise FileFaultError(
            path,
            said("it has too many places"),
            said("at most {most}", most=VERTICES_MAX),
            said("thin it"),
        )
    turned = _turned(path, lines, own_crs or crs, target)
    merged = shapely.line_merge(shapely.MultiLineString(turned))
    parts = sorted(_lines(merged, survived), key=lambda each: -each.length)
    if not parts or parts[0].length < LENGTH_M_MIN:
        raise FileFaultError(
            path,
            said("its line has no length"),
            said("at least {least} m", least=f"{LENGTH_M_MIN:g}"),
        )
    long = [each for each in parts if each.length >= LENGTH_M_MIN]
    return tuple(
        tuple((x, y) for x, y in np.array(each.coords)[:, :2].tolist()) for each in long
    ), (survived)


def principal_axis(x: Column, y: Column) -> Route:
    """Return the straight line along which these places are spread most, as long as they are.
    Raises ``WorkError`` where there are fewer than two."""
    if len(x) < 2:
        raise WorkError(said("there are too few points to see along what they lie: name a route"))
    places = np.stack([x, y], axis=1)
    middle = places.mean(axis=0)
    _, vectors = np.linalg.eigh(np.cov((places - middle).T))
    way = vectors[:, 1]
    way = way if way[0] > 0 or (way[0] == 0 and way[1] > 0) else -way
    along = (places - middle) @ way
    ends = [middle + each * way for each in (along.min(), along.max())]
    if np.hypot(*(ends[1] - ends[0])) < LENGTH_M_MIN:
        raise WorkError(said("all points lie on one place: name a route"))
    return (tuple((float(each[0]), float(each[1])) for each in ends),)


def _shapes(path: Path) -> tuple[NDArray[np.object_], str]:
    try:
        info = pyogrio.read_info(path)
        if info["features"] > FEATURES_MAX:
            raise FileFaultError(
                path,
                said("it has {count} shapes", count=info["features"]),
                said("at most {most}", most=FEATURES_MAX),
                said("cut it"),
            )
        meta, _, geometry, _ = pyogrio.raw.read(path, columns=[])
        return shapely.from_wkb(geometry, on_invalid="ignore"), str(meta["crs"] or "")
    except (DataSourceError, DataLayerError, ValueError, RuntimeError) as error:
        raise FileFaultError(
            path,
            said("it cannot be read ({error})", error=str(error).splitlines()[0]),
            said("a map with the route"),
        ) from None


def _lines(shape: shapely.Geometry | None, survived: Counter[str]) -> list[shapely.LineString]:
    parts = [] if shape is None else list(shapely.get_parts(shape))
    lines = [each for each in parts if each.geom_type in ("LineString", "LinearRing")]
    survived[said("shapes of the route's map that are no lines")] += len(parts) - len(lines)
    return [shapely.force_2d(each) for each in lines if not each.is_empty]


def _turned(
    path: Path, lines: list[shapely.LineString], crs: str, target: Reference
) -> list[shapely.LineString]:
    if not crs:
        raise AskedError(
            "route-crs",
            said(
                "{file}: it does not say its reference system; name it with --route-crs EPSG:…",
                file=path.name,
            ),
        )
    assert target.horizontal is not None
    source = Reference(named(crs, "").horizontal, target.heights)
    if source.horizontal is not None and source.horizontal.is_compound:
        source = Reference(pyproj.CRS(source.horizontal.sub_crs_list[0]), target.heights)
    way = Change(source, target)
    found = []
    for line in lines:
        places = np.array(line.coords)
        east, north, _ = way(places[:, 0], places[:, 1], np.zeros(len(places)))
        if not (np.isfinite(east).all() and np.isfinite(north).all()):
            raise FileFaultError(
                path, said("places of it lie nowhere in the target system"), said("the route")
            )
        found.append(shapely.LineString(np.stack([east, north], axis=1)))
    return found
