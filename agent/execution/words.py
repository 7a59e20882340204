"""The lines between a node and a program: any executable that follows them works unchanged.

Child to node: ``PROGRESS p`` (percent), ``TERMINATED id…``, ``CANCELLED``, ``ERROR text``, and
``CHECKPOINT path`` for those that can go on where they were. Node to child: ``CANCEL``. Anything
else that a program prints is its own affair and goes to its log, and a program that prints none of
these and exits with 0 has succeeded.

Names of files may have spaces, for which the document has no sign: a word in quotation marks,
``TERMINATED "tower 7.las" 17``, is one word. Marks within a word, or without an end, mean nothing, so that
identifiers with such signs stay what they are.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import islice

CANCEL = b"CANCEL\n"
LINE_BYTES_MAX = 64 * 1024
OUTPUTS_MAX = 10_000
FIRST_BYTES = 16
"""Of a piece of output, enough to see whether it begins with a word."""
_STARTS = (
    *(b"\nPROGRESS ", b"\nCHECKPOINT ", b"\nTERMINATED ", b"\nTERMINATED\n", b"\nTERMINATED\r"),
    *(b"\nCANCELLED\n", b"\nCANCELLED\r", b"\nERROR ", b"\nERROR\n", b"\nERROR\r"),
)
_OUTPUT = re.compile(r'"([^"]+)"(?!\S)|(\S+)')
VERBS = (b"PROGRESS", b"TERMINATED", b"CANCELLED", b"ERROR", b"CHECKPOINT")


@dataclass(frozen=True, slots=True)
class ProgressWord:
    """The program says how far it is."""

    permille: int


@dataclass(frozen=True, slots=True)
class CheckpointWord:
    """The program has saved its state there."""

    path: str


@dataclass(frozen=True, slots=True)
class TerminatedWord:
    """The program has succeeded, with these datasets."""

    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CancelledWord:
    """The program has stopped, as it was asked to."""


@dataclass(frozen=True, slots=True)
class ErrorWord:
    """The program says that it has failed, and why."""

    text: str


LastWord = TerminatedWord | CancelledWord | ErrorWord
Word = ProgressWord | CheckpointWord | LastWord


def read_word(line: bytes) -> Word | None:
    """Return what a line of a program says to the node; None when it says nothing to it."""
    text = line.decode("utf-8", "replace").strip()
    verb, _, rest = text.partition(" ")
    rest = rest.strip()
    match verb:
        case "PROGRESS":
            return _progress(rest)
        case "CHECKPOINT" if rest:
            return CheckpointWord(rest)
        case "TERMINATED":
            found = islice(_OUTPUT.finditer(rest), OUTPUTS_MAX)
            return TerminatedWord(tuple(each[1] or each[2] for each in found))
        case "CANCELLED" if not rest:
            return CancelledWord()
        case "ERROR":
            return ErrorWord(rest)
        case _:
            return None


def may_be_word(line: bytes) -> bool:
    """Tell quickly whether a line may be a word to the node; False only when it is none."""
    return line.lstrip().startswith(VERBS)


def may_have_words(data: bytes) -> bool:
    """Tell quickly whether output may hold words to the node; what stands at the beginning of a
    line counts."""
    first = b"\n" + data[:FIRST_BYTES]
    return any(start in data or start in first for start in _STARTS)


def arguments(raw: list[str], inputs: list[str], parameters: str) -> list[str]:
    """Return a program's arguments: ``-p`` for raw data, ``-i`` for outputs of producers, ``-x``
    for parameters."""
    told: list[str] = []
    for word in raw:
        told += ["-p", word]
    for word in inputs:
        told += ["-i", word]
    if parameters:
        told += ["-x", parameters]
    return told


def _progress(rest: str) -> ProgressWord | None:
    try:
        percent = float(rest.removesuffix("%"))
    except ValueError:
        return None
    if not math.isfinite(percent):
        return None
    return ProgressWord(round(10 * min(max(percent, 0.0), 100.0)))
