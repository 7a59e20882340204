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

from agent.api.wording import near
from agent.protocol.phrases import Phrase, Value, said
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.yaml_nodes import Mapping, Node, Scalar, Sequence, kind_of

A_TEXT = said("a text")
Schema = dict[str, Any]
What = str | Phrase
"""What the author of a file calls a thing, or what it is in words."""
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
        """Return this text as a word that was written there."""
        word = cls(text)
        word.place = place
        return word


class Kind(Protocol):
    """What a value of a description file may be."""

    def read(self, node: Node, what: What, faults: Faults) -> Any | None:
        """Return the value; None after a fault. ``what`` is what the file's author calls it."""
        ...

    def schema(self, *, variables: bool = False) -> Schema:
        """Return what fits as JSON Schema. ``variables``: ``${name}`` may stand for it."""
        ...


def scalar(node: Node, what: What, wanted: Value, faults: Faults) -> Scalar | None:
    """Return the single value that is wanted here; None, and a fault, where it is none. Of what
    refers to something missing nothing more is told."""
    if isinstance(node, Scalar) and node.void:
        return None
    if isinstance(node, Scalar) and not node.empty:
        return node
    if isinstance(node, Scalar):
        nothing = said("{name} must be {wanted}, and there is nothing", name=what, wanted=wanted)
        faults.add(node.place, nothing)
    else:
        must_be(what, wanted, kind_of(node), node.place, faults)
    return None


def must_be(
    what: What, wanted: Value, given: What, place: Place, faults: Faults, hint: Phrase | None = None
) -> None:
    """Add the fault that something else is ``wanted`` at this place than what was ``given``."""
    wrong = said("{owner} must be {wanted}, not {given}", owner=what, wanted=wanted, given=given)
    faults.add(place, wrong, hint)


def too_many(what: What, most: int, count: int, place: Place, faults: Faults) -> None:
    """Add the fault that there is more of something than there may be."""
    wrong = said(
        "{name} has at most {most} entries, and this has {given}", name=what, most=most, given=count
    )
    faults.add(place, wrong)


@dataclass(frozen=True, slots=True)
class Text:
    """Characters; ``pattern`` (and ``wanted``, the same in words) says which."""

    characters_max: int
    pattern: str = ""
    wanted: Phrase = A_TEXT
    empty: bool = False

    def read(self, node: Node, what: What, faults: Faults) -> Word | None:
        """Return the text; None, and a fault, where it is none that fits."""
        if self.empty and isinstance(node, Scalar) and node.text == "" and not node.plain:
            return Word.at(node.place, "")
        found = scalar(node, what, self.wanted, faults)
        if found is None:
            return None
        if len(found.text) > self.characters_max:
            long = said(
                "{name} has at most {most} characters, and this has {given}",
                name=what,
                most=self.characters_max,
                given=len(found.text),
            )
            faults.add(found.place, long)
            return None
        if not found.text or not re.fullmatch(self.pattern or ".+", found.text, re.DOTALL):
            must_be(what, self.wanted, shown(found.text), found.place, faults)
            return None
        return Word.at(found.place, found.text)

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of such a text; with ``variables`` a reference to a variable fits
        too."""
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

    def read(self, node: Node, what: What, faults: Faults) -> int | None:
        """Return the number; None, and a fault, where it is no whole number within the bounds."""
        wanted = said("a whole number from {least} to {most}", least=self.least, most=self.most)
        found = scalar(node, what, wanted, faults)
        if found is None or ambiguous(found, what, faults):
            return None
        if _WHOLE.fullmatch(found.text) and len(found.text) <= DIGITS_MAX:
            number = int(found.text)
            if self.least <= number <= self.most:
                return number
        must_be(what, wanted, shown(found.text), found.place, faults)
        return None

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of such a number; with ``variables`` a reference to a variable
        fits too."""
        return _or_variable(
            {"type": "integer", "minimum": self.least, "maximum": self.most}, variables
        )


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no."""

    def read(self, node: Node, what: What, faults: Faults) -> bool | None:
        """Return whether it is so; None, and a fault, where that is not said."""
        wanted = said("true or false")
        found = scalar(node, what, wanted, faults)
        if found is None:
            return None
        flag = _FLAGS.get(found.text.lower())
        if flag is None:
            must_be(what, wanted, shown(found.text), found.place, faults)
        return flag

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of the words for it: YAML of today has two, older ones four
        more."""
        old = {"enum": ["yes", "no", "on", "off"]}
        return _or_variable({"anyOf": [{"type": "boolean"}, old]}, variables)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, node: Node, what: What, faults: Faults) -> Word | None:
        """Return the word in small letters; None, and a fault, where it is none of these."""
        found = scalar(node, what, self.words, faults)
        if found is None:
            return None
        if found.text.lower() in self.words:
            return Word.at(found.place, found.text.lower())
        hint = near(found.text, self.words) if len(self.words) > 2 else None
        must_be(what, self.words, shown(found.text), found.place, faults, hint)
        return None

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of these words."""
        return _or_variable({"enum": list(self.words)}, variables)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with a unit; ``units`` tell how many of the first one each is."""

    units: Map[str, float]
    most: float
    examples: tuple[str, ...]
    bare: bool = True

    def read(self, node: Node, what: What, faults: Faults) -> float | None:
        """Return the amount in the first of the units; None, and a fault, where it is no number
        with a unit, not above 0 or too large."""
        wanted = said("a number with a unit, like {ways}", ways=self.examples)
        found = scalar(node, what, wanted, faults)
        if found is None or ambiguous(found, what, faults):
            return None
        amount = self._amount(found.text)
        if amount is None:
            unit = _UNIT.search(found.text)
            word = unit[0].lower() if unit else ""
            hint = None if word in self.units else near(word, self.units)
            must_be(what, wanted, shown(found.text), found.place, faults, hint)
        elif not 0 < amount <= self.most:
            base = "MB" if "mb" in self.units else "s"
            bound = said("more than 0 and at most {most}", most=f"{self.most:,.0f} {base}")
            must_be(what, bound, shown(found.text), found.place, faults)
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
        """Return the JSON Schema of a text of number and unit, and of a bare number where one may
        stand."""
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
    """Return the kind of a length of time; a bare number is seconds."""
    return Amount(SECONDS, days_max * 86_400.0, ("90 s", "5 min", "2 h"))


