"""What the report says, part after part; how it looks is left to the page and to the sheets of PDF.

Whoever gets a report was not there when it was made. So it says what it is of, whether people have
looked at it, what to do first and where; then all of it, span by span; at last what it was made of and
by which numbers, and what nobody told it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyproj

from tasks.line.album import Album, Photo, album_of
from tasks.line.annotations import Annotation, Attached
from tasks.line.corridor import COLUMNS, REACH_M
from tasks.line.drawing import Drawing, counted, grouped, plain
from tasks.line.facts import Facts
from tasks.line.facts import Picture as Taken
from tasks.line.figures import Numbers, map_of
from tasks.line.joining import TOWER_KIND, Point
from tasks.line.sections import Section
from tasks.line.span_figures import ASIDE_M, Cells, span_of

GATES = ("features", "points", "annotations")
ORDER = ("cut now", "this season", "structure", "watch")
"""What is to be done first; what other tables say comes after these."""
ROWS_SHOWN_MAX = 5_000
KINDS_SHOWN_MAX = 5
NONE = "-"


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table, and which part of the page tells more."""

    words: str
    leads_to: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """The beginning of a part; ``depth`` 2 or 3."""

    words: str
    depth: int = 2
    name: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence or some; ``loud`` where it must not be missed."""

    words: str
    loud: bool = False
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below a heading; ``shares`` are the widths of the columns, in millimetres; ``right`` the
    columns of numbers; ``names`` those of the rows; ``orders`` by which else they can be sorted: the
    rank of each row."""

    heading: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    widths: tuple[float, ...]
    right: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    orders: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing and what is to be known about it."""

    drawing: Drawing
    says: str


Part = Heading | Said | Table | Picture | Photo


@dataclass(frozen=True)
class Asked:
    """What the person who asked for the report says."""

    operator: str = ""
    notes: str = ""
    title: str = ""
    voltage_kv: float | None = None
    passed: tuple[str, ...] = ()
    """The gates at which people have looked."""

    @property
    def skipped(self) -> tuple[str, ...]:
        """Return the gates at which nobody has looked."""
        return tuple(each for each in GATES if each not in self.passed)

    @property
    def stamp(self) -> str:
        """Return what has to be told of a report that nobody has validated, empty for others."""
        if not self.skipped:
            return ""
        return f"Not validated: nobody has looked at {', '.join(self.skipped)}"


@dataclass
class Report:
    """Everything of a report, ready to be said; ``points`` are in the order of their numbers."""

    facts: Facts
    asked: Asked
    sections: tuple[Section, ...]
    notes: Attached
    points: tuple[Point, ...]
    chainage_m: dict[str, float]
    offset_m: dict[str, float]
    span_of: dict[str, str]
    pictures: dict[str, tuple[Taken, float]]
    """What was taken nearest to each point, by the point's id, and from how far."""
    album: Album

    @property
    def title(self) -> str:
        """Return the heading of the report."""
        return self.asked.title or f"Inspection of {self.facts.name}"

    @cached_property
    def numbers(self) -> Numbers:
        """Return the number of each point by its id."""
        return {each.id: number for number, each in enumerate(self.points, 1)}


def report_of(facts: Facts, asked: Asked, sections: tuple[Section, ...], notes: Attached) -> Report:
    """Return the report, its points ranked by how much they matter."""
    points = sorted(
        facts.line.points,
        key=lambda each: (-each.relevance, _urgency(each), each.distance_m or 0.0, each.id),
    )
    places = np.array([each.place[:2] for each in points]).reshape(-1, 2)
    along, beside = facts.plan.chainage(*places.T)
    ids = [each.id for each in points]
    spans = {each.id: section.name for section in sections for each in section.points}
    spans |= {each.id: each.span for each in points if each.kind == TOWER_KIND}
    along_of, beside_of = (
        dict(zip(ids, column.tolist(), strict=True)) for column in (along, beside)
    )
    near = facts.picture_of(points)
    album = album_of(facts, points, near)
    said = facts, asked, sections, notes
    return Report(*said, tuple(points), along_of, beside_of, spans, near, album)


def _urgency(point: Point) -> tuple[int, str]:
    known = point.maintenance in ORDER
    return ORDER.index(point.maintenance) if known else len(ORDER), point.maintenance


