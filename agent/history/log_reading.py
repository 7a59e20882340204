"""Reading logs back: lines of the agent's own, and what a task has printed here.

The agent's log moves from file to file as it grows; a place in it is named by the file itself (its
number on the disk) and an offset, so that whoever follows is not led astray by a rename. All of
this touches the disk and is called in threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import get_args

from agent.api.logs import AgentLog, AgentLogReply, LogLine, Severity
from agent.host.logs import FILE, FILES_MAX, TIME_FORMAT

READ_BYTES_MAX = 16 * 1024 * 1024
"""More than all files of a log together."""
_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\]: <(\w+)> ?(.*)")
ERROR: Severity = "error"
RANKS: dict[Severity, int] = {name: rank for rank, name in enumerate(get_args(Severity))}


def read_lines(folder: Path, wanted: AgentLog) -> AgentLogReply:
    """Return, of the agent's own log, the last ``limit`` lines that are severe enough and have the
    text in them, or after a place the first ones behind it; all that are kept count when the file
    of that place is gone (``skipped``). Without a log there are none. Raise ``OSError`` when a file
    cannot be read."""
    files, after, limit = _files(folder), wanted.after, wanted.limit
    start, skipped = _start(files, after)
    found: list[tuple[LogLine, str]] = []
    place = after
    for path, offset in start:
        for line, ended in _lines(path, offset):
            place = ended
            if _takes(wanted, line):
                found.append((line, ended))
    page = found[-limit:]
    if after and len(found) > limit:
        page = found[:limit]
        place = page[-1][1]
    lines = tuple(line for line, _ in page)
    return AgentLogReply(lines, place or _end(files), skipped, len(found))


def _takes(wanted: AgentLog, line: LogLine) -> bool:
    """Whether it is severe enough, and has the text in it, in whatever case."""
    severe = RANKS[line.severity] >= RANKS[wanted.severity]
    return severe and wanted.containing.casefold() in line.text.casefold()


def read_piece(path: Path, offset: int, limit: int) -> tuple[bytes, int]:
    """Return at most ``limit`` bytes of a file from this offset, none behind its end, and its size;
    nothing and 0 where there is no file (yet). Raise ``OSError`` when it cannot be read."""
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


def _lines(path: Path, offset: int) -> Iterator[tuple[LogLine, str]]:
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


def _parsed(lines: list[str]) -> LogLine:
    found = _LINE.match(lines[0])
    if found is None:
        return LogLine(0, "info", "\n".join(lines))
    moment = datetime.strptime(found[1], TIME_FORMAT).astimezone()
    severity = next((each for each in RANKS if each == found[2]), ERROR)
    return LogLine(int(moment.timestamp() * 1000), severity, "\n".join([found[3], *lines[1:]]))
