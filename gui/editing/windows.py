"""What opens a file on Windows: as the shell tells it, from the associations in the registry."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from ctypes import wintypes
from pathlib import Path

PLAIN_TEXT = ".txt"
ASSOCF_NONE, ASSOCSTR_COMMAND = 0, 1
LETTERS_MAX = 4096

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
    ``.exe``, else the first word; empty for an empty line."""
    bare = command.strip()
    if bare.startswith('"'):
        return bare[1:].partition('"')[0]
    place = bare.casefold().find(".exe")
    return bare[: place + 4] if place >= 0 else bare.partition(" ")[0]


def associated(ending: str) -> str:
    """Return the command line that opens such files, as the shell knows it; empty for none, and on
    other systems."""
    if sys.platform == "win32":
        ask = ctypes.windll.shlwapi.AssocQueryStringW
        ask.argtypes = (
            *(wintypes.DWORD, ctypes.c_int, wintypes.LPCWSTR, wintypes.LPCWSTR),
            *(wintypes.LPWSTR, ctypes.POINTER(wintypes.DWORD)),
        )
        ask.restype = ctypes.c_long
        text = ctypes.create_unicode_buffer(LETTERS_MAX)
        size = wintypes.DWORD(LETTERS_MAX)
        if not ask(ASSOCF_NONE, ASSOCSTR_COMMAND, ending, "open", text, ctypes.byref(size)):
            return text.value
    return ""
