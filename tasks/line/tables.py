"""How much a point of interest matters and what is to be done about it, by two tables that anybody edits.

Those that come with the programs are examples and no regulation; whoever has a rule gives their own
``relevance.csv`` and ``maintenance.csv``. Of the rows that fit the first counts; what no row fits has
relevance 0.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.inspection.conversation import WorkError

RELEVANCE, MAINTENANCE = "relevance.csv", "maintenance.csv"
EXAMPLES = Path(__file__).with_name("tables")
ROWS_MAX = 10_000
UNKNOWN = "watch"


@dataclass(frozen=True)
class Tables:
    """Both tables; ``example`` where one of them is ours."""

    relevance: tuple[tuple[str, float, float, int], ...]
    maintenance: dict[tuple[str, int], str]
    example: bool

    def relevance_of(self, kind: str, voltage_kv: float, distance_m: float) -> int:
        """Return how much a point matters, 0 where no row fits."""
        for of, kv_min, nearer_m, relevance in self.relevance:
            if of == kind and voltage_kv >= kv_min and distance_m < nearer_m:
                return relevance
        return 0

    def maintenance_of(self, kind: str, relevance: int) -> str:
        """Return what is to be done about a point."""
        return self.maintenance.get((kind, relevance), UNKNOWN)


def read_tables(given: Sequence[Path]) -> Tables:
    """Return the tables among these files, and the examples for those that are not there. Raises
    ``WorkError`` for a row that makes no sense, and ``OSError``."""
    own = {each.name: each for each in given}
    relevance, maintenance = (own.get(name, EXAMPLES / name) for name in (RELEVANCE, MAINTENANCE))
    distances, classes = [], {}
    for number, row in _rows(relevance):
        try:
            distances.append(
                (row["kind"], float(row["kv_min"]), float(row["nearer_m"]), int(row["relevance"]))
            )
        except (KeyError, TypeError, ValueError):
            raise _wrong(relevance, number, "kind,kv_min,nearer_m,relevance") from None
    for number, row in _rows(maintenance):
        try:
            classes[row["kind"], int(row["relevance"])] = row["maintenance"]
        except (KeyError, TypeError, ValueError):
            raise _wrong(maintenance, number, "kind,relevance,maintenance") from None
    return Tables(tuple(distances), classes, not {RELEVANCE, MAINTENANCE} <= set(own))


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise WorkError(f"{path.name} is no text in UTF-8: save it as CSV in UTF-8") from None
    numbered = [(n, line) for n, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]
    if len(numbered) > ROWS_MAX:
        raise WorkError(f"{path.name} has more than {ROWS_MAX} rows")
    rows = csv.DictReader([line for _, line in numbered])
    return [(number, row) for (number, _), row in zip(numbered[1:], rows, strict=False)]


def _wrong(path: Path, number: int, columns: str) -> WorkError:
    return WorkError(f"line {number} of {path.name} makes no sense: the columns are {columns}")
