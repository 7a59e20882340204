"""What the hosts run: programs that leave evidence of their own, apart from the agents' records.

``nap`` takes parameters ``NAME SECONDS``, writes ``start``, ``end`` and the time into the evidence
of its host, and names one output. ``nothing`` exits at once: a dispatch is measured without it.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

EVIDENCE = "evidence"
NAP, NOTHING = "nap", "nothing"

_SCRIPT = """#!/bin/sh
for last; do :; done
set -- $last
echo "start $1 $(date +%s%N)" >> "{evidence}"
word=$(timeout --foreground "$2" head -n 1)
code=$?
[ -n "$word" ] && echo CANCELLED && exit
[ $code = 124 ] || exit 1
echo "end $1 $(date +%s%N)" >> "{evidence}"
echo "TERMINATED out-$1"
"""
# head waits for CANCEL; the end of its input is the end of the agent, and no end of the nap.


@dataclass(frozen=True, slots=True)
class Trace:
    """A line of evidence."""

    host: int
    word: str
    name: str
    at_s: float


def install(programs: Path, evidence: Path) -> None:
    """Put both programs where an agent looks for them."""
    nap = programs / NAP
    nap.mkdir(parents=True, exist_ok=True)
    (nap / "nap.sh").write_text(_SCRIPT.replace("{evidence}", str(evidence)))
    describe(nap, ["sh", "nap.sh"], 1)
    nothing = programs / NOTHING
    nothing.mkdir(exist_ok=True)
    shutil.copy("/bin/true", nothing)  # only what lies in its folder is executed
    describe(nothing, ["true"], 0)


def read_evidence(host: int, evidence: Path) -> list[Trace]:
    """What the programs of one host have written, in order."""
    if not evidence.exists():
        return []
    found = []
    for line in evidence.read_text().splitlines():
        words = line.split()
        if len(words) == 3 and words[2].isdigit():  # a killed one may leave half a line
            found.append(Trace(host, words[0], words[1], int(words[2]) / 1e9))
    return found


def describe(folder: Path, command: list[str], outputs: int) -> None:
    """Write the description of the program in a folder."""
    names = [f"output-{number}" for number in range(outputs)]
    described = {"name": folder.name, "command": command, "outputs": names}
    (folder / "program.yaml").write_text(json.dumps(described))  # which is YAML too
