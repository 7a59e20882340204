"""What is long and straight and no wire: each stands on rolling ground between trees, drawn by a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.tasks.made_line import GROUND, HIGH, KINDS, NOISE_M, Floats, made_line

Draw = np.random.Generator


def made_objects(
    kind: str, ground: Callable[[Floats, Floats], Floats], *, density: float, seed: int
) -> Floats:
    """Return the points of a piece of land with three of such things, turned by any angle."""
    land = made_line(KINDS["one"], ground=ground, trees=40, seed=seed, density=density)
    parts = [land.places[(land.truth == GROUND) | (land.truth == HIGH)]]
    draw = np.random.default_rng(seed)
    for middle in (-120.0, 0.0, 120.0):
        thing = OBJECTS[kind](draw, density)
        turn = draw.uniform(0.0, np.pi)
        x = middle + thing[:, 0] * np.cos(turn) - thing[:, 1] * np.sin(turn)
        y = thing[:, 0] * np.sin(turn) + thing[:, 1] * np.cos(turn)
        foot = ground(np.array([middle]), np.zeros(1))[0]
        parts.append(np.column_stack([x, y, foot + thing[:, 2]]))
    places = np.concatenate(parts)
    return places + draw.normal(0.0, NOISE_M, places.shape)


def _box(draw: Draw, density: float, size: tuple[float, float, float], up: float = 0.0) -> Floats:
    """Roof and two of the walls of a box, as a scanner above sees it."""
    long, wide, high = size
    roof, wall = int(density * long * wide), int(0.5 * density * long * high)
    top = np.column_stack(
        [_spread(draw, long, roof), _spread(draw, wide, roof), np.full(roof, high)]
    )
    walls = [
        np.column_stack(
            [_spread(draw, long, wall), np.full(wall, side * wide / 2), draw.uniform(0, high, wall)]
        )
        for side in (-1.0, 1.0)
    ]
    box: Floats = np.concatenate([top, *walls])
    box[:, 2] += up
    return box


def _hall(draw: Draw, density: float) -> Floats:
    """A hall with a parapet, and a pipe along its roof."""
    roof = _box(draw, density, (70.0, 22.0, 9.0))
    rails = [_string(draw, density, 70.0, side, 10.0, 0.6) for side in (-11.0, 11.0, 3.0)]
    return np.concatenate([roof, *rails])


def _crane(draw: Draw, density: float) -> Floats:
    """A tower crane: four chords of a boom, braces between them, a mast and a counterweight."""
    up = draw.uniform(20.0, 45.0)
    chords = [
        _string(draw, density, 55.0, side, up + rise, 0.5)
        for side in (-0.7, 0.7)
        for rise in (0.0, 1.4)
    ]
    count = int(density * 40)
    braces = draw.uniform((-27.0, -0.7, up), (27.0, 0.7, up + 1.4), (count, 3))
    mast = draw.uniform((-0.9, -0.9, 0.0), (0.9, 0.9, up), (int(density * up), 3))
    return np.concatenate([*chords, braces, mast])


def _fence(draw: Draw, density: float) -> Floats:
    """A noise barrier, and a tall wire fence with posts."""
    barrier = draw.uniform((-60.0, 5.0, 0.0), (60.0, 5.1, 4.0), (int(density * 120), 3))
    mesh = draw.uniform((-60.0, -5.0, 0.0), (60.0, -4.95, 3.5), (int(density * 40), 3))
    return np.concatenate([barrier, mesh, _string(draw, density, 120.0, -5.0, 3.5, 0.4)])


def _bridge(draw: Draw, density: float) -> Floats:
    """A deck with two railings and an arch above each side."""
    deck = _box(draw, density, (90.0, 10.0, 1.0), up=7.0)
    rails = [_string(draw, density, 90.0, side, 9.1, 0.6) for side in (-5.0, 5.0)]
    count = int(density * 45)
    along = _spread(draw, 90.0, count)
    high = 8.0 + 14.0 * (1.0 - (along / 45.0) ** 2)
    arches = [np.column_stack([along, np.full(count, side), high]) for side in (-5.0, 5.0)]
    hangers = draw.uniform((-40.0, -5.05, 8.0), (40.0, -4.95, 14.0), (int(density * 20), 3))
    return np.concatenate([deck, *rails, *arches, hangers])


def _rail(draw: Draw, density: float) -> Floats:
    """Rails on a bank, and a row of wagons."""
    bank = _box(draw, density, (110.0, 6.0, 1.5))
    rails = [_string(draw, density, 110.0, side, 1.7, 0.8) for side in (-0.75, 0.75)]
    wagons = [
        _box(draw, density, (18.0, 3.0, 4.2)) + np.array([x, 9.0, 0.0]) for x in (-40.0, -20.0, 0.0)
    ]
    return np.concatenate([bank, *rails, *wagons])


def _rows(draw: Draw, density: float) -> Floats:
    """A clipped hedge, poplars in a row, and a row of vines on wires too low for any line."""
    hedge = draw.uniform((-55.0, -8.5, 0.0), (55.0, -7.5, 3.5), (int(density * 160), 3))
    crowns = [
        draw.normal((x, 8.0, 9.0), (0.9, 0.9, 3.5), (int(density * 12), 3))
        for x in np.arange(-50.0, 55.0, 5.0)
    ]
    vines = draw.uniform((-50.0, -0.2, 0.3), (50.0, 0.2, 2.0), (int(density * 40), 3))
    return np.concatenate([hedge, *crowns, vines])


def _mast(draw: Draw, density: float) -> Floats:
    """An antenna mast, its guys, and a row of lamps."""
    mast = draw.uniform((-0.4, -0.4, 0.0), (0.4, 0.4, 45.0), (int(density * 30), 3))
    parts = [mast]
    for turn in (0.0, 2.1, 4.2):
        share = draw.uniform(0.0, 1.0, int(density * 10))[:, None]
        parts.append(
            share * np.array([28.0 * np.cos(turn), 28.0 * np.sin(turn), -42.0]) + (0, 0, 42)
        )
    for x in np.arange(-50.0, 51.0, 20.0):
        parts.append(draw.uniform((x - 0.1, 9.9, 0.0), (x + 0.1, 10.1, 8.0), (int(density * 5), 3)))
        parts.append(draw.uniform((x, 8.0, 7.9), (x + 0.2, 10.0, 8.1), (int(density * 2), 3)))
    return np.concatenate(parts)


def _belt(draw: Draw, density: float) -> Floats:
    """A belt for stones that climbs on stilts, two metres wide."""
    belt = _box(draw, density, (60.0, 2.0, 1.0), up=6.0)
    belt[:, 2] += 0.1 * belt[:, 0]
    return belt


def _string(draw: Draw, density: float, long: float, aside: float, up: float, hit: float) -> Floats:
    count = int(hit * density * long)
    return np.column_stack([_spread(draw, long, count), np.full(count, aside), np.full(count, up)])


def _spread(draw: Draw, long: float, count: int) -> Floats:
    return draw.uniform(-long / 2, long / 2, count)


OBJECTS: dict[str, Callable[[Draw, float], Floats]] = {
    "hall": _hall, "crane": _crane, "fence": _fence, "bridge": _bridge, "rail": _rail,
    "rows": _rows, "mast": _mast, "belt": _belt,
}  # fmt: skip
