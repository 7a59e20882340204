"""Where a wire really goes, place by place: its curve, mended by what was measured within a few metres.

A curve is laid through all of a wire that a tile has, so in two tiles that see different parts of one
wire it differs by centimetres. Its course does not: at every place it follows the points around that
place alone, those far off count for nothing, and it is computed until nothing moves any more. Tiles
that see the same points have the same course, and with it the same points of wires and the same
distances, wherever a line is cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.line.curve import Curve
from tasks.line.parameters import (
    COURSE_BEYOND_M,
    COURSE_M,
    COURSE_OWN_M,
    COURSE_POINTS_MIN,
    COURSE_STEP_M,
    COURSE_WIDE_M,
)

Floats = NDArray[np.float64]

ROUNDS_MAX = 60
AT_ONCE = 300_000
"""Points of stations, each for every station near it, that are in memory together."""
STILL_M = 1e-8
SINGULAR = 1e-6
STEADY = (1e-6, 0.02, 0.05)


@dataclass(frozen=True)
class Course:
    """How far a wire goes aside of its curve and above it, and how far its points scatter, aside
    and above, at some distances along it; nothing where too few points tell."""

    curve: Curve
    along: Floats
    off_m: Floats
    up_m: Floats
    wide_m: Floats
    high_m: Floats

    def shift(self, along: Floats) -> tuple[Floats, Floats]:
        """Return how far aside of the curve and above it the wire is at these distances."""
        if not len(self.along):
            return np.zeros(len(along)), np.zeros(len(along))
        return np.interp(along, self.along, self.off_m), np.interp(along, self.along, self.up_m)

    def scatter(self, along: Floats) -> Floats:
        """Return how far the points of the wire lie from its middle."""
        if not len(self.along):
            return np.full(len(along), self.curve.residual_m)
        wide_m, high_m = (np.interp(along, self.along, each) for each in (self.wide_m, self.high_m))
        return np.hypot(wide_m, high_m)

    def beside(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """Return how far along the curve points are, how far aside of the course and above it."""
        along, aside = self.curve.frame(points)
        off, up = self.shift(along)
        aside = aside - self.curve.aside_at(along) - off
        return along, aside, points[:, 2] - self.curve.height_at(along) - up

    def away(self, points: Floats) -> tuple[Floats, Floats]:
        """Return how far along the curve points are, and how far across from the course."""
        along, aside, up = self.beside(points)
        return along, np.hypot(aside, up)

    def places(self, along: Floats) -> Floats:
        """Return the places of the wire at these distances along its way."""
        off, up = self.shift(along)
        east, north = self.curve.way
        places = self.curve.places(along)
        return places + np.stack([-off * north, off * east, up], axis=1)


def course_of(curve: Curve, points: Floats) -> Course:
    """Return the course of a wire among points, whatever they were taken for."""
    along, aside = curve.frame(points)
    off, up = aside - curve.aside_at(along), points[:, 2] - curve.height_at(along)
    near = np.flatnonzero(
        (along >= curve.start_m - COURSE_BEYOND_M)
        & (along <= curve.end_m + COURSE_BEYOND_M)
        & (np.hypot(off, up) < 1.5 * COURSE_WIDE_M)
    )
    near = near[np.argsort(along[near], kind="stable")]
    stations = _stations(curve)
    first, last = (np.searchsorted(along[near], stations + by) for by in (-COURSE_M, COURSE_M))
    kept = np.flatnonzero(last - first >= COURSE_POINTS_MIN)
    if not len(kept):
        nothing = np.zeros(0)
        return Course(curve, nothing, nothing, nothing, nothing, nothing)
    wide = int((last - first).max())
    parts = []
    for rows in np.array_split(kept, min(len(kept), 1 + len(kept) * wide // AT_ONCE)):
        at = first[rows][:, None] + np.arange(wide)
        there, points_at = at < last[rows][:, None], near[np.minimum(at, len(near) - 1)]
        way = (along[points_at] - stations[rows][:, None]) / COURSE_M
        weight = np.where(there, (1.0 - np.minimum(np.abs(way), 1.0) ** 3) ** 3, 0.0)
        values = np.stack([off[points_at], up[points_at]])
        parts.append(_settled(stations[rows], way, weight, values))
    return Course(curve, *(np.concatenate(each) for each in zip(*parts, strict=True)))


def _stations(curve: Curve) -> Floats:
    """Distances along a curve at which it crosses a grid that is the same in every tile."""
    axis = int(np.argmax(np.abs(curve.way)))
    across = (-curve.way[1], curve.way[0])[axis]
    ends = np.sort(curve.places(np.array([curve.start_m, curve.end_m]))[:, axis])
    grid = np.arange(np.ceil(ends[0] / COURSE_STEP_M), ends[1] / COURSE_STEP_M) * COURSE_STEP_M
    along = (grid - curve.origin[axis]) / curve.way[axis]
    for _ in range(3):
        along = (grid - curve.origin[axis] - curve.aside_at(along) * across) / curve.way[axis]
    return np.sort(along)


def _settled(stations: Floats, way: Floats, near: Floats, values: Floats) -> tuple[Floats, ...]:
    """Lay a parabola around each station again and again, until those that are far off it have lost
    their weight; stations at which too few are left tell nothing."""
    powers = np.stack([np.ones_like(way), way, way * way])
    bends = np.zeros((2, len(stations), 3))
    far, weight = values, near
    for _ in range(ROUNDS_MAX):
        far = values - np.einsum("csk,ksp->csp", bends, powers)
        share = np.minimum((far**2).sum(axis=0) / COURSE_WIDE_M**2, 1.0)
        weight = near * (1.0 - share) ** 2
        normal = np.einsum("isp,jsp,sp->sij", powers, powers, weight)
        normal += np.diag(STEADY)
        right = np.einsum("isp,csp,sp->csi", powers, values, weight)
        told = np.linalg.solve(normal, right[..., None])[..., 0]
        moved = np.abs(told - bends).max()
        bends = told
        if moved < STILL_M:
            break
    total = weight.sum(axis=1)
    share = np.minimum((far**2).sum(axis=0) / COURSE_OWN_M**2, 1.0)
    own = near * (1.0 - share) ** 2
    square = (own * far**2).sum(axis=2) / np.maximum(own.sum(axis=1), SINGULAR)
    wide, high = np.sqrt(square)
    kept = total >= COURSE_POINTS_MIN
    off, up = bends[:, kept, 0]
    return stations[kept], off, up, wide[kept], high[kept]
