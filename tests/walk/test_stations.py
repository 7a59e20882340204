"""The stations of a task's way are functions that there are; the walk itself tells what is between."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.style.source import sources
from tests.walk.__main__ import passes_on
from tests.walk.stations import STATIONS


def test_every_station_is_a_function() -> None:
    code = sources("agent", "gui")
    there = {f"{stem(each.path)}.{name}" for each in code for name in functions(each.tree, "")}
    wanted = {each for stations in STATIONS.values() for each in stations}
    assert wanted - there == set()


def test_what_only_calls_another_passes_on() -> None:
    assert passes_on(passing.__code__)
    assert not passes_on(stem.__code__)
    assert not passes_on(functions.__code__)


def passing(path: str) -> str:
    """Only pass on."""
    return stem(path)


def stem(path: str) -> str:
    last = path.rpartition("/")[2]
    return last.removesuffix(".py")


def functions(node: ast.AST, prefix: str) -> Iterator[str]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{each.name}"
        if isinstance(each, ast.ClassDef):
            yield from functions(each, f"{prefix}{each.name}.")
