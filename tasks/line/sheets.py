"""The report as sheets of A4, in PDF: the same parts as on the page, in the same order.

The same report has the same bytes: nothing in it tells when it was written.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from reportlab import rl_config
from reportlab.lib import colors, pagesizes
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    Image,
    KeepTogether,
    LongTable,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    TableStyle,
)

from tasks.line.album import Photo
from tasks.line.content import Heading, Part, Picture, Report, Said, Table, head_of
from tasks.line.drawing import FAINT, INK, MM, QUIET, Drawing, print_on, printable
from tasks.line.figures import COLOURS, WIRE

rl_config.useA85 = 0
"""Bytes as they are: as letters a report is a quarter larger, and takes longer to write."""
MARGIN_MM = 15.0
ABREAST = 3
LOUD = COLOURS[3]
DARK, GREY, BLUE = (colors.HexColor(each) for each in (INK, QUIET, WIRE))
"""Those of most words: a canvas reads the name of a colour anew for each paragraph."""
TEXT = ParagraphStyle(
    "text", fontName="Helvetica", fontSize=9, leading=12.5, textColor=DARK, spaceAfter=3
)
SMALL = ParagraphStyle("small", TEXT, fontSize=7.5, leading=9.5, textColor=GREY)
CELL = ParagraphStyle("cell", TEXT, fontSize=6.6, leading=8, spaceAfter=0, splitLongWords=1)
RIGHT = ParagraphStyle("right", CELL, alignment=2)
NAMES = ParagraphStyle("names", CELL, fontName="Helvetica-Bold", textColor=GREY)
NAMES_RIGHT = ParagraphStyle("names right", NAMES, alignment=2)
TITLE = ParagraphStyle("title", TEXT, fontSize=19, leading=24, spaceAfter=5)
STAMP = ParagraphStyle(
    "stamp", TEXT, fontName="Helvetica-Bold", textColor=LOUD, borderColor=LOUD, borderWidth=1.2,
    borderPadding=4, spaceAfter=9, spaceBefore=5,
)  # fmt: skip
WARNING = ParagraphStyle(
    "warning", TEXT, backColor="#fdf3f0", borderColor=LOUD, borderWidth=0.4, borderPadding=4,
    spaceBefore=6, spaceAfter=8,
)  # fmt: skip
HEADINGS = {
    2: ParagraphStyle("part", TEXT, fontName="Helvetica-Bold", fontSize=13, leading=16, textColor=BLUE,
                      spaceBefore=14, spaceAfter=5, keepWithNext=1),
    3: ParagraphStyle("span", TEXT, fontName="Helvetica-Bold", fontSize=10, leading=13, spaceBefore=6,
                      spaceAfter=2, keepWithNext=1),
}  # fmt: skip


class Words(Paragraph):  # type: ignore[misc] # of a library without types
    """Words that are broken into lines once for a width: a long table asks three times."""

    _wrapped = -1.0, (0.0, 0.0)

    def wrap(self, wide: float, high: float) -> tuple[float, float]:
        """Return how much room they take."""
        if self._wrapped[0] != wide or not hasattr(self, "blPara"):
            self._wrapped = wide, super().wrap(wide, high)
        return self._wrapped[1]


class Drawn(Flowable):  # type: ignore[misc] # of a library without types
    """A drawing where the text has come to."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        self._drawing = drawing

    def wrap(self, *_: float) -> tuple[float, float]:
        """Return how much room it takes."""
        return self._drawing.width_mm * MM, self._drawing.height_mm * MM

    def draw(self) -> None:
        """Draw it."""
        self.canv.saveState()
        print_on(self.canv, self._drawing)
        self.canv.restoreState()


def write_sheets(
    report: Report, parts: Sequence[Part], path: Path, progress: Callable[[float], None]
) -> None:
    """Write the report as PDF, telling how far it is. Raises ``OSError``."""
    title = printable(report.title)
    document = SimpleDocTemplate(
        str(path), pagesize=pagesizes.A4, invariant=1, title=title, author="", creator="Wingbeat",
        leftMargin=MARGIN_MM * MM - 6, rightMargin=MARGIN_MM * MM - 6,
        topMargin=18 * MM, bottomMargin=16 * MM,
    )  # fmt: skip
    story: list[Any] = []
    if report.asked.stamp:
        story.append(Words(_words(report.asked.stamp.upper()), STAMP))
    story += [Words(_words(title), TITLE), _table(head_of(report)), Spacer(1, 6)]
    story += _together(parts)
    document.setProgressCallBack(lambda kind, at: _told(kind, at, progress))
    document.build(story, canvasmaker=_numbered(title, printable(report.asked.stamp)))


