"""A wire as a curve: straight seen from above, or swung a little by the wind, and hanging like a chain.

A curve has a frame of its own: how far along its way, how far aside, how high. While it grows its
height is a parabola; what is long enough becomes a catenary at last, which differs from that by a
hand's breadth on a span of 500 m and by more than a metre on one of a kilometre.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from tasks.line.parameters import (
    CATENARY_M_MIN,
    SAG_MAX,
    SAG_MIN,
    STRAIGHT_M_MAX,
    SWING_M_MIN,
    SWING_MAX,
)

Floats = NDArray[np.float64]
Pair = tuple[float, float]
Row = tuple[float, float, float]

ROUNDS = 3
NOISE_M = 0.12
UNIT_M = 50.0
TINY = 1e-12
SAG_BOUNDS = SAG_MIN, SAG_MAX
SWING_BOUNDS = -SWING_MAX, SWING_MAX


@dataclass(frozen=True, slots=True)
class Catenary:
    """Height of a chain: ``base_m`` where it is lowest, at ``low_m`` along the way."""

    tension_m: float
    low_m: float
    base_m: float

    def at(self, along: Floats) -> Floats:
        """Return the height at these distances along the way."""
        told: Floats = self.base_m + self.tension_m * (
            np.cosh((along - self.low_m) / self.tension_m) - 1.0
        )
        return told


@dataclass(frozen=True, slots=True)
class Curve:
    """A wire from ``start_m`` to ``end_m`` along its way, which begins at ``origin``."""

    origin: Pair
    way: Pair
    start_m: float
    end_m: float
    aside: tuple[float, ...]
    height: tuple[float, ...]
    """Both as polynomials, the highest power first."""
    residual_m: float = 0.0
    catenary: Catenary | None = None

    @property
    def length_m(self) -> float:
        """Return how far it reaches along its way."""
        return self.end_m - self.start_m

    def frame(self, places: Floats) -> tuple[Floats, Floats]:
        """Return how far along and how far aside places are, seen from above."""
        east, north = places[:, 0] - self.origin[0], places[:, 1] - self.origin[1]
        along = east * self.way[0] + north * self.way[1]
        return along, north * self.way[0] - east * self.way[1]

    def aside_at(self, along: Floats) -> Floats:
        """Return how far aside of the way the wire is."""
        return _at(self.aside, along)

    def height_at(self, along: Floats) -> Floats:
        """Return how high the wire is."""
        if self.catenary is not None:
            return self.catenary.at(along)
        return _at(self.height, along)

    def away(self, places: Floats) -> tuple[Floats, Floats]:
        """Return how far along the wire these places are, and how far across from it; the wire
        counts as going on beyond its ends."""
        along, aside = self.frame(places)
        across = np.hypot(aside - self.aside_at(along), places[:, 2] - self.height_at(along))
        return along, across

    def places(self, along: Floats) -> Floats:
        """Return the places of the wire at these distances along its way."""
        aside = self.aside_at(along)
        x = self.origin[0] + along * self.way[0] - aside * self.way[1]
        y = self.origin[1] + along * self.way[1] + aside * self.way[0]
        return np.stack([x, y, self.height_at(along)], axis=1)

    def moved(self, by: Floats) -> Curve:
        """Return the same curve moved by these distances."""
        east, north, up = (float(each) for each in by)
        chain = self.catenary
        return replace(
            self,
            origin=(self.origin[0] + east, self.origin[1] + north),
            height=(*self.height[:-1], self.height[-1] + up),
            catenary=None if chain is None else replace(chain, base_m=chain.base_m + up),
        )

    def turned(self) -> Curve:
        """Return the curve with its axis turned to the direction of the wire in its middle; it has
        to be laid anew."""
        middle = 0.5 * (self.start_m + self.end_m)
        bend = self.aside[-2] + (2.0 * self.aside[0] * middle if len(self.aside) > 2 else 0.0)
        here = self.places(np.array([middle]))[0]
        east, north = self.way[0] - bend * self.way[1], self.way[1] + bend * self.way[0]
        size = float(np.hypot(east, north))
        half = 0.5 * self.length_m
        return replace(
            self,
            origin=(float(here[0]), float(here[1])),
            way=(east / size, north / size),
            start_m=-half,
            end_m=half,
        )


def begun(place: Floats, direction: Floats, half_m: float) -> Curve:
    """Return a straight curve through a place in a direction, ``half_m`` to both sides."""
    level = float(np.hypot(direction[0], direction[1]))
    return Curve(
        origin=(float(place[0]), float(place[1])),
        way=(float(direction[0]) / level, float(direction[1]) / level),
        start_m=-half_m,
        end_m=half_m,
        aside=(0.0, 0.0),
        height=(float(direction[2]) / level, float(place[2])),
        residual_m=1.0,
    )


def laid(curve: Curve, places: Floats, weight: Floats) -> Curve:
    """Return the curve fitted anew to places between its start and its end; those far off count for
    little, and a longer curve may have more bends."""
    along, aside = curve.frame(places)
    bends, swings = curve.length_m >= STRAIGHT_M_MAX, curve.length_m >= SWING_M_MIN
    way = along / UNIT_M
    values, powers = np.stack([aside, places[:, 2]]), np.stack([way * way, way, np.ones_like(way)])
    told = np.zeros((2, 3))
    across, counted = np.zeros(len(way)), weight
    for _ in range(ROUNDS):
        weighed = powers * counted
        sums, (sideways, height) = (weighed @ powers.T).tolist(), (values @ weighed.T).tolist()
        told[0] = _fitted(sums, sideways, SWING_BOUNDS if swings else None)
        told[1] = _fitted(sums, height, SAG_BOUNDS if bends else None)
        off = values - told @ powers
        across = np.hypot(off[0], off[1])
        far = across / max(NOISE_M, 1.5 * _median(across))
        far *= far
        counted = weight / (1.0 + far * far)
    residual = float(np.sqrt((counted @ (across * across)) / counted.sum()))
    told /= (UNIT_M**2, UNIT_M, 1.0)
    return replace(
        curve,
        aside=tuple(told[0].tolist()[0 if swings else 1 :]),
        height=tuple(told[1].tolist()[0 if bends else 1 :]),
        residual_m=residual,
        catenary=None,
    )


def hung(curve: Curve, places: Floats) -> Curve:
    """Return the curve with a catenary fitted to the places for its height, where it is long enough
    and sags; else the curve as it is."""
    if curve.length_m < CATENARY_M_MIN or len(curve.height) < 3 or curve.height[0] < 2e-5:
        return curve
    along, aside = curve.frame(places)
    near = np.hypot(aside - curve.aside_at(along), places[:, 2] - curve.height_at(along)) < 0.7
    near &= (along >= curve.start_m) & (along <= curve.end_m)
    if near.sum() < 8:
        return curve
    bend, slope, base = curve.height
    low = -slope / (2.0 * bend)
    guess = [np.log(0.5 / bend), low, base - bend * low * low]

    def off(told: Floats) -> Floats:
        chain = Catenary(float(np.exp(told[0])), float(told[1]), float(told[2]))
        missed: Floats = chain.at(along[near]) - places[near, 2]
        return missed

    best = least_squares(
        off, guess, loss="soft_l1", f_scale=NOISE_M, x_scale=[0.01, 1.0, 0.1], max_nfev=30
    )
    if not np.isfinite(best.x).all():
        return curve
    tension, lowest, lowest_m = (float(each) for each in best.x)
    return replace(curve, catenary=Catenary(float(np.exp(tension)), lowest, lowest_m))


def _fitted(sums: list[list[float]], right: list[float], bounds: Pair | None) -> Row:
    """Return a line, or with bounds a parabola whose bend stays between them, the highest power
    first, from weighted sums of the powers of a way: a curve is laid some thousand times, and this
    takes a tenth of the time of a general least squares."""
    if bounds is None:
        return (0.0, *_line(sums, right))
    (four, three, _), (_, two, one), (_, _, zero) = sums
    least, most = (each * UNIT_M**2 for each in bounds)
    steady = TINY * (four + zero)
    four, middle, zero = four + steady, two + steady, zero + steady
    first, second, third = (
        middle * zero - one * one,
        one * two - three * zero,
        three * one - middle * two,
    )
    size = four * first + three * second + two * third
    bend = (first * right[0] + second * right[1] + third * right[2]) / size if size else 0.0
    bend = min(max(bend, least), most)
    return (bend, *_line(sums, right, bend))


def _line(sums: list[list[float]], right: list[float], bend: float = 0.0) -> Pair:
    """Slope and base of what is left of the right side beside a bend."""
    two, one, zero = sums[1][1], sums[1][2], sums[2][2]
    moment, value = right[1] - bend * sums[0][1], right[2] - bend * two
    size = zero * two - one * one + TINY * (zero + two) ** 2
    slope = (zero * moment - one * value) / size
    return slope, (value - slope * one) / max(zero, TINY)


def _at(powers: tuple[float, ...], along: Floats) -> Floats:
    """The value of a polynomial, as ``numpy.polyval`` has it in four times the time."""
    value = np.full(len(along), powers[0])
    for each in powers[1:]:
        value *= along
        value += each
    return value


def _median(values: Floats) -> float:
    middle = len(values) // 2
    return float(np.partition(values, middle)[middle])
