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
Entities and document types are refused, because they can make a small file huge or reach for other
files (``xml_nodes``).
"""

from __future__ import annotations

from pathlib import Path

from agent.api.wording import near
from agent.protocol.phrases import Phrase, said
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.program_description import (
    DESCRIPTION_BYTES_MAX,
    ProgramDescription,
    ProgramInput,
)
from agent.workflow.program_yaml import wrong_name
from agent.workflow.xml_nodes import Element, read_xml
from agent.workflow.yaml_nodes import read_bytes

CHILDREN = {
    "task": ("name", "type", "inputs"),
    "inputs": ("input",),
    "input": ("other_task_type", "other_nth_output"),
}
"""Of elements without text; all others have a text and no children."""
NTH_MAX = 10_000


def read_program_xml(path: Path, faults: Faults) -> ProgramDescription | None:
    """Return the program that a file describes; None, and a fault, where it cannot be read, is too
    large, no XML, not a ``<task>``, or has no ``<name>``. All else that is wrong goes to the
    faults, beside the program."""
    data = read_bytes(path, faults, DESCRIPTION_BYTES_MAX)
    if data is None:
        return None
    if len(data) > DESCRIPTION_BYTES_MAX:
        limit = DESCRIPTION_BYTES_MAX // 1024
        faults.at(Place(1, 1)).said("is larger than {kB} kB, so it is not read", kB=limit)
        return None
    task = read_xml(data, faults)
    if task is None:
        return None
    if task.name != "task":
        hint = _known(task.name, ("task",))
        faults.at(task.place).said("<{name}> has no place at the top", name=task.name, hint=hint)
        return None
    _check(task, faults)
    name = task.text_of("name")
    if not name:
        faults.at(task.place).said("<name> is missing: the program's name, which its file has too")
        return None
    if reason := wrong_name(name):
        faults.add(task.named("name")[0].place, reason)
    return ProgramDescription(
        name=name,
        command=(name,),
        file=str(path),
        kind=task.text_of("type"),
        inputs=_inputs(task, faults),
    )


def _check(element: Element, faults: Faults) -> None:
    """Add a fault for all that does not belong; of what is inside of that nothing is told."""
    known = CHILDREN.get(element.name, ())
    single: set[str] = set()
    for child in element.children:
        if child.name not in known:
            faults.at(child.place).said(
                "<{name}> has no place inside <{other}>",
                name=child.name,
                other=element.name,
                hint=_known(child.name, known),
            )
            continue
        if child.name in single and child.name != "input":
            faults.at(child.place).said("<{name}> is given twice", name=child.name)
        single.add(child.name)
        _check(child, faults)
    if known and element.text_at is not None:
        text = element.text.strip()
        faults.at(element.text_at).said("the text {given} has no place here", given=shown(text))


def _known(name: str, known: tuple[str, ...]) -> Phrase | None:
    every = tuple(f"<{each}>" for each in known)
    return near(name, known) or (said("{names} can stand there", names=every) if known else None)


def _inputs(task: Element, faults: Faults) -> tuple[ProgramInput, ...]:
    found = []
    for each in (one for inputs in task.named("inputs")[:1] for one in inputs.named("input")):
        producer, nth = each.text_of("other_task_type"), each.text_of("other_nth_output")
        if not producer or not each.named("other_nth_output"):
            faults.at(each.place).said("an input needs <other_task_type> and <other_nth_output>")
        elif not (nth.isascii() and nth.isdigit() and 0 < int(nth[:9]) <= NTH_MAX):
            faults.at(each.named("other_nth_output")[0].place).said(
                "which output it is has to be a number from 1, not {given}", given=shown(nth)
            )
        else:
            found.append(ProgramInput(f"{producer}/{nth}", producer, int(nth)))
    return tuple(found)
