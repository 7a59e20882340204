"""The names of all processes on Linux, read from the process file system.

Each is one small file; a list by way of the full descriptions costs ten times as much, every few
seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROCESSES = Path("/proc")


def linux_names(processes: Path = PROCESSES) -> Iterator[tuple[int, str]]:
    """Number and name of each; raises ``OSError`` where there is no such file system."""
    for folder in processes.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                name = (folder / "comm").read_bytes()
                yield int(folder.name), name.decode("utf-8", "replace").strip()