def memory(most_mb: int = 1_000_000_000) -> Amount:
    """Return the kind of a number of bytes; a bare number is megabytes."""
    return Amount(MEGABYTES, float(most_mb), ("500 MB", "2 GB"))


@dataclass(frozen=True, slots=True)
class Several:
    """A list; one value alone stands for a list of one. ``once``: nothing in it is there twice."""

    kind: Kind
    most: int
    alone: bool = True
    once: bool = False

    def read(self, node: Node, what: What, faults: Faults) -> tuple[Any, ...] | None:
        """Return the values that could be read, with faults for the others; one alone is a list of
        one where that is allowed. None, and a fault, where it is no list or too long."""
        if isinstance(node, Scalar) and node.empty:
            return ()
        if not isinstance(node, Sequence):
            if self.alone:
                one = self.kind.read(node, what, faults)
                return () if one is None else (one,)
            words = node.text.split() if isinstance(node, Scalar) else []
            hint = said("did you mean {names}?", names=f"[{', '.join(words)}]") if words else None
            must_be(what, said("a list"), kind_of(node), node.place, faults, hint)
            return None
        if len(node.items) > self.most:
            too_many(what, self.most, len(node.items), node.place, faults)
            return None
        read = [(item.place, self.kind.read(item, what, faults)) for item in node.items]
        found = [(place, value) for place, value in read if value is not None]
        values = [value for _, value in found]
        for number, (place, value) in enumerate(found) if self.once else ():
            if value in values[:number]:
                faults.add(place, said("{name} is in {list} twice", name=shown(value), list=what))
        return tuple(values)

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of a list, and of one item where it may stand alone."""
        item = self.kind.schema(variables=variables)
        several = {"type": "array", "items": item, "maxItems": self.most}
        return {"anyOf": [several, item]} if self.alone else several


@dataclass(frozen=True, slots=True)
class Either:
    """One kind for single values, one for mappings, one for lists, as far as given."""

    single: Kind | None = None
    mapping: Kind | None = None
    sequence: Kind | None = None

    def read(self, node: Node, what: What, faults: Faults) -> Any | None:
        """Return what the kind for this shape (single value, mapping or list) reads; None, and a
        fault, where none is given for it."""
        shapes = {Scalar: self.single, Mapping: self.mapping, Sequence: self.sequence}
        kind = shapes[type(node)]
        if kind is None:
            names = (said("a single value"), said("a mapping"), said("a list"))
            kinds = (self.single, self.mapping, self.sequence)
            wanted = tuple(name for name, each in zip(names, kinds, strict=True) if each)
            must_be(what, wanted, kind_of(node), node.place, faults)
            return None
        return kind.read(node, what, faults)

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of any of the kinds."""
        kinds = [each for each in (self.single, self.mapping, self.sequence) if each is not None]
        return {"anyOf": [each.schema(variables=variables) for each in kinds]}


def ambiguous(found: Scalar, what: What, faults: Faults) -> bool:
    """Tell whether this is a number to one reader of YAML and another number, or none, to the next;
    then add a fault. ``what`` is empty where the author has no name for it."""
    text = found.text
    plain = text.replace("_", "")
    if _LEADING_ZERO.fullmatch(text):
        how = text.lstrip("+-0") or "0"
        wrong = said("{name} is octal to some readers: write {how}", name=text, how=how)
    elif "_" in text and _WHOLE.fullmatch(plain):
        wrong = said("write {how} instead of {given}", how=plain, given=shown(text))
    else:
        return False
    faults.add(found.place, said("{owner}: {fault}", owner=what, fault=wrong) if what else wrong)
    return True


def _either_case(word: str) -> str:
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


def _or_variable(schema: Schema, variables: bool) -> Schema:
    return {"anyOf": [schema, VARIABLE_SCHEMA]} if variables else schema
