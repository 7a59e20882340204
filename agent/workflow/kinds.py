"""The kinds of values that description files are made of: read, checked and told to editors.

A table of fields says once what a file may contain. ``read`` checks a node against it and says
what is wrong; ``schema`` gives the same rules as JSON Schema, so that an editor completes what the
reader accepts. What a kind reads is a plain value, or None when a fault was told.

YAML's traps: the field decides, not the word. ``no`` is false where yes or no is asked and the
text "no" where a text is; ``010`` is refused as a number, because half the readers take it for 8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Map
from dataclasses import dataclass
from typing import Any, Protocol

from agent.workflow.faults import Faults, Place, either, meant, shown
from agent.workflow.yaml_nodes import Mapping, Node, Scalar, Sequence, kind_of

Schema = dict[str, Any]
VARIABLE_SCHEMA: Schema = {"type": "string", "pattern": r"\$\{"}
"""Where variables work, any single value may be one."""

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]+")
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+) ?([A-Za-z]+)")
_UNIT = re.compile(r"[A-Za-z]+$")
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
DIGITS_MAX = 18


class Word(str):
    """A text that knows where it was written."""

    __slots__ = ("place",)
    place: Place

    @classmethod
    def at(cls, place: Place, text: str) -> Word:
        """This text, there."""
        word = cls(text)
        word.place = place
        return word


class Kind(Protocol):
    """What a value may be."""

    def read(self, node: Node, what: str, faults: Faults) -> Any | None:
        """The value; None after a fault. ``what`` is what the file's author calls it."""
        ...

    def schema(self, *, variables: bool = False) -> Schema:
        """The same as JSON Schema. ``variables``: ``${name}`` may stand for it."""
        ...


def scalar(node: Node, what: str, wanted: str, faults: Faults) -> Scalar | None:
    """The single value that is wanted here; None, and a fault that was told, where it is none."""
    if isinstance(node, Scalar) and node.void:
        return None
    if isinstance(node, Scalar) and not node.empty:
        return node
    got = ", and there is nothing" if isinstance(node, Scalar) else f", not {kind_of(node)}"
    faults.add(node.place, f"{what} must be {wanted}{got}")
    return None


