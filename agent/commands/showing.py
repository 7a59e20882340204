"""How answers read: tables, times and colours on a terminal, plain lines elsewhere.

Names and reasons come from other machines, so whatever could steer a terminal is taken out of them
before they are shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table
from rich.text import Text

UNLIMITED_WIDTH = 10_000
UNITS_S = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
STYLES = {
    "running": "green",
    "Running": "green",
    "linked": "green",
    "failed": "bold red",
    "Aborted": "bold red",
    "away": "yellow",
    "waiting": "yellow",
    "Waiting": "yellow",
    "Suspended": "yellow",
    "cancelled": "dim",
    "Cancelled": "dim",
}

Row = Sequence[str]


def show_json(answer: Struct) -> None:
    """For programs: one document."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n")


def show_lines(lines: Iterable[str]) -> None:
    """Sentences."""
    for line in lines:
        _console().print(Text(plain(line)), soft_wrap=True)


def show_table(header: Row, rows: Sequence[Row]) -> None:
    """Columns under their names; words that tell a state have its colour."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in header:
        table.add_column(name, no_wrap=True, overflow="ignore" if not _wide() else "ellipsis")
    for row in rows:
        table.add_row(*(Text(plain(cell), STYLES.get(cell, "")) for cell in row))
    _console().print(table)


def plain(text: str) -> str:
    """The text without what is not to be seen: escapes, line ends, changes of direction."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def ago(then_ms: int, now_s: float | None = None) -> str:
    """How long ago a moment was, in its largest unit."""
    if not then_ms:
        return ""
    return f"{duration((time.time() if now_s is None else now_s) - then_ms / 1000)} ago"


def duration(seconds: float) -> str:
    """A duration in its largest unit that fits at least twice, or once where it is exact enough."""
    for unit, length_s in UNITS_S:
        count = int(seconds // length_s)
        if count >= 2 or (count and unit in {"minute", "second"}):
            return f"{count} {unit}{'s' * (count > 1)}"
    return "less than a second"


def moment(then_ms: int) -> str:
    """A moment in the time of this machine."""
    return datetime.fromtimestamp(then_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _wide() -> bool:
    return sys.stdout.isatty()


def _console() -> Console:
    width = None if _wide() else UNLIMITED_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, emoji=False, markup=False)
