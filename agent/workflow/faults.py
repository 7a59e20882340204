"""What is wrong with a file that a person wrote: where, what, and what was probably meant.

A reader goes on after a fault, so that its author learns of all of them in one pass. Each is told
once however often it is met (a template that is unfolded a thousand times has one fault, not a
thousand), and there is an end to the list, because a file that is no workflow at all has a fault
in every line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from agent.api.phrases import Translate, worded
from agent.api.wording import near, parameters_fault
from agent.api.work import SUBMIT, Submit
from agent.protocol.names import fault_of_names
from agent.protocol.phrases import Phrase, Value, hinted, phrase, said

FAULTS_MAX = 100
LISTED_NAMES_MAX = 12
SHOWN_CHARACTERS_MAX = 60


class Place(NamedTuple):
    """Where something stands, both counted from 1. Line 0: the file as a whole."""

    line: int
    column: int


WHOLE_FILE = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, as a value; ``words`` makes a sentence of it."""

    file: str
    place: Place
    said: Phrase

    def words(self, translated: Translate = str) -> str:
        """Return what is wrong, in the language of a catalogue; without one, in English."""
        return worded(self.said, translated)

    def sentence(self, translated: Translate = str) -> str:
        """Return ``file:line:column: what is wrong``, which editors jump to, or ``file: …`` for one
        of the file as a whole; in the language of a catalogue, without one in English."""
        line, column = self.place
        where = f":{line}:{column}" if line else ""
        return f"{self.file}{where}: {self.words(translated)}"


@dataclass(slots=True)
class Faults:
    """The faults of one file, collected while it is read. True as soon as there is one."""

    file: str
    _found: dict[str, Fault] = field(default_factory=dict)
    _more: int = 0

    def at(self, place: Place) -> At:
        """Return what takes a fault at this place."""
        return At(self, place)

    def add(self, place: Place, wrong: Phrase, hint: Phrase | None = None) -> None:
        """Add what is wrong at a place; the hint says what was probably meant."""
        self.take(Fault(self.file, place, hinted(wrong, hint) if hint else wrong))

    def take(self, fault: Fault) -> None:
        """Add a fault, perhaps of another file. One with the same sentence changes nothing; beyond
        ``FAULTS_MAX`` faults are only counted, each time anew."""
        sentence = fault.sentence()
        if sentence in self._found:
            return
        if len(self._found) < FAULTS_MAX:
            self._found[sentence] = fault
        else:
            self._more += 1

    def listing(self) -> tuple[Fault, ...]:
        """Return the faults from the top of the file to its end, those of the file as a whole
        first. If more were found than are kept, a last one says how many more."""
        found = sorted(self._found.values(), key=lambda fault: fault.place)
        if self._more:
            more = said("and {count} more faults", count=self._more)
            found.append(Fault(self.file, WHOLE_FILE, more))
        return tuple(found)

    def hint(self, word: str, known: Iterable[str]) -> Phrase | None:
        """Return ``did you mean …?`` with the known names near this word; None when none is near,
        or when the list is full and the next fault will not be in it."""
        return None if len(self._found) >= FAULTS_MAX else near(word, known)

    def hint_or_all(self, word: str, known: Iterable[str]) -> Phrase | None:
        """Return the hint of ``hint``, else one that lists all known names; None when there are
        none or more than ``LISTED_NAMES_MAX``, or when the next fault will not be listed."""
        names = list(dict.fromkeys(known))
        hint = self.hint(word, names)
        if hint or len(self._found) >= FAULTS_MAX or not 0 < len(names) <= LISTED_NAMES_MAX:
            return hint
        return said("known: {names}", names=", ".join(names))

    def __bool__(self) -> bool:
        return bool(self._found)


class At(NamedTuple):
    """A place of a file that is read, and who collects what is wrong with it."""

    faults: Faults
    place: Place

    def said(self, template: str, /, *, hint: Phrase | None = None, **values: Value) -> None:
        """Add this as what is wrong here, a template with its values as ``said`` takes them; the
        hint says what was probably meant."""
        self.faults.add(self.place, phrase(template, values), hint)


class FaultsError(Exception):
    """A file that cannot be used, with all that is wrong with it."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(fault.sentence() for fault in self.faults))


def shown(text: str) -> str:
    """Return a text that somebody wrote, in quotation marks and on one line; what goes beyond
    ``SHOWN_CHARACTERS_MAX`` is cut and becomes an ellipsis."""
    flat = " ".join(text.split())
    if len(flat) > SHOWN_CHARACTERS_MAX:
        flat = flat[: SHOWN_CHARACTERS_MAX - 1] + "…"
    return f'"{flat}"'


def sendable(submit: Submit, faults: Faults) -> Submit | None:
    """Return the request as a node will read it, encoded and decoded once; None, and a fault of the
    file as a whole, where a node would refuse to read it, or a name in it."""
    wrong = fault_of_names((submit.name, *(each.id for each in submit.tasks)))
    if wrong is not None:
        faults.add(WHOLE_FILE, wrong)
        return None
    try:
        return SUBMIT.read_params.decode(msgspec.json.encode(submit))
    except UnicodeError as error:
        faults.at(WHOLE_FILE).said("cannot be sent as it is: {why}", why=str(error))
    except msgspec.MsgspecError as error:
        why = parameters_fault("", str(error)).removeprefix(": ")
        faults.at(WHOLE_FILE).said("cannot be sent as it is: {why}", why=why)
    return None
