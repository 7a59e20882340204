"""What is what in a tile: ground, water, wires, towers, buildings, and the rest, which is vegetation.

One function of points and echoes; it reads nothing and writes nothing. What stands where it can be
taken for two things is settled in this order: ground, wire, tower, building. A car or a crane is
vegetation, or a building: an obstacle is one whatever it is called. A road stays
ground (2): no scan with labelled roads was at hand to measure on, so class 11 is given to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.line.ground import Terrain, anchor, cells, ground_of, terrain_of
from tasks.line.parameters import (
    LOW_M_MAX,
    MEDIUM_M_MAX,
    NOISE_BELOW_M,
    ROOF_LIKELY,
    SCENE_POINTS_MIN,
    SPARSE_POINTS_M2,
    SPARSE_SEEN_MIN,
    STANDING_M_MAX,
    WIRE_HEIGHT_M_MIN,
)
from tasks.line.roofs import Roofs, learned, likely_building
from tasks.line.shapes import Echoes, shapes_of
from tasks.line.towers import Tower, towers_of
from tasks.line.water import water_of
from tasks.line.wires import Standing, Wires, wires_of

Floats = NDArray[np.float64]
Classes = NDArray[np.uint8]

UNKNOWN, GROUND, LOW, MEDIUM, HIGH, BUILDING, NOISE, WATER = 1, 2, 3, 4, 5, 6, 7, 9
WIRE, TOWER = 14, 15


@dataclass(frozen=True)
class Scene:
    """What was found in a tile."""

    classes: Classes
    terrain: Terrain | None
    wires: Wires
    towers: tuple[Tower, ...]
    density: float
    """Points on a square metre, where there are any within five metres."""

    @property
    def too_sparse(self) -> bool:
        """Tell whether the points lie so thin that wires may hang here that they do not show."""
        if self.density >= SPARSE_POINTS_M2:
            return False
        shares = self.wires.seen
        return not shares or float(np.mean(shares)) < SPARSE_SEEN_MIN


def scene_of(places: Floats, echoes: Echoes, roofs: Roofs | None = None) -> Scene:
    """Return what is what among points; where there are too few for anything, all are unknown."""
    nothing = Wires((), (), np.full(len(places), -1, np.int64))
    if len(places) < SCENE_POINTS_MIN:
        return Scene(np.full(len(places), UNKNOWN, np.uint8), None, nothing, (), density_of(places))
    base = anchor(places)
    here = places - base
    terrain = terrain_of(*here.T)
    above_m = here[:, 2] - terrain.below(here[:, 0], here[:, 1])
    ground = ground_of(terrain, here[:, 0], here[:, 1], above_m)
    classes = _standing(above_m)
    over = np.flatnonzero(~ground)
    likely = np.zeros(len(places))
    if len(over):
        shapes = shapes_of(here, above_m, ground, echoes)
        likely[over] = likely_building(roofs or learned(), shapes, here[over], above_m[over])
    solid = likely > ROOF_LIKELY
    high = np.flatnonzero(~ground & (above_m > WIRE_HEIGHT_M_MIN))
    wires = wires_of(here[high], solid[high], _standing_on(terrain, here, above_m))
    on_wire = np.full(len(places), -1, np.int64)
    on_wire[high] = wires.of_point
    towers, is_tower = towers_of(wires.curves, here, above_m, on_wire)
    classes[solid & (above_m > 0.0)] = BUILDING
    classes[is_tower] = TOWER
    classes[(on_wire >= 0) & ~is_tower] = WIRE
    classes[ground & ~is_tower] = GROUND
    classes[water_of(terrain, here, ground)] = WATER
    on_wire[is_tower] = -1
    wires = Wires(wires.curves, wires.seen, on_wire)
    return _moved(Scene(classes, terrain, wires, tuple(towers), density_of(places)), base)


def density_of(places: Floats) -> float:
    """Return how many points lie on a square metre, where there are any within five metres."""
    if not len(places):
        return 0.0
    row, column = (cells(places[:, axis], float(places[:, axis].min()), 5.0) for axis in (0, 1))
    return len(places) / (25.0 * len(np.unique(row * (int(column.max()) + 1) + column)))


def _standing_on(terrain: Terrain, here: Floats, above_m: Floats) -> Standing:
    low = (above_m > LOW_M_MAX) & (above_m < STANDING_M_MAX)
    return Standing(terrain, here[low], above_m[low])


def _standing(above_m: Floats) -> Classes:
    classes = np.full(len(above_m), HIGH, np.uint8)
    classes[above_m <= MEDIUM_M_MAX] = MEDIUM
    classes[above_m <= LOW_M_MAX] = LOW
    classes[above_m < -NOISE_BELOW_M] = NOISE
    return classes


def _moved(scene: Scene, base: Floats) -> Scene:
    """The same where the points were: everything was found near zero, for precision."""
    terrain = scene.terrain
    if terrain is not None:
        west, south = terrain.west + float(base[0]), terrain.south + float(base[1])
        terrain = Terrain(west, south, terrain.cell_m, terrain.heights + base[2])
    curves = tuple(each.moved(base) for each in scene.wires.curves)
    wires = Wires(curves, scene.wires.seen, scene.wires.of_point)
    towers = tuple(each.moved(base) for each in scene.towers)
    return Scene(scene.classes, terrain, wires, towers, scene.density)
