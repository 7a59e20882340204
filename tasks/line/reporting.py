"""Report: all that was found, for people (HTML, PDF) and for their programs (GeoPackage, GeoJSON, CSV).

Takes, in any order and under any name, the plan, ``line.json`` of the aggregation and of each tile the
corridor, the indexes of import and georeferencing and the quality of the way; and the notes that people
attached. Parameters (as words, ``_`` for a blank): ``operator``, ``notes``, ``title``, ``voltage_kv``, and
``gates``: those at which people have looked, of features, points and annotations, or ``all`` or
``none``; without it the report says that nobody has. ``only=page`` is a preview for whoever is asked at a
gate: the page alone, of what is there so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tasks.inspection.conversation import Work, WorkError
from tasks.line.annotations import ANNOTATIONS, attached, write_annotations
from tasks.line.content import GATES, Asked, Report, parts_of, report_of
from tasks.line.drawing import plain
from tasks.line.exchange import MAP, PLACES, POINTS, write_map, write_places, write_table
from tasks.line.facts import facts_of
from tasks.line.page import page_of
from tasks.line.provenance import provenance_of
from tasks.line.sections import Section, sections_of
from tasks.line.sheets import write_sheets

PAGE, SHEETS, PREVIEW = "report.html", "report.pdf", "preview.html"


def do(work: Work) -> Sequence[str]:
    """Write the report in all its forms and return the files' names, the page first. Raises
    ``WorkError`` where something is missing or cannot be used, and ``CancelledError``."""
    asked = asked_of(work)
    report = made_of([*work.raw, *work.inputs], asked)
    parts = [*parts_of(report), *provenance_of(report)]
    work.progress(0.3)
    preview = work.parameter("only", "") == "page"
    with Path(PREVIEW if preview else PAGE).open("w", encoding="utf-8") as page:
        page.writelines(page_of(report, parts))
    work.progress(0.5)
    if preview:
        return (PREVIEW,)
    write_sheets(report, parts, Path(SHEETS), lambda share: work.progress(0.5 + 0.35 * share))
    write_map(report, Path(MAP))
    write_places(report, Path(PLACES))
    write_table(report, Path(POINTS))
    name, line = report.facts.name, report.facts.line
    told = report.notes, line.points, report.span_of, middles_of(report.sections)
    write_annotations(Path(ANNOTATIONS), name, *told)
    return PAGE, SHEETS, MAP, PLACES, POINTS, ANNOTATIONS


def made_of(paths: Sequence[Path], asked: Asked) -> Report:
    """Return the report of what these files tell. Raises ``WorkError`` and ``OSError``."""
    facts = facts_of(paths)
    sections = sections_of(facts.line, facts.corridors, facts.plan)
    notes = attached(facts.annotations, facts.name, facts.line.points, middles_of(sections))
    return report_of(facts, asked, sections, notes)


def middles_of(sections: Sequence[Section]) -> dict[str, tuple[float, float]]:
    """Return where the middle of each span is, by its name."""
    return {each.name: each.middle for each in sections}


def asked_of(work: Work) -> Asked:
    """Return what the parameters say. Raises ``WorkError`` for what they cannot."""
    told = {
        name: plain(work.parameter(name, "").replace("_", " "))
        for name in ("operator", "notes", "title")
    }
    voltage = work.parameter("voltage_kv", 0.0)
    words = work.parameter("gates", "none").split(",")
    gates = GATES if words == ["all"] else () if words == ["none"] else tuple(words)
    if strange := [each for each in gates if each not in GATES]:
        raise WorkError(
            f"there is no gate {strange[0]!r}: gates is all, none, or some of {','.join(GATES)}"
        )
    return Asked(**told, voltage_kv=voltage or None, passed=gates)
