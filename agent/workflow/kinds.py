"""The kinds of values that description files are made of: read, checked and told to editors.

A table of fields says once what a file may contain. ``read`` checks a node against it and says
what is wrong; ``schema`` gives the same rules as JSON Schema, so that an editor completes what the
reader accepts. What a kind reads is a plain value, or None when a fault was told.

YAML's traps: the field decides, not the word. ``no`` is false where yes or no is asked and the
text "no" where a text is; ``010`` is refused as a number, because half the readers take it for 8.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
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
NONE = "none"


class Word(str):
    """A text that knows where it was written."""

    __slots__ = ("place",)
    place: Place

    @classmethod
    def at(cls, place: Place, text: str) -> Word:
        """Return this text as a word whose ``place`` is this one."""
        word = cls(text)
        word.place = place
        return word


class Kind(Protocol):
    """What a value of a description file may be."""

    def read(self, node: Node, what: What, faults: Faults) -> Any | None:
        """Return the value; None after a fault. ``what`` is what the file's author calls it."""

    def schema(self, *, variables: bool = False) -> Schema:
        """Return what fits as JSON Schema. ``variables``: ``${name}`` may stand for it."""


def scalar(node: Node, what: What, wanted: Value, faults: Faults) -> Scalar | None:
    """Return the node if it is a single value that is not empty; None, and a fault that says what
    is ``wanted``, if not. Of one that refers to something missing nothing more is told."""
    if isinstance(node, Scalar) and node.void:
        return None
    if isinstance(node, Scalar) and not node.empty:
        return node
    if isinstance(node, Scalar):
        faults.at(node.place).said(
            "{name} must be {wanted}, and there is nothing", name=what, wanted=wanted
        )
    else:
        must_be(what, wanted, kind_of(node), node.place, faults)
    return None


def must_be(
    what: What, wanted: Value, given: What, place: Place, faults: Faults, hint: Phrase | None = None
) -> None:
    """Add the fault that ``what`` must be what is ``wanted`` at this place and not what is
    ``given``; the hint says what was probably meant."""
    faults.at(place).said(
        "{owner} must be {wanted}, not {given}", owner=what, wanted=wanted, given=given, hint=hint
    )


def too_many(what: What, most: int, count: int, place: Place, faults: Faults) -> None:
    """Add the fault that ``what`` has ``count`` entries, where at most ``most`` may be."""
    faults.at(place).said(
        "{name} has at most {most} entries, and this has {given}", name=what, most=most, given=count
    )


@dataclass(frozen=True, slots=True)
class Single(ABC):
    """A single value, of which the kinds below tell what it may be."""

    @property
    @abstractmethod
    def wanted(self) -> Value:
        """What fits, in words."""

    @abstractmethod
    def value(self, found: Scalar) -> Any | None:
        """Return what is written there; None where it does not fit."""

    @abstractmethod
    def plain_schema(self) -> Schema:
        """Return what fits as JSON Schema, without variables."""

    def why_not(self, _text: str) -> tuple[Value, Phrase | None]:
        """Return what is wanted instead of a text that does not fit, and what was meant."""
        return self.wanted, None

    def read(self, node: Node, what: What, faults: Faults) -> Any | None:
        """Return the value; None, and a fault, where there is none, it does not fit, or readers of
        YAML take it for different numbers. Of one that refers to something missing nothing more is
        told."""
        found = scalar(node, what, self.wanted, faults)
        if found is None or (isinstance(self, Whole | Amount) and ambiguous(found, what, faults)):
            return None
        value = self.value(found)
        if value is None:
            wanted, hint = self.why_not(found.text)
            must_be(what, wanted, shown(found.text), found.place, faults, hint)
        return value

    def schema(self, *, variables: bool = False) -> Schema:
        """Return what fits as JSON Schema. ``variables``: ``${name}`` may stand for it."""
        plain = self.plain_schema()
        return {"anyOf": [plain, VARIABLE_SCHEMA]} if variables else plain


