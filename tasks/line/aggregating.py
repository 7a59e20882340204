"""Aggregation: all tiles of a line as one list of points, with relevance and what is to be done.

Takes what was detected in every tile; with ``-p`` also ``relevance.csv`` and ``maintenance.csv`` of
one's own, and ``line.json`` of an earlier run, whose ids are kept. What a person has decided about
points (``deciding``) is one more input, behind those of the tiles. Parameters ``line`` and
``voltage_kv``.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from tasks.inspection.conversation import Work, WorkError
from tasks.line.deciding import DECISION, decided
from tasks.line.interest import Interest
from tasks.line.joining import Line, joined_line, read_points, with_earlier_ids, write_points
from tasks.line.tables import read_tables

LINE, POINTS = "line.json", "points_of_interest.csv"
VOLTAGE_KV = 110.0
COLUMNS = (
    *("id", "kind", "x", "y", "z", "span", "distance_m", "relevance", "maintenance"),
    DECISION,
)


def do(work: Work) -> Sequence[str]:
    """Write the line and the table of its points and return the files' names. Raises ``WorkError``
    where something cannot be used, and ``CancelledError``."""
    found = [each for each in work.inputs if _is_json(each)]
    if not found:
        raise WorkError("there is nothing to aggregate: what was detected is given with -i")
    tiles = sorted((Interest.read(each) for each in found), key=lambda each: each.tile or 0)
    tables = read_tables([each for each in work.raw if each.suffix == ".csv"])
    name = work.parameter("line", "line")
    voltage_kv = work.parameter("voltage_kv", VOLTAGE_KV)
    line = joined_line(name, tiles, voltage_kv, tables)
    earlier = [point for each in work.raw if each.name == LINE for point in read_points(each)]
    points, orphans = with_earlier_ids(line.points, earlier)
    line = replace(line, points=points)
    validation: dict[str, object] = {"patched_tiles": [each.tile for each in tiles if each.patched]}
    for each in (each for each in work.inputs if each not in found):
        told = decided(line, name, each, voltage_kv, tables)
        line = replace(line, points=told.points)
        validation["rejected"] = [asdict(point) for point in told.rejected]
        validation["unmatched"] = told.unmatched
    write_points(Path(LINE), name, line, orphans, tables.example, voltage_kv, validation)
    _write_table(Path(POINTS), line)
    return LINE, POINTS


def _is_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(1) == b"{"


def _write_table(path: Path, line: Line) -> None:
    """What matters most first."""
    ranked = sorted(
        line.points, key=lambda each: (-each.relevance, each.distance_m or 0.0, each.id)
    )
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for each in ranked:
            distance = "" if each.distance_m is None else each.distance_m
            last = each.span, distance, each.relevance, each.maintenance, each.decision
            table.writerow([each.id, each.kind, *each.place, *last])
