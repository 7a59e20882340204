"""What a program prints: its words are heard, the rest goes to its log, and neither has no end.

A program may print a gigabyte by mistake. The log takes so much from its beginning, says that it
is full, and gets the last lines when the program ends, which are those that people look for. Once
it is full, output is only searched for words, which the C library does at the speed of memory;
lines are taken apart only where a word may be.

**The lines between a node and a program: any executable that follows them works unchanged.**

Child to node: ``PROGRESS p`` (percent), ``TERMINATED id…``, ``CANCELLED``, ``ERROR text``, and
``CHECKPOINT path`` for those that can go on where they were. Node to child: ``CANCEL``. Anything
else that a program prints is its own affair and goes to its log, and a program that prints none of
these and exits with 0 has succeeded.

Names of files may have spaces, for which the document has no sign: a word in quotation marks,
``TERMINATED "tower 7.las" 17``, is one word. Marks within a word, or without an end, mean nothing,
so that identifiers with such signs stay what they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from agent.wording.speech import megabytes

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
TAIL_BYTES = 8 * 1024
FLOOD_BYTES = 32 * 1024
"""A piece larger than this is not taken apart unless a word stands at the beginning of a line."""
FOLDER_MODE = 0o700
_PROGRESS_LINES = re.compile(rb"^PROGRESS [^\n]*\n", re.MULTILINE)


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
    """Return what a line of a program says to the node; None when it says nothing to it, as with
    ``PROGRESS`` and no number behind it. A percentage is cut to 0 to 100, outputs beyond 10,000 are
    left out."""
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
    """Tell quickly whether output may hold words to the node at the beginning of a line, its own
    beginning counted as one; False only when it holds none."""
    first = b"\n" + data[:FIRST_BYTES]
    return any(start in data or start in first for start in _STARTS)


def arguments(raw: list[str], inputs: list[str], parameters: str) -> list[str]:
    """Return a program's arguments in this order: ``-p`` before each of ``raw``, ``-i`` before each
    of ``inputs``, and ``-x`` before the parameters, unless these are empty."""
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


class OutputLog:
    """The log of one run: a file that is there from the first line on, of a limited size."""

    def __init__(self, path: Path, bytes_max: int) -> None:
        self._path, self._bytes_max = path, bytes_max
        self._file: IO[bytes] | None = None
        self._bytes = 0
        self._left_out = 0
        self._tail = b""

    def write(self, data: bytes) -> None:
        """Append what was printed, in whatever pieces; the file is made at the first. Once the log
        is full it says so, and only the last lines are remembered for ``close``. A disk that
        refuses is passed over."""
        if not data:
            return
        self._tail = (self._tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        room = self._bytes_max - self._bytes
        if not room:
            self._left_out += len(data)
            return
        fits = data[:room]
        self._bytes += len(fits)
        self._put(fits)
        if len(fits) == room:
            self._left_out = len(data) - room
            size = megabytes(self._bytes_max)
            self._put(f"\n[wingbeat] the log is full at {size}; only the end follows\n".encode())

    def last_line(self) -> str:
        """Return the line that was printed last, without spaces around it, for people who see only
        that a program failed; empty when none was."""
        lines = self._tail.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    def last_word(self, line: bytes) -> None:
        """Append what a program says of its own failure to the log, even when that is full;
        ``last_line`` does not return it, because it is told beside that one."""
        self._put(line if line.endswith(b"\n") else line + b"\n")

    def note(self, sentence: str) -> None:
        """Log something that the node has to say."""
        self._put(f"[wingbeat] {sentence}\n".encode())

    def close(self) -> None:
        """Append the last lines of what did not fit in, and how much is left out, and close the
        file; without any output there is no file. Nothing is raised."""
        if self._left_out:
            tail = self._tail[-self._left_out :]
            _, _, whole = tail.partition(b"\n") if len(tail) < self._left_out else (b"", b"", tail)
            self.note(f"{megabytes(self._left_out - len(whole))} were left out here")
            self._put(whole)
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def _put(self, data: bytes) -> None:
        """A disk that takes nothing more is no reason to end a program."""
        with suppress(OSError):
            if self._file is None:
                self._path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
                self._file = self._path.open("ab", buffering=0)
            self._file.write(data)


class Output:
    """Takes apart what a program prints: words for the node, and the log."""

    def __init__(self, log: OutputLog, told: Callable[[Word], None]) -> None:
        self._log, self._told = log, told
        self._unfinished = b""
        self._over = False

    def hear(self, file: int, data: bytes) -> None:
        """Take in a piece of what the program prints to the file with this number: lines on
        standard output (1) that are words are told once they are whole, until its last word, of
        many progresses or checkpoints in a piece only the last; all that is no word goes to the
        log."""
        if file != 1 or self._over:
            self._log.write(data)
            return
        data = self._unfinished + data
        end = data.rfind(b"\n") + 1
        if len(data) - end > LINE_BYTES_MAX:
            end = len(data)  # no word is as long as that
        data, self._unfinished = data[:end], data[end:]
        if data:
            self._hear_lines(data)

    def finish(self) -> None:
        """Take what was printed last for a whole line, though it has no end, as nothing more comes;
        do nothing when there is no such rest."""
        rest, self._unfinished = self._unfinished, b""
        if rest:
            self._hear_lines(rest)

    def _hear_lines(self, data: bytes) -> None:
        """Of a piece, only the last progress and the last checkpoint are news."""
        kept: list[bytes] = []
        news: dict[type, Word] = {}
        if len(data) > FLOOD_BYTES:
            if not may_have_words(data):
                self._log.write(data)
                return
            data = _without_all_but_the_last(data)
        for line in data.splitlines(keepends=True):
            word = None if self._over or not may_be_word(line) else read_word(line)
            match word:
                case None:
                    kept.append(line)
                case ProgressWord() | CheckpointWord():
                    news[type(word)] = word
                case TerminatedWord() | CancelledWord():
                    news[type(word)] = word
                    self._over = True
                case ErrorWord():
                    news[type(word)] = word
                    self._over = True
                    self._log.write(b"".join(kept))
                    kept.clear()
                    self._log.last_word(line)
        self._log.write(b"".join(kept))
        for word in news.values():
            self._told(word)


def _without_all_but_the_last(data: bytes) -> bytes:
    """A flood of progress costs no more than any other."""
    last = data.rfind(b"\nPROGRESS ") + 1
    return _PROGRESS_LINES.sub(b"", data[:last]) + data[last:]


_BY_CONTENT = re.compile(r"(?:[A-Za-z]:)?[/\\][^\s'\"]*[0-9a-f]{32,}[/\\]+")
"""A path as far as the last folder that is named by content."""
_PLACE = re.compile(r"^(?P<file>[^\s:]+): (?:line )?(?P<line>\d+): ")
"""How shells say where they are; most others write it without spaces."""


def shortened(line: str, folders: Iterable[Path]) -> str:
    """Return a line that a program printed, shorter for people: paths below these folders as seen
    from there, others without folders named by content, and a place at its beginning as
    ``file:line:``."""
    for folder in folders:
        for end in ("/", "\\"):
            line = line.replace(f"{folder}{end}", "")
    return _PLACE.sub(r"\g<file>:\g<line>: ", _BY_CONTENT.sub("", line))
