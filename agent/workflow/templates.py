"""The tasks and gates of a file, before a fan-out is unfolded.

What does not depend on the values of a fan-out is read once; only the fields that name one of
them are filled in and read again for each run, so that ten thousand runs cost little more than
their names.

By a fan-out one task of the file is run once for each of many values. They come from a list, from the files that a name or pattern stands for, from the lines of a
file, or from a range of numbers; several variables make every combination. ``for_each: other``
runs along with another fan-out: the same values, and what it needs of that one is the run of the
same value.

Each run has a name: the task's, a dot, and what tells the values apart.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from collections.abc import Mapping as Map
from dataclasses import dataclass
from pathlib import PurePosixPath

from agent.protocol.phrases import said
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.kinds import Word, must_be
from agent.workflow.local_files import LocalFiles
from agent.workflow.records import Named, Record, Values
from agent.workflow.tables import (
    DEFAULTS,
    FOR_EACH,
    GATE_RECORD,
    ITEMS_MAX,
    NOT_ASKED,
    PATH_CHARACTERS_MAX,
    TASK_CHARACTERS_MAX,
    TASK_NAME,
    TASK_NAME_WANTED,
    TASK_RECORD,
    TASKS_MAX,
    Later,
)
from agent.workflow.variables import Scope, fill, names_in
from agent.workflow.yaml_nodes import Entry, Mapping, Node, Scalar, kind_of

LABEL_CHARACTERS_MAX = 40
LINES_CHARACTERS_MAX = 16 * 1024 * 1024
_STRANGE = re.compile(r"[^\w.+=-]+")
_MERGED = ("requirements", "limits")
"""Of these a task takes from the defaults what it does not say itself; other fields as a whole."""
_FOR_EACH = "for_each"


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
    """Return the fan-out over these sources: an instance for each combination of their values, none
    where one of them has no values. If all of a file together are more than ``TASKS_MAX``, that is a
    fault, and only the first value of each counts."""
    columns = [(str(name), _items(source, name, files, faults)) for name, source in sources.items()]
    count = 1
    for _, items in columns:
        count *= len(items)
    files.runs += count
    if files.runs > TASKS_MAX:
        faults.at(node.place).said(
            "for_each makes {count} tasks; a workflow has at most {most}",
            count=files.runs,
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


@dataclass(slots=True)
class Template:
    """A task or gate of the file, with what its runs have in common."""

    name: str
    place: Place
    gate: bool
    fixed: Values
    varying: tuple[Entry, ...] = ()
    fan: Fan | None = None
    for_each: Node | None = None

    @property
    def record(self) -> Record:
        """The table of fields of a gate or task."""
        return GATE_RECORD if self.gate else TASK_RECORD

    @property
    def left_out(self) -> bool:
        """Whether it is a gate at which nobody is asked."""
        return str(self.fixed.get("asked", "")) in NOT_ASKED

    def names(self) -> list[str]:
        """Return the names of its runs: its own name, or one for each instance of its fan-out;
        empty for a fan-out without instances."""
        if self.fan is None:
            return [self.name]
        return [f"{self.name}.{each.label}" for each in self.fan.instances]

    def values(self, instance: Instance | None, scope: Scope, faults: Faults) -> Values:
        """Return the fields of one run: without anything that varies those that all runs share, not
        copied; else with those filled in from its instance. A field that is wrong then is a fault
        and not in it."""
        if instance is None or not self.varying:
            return self.fixed
        fixed = self.fixed
        values = Values(fixed.place, {**fixed.values}, {**fixed.keys}, {**fixed.nodes})
        inner = scope.inside(instance.values)
        for entry in self.varying:
            node = fill(entry.value, inner, faults)
            self.record.read_entry(values, entry.key.text, entry.key.place, node, faults)
        return values


def read_templates(
    sections: Map[str, Node], defaults: Node | None, scope: Scope, files: LocalFiles
) -> dict[str, Template]:
    """Return the tasks and gates of these sections by their names, before fan-outs are unfolded;
    tasks take from the defaults what they do not say. What is wrong goes to the faults of
    ``files``; what is no mapping, or has the name of one before, is left out."""
    faults = files.faults
    shared = _defaults(defaults, scope, faults)
    nodes: dict[str, tuple[Word, bool, Mapping]] = {}
    for section, node in sections.items():
        for name, mapping in _named(section, node, faults).items():
            if name in nodes:
                faults.at(name.place).said(
                    "{name} is the name of {other} in line {line} already",
                    name=shown(name),
                    other=said("a task"),
                    line=nodes[name][0].place.line,
                )
                continue
            gate = section == "gates"
            nodes[str(name)] = (name, gate, mapping if gate else _with(mapping, shared))
    fans = _Fans(nodes, scope, files)
    return {
        name: _template(word, gate, node, fans, scope, faults)
        for name, (word, gate, node) in nodes.items()
    }


def _named(section: str, node: Node, faults: Faults) -> dict[Word, Mapping]:
    named = Named(TASK_NAME, TASK_NAME_WANTED, Later(), TASKS_MAX, TASK_CHARACTERS_MAX)
    found: dict[Word, Mapping] = {}
    for name, each in (named.read(node, section, faults) or {}).items():
        if isinstance(each, Mapping):
            found[name] = each
        elif is_empty(each):
            wanted = said("what it asks") if section == "gates" else said("a program")
            faults.at(name.place).said(
                "{name} is empty: give it {wanted}", name=shown(name), wanted=wanted
            )
        else:
            must_be(shown(name), said("a mapping"), kind_of(each), each.place, faults)
    return found


def _defaults(node: Node | None, scope: Scope, faults: Faults) -> Mapping | None:
    if node is None:
        return None
    filled = fill(node, scope, faults)
    DEFAULTS.read(filled, "defaults", faults)
    return filled if isinstance(filled, Mapping) else None


def _with(node: Mapping, defaults: Mapping | None) -> Mapping:
    if defaults is None:
        return node
    own = {entry.key.text: entry for entry in node.entries}
    for entry in defaults.entries:
        name = entry.key.text
        if DEFAULTS.field(name) is None:
            continue
        mine = own.setdefault(name, entry)
        merged = name in _MERGED and mine is not entry
        if merged and isinstance(mine.value, Mapping) and isinstance(entry.value, Mapping):
            own[name] = Entry(mine.key, _with_all(mine.value, entry.value))
    return Mapping(node.place, tuple(own.values()))


def _with_all(node: Mapping, defaults: Mapping) -> Mapping:
    own = {entry.key.text: entry for entry in node.entries}
    for entry in defaults.entries:
        own.setdefault(entry.key.text, entry)
    return Mapping(node.place, tuple(own.values()))


def _template(
    name: Word, gate: bool, node: Mapping, fans: _Fans, scope: Scope, faults: Faults
) -> Template:
    fan = fans.of(name)
    inner = scope
    if fan is not None:
        inner = scope.inside(dict.fromkeys(fan.variables, ""))
    elif node.get(_FOR_EACH) is not None:
        inner = scope.inside({}, unknown=fans.declared(node))
    record = GATE_RECORD if gate else TASK_RECORD
    template = Template(
        str(name), name.place, gate, Values(name.place), (), fan, node.get(_FOR_EACH)
    )
    varying: list[Entry] = []
    for entry in node.entries:
        key = entry.key
        if key.text == _FOR_EACH:
            continue
        if fan is not None and names_in(entry.value) & fan.variables:
            varying.append(entry)
            template.fixed.keys[key.text] = key.place
            continue
        value = fill(entry.value, inner, faults)
        record.read_entry(template.fixed, key.text, key.place, value, faults)
    for each in record.fields:
        if each.name not in template.fixed and (missing := each.missing(shown(name))):
            faults.add(name.place, missing)
    if not gate and "program" not in template.fixed:
        faults.at(name.place).said("{owner} needs program: what it runs", owner=shown(name))
    template.varying = tuple(varying)
    return template


class _Fans:
    """The fan-outs of a file; one that runs along with another is found through that."""

    def __init__(
        self, nodes: Map[str, tuple[Word, bool, Mapping]], scope: Scope, files: LocalFiles
    ) -> None:
        self._nodes, self._scope, self._files = nodes, scope, files
        self._fans: dict[str, Fan | None] = {}
        self._open: list[str] = []

    def of(self, name: str) -> Fan | None:
        """Return the fan-out of a task or gate of this file, read when first asked for; None when
        it has none, or a wrong one, which is a fault."""
        if name not in self._fans:
            self._fans[name] = None
            self._open.append(name)
            self._fans[name] = self._read(name)
            self._open.pop()
        return self._fans[name]

    def declared(self, node: Mapping) -> frozenset[str]:
        """Return the variables that the wrong fan-out of this task would have had, or, where it
        does not name any, all that the task refers to, so that they are not told as unknown."""
        source = node.get(_FOR_EACH)
        if isinstance(source, Mapping):
            return frozenset(entry.key.text for entry in source.entries)
        used = (names_in(entry.value) for entry in node.entries)
        return frozenset().union(*used)

    def _read(self, name: str) -> Fan | None:
        node = self._nodes[name][2].get(_FOR_EACH)
        if node is None:
            return None
        faults = self._files.faults
        filled = fill(node, self._scope, faults)
        source = FOR_EACH.read(filled, _FOR_EACH, faults)
        if isinstance(source, dict) and source:
            return fan_of(name, source, filled, self._files, faults)
        return self._along(source, faults) if isinstance(source, Word) else None

    def _along(self, other: Word, faults: Faults) -> Fan | None:
        if other in self._open:
            path = " → ".join([*self._open[self._open.index(other) :], other])
            faults.at(other.place).said("for_each goes round in a circle: {way}", way=path)
            return None
        if other not in self._nodes:
            hint = faults.hint(other, self._nodes)
            if any(letter in other for letter in "*?[./"):
                hint = said("to run over files write for_each: {how}", how=f"{{file: {other}}}")
            faults.at(other.place).said(
                "for_each: there is no task {name}", name=shown(other), hint=hint
            )
            return None
        fan = self.of(other)
        if fan is None and self._nodes[other][2].get(_FOR_EACH) is None:
            faults.at(other.place).said(
                "for_each: {task} is run once only, so it has no values", task=other
            )
        return fan


def is_empty(node: Node) -> bool:
    """Tell whether a section was begun and left empty."""
    return isinstance(node, Scalar) and node.empty