def _together(parts: Sequence[Part]) -> Iterator[Any]:
    """A heading stands above its picture, on the same sheet."""
    held: list[Any] = []
    row: list[Photo] = []
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        if isinstance(part, Photo):
            row.append(part)
            if len(row) == ABREAST or not isinstance(following, Photo):
                yield _abreast(row)
                row = []
            continue
        held += _flowables(part)
        if isinstance(part, Heading) and isinstance(following, Picture):
            continue
        yield from [KeepTogether(held)] if isinstance(part, Picture) else held
        held = []


def _abreast(photos: Sequence[Photo]) -> LongTable:
    """As many pictures as stand side by side on a sheet, each above what it is of."""
    wide = (210 - 2 * MARGIN_MM) * MM / ABREAST
    pictures = [
        Image(io.BytesIO(each.jpeg), wide - 6, wide - 6, kind="proportional") for each in photos
    ]
    rows = [pictures, [Words(_words(each.says), SMALL) for each in photos]]
    style = [("VALIGN", (0, 0), (-1, -1), "TOP"), ("NOSPLIT", (0, 0), (-1, -1))]
    return LongTable(rows, colWidths=[wide] * len(photos), style=TableStyle(style), hAlign="LEFT")


def _told(kind: str, at: float, progress: Callable[[float], None]) -> None:
    if kind == "PAGE":
        progress(1.0 - 1.0 / (1.0 + at / 20.0))


def _flowables(part: Part) -> list[Any]:
    match part:
        case Heading(words, depth, _):
            return [Words(_words(words), HEADINGS[depth])]
        case Said(words, loud, quiet):
            said = Words(_words(words), WARNING if loud else SMALL if quiet else TEXT)
            return [said, Spacer(1, 8)] if loud else [said]
        case Picture(drawing, says):
            return [Drawn(drawing), Words(_words(says), SMALL), Spacer(1, 6)]
        case Photo():
            return [_abreast([part])]
        case Table():
            return [_table(part), Spacer(1, 5)]


def _table(table: Table) -> LongTable:
    right = set(table.right)
    names = [
        Words(_words(each), NAMES_RIGHT if n in right else NAMES)
        for n, each in enumerate(table.heading)
    ]
    rows = [
        [Words(_words(each.words), RIGHT if n in right else CELL) for n, each in enumerate(row)]
        for row in table.rows
    ]
    style = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, 0), (-1, -1), 0.3, colors.HexColor(FAINT)),
        *(("LEFTPADDING", (0, 0), (-1, -1), 2), ("RIGHTPADDING", (0, 0), (-1, -1), 2)),
        *(("TOPPADDING", (0, 0), (-1, -1), 1.2), ("BOTTOMPADDING", (0, 0), (-1, -1), 1.8)),
    ]
    return LongTable(
        [names, *rows] if names else rows,
        colWidths=[each * MM for each in table.widths],
        repeatRows=int(bool(names)),
        splitInRow=1,
        style=TableStyle(style),
        hAlign="LEFT",
    )


def _words(words: str) -> str:
    return escape(printable(words), quote=False)


def _numbered(title: str, stamp: str) -> type[Canvas]:
    """A canvas that writes on each sheet of what it is and how many there are."""

    class Numbered(Canvas):  # type: ignore[misc] # of a library without types
        def __init__(self, *told: Any, **named: Any) -> None:
            super().__init__(*told, **named)
            self._sheets: list[dict[str, Any]] = []

        def showPage(self) -> None:  # noqa: N802
            self._sheets.append(dict(self.__dict__))
            self._startPage()

        def save(self) -> None:
            count = len(self._sheets)
            for sheet in self._sheets:
                self.__dict__.update(sheet)
                _edge(self, title, stamp, f"{self._pageNumber} of {count}")
                super().showPage()
            super().save()

    return Numbered


def _edge(canvas: Any, title: str, stamp: str, number: str) -> None:
    wide, high = pagesizes.A4
    left, right = MARGIN_MM * MM, wide - MARGIN_MM * MM
    canvas.setFont("Helvetica", 7.5)
    canvas.setFillColor(QUIET)
    canvas.drawString(left, 9 * MM, title[:100])
    canvas.drawRightString(right, 9 * MM, number)
    canvas.setFillColor(LOUD)
    canvas.setFont("Helvetica-Bold", 7.5)
    canvas.drawRightString(right, high - 11 * MM, stamp)
