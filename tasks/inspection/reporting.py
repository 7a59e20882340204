"""Report: the points of interest for people, as a page for the browser and as plain text.

The page needs nothing but itself: no pictures or scripts from elsewhere. The map is drawn from the
coordinates, the line from the first to the last of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from tasks.inspection.conversation import Work
from tasks.inspection.points_of_interest import PointOfInterest, read_points_of_interest

PAGE, TEXT = "report.html", "report.md"
HEADINGS = (
    "Nr.",
    "Section",
    "East m",
    "North m",
    "Height m",
    "Distance m",
    "Clearance m",
    "Points",
)
MAP_WIDTH, MAP_HEIGHT, MARGIN = 800, 160, 20
STYLE = (
    "body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:right;"
    "border-bottom:1px solid #ccc}.urgent{color:#a00;font-weight:bold}svg{width:100%;height:auto}"
)


def do(work: Work) -> Sequence[str]:
    """Write the report as a page and as text, and return the files' names. Raises ``WorkError``
    where the table is missing or none, and ``CancelledError`` when nobody wants it any more."""
    found = read_points_of_interest(work.input(0, "the table of points of interest"))
    title = work.parameter("title", "Inspection").replace("_", " ")
    work.progress(0.5)
    Path(TEXT).write_text(plain(title, found), "utf-8")
    Path(PAGE).write_text(page(title, found), "utf-8")
    return (PAGE, TEXT)


def plain(title: str, found: list[PointOfInterest]) -> str:
    """Return the report in Markdown: title, summary, and a table where there are findings."""
    lines = [f"# {title}", "", summary(found), ""]
    if found:
        lines += ["| " + " | ".join(HEADINGS) + " |", "|" + " ---: |" * len(HEADINGS)]
        lines += ["| " + " | ".join(_cells(n, each)) + " |" for n, each in enumerate(found, 1)]
    return "\n".join(lines) + "\n"


def page(title: str, found: list[PointOfInterest]) -> str:
    """Return the report as HTML: title, summary, and a map and a table where there are findings."""
    head = "".join(f"<th>{each}</th>" for each in HEADINGS)
    rows = "\n".join(
        f"<tr{' class=urgent' if each.urgent else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(number, each))
        + "</tr>"
        for number, each in enumerate(found, 1)
    )
    table = f"<table><tr>{head}</tr>\n{rows}\n</table>" if found else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style>\n<h1>{escape(title)}</h1>\n<p>{summary(found)}</p>\n"
        f"{draw_map(found)}\n{table}\n</html>\n"
    )


def summary(found: list[PointOfInterest]) -> str:
    """Return in a sentence how many plants are too near, and the nearest distance."""
    if not found:
        return "No vegetation is nearer to the wires than it may be."
    urgent = sum(each.urgent for each in found)
    plants = "1 plant is" if len(found) == 1 else f"{len(found)} plants are"
    more = f", {urgent} of them nearer than half of that" if urgent else ""
    nearest = min(each.distance_m for each in found)
    return f"{plants} nearer to a wire than it may be{more}; the nearest is {nearest:.2f} m away."


def draw_map(found: list[PointOfInterest]) -> str:
    """Return a map of the findings as SVG, each with its number, stretched until they fill its
    width and height; empty where there are none."""
    if not found:
        return ""
    easts, norths = [each.east_m for each in found], [each.north_m for each in found]
    width = max(max(easts) - min(easts), 1.0)
    height = max(max(norths) - min(norths), 1.0)
    marks = "".join(
        f'<circle cx="{MARGIN + (each.east_m - min(easts)) / width * (MAP_WIDTH - 2 * MARGIN):.0f}"'
        f' cy="{MAP_HEIGHT - MARGIN - (each.north_m - min(norths)) / height * (MAP_HEIGHT - 2 * MARGIN):.0f}"'
        f' r="6" fill="{"#a00" if each.urgent else "#d80"}"><title>{number}</title></circle>'
        for number, each in enumerate(found, 1)
    )
    return f'<svg viewBox="0 0 {MAP_WIDTH} {MAP_HEIGHT}" role="img">{marks}</svg>'


def _cells(number: int, each: PointOfInterest) -> list[str]:
    return [
        str(number),
        each.section,
        f"{each.east_m:.1f}",
        f"{each.north_m:.1f}",
        f"{each.height_m:.1f}",
        f"{each.distance_m:.2f}",
        f"{each.clearance_m:g}",
        str(each.points),
    ]
