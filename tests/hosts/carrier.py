"""A program that is published with its work: it takes datasets, saves its state, makes a dataset.

``carry`` takes parameters ``NAME SECONDS INPUTS``. It looks at what it was given, half-way it saves
its state (an attempt that finds one goes on from there), and in the end it makes a file. Into the
evidence of its host it writes ``start``, ``end``, ``resumed``, and what must not be: ``missing``
when there are not so many inputs, ``wrong`` when one or a state is not what it ought to be.
"""

from __future__ import annotations

import json
from pathlib import Path

CARRY = "carry"
MADE = "made"
PADDING_BYTES = 65_536

_SCRIPT = """#!/bin/sh
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
for each in inputs/*/*; do
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
    (program / "carry.sh").write_text(_SCRIPT.replace("PADDING", str(PADDING_BYTES)))
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
