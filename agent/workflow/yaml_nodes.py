"""YAML as a tree of what was written and where, and nothing guessed.

The reader of a field knows whether it wants a text or a number, so no scalar has a type here: a
task called ``no`` and a version called ``1.10`` stay what their author wrote. Every node keeps its
line and column. Aliases and merge keys (``<<``) work; what could make a small file huge or a
reader dizzy is bounded: bytes, depth, and nodes with all aliases written out.

    faults = Faults("survey.wingbeat.yaml")
    node = read_yaml(data, faults)        # None when there is nothing to read
    node = read_yaml_file(path, faults)   # the same for a file, a missing one is a fault

What the YAML library says of a file that is no YAML becomes words of somebody who wrote one. The two
parsers of the library (C and Python) word the same fault differently, so the slower one is
asked again for files of a usual size: one wording whatever is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from agent.protocol.phrases import Phrase, said
from agent.regular_files import open_regular
from agent.workflow.faults import WHOLE_FILE, Faults, Place, shown

FILE_BYTES_MAX = 16 * 1024 * 1024
DEPTH_MAX = 40
NODES_MAX = 2_000_000

_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_TEXT_TAG = "tag:yaml.org,2002:str"
_MERGE = "<<"
_ASKED_AGAIN_CHARACTERS_MAX = 256 * 1024
_WORDS = (
    ("found character '\\t'", said("a tab cannot indent here: use spaces")),
    ("found a tab character", said("a tab cannot indent here: use spaces")),
    (
        "mapping values are not allowed",
        said("a ':' has no place here: quote the text or indent the key"),
    ),
    (
        "could not find expected ':'",
        said("':' is missing after the key, or a line is not indented"),
    ),
    ("but found '<block mapping start>'", said("the indentation does not fit the lines above")),
    ("but found '<block sequence start>'", said("the indentation does not fit the lines above")),
    ("expected <block end>", said("the indentation or a quote does not fit the lines above")),
    ("expected ',' or ']'", said("a ',' or ']' is missing in the list that begins in line {line}")),
    (
        "expected ',' or '}'",
        said("a ',' or '}}' is missing in the mapping that begins in line {line}"),
    ),
    ("found unexpected end of stream", said("the quote that opens in line {line} is never closed")),
    ("document separator", said("the quote that opens in line {line} is never closed")),
    (
        "found unknown escape character",
        said("there is no such escape: use single quotes or a double \\"),
    ),
    (
        "cannot start any token",
        said("a text cannot begin with this character: put quotes around it"),
    ),
    (
        "alphabetic or numeric character",
        said("after '&' or '*' comes a name: quote a text that has one"),
    ),
    ("undefined tag handle", said("a '!' begins a tag: quote a text that has one")),
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value. ``plain``: without quotes and no block of text, so it may be a number.

    ``void``: it refers to something that is not there, which was told; nothing more is to be said
    of it.
    """

    place: Place
    text: str
    plain: bool = True
    void: bool = False
    size = 1

    @property
    def empty(self) -> bool:
        """Whether nothing was given: ``key:`` or ``key: ~`` or ``key: null``."""
        return self.plain and self.text in {"", "~", "null", "Null", "NULL"}


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    place: Place
    items: tuple[Node, ...]
    size: int = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in the order in which they were written; no key twice."""

    place: Place
    entries: tuple[Entry, ...]
    size: int = 1

    def get(self, name: str) -> Node | None:
        """Return the value of that key, or None."""
        return next((entry.value for entry in self.entries if entry.key.text == name), None)


Node: TypeAlias = Scalar | Sequence | Mapping


def kind_of(node: Node) -> str | Phrase:
    """Return what a node is, for a sentence: a text in quotation marks, "nothing" for a value that
    is empty, "a list" or "a mapping"."""
    match node:
        case Scalar():
            return said("nothing") if node.empty else shown(node.text)
        case Sequence():
            return said("a list")
        case Mapping():
            return said("a mapping")


def read_yaml_file(path: Path, faults: Faults, bytes_max: int = FILE_BYTES_MAX) -> Node | None:
    """Return the one document of a file as a tree; None, and at least one fault, where the file
    cannot be read, is larger than ``bytes_max`` or holds no such document. A tree may have faults
    too."""
    data = read_bytes(path, faults, bytes_max)
    return None if data is None else read_yaml(data, faults, bytes_max)


def read_bytes(path: Path, faults: Faults, bytes_max: int = FILE_BYTES_MAX) -> bytes | None:
    """Return what is in a file; of one that is larger than ``bytes_max`` one byte more than that,
    without a fault. None, and a fault, where it cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(bytes_max + 1)
    except OSError as error:
        missing = said("cannot be read: it is not there")
        why = error.strerror
        faults.add(WHOLE_FILE, said("cannot be read: {why}", why=why) if why else missing)
    except ValueError:
        faults.at(WHOLE_FILE).said("cannot be read: its name is none that a file can have")
    return None


