"""Towers: where wires end, and something stands there that reaches up to them.

The ends of the wires tell where to look and which way the line goes. A tower has points at most
heights between the ground and the wires, and more near its middle than around. Its points are those
of a body that widens to the ground, and of arms as wide as the wires hang apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from tasks.line.curve import Curve
from tasks.line.parameters import (
    ARM_BELOW_M,
    ARM_BEYOND_M,
    ARM_DEEP_M,
    BODY_M,
    BODY_WIDENS,
    CORE_M,
    EDGE_M,
    PASSED_M,
    RING_M,
    RING_MAX,
    SITE_FILLED_MIN,
    SITE_FOOT_M,
    SITE_M,
    SITE_STEP_M,
    SITE_UP_M,
    SITE_UP_POINTS_MIN,
    TOP_M,
    ZONE_M,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tower:
    """A tower: its middle, the height of its foot and top, which way the line goes there."""

    x: float
    y: float
    foot_m: float
    top_m: float
    way: tuple[float, float]
    wide_m: float
    """How far its arms reach to each side."""

    def moved(self, by: Floats) -> Tower:
        """Return the same tower moved by these distances."""
        east, north, up = (float(each) for each in by)
        return replace(
            self, x=self.x + east, y=self.y + north, foot_m=self.foot_m + up, top_m=self.top_m + up
        )


@dataclass(frozen=True)
class Site:
    """Where wires end: a frame along the line and across it, and the heights of the wires."""

    middle: Floats
    way: Floats
    lowest_m: float
    highest_m: float
    wide_m: float

    def frame(self, points: Floats) -> tuple[Floats, Floats]:
        """Return how far along the line and how far aside of the middle points are."""
        here = points[:, :2] - self.middle
        return here @ self.way, here @ np.array([-self.way[1], self.way[0]])


def towers_of(
    curves: Sequence[Curve], points: Floats, above_m: Floats, on_wire: Indices
) -> tuple[list[Tower], Mask]:
    """Return the towers, and which points are theirs; those of wires within an arm are too."""
    is_tower = np.zeros(len(points), bool)
    towers: list[Tower] = []
    for ends in _ends_together(curves):
        if _passing(curves, ends) > len(ends):
            continue
        around = np.hypot(*(points[:, :2] - ends[:, :2].mean(axis=0)).T) < 2.0 * SITE_M + RING_M
        these = np.flatnonzero(around)
        if 2 * _with_the_scan(ends, points[these]) >= len(ends):
            continue
        found = _tower_at(_site(ends), points[these], above_m[these], on_wire[these])
        if found is not None:
            towers.append(found[0])
            is_tower[these[found[1]]] = True
    return towers, is_tower


def _ends_together(curves: Sequence[Curve]) -> list[Floats]:
    """The ends of the wires, those of one tower together: x, y, z and the way that leads out."""
    rows = [
        [*place, sign * curve.way[0], sign * curve.way[1]]
        for curve in curves
        for place, sign in zip(
            curve.places(np.array([curve.start_m, curve.end_m])), (-1.0, 1.0), strict=True
        )
    ]
    if len(rows) < 2:
        return []
    ends = np.array(rows)
    together = fcluster(linkage(ends[:, :2], "average"), SITE_M, "distance")
    return [ends[together == number] for number in range(1, together.max() + 1)]


def _passing(curves: Sequence[Curve], ends: Floats) -> int:
    """How many wires go by where these end: a tower carries all."""
    middle = ends[:, :3].mean(axis=0)[None]
    count = 0
    for curve in curves:
        along, aside = curve.frame(middle)
        inside = curve.start_m + PASSED_M < along[0] < curve.end_m - PASSED_M
        count += int(inside and abs(aside[0] - curve.aside_at(along)[0]) < SITE_M)
    return count


def _site(ends: Floats) -> Site:
    ways = ends[:, 3:5]
    turned = ways * np.where(ways @ ways[0] < 0, -1.0, 1.0)[:, None]
    way = turned.mean(axis=0)
    way /= np.linalg.norm(way)
    middle = ends[:, :2].mean(axis=0)
    aside = (ends[:, :2] - middle) @ np.array([-way[1], way[0]])
    middle = middle + 0.5 * (aside.max() + aside.min()) * np.array([-way[1], way[0]])
    wide_m = 0.5 * float(aside.max() - aside.min())
    return Site(middle, way, float(ends[:, 2].min()), float(ends[:, 2].max()), wide_m)


def _tower_at(
    site: Site, points: Floats, above_m: Floats, on_wire: Indices
) -> tuple[Tower, Indices] | None:
    """The tower of a site and its points; None where nothing stands there."""
    site = _centred(site, points, on_wire)
    along, aside = site.frame(points)
    foot_m = float(np.median(points[:, 2] - above_m))
    free = on_wire < 0
    if not _stands(site, points, above_m, free, foot_m):
        return None
    z, reach = points[:, 2], site.wide_m + ARM_BEYOND_M
    half = BODY_M + BODY_WIDENS * np.maximum(site.highest_m - z, 0.0)
    body = (np.abs(along) < half) & (np.abs(aside) < half)
    arms = (
        (z > site.lowest_m - ARM_BELOW_M) & (np.abs(along) < ARM_DEEP_M) & (np.abs(aside) < reach)
    )
    own = free & (body | arms) & (above_m > 0.5) & (z < site.highest_m + TOP_M)
    own &= _reaches(z, own)
    if not own.any():
        return None
    deep = float(np.percentile(np.abs(along[own & arms]), 90)) if (own & arms).any() else 0.0
    zone = min(max(deep, ZONE_M[0]), ZONE_M[1])
    own |= ~free & (np.abs(along) < zone) & (np.abs(aside) < reach)
    x, y = (float(each) for each in site.middle)
    way = float(site.way[0]), float(site.way[1])
    tower = Tower(x, y, foot_m, float(z[own].max()), way, float(np.abs(aside[own]).max()))
    return tower, np.flatnonzero(own)


def _centred(site: Site, points: Floats, on_wire: Indices) -> Site:
    """The same site in the middle of what stands between its wires: there are few trees as high."""
    for reach_m in (SITE_M, 2.0 * CORE_M, 2.0 * CORE_M):
        along, aside = site.frame(points)
        high = (points[:, 2] > site.lowest_m - ARM_BELOW_M) & (on_wire < 0)
        high &= (np.abs(along) < reach_m) & (np.abs(aside) < site.wide_m + ARM_BEYOND_M)
        high &= points[:, 2] < site.highest_m + TOP_M
        if high.sum() < 3:
            return site
        across = np.array([-site.way[1], site.way[0]])
        shift = float(np.median(along[high])) * site.way
        if site.wide_m < 1.0:
            shift = shift + float(np.median(aside[high])) * across
        site = Site(site.middle + shift, site.way, site.lowest_m, site.highest_m, site.wide_m)
    return site


def _with_the_scan(ends: Floats, points: Floats) -> int:
    """How many wires end because nothing was measured behind."""
    count = 0
    for x, y, _, east, north in ends:
        there = points[:, :2] - (x, y)
        aside = np.abs(there @ np.array([-north, east]))
        beyond = (there @ np.array([east, north]))[aside < RING_M]
        count += int(not len(beyond) or beyond.max() < EDGE_M)
    return count


def _stands(site: Site, points: Floats, above_m: Floats, free: Mask, foot_m: float) -> bool:
    """Whether most heights up to the wires show points, more near the middle than around."""
    along, aside = site.frame(points)
    far = np.hypot(along, aside)
    standing = free & (above_m > SITE_FOOT_M) & (points[:, 2] < site.lowest_m)
    steps = max(1, int((site.lowest_m - foot_m - SITE_FOOT_M) / SITE_STEP_M))
    core = standing & (far < CORE_M)
    filled = np.unique(((above_m[core] - SITE_FOOT_M) / SITE_STEP_M).astype(np.int64))
    if (filled < steps).sum() < SITE_FILLED_MIN * steps:
        return False
    carrying = free & (far < CORE_M) & (points[:, 2] > site.lowest_m - SITE_UP_M)
    if carrying.sum() < SITE_UP_POINTS_MIN:
        return False
    ring = standing & (far >= CORE_M + 1.0) & (far < RING_M)
    upper = points[:, 2] > 0.5 * (foot_m + site.lowest_m)
    return bool((ring & upper).sum() <= RING_MAX * max((core & upper).sum(), 1))


def _reaches(z: Floats, own: Mask) -> Mask:
    """Up to the first gap of four metres above the lower half."""
    order = np.sort(z[own])
    if not len(order):
        return own
    gaps = np.flatnonzero(np.diff(order) > 4.0)
    gaps = gaps[order[gaps] > 0.5 * (order[0] + order[-1])]
    top = order[gaps[0]] if len(gaps) else order[-1]
    below: Mask = z <= top
    return below
