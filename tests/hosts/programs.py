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


# -- a program that is published with its work -----------------------------------------------
#
# It takes datasets, saves its state, makes a dataset: ``carry`` takes parameters ``NAME SECONDS
# INPUTS``. It looks at what it was given, half-way it saves its state (an attempt that finds one goes
# on from there), and in the end it makes a file. Into the evidence of its host it writes ``start``,
# ``end``, ``resumed``, and what must not be: ``missing`` when there are not so many inputs, ``wrong``
# when one or a state is not what it ought to be.


CARRY = "carry"
MADE = "made"
PADDING_BYTES = 65_536

_CARRIER = """#!/bin/sh
for last; do :; done
set -- $last
evidence="${PWD%/cache/*}/evidence"
write() { echo "$1 $2 $(date +%s%N)" >> "$evidence"; }
work() {
  word=$(timeout --foreground "$1" head -n 1)
  code=$?
  [ -n "$word" ] && echo CANCELLED && exit
  [ $code = 124 ] || exit 1
}
write start "$1"
found=0
run=${PWD%/work}
for each in "${run%/*}/given-${run##*/}"/inputs/*/*; do
  [ -f "$each" ] || continue
  found=$((found + 1))
  [ "$(head -c 5 "$each")" = "made " ] || write wrong "$1"
  [ "$(wc -c < "$each")" -gt PADDING ] || write wrong "$1"
done
[ "$found" = "$3" ] || write missing "$1"
if [ -n "$WINGBEAT_CHECKPOINT" ]; then
  [ "$(cat "$WINGBEAT_CHECKPOINT")" = "half $1" ] && write resumed "$1" || write wrong "$1"
else
  work "$2"
  echo "half $1" > state
  echo "CHECKPOINT state"
fi
work "$2"
{ echo "made $1"; head -c PADDING /dev/zero | tr '\\0' x; } > out.txt
write end "$1"
"""


def write_carrier(folder: Path) -> Path:
    """The program's folder, to be published."""
    program = folder / CARRY
    program.mkdir()
    (program / "carry.sh").write_text(_CARRIER.replace("PADDING", str(PADDING_BYTES)))
    described = {
        "name": CARRY,
        "command": ["sh", "carry.sh"],
        "outputs": ["out.txt"],
        "checkpoint": True,
    }
    (program / "program.yaml").write_text(json.dumps(described))
    return program


def content(name: str) -> bytes:
    """What a task of this name makes."""
    return f"{MADE} {name}\n".encode() + b"x" * PADDING_BYTES
