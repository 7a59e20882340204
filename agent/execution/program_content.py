"""What an installed program is, besides its name: its description and files, as one digest.

Somebody may edit it where it lies, and then what it made before is another program's. Files that are
as they were at the last look, by size and times, are not read again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from agent.execution.programs import Programs

LETTERS = 32
COMPILED = "__pycache__"
"""Python makes it while a program runs, so it is no part of what the program is."""
State = tuple[str, int, int, int, int]


def contents(programs: Programs, names: Iterable[str]) -> dict[str, str]:
    """Return by name the digests of the files of these programs, without what Python compiles;
    those that are not here or cannot be read are left out. Waits for the disk."""
    found = {}
    for name in names:
        program = programs.get(name)
        try:
            if program is not None:
                found[name] = _digest(program.folder, tuple(_states(program.folder)))
        except OSError:
            continue
    return found


def _states(folder: Path) -> Iterator[State]:
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each != COMPILED)
        for name in sorted(files):
            file = Path(path, name)
            known = file.stat()
            times = known.st_mtime_ns, known.st_ctime_ns
            yield file.relative_to(folder).as_posix(), known.st_size, *times, known.st_mode


@lru_cache(maxsize=256)
def _digest(folder: Path, states: tuple[State, ...]) -> str:
    digest = hashlib.sha256()
    for name, *_, mode in states:
        with (folder / name).open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        digest.update(repr((name, bool(mode & 0o100), content)).encode())
    return digest.hexdigest()[:LETTERS]
