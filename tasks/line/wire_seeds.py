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

from tasks.line.ground import ANCHOR_M
from tasks.line.parameters import (
    CROWD_FEW,
    CROWD_LONE,
    CROWD_M,
    CROWD_MAX,
    CROWDED_EACH,
    SEED_LENGTH_M_FULL,
    SEED_LENGTH_M_MIN,
    SEED_NEIGHBOURS,
    SEED_REACH_M,
    SEED_SCORE_TOLD,
    SEED_SLOPE_MAX,
    SEED_TUBE_M,
    THIN_M,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

TAKEN_AT_ONCE = 400
"""So few that what is computed of them stays near the processor."""

PAIRED_AT_ONCE = 100_000
"""Places whose neighbours are in memory together: in a crowd each has a hundred."""
LEAF = 32
"""Places that a tree does not part further: twenty or fifty neighbours of each are asked for."""


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
    """Return the points thinned to one for each cube of ``THIN_M``, in the middle of those in
    it."""
    cube = np.floor(points / THIN_M).astype(np.int64)
    cube -= cube.min(axis=0)
    size = cube.max(axis=0) + 1
    key = (cube[:, 0] * size[1] + cube[:, 1]) * size[2] + cube[:, 2]
    _, number, count = np.unique(key, return_inverse=True, return_counts=True)
    places = np.stack([np.bincount(number, points[:, axis]) / count for axis in range(3)], axis=1)
    tree = cKDTree(places, LEAF)
    crowd = _crowd(places, tree)
    weight = 1.0 / np.maximum(1.0, crowd / 8.0) ** 2
    return Thinned(places, number, tree, crowd, weight)


def _crowd(places: Floats, tree: cKDTree) -> Indices:
    """How many lie around each place, itself too: in pairs, which takes a third of asking for each;
    slab by slab from west to east, as places are in order."""
    crowd = np.ones(len(places), np.int64)
    column = np.floor(places[:, 0] / THIN_M)
    for begin in range(0, len(places), PAIRED_AT_ONCE):
        inside = min(PAIRED_AT_ONCE, len(places) - begin)
        last = column[begin + inside - 1] + CROWD_M / THIN_M
        end = int(np.searchsorted(column, last, "right"))
        slab = tree if end - begin == len(places) else cKDTree(places[begin:end], LEAF)
        pairs = slab.query_pairs(CROWD_M, output_type="ndarray")
        own = pairs[pairs[:, 0] < inside]
        crowd[begin:end] += np.bincount(own.ravel(), minlength=end - begin)
    return crowd


def seeds_of(cloud: Thinned) -> Seeds:
    """Return for each thinned point how much it looks like a piece of wire; 0 where too little lies
    around it to tell, or it was not tried. Some points are tried first, others only near those that
    scored well, so that woods cost little."""
    seeds = Seeds(np.zeros(len(cloud.places)), np.zeros((len(cloud.places), 3)))
    crowd, cube = cloud.crowd, np.floor(cloud.places / THIN_M).astype(np.int64)
    alone = (crowd <= CROWD_FEW) | ((crowd <= CROWD_MAX) & (cube.sum(axis=1) % CROWDED_EACH == 0))
    first = alone & (
        (crowd <= CROWD_LONE) | (crowd > CROWD_FEW) | (_mixed(cube) % CROWDED_EACH == 0)
    )
    _try(cloud, np.flatnonzero(first), seeds)
    told = cloud.places[seeds.score >= SEED_SCORE_TOLD]
    left = np.flatnonzero(alone & ~first)
    if len(told) and len(left):
        far = cKDTree(told).query(cloud.places[left], distance_upper_bound=SEED_REACH_M)[0]
        _try(cloud, left[np.isfinite(far)], seeds)
    return seeds


def _try(cloud: Thinned, these: Indices, seeds: Seeds) -> None:
    """Write how these points score."""
    for begin in range(0, len(these), TAKEN_AT_ONCE):
        part = these[begin : begin + TAKEN_AT_ONCE]
        seeds.score[part], seeds.direction[part] = _scored(cloud, part)


def _mixed(cube: Indices) -> Indices:
    """A number for each cube that follows no direction, and is the same in every tile."""
    cube = cube % int(ANCHOR_M / THIN_M) * (73_856_093, 19_349_663, 83_492_791)
    mixed: Indices = np.bitwise_xor.reduce(cube, axis=1)
    return mixed


def _scored(cloud: Thinned, these: Indices) -> tuple[Floats, Floats]:
    score, direction = np.zeros(len(these)), np.zeros((len(these), 3))
    here = cloud.places[these]
    far, near = _neighbours(cloud, here)
    there = np.isfinite(far)
    to = cloud.places[np.where(there, near, 0)] - here[:, None]
    to = np.where(there[..., None], to, 1e6).astype(np.float32)
    way = to / np.maximum(np.linalg.norm(to, axis=2, keepdims=True), 1e-6)
    wrong = ~there | (far < 1.0) | (np.abs(way[..., 2]) > SEED_SLOPE_MAX)
    along = to @ way.transpose(0, 2, 1)
    beside = (to**2).sum(axis=2) - SEED_TUBE_M**2
    inside = (along * along > beside[:, :, None]) & there[:, :, None]
    count = inside.view(np.uint8).sum(axis=1, dtype=np.uint8).astype(np.int64)
    most = np.where(wrong, 0.0, count * (count / np.maximum(there.sum(axis=1)[:, None], 4)))
    row = np.flatnonzero(most.max(axis=1) >= SEED_SCORE_TOLD)
    reach = np.where(inside[row], along[row], 0.0)
    length = reach.max(axis=1) - reach.min(axis=1)
    found = np.where(length < SEED_LENGTH_M_MIN, 0.0, most[row])
    found *= np.minimum(1.0, length / SEED_LENGTH_M_FULL)
    best = found.argmax(axis=1)
    score[row], direction[row] = found[np.arange(len(row)), best], way[row, best]
    return score, direction


def _neighbours(cloud: Thinned, here: Floats) -> tuple[Floats, Indices]:
    """The nearest others; every other of twice as many where those would not reach far enough to
    tell a direction: several wires of one pole hang side by side."""
    count = SEED_NEIGHBOURS
    far, near = cloud.tree.query(here, 2 * count + 1, distance_upper_bound=SEED_REACH_M)
    crowded = far[:, count] < SEED_LENGTH_M_MIN
    chosen = np.arange(1, count + 1) * (1 + crowded[:, None])
    return np.take_along_axis(far, chosen, 1), np.take_along_axis(near, chosen, 1)
