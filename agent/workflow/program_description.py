"""What a program is, as the file in its folder tells: one model, whatever the file's format.

A program is a folder with ``program.yaml`` in it and whatever it executes beside that. A folder
that was made for an older system may have ``program.xml`` instead, which knows the name, the type
and the inputs; its executable is the file that has the program's name.

    name: georeferencing          # default: the name of the folder
    version: "1.2"
    docs: Gives every point its place on the ground.
    command: ["{python}", main.py]
    inputs: [points, track]       # what it takes, in this order
    outputs: [points.las]         # files that it leaves in its working folder; none for none;
                                  # default: those that it names, else all that it leaves
    expected: 5 min
    requirements: {system: linux, architecture: x86_64, memory: 4 GB, disk: 10 GB, cores: 2, tags: [gpu]}
                                  # and programs: [acme >= 3], seats: {acme: 3} of the whole flock
    limits: {memory: 6 GB, disk: 20 GB, wall: 2 h, silent: 10 min, log: 4 MB}
    checkpoint: true
    once: true                    # it sends mail, say: no second copy, to be done sooner
    network: lan                  # none (default), lan or internet: what follows, the owner of a
    reads: [/srv/maps]            # machine is asked for; folders and files beyond its inputs, or
                                  # share:NAME, a folder that each machine has somewhere else,
    devices: [gpu]                # devices,
    secrets: [survey-db]          # and values that it finds as files in $WINGBEAT_SECRETS

Clients read this too (to propose outputs, lengths and limits), so it is data and executes nothing.
Whether the command may be executed is decided where it is executed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent.api.values import Requirements

ANY_MACHINE = Requirements()
PROGRAM_YAML = "program.yaml"
PROGRAM_XML = "program.xml"
DESCRIPTION_BYTES_MAX = 256 * 1024
NAME_LENGTH_MAX = 128
"""Shorter than a name may be on the wire: a published program's name gets its digest behind it."""
SCRIPTS = {".py": "{python}", ".sh": "sh", ".js": "node", ".pl": "perl", ".rb": "ruby"}
SCRIPTS |= {".r": "Rscript", ".bat": "cmd", ".cmd": "cmd", ".ps1": "powershell"}
"""What runs a script, by its ending."""


@dataclass(frozen=True, slots=True)
class ProgramInput:
    """One thing that a program takes. ``producer`` and ``output`` (from 1): the type of program
    that usually makes it, and which of its outputs it is; empty and 0 where nobody said."""

    name: str
    producer: str = ""
    output: int = 0


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """What one run may take; zero means: what the machine allows.

    ``silent_s`` is how long it may neither progress nor print anything.
    """

    memory_mb: int = 0
    disk_mb: int = 0
    wall_s: int = 0
    silent_s: int = 0
    log_mb: int = 0


@dataclass(frozen=True, slots=True)
class ProgramDescription:
    """A program as its author describes it."""

    name: str
    command: tuple[str, ...]
    file: str
    """Where this was read."""
    version: str = ""
    kind: str = ""
    """Its type, by which the inputs of other programs may name it as their producer."""
    docs: str = ""
    inputs: tuple[ProgramInput, ...] = ()
    outputs: tuple[str, ...] | None = None
    """Files that it leaves; None where it does not say, and then all that it makes count."""
    requirements: Requirements = ANY_MACHINE
    expected_ms: int = 0
    limits: ProgramLimits = ProgramLimits()
    checkpoint: bool = False
    once: bool = False
    """It does more than make its outputs, so that no second run goes on beside the first."""
    network: str = "none"
    reads: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """What it asks for beyond its folder, its inputs and the system."""


def script_description(name: str, script: str) -> str:
    """Return the text of a ``program.yaml`` that runs this script by the interpreter that its
    ending tells, or by itself where that tells none. No file is opened or written."""
    interpreter = SCRIPTS.get(Path(script).suffix.lower(), "")
    words = ", ".join(_quoted(word) for word in (interpreter, script) if word)
    return f"name: {_quoted(name)}\ncommand: [{words}]\n"


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
