"""Aggregation: the points of interest of all sections in one table, each plant once.

Sections overlap where they meet, so that nothing is missed there, and a plant in the overlap is found
twice. Two that are within a plant's size of each other are one, and the nearer finding counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import hypot
from pathlib import Path

from tasks.inspection.conversation import Work, WorkError
from tasks.inspection.points_of_interest import (
    PointOfInterest,
    read_points_of_interest,
    write_points_of_interest,
)

AGGREGATED = "points_of_interest.csv"
SAME_M = 3.0


def do(work: Work) -> Sequence[str]:
    """Write the tables of all inputs as one, each plant once, and return the name of its file.
    Raises ``WorkError`` without a table or where one, or a parameter, makes no sense, and
    ``CancelledError`` when nobody wants it any more."""
    if not work.inputs:
        raise WorkError("nothing to put together: give tables of points of interest with -i")
    found: list[PointOfInterest] = []
    for number, path in enumerate(work.inputs):
        work.progress(number / len(work.inputs))
        found += read_points_of_interest(path)
    same_m = work.parameter("same_m", SAME_M)
    write_points_of_interest(Path(AGGREGATED), merge_plants(found, same_m))
    return (AGGREGATED,)


def merge_plants(found: list[PointOfInterest], same_m: float) -> list[PointOfInterest]:
    """Return the findings, the nearest to a wire first, with those within ``same_m`` of a nearer
    one put together: each plant is there once, with the points of all its findings."""
    kept: list[PointOfInterest] = []
    for each in sorted(found, key=lambda each: (each.distance_m, each.east_m)):
        for place, other in enumerate(kept):
            if hypot(each.east_m - other.east_m, each.north_m - other.north_m) <= same_m:
                kept[place] = replace(other, points=other.points + each.points)
                break
        else:
            kept.append(each)
    return kept
