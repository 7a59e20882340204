"""Variables: what a workflow is told at submission, and ``${name}`` in its text.

A value is written into the text before the text is read as what its field wants, so a variable
works wherever a single value stands, and what it makes of the field is checked like any other
word. ``$${`` is ``${`` itself. A list fills a whole place, never a part of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from pathlib import Path

from agent.protocol.phrases import said
from agent.workflow.faults import WHOLE_FILE, Faults, Place, shown
from agent.workflow.kinds import Choice, Either, Several, Text, What, must_be
from agent.workflow.records import Field, Named, Record, Values
from agent.workflow.yaml_nodes import Entry, Mapping, Node, Scalar, Sequence

VARIABLES_MAX = 200
VALUE_CHARACTERS_MAX = 4_096
CHOICES_MAX = 200
LIST_MAX = 10_000
TYPES = ("text", "number", "whole", "flag", "file", "folder", "list")
ATTRIBUTES = ("name", "stem", "number")

NAME = "[A-Za-z_][A-Za-z0-9_]*"
NAME_WANTED = said("letters, digits and _, and no digit first")
_REFERENCE = re.compile(rf"\$\$\{{|\$\{{({NAME})(?:\.([a-z]+))?\}}|\$\{{([^}}\n]*)\}}?")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_FLAG = re.compile(r"true|false|yes|no|on|off", re.IGNORECASE)

_VALUE = Text(VALUE_CHARACTERS_MAX, empty=True)
_DECLARATION = Record(
    said("a variable"),
    (
        Field("type", Choice(TYPES), "What it may be; text if nothing is said."),
        Field(
            "default",
            Either(single=_VALUE, sequence=Several(_VALUE, LIST_MAX)),
            "Its value when none is given; without it, one has to be given.",
        ),
        Field("choices", Several(_VALUE, CHOICES_MAX), "The only values that it may have."),
        Field("says", Text(1_024), "What it means, for whoever is asked for it."),
    ),
)
VARIABLES = Named(
    NAME,
    NAME_WANTED,
    Either(single=_VALUE, mapping=_DECLARATION, sequence=Several(_VALUE, LIST_MAX)),
    VARIABLES_MAX,
)


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable, for whoever asks a person for its value."""

    name: str
    place: Place
    type: str = "text"
    default: str | tuple[str, ...] | None = None
    choices: tuple[str, ...] = ()
    says: str = ""


@dataclass(slots=True)
class Scope:
    """The values that text may refer to, and which of them it has referred to."""

    values: Map[str, str | tuple[str, ...]]
    used: set[str] = field(default_factory=set)
    places: Map[str, Place] = field(default_factory=dict)
    """Where the names were declared, for those that have to be used."""
    unknown: frozenset[str] = frozenset()
    """Names whose values are missing, which was told already."""
    texts: frozenset[str] = frozenset()
    """Names of texts: what looks like a number there is none."""

    def inside(self, more: Map[str, str], unknown: frozenset[str] = frozenset()) -> Scope:
        """Return a new scope with these values, which go before the same names of this one, and
        with these ``unknown`` names too. What either refers to is noted for both."""
        texts = frozenset(key for key, value in more.items() if guessed_type(value) == "text")
        return Scope(
            {**self.values, **more},
            self.used,
            self.places,
            self.unknown | unknown,
            (self.texts - more.keys()) | texts,
        )


def read_variables(node: Node | None, faults: Faults) -> tuple[Variable, ...]:
    """Return the variables that a workflow declares, none without a node. What is wrong goes to the
    faults: a declaration that cannot be read is left out, a wrong default or choice stays."""
    found = None if node is None else VARIABLES.read(node, "variables", faults)
    read = (_variable(name, name.place, value, faults) for name, value in (found or {}).items())
    return tuple(read)


