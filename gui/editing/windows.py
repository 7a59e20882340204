"""What opens a file on Windows: as the shell tells it, from the associations in the registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PLAIN_TEXT = ".txt"

Associated = Callable[[str], str]
"""The command line that is associated with an ending like ``.yaml``; empty for none."""


class WindowsAssociations:
    """Tells the programs of files as the registry does; satisfies ``Associations``."""

    def __init__(self, associated: Associated) -> None:
        self._associated = associated

    def command_for(self, path: Path) -> tuple[str, ...]:
        """Return the program that opens such files, else the one for plain text, without arguments;
        empty where neither is known."""
        for ending in dict.fromkeys((path.suffix.lower(), PLAIN_TEXT)):
            program = program_of(self._associated(ending)) if ending else ""
            if program:
                return (program,)
        return ()


def program_of(command: str) -> str:
    """Return the program at the beginning of a command line: what is quoted, else all up to
    ``.exe``, else the first word."""
    bare = command.strip()
    if bare.startswith('"'):
        return bare[1:].partition('"')[0]
    place = bare.casefold().find(".exe")
    return bare[: place + 4] if place >= 0 else bare.partition(" ")[0]
