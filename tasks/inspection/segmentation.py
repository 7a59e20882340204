"""Segmentation: which points are ground, wire or vegetation.

The ground is found first (``terrain``); what lies within a hand's breadth of it is ground. Of what is
high above it the wires are found by their shape (``wires``). The rest is vegetation, low, medium or
high as the LAS standard parts it. Ground and wires are saved when they are found: an attempt that
begins after a loss goes on from there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tasks.inspection.conversation import Work, WorkError
from tasks.inspection.las import (
    GROUND,
    HIGH_VEGETATION,
    LOW_VEGETATION,
    MEDIUM_VEGETATION,
    WIRE,
    Cloud,
    read_las,
    write_las,
)
from tasks.inspection.terrain import Terrain, ground_below
from tasks.inspection.wires import wire_points

SEGMENTED, SAVED = "segmented.las", "segmentation.saved"
GROUND_M_MAX = 0.4
WIRE_M_MIN = 6.0
LOW_M_MAX, MEDIUM_M_MAX = 0.8, 2.5
TOLD_EVERY = 2_000

Heights = list[float]


def do(work: Work) -> Sequence[str]:
    """Give each point of the input its class, write all of them, and return the file's name. What
    takes long is saved half way, and taken from an earlier attempt with the same points. Raises
    ``WorkError`` without points, and ``CancelledError``."""
    cloud = read_las(work.input(0, "the points"))
    if not len(cloud):
        raise WorkError("there are no points in the input")
    work.progress(0.1)
    terrain, wires = _resumed(work, cloud) or _found(work, cloud)
    heights = _heights(work, cloud, terrain)
    for number, height in enumerate(heights):
        cloud.classes[number] = WIRE if number in wires else _kind(height)
    work.progress(0.95)
    write_las(Path(SEGMENTED), cloud)
    return (SEGMENTED,)


def _found(work: Work, cloud: Cloud) -> tuple[Terrain, set[int]]:
    terrain = ground_below(zip(cloud.x, cloud.y, cloud.z, strict=True))
    work.progress(0.3)
    wire_m_min = work.parameter("wire_m_min", WIRE_M_MIN)
    high = []
    for number in range(len(cloud)):
        if number % TOLD_EVERY == 0:
            work.progress(0.3 + 0.2 * number / len(cloud))
        if cloud.z[number] - terrain.height(cloud.x[number], cloud.y[number]) >= wire_m_min:
            high.append(number)
    wires = wire_points([(cloud.x[n], cloud.y[n], cloud.z[n]) for n in high])
    found = {high[number] for number in wires}
    _save(work, cloud, terrain, found)
    return terrain, found


def _heights(work: Work, cloud: Cloud, terrain: Terrain) -> Heights:
    heights: Heights = []
    for number in range(len(cloud)):
        if number % TOLD_EVERY == 0:
            work.progress(0.6 + 0.3 * number / len(cloud))
        heights.append(cloud.z[number] - terrain.height(cloud.x[number], cloud.y[number]))
    return heights


def _kind(height_m: float) -> int:
    if height_m <= GROUND_M_MAX:
        return GROUND
    if height_m <= LOW_M_MAX:
        return LOW_VEGETATION
    return MEDIUM_VEGETATION if height_m <= MEDIUM_M_MAX else HIGH_VEGETATION


def _save(work: Work, cloud: Cloud, terrain: Terrain, wires: set[int]) -> None:
    document = {
        "points": len(cloud),
        "first": [cloud.x[0], cloud.y[0], cloud.z[0]],
        "terrain": [[*cell, round(height, 4)] for cell, height in terrain.heights.items()],
        "wires": sorted(wires),
    }
    path = Path(SAVED)
    path.write_text(json.dumps(document), "utf-8")
    work.save(path)


def _resumed(work: Work, cloud: Cloud) -> tuple[Terrain, set[int]] | None:
    """What an earlier attempt found in the same points."""
    if work.checkpoint is None:
        return None
    try:
        document = json.loads(work.checkpoint.read_text("utf-8"))
        same = document["points"] == len(cloud)
        same = same and document["first"] == [cloud.x[0], cloud.y[0], cloud.z[0]]
        heights = {(int(a), int(b)): float(height) for a, b, height in document["terrain"]}
        wires = {int(number) for number in document["wires"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"what was saved cannot be used ({error!r}), so it begins anew\n")
        return None
    if not same:
        return None
    sys.stderr.write("goes on from what an earlier attempt saved\n")
    return Terrain(heights), wires
