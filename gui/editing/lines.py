"""How editors are told a line: the few ways that there are, by the names of the programs; and which
one opens a file here, asked of the system beside Qt's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from gui.editing import Associations

_WAYS = {
    ("--goto", "{path}:{line}"): (
        "code code-insiders codium vscodium cursor com.visualstudio.code com.vscodium.codium"
    ),
    ("+{line}", "{path}"): (
        "gedit gnome-text-editor org.gnome.TextEditor org.gnome.gedit xed pluma gvim emacs"
    ),
    ("-l", "{line}", "{path}"): (
        "kate kwrite org.kde.kate org.kde.kwrite geany org.geany.Geany mousepad"
    ),
    ("-n{line}", "{path}"): "notepad++",
    ("--line", "{line}", "{path}"): (
        "pycharm pycharm64 pycharm-community pycharm-professional idea idea64 webstorm clion"
    ),
    ("{path}:{line}",): "subl sublime_text zed",
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
    if way is None or line <= 0:
        return []
    return [*bare, *(word.format(path=path, line=line) for word in way)]


def _name(word: str) -> str:
    """Return a program's name without folder and ending; ids of Flatpak have dots and are no
    files."""
    name = (PureWindowsPath(word) if "\\" in word else PurePosixPath(word)).name.casefold()
    for ending in (".exe", ".cmd", ".sh"):
        name = name.removesuffix(ending)
    return name


async def editor_command(associations: Associations, path: Path, line: int) -> list[str]:
    """Return the command that opens the file at the line in the person's editor, for which the
    system is asked in another thread. Empty where only the file can be opened: the line is not
    above 0, or the editor is not known, cannot be asked for or takes no line."""

    def found() -> list[str]:
        try:
            return at_line(associations.command_for(path), path, line)
        except OSError:
            return []

    return await asyncio.to_thread(found) if line > 0 else []