@dataclass(frozen=True, slots=True)
class Text(Single):
    """Characters; ``pattern`` (and ``wanted``, the same in words) says which."""

    characters_max: int
    pattern: str = ""
    wanted: Phrase = A_TEXT
    empty: bool = False

    def value(self, found: Scalar) -> Word | None:
        fits = found.text and re.fullmatch(self.pattern or ".+", found.text, re.DOTALL)
        return Word.at(found.place, found.text) if fits else None

    def read(self, node: Node, what: What, faults: Faults) -> Any | None:
        """Return the text, which knows its place; None, and a fault, where it does not fit, is too
        long or no single value. An empty one in quotation marks fits only where ``empty`` says
        so."""
        if self.empty and isinstance(node, Scalar) and node.text == "" and not node.plain:
            return Word.at(node.place, "")
        if isinstance(node, Scalar) and len(node.text) > self.characters_max and not node.void:
            faults.at(node.place).said(
                "{name} has at most {most} characters, and this has {given}",
                name=what,
                most=self.characters_max,
                given=len(node.text),
            )
            return None
        return Single.read(self, node, what, faults)

    def schema(self, *, variables: bool = False) -> Schema:
        """Return what fits as JSON Schema; a text without a pattern may hold variables anyway."""
        return Single.schema(self, variables=variables and self.pattern != "")

    def plain_schema(self) -> Schema:
        told: Schema = {"type": ["string", "number", "boolean"], "maxLength": self.characters_max}
        told |= {} if self.empty else {"minLength": 1}
        return told | ({"pattern": rf"^(?:{self.pattern})$"} if self.pattern else {})


@dataclass(frozen=True, slots=True)
class Whole(Single):
    """A whole number."""

    least: int
    most: int

    @property
    def wanted(self) -> Value:
        return said("a whole number from {least} to {most}", least=self.least, most=self.most)

    def value(self, found: Scalar) -> int | None:
        if not _WHOLE.fullmatch(found.text) or len(found.text) > DIGITS_MAX:
            return None
        return int(found.text) if self.least <= int(found.text) <= self.most else None

    def plain_schema(self) -> Schema:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Flag(Single):
    """Yes or no; YAML of today has two words for it, older ones four more."""

    wanted = said("true or false")

    def value(self, found: Scalar) -> bool | None:
        return _FLAGS.get(found.text.lower())

    def plain_schema(self) -> Schema:
        return {"anyOf": [{"type": "boolean"}, {"enum": ["yes", "no", "on", "off"]}]}


@dataclass(frozen=True, slots=True)
class Choice(Single):
    """One of a few words, read in small letters."""

    words: tuple[str, ...]

    @property
    def wanted(self) -> Value:
        return self.words

    def value(self, found: Scalar) -> Word | None:
        word = found.text.lower()
        return Word.at(found.place, word) if word in self.words else None

    def why_not(self, text: str) -> tuple[Value, Phrase | None]:
        return self.words, near(text, self.words) if len(self.words) > 2 else None

    def plain_schema(self) -> Schema:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Amount(Single):
    """A number with a unit, read in the first one; ``units`` tell how many of that each is."""

    units: Map[str, float]
    most: float
    examples: tuple[str, ...]
    bare: bool = True

    @property
    def wanted(self) -> Value:
        return said("a number with a unit, like {ways}", ways=self.examples)

    def value(self, found: Scalar) -> float | None:
        amount = self._amount(found.text)
        return amount if amount is not None and 0 < amount <= self.most else None

    def why_not(self, text: str) -> tuple[Value, Phrase | None]:
        """Return what is wanted instead of this text: for an amount out of bounds the bounds, else
        how an amount is written, with a question after the unit that was probably meant, if any."""
        if self._amount(text) is not None:
            base = "MB" if "mb" in self.units else "s"
            return said("more than 0 and at most {most}", most=f"{self.most:,.0f} {base}"), None
        unit = _UNIT.search(text)
        word = unit[0].lower() if unit else ""
        return self.wanted, None if word in self.units else near(word, self.units)

    def _amount(self, text: str) -> float | None:
        if len(text) > 2 * DIGITS_MAX:
            return None
        if self.bare and _NUMBER.fullmatch(text):
            return float(text)
        found = _AMOUNT.fullmatch(text)
        factor = self.units.get(found[2].lower()) if found else None
        return None if found is None or factor is None else float(found[1]) * factor

    def plain_schema(self) -> Schema:
        """Return the JSON Schema of a number with a unit, or without one where ``bare`` allows it;
        the bounds hold only for the latter."""
        units = "|".join("".join(f"[{a}{a.upper()}]" for a in unit) for unit in self.units)
        text = {"type": "string", "pattern": rf"^([0-9]+(\.[0-9]*)?|\.[0-9]+) ?({units})$"}
        number = {"type": "number", "exclusiveMinimum": 0, "maximum": self.most}
        return {"anyOf": [number, text] if self.bare else [text]}


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