def parts_of(report: Report) -> Iterator[Part]:
    """Yield all parts of the report but its heading and what it was made of."""
    yield from _warnings(report)
    yield from _summary(report)
    yield Heading("Map", name="map")
    yield Picture(
        map_of(report.facts, report.sections, report.numbers),
        "Numbers are those of the table of points. Colours tell how much a point matters: red most, "
        "then orange, blue, grey. Dashed: the route. A map of a long line has no numbers; the plans of "
        "its spans have them.",
    )
    yield from _points(report)
    yield from _spans(report)
    yield from _notes(report)


def head_of(report: Report) -> Table:
    """Return what the report is of."""
    facts, asked = report.facts, report.asked
    plan, voltage = facts.plan, asked.voltage_kv or facts.voltage_kv
    kinds = Counter(each.kind for each in facts.line.points)
    told = {
        "Line": facts.name,
        "Date of flight": plan.date or "not told",
        "Operator": asked.operator or "not told",
        "Notes": asked.notes or "none",
        "Voltage": "not told" if voltage is None else f"{voltage:g} kV",
        "Length of the route": f"{grouped(plan.length_m)} m",
        "Reference system": reference_of(plan.wkt),
        "Scans": f"{counted(len(plan.scans), 'file')}, {grouped(sum(s.points for s in plan.scans))} points",
        "Found": f"{counted(kinds[TOWER_KIND], 'tower')}, {counted(len(report.sections), 'span')}, "
        f"{counted(len(set(facts.line.wire_of_curve)), 'wire')}",
        "Report": f"{facts.digest} (the same input gives the same number)",
    }  # fmt: skip
    return pairs_of(told)


def reference_of(wkt: str) -> str:
    """Return the name of a reference system."""
    try:
        return plain(pyproj.CRS(wkt).name)
    except pyproj.exceptions.CRSError:
        return "not known"


def _warnings(report: Report) -> Iterator[Part]:
    if report.asked.stamp:
        yield Said(
            "What stands here was found by programs, and nobody has checked "
            f"{', '.join(report.asked.skipped)}: do not act on it alone.",
            loud=True,
        )
    if report.facts.example:
        yield Said(
            "The limits by which points were ranked are examples, not regulation: the tables of "
            "relevance and maintenance, or one of them, are those that come with the programs.",
            loud=True,
        )
    if sparse := report.facts.line.too_sparse:
        told = ", ".join("all" if each is None else str(each) for each in sparse)
        yield Said(
            f"Too few points lie in these tiles to tell of wires, so nothing found there means "
            f"nothing: {told}.",
            loud=True,
        )


def _summary(report: Report) -> Iterator[Part]:
    yield Heading("Summary", name="summary")
    others = [each for each in report.points if each.kind != TOWER_KIND]
    if not others:
        yield Said("Nothing was found that comes nearer to the wires than was looked for.")
        return
    nearest = min(others, key=lambda each: math.inf if each.distance_m is None else each.distance_m)
    far = "" if nearest.distance_m is None else f", {nearest.distance_m:.2f} m from a wire"
    yield Said(
        f"{counted(len(others), 'point')} of interest besides towers; the nearest is {nearest.kind} "
        f"{nearest.id} at {report.chainage_m[nearest.id]:.0f} m{far}."
    )
    usual = [kind for kind, _ in Counter(each.kind for each in others).most_common(KINDS_SHOWN_MAX)]
    kinds = sorted(usual)
    classes = dict.fromkeys(each.maintenance for each in sorted(others, key=_urgency))
    count = Counter((each.maintenance, each.kind) for each in others)
    rows = [
        (
            c,
            str(sum(e.maintenance == c for e in others)),
            *(str(count[c, k] or NONE) for k in kinds),
        )
        for c in classes
    ]
    widths = (40.0, 20.0, *(24.0 for _ in kinds))
    yield table_of(("To be done", "points", *kinds), rows, widths, right=range(1, len(widths)))


