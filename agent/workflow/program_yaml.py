"""``program.yaml``: its fields as a table, by which it is read, and which the schema tells
editors."""

from __future__ import annotations

import re
from math import ceil
from pathlib import Path, PurePosixPath, PureWindowsPath

from agent.api.permissions import SECRET_LENGTH_MAX, SECRET_PATTERN
from agent.protocol.names import fault_of_name
from agent.protocol.phrases import Phrase, said
from agent.workflow.faults import WHOLE_FILE, Faults, shown
from agent.workflow.kinds import DURATION, MEMORY, Choice, Flag, Several, SeveralOrNone, Text
from agent.workflow.program_description import (
    DESCRIPTION_BYTES_MAX,
    NAME_LENGTH_MAX,
    ProgramDescription,
    ProgramInput,
    ProgramLimits,
)
from agent.workflow.records import Field, Record, Values
from agent.workflow.tables import LIMITS, PATH, REQUIREMENTS, SHORT, megabytes, requirements_of
from agent.workflow.yaml_nodes import Entry, Mapping, Node, Scalar, read_yaml_file

DOCS_LENGTH_MAX = 64 * 1024
WORDS_MAX = 1_000
ASKED_MAX = 32
NETWORKS, DEVICES = ("none", "lan", "internet"), ("gpu",)
SECRET = Text(SECRET_LENGTH_MAX, SECRET_PATTERN, said("a name of letters, digits, dots and dashes"))

_PROGRAM_LIMITS = Record(
    "limits", (*LIMITS.fields, Field("log", MEMORY, "What it may print; a number is MB."))
)
PROGRAM_FILE = Record(
    said("a program"),
    (
        Field("name", Text(NAME_LENGTH_MAX), "What tasks call it; the folder's name otherwise."),
        Field("version", SHORT, "Which one it is, for people."),
        Field("type", SHORT, "By which the inputs of other programs may name it."),
        Field("docs", Text(DOCS_LENGTH_MAX), "What it does, for people."),
        Field(
            "command",
            Several(Text(DOCS_LENGTH_MAX), WORDS_MAX, alone=False),
            "What to execute, like [run.sh, --fast]: a file of the folder, or who interprets one.",
            required=said("{owner} needs command: what to execute, like [run.sh, --fast]"),
        ),
        Field(
            "inputs",
            Several(SHORT, WORDS_MAX, alone=False, once=True),
            "What it takes, in this order.",
        ),
        Field(
            "outputs",
            SeveralOrNone(SHORT, WORDS_MAX, alone=False, once=True),
            "Files that it leaves in its working folder, or none.",
        ),
        Field("expected", DURATION, "How long it usually takes; a bare number is seconds."),
        Field("requirements", REQUIREMENTS, "What a machine must have to run it."),
        Field("limits", _PROGRAM_LIMITS, "What one run may take before it is ended."),
        Field(
            "once", Flag(), "Whether it must not run on two machines at once, to be done sooner."
        ),
        Field("checkpoint", Flag(), "Whether it saves its state for a later attempt."),
        Field("network", Choice(NETWORKS), "Whom it has to reach: none, lan or internet."),
        Field(
            "reads",
            Several(PATH, ASKED_MAX, alone=False, once=True),
            "Folders and files that it has to read besides, by their whole paths or from ~/ on.",
        ),
        Field("devices", Several(Choice(DEVICES), ASKED_MAX, once=True), "Devices: gpu."),
        Field(
            "secrets",
            Several(SECRET, ASKED_MAX, once=True),
            "Names of values, as of a password, that its machine's owner has given.",
        ),
    ),
)

SHARE = r"share:[A-Za-z0-9_-]{1,60}"


