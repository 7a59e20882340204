"""XML as a tree of what was written and where.

A document that declares a type, an entity or an instruction is refused before anything is read
from it, so nothing outside the file is looked at and nothing inside it grows. Size, depth and
number of elements are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from agent.protocol.phrases import Phrase, said
from agent.workflow.faults import Faults, Place, shown

XML_BYTES_MAX = 16 * 1024 * 1024
ELEMENTS_MAX = 500_000
DEPTH_MAX = 40


@dataclass(slots=True)
class Element:
    """An element with its attributes and what is in it."""

    name: str
    place: Place
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    text_at: Place | None = None
    """Where its text begins, if it has any."""

    @property
    def text(self) -> str:
        """The text that stands directly in the element."""
        return "".join(self.parts)

    def named(self, name: str) -> list[Element]:
        """Return the children of that name."""
        return [child for child in self.children if child.name == name]

    def text_of(self, name: str) -> str:
        """Return the text of the first child of that name, in one line; empty without one."""
        return " ".join(next((each.text for each in self.named(name)), "").split())


class _StopError(Exception):
    """There is no use in going on; the fault is told."""


class _Builder:
    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0
        parser = self._parser = expat.ParserCreate()
        parser.ordered_attributes = False
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def parse(self, data: bytes) -> None:
        """Build the tree of a whole document."""
        self._parser.Parse(data, True)

    def place(self) -> Place:
        """Return where the parser is."""
        return Place(self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)

    def _stop(self, wrong: Phrase) -> None:
        self._faults.add(self.place(), wrong)
        raise _StopError

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > ELEMENTS_MAX:
            self._stop(said("there are more than {most} elements", most=ELEMENTS_MAX))
        if len(self._open) >= DEPTH_MAX:
            self._stop(said("is nested more than {most} levels deep", most=DEPTH_MAX))
        element = Element(name, self.place(), attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, name: str) -> None:  # noqa: ARG002
        self._open.pop()

    def _characters(self, text: str) -> None:
        element = self._open[-1]
        element.parts.append(text)
        if text.strip() and element.text_at is None:
            element.text_at = self.place()

    def _doctype(self, *_: object) -> None:
        self._stop(said("a document type is not allowed here: remove <!DOCTYPE …>"))

    def _entity(self, *_: object) -> None:
        self._stop(said("entities are not allowed here: write their text"))


def read_xml(data: bytes, faults: Faults) -> Element | None:
    """Return the root of a document; None, and one fault, where it is no XML, too large, too deep,
    has too many elements, or declares a document type or an entity."""
    if len(data) > XML_BYTES_MAX:
        limit = XML_BYTES_MAX // 1024
        faults.at(Place(1, 1)).said("is larger than {kB} kB, so it is not read", kB=limit)
        return None
    builder = _Builder(faults)
    try:
        builder.parse(data)
    except _StopError:
        return None
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code) or "not well-formed"
        place = Place(error.lineno, error.offset + 1)
        faults.at(place).said("this is not XML: {why}", why=why)
        return None
    except (ValueError, LookupError) as error:
        faults.at(Place(1, 1)).said("this is not XML: {why}", why=shown(str(error)))
        return None
    return builder.root