def _points(report: Report) -> Iterator[Part]:
    yield Heading("Points of interest", name="points")
    if not report.points:
        yield Said("There are none.")
        return
    if not report.facts.pictures:
        yield Said("No photograph and no video tells where it was taken.", quiet=True)
    yield Table(
        ("no.", "id", "class", "span", "along m", "distance m", "rel.", "to be done",
         "east, north, height", "picture, mark, note"),
        tuple(_rows(report)),
        (7.0, 18.0, 17.0, 19.0, 12.0, 14.0, 7.0, 18.0, 33.0, 35.0),
        (0, 4, 5, 6),
        tuple(f"p-{each.id}" for each in report.points),
        _orders(report),
    )  # fmt: skip
    yield from _album(report.album)


def _rows(report: Report) -> Iterator[tuple[Cell, ...]]:
    facts, numbers = report.facts, report.numbers
    pictures, marks = report.pictures, facts.mark_of(report.points)
    anchors = {each.name: f"s-{number}" for number, each in enumerate(report.sections)}
    for point in report.points:
        told = []
        if point.id in pictures:
            picture, far = pictures[point.id]
            told.append(f"{picture.says()}, from {far:.0f} m")
        if point.id in marks:
            mark, far = marks[point.id]
            told.append(f"marked {far:.0f} m away: {mark.text}")
        told += [f"decided: {point.decision}"] if point.decision else []
        told += [_note(each) for each in report.notes.of_points.get(point.id, ())]
        span = report.span_of.get(point.id, "")
        x, y, z = point.place
        cells = (
            str(numbers[point.id]), point.id, point.kind, span,
            f"{report.chainage_m[point.id]:.0f}",
            "" if point.distance_m is None else f"{point.distance_m:.2f}",
            str(point.relevance), point.maintenance, f"{x:.1f} {y:.1f} {z:.1f}",
        )  # fmt: skip
        leads = {3: anchors.get(span, "")}
        first = (Cell(plain(words), leads.get(n, "")) for n, words in enumerate(cells))
        yield *first, Cell("; ".join(told), report.album.name_of.get(point.id, ""))


def _album(album: Album) -> Iterator[Part]:
    if not album.photos and not album.left_out:
        return
    yield Heading("Pictures of the points", name="pictures")
    yield Said(
        "The photograph or the second of video taken nearest to each point, and from how far; numbers "
        "are those of the table of points. They are small: the originals lie with the flight.",
        quiet=True,
    )
    if album.left_out:
        yield Said(f"For {counted(album.left_out, 'point')} there was no room.", quiet=True)
    yield from album.photos


def _orders(report: Report) -> dict[str, tuple[int, ...]]:
    points = report.points
    keys = {
        "to be done": [(*_urgency(each), -each.relevance) for each in points],
        "along the line": [(report.chainage_m[each.id],) for each in points],
        "distance": [(each.distance_m is None, each.distance_m or 0.0) for each in points],
        "class": [(each.kind, -each.relevance) for each in points],
    }
    told = {}
    for name, key in keys.items():
        order = sorted(range(len(points)), key=lambda at, key=key: (key[at], at))  # type: ignore[misc]
        ranks = [0] * len(points)
        for rank, at in enumerate(order, 1):
            ranks[at] = rank
        told[name] = tuple(ranks)
    return told


def _spans(report: Report) -> Iterator[Part]:
    yield Heading("Spans", name="spans")
    if not report.sections:
        yield Said("No wires were found, so there is no span to tell of.")
        return
    numbers = report.numbers
    rows = []
    for number, each in enumerate(report.sections):
        near = (clearance_of(each, kind, report) for kind in COLUMNS)
        lengths = f"{each.length_m:.1f}", str(each.wires), f"{each.sag_m:.1f}"
        told = f"{each.residual_m:.2f}", str(sum(p.kind != TOWER_KIND for p in each.points))
        first = Cell(each.name, f"s-{number}"), Cell(f"{each.chainage_m:.0f}")
        rows.append((*first, *(Cell(words) for words in (*lengths, *near, *told))))
    heading = ("span", "from m", "length m", "wires", "sag m", *COLUMNS, "fit m", "points")
    widths = (28.0, 14.0, 17.0, 12.0, 12.0, 26.0, 26.0, 23.0, 11.0, 11.0)
    yield Table(heading, tuple(rows), widths, (1, 2, 3, 4, 8, 9))
    yield Said(
        "Least clearances are measured in space, from the fitted curve; in brackets the number of the "
        "point. Sag is that of the wire that hangs lowest below its ends; fit is how far the points of "
        "the worst wire lie from its curve. In the profiles, green is vegetation and grey buildings that "
        f"stand anywhere within {ASIDE_M:g} m of the wires, brown the terrain below their middle.",
        quiet=True,
    )
    cells = Cells([each.cells for each in report.facts.corridors])
    for number, each in enumerate(report.sections):
        yield Heading(f"Span {each.name}", 3, f"s-{number}")
        yield Picture(span_of(each, cells, numbers), _says_of_span(each, report))


