"""What opens a file on Windows: as the shell tells it, from the associations in the registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PLAIN_TEXT = ".txt"

Associated = Callable[[str], str]
"""The command line that is associated with an ending like ``.yaml``; empty for none."""


class WindowsAssociations:
    """Satisfies ``Associations``."""

    def __init__(self, associated: Associated) -> None:
        self._associated = associated

    def command_for(self, path: Path) -> tuple[str, ...]:
        """Who has no program for YAML has one for text."""
        for ending in dict.fromkeys((path.suffix.lower(), PLAIN_TEXT)):
            program = program_of(self._associated(ending)) if ending else ""
            if program:
                return (program,)
        return ()


def program_of(command: str) -> str:
    """The first word of a command line; paths with blanks are quoted, or end with ``.exe``."""
    bare = command.strip()
    if bare.startswith('"'):
        return bare[1:].partition('"')[0]
    place = bare.casefold().find(".exe")
    return bare[: place + 4] if place >= 0 else bare.partition(" ")[0]
