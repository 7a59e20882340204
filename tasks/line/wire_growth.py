"""Seeds that grow into pieces of wire, and pieces that are joined into wires.

A piece reaches out along its own curve, takes what lies on that, and is laid anew, until nothing
comes. It ends where no points come for long. What is beside it tells a wire from the edge of a roof
or a row of leaves: a wire hangs in the air.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tasks.line.curve import Curve, begun, laid
from tasks.line.parameters import (
    BIN_M,
    CLEAN_M_ALONE,
    CLEAN_SHARE,
    GAP_M,
    GAP_USUAL,
    JOIN_GAP_M,
    JOIN_OFF_EACH_M,
    JOIN_OFF_M,
    LOCAL_CLEAN,
    LOCAL_M,
    LOCAL_M_MIN,
    LOCAL_RESIDUAL_M_MAX,
    PIECE_M_MIN,
    RESIDUAL_M_MAX,
    SEED_SCORE_MIN,
    SHELL_M,
    TUBE_M,
)
from tasks.line.wire_seeds import Seeds, Thinned

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

TURNED_AFTER = (2, 4, 7, 11, 16)
LOCAL_STEPS, STEPS = 8, 40
REACH_M = (3.0, 20.0)
POINTS_MIN = 4
SIDE_BY_SIDE_M = 0.7
FAILED_WITH_M = 3.0
CORRIDOR_M, AHEAD_M = 8.0, 150.0


@dataclass(frozen=True)
class Piece:
    """A curve with the thinned points on it, and how free it hangs."""

    curve: Curve
    members: Indices
    seen_share: float = 0.0
    """Of its length, where there are points on it."""
    clean_m: float = 0.0
    """Of its length, where there are and hardly any beside it."""


def grown_pieces(cloud: Thinned, seeds: Seeds) -> list[Piece]:
    """Return every piece that hangs free enough, none of them twice."""
    open_, taken = seeds.score >= SEED_SCORE_MIN, np.zeros(len(cloud.places), bool)
    pieces: list[Piece] = []
    for seed in np.argsort(-seeds.score, kind="stable"):
        if seeds.score[seed] < SEED_SCORE_MIN:
            break
        if not open_[seed] or taken[seed]:
            continue
        piece = _from_seed(cloud, seeds, int(seed), taken, open_)
        if piece is None:
            continue
        along, across = piece.curve.away(cloud.places)
        on = (across < SIDE_BY_SIDE_M) & (along > piece.curve.start_m - 1.0)
        taken |= on & (along < piece.curve.end_m + 1.0)
        pieces.append(piece)
    return pieces


def _from_seed(cloud: Thinned, seeds: Seeds, seed: int, taken: Mask, open_: Mask) -> Piece | None:
    near = np.asarray(cloud.tree.query_ball_point(cloud.places[seed], LOCAL_M), np.int64)
    start = begun(cloud.places[seed], seeds.direction[seed], LOCAL_M / 4.0)
    small = grown(start, cloud.places[near], cloud.weight[near], LOCAL_STEPS)
    if small is None:
        return None
    own = near[small.members]
    small = seen(small, cloud.places[near], taken[near])
    free = small.clean_m >= LOCAL_CLEAN * min(small.curve.length_m, LOCAL_M)
    free &= small.curve.length_m >= LOCAL_M_MIN and small.curve.residual_m <= LOCAL_RESIDUAL_M_MAX
    piece = _grown_on(cloud, small, taken) if free and taken[own].mean() <= 0.5 else None
    if piece is None:
        open_[own] &= _far(cloud.places[own], cloud.places[seed])
    return piece


def _grown_on(cloud: Thinned, small: Piece, taken: Mask) -> Piece | None:
    """What a small piece grows into; None where that does not hang free or was found before. Where it
    went over into a wire that was, it grows again without that: on a slope the spans of both sides of
    a tower may be one curve."""
    piece = grown(small.curve, cloud.places, cloud.weight, STEPS)
    if piece is not None and taken[piece.members].mean() > 0.5:
        left = np.flatnonzero(~taken)
        piece = grown(small.curve, cloud.places[left], cloud.weight[left], STEPS)
        piece = None if piece is None else replace(piece, members=left[piece.members])
    if piece is None or piece.curve.length_m < PIECE_M_MIN:
        return None
    if piece.curve.residual_m > RESIDUAL_M_MAX:
        return None
    piece = seen(piece, cloud.places, taken)
    filled_m = piece.curve.length_m * piece.seen_share
    free = piece.clean_m >= min(CLEAN_SHARE * filled_m, CLEAN_M_ALONE)
    return piece if free and piece.clean_m >= PIECE_M_MIN else None


def _far(places: Floats, from_: Floats) -> Mask:
    """What is so near on the same curve would fail as this did."""
    far: Mask = np.linalg.norm(places - from_, axis=1) > FAILED_WITH_M
    return far


def grown(
    curve: Curve, places: Floats, weight: Floats, steps: int, gap_m: float = GAP_M[1]
) -> Piece | None:
    """Return the piece that a curve grows into; None where it has no points. ``gap_m`` without a
    point ends it."""
    near, along, aside = _corridor(curve, places)
    members, last = np.zeros(0, np.int64), (0, 0.0, 0.0)
    for step in range(steps):
        members = _on(curve, places[near], along, aside, gap_m)
        if len(members) < POINTS_MIN:
            return None
        on = near[members]
        curve = _relaid(curve, places[on], weight[on], along[members])
        now = len(members), round(curve.start_m, 1), round(curve.end_m, 1)
        if now == last:
            break
        last = now
        if step in TURNED_AFTER:
            kept = near[members]
            curve = curve.turned()
            curve = _relaid(curve, places[kept], weight[kept], curve.frame(places[kept])[0])
            near, along, aside = _corridor(curve, places)
            members = np.searchsorted(near, kept)
    return Piece(curve, near[members])


def _corridor(curve: Curve, places: Floats) -> tuple[Indices, Floats, Floats]:
    """The points that the curve may come to before it is turned again, and where they are."""
    along, aside = curve.frame(places)
    beyond = np.maximum(0.0, np.maximum(curve.start_m - along, along - curve.end_m))
    near = np.flatnonzero((np.abs(aside) < CORRIDOR_M + 0.1 * beyond) & (beyond < AHEAD_M))
    return near, along[near], aside[near]


def _relaid(curve: Curve, places: Floats, weight: Floats, along: Floats) -> Curve:
    curve = replace(curve, start_m=float(along.min()), end_m=float(along.max()))
    return laid(curve, places, weight)


def _on(curve: Curve, places: Floats, along: Floats, aside: Floats, gap_m: float) -> Indices:
    """The points on the curve and a little beyond its ends, without those behind a gap."""
    reach = min(max(0.35 * curve.length_m, REACH_M[0]), max(REACH_M[1], gap_m))
    beyond = np.maximum(0.0, np.maximum(curve.start_m - along, along - curve.end_m))
    near = np.flatnonzero(
        (beyond < reach) & (np.abs(aside - curve.aside_at(along)) < TUBE_M[1] + 0.02 * beyond)
    )
    wide = min(max(2.5 * curve.residual_m + 0.1, TUBE_M[0]), TUBE_M[1])
    up = np.abs(places[near, 2] - curve.height_at(along[near]))
    near = near[up < wide + 0.03 * beyond[near]]
    near = np.asarray(near[np.argsort(along[near], kind="stable")], np.int64)
    way = along[near]
    if len(way) < POINTS_MIN:
        return near
    steps = way[1:] - way[:-1]
    apart = np.sort(steps[steps > 0])
    usual = (
        float(apart[len(apart) // 2] + apart[(len(apart) - 1) // 2]) / 2 if len(apart) else GAP_M[0]
    )
    least = GAP_M[0] if gap_m <= GAP_M[1] else gap_m
    breaks = np.flatnonzero(steps > min(max(GAP_USUAL * usual, least), gap_m))
    middle = int(np.searchsorted(way, 0.5 * (curve.start_m + curve.end_m)))
    middle = min(max(middle, 1), len(way) - 1)
    before, after = breaks[breaks < middle], breaks[breaks >= middle]
    first = int(before[-1]) + 1 if len(before) else 0
    last = int(after[0]) + 1 if len(after) else len(way)
    kept: Indices = near[first:last]
    return kept


def seen(piece: Piece, places: Floats, other: Mask) -> Piece:
    """Return the piece with how much of it is seen, and how much of that hangs free; the points of
    ``other`` wires beside it do not count."""
    curve = piece.curve
    along, across = curve.away(places)
    inside = (along >= curve.start_m) & (along <= curve.end_m) & (across < SHELL_M[1])
    inside &= ~(other & (across >= SHELL_M[0]))
    along, across = along[inside], across[inside]
    bins = max(1, int(curve.length_m / BIN_M))
    each_m = curve.length_m / bins
    bin_ = np.minimum(((along - curve.start_m) / (each_m + 1e-9)).astype(np.int64), bins - 1)
    on = np.bincount(bin_[across < 0.5], minlength=bins)
    beside = np.bincount(bin_[across >= SHELL_M[0]], minlength=bins)
    clean = (on > 0) & (beside <= 0.5 * on)
    return replace(piece, seen_share=float((on > 0).mean()), clean_m=each_m * float(clean.sum()))


def joined(pieces: list[Piece], cloud: Thinned) -> list[Piece]:
    """Return the pieces, those of one wire put together, the longest first."""
    left = sorted(pieces, key=lambda each: -each.curve.length_m)
    wires: list[Piece] = []
    while left:
        wire, number = left.pop(0), 0
        while number < len(left):
            both = _both(wire, left[number], cloud)
            if both is None:
                number += 1
                continue
            wire = both
            del left[number]
            number = 0
        wires.append(wire)
    return wires


def _both(wire: Piece, other: Piece, cloud: Thinned) -> Piece | None:
    """One piece of two whose curves go over into each other."""
    theirs = cloud.places[other.members]
    along, across = wire.curve.away(theirs)
    gap_m = max(0.0, float(along.min()) - wire.curve.end_m, wire.curve.start_m - float(along.max()))
    if gap_m > min(max(0.6 * wire.curve.length_m, JOIN_GAP_M[0]), JOIN_GAP_M[1]):
        return None
    if float(np.median(across)) > JOIN_OFF_M + JOIN_OFF_EACH_M * gap_m:
        return None
    members = np.union1d(wire.members, other.members)
    places = cloud.places[members]
    curve = _relaid(wire.curve, places, cloud.weight[members], wire.curve.frame(places)[0])
    usual = max(wire.curve.residual_m, other.curve.residual_m, 0.1)
    if curve.residual_m > 1.4 * usual or float(np.median(curve.away(theirs)[1])) > 0.35:
        return None
    clean_m = wire.clean_m + other.clean_m
    filled_m = wire.seen_share * wire.curve.length_m + other.seen_share * other.curve.length_m
    return Piece(curve, members, min(1.0, filled_m / curve.length_m), clean_m)
