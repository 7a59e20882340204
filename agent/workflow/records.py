"""Tables of fields: what a mapping of a description file may contain.

``Record`` is for mappings whose keys are fixed, ``Named`` for those whose keys are names that the
author chooses (tasks, variables). Unknown keys get the nearest known one as a suggestion. What is
read keeps the places, because much is found wrong only when all of the file is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from agent.protocol.phrases import Phrase, said
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.kinds import Kind, Schema, What, Word, must_be, too_many
from agent.workflow.yaml_nodes import Mapping, Node, kind_of


@dataclass(frozen=True, slots=True)
class Field:
    """A key and what may stand there. ``says`` is shown by editors, ``required`` told without it."""

    name: str
    kind: Kind
    says: str
    required: Phrase | None = None

    def missing(self, owner: What) -> Phrase | None:
        """Return what is told of a mapping that lacks it; None where it need not be there."""
        return Phrase(self.required.template, {"owner": owner}) if self.required else None


@dataclass(frozen=True, slots=True)
class Values:
    """What a record has in the file. A field that was not given, or was wrong, is not in it."""

    place: Place
    values: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, Place] = field(default_factory=dict)
    """Where the keys stand, of wrong fields too."""
    nodes: dict[str, Node] = field(default_factory=dict)

    def get(self, name: str, otherwise: Any = None) -> Any:
        """Return the value of a field, or ``otherwise`` where it was not given."""
        return self.values.get(name, otherwise)

    def place_of(self, name: str) -> Place:
        """Return where a field's value stands; the place of the record, if it was not given."""
        node = self.nodes.get(name)
        return self.place if node is None else node.place

    def __contains__(self, name: str) -> bool:
        """Whether it was given, right or wrong."""
        return name in self.keys


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with these keys; ``title`` is what it is called in sentences."""

    title: What
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """Return the field of that name, or None."""
        return next((each for each in self.fields if each.name == name), None)

    def read(self, node: Node, what: What, faults: Faults) -> Values | None:
        """Return the fields that are there and could be read; None, and a fault that calls the node
        ``what``, where it is no mapping. A field that is wrong or unknown is a fault too, and a
        required one that is missing."""
        if not isinstance(node, Mapping):
            must_be(what, said("a mapping"), kind_of(node), node.place, faults)
            return None
        values = Values(node.place)
        for entry in node.entries:
            self.read_entry(values, entry.key.text, entry.key.place, entry.value, faults)
        for each in self.fields:
            if each.name not in values and (missing := each.missing(what)):
                faults.add(node.place, missing)
        return values

    def read_entry(
        self, values: Values, name: str, place: Place, node: Node, faults: Faults
    ) -> None:
        """Read one field into ``values``, with its place and node also where its value is wrong,
        which is a fault. An unknown field is a fault and leaves ``values`` as it was."""
        found = self.field(name)
        if found is None:
            known = (each.name for each in self.fields)
            faults.at(place).said(
                "{owner} has no {name}",
                owner=self.title,
                name=shown(name),
                hint=faults.hint_or_all(name, known),
            )
            return
        values.keys[name] = place
        values.nodes[name] = node
        value = found.kind.read(node, name, faults)
        if value is not None:
            values.values[name] = value

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of an object with these fields and no others, the required ones
        named. ``variables``: ``${name}`` may stand for single values."""
        told: Schema = {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                each.name: {"description": each.says, **each.kind.schema(variables=variables)}
                for each in self.fields
            },
        }
        required = [each.name for each in self.fields if each.required]
        return {**told, "required": required} if required else told


@dataclass(frozen=True, slots=True)
class Named:
    """A mapping from names that the author chooses to values of one kind."""

    name: str
    """A regular expression that every name has to fit, and ``wanted`` the same in words."""
    wanted: Phrase
    kind: Kind
    most: int
    characters_max: int = 64

    def read(self, node: Node, what: What, faults: Faults) -> dict[Word, Any] | None:
        """Return the values by their names, which know where they stand; without those whose name
        or value is wrong, each of them a fault. None, and a fault, where it is no mapping or has
        more entries than ``most``."""
        if not isinstance(node, Mapping):
            given = kind_of(node)
            faults.at(node.place).said(
                "{name} must be a mapping of names, not {given}", name=what, given=given
            )
            return None
        if len(node.entries) > self.most:
            too_many(what, self.most, len(node.entries), node.place, faults)
            return None
        found: dict[Word, Any] = {}
        for entry in node.entries:
            name = entry.key.text
            if not self.fits(name):
                faults.at(entry.key.place).said(
                    "{name} is no name here: {wanted}", name=shown(name), wanted=self.wanted
                )
                continue
            value = self.kind.read(entry.value, shown(name), faults)
            if value is not None:
                found[Word.at(entry.key.place, name)] = value
        return found

    def fits(self, name: str) -> bool:
        """Tell whether something can be called so."""
        return 0 < len(name) <= self.characters_max and bool(re.fullmatch(self.name, name))

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of an object with at most ``most`` such names and values.
        ``variables``: ``${name}`` may stand for single values."""
        return {
            "type": "object",
            "additionalProperties": False,
            "maxProperties": self.most,
            "patternProperties": {rf"^(?:{self.name})$": self.kind.schema(variables=variables)},
        }
