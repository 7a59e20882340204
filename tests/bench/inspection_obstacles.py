"""What comes near the wires of the labelled scans, held against the labelled points of all of them.

The true distance of a place is that to the nearest labelled wire in the whole scan, also where only a
part of it was looked at: to a labelled point, or to the straight way between two that lie behind each
other on one conductor. A conductor is hit every half metre or metre, and does not end in between: to
the nearest hit it is up to 0.4 m farther.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from tasks.line.obstacles import Obstacle, close_places, told_once
from tasks.line.parameters import LINKED_M, OBSTACLE_POINTS_MIN, WITHIN_M
from tasks.line.scene import Scene
from tests.bench.inspection_scans import Scan

Floats = NDArray[np.float64]

TREES = (5, 26)
WIRES = (14,)
FOUND_M = 6.0
"""A long obstacle is told again so far on; so near to one of those a true one counts as told."""
OFF_M = 0.25
BETWEEN_M, CONDUCTOR_M = 1.5, 0.1
"""Two labelled points so near to each other along the way, and so little aside, are of one conductor."""


def obstacles_told(part: Scan, whole: Scan, scene: Scene) -> dict[str, Any]:
    """Return how many obstacles were told, how many true ones were not, how many have a wrong
    distance, and how many are none but pieces of a wire."""
    places, truth = part.places, part.points.classification
    told = told_once(
        close_places(scene.wires.curves, scene.towers, places, scene.classes, WITHIN_M)
    )
    told = [each for each in told if each.kind != "crossing"]
    wires = cKDTree(whole.places[np.isin(whole.points.classification, WIRES)])
    true_m = np.array([_true_m(np.array(each.place), wires) for each in told])
    found_m = np.array([each.distance_m for each in told])
    none = (true_m < 0.01) & (found_m > OFF_M)
    return {
        "told": len(told),
        "missed": _missed(told, places[np.isin(truth, TREES)], wires),
        "none": int(none.sum()),
        "off": int(((np.abs(true_m - found_m) > OFF_M) & ~none).sum()),
    }


def _true_m(place: Floats, wires: cKDTree) -> float:
    """How far it is to the nearest labelled conductor."""
    nearest_m, at = wires.query(place)
    hits = wires.data[wires.query_ball_point(wires.data[at], 2.0 * BETWEEN_M)]
    if len(hits) < 3:
        return float(nearest_m)
    way = np.linalg.svd(hits - hits.mean(axis=0), full_matrices=False)[2][0]
    one, other = np.triu_indices(len(hits), 1)
    step = hits[other] - hits[one]
    along = step @ way
    aside = np.linalg.norm(step - along[:, None] * way, axis=1)
    same = (np.abs(along) <= BETWEEN_M) & (aside <= CONDUCTOR_M) & (np.abs(along) > CONDUCTOR_M)
    start, step = hits[one[same]], step[same]
    share = ((place - start) * step).sum(axis=1) / (step**2).sum(axis=1)
    there = start + np.clip(share, 0.0, 1.0)[:, None] * step
    return float(min(nearest_m, np.linalg.norm(there - place, axis=1).min(initial=np.inf)))


def _missed(told: list[Obstacle], trees: Floats, wires: cKDTree) -> int:
    far = wires.query(trees, distance_upper_bound=WITHIN_M)[0]
    near, far = trees[np.isfinite(far)], far[np.isfinite(far)]
    if not len(near):
        return 0
    pairs = cKDTree(near).query_pairs(LINKED_M / 2, output_type="ndarray")
    links = coo_matrix((np.ones(len(pairs)), tuple(pairs.T)), shape=(len(near), len(near)))
    _, cluster = connected_components(links, directed=False)
    there = cKDTree([each.place for each in told]) if told else None
    missed = 0
    for number in np.flatnonzero(np.bincount(cluster) >= OBSTACLE_POINTS_MIN):
        its = np.flatnonzero(cluster == number)
        nearest = near[its[np.argmin(far[its])]]
        missed += int(there is None or there.query(nearest)[0] > FOUND_M)
    return missed
