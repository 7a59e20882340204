"""What is wrong with a file that a person wrote: where, what, and what was probably meant.

A reader goes on after a fault, so that its author learns of all of them in one pass. Each is told
once however often it is met (a template that is unfolded a thousand times has one fault, not a
thousand), and there is an end to the list, because a file that is no workflow at all has a fault
in every line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from agent.api.wording import parameters_fault, published_as
from agent.api.work import Submit

FAULTS_MAX = 100
NEAR_NAMES_MAX = 3
LISTED_NAMES_MAX = 12
NEAR_AMONG_MAX = 2_000
WORD_CHARACTERS_MAX = 256
SHOWN_CHARACTERS_MAX = 60


class Place(NamedTuple):
    """Where something stands, both counted from 1. Line 0: the file as a whole."""

    line: int
    column: int


WHOLE_FILE = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong."""

    file: str
    line: int
    column: int
    text: str

    def sentence(self) -> str:
        """As compilers write it, so that editors jump to the place."""
        where = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.file}{where}: {self.text}"


@dataclass(slots=True)
class Faults:
    """The faults of one file, collected while it is read. True as soon as there is one."""

    file: str
    _found: dict[Fault, None] = field(default_factory=dict)
    _more: int = 0

    def add(self, place: Place, text: str) -> None:
        """Something is wrong there."""
        self.take(Fault(self.file, place.line, place.column, text))

    def take(self, fault: Fault) -> None:
        """A fault of another file that this one needs."""
        if fault in self._found:
            return
        if len(self._found) < FAULTS_MAX:
            self._found[fault] = None
        else:
            self._more += 1

    def listing(self) -> tuple[Fault, ...]:
        """All of them, from the top of the file to its end."""
        found = sorted(self._found, key=lambda fault: (fault.line, fault.column))
        if self._more:
            found.append(Fault(self.file, 0, 0, f"and {self._more} more faults"))
        return tuple(found)

    def hint(self, word: str, known: Iterable[str]) -> str:
        """``; did you mean this?`` for the next fault; nothing when it will not be listed."""
        return "" if len(self._found) >= FAULTS_MAX else meant(word, known)

    def hint_or_all(self, word: str, known: Iterable[str]) -> str:
        """The same; when nothing is near, all there is, if that is not much."""
        return "" if len(self._found) >= FAULTS_MAX else meant_or_all(word, known)

    def __bool__(self) -> bool:
        return bool(self._found)


class FaultsError(Exception):
    """A file that cannot be used, with all that is wrong with it."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(fault.sentence() for fault in self.faults))


def meant(word: str, known: Iterable[str]) -> str:
    """``; did you mean this?`` with the nearest names; empty when nothing is near."""
    names = sorted(set(known))
    if len(names) > NEAR_AMONG_MAX:
        names = [name for name in names if abs(len(name) - len(word)) <= 1][:NEAR_AMONG_MAX]
    near = published_as(word, names)[:NEAR_NAMES_MAX] or difflib.get_close_matches(
        word[:WORD_CHARACTERS_MAX], names, NEAR_NAMES_MAX
    )
    return f"; did you mean {either(near)}?" if near else ""


def meant_or_all(word: str, known: Iterable[str]) -> str:
    """The same; when nothing is near, all there is, if that is not much."""
    names = list(dict.fromkeys(known))
    if hint := meant(word, names):
        return hint
    return f"; known: {', '.join(names)}" if 0 < len(names) <= LISTED_NAMES_MAX else ""


def decapitalized(sentence: str) -> str:
    """As a part of another sentence."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def either(words: Iterable[str]) -> str:
    """``a, b or c``"""
    *first, last = [*words] or [""]
    return f"{', '.join(first)} or {last}" if first else last


def shown(text: str) -> str:
    """Something that was written, in quotes, on one line and not too long."""
    flat = " ".join(text.split())
    if len(flat) > SHOWN_CHARACTERS_MAX:
        flat = flat[: SHOWN_CHARACTERS_MAX - 1] + "…"
    return f'"{flat}"'


def accepted(submit: Submit, faults: Faults) -> Submit | None:
    """The request as a node will read it; a fault where it would refuse to."""
    try:
        return msgspec.json.decode(msgspec.json.encode(submit), type=Submit)
    except UnicodeError as error:
        faults.add(WHOLE_FILE, f"cannot be sent as it is: {error}")
    except msgspec.MsgspecError as error:
        faults.add(WHOLE_FILE, parameters_fault("cannot be sent as it is", str(error)))
    return None
