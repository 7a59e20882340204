"""The names of all processes on Linux, read from the process file system.

Each is one small file; a list by way of the full descriptions costs ten times as much, every few
seconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROCESSES = Path("/proc")
NAME_BYTES_MAX = 64


def linux_names(processes: Path = PROCESSES) -> Iterator[tuple[int, str]]:
    """Yield id and name of each process; raise ``OSError`` where there is no such file system."""
    for number in os.listdir(processes):  # noqa: PTH208 - paths would cost more than the reading
        if number.isdigit():
            with suppress(OSError):
                yield int(number), _name(f"{processes}/{number}/comm")


def _name(path: str) -> str:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, NAME_BYTES_MAX).decode("utf-8", "replace").strip()
    finally:
        os.close(file)
