"""What comes near to a wire: clusters of points with their distance from the curve, and other wires.

The distance is that from the course of the wire in space, also where no point of it was seen. Where a
wire is a bundle of conductors, it is that from the nearest of them, as far as its points tell where
they are (``tasks.line.bundle``).
What is left of a wire lies along it and nowhere farther off; a tree, however near, begins somewhere
else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from tasks.line.bundle import Bundle
from tasks.line.course import course_of
from tasks.line.curve import Curve
from tasks.line.ground import HALF_MM
from tasks.line.parameters import (
    APART_M,
    COURSE_OWN_M,
    CROSSING_M,
    CROSSING_TURN,
    FITTING_M,
    HELD_M,
    LEFT_OVER_M,
    LINKED_M,
    OBSTACLE_POINTS_MIN,
    SAMPLE_M,
    TOWER_ALONG_M,
    TOWER_ASIDE_M,
)
from tasks.line.scene import BUILDING, GROUND, HIGH, LOW, MEDIUM, NOISE, TOWER, WATER, WIRE
from tasks.line.towers import Tower
from tasks.line.wire_seeds import thinned

Floats = NDArray[np.float64]
Classes = NDArray[np.uint8]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
Place = tuple[float, float, float]

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


@dataclass(frozen=True)
class _Beside:
    """Points beside wires, the wire of each and where it is nearest to the middle of that."""

    places: Floats
    classes: Classes
    wire: Indices
    there: Floats
    bundles: Sequence[Bundle]

    def nearest(self, rows: Indices, points: int) -> Obstacle:
        """Return the nearest of these as the obstacle that so many are."""
        return min((self._obstacle(row, points) for row in rows), key=_rank)

    def _obstacle(self, row: int, points: int) -> Obstacle:
        place, there, wire = self.places[row], self.there[row], int(self.wire[row])
        kind = KINDS.get(int(self.classes[row]), "vegetation")
        distance_m = self.bundles[wire].distance_m(place, there)
        return Obstacle(kind, _place(place), wire, _place(there), distance_m, points)


class Around:
    """Places by where they are: on a long line it is too much to go through all of them for each."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._tree = cKDTree(np.array(places, np.float64).reshape(-1, 3))

    def within(self, place: Place, far_m: float) -> list[int]:
        """Return which of the places are no farther from one, in their order."""
        near = self._tree.query_ball_point(place, far_m + HALF_MM, return_sorted=True)
        return [each for each in near if math.dist(self._places[each], place) <= far_m]


def close_places(
    curves: Sequence[Curve],
    towers: Sequence[Tower],
    places: Floats,
    classes: Classes,
    within_m: float,
) -> list[Obstacle]:
    """Return the nearest of what comes so near to a wire in every cube of ``LINKED_M``, and the wires
    that cross. Which cubes there are does not depend on where a line is cut; what is told of them is
    chosen when all of it is there (``told_once``)."""
    if not curves:
        return []
    at_wire = np.flatnonzero(~np.isin(classes, (GROUND, WATER, NOISE)))
    courses = [course_of(each, places[at_wire]) for each in curves]
    samples = [
        each.places(np.arange(each.curve.start_m, each.curve.end_m, SAMPLE_M)) for each in courses
    ]
    of_wire = np.repeat(np.arange(len(curves)), [len(each) for each in samples])
    line = np.concatenate(samples)
    beyond_m = within_m + COURSE_OWN_M  # so near to its middle is what is that near to an edge
    other = ~np.isin(classes, (WIRE, TOWER, NOISE)) & _around(places, line, beyond_m)
    near = np.flatnonzero(other)
    far, sample = cKDTree(line).query(places[near], distance_upper_bound=beyond_m)
    kept = np.isfinite(far) & ~_at_tower(places[near], towers)
    near, far, sample = near[kept], far[kept], sample[kept]
    kept = ~_left_over(places[near], far)
    near, sample = near[kept], sample[kept]
    places, classes, wire_points = places[near], classes[near], places[classes == WIRE]
    there = _there(places, line, sample, _ways(samples))
    bundles = [Bundle.of(each, wire_points) for each in courses]
    beside = _Beside(places, classes, of_wire[sample], there, bundles)
    far = np.linalg.norm(places - there, axis=1)
    ends = np.concatenate([each[[0, -1]] for each in samples])
    found = []
    for cluster in _linked(places):
        few = len(cluster) < OBSTACLE_POINTS_MIN
        if few or _is_fitting(places[cluster], far[cluster], ends):
            continue
        for cube in _cubed(places[cluster], LINKED_M):
            rows = cluster[cube]
            rows = rows[far[rows] <= far[rows].min() + COURSE_OWN_M]
            found.append(beside.nearest(rows, len(cube)))
    return [each for each in found if each.distance_m <= within_m] + _crossings(curves, samples)


