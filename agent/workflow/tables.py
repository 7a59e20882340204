"""What a workflow file may contain, in tables: the reader checks by them, the schema tells them.

    # yaml-language-server: $schema=…/agent/workflow/workflow.schema.json
    name: line ${line}                  # default: the file's name
    priority: low                       # or interactive, or 0 to 100
    deliver: ~/lines/{name}             # a folder of this computer, for what the last tasks make
    variables:                          # ${line}; given with --set line=42
      line: {type: whole, says: the number of the line}
      mode: {choices: [fast, exact], default: fast}
      bands: [red, green]               # a default alone says the type
      checks: {choices: [all, none], default: all}
    programs:                           # beside this file, published with it
      count: count.sh
      merge: {run: merge.py, outputs: [all.las], expected: 2 min}
    defaults: {retries: 2, limits: {wall: 1 h}}
    tasks:
      import:
        program: import
        data: [scan.las, tiles/*.las, "id:DB-12"]
        parameters: {mode: "${mode}", bands: "${bands}"}    # JSON; parameters_as: xml, arguments
        requirements: {memory: 2 GB, tags: [gpu], programs: [acme >= 3], seats: {acme: 3}}
        expected: 5 min
        priority: interactive           # its own, in the place of the workflow's
        once: true                      # no second copy beside it, though a machine stands idle
      segment:
        program: segment
        for_each: {tile: tiles/*.las}   # or a list, {from: 1, to: 9}, {lines: names.txt}
        data: ${tile}                   # ${tile.name} ${tile.stem} ${tile.number}
      detect:
        program: detect
        for_each: segment               # along with segment: the same tiles
        inputs: [segment, import/0]     # this tile's; outputs by number from 0 or by name
      merge: {program: merge, inputs: [detect/*, look/corrected], after: [import]}
    gates:
      look:
        asks: Check the points
        attach: [corrected, "notes?"]   # ? may be left open: tasks are given nothing for it then
        inputs: [import/0]
        asked: "${checks}"              # --set checks=none leaves it out: nothing is attached then;
                                        # so does a task that is there for this gate alone

Limits are those of the client contract where it has one, so that what is accepted here is accepted
by a node too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from agent.api.values import NAME_CHARACTERS_MAX, Requirements, Seat
from agent.api.work import ATTACHED_MAX
from agent.protocol.needs import NEEDED_MAX, SEATS_MAX, VERSION_NEED
from agent.protocol.phrases import said
from agent.workflow.faults import Faults
from agent.workflow.kinds import (
    DURATION,
    MEMORY,
    Choice,
    Either,
    Flag,
    Kind,
    Schema,
    Several,
    SeveralOrNone,
    Text,
    What,
    Whole,
)
from agent.workflow.records import Field, Named, Record, Values
from agent.workflow.variables import NAME, NAME_WANTED, VARIABLES
from agent.workflow.yaml_nodes import Node

TASK_CHARACTERS_MAX = 80
"""Shorter than the contract's 128, because a fan-out adds a word to each task's name."""
SHORT_CHARACTERS_MAX = 256
PARAMETERS_CHARACTERS_MAX = 65_536
PATH_CHARACTERS_MAX = 4_096
TASKS_MAX = 100_000
LINKS_MAX = 1_000_000
"""All inputs, data and waits of all tasks together."""
LIST_MAX = 100_000
PROGRAMS_MAX = 1_000
OUTPUT_MAX = 9_999
RETRIES_MAX = 99
ITEMS_MAX = 100_000
FAN_VARIABLES_MAX = 4

TASK_NAME = r"[^/*$\s{}](?:[^/*$\n\r{}]*[^/*$\s{}])?"
TASK_NAME_WANTED = said(
    "at most {most} characters, none of them {signs}", most=TASK_CHARACTERS_MAX, signs="/ * $ { }"
)
ASKED = ("all", "yes", "none", "no")
NOT_ASKED = ("none", "no")
FORMATS = ("json", "xml", "arguments")
SYSTEMS = ("linux", "windows", "macos")


@dataclass(frozen=True, slots=True)
class Later:
    """A place that is read when more is known; editors are told of its kind at once, if it has one."""

    kind: Kind | None = None

    def read(self, node: Node, what: What, faults: Faults) -> Node | None:  # noqa: ARG002
        """Return the node itself, to be read later."""
        return node

    def schema(self, *, variables: bool = False) -> Schema:
        """Return the JSON Schema of the kind that it is read as later; without one, anything
        fits."""
        return {} if self.kind is None else self.kind.schema(variables=variables)


SHORT = Text(SHORT_CHARACTERS_MAX)
PATH = Text(PATH_CHARACTERS_MAX)
TASK = Text(TASK_CHARACTERS_MAX + NAME_CHARACTERS_MAX)

PRIORITY = Text(11, r"low|interactive|[0-9]|[1-9][0-9]|100", said("low, interactive or 0 to 100"))

PROGRAM_NEED = Text(
    SHORT_CHARACTERS_MAX, VERSION_NEED, said("a program and its version, like acme >= 3")
)
SEAT_NAME = r"[^/*$\s{}](?:[^/*$\n\r{}]*[^/*$\s{}])?"
SEAT_NAME_WANTED = said("a name without any of {signs}", signs="/ * $ { }")
REQUIREMENTS = Record(
    "requirements",
    (
        Field("system", Choice(SYSTEMS), "The operating system."),
        Field("architecture", SHORT, "The processor, such as x86_64 or arm64."),
        Field("memory", MEMORY, "Memory that the machine must have; a bare number is MB."),
        Field("disk", MEMORY, "Free space that the machine must have; a bare number is MB."),
        Field("cores", Whole(1, 1_024), "Processor cores that the machine must have."),
        Field("tags", Several(SHORT, 32), "Tags that its owner must have given the machine."),
        Field(
            "programs",
            Several(PROGRAM_NEED, NEEDED_MAX),
            "Programs that it must have, by their versions: acme >= 3.",
        ),
        Field(
            "seats",
            Named(SEAT_NAME, SEAT_NAME_WANTED, Whole(1, SEATS_MAX), NEEDED_MAX),
            "What the flock has only so many of, as licences: {acme: 3} is three runs at once.",
        ),
    ),
)
LIMITS = Record(
    "limits",
    (
        Field("memory", MEMORY, "Memory that it may take; a bare number is MB."),
        Field("disk", MEMORY, "Space that it may take; a bare number is MB."),
        Field("wall", DURATION, "Time that it may take; a bare number is seconds."),
        Field("silent", DURATION, "Time that it may say nothing; a bare number is seconds."),
    ),
)
INPUT = Record(
    said("an input"),
    (
        Field(
            "task",
            TASK,
            "The task whose output it is.",
            said("{owner} needs task: the task whose output it is"),
        ),
        Field("output", SHORT, "Which one: its number from 0, or its name."),
        Field("workflow", Text(NAME_CHARACTERS_MAX), "The workflow of that task, if another."),
    ),
)
DATUM = Record(
    "data",
    (
        Field("id", SHORT, "An identifier of somebody's own database, passed on as it is."),
        Field("file", PATH, "A file or folder, from the folder of the workflow file."),
    ),
)
FAN_SOURCE = Record(
    "for_each",
    (
        Field("from", Whole(-(10**9), 10**9), "The first of a range of numbers."),
        Field("to", Whole(-(10**9), 10**9), "The last of a range of numbers."),
        Field("lines", PATH, "A text file: once for each line that is not empty."),
    ),
)
FOR_EACH = Either(
    single=TASK,
    mapping=Named(
        NAME,
        NAME_WANTED,
        Either(
            single=PATH,
            sequence=Several(Text(PATH_CHARACTERS_MAX), ITEMS_MAX),
            mapping=FAN_SOURCE,
        ),
        FAN_VARIABLES_MAX,
    ),
)

SHARED = (
    Field("requirements", REQUIREMENTS, "What a machine must have to run it."),
    Field("limits", LIMITS, "What it may take before it is ended."),
    Field("once", Flag(), "Whether it must not run on two machines at once, to be done sooner."),
    Field("retries", Whole(0, RETRIES_MAX), "How often it is tried again; 2 if nothing is said."),
    Field("expected", DURATION, "How long it usually takes; a bare number is seconds."),
    Field("parameters_as", Choice(FORMATS), "What parameters of several values become."),
)
NEEDS = (
    Field(
        "inputs",
        Several(Either(single=TASK, mapping=INPUT), LIST_MAX),
        "Outputs of other tasks: task, task/output, or task/* for all of a fan-out.",
    ),
    Field("after", Several(TASK, LIST_MAX), "Tasks that have to be finished first."),
    Field("for_each", FOR_EACH, "Once for each value, file, or run of another fan-out."),
)
TASK_RECORD = Record(
    said("a task"),
    (
        Field("program", SHORT, "What it runs; needed, unless the defaults say it."),
        *NEEDS,
        Field("priority", PRIORITY, "Its own, in the place of the workflow's."),
        Field("asked", Choice(ASKED), "With none or no it is left out: it is for a gate that is."),
        Field(
            "data",
            Several(Either(single=PATH, mapping=DATUM), LIST_MAX),
            "Files and folders beside this file, with * for many, id:… for external ones, or "
            "share:NAME/… for what lies in a share of the machine that reads it.",
        ),
        Field(
            "parameters",
            Either(
                single=Text(PARAMETERS_CHARACTERS_MAX, empty=True),
                mapping=Later(),
                sequence=Later(),
            ),
            "A text, or values by name.",
        ),
        Field("parameters_file", PATH, "A file whose text are the parameters."),
        *SHARED,
    ),
)
GATE_RECORD = Record(
    said("a gate"),
    (
        Field(
            "asks",
            SHORT,
            "What a person is asked to do.",
            said("{owner} needs asks: what a person is asked to do"),
        ),
        Field(
            "attach",
            Several(SHORT, ATTACHED_MAX),
            "What the person attaches, by name; with ? behind it, it may be left open.",
        ),
        Field("asked", Choice(ASKED), "With none or no nobody is asked, and work goes on without."),
        *NEEDS,
    ),
)
DEFAULTS = Record(
    "defaults", (Field("program", SHORT, "What tasks run that do not say it."), *SHARED)
)
PROGRAM = Record(
    said("a program"),
    (
        Field(
            "run",
            PATH,
            "The script or the program's folder, beside this file.",
            said("{owner} needs run: the script or the program's folder, beside this file"),
        ),
        Field("outputs", SeveralOrNone(SHORT, 1_000), "Files that the script leaves, or none."),
        Field(
            "once", Flag(), "Whether it must not run on two machines at once, to be done sooner."
        ),
        Field("expected", DURATION, "How long it usually takes; a bare number is seconds."),
    ),
)
WORKFLOW = Record(
    said("a workflow"),
    (
        Field("name", Text(NAME_CHARACTERS_MAX), "What it is called; the file's name otherwise."),
        Field("priority", PRIORITY, "low, interactive, or a number up to 100."),
        Field(
            "deliver", PATH, "A folder of this computer for the last results, as ~/lines/{name}."
        ),
        Field("variables", Later(VARIABLES), "Values that are given when it is submitted."),
        Field("defaults", Later(DEFAULTS), "What holds for all tasks that do not say otherwise."),
        Field(
            "programs",
            Later(Named(TASK_NAME, TASK_NAME_WANTED, Either(single=PATH, mapping=PROGRAM), 1_000)),
            "Scripts and program folders that are published with it.",
        ),
        Field(
            "tasks",
            Later(Named(TASK_NAME, TASK_NAME_WANTED, TASK_RECORD, TASKS_MAX, TASK_CHARACTERS_MAX)),
            "What machines do.",
        ),
        Field(
            "gates",
            Later(Named(TASK_NAME, TASK_NAME_WANTED, GATE_RECORD, TASKS_MAX, TASK_CHARACTERS_MAX)),
            "What persons do.",
        ),
    ),
)


def requirements_of(values: Values | None) -> Requirements:
    """Return the requirements as a client says them, memory and disk in whole MB, rounded up. What
    is not given, or all without values, is empty or 0, which any machine meets."""
    if values is None:
        return Requirements()
    return Requirements(
        str(values.get("system", "")),
        str(values.get("architecture", "")),
        megabytes(values.get("memory")),
        megabytes(values.get("disk")),
        values.get("cores", 0),
        tuple(str(tag) for tag in values.get("tags", ())),
        tuple(" ".join(str(need).split()) for need in values.get("programs", ())),
        tuple(Seat(str(name), most) for name, most in values.get("seats", {}).items()),
    )


def megabytes(amount: float | None) -> int:
    """Return whole megabytes, never fewer than were asked for; 0 where nothing was."""
    return 0 if amount is None else ceil(amount)
