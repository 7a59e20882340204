"""What people begin with: a program of their own, or a workflow.

What is written works as it is. A program can be checked, installed and submitted; its helper is
copied along and not imported from here, because a program has to run on machines that have nothing
but its folder. A workflow brings its scripts and something to try them on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agent.protocol.phrases import said
from agent.workflow.faults import WHOLE_FILE, Faults, FaultsError
from agent.workflow.program_description import PROGRAM_YAML
from agent.workflow.program_yaml import wrong_name
from agent.workflow.reading import SUFFIX

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


WORKFLOW = """\
# wingbeat submit {name}.wingbeat.yaml --wait, then wingbeat fetch {name}/top
programs: {{split: split.py, count: count.py, top: top.py}}
tasks:
  split: {{program: split, data: [book.txt]}}
  count: {{program: count, inputs: [split]}}
  top: {{program: top, inputs: [count], parameters: "3"}}
"""
SCRIPTS = {
    "split.py": """\
import re, sys
text = open(sys.argv[2], encoding="utf-8").read()  # told: -p book.txt
words = re.findall(r"\\w+", text.lower())
open("words.txt", "w", encoding="utf-8").write("\\n".join(words))
""",
    "count.py": """\
import collections, sys
words = open(sys.argv[2], encoding="utf-8").read().split()  # told: -i words.txt
with open("counts.txt", "w", encoding="utf-8") as counts:
    for word, times in collections.Counter(words).items():
        print(times, word, file=counts)
""",
    "top.py": """\
import sys
counts = open(sys.argv[2], encoding="utf-8").readlines()  # told: -i counts.txt -x 3
counts.sort(key=lambda line: -int(line.split()[0]))
open("top.txt", "w", encoding="utf-8").writelines(counts[: int(sys.argv[4])])
""",
    "book.txt": """\
The line climbs from the river to the ridge. The wind moves the wires, the wires move the towers,
and the inspector follows the line: the river, the ridge, the next tower, and the next.
""",
}


def write_program(folder: Path, name: str) -> tuple[Path, ...]:
    """Make the folder, and those above it, fill it with a program that works, and return the files
    written. Raise ``FaultsError``, with nothing written, for a wrong name or a folder that is not
    empty, and ``OSError`` for what cannot be written; what was written until then stays."""
    contents = {
        PROGRAM_YAML: DESCRIPTION.format(name=name, script=SCRIPT),
        SCRIPT: (SOURCES / "example.py").read_text("utf-8"),
        HELPER: (SOURCES / HELPER).read_text("utf-8"),
    }
    return _written(folder, name, contents)


def write_workflow(folder: Path, name: str) -> tuple[Path, ...]:
    """Make the folder, and those above it, fill it with a workflow that works, its scripts and a
    text for them, and return the files written, the workflow first. Raises as ``write_program``
    does."""
    return _written(folder, name, {f"{name}{SUFFIX}": WORKFLOW.format(name=name), **SCRIPTS})


def _written(folder: Path, name: str, contents: Mapping[str, str]) -> tuple[Path, ...]:
    reason = wrong_name(name)
    if not reason and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        reason = said("is not empty: nothing is written over what is there")
    if reason:
        faults = Faults(str(folder))
        faults.add(WHOLE_FILE, reason)
        raise FaultsError(faults.listing())
    folder.mkdir(parents=True, exist_ok=True)
    for each, text in contents.items():
        (folder / each).write_text(text, "utf-8")
    return tuple(folder / each for each in contents)
