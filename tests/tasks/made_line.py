"""Lines that nobody built, with the truth about each of their points.

Made on any ground, turned by any angle, as dense as wanted: wires hang as catenaries and are hit at
random, trees are clouds, houses are planes. A seed draws everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ground = Callable[[Floats, Floats], Floats]

NOISE_M = 0.04
CLEARANCE_M = 5.0
GROUND, HIGH, BUILDING, WIRE, TOWER = 2, 5, 6, 14, 15


@dataclass(frozen=True)
class Kind:
    """How a line is built: where its wires hang on a tower, aside and up, and how far apart towers
    are; ``hit`` is how many points a metre of wire gets where the ground gets one on a square
    metre."""

    wires: tuple[tuple[float, float], ...]
    span_m: float
    tension_m: float
    pole_m: float
    """Half the width of a tower."""
    hit: float = 0.25
    houses: bool = False


KINDS = {
    "towers": Kind(
        (
            *((-5.5, 24.0), (5.5, 24.0), (-5.0, 30.0), (5.0, 30.0)),
            *((-4.5, 36.0), (4.5, 36.0), (-3.0, 42.0), (3.0, 42.0)),
        ),
        320.0, 1700.0, 1.5,
    ),
    "flat": Kind(((-7.0, 14.0), (0.0, 14.0), (7.0, 14.0)), 220.0, 1200.0, 0.4),
    "one": Kind(((0.0, 10.0),), 150.0, 900.0, 0.2),
    "street": Kind(
        tuple((0.3, up) for up in (6.4, 6.8, 7.2, 7.6)), 40.0, 250.0, 0.15, houses=True
    ),
}  # fmt: skip


@dataclass
class Made:
    """Points with their true classes, the wires as (start, end, tension), and the towers."""

    places: Floats
    truth: NDArray[np.uint8]
    towers: Floats
    wires: list[tuple[Floats, Floats, float]] = field(default_factory=list)


def level(x: Floats, _: Floats) -> Floats:
    """Return the height of ground that has none."""
    return np.zeros(len(x))


def made_line(
    kind: Kind,
    *,
    density: float = 10.0,
    turned_deg: float = 0.0,
    ground: Ground = level,
    length_m: float = 400.0,
    middle: tuple[float, float] = (0.0, 0.0),
    trees: int = 25,
    seed: int = 0,
) -> Made:
    """Return a line through ``middle`` that goes on beyond both ends of what is seen."""
    maker = _Maker(kind, density, radians(turned_deg), ground, length_m, middle, seed)
    maker.ground()
    maker.line()
    for _ in range(trees):
        maker.tree()
    if kind.houses:
        maker.houses()
    return maker.made()


class _Maker:
    def __init__(
        self, kind: Kind, density: float, turned: float, ground: Ground, length_m: float,
        middle: tuple[float, float], seed: int,
    ) -> None:  # fmt: skip
        self._kind, self._density, self._below, self._length_m = kind, density, ground, length_m
        self._turn, self._middle = (
            np.array([[cos(turned), sin(turned)], [-sin(turned), cos(turned)]]),
            middle,
        )
        self._draw = np.random.default_rng(seed)
        self._parts: list[tuple[Floats, int]] = []
        self._wires: list[tuple[Floats, Floats, float]] = []
        self._towers: list[Floats] = []

    def made(self) -> Made:
        places = np.concatenate([each for each, _ in self._parts])
        truth = np.concatenate([np.full(len(each), of, np.uint8) for each, of in self._parts])
        half = self._length_m / 2
        along = (places[:, :2] - self._middle) @ self._turn.T
        seen = np.abs(along[:, 0]) <= half
        places = places + self._draw.normal(0.0, NOISE_M, places.shape)
        return Made(places[seen], truth[seen], np.array(self._towers), self._wires)

    def placed(self, along: Floats, aside: Floats) -> Floats:
        there: Floats = np.column_stack([along, aside]) @ self._turn + self._middle
        return there

    def ground(self) -> None:
        count = int(self._density * self._length_m * 80.0)
        flat = self.placed(self._spread(self._length_m / 2, count), self._spread(40.0, count))
        self._add(np.column_stack([flat, self._below(*flat.T)]), GROUND)

    def line(self) -> None:
        kind, reach = self._kind, self._length_m / 2 + self._kind.span_m
        feet = np.arange(-reach + 0.37 * kind.span_m, reach, kind.span_m)
        heights = self._heights(feet)
        for number, (first, last) in enumerate(pairwise(feet)):
            for aside, up in kind.wires:
                self._wire(first, last, aside, heights[number : number + 2] + up)
        for foot in feet[np.abs(feet) < self._length_m / 2 - 5.0]:
            self._tower(foot, heights[feet == foot][0])

    def _heights(self, feet: Floats) -> Floats:
        """Where towers begin to be as high as their kind, so that the wires clear the hills."""
        heights = self._below(*self.placed(feet, np.zeros(len(feet))).T).copy()
        lowest = min(up for _, up in self._kind.wires)
        for _ in range(4):
            for number, (first, last) in enumerate(pairwise(feet)):
                along = np.linspace(first, last, 41)
                line = np.linspace(heights[number], heights[number + 1], 41) + lowest
                tension = self._kind.tension_m
                sag = ((last - first) / 2) ** 2 / (2 * tension) * (1 - np.linspace(-1, 1, 41) ** 2)
                ground = self._below(*self.placed(along, np.zeros(41)).T)
                lack = CLEARANCE_M - (line - sag - ground).min()
                heights[number : number + 2] += max(lack, 0.0)
        return heights

    def tree(self) -> None:
        radius, height = self._draw.uniform(1.5, 4.0), self._draw.uniform(4.0, 11.0)
        aside = self._draw.uniform(8.0, 36.0) * self._draw.choice([-1.0, 1.0])
        self.tree_at(self._draw.uniform(-0.5, 0.5) * self._length_m, aside, radius, height)

    def tree_at(self, along: float, aside: float, radius: float, height: float) -> None:
        count = int(1.5 * self._density * np.pi * radius**2)
        way = self._draw.normal(size=(count, 3))
        way *= (self._draw.uniform(0.4, 1.0, count) ** (1 / 3) / np.linalg.norm(way, axis=1))[
            :, None
        ]
        flat = self.placed(np.array([along]), np.array([aside]))
        foot = self._below(*flat.T)[0]
        middle = np.array([*flat[0], foot + 0.6 * height])
        crown = middle + way * np.array([radius, radius, 0.4 * height])
        self._add(crown, HIGH)

    def houses(self) -> None:
        ground = self._parts[0][0]
        local = (ground[:, :2] - self._middle) @ self._turn.T
        bare = np.ones(len(ground), bool)
        for along in np.arange(-self._length_m / 2 + 15, self._length_m / 2 - 15, 25.0):
            for side in (-12.0, 14.0):
                self._house(float(along), side)
                off = np.abs(local - (along, side))
                bare &= (off[:, 0] >= 6.0) | (off[:, 1] >= 4.0)
        self._parts[0] = ground[bare], GROUND

    def _house(self, along: float, aside: float) -> None:
        count = int(self._density * 12 * 8)
        u, v = self._spread(6.0, count), self._spread(4.0, count)
        flat = self.placed(along + u, aside + v)
        foot = self._below(*self.placed(np.array([along]), np.array([aside])).T)[0]
        self._add(np.column_stack([flat, foot + 7.0 - 0.7 * np.abs(v)]), BUILDING)

    def _wire(self, first: float, last: float, aside: float, heights: Floats) -> None:
        ends = self.placed(np.array([first, last]), np.array([aside, aside]))
        tension, half = self._kind.tension_m, (last - first) / 2
        rise = float(heights[1] - heights[0])
        low = -tension * np.arcsinh(rise / (2 * tension * np.sinh(half / tension)))
        count = self._draw.poisson(self._kind.hit * self._density * (last - first))
        t = self._spread(half, count)
        chain = tension * (np.cosh((t - low) / tension) - np.cosh((-half - low) / tension))
        flat = self.placed(0.5 * (first + last) + t, np.full(count, aside))
        self._add(np.column_stack([flat, heights[0] + chain]), WIRE)
        self._wires.append(
            (np.array([*ends[0], heights[0]]), np.array([*ends[1], heights[1]]), tension)
        )

    def _tower(self, along: float, base: float) -> None:
        flat = self.placed(np.array([along]), np.zeros(1))
        foot = float(self._below(*flat.T)[0])
        top = max(up for _, up in self._kind.wires) + base - foot
        wide, half = max(abs(aside) for aside, _ in self._kind.wires), self._kind.pole_m
        self._towers.append(np.array([*flat[0], foot]))
        count = int(self._density * (top + 1.0) * 1.5)
        up = self._draw.uniform(0.5, top + 1.0, count)
        grows = half * (1.0 + (top - up) / top)
        body = self.placed(
            along + grows * self._spread(1.0, count), grows * self._spread(1.0, count)
        )
        self._add(np.column_stack([body, foot + up]), TOWER)
        for level_m in sorted({each for _, each in self._kind.wires}) if wide > 1.0 else ():
            arm = max(abs(aside) for aside, each in self._kind.wires if each == level_m)
            count = int(self._density * 2 * arm * 0.8)
            across = self.placed(along + self._spread(0.4, count), self._spread(arm, count))
            self._add(np.column_stack([across, np.full(count, base + level_m + 0.6)]), TOWER)

    def _spread(self, half: float, count: int) -> Floats:
        return self._draw.uniform(-half, half, count)

    def _add(self, places: Floats, of: int) -> None:
        self._parts.append((places, of))
