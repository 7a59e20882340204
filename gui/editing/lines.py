"""How editors are told a line: the few ways that there are, by the names of the programs; and which
one opens a file here, asked of the system beside Qt's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from gui.editing import Associations

Words = Callable[[str, int], list[str]]


def _at_colon(path: str, line: int) -> list[str]:
    return [f"{path}:{line}"]


def _goto(path: str, line: int) -> list[str]:
    return ["--goto", f"{path}:{line}"]


def _plus(path: str, line: int) -> list[str]:
    return [f"+{line}", path]


def _letter(path: str, line: int) -> list[str]:
    return ["-l", str(line), path]


def _number(path: str, line: int) -> list[str]:
    return [f"-n{line}", path]


def _named(path: str, line: int) -> list[str]:
    return ["--line", str(line), path]


_WAYS: dict[Words, str] = {
    _goto: "code code-insiders codium vscodium cursor com.visualstudio.code com.vscodium.codium",
    _plus: "gedit gnome-text-editor org.gnome.TextEditor org.gnome.gedit xed pluma gvim emacs",
    _letter: "kate kwrite org.kde.kate org.kde.kwrite geany org.geany.Geany mousepad",
    _number: "notepad++",
    _named: "pycharm pycharm64 pycharm-community pycharm-professional idea idea64 webstorm clion",
    _at_colon: "subl sublime_text zed",
}
_BY_NAME = {name.casefold(): way for way, names in _WAYS.items() for name in names.split()}
FORWARDED = ("@@", "@@u")
"""Flatpak's marks around files."""


def at_line(command: Sequence[str], path: Path, line: int) -> list[str]:
    """Return the command with what makes this editor open the file at the line; empty if the editor
    is not known to do so or the line is not above 0.

    The editor may stand behind what starts it, such as ``env`` or ``flatpak run``.
    """
    bare = [word for word in command if word not in FORWARDED]
    way = next((found for word in bare if (found := _BY_NAME.get(_name(word)))), None)
    return [*bare, *way(str(path), line)] if way is not None and line > 0 else []


def _name(word: str) -> str:
    """Return a program's name without folder and ending; ids of Flatpak have dots and are no
    files."""
    name = (PureWindowsPath(word) if "\\" in word else PurePosixPath(word)).name.casefold()
    for ending in (".exe", ".cmd", ".sh"):
        name = name.removesuffix(ending)
    return name


async def editor_command(associations: Associations, path: Path, line: int) -> list[str]:
    """Return the command that opens the file at the line; empty where only the file can be
    opened."""

    def found() -> list[str]:
        try:
            return at_line(associations.command_for(path), path, line)
        except OSError:
            return []

    return await asyncio.to_thread(found) if line > 0 else []