def _variable(name: str, place: Place, value: object, faults: Faults) -> Variable:
    if not isinstance(value, Values):
        shorthand = _plain(value)
        kind = "list" if isinstance(shorthand, tuple) else guessed_type(shorthand)
        return Variable(name, place, kind, shorthand)
    given = value.get("default")
    default = None if given is None else _plain(given)
    kind = value.get("type") or ("list" if isinstance(default, tuple) else "text")
    choices = tuple(str(each) for each in value.get("choices", ()))
    declared = Variable(name, place, str(kind), default, choices, str(value.get("says", "")))
    for choice in choices:
        _check(
            declared,
            choice,
            value.place_of("choices"),
            said("choice {name}", name=shown(choice)),
            faults,
        )
    if default is not None:
        where = value.place_of("default")
        _check_all(declared, default, where, said("the default of {name}", name=name), faults)
    return declared


def _plain(value: object) -> str | tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, tuple) else str(value)


def guessed_type(default: str) -> str:
    """Return the type of variable that a value suggests where none is named: flag, whole, number,
    or text for any other."""
    if _FLAG.fullmatch(default):
        return "flag"
    if _WHOLE.fullmatch(default):
        return "whole"
    return "number" if _NUMBER.fullmatch(default) else "text"


def bind(declared: Iterable[Variable], given: Map[str, str], start: Path, faults: Faults) -> Scope:
    """Return the scope with a value for each variable: the one given, else its default. A wrong
    value, a missing one and an unknown name are faults; a variable left without a value is
    ``unknown`` in the scope. A given list is split at commas, given paths begin at ``start``."""
    variables = {each.name: each for each in declared}
    for name in given:
        if name not in variables:
            hint = faults.hint(name, variables) or (
                said("there are {names}", names=tuple(variables))
                if variables
                else said("it has none")
            )
            faults.at(WHOLE_FILE).said("there is no variable {name}", name=shown(name), hint=hint)
    values: dict[str, str | tuple[str, ...]] = {}
    for name, variable in variables.items():
        value = _value(variable, given.get(name), start, faults)
        if value is not None:
            values[name] = value
    places = {name: variable.place for name, variable in variables.items()}
    texts = {name for name, each in variables.items() if each.type in ("text", "file", "folder")}
    missing = frozenset(variables.keys() - values.keys())
    return Scope(values, set(), places, missing, frozenset(texts))


def _value(
    variable: Variable, given: str | None, start: Path, faults: Faults
) -> str | tuple[str, ...] | None:
    if given is None:
        if variable.default is None:
            name = f"{variable.name} ({variable.says})" if variable.says else variable.name
            faults.at(variable.place).said(
                "the variable {name} has no default, so a value must be given", name=name
            )
        return variable.default
    value: str | tuple[str, ...] = given
    if variable.type == "list":
        value = tuple(part.strip() for part in given.split(",") if part.strip())
    elif variable.type in ("file", "folder"):
        value = (start / given).as_posix()
    what = said("the value given for {name}", name=variable.name)
    ok = _check_all(variable, value, variable.place, what, faults)
    return value if ok else None


def _check_all(
    variable: Variable, value: str | tuple[str, ...], place: Place, what: What, faults: Faults
) -> bool:
    if isinstance(value, tuple) != (variable.type == "list"):
        wanted = said("a list")
        if variable.type != "list":
            wanted = said("a single {kind}", kind=variable.type)
        faults.at(place).said("{owner} must be {wanted}", owner=what, wanted=wanted)
        return False
    values = value if isinstance(value, tuple) else (value,)
    checks = [_check(variable, each, place, what, faults) for each in values]
    return all(checks)


def _check(variable: Variable, text: str, place: Place, what: What, faults: Faults) -> bool:
    if variable.choices and text not in variable.choices:
        hint = faults.hint(text, variable.choices)
        must_be(what, variable.choices, shown(text), place, faults, hint)
        return False
    rules = {
        "number": (_NUMBER, said("a number")),
        "whole": (_WHOLE, said("a whole number")),
        "flag": (_FLAG, said("true or false")),
    }
    pattern, wanted = rules.get(variable.type, (None, ""))
    if pattern is None or pattern.fullmatch(text):
        return True
    must_be(what, wanted, shown(text), place, faults)
    return False


