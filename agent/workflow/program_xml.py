"""``program.xml``: the task description file that folders of older installations have.

    <task>
      <name>segmentation</name>
      <type>segmentation</type>
      <inputs>
        <input>
          <other_task_type>import</other_task_type>
          <other_nth_output>1</other_nth_output>
        </input>
      </inputs>
    </task>

It names no command: what is executed is the file of the program's name, beside the description.
It is read as a stream of events with their places. Entities and document types are refused, because
they can make a small file huge or reach for other files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from agent.api.wording import near
from agent.protocol.phrases import said
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.program_description import (
    DESCRIPTION_BYTES_MAX,
    ProgramDescription,
    ProgramInput,
)
from agent.workflow.program_yaml import wrong_name
from agent.workflow.yaml_nodes import read_bytes

CHILDREN = {
    "": ("task",),
    "task": ("name", "type", "inputs"),
    "inputs": ("input",),
    "input": ("other_task_type", "other_nth_output"),
}
TEXTS = ("name", "type", "other_task_type", "other_nth_output")
NTH_MAX = 10_000


@dataclass(slots=True)
class _Element:
    name: str
    place: Place
    text: str = ""
    children: list[_Element] = field(default_factory=list)

    def child(self, name: str) -> _Element | None:
        return next((each for each in self.children if each.name == name), None)


def read_program_xml(path: Path, faults: Faults) -> ProgramDescription | None:
    """Return the program that a file describes; None where it cannot be read. Whatever is wrong
    goes to the faults."""
    data = read_bytes(path, faults, DESCRIPTION_BYTES_MAX)
    if data is None:
        return None
    if len(data) > DESCRIPTION_BYTES_MAX:
        limit = DESCRIPTION_BYTES_MAX // 1024
        faults.add(Place(1, 1), said("is larger than {kB} kB, so it is not read", kB=limit))
        return None
    task = _Reader(faults).read(data)
    if task is None:
        return None
    name = task.child("name")
    if name is None or not name.text:
        faults.add(
            task.place, said("<name> is missing: the program's name, which its file has too")
        )
        return None
    if reason := wrong_name(name.text):
        faults.add(name.place, reason)
    kind = task.child("type")
    return ProgramDescription(
        name=name.text,
        command=(name.text,),
        file=str(path),
        command_at=name.place,
        kind=kind.text if kind is not None else "",
        inputs=_inputs(task, faults),
    )


class _Reader:
    """Builds the few elements that there are, and says what does not belong."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._parser = parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype
        self._open = [_Element("", Place(1, 1))]
        self._ignored = 0

    def read(self, data: bytes) -> _Element | None:
        """Return the element ``task``; None, and a fault, where the data is no XML."""
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            self._faults.add(
                Place(error.lineno, error.offset + 1), said("this is not XML: {why}", why=reason)
            )
            return None
        except _StopError:
            return None
        return self._open[0].child("task")

    def _place(self) -> Place:
        return Place(self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        parent = self._open[-1]
        known = CHILDREN.get(parent.name, ())
        if self._ignored or name not in known:
            if not self._ignored:
                self._stray(name, parent, known)
            self._ignored += 1
            return
        if parent.child(name) is not None and name != "input":
            self._faults.add(self._place(), said("<{name}> is given twice", name=name))
        element = _Element(name, self._place())
        parent.children.append(element)
        self._open.append(element)

    def _stray(self, name: str, parent: _Element, known: tuple[str, ...]) -> None:
        stray = said("<{name}> has no place inside <{other}>", name=name, other=parent.name)
        if not parent.name:
            stray = said("<{name}> has no place at the top", name=name)
        hint = near(name, known)
        if not hint and known:
            hint = said("{names} can stand there", names=tuple(f"<{each}>" for each in known))
        self._faults.add(self._place(), stray, hint)

    def _end(self, _name: str) -> None:
        if self._ignored:
            self._ignored -= 1
            return
        element = self._open.pop()
        element.text = " ".join(element.text.split())

    def _text(self, data: str) -> None:
        if self._ignored:
            return
        element = self._open[-1]
        if element.name in TEXTS:
            element.text += data
        elif data.strip():
            self._faults.add(
                self._place(), said("the text {given} has no place here", given=shown(data))
            )

    def _doctype(self, *_declared: object) -> None:
        self._faults.add(self._place(), said("a document type has no place here: remove it"))
        raise _StopError


class _StopError(Exception):
    """There is no use in going on; the fault is told."""


def _inputs(task: _Element, faults: Faults) -> tuple[ProgramInput, ...]:
    inputs = task.child("inputs")
    found = []
    for each in inputs.children if inputs is not None else ():
        producer, nth = each.child("other_task_type"), each.child("other_nth_output")
        if producer is None or nth is None or not producer.text:
            faults.add(each.place, said("an input needs <other_task_type> and <other_nth_output>"))
            continue
        if not (nth.text.isascii() and nth.text.isdigit() and 0 < int(nth.text[:9]) <= NTH_MAX):
            wrong = said(
                "which output it is has to be a number from 1, not {given}", given=shown(nth.text)
            )
            faults.add(nth.place, wrong)
            continue
        found.append(ProgramInput(f"{producer.text}/{nth.text}", producer.text, int(nth.text)))
    return tuple(found)
