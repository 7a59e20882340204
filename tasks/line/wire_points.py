"""Which points lie on wires, those of wires that hang beside a found one too.

What a curve tells is enough for the points around it. The wires of a street hang a forearm apart,
too near for each to be found by itself: there a point is wire if others lie before and behind it as
on a string, and little else around.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tasks.line.course import course_of
from tasks.line.curve import Curve
from tasks.line.parameters import (
    BEYOND_M,
    REST_ALONG_M,
    REST_AROUND_M,
    REST_CLOSE_M,
    REST_M,
    REST_POINTS_MIN,
    REST_SHARE_MIN,
    REST_SLOPES,
    REST_TUBE_M,
    SHELL_M,
    TOUCHED_M_MIN,
    TOUCHED_RESIDUALS,
    WIRE_M,
    WIRE_RESIDUALS,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def on_wires(curves: Sequence[Curve], points: Floats) -> Indices:
    """Return for each point the number of the wire it lies on, -1 for none. Where much else is
    around a wire only what is very near it counts: leaves that touch it are contact, not wire. How
    near is told from the course of the wire and in whole metres of the map, not from the curve: what
    is on a wire does not change with where the line is cut."""
    found = np.full(len(points), -1, np.int64)
    nearest = np.full(len(points), np.inf)
    for number, curve in enumerate(curves):
        course = course_of(curve, points)
        along, across = course.away(points)
        along_in = (along >= curve.start_m - BEYOND_M) & (along <= curve.end_m + BEYOND_M)
        near = np.flatnonzero(along_in & (across < SHELL_M[1]))
        if not len(near):
            continue
        way, off = along[near], across[near]
        scatter_m = course.scatter(way)
        wide = np.clip(WIRE_RESIDUALS * scatter_m, *WIRE_M)
        tight = np.maximum(TOUCHED_RESIDUALS * scatter_m, TOUCHED_M_MIN)
        bin_ = np.floor(points[near, int(np.argmax(np.abs(curve.way)))]).astype(np.int64)
        bin_ -= bin_.min()
        on = np.bincount(bin_[off < wide], minlength=bin_.max() + 1)
        beside = np.bincount(bin_[off >= wide], minlength=bin_.max() + 1)
        limit = np.where((beside > 2 * on)[bin_], tight, wide)
        better = (off <= limit) & (off < nearest[near])
        found[near[better]] = number
        nearest[near[better]] = off[better]
    for number, curve in enumerate(curves):
        found[_rest(curve, points, found)] = number
    return found


def _rest(curve: Curve, points: Floats, found: Indices) -> Indices:
    """The points of other wires that hang beside this one and were not found by themselves."""
    along, aside = curve.frame(points)
    inside = (along >= curve.start_m - BEYOND_M) & (along <= curve.end_m + BEYOND_M)
    near = np.flatnonzero(inside & (np.abs(aside - curve.aside_at(along)) < REST_M + REST_AROUND_M))
    way = along[near]
    off, up = aside[near] - curve.aside_at(way), points[near, 2] - curve.height_at(way)
    across = np.hypot(off, up)
    kept = across < REST_M + REST_AROUND_M
    near, way, off, up, across = (each[kept] for each in (near, way, off, up, across))
    open_ = np.flatnonzero((found[near] < 0) & (across < REST_M))
    if not len(open_):
        return open_
    wire = np.zeros(len(open_), bool)
    for slope in REST_SLOPES:
        here = np.stack([way, off, up - slope * (way - way.mean())], axis=1)
        tube, close, around = (
            _within(here, open_, reach)
            for reach in (
                (REST_ALONG_M, REST_TUBE_M),
                (REST_CLOSE_M, REST_TUBE_M),
                (REST_ALONG_M, REST_AROUND_M),
            )
        )
        wire |= (tube - close >= REST_POINTS_MIN) & (tube >= REST_SHARE_MIN * around)
    rest: Indices = near[open_[wire]]
    return rest


def _within(places: Floats, these: Indices, reach: tuple[float, float]) -> Indices:
    """How many lie so near along the way and across it."""
    scaled = places / np.array([reach[0], reach[1], reach[1]])
    told = cKDTree(scaled).query_ball_point(scaled[these], 1.0, return_length=True)
    return np.asarray(told, np.int64)
