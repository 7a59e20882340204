"""What the report is made of, gathered from what the steps before it left.

Files come under any name and in any order, so each is known by what is in it. What a report could tell
but nobody gave it, it says: ``lacking`` has a sentence for each.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from tasks.inspection.conversation import WorkError
from tasks.line.annotations import Annotation, read_annotations
from tasks.line.corridor import Corridor
from tasks.line.drawing import plain
from tasks.line.joining import Line, Point, point_of
from tasks.line.las_header import FileFaultError
from tasks.line.shots import Shot, names_of
from tasks.line.spans import curve_of, tower_of
from tasks.line.tiles import Plan

BYTES_MAX = 256 * 1024 * 1024
NEAR_M = 200.0
"""A picture taken farther away shows nothing of a point."""
MARK_M = 50.0
GAP_S_MAX = 1.0
SIGMA_M_MAX = 0.10
ZIP = b"PK"
FIRST_OF_QUALITY = b"second,records"
FIRST_OF_POINTS = b"id,kind,x,y,z"
"""The table of aggregation, which tells no more than the line, unless somebody wrote notes into it."""


@dataclass(frozen=True, slots=True)
class Second:
    """A second of the way of the aircraft; NaN where it was not told."""

    second: int
    records: int
    longest_gap_s: float
    sigma_m: float
    speed_m_s: float

    @property
    def is_wanting(self) -> bool:
        """Whether the place of what was measured then is in doubt."""
        return self.longest_gap_s > GAP_S_MAX or self.sigma_m > SIGMA_M_MAX


@dataclass(frozen=True, slots=True)
class Picture:
    """A photograph or a second of a video, and where the camera was."""

    file: str
    second: float | None
    x: float
    y: float

    def says(self) -> str:
        """Return the picture's name, for a video with the time in it."""
        if self.second is None:
            return self.file
        minutes, seconds = divmod(round(self.second), 60)
        return f"{self.file} at {minutes // 60:d}:{minutes % 60:02d}:{seconds:02d}"


@dataclass(frozen=True, slots=True)
class MarkOfFlight:
    """What the operator marked in flight, and where."""

    text: str
    file: str
    x: float
    y: float
    chainage_m: float


