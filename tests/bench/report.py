"""What every benchmark hands back, and how it is shown: as tables, or as JSON.

A figure without its limit beside it gets read kindly. So each benchmark states its limits as
verdicts, made of the figures and nothing else: what was measured, what was allowed, and whether
that held. A missed limit makes the exit code 1, whatever else looked good.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.table import Table

Figures = dict[str, Any]
Cell = str | int | float | None

CONSOLE_COLUMNS = 130


@dataclass(frozen=True, slots=True)
class Verdict:
    """A limit and what was measured against it."""

    what: str
    measured: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def kept(self) -> bool:
        """Whether the limit held; what is not a number holds nothing."""
        if self.at_least:
            return self.measured >= self.limit
        return self.measured <= self.limit

    def row(self) -> list[Cell]:
        sign = "≥" if self.at_least else "≤"
        limit = f"{sign} {_text(self.limit)} {self.unit}".strip()
        measured = f"{_text(self.measured)} {self.unit}".strip()
        return [self.what, measured, limit, "kept" if self.kept else "MISSED"]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of figures, with what must be known to read it."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure may come to, at most or at least; ``what`` is its name among the limits."""

    what: str
    figure: str
    value: float
    unit: str = ""
    at_least: bool = False


Judge = Callable[[Figures], list[Verdict]]
Show = Callable[[Figures], list[Sheet]]


class Benchmark(Protocol):
    """What a module of this folder offers. ``LIMITS`` judge it and its figures are one table, if it
    has no ``judge(figures)`` and ``sheets(figures)`` of its own; ``OPTIONS`` are what its command
    line adds, as ``argparse`` takes them."""

    WHAT: str
    """In a line, for the list."""

    def measure(self, *, quick: bool) -> Figures:
        """Everything that is measured; ``quick``: the smallest run that goes everywhere."""
        ...


def hand_over(
    benchmark: Benchmark, figures: Figures, *, as_json: bool, keep: tuple[Path, str] | None = None
) -> int:
    """Show the figures and what they are worth, and return the exit code. ``keep``: the file for the
    page's rows, and the command that has measured them."""
    verdicts = judge(benchmark, figures)
    if keep is not None:
        kept, command = keep
        rows = _page_rows(sheets(benchmark, figures), verdicts)
        kept.write_text(
            json.dumps({"command": command, "rows": rows}, indent=1, ensure_ascii=False) + "\n"
        )
    if as_json:
        told = [
            {"what": v.what, "measured": v.measured, "limit": v.limit, "kept": v.kept}
            for v in verdicts
        ]
        sys.stdout.write(json.dumps({"figures": figures, "verdicts": told}, indent=2) + "\n")
    else:
        _show(sheets(benchmark, figures), verdicts)
    return 0 if all(verdict.kept for verdict in verdicts) else 1


def judge(benchmark: Benchmark, figures: Figures) -> list[Verdict]:
    """Return the limits of a benchmark, read off its figures."""
    own: Judge | None = getattr(benchmark, "judge", None)
    return own(figures) if own else judged(figures, getattr(benchmark, "LIMITS", ()))


def sheets(benchmark: Benchmark, figures: Figures) -> list[Sheet]:
    """Return the figures of a benchmark as tables."""
    own: Show | None = getattr(benchmark, "sheets", None)
    limits = getattr(benchmark, "LIMITS", ())
    return own(figures) if own else [one_a_row(benchmark.WHAT, figures, limits)]


def judged(figures: Figures, limits: Iterable[Limit]) -> list[Verdict]:
    """Return a verdict for each limit whose figure was measured."""
    return [
        Verdict(each.what, float(figures[each.figure]), each.value, each.unit, each.at_least)
        for each in limits
        if each.figure in figures
    ]


def one_a_row(what: str, figures: Figures, limits: Iterable[Limit] = ()) -> Sheet:
    """Return a table with a figure in each row, its limit, and how much of that was used."""
    most = {each.figure: each.value for each in limits}
    rows: list[list[Cell]] = [
        [key, _cell(value), most.get(key), value / most[key] if most.get(key) else None]
        for key, value in figures.items()
    ]
    return Sheet(what, ["figure", "measured", "limit", "measured / limit"], rows)


def _cell(value: object) -> Cell:
    if isinstance(value, list):
        return ", ".join(_text(_cell(each)) for each in value)
    return value if isinstance(value, int | float) else str(value)


def _page_rows(sheets: list[Sheet], verdicts: list[Verdict]) -> list[list[str]]:
    """What, limit, measured; of a benchmark without limits all of its figures."""
    if verdicts:
        rows = [verdict.row() for verdict in verdicts]
        return [[str(what), str(limit), str(measured)] for what, measured, limit, _ in rows]
    return [
        [f"{sheet.title}, {_text(first)}", "", ", ".join(map(_text, rest))]
        for sheet in sheets
        for first, *rest in sheet.rows
    ]


def _show(sheets: list[Sheet], verdicts: list[Verdict]) -> None:
    console = Console(width=None if sys.stdout.isatty() else CONSOLE_COLUMNS)
    for sheet in [*sheets, _verdict_sheet(verdicts)]:
        table = Table(*sheet.columns, title=sheet.title, title_justify="left")
        for column in table.columns[1:]:
            column.justify = "right"
        for row in sheet.rows:
            table.add_row(*map(_text, row))
        console.print(table)
        if sheet.note:
            console.print(sheet.note, highlight=False, markup=False)
        console.print()


def _verdict_sheet(verdicts: list[Verdict]) -> Sheet:
    rows = [verdict.row() for verdict in verdicts]
    return Sheet("Limits", ["what", "measured", "limit", "verdict"], rows)


def _text(value: Cell) -> str:
    """Numbers with as many digits as can mean something."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return value


def quantile(values: list[float], share: float) -> float:
    """The value below which this share of all lies; of few values the next higher one."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
