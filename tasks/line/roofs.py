"""What of that which stands on the ground is a building, as far as it was learned from labelled scans.

A small network looks at the shape of each place (``shapes``) and says how likely that is a building.
There are two kinds: one that was told of echoes and one that was not. What it says of a place is
then weighed with what it says around it, because roofs are wide. ``roofs.json`` holds what was
learned; ``python -m tests.bench.inspection_learning`` learns it anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from tasks.line.ground import cells, corner
from tasks.line.parameters import CELL_M, ROOF_ECHOES, ROOF_M_MIN, ROOF_OWN, ROOF_WINDOW
from tasks.line.shapes import ECHOES, Shapes

Floats = NDArray[np.floating[Any]]

LEARNED = "roofs.json"


@dataclass(frozen=True)
class Network:
    """One hidden layer, and how features are brought to one scale before."""

    least: Floats
    most: Floats
    middle: Floats
    spread: Floats
    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    def likely(self, features: Floats) -> Floats:
        """Return how likely each row is a building; what is unknown counts as usual."""
        scaled = np.clip(features, self.least, self.most)
        scaled -= self.middle
        scaled /= self.spread
        scaled[np.isnan(scaled)] = 0.0
        inner = scaled @ self.hidden
        inner += self.hidden_bias
        np.maximum(inner, 0.0, out=inner)
        told: Floats = 1.0 / (1.0 + np.exp(-(inner @ self.output + self.output_bias)))
        return told


@dataclass(frozen=True)
class Roofs:
    """Networks that were told of echoes, and those that were not."""

    with_echoes: tuple[Network, ...]
    without: tuple[Network, ...]

    def likely(self, features: Floats) -> Floats:
        """Return how likely each place is a building."""
        features = features.astype(np.float32)
        shape = features[:, :-ECHOES]
        alone: Floats = np.mean([each.likely(shape) for each in self.without], axis=0)
        if np.isnan(features[:, -1]).all():
            return alone
        both: Floats = np.mean([each.likely(features) for each in self.with_echoes], axis=0)
        return ROOF_ECHOES * both + (1.0 - ROOF_ECHOES) * alone


@cache
def learned() -> Roofs:
    """Return what came with this library."""
    told = json.loads(Path(__file__).with_name(LEARNED).read_text("utf-8"))
    return Roofs(*(tuple(map(_network, told[kind])) for kind in ("with_echoes", "without")))


def _network(told: dict[str, Any]) -> Network:
    return Network(**{name: np.array(value, np.float32) for name, value in told.items()})


def likely_building(roofs: Roofs, shapes: Shapes, points: Floats, above_m: Floats) -> Floats:
    """Return for each point above the ground how likely it is part of a building; the points are in
    the order of ``shapes.cube``."""
    own = roofs.likely(shapes.features)[shapes.cube]
    row, column = (cells(each, corner(each), CELL_M) for each in points.T[:2])
    shape = int(row.max()) + 1, int(column.max()) + 1
    cell, high = row * shape[1] + column, above_m > 1.5
    count = np.bincount(cell[high], minlength=shape[0] * shape[1]).reshape(shape)
    total = np.bincount(cell[high], own[high], shape[0] * shape[1]).reshape(shape)
    there = (count > 0).astype(np.float64)
    mean = np.where(count > 0, total / np.maximum(count, 1), 0.0)
    weight = ndimage.uniform_filter(there, ROOF_WINDOW)
    around = ndimage.uniform_filter(mean * there, ROOF_WINDOW) / np.maximum(weight, 1e-9)
    likely = ROOF_OWN * own + (1.0 - ROOF_OWN) * around.ravel()[cell]
    told: Floats = np.where(above_m > ROOF_M_MIN, likely, np.minimum(likely, own))
    return told