@dataclass(frozen=True, slots=True)
class Text:
    """Characters; ``pattern`` (and ``wanted``, the same in words) says which."""

    characters_max: int
    pattern: str = ""
    wanted: str = "a text"
    empty: bool = False

    def read(self, node: Node, what: str, faults: Faults) -> Word | None:
        """The text."""
        if self.empty and isinstance(node, Scalar) and node.text == "" and not node.plain:
            return Word.at(node.place, "")
        found = scalar(node, what, self.wanted, faults)
        if found is None:
            return None
        if len(found.text) > self.characters_max:
            limit = f"has at most {self.characters_max} characters"
            faults.add(found.place, f"{what} {limit}, and this has {len(found.text)}")
            return None
        if not found.text or not re.fullmatch(self.pattern or ".+", found.text, re.DOTALL):
            faults.add(found.place, f"{what} must be {self.wanted}, not {shown(found.text)}")
            return None
        return Word.at(found.place, found.text)

    def schema(self, *, variables: bool = False) -> Schema:
        """As it is, or what variables may make of it."""
        told: Schema = {"type": ["string", "number", "boolean"], "maxLength": self.characters_max}
        if not self.empty:
            told["minLength"] = 1
        if self.pattern:
            told["pattern"] = rf"^(?:{self.pattern})$"
        return _or_variable(told, variables) if self.pattern else told


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    least: int
    most: int

    def read(self, node: Node, what: str, faults: Faults) -> int | None:
        """The number."""
        wanted = f"a whole number from {self.least} to {self.most}"
        found = scalar(node, what, wanted, faults)
        if found is None or ambiguous(found, f"{what}: ", faults):
            return None
        if _WHOLE.fullmatch(found.text) and len(found.text) <= DIGITS_MAX:
            number = int(found.text)
            if self.least <= number <= self.most:
                return number
        faults.add(found.place, f"{what} must be {wanted}, not {shown(found.text)}")
        return None

    def schema(self, *, variables: bool = False) -> Schema:
        """Between the two."""
        return _or_variable(
            {"type": "integer", "minimum": self.least, "maximum": self.most}, variables
        )


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no."""

    def read(self, node: Node, what: str, faults: Faults) -> bool | None:
        """Whether it is so."""
        found = scalar(node, what, "true or false", faults)
        if found is None:
            return None
        flag = _FLAGS.get(found.text.lower())
        if flag is None:
            faults.add(found.place, f"{what} must be true or false, not {shown(found.text)}")
        return flag

    def schema(self, *, variables: bool = False) -> Schema:
        """YAML of today has two words for it, older ones four more."""
        old = {"enum": ["yes", "no", "on", "off"]}
        return _or_variable({"anyOf": [{"type": "boolean"}, old]}, variables)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, node: Node, what: str, faults: Faults) -> Word | None:
        """The word."""
        found = scalar(node, what, either(self.words), faults)
        if found is None:
            return None
        if found.text.lower() in self.words:
            return Word.at(found.place, found.text.lower())
        hint = meant(found.text, self.words) if len(self.words) > 2 else ""
        said = shown(found.text)
        faults.add(found.place, f"{what} must be {either(self.words)}, not {said}{hint}")
        return None

    def schema(self, *, variables: bool = False) -> Schema:
        """These words."""
        return _or_variable({"enum": list(self.words)}, variables)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with a unit; ``units`` tell how many of the first one each is."""

    units: Map[str, float]
    most: float
    example: str
    bare: bool = True

    def read(self, node: Node, what: str, faults: Faults) -> float | None:
        """How many of the first unit."""
        wanted = f"a number with a unit, like {self.example}"
        found = scalar(node, what, wanted, faults)
        if found is None or ambiguous(found, f"{what}: ", faults):
            return None
        amount = self._amount(found.text)
        if amount is None:
            unit = _UNIT.search(found.text)
            word = unit[0].lower() if unit else ""
            hint = "" if word in self.units else meant(word, self.units)
            faults.add(found.place, f"{what} must be {wanted}, not {shown(found.text)}{hint}")
        elif not 0 < amount <= self.most:
            base = "MB" if "mb" in self.units else "s"
            bound = f"more than 0 and at most {self.most:,.0f} {base}"
            faults.add(found.place, f"{what} must be {bound}, not {shown(found.text)}")
        else:
            return amount
        return None

    def _amount(self, text: str) -> float | None:
        if len(text) > 2 * DIGITS_MAX:
            return None
        if self.bare and _NUMBER.fullmatch(text):
            return float(text)
        found = _AMOUNT.fullmatch(text)
        factor = self.units.get(found[2].lower()) if found else None
        return None if found is None or factor is None else float(found[1]) * factor

    def schema(self, *, variables: bool = False) -> Schema:
        """A number, or a text of number and unit."""
        units = "|".join(_either_case(unit) for unit in self.units)
        text = {"type": "string", "pattern": rf"^([0-9]+(\.[0-9]*)?|\.[0-9]+) ?({units})$"}
        number = {"type": "number", "exclusiveMinimum": 0, "maximum": self.most}
        return _or_variable({"anyOf": [number, text] if self.bare else [text]}, variables)


SECONDS: Map[str, float] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    "ms": 0.001,
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3_600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("week", "weeks"), 604_800.0),
}
MEGABYTES: Map[str, float] = {
    "mb": 1.0,
    "kb": 0.001,
    "gb": 1_000.0,
    "tb": 1_000_000.0,
    "m": 1.0,
    "k": 0.001,
    "g": 1_000.0,
    "t": 1_000_000.0,
    "kib": 1.024e-3,
    "mib": 1.048576,
    "gib": 1_073.741824,
    "tib": 1_099_511.627776,
}