@dataclass
class Facts:
    """All that was given to the report."""

    plan: Plan
    name: str
    example: bool
    line: Line
    former: tuple[Point, ...]
    """What an earlier list had and this one has no longer."""
    voltage_kv: float | None = None
    patched_tiles: tuple[str, ...] = ()
    """Of which a person has changed the classes."""
    rejected: tuple[Point, ...] = ()
    """By a person, who found that they are none."""
    unmatched: int = 0
    """What a person has decided about points that are not there."""
    corridors: tuple[Corridor, ...] = ()
    imports: tuple[dict[str, Any], ...] = ()
    georeferences: tuple[dict[str, Any], ...] = ()
    seconds: tuple[Second, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    digest: str = ""
    """Of all that was given: the same gives the same report."""
    pictures: tuple[Picture, ...] = ()
    shots: dict[str, tuple[Shot, ...]] = field(default_factory=dict)
    """Small pictures by the file that they are of, and in which file each is, by its name."""
    shot_files: dict[str, Path] = field(default_factory=dict)
    marks: tuple[MarkOfFlight, ...] = ()
    survived: Counter[str] = field(default_factory=Counter)
    """What was lived with, and how often."""

    def picture_of(self, points: Sequence[Point]) -> dict[str, tuple[Picture, float]]:
        """Return by the id of a point the picture taken nearest to it, and how far from it."""
        places = [(each.x, each.y) for each in self.pictures]
        return {
            points[at].id: (self.pictures[nearest], far)
            for at, nearest, far in _nearest(points, places, NEAR_M)
        }

    def mark_of(self, points: Sequence[Point]) -> dict[str, tuple[MarkOfFlight, float]]:
        """Return by the id of a point the mark of the operator nearest to it, and how far."""
        places = [(each.x, each.y) for each in self.marks]
        return {
            points[at].id: (self.marks[nearest], far)
            for at, nearest, far in _nearest(points, places, MARK_M)
        }

    def lacking(self) -> list[str]:
        """Return a sentence for each input that nobody gave; empty when nothing lacks."""
        told = {
            "No wires were found, so there are no profiles.": not self.line.curves,
            "What lies below the wires was not given: profiles have no terrain.": not (
                self.corridors or not self.line.curves
            ),
            "No video and no photograph says where it was taken: points have no picture.": not (
                self.pictures
            ),
            "The operator marked nothing in flight.": not self.marks,
            "Nothing is known of how sure the way of the aircraft is.": not self.seconds,
            "Nothing was told of the import.": not self.imports,
            "The date of the flight was not told.": not self.plan.date,
        }
        return [said for said, lacks in told.items() if lacks]


def facts_of(paths: Iterable[Path]) -> Facts:
    """Return what these files tell. Raises ``WorkError`` for one that is nothing that a report is
    made of, and where plan or line are missing, and ``OSError``."""
    found: dict[str, list[Any]] = {
        kind: [] for kind in (*_READERS, "quality", "points", "annotations", "shots")
    }
    digests = []
    for path in paths:
        data = _data(path)
        digests.append(sha256(data).hexdigest())
        kind, told = _known(path, data)
        found[kind].append(told)
    for kind, what in (("plan", "the plan"), ("line", "the line that aggregation leaves")):
        if len(found[kind]) != 1:
            raise WorkError(f"{what} is wanted once, and was given {len(found[kind])} times")
    facts: Facts = found["line"][0](found["plan"][0])
    facts.corridors = tuple(sorted(found["corridor"], key=lambda each: each.tile or 0))
    facts.imports = tuple(sorted(found["import"], key=lambda each: each["tile"]))
    facts.georeferences = tuple(found["georeference"])
    facts.seconds = _seconds(row for rows in found["quality"] for row in rows)
    facts.annotations = tuple(note for notes in found["annotations"] for note in notes)
    facts.digest = sha256(" ".join(sorted(digests)).encode()).hexdigest()[:12]
    facts.pictures = tuple(each for told in facts.imports for each in _pictures(told))
    facts.shot_files = {name: path for files in found["shots"] for name, path in files.items()}
    facts.shots = _shots(facts)
    facts.marks = tuple(_mark(each) for told in facts.imports for each in told["marks"])
    facts.survived = _survived(facts)
    return facts


def _data(path: Path) -> bytes:
    if path.stat().st_size > BYTES_MAX:
        raise FileFaultError(path, "it is large", f"at most {BYTES_MAX} bytes", "leave it out")
    return path.read_bytes()


def _known(path: Path, data: bytes) -> tuple[str, Any]:
    """What a file is, and what it tells."""
    if data.startswith(ZIP):
        return "shots", dict.fromkeys(names_of(path), path)
    if data.startswith(FIRST_OF_QUALITY):
        return "quality", _quality(path, data)
    if data.startswith(FIRST_OF_POINTS) and b"note" not in data.partition(b"\n")[0]:
        return "points", None
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return "annotations", read_annotations(path)
    if isinstance(told, list) or (isinstance(told, dict) and "annotations" in told):
        return "annotations", read_annotations(path)
    for kind, (key, read) in _READERS.items():
        if isinstance(told, dict) and key in told:
            try:
                return kind, read(path, told)
            except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
                raise WorkError(f"{path.name} cannot be read as {kind}: {error!r}") from None
    raise WorkError(f"{path.name} is nothing that a report is made of: leave it out")


def _line(_: Path, told: dict[str, Any]) -> Any:
    line = Line(
        curves=tuple(curve_of(each) for each in told["curves"]),
        wire_of_curve=tuple(int(each) for each in told["wire_of_curve"]),
        towers=tuple(tower_of(each) for each in told["towers"]),
        points=tuple(point_of(each) for each in told["points"]),
        too_sparse=tuple(told["too_sparse"]),
    )
    if len(line.curves) != len(line.wire_of_curve):
        raise ValueError("curves and wires do not match")
    former = tuple(point_of(each) for each in told["orphans"])
    name, example = plain(told["line"]), bool(told["tables_are_examples"])
    voltage, people = told.get("voltage_kv"), told.get("validation", {})
    return lambda plan: Facts(
        plan, name, example, line, former,
        voltage_kv=None if voltage is None else float(voltage),
        patched_tiles=tuple(plain(each) for each in people.get("patched_tiles", ())),
        rejected=tuple(point_of(each) for each in people.get("rejected", ())),
        unmatched=int(people.get("unmatched", 0)),
    )  # fmt: skip


def _import(_: Path, told: dict[str, Any]) -> dict[str, Any]:
    kept = {name: int(told[name]) for name in ("tile", "points_read", "points")}
    lists = {name: list(told[name]) for name in ("scans", "videos", "marks")}
    lists |= {name: list(told.get(name, ())) for name in ("photographs", "shots")}
    survived = {plain(what): int(count) for what, count in told["survived"].items()}
    return {**kept, **lists, "survived": survived}


def _georeference(_: Path, told: dict[str, Any]) -> dict[str, Any]:
    numbers = ("seconds", "seconds_with_a_gap", "points_without_a_way")
    kept: dict[str, Any] = {name: int(told.get(name, 0)) for name in numbers}
    return {**kept, "skipped": plain(told.get("skipped", ""))}


_READERS: dict[str, tuple[str, Any]] = {
    "line": ("wire_of_curve", _line),
    "plan": ("tile_m", lambda path, _: Plan.read(path)),
    "corridor": ("cells", lambda _, told: Corridor.told(told)),
    "import": ("points_read", _import),
    "georeference": ("seconds_with_a_gap", _georeference),
}


def _quality(path: Path, data: bytes) -> list[Second]:
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))
        return [
            Second(
                int(row["second"]),
                int(row["records"]),
                *(float(row[n] or "nan") for n in ("longest_gap_s", "sigma_m", "speed_m_s")),
            )
            for row in rows
        ]
    except (ValueError, TypeError, KeyError, csv.Error) as error:
        raise WorkError(f"{path.name} cannot be read as quality of the way: {error!r}") from None


