"""What a result is, by its name, and how one from another machine is looked at without harm.

Whoever made a file chose its name and what is in it. So only kinds that do nothing by themselves are
opened; what a system would run is shown in its folder. A page keeps its look and loses its scripts and
its way to the network.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

TEXT_BYTES_MAX = 2_000_000
ROWS_MAX = 20_000
POINTS_MAX = 200_000
GUARD = (
    b'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    b"img-src file: data:; style-src 'unsafe-inline' file:; font-src data:; form-action 'none'; base-uri 'none'\">"
)
_DOCTYPE = re.compile(rb"\s*(?:<!--[^<>]*-->\s*)*<!doctype[^<>\x1b]*>", re.IGNORECASE)
"""With nothing before it that could end as something else: what a browser runs is behind the guard,
and the guard is read as the letters that it is."""
_UTF_8 = b"\xef\xbb\xbf"
_ORDER = re.compile(rb"http-equiv(?!\s*=\s*[\"']?content-type[\"'\s>])", re.IGNORECASE)
"""What a page has the browser do as if its server had said it, such as going elsewhere after a while;
the guard does not forbid that. What letters it is written in, it may say. ESC, with which some kinds
of text hide letters between others, is in no page of these days."""


class Kind(Enum):
    """How a result is looked at."""

    TEXT = "text"
    TABLE = "table"
    PICTURE = "picture"
    MAP = "map"
    PAGE = "page"
    DOCUMENT = "document"
    OTHER = "other"


INSIDE = (Kind.TEXT, Kind.TABLE, Kind.PICTURE, Kind.MAP)
"""Shown in a window of our own; pages and documents are opened by what the system has for them."""

_ENDINGS = {
    Kind.TEXT: ".txt .log .md .json .yaml .yml .toml .xml .gpx .prj .ini",
    Kind.TABLE: ".csv .tsv",
    Kind.PICTURE: ".png .jpg .jpeg .gif .bmp .webp .svg",
    Kind.MAP: ".geojson",
    Kind.PAGE: ".html .htm",
    Kind.DOCUMENT: ".pdf .las .laz .tif .tiff .gpkg .mp4 .docx .xlsx .odt .ods",
}
_KINDS = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}


def kind_of(name: str) -> Kind:
    """Return how a file of this name is looked at; ``OTHER`` for what is not known to be harmless."""
    return _KINDS.get(PurePosixPath(name).suffix.lower(), Kind.OTHER)


def guarded(page: bytes) -> bytes | None:
    """Return an HTML page changed so that it looks the same but runs no script, loads nothing from
    the network and leads nowhere by itself; None for one in an encoding in which that cannot be
    done."""
    if page.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in page[:1024]:
        return None
    begin = len(_UTF_8) if page.startswith(_UTF_8) else 0
    found = _DOCTYPE.match(page, begin)
    at = found.end() if found else begin
    return page[:at] + GUARD + _ORDER.sub(b"http-none", page[at:].replace(b"\x1b", b""))


def text_of(path: Path) -> tuple[str, bool]:
    """Return the beginning of a file as text, and whether that is all of it. Raises ``OSError``."""
    with path.open("rb") as file:
        data = file.read(TEXT_BYTES_MAX + 1)
    return data[:TEXT_BYTES_MAX].decode("utf-8-sig", "replace"), len(data) <= TEXT_BYTES_MAX


def rows_of(path: Path) -> tuple[list[list[str]], bool]:
    """Return the first rows of a table, ``ROWS_MAX`` at the most, its heading among them, and
    whether those are all; a tab, semicolon or comma parts its columns, whichever its first line has
    most of. Rows end before what is no table. Raises ``OSError``."""
    text, whole = text_of(path)
    first = text.partition("\n")[0]
    parted = max("\t;,", key=first.count)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=parted):
            if len(rows) == ROWS_MAX:
                return rows, False
            rows.append(row)
    except csv.Error:  # a cell longer than that reader takes, as after a quote that nobody closed
        return rows, False
    return rows, whole


@dataclass(frozen=True, slots=True)
class Shape:
    """Something on a map: its lines, of which one of a single place is a point, and what it says of
    itself."""

    lines: tuple[tuple[tuple[float, float], ...], ...]
    closed: bool
    said: str


def shapes_of(path: Path) -> tuple[list[Shape], bool]:
    """Return what a GeoJSON file shows, around the middle and with north up, and whether that is
    all; places are as wide as high, also where they are degrees. Raises ``OSError``, and
    ``ValueError`` where it is no GeoJSON or too large."""
    text, whole = text_of(path)
    if not whole:
        raise ValueError("it is too large to be shown")
    found: list[Shape] = []
    left = POINTS_MAX
    for shape in _features(msgspec.json.decode(text.encode())):
        left -= sum(map(len, shape.lines))
        if left < 0:
            return _level(found), False
        found.append(shape)
    return _level(found), True


def _features(told: Any) -> Iterator[Shape]:
    match told:
        case {"type": "FeatureCollection", "features": list(features)}:
            for each in features:
                yield from _features(each)
        case {"type": "Feature", "geometry": geometry}:
            said = told.get("properties")
            lines = said.items() if isinstance(said, dict) else ()
            text = "\n".join(f"{key}: {value}" for key, value in lines)
            yield from (Shape(each.lines, each.closed, text) for each in _features(geometry))
        case {"type": "GeometryCollection", "geometries": list(geometries)}:
            for each in geometries:
                yield from _features(each)
        case {"type": str(kind), "coordinates": list(places)}:
            yield _geometry(kind, places)
        case None:
            return
        case _:
            raise ValueError("it is no GeoJSON")


def _geometry(kind: str, places: list[Any]) -> Shape:
    try:
        match kind:
            case "Point":
                lines = [[places]]
            case "MultiPoint":
                lines = [[place] for place in places]
            case "LineString":
                lines = [places]
            case "MultiLineString" | "Polygon":
                lines = places
            case "MultiPolygon":
                lines = [ring for polygon in places for ring in polygon]
            case _:
                raise ValueError("it is no GeoJSON")
        told = tuple(tuple((float(at[0]), float(at[1])) for at in line) for line in lines)
    except (TypeError, IndexError) as error:
        raise ValueError("it is no GeoJSON") from error
    if not all(math.isfinite(number) for line in told for at in line for number in at):
        raise ValueError("it is no GeoJSON")
    return Shape(told, kind.endswith("Polygon"), "")


def _level(shapes: Sequence[Shape]) -> list[Shape]:
    """North up, around the middle; degrees of longitude shrink towards the poles."""
    places = [at for shape in shapes for line in shape.lines for at in line]
    if not places:
        return []
    degrees = all(abs(x) <= 180 and abs(y) <= 90 for x, y in places)
    across, up = (sum(each) / len(places) for each in zip(*places, strict=True))
    wide = math.cos(math.radians(up)) if degrees else 1.0

    def placed(line: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        return tuple(((x - across) * wide, up - y) for x, y in line)

    return [Shape(tuple(map(placed, each.lines)), each.closed, each.said) for each in shapes]
