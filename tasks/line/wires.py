"""The wires of a tile: which curves are wires, and which points lie on them.

A curve that is long and hangs free is a wire by itself. A short one is a wire beside such a one, or
beyond its end on the other side of a tower. What runs along a building is none. Then wires that are
too sparse to begin by themselves are looked for beside those that were found: an earth wire may have
one point on twenty metres, but they lie where it hangs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tasks.line.curve import Curve, hung
from tasks.line.ground import Terrain
from tasks.line.parameters import (
    BIN_M,
    COMPANY_ASIDE_M,
    COMPANY_BEYOND_M,
    COMPANY_END_M,
    COMPANY_TURN,
    COMPANY_UP_M,
    LOWEST_M_MIN,
    MISSED_CELL_M,
    MISSED_CROWD_MAX,
    MISSED_GAP_M,
    MISSED_POINTS_MIN,
    MISSED_REACH_M,
    MISSED_SPREAD_M,
    MISSED_WINDOW_M,
    RESIDUAL_M_MAX,
    SHELL_M,
    SOLID_HIGH_M,
    SOLID_M,
    SOLID_SHARE_MAX,
    STANDING_ASIDE_M,
    STANDING_BIN_M,
    STANDING_FILLED,
    STANDING_M_MAX,
    STANDING_SHARE_MAX,
    SURE_CLEAN,
    SURE_CLEAN_LONG,
    SURE_M_LONG,
    SURE_M_MIN,
    USUAL_M_MIN,
)
from tasks.line.wire_growth import Piece, grown, grown_pieces, joined, seen
from tasks.line.wire_points import on_wires
from tasks.line.wire_seeds import Thinned, seeds_of, thinned

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Wires:
    """The curves, and for each point the number of the wire it lies on, -1 for none."""

    curves: tuple[Curve, ...]
    seen: tuple[float, ...]
    """Of the length of each, how much has points."""
    of_point: Indices


@dataclass(frozen=True)
class Standing:
    """What stands on the ground and is no higher than the lowest wires, and how high each point is."""

    terrain: Terrain
    points: Floats
    above_m: Floats

    def heights(self, curve: Curve) -> Floats:
        """Return how high a curve is above the ground, every few metres."""
        places = curve.places(_middles(curve, STANDING_BIN_M))
        high_m: Floats = places[:, 2] - self.terrain.below(places[:, 0], places[:, 1])
        return high_m

    def holds(self, curve: Curve) -> bool:
        """Tell whether a curve cannot be a wire: it is too low, or has something below it down to
        the ground, as the top of a fence or hedge has."""
        high_m = self.heights(curve)
        usual_m = float(np.median(high_m))
        if usual_m < USUAL_M_MIN or float(np.percentile(high_m, 10)) < LOWEST_M_MIN:
            return True
        return usual_m <= STANDING_M_MAX and self._share(curve, high_m) > STANDING_SHARE_MAX

    def _share(self, curve: Curve, high_m: Floats) -> float:
        bins = len(high_m)
        along, aside = curve.frame(self.points)
        below = (along >= curve.start_m) & (along < curve.end_m)
        below &= np.abs(aside - curve.aside_at(along)) < STANDING_ASIDE_M
        each_m = curve.length_m / bins
        bin_ = np.minimum(((along[below] - curve.start_m) / each_m).astype(np.int64), bins - 1)
        filled = np.zeros((bins, int(STANDING_M_MAX) + 1), bool)
        filled[bin_, self.above_m[below].astype(np.int64)] = True
        levels: Mask = np.arange(filled.shape[1])[None] < np.maximum(high_m - 0.5, 1.0)[:, None]
        share = (filled & levels).sum(axis=1) / levels.sum(axis=1)
        return float((share >= STANDING_FILLED).mean())


def _middles(curve: Curve, size_m: float) -> Floats:
    bins = max(1, int(curve.length_m / size_m))
    return np.asarray(curve.start_m + curve.length_m / bins * (np.arange(bins) + 0.5), np.float64)


def wires_of(points: Floats, solid: Mask, standing: Standing) -> Wires:
    """Return the wires among points that are high enough for one; ``solid`` says which of them are
    part of a building, as far as their own surroundings tell."""
    if len(points) < SURE_M_MIN:
        return Wires((), (), np.full(len(points), -1, np.int64))
    cloud = thinned(points)
    pieces = joined(grown_pieces(cloud, seeds_of(cloud)), cloud)
    pieces = accepted(pieces, points[solid], standing)
    pieces = joined(pieces + missed(pieces, cloud), cloud)
    curves = tuple(hung(each.curve, cloud.places[each.members]) for each in pieces)
    nobody = np.zeros(len(cloud.places), bool)
    shares = tuple(seen(each, cloud.places, nobody).seen_share for each in pieces)
    return Wires(curves, shares, on_wires(curves, points))


def accepted(pieces: Sequence[Piece], solid: Floats, standing: Standing) -> list[Piece]:
    """Return the pieces that count as wires: the sure ones, and uncertain ones beside those."""
    free = [each for each in pieces if not standing.holds(each.curve)]
    free = [each for each in free if not _is_solid(each.curve, solid, standing)]
    sure = [each for each in free if _is_sure(each)]
    kept = list(sure)
    left = [each for each in free if not _is_sure(each)]
    while found := [each for each in left if any(_keeps_company(each, one) for one in kept)]:
        kept += found
        left = [each for each in left if not any(each is one for one in found)]
    return kept


def _is_sure(piece: Piece) -> bool:
    length_m = piece.curve.length_m
    if length_m < SURE_M_MIN:
        return False
    filled_m = max(length_m * piece.seen_share, 1.0)
    share = SURE_CLEAN_LONG if length_m >= SURE_M_LONG else SURE_CLEAN
    return piece.clean_m >= share * filled_m


def _is_solid(curve: Curve, solid: Floats, standing: Standing) -> bool:
    """Whether too much of a curve is beside a building; a high line keeps farther away from one."""
    if _solid_share(curve, solid, SOLID_M[0]) > SOLID_SHARE_MAX[0]:
        return True
    high = float(np.median(standing.heights(curve))) > SOLID_HIGH_M
    return high and _solid_share(curve, solid, SOLID_M[1]) > SOLID_SHARE_MAX[1]


def _solid_share(curve: Curve, solid: Floats, reach_m: float) -> float:
    along, across = curve.away(solid)
    near = (across >= SHELL_M[0]) & (across < 2.0 * reach_m)
    solid = solid[near & (along > curve.start_m - reach_m) & (along < curve.end_m + reach_m)]
    if not len(solid):
        return 0.0
    places = curve.places(np.arange(curve.start_m, curve.end_m, BIN_M))
    around = cKDTree(solid).query_ball_point(places, reach_m, return_length=True)
    return float((np.asarray(around) >= 3).mean())


def _keeps_company(piece: Piece, sure: Piece) -> bool:
    """Whether it goes the same way, beside a sure one or beyond its end, or begins where such a one
    ends: on the other side of a tower a line may turn."""
    one, other = piece.curve, sure.curve
    if _ends_meet(one, other):
        return True
    turned = abs(one.way[0] * other.way[1] - one.way[1] * other.way[0])
    if turned > COMPANY_TURN:
        return False
    ends = one.places(np.array([one.start_m, 0.5 * (one.start_m + one.end_m), one.end_m]))
    along, aside = other.frame(ends)
    inside = np.clip(along, other.start_m, other.end_m)
    beyond = float(np.abs(along - inside).min())
    up = float(np.abs(ends[:, 2] - other.height_at(inside)).min())
    off = float(np.abs(aside - other.aside_at(inside)).max())
    return beyond <= COMPANY_BEYOND_M and up <= COMPANY_UP_M and off <= COMPANY_ASIDE_M


def _ends_meet(one: Curve, other: Curve) -> bool:
    theirs = other.places(np.array([other.start_m, other.end_m]))
    ours = one.places(np.array([one.start_m, one.end_m]))
    apart = np.linalg.norm(ours[:, None] - theirs[None], axis=2)
    along, _ = other.frame(ours)
    outside = (
        np.maximum(other.start_m - along, along - other.end_m).max() > 0.8 * one.length_m * 0.5
    )
    return bool(apart.min() <= COMPANY_END_M and outside)


# Wires that nothing began


def missed(wires: Sequence[Piece], cloud: Thinned) -> list[Piece]:
    """Return wires that hang beside these and have too few points to begin by themselves."""
    taken = np.zeros(len(cloud.places), bool)
    for each in wires:
        along, across = each.curve.away(cloud.places)
        near = (along > each.curve.start_m - 3.0) & (along < each.curve.end_m + 3.0)
        taken |= near & (across < SHELL_M[0])
    found: list[Piece] = []
    for each in wires:
        if each.curve.length_m >= MISSED_WINDOW_M:
            found += _missed_beside(each.curve, cloud, taken)
    return found


def _missed_beside(curve: Curve, cloud: Thinned, taken: Mask) -> list[Piece]:
    found: list[Piece] = []
    along, aside = curve.frame(cloud.places)
    off = aside - curve.aside_at(along)
    up = cloud.places[:, 2] - curve.height_at(along)
    wide = (np.abs(off) < MISSED_REACH_M) & (np.abs(up) < MISSED_REACH_M)
    step = 0.5 * MISSED_WINDOW_M
    for start in np.arange(curve.start_m, curve.end_m - step, step):
        inside = wide & ~taken & (along >= start) & (along < start + MISSED_WINDOW_M)
        these = np.flatnonzero(inside)
        lone = cloud.crowd[these] <= MISSED_CROWD_MAX
        for cell in _thin_lines(along[these], off[these], up[these], lone):
            piece = _grown_beside(curve, cloud, these[cell], start)
            if piece is None or taken[piece.members].mean() > 0.8:
                continue
            piece = seen(piece, cloud.places, taken)
            if piece.clean_m < 0.7 * piece.curve.length_m * piece.seen_share:
                continue
            taken[piece.members] = True
            found.append(piece)
    return found


def _thin_lines(along: Floats, off: Floats, up: Floats, lone: Mask) -> list[Indices]:
    """Which points lie in one place across the way, far apart along it, and alone."""
    lines: list[Indices] = []
    these = np.flatnonzero(lone)
    if len(these) < MISSED_POINTS_MIN:
        return lines
    across = np.stack([off, up], axis=1)
    near = cKDTree(across[these]).query_ball_point(across[these], MISSED_CELL_M)
    wide = cKDTree(across).query_ball_point(across[these], 4.0 * MISSED_CELL_M, return_length=True)
    done = np.zeros(len(along), bool)
    for number in np.argsort([-len(each) for each in near], kind="stable"):
        cell = these[np.asarray(near[number], np.int64)]
        if len(cell) < MISSED_POINTS_MIN:
            break
        alone = len(cell) >= 0.6 * wide[number]
        if done[cell].any() or not alone or np.ptp(along[cell]) < MISSED_SPREAD_M:
            continue
        done[cell] = True
        lines.append(cell)
    return lines


def _grown_beside(curve: Curve, cloud: Thinned, points: Indices, start: float) -> Piece | None:
    """A piece that hangs as its neighbour does, through these points."""
    along, aside = curve.frame(cloud.places[points])
    off = float(np.median(aside - curve.aside_at(along)))
    up = float(np.median(cloud.places[points, 2] - curve.height_at(along)))
    begin = Curve(
        curve.origin,
        curve.way,
        max(start, float(along.min())),
        float(along.max()),
        (*curve.aside[:-1], curve.aside[-1] + off),
        (*curve.height[:-1], curve.height[-1] + up),
    )
    piece = grown(begin, cloud.places, cloud.weight, 20, MISSED_GAP_M)
    if piece is None or piece.curve.residual_m > RESIDUAL_M_MAX:
        return None
    return piece