def clearance_of(section: Section, kind: str, report: Report) -> str:
    """Return the least clearance of a span to a kind, as it is told in a table."""
    near = section.clearance(kind)
    if near is None:
        return f"none in {REACH_M:g} m" if report.facts.corridors else "not measured"
    number = report.numbers.get(near.point)
    return f"{near.distance_m:.2f} m" + (f" ({number})" if number else "")


def _says_of_span(section: Section, report: Report) -> str:
    told = [f"{kind} {clearance_of(section, kind, report)}" for kind in COLUMNS]
    notes = [_note(each) for each in report.notes.of_spans.get(section.name, ())]
    first = f"Least clearance to {', '.join(told)}."
    return " ".join([first, *(f"Note: {each}." for each in notes)])


def _notes(report: Report) -> Iterator[Part]:
    yield Heading("Notes and marks", name="notes")
    notes, facts = report.notes, report.facts
    yield from _by_people(facts)
    for each in notes.of_line:
        yield Said(_note(each))
    count = sum(map(len, notes.of_points.values())) + sum(map(len, notes.of_spans.values()))
    yield Said(f"{counted(count, 'note')} with points and spans.", quiet=True)
    if notes.orphans:
        yield Said("Notes whose point is no longer found. None is dropped:", loud=True)
        yield table_of(
            ("id", "class", "span", "place", "note", "why"),
            [(n.id, n.kind, n.span, _place(n), _note(n), why) for n, why in notes.orphans],
            (18.0, 18.0, 18.0, 32.0, 54.0, 40.0),
        )
    if facts.former:
        yield Said("Points of an earlier list that are no longer found:")
        yield table_of(
            ("id", "class", "span", "place", "was to be done"),
            [(p.id, p.kind, p.span, _metres(p.place), p.maintenance) for p in facts.former],
            (22.0, 24.0, 30.0, 54.0, 50.0),
        )
    if facts.marks:
        yield Said("What the operator marked in flight:")
        marks = facts.marks[:ROWS_SHOWN_MAX]
        yield table_of(
            ("along m", "east, north", "words", "file"),
            [(f"{m.chainage_m:.0f}", _metres((m.x, m.y)), m.text, m.file) for m in marks],
            (18.0, 40.0, 80.0, 42.0),
        )


def _by_people(facts: Facts) -> Iterator[Part]:
    if facts.patched_tiles:
        yield Said(f"A person has changed classes in the tiles {', '.join(facts.patched_tiles)}.")
    if facts.unmatched:
        count = counted(facts.unmatched, "decision")
        yield Said(f"{count} of a person found no point, and changed nothing.", loud=True)
    if facts.rejected:
        yield Said("Points that a person has rejected:")
        yield table_of(
            ("id", "class", "span", "place"),
            [(p.id, p.kind, p.span, _metres(p.place)) for p in facts.rejected],
            (26.0, 30.0, 40.0, 84.0),
        )


def _note(each: Annotation) -> str:
    return f"{each.note} ({each.author})" if each.author else each.note


def _place(each: Annotation) -> str:
    return _metres(each.place or ())


def _metres(place: Sequence[float]) -> str:
    return " ".join(f"{each:.1f}" for each in place if math.isfinite(each)) or NONE


def pairs_of(told: dict[str, str]) -> Table:
    """Return names with what is told under them, as a table."""
    return table_of((), list(told.items()), (42.0, 138.0))


def table_of(
    heading: Sequence[str],
    rows: Sequence[Sequence[str]],
    widths: Sequence[float],
    *,
    right: Sequence[int] = (),
) -> Table:
    """Return a table of words."""
    cells = tuple(tuple(Cell(plain(each)) for each in row) for row in rows)
    return Table(tuple(map(plain, heading)), cells, tuple(widths), tuple(right))
