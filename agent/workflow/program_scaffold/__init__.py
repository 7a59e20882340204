"""A new program to begin with: its description, a script that works, and the helper beside it.

What is written is a whole program, which can be checked, installed and submitted as it is. The
helper is copied along and not imported from here, because a program has to run on machines that
have nothing but its folder.
"""

from __future__ import annotations

from pathlib import Path

from agent.protocol.phrases import said
from agent.workflow.faults import WHOLE_FILE, Faults, FaultsError
from agent.workflow.program_description import PROGRAM_YAML
from agent.workflow.program_yaml import wrong_name

HELPER = "wingbeat_task.py"
SCRIPT = "main.py"
SOURCES = Path(__file__).parent

DESCRIPTION = """\
# What this program is, for machines that are to run it. Only `command` has to be there.
name: {name}
version: "0.1"
docs: Counts the bytes of everything that it is given.
command: ["{{python}}", {script}]     # a file of this folder, or an interpreter and one
outputs: [report.txt]                 # files that it leaves in its working folder
expected: 1 min                       # about how long it runs
# inputs: [points, track]             # what it takes, for people
# requirements: {{system: linux, memory: 2 GB, cores: 2, tags: [gpu]}}
# limits: {{memory: 4 GB, disk: 10 GB, wall: 2 h, silent: 10 min, log: 4 MB}}
checkpoint: true                      # it can go on where an earlier attempt was
"""


def write_program(folder: Path, name: str) -> tuple[Path, ...]:
    """Make the folder, and those above it, fill it with a program that works, and return the files
    written. Raises ``FaultsError``, with nothing written, for a wrong name or a folder that is not
    empty, and ``OSError`` for what cannot be written."""
    reason = wrong_name(name)
    if not reason and folder.exists() and any(folder.iterdir()):
        reason = said("is not empty: nothing is written over what is there")
    if reason:
        faults = Faults(str(folder))
        faults.add(WHOLE_FILE, reason)
        raise FaultsError(faults.listing())
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        PROGRAM_YAML: DESCRIPTION.format(name=name, script=SCRIPT),
        SCRIPT: (SOURCES / "example.py").read_text("utf-8"),
        HELPER: (SOURCES / HELPER).read_text("utf-8"),
    }
    for each, text in contents.items():
        (folder / each).write_text(text, "utf-8")
    return tuple(folder / each for each in contents)
