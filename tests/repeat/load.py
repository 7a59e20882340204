"""Busy processes beside the tests: some that compute, and one that keeps the disk busy.

Each ends by itself when whoever started it is gone, however that ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PIECE_BYTES = 1024 * 1024
PIECES_MAX = 64
"""What is written stays small, and none of it stays unwritten."""


@contextmanager
def busy(processes: int, folder: Path) -> Iterator[None]:
    """Keep so many processes computing, and the disk of the folder busy if there are any."""
    kinds = [*processes * ["compute"], *["write"][:processes]]
    command = [sys.executable, "-m", __name__, str(os.getpid()), str(folder)]
    started = [subprocess.Popen([*command, kind]) for kind in kinds]
    try:
        yield
    finally:
        for each in started:
            each.kill()
        for each in started:
            each.wait()


def _compute(parent: int) -> None:
    while os.getppid() == parent:
        sum(range(100_000))


def _write(parent: int, folder: Path) -> None:
    with (folder / "busy").open("wb", buffering=0) as file:
        while os.getppid() == parent:
            file.seek(0)
            for _ in range(PIECES_MAX):
                file.write(os.urandom(PIECE_BYTES))
                os.fsync(file.fileno())


def main(parent: str, folder: str, kind: str) -> None:
    """Until the parent is gone."""
    if kind == "compute":
        _compute(int(parent))
    else:
        _write(int(parent), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