def duration(days_max: int = 365) -> Amount:
    """A time; a bare number is seconds."""
    return Amount(SECONDS, days_max * 86_400.0, "90 s, 5 min or 2 h")


def memory(most_mb: int = 1_000_000_000) -> Amount:
    """Bytes; a bare number is megabytes."""
    return Amount(MEGABYTES, float(most_mb), "500 MB or 2 GB")


@dataclass(frozen=True, slots=True)
class Several:
    """A list; one value alone stands for a list of one. ``once``: nothing in it is there twice."""

    kind: Kind
    most: int
    alone: bool = True
    once: bool = False

    def read(self, node: Node, what: str, faults: Faults) -> tuple[Any, ...] | None:
        """What could be read of it."""
        if isinstance(node, Scalar) and node.empty:
            return ()
        if not isinstance(node, Sequence):
            if self.alone:
                one = self.kind.read(node, what, faults)
                return () if one is None else (one,)
            words = node.text.split() if isinstance(node, Scalar) else []
            hint = f"; did you mean [{', '.join(words)}]?" if words else ""
            faults.add(node.place, f"{what} must be a list, not {kind_of(node)}{hint}")
            return None
        if len(node.items) > self.most:
            count = len(node.items)
            faults.add(node.place, f"{what} has at most {self.most} entries, and this has {count}")
            return None
        read = [(item.place, self.kind.read(item, what, faults)) for item in node.items]
        found = [(place, value) for place, value in read if value is not None]
        values = [value for _, value in found]
        for number, (place, value) in enumerate(found) if self.once else ():
            if value in values[:number]:
                faults.add(place, f"{shown(value)} is in {what} twice")
        return tuple(values)

    def schema(self, *, variables: bool = False) -> Schema:
        """A list, or one of its items."""
        item = self.kind.schema(variables=variables)
        several = {"type": "array", "items": item, "maxItems": self.most}
        return {"anyOf": [several, item]} if self.alone else several


@dataclass(frozen=True, slots=True)
class Either:
    """One kind for single values, one for mappings, one for lists, as far as given."""

    single: Kind | None = None
    mapping: Kind | None = None
    sequence: Kind | None = None

    def read(self, node: Node, what: str, faults: Faults) -> Any | None:
        """By the shape of what is there."""
        shapes = {Scalar: self.single, Mapping: self.mapping, Sequence: self.sequence}
        kind = shapes[type(node)]
        if kind is None:
            names = ("a single value", "a mapping", "a list")
            kinds = (self.single, self.mapping, self.sequence)
            wanted = either(name for name, each in zip(names, kinds, strict=True) if each)
            faults.add(node.place, f"{what} must be {wanted}, not {kind_of(node)}")
            return None
        return kind.read(node, what, faults)

    def schema(self, *, variables: bool = False) -> Schema:
        """Any of them."""
        kinds = [each for each in (self.single, self.mapping, self.sequence) if each is not None]
        return {"anyOf": [each.schema(variables=variables) for each in kinds]}


def ambiguous(found: Scalar, what: str, faults: Faults) -> bool:
    """Whether this is a number to one reader of YAML and another number to the next."""
    text = found.text
    if _LEADING_ZERO.fullmatch(text):
        plain = text.lstrip("+-0") or "0"
        faults.add(found.place, f"{what}{text} is octal to some readers: write {plain}")
        return True
    if "_" in text and _WHOLE.fullmatch(text.replace("_", "")):
        faults.add(found.place, f"{what}write {text.replace('_', '')} instead of {shown(text)}")
        return True
    return False


def _either_case(word: str) -> str:
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


def _or_variable(schema: Schema, variables: bool) -> Schema:
    return {"anyOf": [schema, VARIABLE_SCHEMA]} if variables else schema
