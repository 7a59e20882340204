"""Notes that people write under points of interest, and how they find their point again.

A note lives under an id and, since ids may change with parameters, under what it was written at: the
line, the span, the kind and the place. Of a new list of points it belongs to the one with its id, else
to the nearest of its kind within three metres. What finds nothing is an orphan, and is told as such:
no note is dropped.

Two formats. CSV, the table of points with a column ``note`` more, as a spreadsheet writes it: columns
``id``, ``kind``, ``span``, ``x``, ``y``, ``z``, ``note``, ``author``, ``line``, of which ``note`` is
needed. JSON, as the report leaves it: ``{"annotations": [{"id": …, "note": …}]}``, with the same names.
A note of kind ``span`` is of the span whose middle is its place, without a place of the span that it
names; one of kind ``line`` is of the whole line.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scipy.spatial import cKDTree

from tasks.line.drawing import plain
from tasks.line.joining import Point
from tasks.line.las_header import FileFaultError
from tasks.line.obstacles import Place

ANNOTATIONS = "annotations.json"
VERSION = 1
BYTES_MAX = 16 * 1024 * 1024
ROWS_MAX = 100_000
NOTE_MAX = 4_000
SAME_PLACE_M = 3.0
OF_SPAN, OF_LINE = "span", "line"
NAMES = {
    "id": ("id",),
    "line": ("line",),
    "kind": ("kind", "class"),
    "span": ("span", "section"),
    "x": ("x", "east", "east_m"),
    "y": ("y", "north", "north_m"),
    "z": ("z", "height", "height_m"),
    "note": ("note", "notes", "annotation", "comment", "text"),
    "author": ("author", "operator", "by"),
}


Middles = Mapping[str, tuple[float, float]]
"""Of spans, by their names."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note, who wrote it, and what it was written at; empty and None where that is not told."""

    note: str
    author: str = ""
    id: str = ""
    line: str = ""
    kind: str = ""
    span: str = ""
    place: Place | None = None


@dataclass(frozen=True)
class Attached:
    """Notes by the id of their point, by the name of their span, those of the line, and those that
    found nothing, each with the reason."""

    of_points: dict[str, tuple[Annotation, ...]]
    of_spans: dict[str, tuple[Annotation, ...]]
    of_line: tuple[Annotation, ...]
    orphans: tuple[tuple[Annotation, str], ...]


def read_annotations(path: Path) -> tuple[Annotation, ...]:
    """Return the notes of a file, those that are empty left out. Raises ``FileFaultError`` for what
    cannot be read as notes, and ``OSError``."""
    if path.stat().st_size > BYTES_MAX:
        raise FileFaultError(path, "it is large", f"at most {BYTES_MAX} bytes", "cut it")
    data = path.read_bytes()
    if b"\0" in data:
        raise FileFaultError(path, "it is no text", "notes as CSV or JSON", "save it as CSV")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    rows = _of_json(path, text) if text.lstrip()[:1] in ("{", "[") else _of_csv(path, text)
    found = tuple(_annotation(path, place, row) for place, row in rows)
    return tuple(each for each in found if each.note)


def attached(
    annotations: Iterable[Annotation], line: str, points: Sequence[Point], middles: Middles
) -> Attached:
    """Return which point, span or place each note belongs to now; spans are known by their names
    and middles."""
    by_id, places = {each.id: each for each in points}, _Places(points)
    of_points: dict[str, tuple[Annotation, ...]] = {}
    of_spans: dict[str, tuple[Annotation, ...]] = {}
    of_line: list[Annotation] = []
    orphans: list[tuple[Annotation, str]] = []
    for each in dict.fromkeys(annotations):
        point = by_id.get(each.id) or places.at(each)
        span = _span(each, middles)
        if each.line and each.line != line:
            orphans.append((each, f"it is of the line {each.line}"))
        elif point is not None:
            of_points[point.id] = (*of_points.get(point.id, ()), each)
        elif span:
            of_spans[span] = (*of_spans.get(span, ()), each)
        elif each.kind == OF_LINE or not (each.kind or each.id or each.span or each.place):
            of_line.append(each)
        else:
            orphans.append((each, _why(each)))
    return Attached(of_points, of_spans, tuple(of_line), tuple(orphans))