def told_once(found: Sequence[Obstacle]) -> list[Obstacle]:
    """Return the nearest of each obstacle, and of what of it is far from that the next, the nearest
    first. Cubes that touch are of one obstacle; a few stray points are none."""
    told = [each for each in found if each.kind == CROSSING]
    close = [each for each in found if each.kind != CROSSING]
    places = np.array([each.place for each in close]).reshape(-1, 3)
    for cluster in _clusters(places, LINKED_M):
        ranked = sorted((close[each] for each in cluster), key=_rank)
        around = Around([each.place for each in ranked])
        count = left = sum(each.points for each in ranked)
        gone: set[int] = set()
        for number, each in enumerate(ranked):
            if left < OBSTACLE_POINTS_MIN:
                break
            if number not in gone:
                told.append(replace(each, points=count))
                beside = set(around.within(each.place, APART_M)) - gone
                gone |= beside
                left -= sum(ranked[at].points for at in beside)
    return sorted(told, key=_rank)


def _rank(obstacle: Obstacle) -> tuple[float, Place]:
    """The nearest first, to the centimetre: less than that depends on where a line is cut."""
    return round(obstacle.distance_m, 2), obstacle.place


def _ways(samples: Sequence[Floats]) -> Floats:
    """Which way a wire goes at each of its samples."""
    ways = np.concatenate(
        [np.gradient(each, axis=0) if len(each) > 1 else np.zeros_like(each) for each in samples]
    )
    ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), SAMPLE_M)
    return np.asarray(ways, np.float64)


def _there(points: Floats, line: Floats, at: Indices, ways: Floats) -> Floats:
    """The place on the middle of its wire that each point is nearest to."""
    beyond = ((points - line[at]) * ways[at]).sum(axis=1, keepdims=True)
    there: Floats = line[at] + np.clip(beyond, -0.5 * SAMPLE_M, 0.5 * SAMPLE_M) * ways[at]
    return there


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


def _cubes(places: Floats, size_m: float) -> Indices:
    return np.floor((places + HALF_MM) / size_m).astype(np.int64)


def _cubed(places: Floats, size_m: float) -> list[Indices]:
    """Which points lie in one cube, for each cube."""
    _, cube = np.unique(_cubes(places, size_m), axis=0, return_inverse=True)
    return _together(cube.ravel())


def _linked(places: Floats) -> list[Indices]:
    """Which points hang together."""
    if not len(places):
        return []
    cloud = thinned(places + HALF_MM)
    pairs = cloud.tree.query_pairs(LINKED_M, output_type="ndarray")
    return _together(_numbered(pairs, len(cloud.places))[cloud.cube])


def _clusters(places: Floats, size_m: float) -> list[Indices]:
    """Which points lie in cubes that touch each other, directly or by others."""
    if not len(places):
        return []
    cubes, cube = np.unique(_cubes(places, size_m), axis=0, return_inverse=True)
    pairs = cKDTree(cubes).query_pairs(1.5, p=np.inf, output_type="ndarray")
    return _together(_numbered(pairs, len(cubes))[cube.ravel()])


def _numbered(pairs: Indices, size: int) -> Indices:
    """For each of so many the number of those that it is linked to."""
    links = coo_matrix((np.ones(len(pairs)), tuple(pairs.T)), shape=(size, size))
    return np.asarray(connected_components(links, directed=False)[1], np.int64)


def _together(number: Indices) -> list[Indices]:
    """The rows that have one number, for each number."""
    order = np.argsort(number, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(number[order])) + 1)


def _is_fitting(cluster: Floats, far: Floats, ends: Floats) -> bool:
    """Whether it is no more than what holds the end of a wire."""
    end = ends[np.argmin(np.linalg.norm(ends - cluster[np.argmin(far)], axis=1))]
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
