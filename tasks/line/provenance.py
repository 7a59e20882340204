"""The last part of the report: how good what it was made of is, and by which programs and numbers.

Whoever doubts a figure begins here. Nothing is told as good that nobody measured.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from tasks.line import parameters
from tasks.line.content import (
    NONE,
    Heading,
    Part,
    Picture,
    Report,
    Said,
    pairs_of,
    table_of,
)
from tasks.line.drawing import FAINT, INK, QUIET, Drawing, Line, Text, grouped
from tasks.line.facts import GAP_S_MAX, SIGMA_M_MAX, Facts, Second
from tasks.line.figures import COLOURS, LEFT_MM, RIGHT_MM, WIDTH_MM
from tasks.line.scene import BUILDING, GROUND, HIGH, LOW, MEDIUM, TOWER, WATER, WIRE

LIBRARIES = (
    *("laspy", "lazrs", "numpy", "scipy", "scikit-learn", "pyproj", "shapely", "pyogrio"),
    *("rasterio", "reportlab"),
)
WANTING_SHOWN_MAX = 200
CLASSES = {
    "ground": (GROUND,),
    "vegetation": (LOW, MEDIUM, HIGH),
    "building": (BUILDING,),
    "water": (WATER,),
    "wire": (WIRE,),
    "tower": (TOWER,),
}


def provenance_of(report: Report) -> Iterator[Part]:
    """Yield the parts that tell of the quality of the input, of versions and of parameters."""
    facts = report.facts
    yield Heading("Quality of the input", name="quality")
    for lack in facts.lacking():
        yield Said(lack)
    yield from _tiles(facts)
    yield from _survived(facts)
    yield from _way(facts.seconds)
    yield Heading("Versions and parameters", name="versions")
    yield pairs_of(_versions(report))
    yield Said("Every number by which the points were read:", quiet=True)
    told = _parameters()
    told += [("", "")] * (-len(told) % 3)
    rows = [sum(each, ()) for each in zip(*(iter(told),) * 3, strict=True)]
    yield table_of(("parameter", "value") * 3, rows, (38.0, 22.0) * 3)


def _tiles(facts: Facts) -> Iterator[Part]:
    imports = {each["tile"]: each for each in facts.imports}
    corridors = {each.tile: each for each in facts.corridors}
    rows = []
    for tile in sorted({*imports, *corridors}, key=lambda each: -1 if each is None else each):
        came, lies = imports.get(tile), corridors.get(tile)
        counts = (
            [grouped(sum(lies.counts.get(c, 0) for c in of)) for of in CLASSES.values()]
            if lies
            else [NONE] * len(CLASSES)
        )  # fmt: skip
        points = came["points"] if came else lies.points if lies else 0
        told = "whole" if tile is None else str(tile), grouped(points)
        rows.append((*told, f"{lies.density:.1f}" if lies else NONE, *counts))
    if rows:
        yield Said(
            "Points of each tile with its halo, those of each class as they were told apart:"
        )
        heading = ("tile", "points", "per m²", *CLASSES)
        yield table_of(heading, rows, (14.0, 24.0, 16.0, *(21.0,) * 6), right=range(9))
    skipped = {each["skipped"] for each in facts.georeferences} - {""}
    for reason in sorted(skipped):
        yield Said(f"Georeferencing did nothing: {reason}.", quiet=True)


def _survived(facts: Facts) -> Iterator[Part]:
    if not facts.survived:
        yield Said("Nothing in the input had to be lived with.")
        return
    yield Said("What was wrong in the input, was lived with, and how often:")
    rows = [(what, str(count)) for what, count in sorted(facts.survived.items())]
    yield table_of(("what", "times"), rows, (150.0, 30.0), right=(1,))


def _way(seconds: Sequence[Second]) -> Iterator[Part]:
    if not seconds:
        return
    wanting = [each for each in seconds if each.is_wanting]
    sigmas = np.array([each.sigma_m for each in seconds])
    known = sigmas[np.isfinite(sigmas)]
    sure = (
        f"the place of the aircraft is sure to {np.median(known):.3f} m in the median, "
        f"{known.max():.3f} m at worst"
        if len(known)
        else "nobody says how sure the place of the aircraft is"
    )
    yield Said(
        f"The way of the aircraft, second by second: {len(seconds)} seconds, {len(wanting)} of them "
        f"with a gap of more than {GAP_S_MAX:g} s or unsure by more than {SIGMA_M_MAX:g} m; {sure}."
    )
    yield Picture(_chart(seconds), "Above: how unsure the place is, where that was told; below: the "
                  "longest gap between two records. Red is beyond the limit.")  # fmt: skip
    if wanting:
        rows = [
            (str(e.second), str(e.records), f"{e.longest_gap_s:.3f}", _told(e.sigma_m), _told(e.speed_m_s))
            for e in wanting[:WANTING_SHOWN_MAX]
        ]  # fmt: skip
        heading = ("second", "records", "longest gap s", "unsure by m", "speed m/s")
        yield table_of(heading, rows, (36.0,) * 5, right=range(5))
    if len(wanting) > WANTING_SHOWN_MAX:
        left = len(wanting) - WANTING_SHOWN_MAX
        yield Said(f"And {left} more: all are in the layer quality of the GeoPackage.")


def _told(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "not told"


def _chart(seconds: Sequence[Second]) -> Drawing:
    """Two rows of bars, as many as there is room for: each the worst of its seconds."""
    drawing = Drawing(WIDTH_MM, 44.0, "Quality of the way of the aircraft, second by second")
    wide = WIDTH_MM - LEFT_MM - RIGHT_MM
    columns = min(len(seconds), 300)
    parts = np.array_split(np.arange(len(seconds)), columns)
    rows = (
        ("unsure by m", [each.sigma_m for each in seconds], SIGMA_M_MAX, 18.0),
        ("gap s", [each.longest_gap_s for each in seconds], GAP_S_MAX, 38.0),
    )
    for name, values, limit, foot in rows:
        worst = [
            max((values[n] for n in part if np.isfinite(values[n])), default=0.0) for part in parts
        ]
        top = max(1.25 * limit, *worst)
        drawing.add(Line(((LEFT_MM, foot), (LEFT_MM + wide, foot)), QUIET, 0.2))
        at = foot - limit / top * 14.0
        drawing.add(Line(((LEFT_MM, at), (LEFT_MM + wide, at)), FAINT, 0.2, (1.0, 1.0)))
        drawing.add(Text(LEFT_MM - 1.0, at + 0.8, f"{limit:g}", 2.0, QUIET, "end"))
        drawing.add(Text(LEFT_MM, foot - 15.0, name, 2.1, QUIET))
        for number, value in enumerate(worst):
            x = LEFT_MM + (number + 0.5) * wide / columns
            colour = COLOURS[3] if value > limit else COLOURS[1]
            bar = (x, foot), (x, foot - value / top * 14.0)
            if value > 0:
                drawing.add(Line(bar, colour, max(0.2, 0.7 * wide / columns)))
    for at, second in ((LEFT_MM, seconds[0]), (LEFT_MM + wide, seconds[-1])):
        anchor = "start" if at == LEFT_MM else "end"
        drawing.add(Text(at, 42.5, f"second {second.second}", 2.1, INK, anchor))
    return drawing


def _versions(report: Report) -> dict[str, str]:
    plan = report.facts.plan
    told = {
        "Programs": f"fingerprint {fingerprint()}",
        "Python": platform.python_version(),
        "Libraries": ", ".join(f"{name} {_version(name)}" for name in LIBRARIES),
        "Tiles": f"{plan.count} of {plan.tile_m:g} m along the route, halo {plan.halo_m:g} m, "
        f"{plan.corridor_m:g} m to each side",
        "Points came": "in their place" if plan.frame == "ground" else "in the scanner's frame",
        "Said by a person": ", ".join(
            f"{name} {value}"
            for name, value in (("crs", plan.crs), ("heights", plan.heights), ("target", plan.target))
            if value
        ) or "nothing",
        "Detection looked": ", ".join(
            dict.fromkeys(f"within {each.within_m:g} m" for each in report.facts.corridors)
        ) or "as far as was not told",
        "Tables": "examples that come with the programs, or one of them"
        if report.facts.example else "given by whoever asked for the report",
        "Looked at by people": ", ".join(report.asked.passed) or "nothing",
    }  # fmt: skip
    if plan.frame == "scanner":
        told["Lever arm m"] = " ".join(f"{each:g}" for each in plan.lever_m)
        told["Boresight deg"] = " ".join(f"{each:g}" for each in plan.boresight_deg)
    return told


def fingerprint() -> str:
    """Return a digest of the inspection's programs, which differs after any change of them."""
    folder = Path(__file__).parent
    told = sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".csv", ".json"):
            told.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return told.hexdigest()[:12]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "of a version that it does not tell"


def _parameters() -> list[tuple[str, str]]:
    return [
        (name.lower(), str(value))
        for name, value in sorted(vars(parameters).items())
        if name.isupper() and isinstance(value, int | float | tuple)
    ]