def write_annotations(
    path: Path,
    line: str,
    told: Attached,
    points: Sequence[Point],
    span_of: dict[str, str],
    middles: Middles,
) -> None:
    """Write all notes under the ids and places that their points have now, orphans too: what another
    run begins with. Raises ``OSError``."""
    now = [
        Annotation(each.note, each.author, p.id, line, p.kind, span_of.get(p.id, p.span), p.place)
        for p in points
        for each in told.of_points.get(p.id, ())
    ]
    now += [
        Annotation(each.note, each.author, "", line, OF_SPAN, span, (*middles[span], math.nan))
        for span, of in told.of_spans.items()
        for each in of
    ]
    now += [*told.of_line, *(each for each, _ in told.orphans)]
    rows = [asdict(each) for each in now]
    for row in rows:
        place = row.pop("place") or ()
        row |= {name: each for name, each in zip("xyz", place, strict=False) if each == each}
    text = json.dumps({"version": VERSION, "annotations": rows}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", "utf-8")


class _Places:
    """Points by their place."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = points
        self._tree = cKDTree([each.place[:2] for each in points]) if points else None

    def at(self, note: Annotation) -> Point | None:
        """Return the nearest point of the note's kind, of two as near the one in the note's span;
        None where none is near enough."""
        if note.place is None or self._tree is None:
            return None
        deep = 3 if math.isfinite(note.place[2]) else 2
        near = []
        for number in self._tree.query_ball_point(note.place[:2], SAME_PLACE_M):
            each = self._points[number]
            far = math.dist(each.place[:deep], note.place[:deep])
            if far <= SAME_PLACE_M and note.kind in ("", each.kind):
                near.append((round(far, 3), each.span != note.span, number))
        return self._points[min(near)[2]] if near else None


def _span(note: Annotation, middles: Middles) -> str:
    """The span of a note; empty where it is of none that is there."""
    if note.kind != OF_SPAN:
        return ""
    if note.place is None:
        return note.span if note.span in middles else ""
    here = note.place[:2]
    far, name = min(
        ((math.dist(at, here), each) for each, at in middles.items()), default=(math.inf, "")
    )
    return name if far <= SAME_PLACE_M else ""


def _why(note: Annotation) -> str:
    if note.place is not None:
        return f"no {note.kind or 'point'} lies within {SAME_PLACE_M:g} m of its place"
    if note.kind == OF_SPAN:
        return f"there is no span {note.span}"
    return "its id is not among the points, and it has no place"


def _of_csv(path: Path, text: str) -> list[tuple[str, dict[str, Any]]]:
    heading = text.partition("\n")[0].strip()
    comma = max(",;\t", key=heading.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=comma))
    except csv.Error as error:
        raise FileFaultError(path, f"it is no CSV ({error})", "notes", "save it anew") from None
    names = [each.strip().lower() for each in (rows[0] if rows else [])]
    if not set(NAMES["note"]) & set(names):
        raise FileFaultError(
            path,
            f"its first line is {heading[:60]!r}",
            "a column named note, and id or x and y",
            "name them",
        )
    _not_too_many(path, len(rows))
    told = []
    for number, row in enumerate(rows[1:], 2):
        found = dict(zip(names, row, strict=False))
        told.append((f"line {number}", found))
    return told


def _of_json(path: Path, text: str) -> list[tuple[str, dict[str, Any]]]:
    try:
        told = json.loads(text)
        rows = told["annotations"] if isinstance(told, dict) else told
        if not (isinstance(rows, list) and all(isinstance(each, dict) for each in rows)):
            raise TypeError("annotations are a list of objects")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FileFaultError(
            path, f"it holds no notes ({error!r})", '{"annotations": [{"id": …, "note": …}]}'
        ) from None
    _not_too_many(path, len(rows))
    return [(f"note {number}", each) for number, each in enumerate(rows, 1)]


def _not_too_many(path: Path, count: int) -> None:
    if count > ROWS_MAX:
        raise FileFaultError(path, f"it has {count} rows", f"at most {ROWS_MAX}", "cut it")


def _annotation(path: Path, where: str, row: dict[str, Any]) -> Annotation:
    told = {what: next((row[n] for n in names if n in row), None) for what, names in NAMES.items()}
    words = {
        what: plain("" if told[what] is None else told[what])
        for what in ("note", "author", "id", "line", "kind", "span")
    }
    longest = max(len(each) for each in words.values())
    if longest > NOTE_MAX:
        raise FileFaultError(
            path, f"{where} is {longest} letters long", f"at most {NOTE_MAX}", "shorten it"
        )
    place = tuple(_metres(path, where, what, told[what]) for what in "xyz")
    known = math.isfinite(place[0]) and math.isfinite(place[1])
    return Annotation(**words, place=(place[0], place[1], place[2]) if known else None)


def _metres(path: Path, where: str, what: str, value: object) -> float:
    if value is None or not str(value).strip():
        return math.nan
    try:
        found = float(str(value).strip().replace(",", "."))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise FileFaultError(path, f"{what} of {where} is {str(value)[:40]!r}", "metres", "mend it")
    return found
