"""What comes near to a wire: clusters of points with their distance from the curve, and other wires.

The distance is that from the curve in space, also where no point of the wire was seen. A bundle of
conductors is as wide and as high as its points lie apart, and what is near is measured from its edge.
What is left of a wire lies along it and nowhere farther off; a tree, however near, begins somewhere
else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from tasks.line.curve import Curve
from tasks.line.parameters import (
    APART_M,
    BUNDLE_M,
    CROSSING_M,
    CROSSING_TURN,
    FITTING_M,
    HELD_M,
    LEFT_OVER_M,
    LINKED_M,
    OBSTACLE_POINTS_MIN,
    POINT_M,
    SAMPLE_M,
    TOWER_ALONG_M,
    TOWER_ASIDE_M,
)
from tasks.line.scene import BUILDING, GROUND, HIGH, LOW, MEDIUM, NOISE, TOWER, WATER, WIRE
from tasks.line.towers import Tower
from tasks.line.wire_seeds import thinned

Floats = NDArray[np.float64]
Classes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Place = tuple[float, float, float]
Place2 = tuple[float, float]

KINDS = {LOW: "vegetation", MEDIUM: "vegetation", HIGH: "vegetation", BUILDING: "building"}
KINDS |= {GROUND: "ground", WATER: "ground"}
CROSSING = "crossing"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What comes near a wire: where it is nearest, where the wire is there, and how far that is."""

    kind: str
    place: Place
    wire: int
    wire_place: Place
    distance_m: float
    points: int


def obstacles_of(
    curves: Sequence[Curve],
    towers: Sequence[Tower],
    places: Floats,
    classes: Classes,
    within_m: float,
) -> list[Obstacle]:
    """Return the clusters of points that come nearer to a wire than that, the nearest first, and the
    wires that cross."""
    if not curves:
        return []
    samples = [each.places(np.arange(each.start_m, each.end_m, SAMPLE_M)) for each in curves]
    of_wire = np.repeat(np.arange(len(curves)), [len(each) for each in samples])
    line = np.concatenate(samples)
    other = ~np.isin(classes, (WIRE, TOWER, NOISE)) & _around(places, line, within_m)
    near = np.flatnonzero(other)
    far, sample = cKDTree(line).query(places[near], distance_upper_bound=within_m)
    kept = np.isfinite(far) & ~_at_tower(places[near], towers)
    near, far, sample = near[kept], far[kept], sample[kept]
    kept = ~_left_over(places[near], far)
    near, far, sample = near[kept], far[kept], sample[kept]
    own = places[classes == WIRE]
    thick_m = [_thickness(each, own) for each in curves]
    ends = np.concatenate([each[[0, -1]] for each in samples])
    found = []
    for cluster in _clusters(places[near]):
        for nearest in _nearest_places(places[near[cluster]], far[cluster]):
            point, at = near[cluster[nearest]], int(sample[cluster[nearest]])
            if _is_fitting(places[near[cluster]], places[point], ends):
                continue
            wire = int(of_wire[at])
            kind = KINDS.get(int(classes[point]), "vegetation")
            clear_m = _clear_m(places[point], line[at], curves[wire].way, thick_m[wire])
            seen = _place(places[point]), wire, _place(line[at]), clear_m, len(cluster)
            found.append(Obstacle(kind, *seen))
    return sorted(found + _crossings(curves, samples), key=lambda each: each.distance_m)


def _thickness(curve: Curve, own: Floats) -> tuple[float, float]:
    """How far the points of a wire lie aside of its curve and above it, without the scanner's noise."""
    along, across = curve.away(own)
    near = (across < BUNDLE_M) & (along > curve.start_m) & (along < curve.end_m)
    if near.sum() < OBSTACLE_POINTS_MIN:
        return 0.0, 0.0
    along, aside = curve.frame(own[near])
    off, up = aside - curve.aside_at(along), own[near, 2] - curve.height_at(along)
    wide, high = (float(np.sqrt(max((each**2).mean() - POINT_M**2, 0.0))) for each in (off, up))
    return wide, high


