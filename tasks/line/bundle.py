"""The conductors that a wire consists of, as far as its points tell them apart.

Two, three or four that hang side by side are found as one wire. Its course is in their middle, where
none of them is; what comes near comes near to one of them. So it is told up to half a metre between
the outer ones; where they are farther apart, the course follows some of them, and others are lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tasks.line.course import Course
from tasks.line.parameters import COURSE_M, COURSE_OWN_M, COURSE_POINTS_MIN, NEAREST_M

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bundle:
    """How far along a wire each of its points is, how far aside of its course and above it."""

    course: Course
    along: Floats
    aside: Floats
    up: Floats
    own: Floats
    """How surely a point is of this wire: less, the farther it is from the middle."""

    @classmethod
    def of(cls, course: Course, wire: Floats) -> Self:
        """Return what there is of a wire among the points of all wires."""
        curve = course.curve
        along, aside, up = course.beside(wire)
        share = (aside**2 + up**2) / COURSE_OWN_M**2
        inside = np.flatnonzero(
            (share < 1.0) & (along >= curve.start_m - COURSE_M) & (along <= curve.end_m + COURSE_M)
        )
        inside = inside[np.argsort(along[inside], kind="stable")]
        own = (1.0 - share[inside]) ** 2
        return cls(course, along[inside], aside[inside], up[inside], own)

    def distance_m(self, point: Floats, there: Floats) -> float:
        """Return how far a point is from the nearest conductor, if it is nearest to the middle there.

        Each point of the wire around is moved along it until it is beside: the mean of how far they
        are, of which those that are nearest count most. Where too few tell, the middle counts.
        """
        off = point - there
        east, north = self.course.curve.way
        ahead, aside = off[0] * east + off[1] * north, off[1] * east - off[0] * north
        at = self.course.curve.frame(there[None])[0][0]
        around = slice(*np.searchsorted(self.along, (at - COURSE_M, at + COURSE_M)))
        way = np.minimum(np.abs(self.along[around] - at) / COURSE_M, 1.0)
        weight = (1.0 - way**3) ** 3
        if weight.sum() < COURSE_POINTS_MIN:
            return float(np.linalg.norm(off))
        far = np.sqrt(
            ahead**2 + (aside - self.aside[around]) ** 2 + (off[2] - self.up[around]) ** 2
        )
        weight *= self.own[around] * np.exp((far.min() - far) / NEAREST_M)
        return float((weight * far).sum() / weight.sum())
