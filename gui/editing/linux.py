"""What opens a file on Linux: as ``xdg-mime`` says, out of the desktop entry that it names."""

from __future__ import annotations

import configparser
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ASK_S_MAX = 5.0
PLAIN_TEXT = "text/plain"
ENTRY = "Desktop Entry"

Ask = Callable[[list[str]], str]
"""What a command says; empty where it fails."""


class LinuxAssociations:
    """Tells the programs of files as ``xdg-mime`` does; satisfies ``Associations``."""

    def __init__(self, ask: Ask, environment: Mapping[str, str] = os.environ) -> None:
        self._ask, self._environment = ask, environment

    def command_for(self, path: Path) -> tuple[str, ...]:
        """Return the command of the program for this kind of file, without the file; if the system
        names none, of that for plain text: editors often claim only that. Empty where it names
        neither, or the one that it names cannot be started from here. Raises ``OSError`` where the
        entry of that program cannot be read."""
        kind = self._ask(["xdg-mime", "query", "filetype", str(path)])
        for each in dict.fromkeys((kind, PLAIN_TEXT)):
            entry = self._ask(["xdg-mime", "query", "default", each]) if each else ""
            if entry:
                return self._command(entry)
        return ()

    def _command(self, entry: str) -> tuple[str, ...]:
        for folder in self._folders():
            # An entry "kde-kate.desktop" may lie in a folder "kde".
            for name in (entry, entry.replace("-", "/", 1)):
                if (folder / name).is_file():
                    return command_of((folder / name).read_text("utf-8", "replace"))
        return ()

    def _folders(self) -> Iterator[Path]:
        told = self._environment.get
        own = told("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
        shared = told("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
        for each in (own, *shared.split(":")):
            if each:
                yield Path(each) / "applications"


def command_of(entry: str) -> tuple[str, ...]:
    """Return the command in a desktop entry's text, word by word and without its places for files.
    Empty where there is none, it cannot be read, or it wants a terminal, because none is opened for
    it here."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(entry)
        section = parser[ENTRY]
        words = shlex.split(section.get("Exec", ""))
    except (configparser.Error, KeyError, ValueError):
        return ()
    if section.get("Terminal", "").casefold() == "true":
        return ()
    return tuple(
        word.replace("%%", "%") for word in words if not (len(word) == 2 and _is_place(word))
    )


def _is_place(word: str) -> bool:
    return word[0] == "%" and word[1] != "%"


def ask_system(command: list[str]) -> str:
    """Run a command of the system, wait for it and return what it prints, stripped; empty if it
    fails, is missing or takes longer than ``ASK_S_MAX``."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=ASK_S_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
