"""Points that may begin a wire: along one direction there are many others, beside it few.

The points are thinned first, so that a conductor has one to four of them on a metre, however dense
the scan is. Each point then tries the direction to every neighbour and keeps the one that most
neighbours lie along. A bundle of conductors is one wire here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tasks.line.parameters import (
    CROWD_FEW,
    CROWD_M,
    CROWD_MAX,
    CROWDED_EACH,
    SEED_LENGTH_M_FULL,
    SEED_LENGTH_M_MIN,
    SEED_NEIGHBOURS,
    SEED_REACH_M,
    SEED_SLOPE_MAX,
    SEED_TUBE_M,
    THIN_M,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

TAKEN_AT_ONCE = 400
"""So few that what is computed of them stays near the processor."""


@dataclass(frozen=True)
class Thinned:
    """At most one point in each cube, with its neighbours at hand."""

    places: Floats
    cube: Indices
    """Of every point that was thinned: which of ``places`` stands for it."""
    tree: cKDTree
    crowd: Indices
    """How many others lie around each."""
    weight: Floats
    """How much a point counts where a curve is laid: little in a crowd."""


@dataclass(frozen=True)
class Seeds:
    """For each thinned point how much it looks like one of a wire, and in which direction."""

    score: Floats
    direction: Floats


def thinned(points: Floats) -> Thinned:
    """Return the middle of the points of each cube of ``THIN_M``."""
    cube = np.floor(points / THIN_M).astype(np.int64)
    cube -= cube.min(axis=0)
    size = cube.max(axis=0) + 1
    key = (cube[:, 0] * size[1] + cube[:, 1]) * size[2] + cube[:, 2]
    _, number, count = np.unique(key, return_inverse=True, return_counts=True)
    places = np.stack([np.bincount(number, points[:, axis]) / count for axis in range(3)], axis=1)
    tree = cKDTree(places)
    crowd = np.asarray(tree.query_ball_point(places, CROWD_M, return_length=True), np.int64)
    weight = 1.0 / np.maximum(1.0, crowd / 8.0) ** 2
    return Thinned(places, number, tree, crowd, weight)


def seeds_of(cloud: Thinned) -> Seeds:
    """Return how each point scores; 0 where nothing lies along a line through it."""
    score = np.zeros(len(cloud.places))
    direction = np.zeros((len(cloud.places), 3))
    tried = np.floor(cloud.places / THIN_M).sum(axis=1) % CROWDED_EACH == 0
    alone = np.flatnonzero((cloud.crowd <= CROWD_FEW) | ((cloud.crowd <= CROWD_MAX) & tried))
    for begin in range(0, len(alone), TAKEN_AT_ONCE):
        these = alone[begin : begin + TAKEN_AT_ONCE]
        score[these], direction[these] = _scored(cloud, these)
    return Seeds(score, direction)


def _scored(cloud: Thinned, these: Indices) -> tuple[Floats, Floats]:
    here = cloud.places[these]
    far, near = _neighbours(cloud, here)
    there = np.isfinite(far)
    to = cloud.places[np.where(there, near, 0)] - here[:, None]
    to = np.where(there[..., None], to, 1e6).astype(np.float32)
    way = to / np.maximum(np.linalg.norm(to, axis=2, keepdims=True), 1e-6)
    along = to @ way.transpose(0, 2, 1)
    aside = (to**2).sum(axis=2)[:, :, None] - along**2
    inside = (aside < SEED_TUBE_M**2) & there[:, :, None]
    reach = np.where(inside, along, 0.0)
    length = reach.max(axis=1) - reach.min(axis=1)
    count = inside.sum(axis=1)
    share = count / np.maximum(there.sum(axis=1)[:, None], 4)
    wrong = ~there | (far < 1.0) | (np.abs(way[..., 2]) > SEED_SLOPE_MAX)
    wrong |= length < SEED_LENGTH_M_MIN
    score = np.where(wrong, 0.0, count * share * np.minimum(1.0, length / SEED_LENGTH_M_FULL))
    best, row = score.argmax(axis=1), np.arange(len(these))
    return score[row, best], way[row, best].astype(np.float64)


def _neighbours(cloud: Thinned, here: Floats) -> tuple[Floats, Indices]:
    """The nearest others; every other of twice as many where those would not reach far enough to
    tell a direction: several wires of one pole hang side by side."""
    count, reach = SEED_NEIGHBOURS, SEED_REACH_M
    far, near = cloud.tree.query(here, count + 1, distance_upper_bound=reach)
    far, near = far[:, 1:], near[:, 1:]
    crowded = np.flatnonzero(far[:, -1] < SEED_LENGTH_M_MIN)
    if len(crowded):
        wide = cloud.tree.query(here[crowded], 2 * count + 1, distance_upper_bound=reach)
        far[crowded], near[crowded] = (each[:, 2::2] for each in wide)
    return far, near
