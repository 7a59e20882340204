"""The tasks and gates of a file, before a fan-out is unfolded.

What does not depend on the values of a fan-out is read once; only the fields that name one of
them are filled in and read again for each run, so that ten thousand runs cost little more than
their names.
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass

from agent.protocol.phrases import said
from agent.workflow.fan_out import Fan, Instance, fan_of
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.kinds import Word, must_be
from agent.workflow.local_files import LocalFiles
from agent.workflow.records import Named, Record, Values
from agent.workflow.tables import (
    DEFAULTS,
    FOR_EACH,
    GATE_RECORD,
    TASK_CHARACTERS_MAX,
    TASK_NAME,
    TASK_NAME_WANTED,
    TASK_RECORD,
    TASKS_MAX,
    Anything,
)
from agent.workflow.variables import Scope, fill, names_in
from agent.workflow.yaml_nodes import Entry, Mapping, Node, Scalar, kind_of

_MERGED = ("requirements", "limits")
"""Of these a task takes from the defaults what it does not say itself; other fields as a whole."""
_FOR_EACH = "for_each"


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

    def names(self) -> list[str]:
        """Return the names of its runs: its own, or one for each instance of its fan-out."""
        if self.fan is None:
            return [self.name]
        return [f"{self.name}.{each.label}" for each in self.fan.instances]

    def values(self, instance: Instance | None, scope: Scope, faults: Faults) -> Values:
        """Return the fields of one run, with the values of its instance filled in; what is wrong
        with them becomes a fault."""
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
    """Return all tasks and gates by their names, before fan-outs are unfolded; whatever is wrong
    goes to the faults."""
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
    named = Named(TASK_NAME, TASK_NAME_WANTED, Anything(), TASKS_MAX, TASK_CHARACTERS_MAX)
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
        """Return the fan-out of a task; None when it has none, or a wrong one."""
        if name not in self._fans:
            self._fans[name] = None
            self._open.append(name)
            self._fans[name] = self._read(name)
            self._open.pop()
        return self._fans[name]

    def declared(self, node: Mapping) -> frozenset[str]:
        """Return the variables that a wrong fan-out would have had, so that they are not told as
        unknown."""
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
