"""What a person says of the classes of a tile: a patch, or the tile's file with other classes.

A patch is a CSV with the columns ``x,y,z,radius_m,class`` and, if wanted, ``of``: the points within
so many metres of a place, those of one class only where ``of`` names it, are of that class. Without
``z`` height does not matter. The file of a tile is a LAS or LAZ with its points, edited wherever that
is done; it stands in the place of what was segmented.

Where wires or towers are others then, their curves and places are found anew among the points that
are called so: a person's word is not judged again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from tasks.inspection.conversation import WorkError
from tasks.line.cloud import Points, read
from tasks.line.curve import Curve, hung
from tasks.line.handed_in import Row, read_rows
from tasks.line.las_header import FileFaultError
from tasks.line.scene import TOWER, WIRE, Scene, density_of
from tasks.line.spans import Spans, spans_of
from tasks.line.towers import Tower
from tasks.line.wire_growth import grown_pieces, joined, seen
from tasks.line.wire_points import on_wires
from tasks.line.wire_seeds import seeds_of, thinned
from tasks.line.wires import Wires

Floats = NDArray[np.float64]
Classes = NDArray[np.uint8]

COLUMNS = ("x", "y", "z", "radius_m", "class")
LAS = b"LASF"
CLASSES_MAX = 255
RADIUS_M_MAX = 1_000.0
ELSEWHERE_M = 1.0
"""So far beyond its tile a point of an edited file may lie."""
TOWER_POINTS_MIN = 20
TOWER_LINK_M = 3.0
"""Points nearer than that are of one tower."""
KEPT_SLACK_M = 2.0


def patched(points: Points, spans: Spans, patch: Path) -> tuple[Points, Spans]:
    """Return the points with the classes that a person's patch gives them, and the wires and towers
    found again with those. Raises ``WorkError`` for a patch that cannot be used, and
    ``OSError``."""
    with patch.open("rb") as file:
        edited = file.read(len(LAS)) == LAS
    after = _edited(points, patch) if edited else _with_classes(points, read_rows(patch, COLUMNS))
    if _same(points, after, WIRE) and _same(points, after, TOWER):
        kinds, numbers = np.unique(after.classification, return_counts=True)
        counts = dict(zip(kinds.tolist(), numbers.tolist(), strict=True))
        return after, replace(spans, counts=counts)
    return after, _spans_again(points, after, spans)


def _edited(points: Points, path: Path) -> Points:
    try:
        after = read(path)
    except FileFaultError as error:
        raise WorkError(str(error)) from None
    before, there = _box(points), _box(after)
    if not len(after) or not (
        (there[0] >= before[0] - ELSEWHERE_M).all() and (there[1] <= before[1] + ELSEWHERE_M).all()
    ):
        raise WorkError(
            f"{path.name} does not lie where the tile is: attach the tile's own segmented.laz, "
            "with other classes"
        )
    return after


def _box(points: Points) -> tuple[Floats, Floats]:
    places = np.stack([points.x, points.y, points.z])
    if not places.size:
        return np.zeros(3), np.zeros(3)
    return places.min(axis=1), places.max(axis=1)


def _with_classes(points: Points, rows: list[Row]) -> Points:
    classes = points.classification.copy()
    tree = cKDTree(np.column_stack([points.x, points.y])) if rows else None
    for row in rows:
        radius_m, told = row.needed("radius_m"), _class(row, "class")
        if not 0 < radius_m <= RADIUS_M_MAX:
            raise row.wrong(f"radius_m has to be above 0 and at most {RADIUS_M_MAX:g}")
        assert tree is not None
        place = row.needed("x"), row.needed("y")
        near = np.array(tree.query_ball_point(place, radius_m), np.int64)
        up = row.number("z")
        if up is not None:
            flat = np.hypot(points.x[near] - place[0], points.y[near] - place[1])
            near = near[np.hypot(flat, points.z[near] - up) <= radius_m]
        if not len(near):
            raise row.wrong("no point of the tile lies there")
        if row.text("of"):
            near = near[classes[near] == _class(row, "of")]
        classes[near] = told
    return replace(points, classification=classes)


def _class(row: Row, column: str) -> int:
    told = row.needed(column)
    if not (0 <= told <= CLASSES_MAX and told == int(told)):
        raise row.wrong(f"{column} has to be a class of the LAS standard, 0 to {CLASSES_MAX}")
    return int(told)


def _same(before: Points, after: Points, kind: int) -> bool:
    """Whether the points that are called so are where they were."""
    one, other = (_places(each)[each.classification == kind] for each in (before, after))
    return one.shape == other.shape and bool(np.allclose(one, other, atol=0.001))


def _places(points: Points) -> Floats:
    return np.column_stack([points.x, points.y, points.z])


def _spans_again(before: Points, after: Points, spans: Spans) -> Spans:
    places = _places(after)
    base = places.min(axis=0)
    here = places - base
    is_wire = np.flatnonzero(after.classification == WIRE)
    wires = _told_wires(here[is_wire])
    of_point = np.full(len(places), -1, np.int64)
    of_point[is_wire] = wires.of_point
    curves = tuple(each.moved(base) for each in wires.curves)
    towers = spans.towers
    if not _same(before, after, TOWER):
        towers = _told_towers(places[after.classification == TOWER], spans.towers, curves)
    found = Wires(curves, wires.seen, of_point)
    scene = Scene(after.classification, None, found, towers, density_of(places))
    return spans_of(scene)


def _told_wires(places: Floats) -> Wires:
    """The curves through points that are wires, as somebody says who has looked."""
    if len(places) < 2:
        return Wires((), (), np.full(len(places), -1, np.int64))
    cloud = thinned(places)
    pieces = joined(grown_pieces(cloud, seeds_of(cloud)), cloud)
    curves = tuple(hung(each.curve, cloud.places[each.members]) for each in pieces)
    nobody = np.zeros(len(cloud.places), bool)
    shares = tuple(seen(each, cloud.places, nobody).seen_share for each in pieces)
    return Wires(curves, shares, on_wires(curves, places))


def _told_towers(
    places: Floats, before: tuple[Tower, ...], curves: tuple[Curve, ...]
) -> tuple[Tower, ...]:
    """Those of before that still have points, and one for each other heap of them."""
    left, kept = places, []
    for tower in before:
        off = np.hypot(left[:, 0] - tower.x, left[:, 1] - tower.y)
        own = off <= tower.wide_m + KEPT_SLACK_M
        if own.sum() >= TOWER_POINTS_MIN:
            kept.append(tower)
        left = left[~own]
    if not len(left):
        return tuple(kept)
    cells, cell_of = np.unique(np.floor(left[:, :2]), axis=0, return_inverse=True)
    tree = cKDTree(cells)
    links = tree.sparse_distance_matrix(tree, TOWER_LINK_M)
    count, heap_of = connected_components(links, directed=False)
    heap = heap_of[cell_of.ravel()]
    heaps = (left[heap == each] for each in range(count))
    return (*kept, *(_tower(each, curves) for each in heaps if len(each) >= TOWER_POINTS_MIN))


def _tower(points: Floats, curves: tuple[Curve, ...]) -> Tower:
    x, y = (float(each) for each in points[:, :2].mean(axis=0))
    way = min(
        curves,
        key=lambda each: float(
            np.hypot(*(each.places(np.array([each.start_m, each.end_m]))[:, :2] - (x, y)).T).min()
        ),
        default=None,
    )
    east, north = (1.0, 0.0) if way is None else way.way
    aside = np.abs((points[:, 1] - y) * east - (points[:, 0] - x) * north)
    foot_m, top_m = float(points[:, 2].min()), float(points[:, 2].max())
    return Tower(x, y, foot_m, top_m, (east, north), float(aside.max()))
