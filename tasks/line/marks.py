"""What the operator marked in flight: places with a word, as CSV or as waypoints of a GPX.

A CSV has a first line that names its columns: ``latitude`` and ``longitude`` in degrees, or ``time``
(UTC, as 2026-05-31T10:15:00Z), of which the place is found on the way of the aircraft; and ``text``.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import gpxpy

from tasks.line.las_header import FileFaultError
from tasks.line.sentences import said

MARKS_BYTES_MAX = 16 * 1024 * 1024
NAMES = {
    "time": ("time", "utc", "timestamp"),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng"),
    "text": ("text", "note", "comment", "name"),
}
UNUSABLE = said("marks without a place and without a time")


class Mark(NamedTuple):
    """NaN where it was not told."""

    time_s: float
    """UTC since 1970."""
    latitude_deg: float
    longitude_deg: float
    text: str


def read_marks(path: Path) -> tuple[list[Mark], Counter[str]]:
    """Return the marks of a file, and what was left out. Raises ``FileFaultError`` where it is of no
    marks, and ``OSError``."""
    if path.stat().st_size > MARKS_BYTES_MAX:
        raise FileFaultError(
            path,
            said("it is large"),
            said("at most {most} bytes", most=MARKS_BYTES_MAX),
            said("cut it"),
        )
    text = path.read_text("utf-8-sig", "replace")
    found = _of_gpx(path, text) if path.suffix.lower() == ".gpx" else _of_csv(path, text)
    usable = [
        each
        for each in found
        if math.isfinite(each.time_s) or math.isfinite(each.latitude_deg + each.longitude_deg)
    ]
    survived = Counter({UNUSABLE: len(found) - len(usable)})
    return usable, survived + Counter()


def _of_csv(path: Path, text: str) -> list[Mark]:
    lines = text.splitlines()
    heading = lines[0] if lines else ""
    comma = max(",;\t", key=heading.count)
    rows = list(csv.reader(lines, delimiter=comma))
    names = [each.strip().lower() for each in (rows[0] if rows else [])]
    place = {
        what: next((names.index(name) for name in given if name in names), None)
        for what, given in NAMES.items()
    }
    if place["time"] is None and (place["latitude"] is None or place["longitude"] is None):
        raise FileFaultError(
            path,
            said("its first line is {heading}", heading=f"{heading[:60]!r}"),
            said("columns named latitude and longitude, or time, and text"),
            said("name them"),
        )

    def word(row: list[str], what: str) -> str:
        at = place[what]
        return row[at].strip() if at is not None and at < len(row) else ""

    return [
        Mark(
            _time_s(word(row, "time")),
            _degrees(word(row, "latitude"), 90),
            _degrees(word(row, "longitude"), 180),
            word(row, "text"),
        )
        for row in rows[1:]
        if any(row)
    ]


def _of_gpx(path: Path, text: str) -> list[Mark]:
    if "<!" in text.replace("<!--", ""):
        raise FileFaultError(path, said("it defines words of its own (<!…>)"), said("plain GPX"))
    try:
        points = gpxpy.parse(text).waypoints
    except (gpxpy.gpx.GPXException, ValueError) as error:
        raise FileFaultError(
            path,
            said("it is no GPX ({error})", error=str(error).splitlines()[0]),
            said("waypoints"),
        ) from None
    return [
        Mark(
            math.nan if p.time is None else p.time.timestamp(),
            p.latitude,
            p.longitude,
            " ".join(each for each in (p.name, p.description) if each),
        )
        for p in points
    ]


def _time_s(word: str) -> float:
    try:
        moment = datetime.fromisoformat(word)
    except ValueError:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _degrees(word: str, most: float) -> float:
    try:
        found = float(word.replace(",", "."))
    except ValueError:
        return math.nan
    return found if abs(found) <= most else math.nan
