"""``program.yaml``: the fields of a program, each with its place for what is wrong with it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from agent.workflow.faults import WHOLE_FILE, Faults, Place, either, meant, shown
from agent.workflow.program_description import (
    DESCRIPTION_BYTES_MAX,
    NAME_LENGTH_MAX,
    SYSTEMS,
    ProgramDescription,
    ProgramInput,
    ProgramLimits,
    ProgramRequirements,
)
from agent.workflow.program_fields import DOCS_LENGTH_MAX, Fields, words_of
from agent.workflow.yaml_nodes import Mapping, Sequence, kind_of, read_yaml_file

REQUIREMENTS = ("system", "architecture", "memory", "disk", "cores", "tags")
LIMITS = ("memory", "disk", "wall", "silent", "log")
FIELDS = (
    *("name", "version", "type", "docs", "command", "inputs", "outputs"),
    *("expected", "requirements", "limits", "checkpoint"),
)


def read_program_yaml(path: Path, faults: Faults) -> ProgramDescription | None:
    """The program that a file describes; whatever is wrong goes to the faults."""
    node = read_yaml_file(path, faults, DESCRIPTION_BYTES_MAX)
    if node is None:
        return None
    if not isinstance(node, Mapping):
        said = f"a description begins with keys, like 'command:', not with {kind_of(node)}"
        faults.add(node.place, said)
        return None
    fields = Fields(node, FIELDS, faults, "a program")
    command, command_at = _command(fields, faults)
    return ProgramDescription(
        name=_name(fields, path, faults),
        command=command,
        file=str(path),
        command_at=command_at,
        version=fields.text("version"),
        kind=fields.text("type"),
        docs=fields.text("docs", DOCS_LENGTH_MAX),
        inputs=tuple(ProgramInput(word) for word in fields.words("inputs")),
        outputs=_outputs(fields, faults),
        requirements=_requirements(fields, faults),
        expected_ms=round(1_000 * fields.seconds("expected")),
        limits=_limits(fields),
        checkpoint=fields.yes("checkpoint"),
    )


def wrong_name(name: str) -> str:
    """Why a program cannot be called so; empty when it can."""
    if not 0 < len(name) <= NAME_LENGTH_MAX:
        return f"a name has 1 to {NAME_LENGTH_MAX} characters"
    if not name.isprintable() or any(letter.isspace() or letter in "@/\\" for letter in name):
        return f"{shown(name)} cannot be a name: blanks, @, / and \\ have no place in one"
    return ""


def wrong_output(name: str) -> str:
    """Why no file in a working folder can have this name; empty when one can."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    outside = ".." in parts or name.startswith("/") or bool(PureWindowsPath(name).drive)
    if outside or not parts:
        return f"{shown(name)} is not inside the working folder: name a file like points.las"
    return ""


def _name(fields: Fields, path: Path, faults: Faults) -> str:
    node = fields.get("name")
    name = path.absolute().parent.name if node is None else fields.text("name")
    reason = wrong_name(name) if name else ""
    if reason:
        hint = "" if node else ": the folder has this name, so give another one as 'name'"
        faults.add(WHOLE_FILE if node is None else node.place, f"{reason}{hint}")
    return name


def _command(fields: Fields, faults: Faults) -> tuple[tuple[str, ...], Place]:
    node = fields.get("command")
    if node is None:
        said = "command is missing: what to execute, like command: [run.sh, --fast]"
        faults.add(Place(1, 1), said)
        return (), WHOLE_FILE
    words = words_of(node, "command", faults)
    if isinstance(node, Sequence) and not words:
        faults.add(node.place, "command is empty: name a file of this folder, like [run.sh]")
    return tuple(words), node.place


def _outputs(fields: Fields, faults: Faults) -> tuple[str, ...]:
    node, names = fields.get("outputs"), fields.words("outputs")
    for name in names:
        reason = wrong_output(name)
        if reason and node is not None:
            faults.add(node.place, reason)
    return names


def _requirements(fields: Fields, faults: Faults) -> ProgramRequirements:
    part = fields.part("requirements", REQUIREMENTS)
    if part is None:
        return ProgramRequirements()
    system, node = part.text("system").lower(), part.get("system")
    if system and system not in SYSTEMS and node is not None:
        hint = meant(system, SYSTEMS) or f"; there are {either(SYSTEMS)}"
        faults.add(node.place, f"there is no system {shown(system)}{hint}")
    return ProgramRequirements(
        system=system,
        architecture=part.text("architecture"),
        memory_mb=part.megabytes("memory"),
        disk_mb=part.megabytes("disk"),
        cores=part.count("cores"),
        tags=part.words("tags"),
    )


def _limits(fields: Fields) -> ProgramLimits:
    part = fields.part("limits", LIMITS)
    if part is None:
        return ProgramLimits()
    return ProgramLimits(
        memory_mb=part.megabytes("memory"),
        disk_mb=part.megabytes("disk"),
        wall_s=max(1, round(part.seconds("wall"))) if part.get("wall") else 0,
        silent_s=max(1, round(part.seconds("silent"))) if part.get("silent") else 0,
        log_mb=part.megabytes("log"),
    )