def read_yaml(data: bytes, faults: Faults, bytes_max: int = FILE_BYTES_MAX) -> Node | None:
    """Return the one document in these bytes as a tree; None, and at least one fault, where they
    are more than ``bytes_max``, no text, no YAML, empty, several documents, or nested too deep. A
    tree may come with faults too, such as of a key that is given twice."""
    if len(data) > bytes_max:
        faults.at(WHOLE_FILE).said(
            "is larger than {kB} kB, so it is not read", kB=bytes_max // 1024
        )
        return None
    text = decode(data, faults)
    if text is None:
        return None
    try:
        return _Composer(text, faults).document()
    except yaml.YAMLError as error:
        syntax_fault(text, error, faults)
    except _StopError:
        pass
    return None


def decode(data: bytes, faults: Faults) -> str | None:
    """Return the text of a file, which is UTF-8, or UTF-16 if it begins with the mark of Windows;
    None, and a fault at the place, where it is neither or holds a character that YAML does not
    allow."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        good = data[: error.start].decode(encoding, "ignore")
        faults.at(place_at(good, len(good))).said(
            "is not UTF-8 text from here on: save it as UTF-8"
        )
        return None
    strange = _UNPRINTABLE.search(text)
    if strange:
        faults.at(place_at(text, strange.start())).said(
            "the character U+{code} has no place here", code=f"{ord(strange[0]):04X}"
        )
        return None
    return text


def place_at(text: str, index: int) -> Place:
    """Return the line and column, both from 1, of the character of a text at this index."""
    lines = text[:index].splitlines() or [""]
    if text[:index].endswith(("\n", "\r")):
        lines.append("")
    return Place(len(lines), len(lines[-1]) + 1)


class _StopError(Exception):
    """There is no use in going on; the fault is told."""


class _Composer:
    """Builds the tree from events, because the library's own composer has no bounds."""

    def __init__(self, text: str, faults: Faults) -> None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._events: Iterator[Any] = _events(loader(text))
        self._faults = faults
        self._anchors: dict[str, Node | None] = {}
        self._depth = self._nodes = 0

    def document(self) -> Node | None:
        """Return the only document; None, and a fault, where there is nothing or a second one.
        Raise ``YAMLError`` where it is no YAML, and ``_StopError``, after a fault, where a limit is
        passed or an alias means nothing."""
        found: Node | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if found is not None:
                    place = _place(event)
                    self._faults.at(place).said("a second document starts here: make it a file")
                    return None
                found = self._node(next(self._events))
        if found is None or (isinstance(found, Scalar) and found.empty):
            self._faults.at(Place(1, 1)).said("there is nothing in this file")
            return None
        return found

    def _node(self, event: Any) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        node = self._written(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _written(self, event: Any) -> Node:
        self._count(event, 1)
        place = _place(event)
        if event.tag is not None and event.tag not in ("!", _TEXT_TAG):
            self._faults.at(place).said(
                "the tag {name} means nothing here: leave it away", name=shown(event.tag)
            )
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(place, event.value, event.style in (None, "") and event.tag is None)
        self._depth += 1
        if self._depth > DEPTH_MAX:
            self._faults.at(place).said("is nested more than {most} levels deep", most=DEPTH_MAX)
            raise _StopError
        sequence = isinstance(event, yaml.SequenceStartEvent)
        node = self._sequence(place) if sequence else self._mapping(place)
        self._depth -= 1
        return node

    def _count(self, event: Any, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > NODES_MAX:
            self._faults.at(_place(event)).said(
                "more than {most} values, all aliases counted", most=f"{NODES_MAX:,}"
            )
            raise _StopError

    def _aliased(self, event: Any) -> Node:
        node = self._anchors.get(event.anchor)
        if node is None:
            wrong = said("*{name} is defined nowhere above", name=event.anchor)
            if event.anchor in self._anchors:
                wrong = said("*{name} contains itself", name=event.anchor)
            self._faults.add(_place(event), wrong)
            raise _StopError
        self._count(event, node.size)
        return node

    def _sequence(self, place: Place) -> Sequence:
        before = self._nodes
        items: list[Node] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event))
        return Sequence(place, tuple(items), self._nodes - before + 1)

    def _mapping(self, place: Place) -> Mapping:
        before = self._nodes
        entries: dict[str, Entry] = {}
        merged: list[Node] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event)
            value = self._node(next(self._events))
            if isinstance(key, Scalar) and key.plain and key.text == _MERGE:
                merged += value.items if isinstance(value, Sequence) else [value]
            elif isinstance(key, Scalar):
                self._enter(entries, Entry(key, value))
            else:
                self._faults.at(key.place).said(
                    "a key must be a single word, not {given}", given=kind_of(key)
                )
        for each in merged:
            self._merge(entries, each)
        return Mapping(place, tuple(entries.values()), self._nodes - before + 1)

    def _enter(self, entries: dict[str, Entry], entry: Entry) -> None:
        key = entry.key
        first = entries.setdefault(key.text, entry)
        if first is not entry:
            line = first.key.place.line
            self._faults.at(key.place).said(
                "{name} is given twice, the first time in line {line}",
                name=shown(key.text),
                line=line,
            )

    def _merge(self, entries: dict[str, Entry], node: Node) -> None:
        if not isinstance(node, Mapping):
            self._faults.at(node.place).said("<< takes a mapping, not {given}", given=kind_of(node))
            return
        for entry in node.entries:
            entries.setdefault(entry.key.text, entry)