def names_in(node: Node) -> frozenset[str]:
    """Return the names of all variables that the values of a node refer to, in whatever depth; keys
    of mappings, ``$${`` and references that cannot be read are passed over."""
    match node:
        case Scalar():
            if "${" not in node.text:
                return frozenset()
            return frozenset(found[1] for found in _REFERENCE.finditer(node.text) if found[1])
        case Sequence():
            return frozenset().union(*(names_in(item) for item in node.items))
        case Mapping():
            return frozenset().union(*(names_in(entry.value) for entry in node.entries))


def fill(node: Node, scope: Scope, faults: Faults) -> Node:
    """Return the node with the values in the places of ``${name}``, and note the names in
    ``scope.used``; keys stay as they are, and a list fills a whole value only. A reference without
    a value is a fault unless that was told, and makes its text void."""
    match node:
        case Scalar():
            return _fill_scalar(node, scope, faults) if "${" in node.text else node
        case Sequence():
            return Sequence(node.place, tuple(fill(item, scope, faults) for item in node.items))
        case Mapping():
            entries = (Entry(each.key, fill(each.value, scope, faults)) for each in node.entries)
            return Mapping(node.place, tuple(entries))


def _fill_scalar(node: Scalar, scope: Scope, faults: Faults) -> Node:
    whole = _REFERENCE.fullmatch(node.text)
    if whole and whole[1] and isinstance(scope.values.get(whole[1]), tuple) and not whole[2]:
        scope.used.add(whole[1])
        items = scope.values[whole[1]]
        return Sequence(node.place, tuple(Scalar(node.place, item) for item in items))
    parts: list[str] = []
    end, void = 0, False
    for found in _REFERENCE.finditer(node.text):
        value = _value_of(found, node, scope, faults)
        void = void or value is None
        parts += [node.text[end : found.start()], found[0] if value is None else value]
        end = found.end()
    text = "".join([*parts, node.text[end:]])
    # Between { and } a reference has to be quoted, so alone it is what its variable is.
    plain = whole[1] not in scope.texts if whole and whole[1] else node.plain
    return Scalar(node.place, text, plain, void)


def _value_of(found: re.Match[str], node: Scalar, scope: Scope, faults: Faults) -> str | None:
    """The text for one reference; None for a wrong one, when that was told."""
    name, attribute = found[1], found[2]
    place = _place_of(found, node)
    if found[0] == "$${":
        return "${"
    if name is None:
        faults.at(place).said(
            "{name} names no variable; write $${{ for ${{ itself", name=shown(found[0])
        )
        return None
    scope.used.add(name)
    if name in scope.unknown:
        return None
    if name not in scope.values:
        hint = faults.hint(name, scope.values) or said("declare it under variables")
        faults.at(place).said("there is no variable {name}", name=shown(name), hint=hint)
        return None
    key = f"{name}.{attribute}" if attribute else name
    value = scope.values.get(key)
    if value is None:
        faults.at(place).said(
            "{owner} has no {name}",
            owner=name,
            name=shown(attribute),
            hint=faults.hint(attribute, ATTRIBUTES),
        )
        return None
    if isinstance(value, tuple):
        faults.at(place).said("{name} is a list, which cannot stand inside a text", name=name)
        return None
    return value


def _place_of(found: re.Match[str], node: Scalar) -> Place:
    if "\n" in node.text or not node.plain:
        return node.place
    return Place(node.place.line, node.place.column + found.start())


def report_unused(scope: Scope, faults: Faults) -> None:
    """Add a fault for each declared variable to which nothing filled so far has referred: most
    often it is misspelled somewhere."""
    for name, place in scope.places.items():
        if name not in scope.used:
            faults.at(place).said(
                "the variable {name} is never used: write {how} or remove it",
                name=name,
                how=f"${{{name}}}",
            )