DURATION = Amount(SECONDS, 365 * 86_400.0, ("90 s", "5 min", "2 h"))
"""A length of time; a bare number is seconds."""
MEMORY = Amount(MEGABYTES, 1e9, ("500 MB", "2 GB"))
"""A number of bytes; a bare number is megabytes."""


@dataclass(frozen=True, slots=True)
class Several:
    """A list; one value alone stands for a list of one. ``once``: nothing in it is there twice."""

    kind: Kind
    most: int
    alone: bool = True
    once: bool = False

    def read(self, node: Node, what: What, faults: Faults) -> tuple[Any, ...] | None:
        """Return the values that could be read, with faults for the others; with ``once`` one that
        is repeated stays and is a fault. Nothing is an empty list, one value a list of one where
        ``alone`` allows it. None, and a fault, where it is no list or has more than ``most``."""
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
                faults.at(place).said("{name} is in {list} twice", name=shown(value), list=what)
        return tuple(values)

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of a list, and of one item where it may stand alone.
        ``variables``: ``${name}`` may stand for a single value."""
        item = self.kind.schema(variables=variables)
        several = {"type": "array", "items": item, "maxItems": self.most}
        return {"anyOf": [several, item]} if self.alone else several


@dataclass(frozen=True, slots=True)
class SeveralOrNone(Several):
    """A list, or the word ``none`` for an empty one."""

    def read(self, node: Node, what: What, faults: Faults) -> tuple[Any, ...] | None:
        """Return what ``Several`` reads, an empty list for the word ``none`` alone, and None, and
        no fault, where there is nothing."""
        if isinstance(node, Scalar) and node.empty:
            return None
        if isinstance(node, Scalar) and node.plain and node.text.lower() == NONE:
            return ()
        return Several.read(self, node, what, faults)

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of a list, of one item where it may stand alone, and of the
        word."""
        several = Several.schema(self, variables=variables)
        return {"anyOf": [*several.get("anyOf", (several,)), {"const": NONE}]}


@dataclass(frozen=True, slots=True)
class Either:
    """One kind for single values, one for mappings, one for lists, as far as given."""

    single: Kind | None = None
    mapping: Kind | None = None
    sequence: Kind | None = None

    def read(self, node: Node, what: What, faults: Faults) -> Any | None:
        """Return what the kind for this shape (single value, mapping or list) reads; None, and a
        fault, where there is no kind for it or that one finds it wrong."""
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
    """Tell whether this is a whole number with zeros in front or with underscores, which readers of
    YAML understand differently; then add a fault that says how to write it. ``what`` is empty where
    the author has no name for it."""
    text = found.text
    plain = text.replace("_", "")
    if _LEADING_ZERO.fullmatch(text):
        sign = "-" if text.startswith("-") else ""
        how = sign + (text.lstrip("+-0") or "0")
        wrong = said("{name} is octal to some readers: write {how}", name=text, how=how)
    elif "_" in text and _WHOLE.fullmatch(plain):
        wrong = said("write {how} instead of {given}", how=plain, given=shown(text))
    else:
        return False
    faults.add(found.place, said("{owner}: {fault}", owner=what, fault=wrong) if what else wrong)
    return True
