"""What a person decides about points of interest: accept, reject, add.

The table is that of the points itself with a word in its column ``decision``, or any CSV with the
columns ``decision`` and ``id``; a line whose decision is empty says nothing. Who has no id names
``kind``, ``x``, ``y`` and ``z``: meant is the point of that kind within three metres. ``add`` needs
these in any case, and may tell ``distance_m``. What is decided about nothing that is there is counted
and told: the line was inspected anew since, and somebody has to look again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tasks.line.curve import Curve
from tasks.line.handed_in import Row, read_rows
from tasks.line.joining import Line, Point, id_of, spans_of_wires
from tasks.line.obstacles import Place
from tasks.line.parameters import SAME_PLACE_M
from tasks.line.tables import Tables

DECISION = "decision"
ACCEPT, REJECT, ADD = "accept", "reject", "add"
WORDS = (ACCEPT, REJECT, ADD)
KIND_CHARACTERS_MAX = 60
STEP_M = 0.2


@dataclass(frozen=True)
class Decided:
    """What a person has made of the points: those that stay, those that were rejected, and how many
    lines were about nothing that is there."""

    points: tuple[Point, ...]
    rejected: tuple[Point, ...] = ()
    unmatched: int = 0


def decided(line: Line, name: str, table: Path, voltage_kv: float, tables: Tables) -> Decided:
    """Return the points of interest of a line after a person's accepts, rejects and additions in a
    table. Raises ``WorkError`` for a row that makes no sense, and ``OSError``."""
    kept = {each.id: each for each in line.points}
    rejected: dict[str, Point] = {}
    unmatched = 0
    for row in read_rows(table, (DECISION,)):
        word = row.text(DECISION).lower()
        if not word:
            continue
        if word not in WORDS:
            raise row.wrong(f"{word[:40]!r} is no decision: accept, reject or add")
        if word == ADD:
            point = _added(row, line, name, voltage_kv, tables)
            kept[point.id] = point
            continue
        meant = _meant(row, line.points)
        if meant is None:
            unmatched += 1
        elif word == ACCEPT:
            kept[meant.id] = replace(meant, decision=word)
            rejected.pop(meant.id, None)
        else:
            rejected[meant.id] = replace(meant, decision=word)
            kept.pop(meant.id, None)
    return Decided(tuple(kept.values()), tuple(rejected.values()), unmatched)


def _meant(row: Row, points: Sequence[Point]) -> Point | None:
    named = next((each for each in points if each.id == row.text("id")), None)
    if named is not None or not row.text("kind"):
        if named is None and not row.text("id"):
            raise row.wrong("it names no point: give its id, or kind, x, y and z")
        return named
    place = _place(row)
    same = [each for each in points if each.kind == row.text("kind")]
    nearest = min(same, key=lambda each: _apart(each.place, place), default=None)
    if nearest is None or _apart(nearest.place, place) > SAME_PLACE_M:
        return None
    return nearest


def _added(row: Row, line: Line, name: str, voltage_kv: float, tables: Tables) -> Point:
    kind, place = row.text("kind"), _place(row)
    if not kind or len(kind) > KIND_CHARACTERS_MAX or not kind.isprintable():
        raise row.wrong("kind has to be a word, such as vegetation")
    told_m, wire, wire_place, span = row.number("distance_m"), None, None, ""
    nearest = [(*_nearest(each, place), number) for number, each in enumerate(line.curves)]
    if nearest:
        away_m, at, number = min(nearest)
        wire, wire_place = line.wire_of_curve[number], at
        own = [
            curve
            for curve, each in zip(line.curves, line.wire_of_curve, strict=True)
            if each == wire
        ]
        spans = spans_of_wires(own, [wire] * len(own), line.towers)
        span = "-".join(f"T{each}" for each in spans[wire])
        told_m = round(away_m, 2) if told_m is None else told_m
    relevance = 0 if told_m is None else tables.relevance_of(kind, voltage_kv, told_m)
    return Point(
        id_of(name, kind, place), kind, place, span, wire, wire_place, told_m,
        relevance, tables.maintenance_of(kind, relevance), ADD,
    )  # fmt: skip


def _nearest(curve: Curve, place: Place) -> tuple[float, Place]:
    places = curve.places(np.arange(curve.start_m, curve.end_m, STEP_M))
    away = np.linalg.norm(places - place, axis=1)
    at = int(np.argmin(away))
    x, y, z = (round(float(each), 3) for each in places[at])
    return float(away[at]), (x, y, z)


def _place(row: Row) -> Place:
    return row.needed("x"), row.needed("y"), row.needed("z")


def _apart(one: Place, other: Place) -> float:
    return float(np.linalg.norm(np.subtract(one, other)))
