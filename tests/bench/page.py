"""The tables of BENCHMARKS.md, written from what the benchmarks have kept and from nothing else.

``--keep`` has a benchmark write its rows to ``results``; ``python -m tests.bench report`` puts the rows
of all of them between the marks of the page. Figures that were typed there would be lost, and a test
holds that there are none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tests.style.source import REPOSITORY

PAGE = REPOSITORY / "BENCHMARKS.md"
RESULTS = Path(__file__).parent / "results"
MARK, END = "<!-- measured: {} -->", "<!-- end of what was measured -->"
HEAD = "| command | what | limit | measured |\n|---|---|---|---|"


def result(name: str) -> Path:
    """Return where a benchmark's rows are kept."""
    return RESULTS / f"{name}.json"


def written(page: str, groups: dict[str, tuple[str, ...]]) -> str:
    """Return the page with a table of each group's benchmarks behind the mark of the group."""
    for group, names in groups.items():
        before, mark, rest = page.partition(MARK.format(group))
        if not mark:
            raise ValueError(f"the page has no place for {group}")
        after = rest[rest.index(END) :]
        lines = [HEAD, *(line for name in names for line in _lines(name))]
        page = f"{before}{mark}\n{chr(10).join(lines)}\n{after}"
    return page


def _lines(name: str) -> Iterable[str]:
    if not result(name).exists():
        return
    kept = json.loads(result(name).read_text("utf-8"))
    command = f"`{kept['command']}`"
    for what, limit, measured in kept["rows"]:
        cells = (command, what, limit, measured)
        told = (each.replace("|", "\\|") for each in cells)
        yield "|" + "|".join(f" {each} " if each else " " for each in told) + "|"
        command = ""


def write(groups: dict[str, tuple[str, ...]]) -> None:
    PAGE.write_text(written(PAGE.read_text("utf-8"), groups), "utf-8")
