"""Reading logs back: lines of the agent's own, and what a task has printed here.

The agent's log moves from file to file as it grows; a place in it is named by the file itself (its
number on the disk) and an offset, so that whoever follows is not led astray by a rename. All of
this touches the disk and is called in threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from agent.host.logs import FILE, FILES_MAX, SEVERITIES, TIME_FORMAT

READ_BYTES_MAX = 16 * 1024 * 1024
"""More than all files of a log together."""
_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\]: <(\w+)> ?(.*)")
RANKS = {name: rank for rank, name in enumerate(SEVERITIES.values())}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log, and whatever stands indented below it."""

    at_ms: int
    severity: str
    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Those that were asked for; ``after`` is the place behind them."""

    lines: list[Line]
    after: str
    skipped: bool
    matching: int


@dataclass(frozen=True, slots=True)
class Filter:
    """Which lines: from a severity on, with a text in them, in whatever case."""

    severity: str = "info"
    containing: str = ""

    def takes(self, line: Line) -> bool:
        """Whether it is one of them."""
        severe = RANKS.get(line.severity, RANKS["error"]) >= RANKS[self.severity]
        return severe and self.containing.casefold() in line.text.casefold()


def read_lines(folder: Path, after: str, wanted: Filter, limit: int) -> Lines:
    """The last so many lines, or those after a place: then the first so many of them.

    Raises ``OSError`` when there is no log to be read.
    """
    files = _files(folder)
    start, skipped = _start(files, after)
    found: list[tuple[Line, str]] = []
    place = after
    for path, offset in start:
        for line, ended in _lines(path, offset):
            place = ended
            if wanted.takes(line):
                found.append((line, ended))
    place = place or _end(files)
    if after and len(found) > limit:
        return Lines([line for line, _ in found[:limit]], found[limit - 1][1], skipped, len(found))
    return Lines([line for line, _ in found[-limit:]], place, skipped, len(found))


def task_log_file(folder: Path, task: str, generation: int, attempt: int) -> Path:
    """Where the output of a run of this machine is."""
    return folder / "tasks" / f"task-{quote(task, safe='')}" / f"{generation}.{attempt}.log"


def read_piece(path: Path, offset: int, limit: int) -> tuple[bytes, int]:
    """Some of a file, and how large it is; nothing where there is none (yet)."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(min(offset, size))
            return file.read(limit), size
    except FileNotFoundError:
        return b"", 0


def _files(folder: Path) -> list[Path]:
    """The oldest first."""
    older = [folder / f"{FILE}.{number}" for number in range(FILES_MAX - 1, 0, -1)]
    return [path for path in [*older, folder / FILE] if path.exists()]


def _start(files: list[Path], after: str) -> tuple[list[tuple[Path, int]], bool]:
    """From where to read each file, and whether the one that was meant is gone."""
    number, _, offset = after.partition(":")
    if not (number.isdecimal() and offset.isdecimal()):
        return [(path, 0) for path in files], False
    for place, path in enumerate(files):
        if path.stat().st_ino == int(number):
            return [(path, int(offset)), *((later, 0) for later in files[place + 1 :])], False
    return [(path, 0) for path in files], True


def _end(files: list[Path]) -> str:
    if not files:
        return ""
    last = files[-1].stat()
    return f"{last.st_ino}:{last.st_size}"


def _lines(path: Path, offset: int) -> Iterator[tuple[Line, str]]:
    """Each with the place behind it; one that is still being written is left for later."""
    with path.open("rb") as file:
        number = path.stat().st_ino
        file.seek(offset)
        data = file.read(READ_BYTES_MAX)
    whole = data[: data.rfind(b"\n") + 1]
    held: list[str] = []
    begun, end = 0, 0
    for raw in whole.splitlines(keepends=True):
        if raw.startswith(b"[") and held:
            yield _parsed(held), f"{number}:{offset + end}"
            held, begun = [], end
        held.append(raw.decode("utf-8", "replace").rstrip("\r\n"))
        end += len(raw)
    if held and begun < end:
        yield _parsed(held), f"{number}:{offset + end}"


def _parsed(lines: list[str]) -> Line:
    found = _LINE.match(lines[0])
    if found is None:
        return Line(0, "info", "\n".join(lines))
    moment = datetime.strptime(found[1], TIME_FORMAT).astimezone()
    severity = found[2] if found[2] in RANKS else "error"
    return Line(int(moment.timestamp() * 1000), severity, "\n".join([found[3], *lines[1:]]))