def _clear_m(point: Floats, wire: Floats, way: Place2, thick_m: tuple[float, float]) -> float:
    """How far a point is from the box that a bundle fills around the nearest place of its curve."""
    there = point - wire
    along = there[0] * way[0] + there[1] * way[1]
    aside = max(abs(there[1] * way[0] - there[0] * way[1]) - thick_m[0], 0.0)
    up = max(abs(there[2]) - thick_m[1], 0.0)
    return float(np.sqrt(along**2 + aside**2 + up**2))


def _around(places: Floats, line: Floats, within_m: float) -> Mask:
    """A box around the wires, before anything is computed of each point."""
    low, high = line.min(axis=0) - within_m, line.max(axis=0) + within_m
    inside: Mask = ((places >= low) & (places <= high)).all(axis=1)
    return inside


def _left_over(places: Floats, far: Floats) -> Mask:
    """What is left of a wire: it lies along it, and nothing farther off holds it."""
    close = far <= LEFT_OVER_M
    beyond = places[~close]
    if not len(beyond) or not close.any():
        return np.asarray(close, np.bool_)
    held = cKDTree(beyond).query_ball_point(places[close], HELD_M, return_length=True)
    left = close.copy()
    left[close] = np.asarray(held) < OBSTACLE_POINTS_MIN
    return left


def _at_tower(places: Floats, towers: Sequence[Tower]) -> Mask:
    at = np.zeros(len(places), bool)
    for tower in towers:
        east, north = places[:, 0] - tower.x, places[:, 1] - tower.y
        along = np.abs(east * tower.way[0] + north * tower.way[1])
        aside = np.abs(north * tower.way[0] - east * tower.way[1])
        at |= (along < TOWER_ALONG_M) & (aside < tower.wide_m + TOWER_ASIDE_M)
    return at


def _clusters(places: Floats) -> list[NDArray[np.int64]]:
    """Which points hang together, in the order of their first."""
    if not len(places):
        return []
    cloud = thinned(places)
    pairs = cloud.tree.query_pairs(LINKED_M, output_type="ndarray")
    size = len(cloud.places)
    links = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    count, of_cube = connected_components(links, directed=False)
    of_point = of_cube[cloud.cube]
    order = np.argsort(of_point, kind="stable")
    ends = np.searchsorted(of_point[order], np.arange(1, count))
    return np.split(order, ends)


def _nearest_places(places: Floats, far: Floats) -> list[int]:
    """The nearest point of a cluster, and of what of it is far from that the next; none in few."""
    order = np.argsort(far, kind="stable")
    found: list[int] = []
    while len(order) >= OBSTACLE_POINTS_MIN:
        found.append(int(order[0]))
        order = order[np.linalg.norm(places[order] - places[order[0]], axis=1) > APART_M]
    return found


def _is_fitting(cluster: Floats, nearest: Floats, ends: Floats) -> bool:
    """Whether it is no more than what holds the end of a wire."""
    end = ends[np.argmin(np.linalg.norm(ends - nearest, axis=1))]
    return bool((np.linalg.norm(cluster - end, axis=1) < FITTING_M).all())


def _crossings(curves: Sequence[Curve], samples: Sequence[Floats]) -> list[Obstacle]:
    """Where two wires go past each other, told of the upper one."""
    found = []
    for one, other in combinations(range(len(curves)), 2):
        ways = curves[one].way, curves[other].way
        if abs(ways[0][0] * ways[1][1] - ways[0][1] * ways[1][0]) < CROSSING_TURN:
            continue
        flat = cKDTree(samples[other][:, :2]).query(samples[one][:, :2])
        here = int(np.argmin(flat[0]))
        there = int(flat[1][here])
        far, at = cKDTree(samples[other]).query(samples[one])
        nearest = int(np.argmin(far))
        if flat[0][here] > 2.0 * SAMPLE_M or far[nearest] > CROSSING_M:
            continue
        ends = min(here, len(samples[one]) - here, there, len(samples[other]) - there)
        if ends * SAMPLE_M < TOWER_ALONG_M:
            continue
        upper = samples[one][here, 2] >= samples[other][there, 2]
        places = samples[one][nearest], samples[other][int(at[nearest])]
        wire, place, below = (one, *places) if upper else (other, *reversed(places))
        told = _place(below), wire, _place(place), float(far[nearest]), 0
        found.append(Obstacle(CROSSING, *told))
    return found


def _place(place: Floats) -> Place:
    x, y, z = (round(float(each), 3) for each in place)
    return x, y, z