def _events(loader: Any) -> Iterator[Any]:
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _place(event: Any) -> Place:
    return Place(event.start_mark.line + 1, event.start_mark.column + 1)


# The first that fits counts: what the library says, and what to do about it.


def syntax_fault(text: str, error: yaml.YAMLError, faults: Faults) -> None:
    """Add one fault that says where and why a text is no YAML, in words for its author; in the
    library's where there are none for it. A text of usual size is parsed once more to find them."""
    told = _python_error(text) or error
    problem = str(getattr(told, "problem", None) or told)
    place = _marked(getattr(told, "problem_mark", None), text)
    line = _line(getattr(told, "context_mark", None)) or place.line
    lines = text.splitlines()
    if "'}'" in problem and "${" in lines[min(place.line, len(lines)) - 1]:
        faults.at(place).said(
            "between {{ and }} a variable needs quotes, like {name}", name='"${name}"'
        )
        return
    for part, words in _WORDS:
        if part in problem:
            faults.add(place, Phrase(words.template, {"line": line}))
            return
    faults.at(place).said("this is not YAML: {why}", why=" ".join(problem.split()))


def _python_error(text: str) -> yaml.YAMLError | None:
    if len(text) > _ASKED_AGAIN_CHARACTERS_MAX:
        return None
    try:
        for _event in yaml.parse(text, yaml.SafeLoader):
            pass
    except yaml.YAMLError as error:
        return error
    return None


def _marked(mark: Any, text: str) -> Place:
    if mark is None:
        return Place(1, 1)
    line, column = mark.line + 1, mark.column + 1
    if column == 1 and mark.line and not text.splitlines()[mark.line :]:
        lines = text.splitlines()
        return Place(len(lines), len(lines[-1]) + 1) if lines else Place(1, 1)
    return Place(line, column)


def _line(mark: Any) -> int:
    return 0 if mark is None else int(mark.line) + 1