def read_program_yaml(path: Path, faults: Faults) -> ProgramDescription | None:
    """Return the program that a file describes, with defaults in the place of fields that are
    missing or wrong; None where it cannot be read or is no mapping. Whatever is wrong goes to the
    faults."""
    node = read_yaml_file(path, faults, DESCRIPTION_BYTES_MAX)
    if node is None:
        return None
    values = PROGRAM_FILE.read(_given(node), PROGRAM_FILE.title, faults)
    if values is None:
        return None
    command = values.get("command")
    if command == ():
        faults.at(values.place_of("command")).said(
            "command is empty: name a file of this folder, like [run.sh]"
        )
    return ProgramDescription(
        name=_name(values, path, faults),
        command=tuple(map(str, command or ())),
        file=str(path),
        version=str(values.get("version", "")),
        kind=str(values.get("type", "")),
        docs=str(values.get("docs", "")),
        inputs=tuple(ProgramInput(str(word)) for word in values.get("inputs", ())),
        outputs=_outputs(values, faults),
        requirements=requirements_of(values.get("requirements")),
        expected_ms=round(1_000 * values.get("expected", 0.0)),
        limits=_limits(values.get("limits") or Values(WHOLE_FILE)),
        checkpoint=values.get("checkpoint", False),
        once=values.get("once", False),
        network=str(values.get("network", "none")),
        reads=_reads(values, faults),
        devices=tuple(map(str, values.get("devices", ()))),
        secrets=tuple(map(str, values.get("secrets", ()))),
    )


def _given(node: Node) -> Node:
    """The same without keys that were left empty, which say nothing here."""
    if not isinstance(node, Mapping):
        return node
    given = [
        each for each in node.entries if not (isinstance(each.value, Scalar) and each.value.empty)
    ]
    return Mapping(node.place, tuple(Entry(each.key, _given(each.value)) for each in given))


def wrong_name(name: str) -> Phrase | None:
    """Return why a program cannot be called so: empty, longer than ``NAME_LENGTH_MAX``, with
    blanks, slashes or @ in it, or not as names can be shown; None when it can."""
    if not 0 < len(name) <= NAME_LENGTH_MAX:
        return said("a name has 1 to {most} characters", most=NAME_LENGTH_MAX)
    if not name.isprintable() or any(letter.isspace() or letter in "@/\\" for letter in name):
        return said(
            "{name} cannot be a name: blanks, @, / and \\ have no place in one", name=shown(name)
        )
    return fault_of_name(name)


def _name(values: Values, path: Path, faults: Faults) -> str:
    name = str(values.get("name", "" if "name" in values else path.absolute().parent.name))
    reason = wrong_name(name) if name else None
    if reason and "name" in values:
        faults.add(values.place_of("name"), reason)
    elif reason:
        hint = said("the folder has this name, so give another one as 'name'")
        faults.add(WHOLE_FILE, reason, hint)
    return name


def _outputs(values: Values, faults: Faults) -> tuple[str, ...] | None:
    """The names of its outputs, None where it does not say; each has to be one of a file in a
    working folder."""
    outputs = values.get("outputs")
    for word in outputs or ():
        parts = PurePosixPath(word.replace("\\", "/")).parts
        if ".." in parts or not parts or word.startswith("/") or PureWindowsPath(word).drive:
            faults.at(word.place).said(
                "{name} is not inside the working folder: name a file like points.las",
                name=shown(word),
            )
    return None if outputs is None else tuple(map(str, outputs))


def _reads(values: Values, faults: Faults) -> tuple[str, ...]:
    """What it asks to read, each the same place wherever it begins, or a share."""
    for word in values.get("reads", ()):
        if re.fullmatch(SHARE, word):
            continue
        whole = PurePosixPath(word).is_absolute() or PureWindowsPath(word).is_absolute()
        inner = word.replace("\\", "/").split("/")
        if ".." in inner or not (whole or word.startswith("~/")):
            faults.at(word.place).said(
                "{name} is no whole path: write one like /srv/maps or ~/maps", name=shown(word)
            )
    return tuple(map(str, values.get("reads", ())))


def _limits(values: Values) -> ProgramLimits:
    return ProgramLimits(
        memory_mb=megabytes(values.get("memory")),
        disk_mb=megabytes(values.get("disk")),
        wall_s=ceil(values.get("wall", 0)),
        silent_s=ceil(values.get("silent", 0)),
        log_mb=megabytes(values.get("log")),
    )
