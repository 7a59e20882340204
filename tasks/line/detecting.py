"""Detection in a tile: what comes near to its wires, and its towers.

Takes the segmented points and the spans, and what a person has changed of their classes
(``patching``), if anything. With the plan and ``tile=3`` only what lies in the tile
itself is told, not in its halo: there the next tile tells it. Everything near is told, cube by cube:
what of it is worth a line is chosen of the whole line (``aggregating``). Parameter ``within_m``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path

import numpy as np

from tasks.inspection.conversation import Work, WorkError
from tasks.line.cloud import read
from tasks.line.corridor import CORRIDOR, corridor_of
from tasks.line.interest import INTEREST, Interest
from tasks.line.las_header import FileFaultError
from tasks.line.obstacles import close_places
from tasks.line.parameters import WITHIN_M
from tasks.line.patching import patched
from tasks.line.spans import Spans
from tasks.line.tiles import Plan

Own = Callable[[Sequence[tuple[float, float]]], Sequence[bool]]


def do(work: Work) -> Sequence[str]:
    """Write the points of interest of a tile and its corridor and return the files' names. Raises
    ``WorkError`` where something cannot be used, and ``CancelledError``."""
    try:
        points = read(work.input(0, "the segmented points"))
    except FileFaultError as error:
        raise WorkError(str(error)) from None
    spans = Spans.read(work.input(1, "the spans"))
    if len(work.inputs) > 2:
        points, spans = patched(points, spans, work.inputs[2])
    within_m = work.parameter("within_m", WITHIN_M)
    tile, own = _own(work)
    work.progress(0.2)
    places = np.column_stack([points.x, points.y, points.z])
    curves = [each.curve for each in spans.wires]
    found = close_places(curves, spans.towers, places, points.classification, within_m)
    kept = tuple(compress(found, own([each.place[:2] for each in found])))
    towers = tuple(compress(spans.towers, own([(each.x, each.y) for each in spans.towers])))
    numbers = {spans.towers.index(each): number for number, each in enumerate(towers)}
    wires = tuple(
        replace(
            each,
            from_tower=None if each.from_tower is None else numbers.get(each.from_tower),
            to_tower=None if each.to_tower is None else numbers.get(each.to_tower),
        )
        for each in spans.wires
    )
    told = replace(spans, wires=wires, towers=towers)
    Interest(tile, kept, told, patched=len(work.inputs) > 2).write(Path(INTEREST))
    corridor_of(tile, spans, places, points.classification, within_m).write(Path(CORRIDOR))
    return INTEREST, CORRIDOR


def _own(work: Work) -> tuple[int | None, Own]:
    """The tile, and which places belong to it; all do where there is no plan."""
    if not work.raw:
        return None, lambda places: [True] * len(places)
    plan = Plan.read(work.raw[0])
    tile = plan.tile(work.parameter("tile", 0))

    def own(places: Sequence[tuple[float, float]]) -> Sequence[bool]:
        along, _ = plan.chainage(*np.array(places, np.float64).reshape(-1, 2).T)
        return [bool(each) for each in plan.owner(along) == tile.number]

    return tile.number, own
