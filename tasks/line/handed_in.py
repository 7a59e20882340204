"""Tables that a person hands in at a gate: bounded, and wrong in one sentence that names the line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tasks.inspection.conversation import WorkError

BYTES_MAX = 4 * 1024 * 1024
ROWS_MAX = 20_000
METRES_MAX = 1e8
"""Farther away no place of any reference system is."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: its values by column, as they were written."""

    name: str
    line: int
    values: dict[str, str]

    def text(self, column: str) -> str:
        """Return what stands in a column, empty where nothing does."""
        return self.values.get(column, "").strip()

    def number(self, column: str) -> float | None:
        """Return the number in a column, None where nothing stands there. Raises ``WorkError`` for
        anything else."""
        told = self.text(column)
        if not told:
            return None
        try:
            value = float(told)
        except ValueError:
            value = np.inf
        if not abs(value) < METRES_MAX:
            raise self.wrong(f"{column} is {told[:40]!r} and has to be a number")
        return value

    def needed(self, column: str) -> float:
        """Return the number in a column. Raises ``WorkError`` where none stands there."""
        value = self.number(column)
        if value is None:
            raise self.wrong(f"{column} is missing")
        return value

    def wrong(self, why: str) -> WorkError:
        """Return, not raise, why this line cannot be used."""
        return WorkError(f"line {self.line} of {self.name}: {why}")


def read_rows(path: Path, columns: Sequence[str]) -> list[Row]:
    """Return the lines of a CSV in UTF-8 that has at least these columns, empty lines and those that
    begin with # left out. Raises ``WorkError`` where it is none, or too large, and ``OSError``."""
    with path.open("rb") as file:
        data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise WorkError(f"{path.name} has more than {BYTES_MAX} bytes: hand in fewer lines")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise WorkError(f"{path.name} is no text in UTF-8: save it as CSV in UTF-8") from None
    told = [(n, line) for n, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]
    if len(told) > ROWS_MAX:
        raise WorkError(f"{path.name} has more than {ROWS_MAX} lines: hand in fewer")
    if not told:
        return []
    try:
        table = list(csv.reader((line for _, line in told), _separator(told[0][1])))
    except csv.Error as error:
        raise WorkError(f"{path.name} is no CSV: {error}") from None
    names = [each.strip().lower() for each in table[0]]
    missing = [each for each in columns if each not in names]
    if missing:
        raise WorkError(
            f"{path.name} has no column {missing[0]}: it has to begin with {','.join(columns)}"
        )
    rows = zip(told[1:], table[1:], strict=False)
    return [Row(path.name, n, dict(zip(names, row, strict=False))) for (n, _), row in rows]


def _separator(first: str) -> type[csv.Dialect]:
    """What table programs of some countries write instead of a comma."""

    class Told(csv.excel):
        delimiter = ";" if first.count(";") > first.count(",") else ","

    return Told
