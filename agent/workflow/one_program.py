"""A script or program by itself as a workflow of one step, for whoever has no workflow file.

The workflow is written as its author would have written it, and then read like any other: so what
holds there of names, files and fan-outs holds here, and there is no second way to a submission.
"""

from __future__ import annotations

import glob
import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from agent.protocol.phrases import Phrase, said
from agent.regular_files import open_regular
from agent.workflow.faults import WHOLE_FILE, Fault
from agent.workflow.local_files import still_part
from agent.workflow.program_description import PROGRAM_XML, PROGRAM_YAML, SCRIPTS
from agent.workflow.reading import SUFFIX, Asked, Description, describe

WORKFLOW_ENDS = (".yaml", ".yml", ".wingbeat", ".xml")
RUNS_MAX = 10_000
EXTERNAL = "id:"
_BEGINNINGS = (b"#!", b"\x7fELF", b"MZ")
"""Of what a system executes by itself."""
_UNFIT = re.compile(r"[\s@/\\*${}]+")


@dataclass(frozen=True, slots=True)
class Alone:
    """How a program runs that comes without a workflow: with which files (patterns too), once with
    all of them or once for ``each``, and how often. ``parameters`` are what it is told besides;
    where it runs several times, the number of the run stands behind them."""

    files: tuple[str, ...] = ()
    each: bool = False
    times: int = 1
    parameters: str = ""


def is_program(path: Path) -> bool:
    """Tell whether this is a program's folder, or a file that its name or its first bytes show to
    be a script or program; False where it cannot be read."""
    if path.suffix.lower() in WORKFLOW_ENDS:
        return False
    if path.is_dir():
        return any((path / name).is_file() for name in (PROGRAM_YAML, PROGRAM_XML))
    if not path.is_file():
        return False
    if path.suffix.lower() in SCRIPTS:
        return True
    try:
        with open_regular(path) as file:
            begins = file.read(4)
    except OSError:
        return False
    return os.access(path, os.X_OK) and begins.startswith(_BEGINNINGS)


def describe_file(path: Path, asked: Asked, alone: Alone, data: bytes | None = None) -> Description:
    """Read a workflow file, or make a workflow of one step from a program that comes alone, and
    return its variables and either workflow or faults; faults of a program are told of the file as
    a whole. ``data`` is read in place of what the file holds."""
    if data is None and is_program(path):
        if alone.each and not alone.files:
            return Description(
                faults=_fault(path, said("choose the files for each of which it is to run"))
            )
        start = asked.start or Path.cwd()
        named = (_still(start / each) for each in alone.files if not each.startswith(EXTERNAL))
        asked = replace(asked, granted=(*asked.granted, path, *named))
        made = workflow_of(path, alone, start)
        found = describe(path, asked, made.encode())
        return replace(
            found, faults=tuple(replace(each, place=WHOLE_FILE) for each in found.faults)
        )
    found = describe(path, asked, data)
    if not found.faults or path.suffix.lower() in WORKFLOW_ENDS or not path.exists():
        return found
    neither = said(
        "{name} is neither a workflow nor a program: a workflow ends in {suffix}, a script in .py, "
        ".sh and the like, and other programs may be executed",
        name=path.name,
        suffix=SUFFIX,
    )
    return replace(found, faults=(*_fault(path, neither), *found.faults))


def workflow_of(path: Path, alone: Alone, start: Path) -> str:
    """Return the text of a workflow file, as it would lie beside the program or script at ``path``,
    that runs it so: with these files, all in one run or one run for each, as often and with the
    parameters that ``alone`` says. Names of files begin at ``start``; only patterns among several
    names are looked up, where each file has a run."""
    name = _UNFIT.sub("-", path.name if path.is_dir() else path.stem).strip("-") or "program"
    files = [
        each if each.startswith(EXTERNAL) else (start / each).as_posix() for each in alone.files
    ]
    lines = [
        f"name: {_quoted(name)}",
        f"programs: {{{_quoted(name)}: {{run: {_quoted(path.name)}}}}}",
        f"tasks:\n  {_quoted(name)}:\n    program: {_quoted(name)}",
    ]
    told = [_escaped(alone.parameters)] if alone.parameters else []
    fans = []
    if alone.each:
        fans.append(f"file: {_listed(files) if len(files) != 1 else _quoted(files[0])}")
        lines.append("    data: ${file}")
    elif files:
        lines.append(f"    data: [{', '.join(map(_quoted, files))}]")
    if alone.times > 1:
        fans.append(f"number: {{from: 1, to: {alone.times}}}")
        told.append("${number}")
    if told:
        lines.append(f"    parameters: {json.dumps(' '.join(told), ensure_ascii=False)}")
    if fans:
        lines.append(f"    for_each: {{{', '.join(fans)}}}")
    return "\n".join([*lines, ""])


def _listed(files: list[str]) -> str:
    """The files, with those that a pattern fits in its place."""
    found: dict[str, None] = {}
    for each in files:
        pattern = glob.has_magic(each) and not Path(each).exists()
        fitting = sorted(glob.glob(each)) if pattern else []  # noqa: PTH207 - of whole paths
        found.update(dict.fromkeys(fitting or [each]))
    return f"[{', '.join(map(_quoted, found))}]"


def _still(pattern: Path) -> Path:
    """What a person means who gives a file, or the folder in which a pattern of his begins."""
    return pattern if pattern.exists() else still_part(pattern)


def _fault(path: Path, wrong: Phrase) -> tuple[Fault, ...]:
    return (Fault(str(path), WHOLE_FILE, wrong),)


def _escaped(text: str) -> str:
    return text.replace("${", "$${")


def _quoted(text: str) -> str:
    """As YAML and its variables take it for what it is."""
    return json.dumps(_escaped(text), ensure_ascii=False)
