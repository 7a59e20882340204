"""Fan-out: one task of the file that is run once for each of many values.

Values come from a list, from the files that a name or pattern stands for, from the lines of a
file, or from a range of numbers; several variables make every combination. ``for_each: other``
runs along with another fan-out: the same values, and what it needs of that one is the run of the
same value.

Each run has a name: the task's, a dot, and what tells the values apart.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from agent.workflow.faults import Faults
from agent.workflow.kinds import Word
from agent.workflow.local_files import LocalFiles
from agent.workflow.records import Values
from agent.workflow.tables import ITEMS_MAX, PATH_CHARACTERS_MAX, TASKS_MAX
from agent.workflow.yaml_nodes import Node

LABEL_CHARACTERS_MAX = 40
LINES_CHARACTERS_MAX = 16 * 1024 * 1024
_STRANGE = re.compile(r"[^\w.+=-]+")


@dataclass(frozen=True, slots=True)
class Instance:
    """One run: what its name ends with, and its values."""

    label: str
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class Fan:
    """``origin`` is the task whose values they are: runs of the same origin go together."""

    origin: str
    variables: frozenset[str]
    instances: tuple[Instance, ...]


def fan_of(
    origin: str, sources: dict[Word, object], node: Node, files: LocalFiles, faults: Faults
) -> Fan:
    """Return the fan-out over these sources: an instance for each combination of their values, or
    for one value of each, and a fault, if there are too many."""
    columns = [(str(name), _items(source, name, files, faults)) for name, source in sources.items()]
    count = 1
    for _, items in columns:
        count *= len(items)
    if count > TASKS_MAX:
        faults.at(node.place).said(
            "for_each makes {count} tasks; a workflow has at most {most}",
            count=count,
            most=TASKS_MAX,
        )
        columns = [(name, items[:1]) for name, items in columns]
    return Fan(origin, frozenset(name for name, _ in columns), tuple(_instances(columns)))


def _items(source: object, name: Word, files: LocalFiles, faults: Faults) -> list[str]:
    if isinstance(source, Word):
        return [files.relative(path) for path in files.named(source, inside=True)]
    if isinstance(source, tuple):
        if not source:
            faults.at(name.place).said("for_each: the list of {name} is empty", name=name)
        return [str(item) for item in source]
    return _told(source, name, files, faults) if isinstance(source, Values) else []


def _told(source: Values, name: Word, files: LocalFiles, faults: Faults) -> list[str]:
    lines, first, last = source.get("lines"), source.get("from"), source.get("to")
    if ("lines" in source) == ("from" in source or "to" in source):
        faults.at(source.place).said(
            "for_each: {name} takes either lines or from and to", name=name
        )
        return []
    if isinstance(lines, Word):
        text = files.text(lines, LINES_CHARACTERS_MAX, lines.place) or ""
        found = [line.strip()[:PATH_CHARACTERS_MAX] for line in text.splitlines() if line.strip()]
        if len(found) > ITEMS_MAX:
            faults.at(lines.place).said(
                "for_each: {count} lines are more than {most}", count=len(found), most=ITEMS_MAX
            )
        return found[:ITEMS_MAX]
    if first is None or last is None:
        if "from" not in source or "to" not in source:
            missing = "to" if "from" in source else "from"
            faults.at(source.place).said(
                "for_each: {name} has no {missing}", name=name, missing=missing
            )
        return []
    if not first <= last < first + ITEMS_MAX:
        faults.at(source.place_of("to")).said(
            "for_each: to must be at least from, and at most {most} more", most=ITEMS_MAX
        )
        return []
    return [str(number) for number in range(first, last + 1)]


def _instances(columns: list[tuple[str, list[str]]]) -> Iterator[Instance]:
    labels = [_labels(items) for _, items in columns]
    rows = itertools.product(*(range(len(items)) for _, items in columns))
    for number, row in enumerate(rows):
        values: dict[str, str] = {}
        for (name, items), index in zip(columns, row, strict=True):
            values |= _attributes(name, items[index], number)
        label = ".".join(labels[column][index] for column, index in enumerate(row))
        yield Instance(label, values)


def _attributes(name: str, item: str, number: int) -> dict[str, str]:
    path = PurePosixPath(item)
    parts = {f"{name}.name": path.name or item, f"{name}.stem": path.stem or item}
    return {name: item, **parts, f"{name}.number": str(number)}


def _labels(items: list[str]) -> list[str]:
    """Short words that tell the items apart."""
    for label in (_stem, _whole):
        labels = [label(item) for item in items]
        if len(set(labels)) == len(labels) and all(labels):
            return labels
    return [str(number) for number in range(len(items))]


def _stem(item: str) -> str:
    return _whole(PurePosixPath(item).stem) if "/" in item or _has_suffix(item) else _whole(item)


def _has_suffix(item: str) -> bool:
    suffix = PurePosixPath(item).suffix
    return suffix != "" and not suffix[1:].isdecimal()


def _whole(item: str) -> str:
    return _STRANGE.sub("_", item)[:LABEL_CHARACTERS_MAX]