def _seconds(rows: Iterable[Second]) -> tuple[Second, ...]:
    """Each second once: two tiles see the same; of two the one with more records."""
    best: dict[int, Second] = {}
    for row in rows:
        if row.second not in best or row.records > best[row.second].records:
            best[row.second] = row
    return tuple(best[second] for second in sorted(best))


def _pictures(told: dict[str, Any]) -> Iterable[Picture]:
    for video in told["videos"]:
        for second, x, y, *_ in video["seconds"]:
            yield Picture(plain(video["file"]), float(second), float(x), float(y))
    for each in told["photographs"]:
        yield Picture(plain(each["file"]), None, float(each["x"]), float(each["y"]))


def _shots(facts: Facts) -> dict[str, tuple[Shot, ...]]:
    """Small pictures that are there, by the file that they are of."""
    found: dict[str, list[Shot]] = {}
    for told in facts.imports:
        for file, second, name in told["shots"]:
            if name in facts.shot_files:
                shot = Shot(plain(file), None if second is None else float(second), name)
                found.setdefault(shot.file, []).append(shot)
    return {file: tuple(shots) for file, shots in found.items()}


def _mark(told: dict[str, Any]) -> MarkOfFlight:
    numbers = (float(told[name]) for name in ("x", "y", "chainage_m"))
    return MarkOfFlight(plain(told["text"]), plain(told["file"]), *numbers)


def _survived(facts: Facts) -> Counter[str]:
    found = Counter(facts.plan.survived)
    for told in facts.imports:
        found.update(told["survived"])
    lost = sum(told["points_without_a_way"] for told in facts.georeferences)
    found["points without a place of the aircraft at their time"] += lost
    return +found


def _nearest(
    points: Sequence[Point], places: Sequence[tuple[float, float]], within_m: float
) -> list[tuple[int, int, float]]:
    if not (points and places):
        return []
    here = np.array([each.place[:2] for each in points])
    far, at = cKDTree(places).query(here, distance_upper_bound=within_m)
    return [
        (number, int(nearest), float(away))
        for number, (nearest, away) in enumerate(zip(at, far, strict=True))
        if math.isfinite(away)
    ]
