"""What of a program's command may be executed: files of its own folder, and nothing else.

A task names a program, never a path, so what a flock executes on a machine is what lies in the
machine's program folders. A command that named a file elsewhere, or a symbolic link that leads
there, would undo that. The one exception are interpreters, a short list, and of those only with a
script of the folder: an option that takes a program text (``sh -c``, ``python -m``) is none of
the options that are let through.

The commands are looked at again before each start, because files change.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

PYTHON = "{python}"
FOLDER = "{folder}"
_PLAIN_SHELL = r"-[eux]+"
_PYTHON = r"-[BEIOPSsu]+|-X[a-z_=0-9]+"
_POWERSHELL = r"(?i)-(NoProfile|NonInteractive|NoLogo|ExecutionPolicy|Bypass|File)|Bypass"
INTERPRETERS = {
    PYTHON: _PYTHON,
    "python": _PYTHON,
    "python3": _PYTHON,
    "sh": _PLAIN_SHELL,
    "bash": _PLAIN_SHELL,
    "node": r"--max-old-space-size=[0-9]+",
    "java": r"-jar|-Xm[xs][0-9]+[kmgKMG]|-D[A-Za-z0-9._=-]+",
    "perl": r"-[wT]+",
    "ruby": r"-[wW]",
    "Rscript": r"--vanilla",
    "powershell": _POWERSHELL,
    "pwsh": _POWERSHELL,
    "cmd": r"(?i)/[dc]",
}
"""The words that may stand before a script, and which options may be between the two."""
BATCH_FILES = (".bat", ".cmd")
CMD_ACTS_ON = '&|<>^%"\r\n'
"""Letters on which Windows' cmd acts, in whatever quotes a word arrives."""


class ConfinementError(Exception):
    """One sentence: what cannot be executed and why."""


def command_line(
    folder: Path, command: Sequence[str], *, windows: bool = sys.platform == "win32"
) -> list[str]:
    """Return the command with absolute paths, by the rules of ``windows`` or of other systems;
    raise ``ConfinementError`` when it is empty, its file or interpreter is missing or not
    executable, an option of an interpreter is not allowed, or it would execute something outside
    the program's folder."""
    if not command:
        raise ConfinementError("it has no command")
    told = [word.replace(FOLDER, str(folder)) for word in command]
    options = INTERPRETERS.get(told[0])
    if options is None:
        told[0] = str(_executable(folder, told[0], windows))
        return [word.replace(PYTHON, sys.executable) for word in told]
    place = 1
    while place < len(told) and re.fullmatch(options, told[place]):
        place += 1
    if place == len(told) or told[place].startswith("-"):
        said = f"{told[place]} is no option that it may have, and " if place < len(told) else ""
        raise ConfinementError(
            f"{said}{told[0]} needs a script of the program's folder, like [{told[0]}, run]"
        )
    told[place] = str(_inside(folder, told[place]))
    if windows and told[0] == "cmd":
        return _batch(told[place:])
    return [_interpreter(told[0]), *told[1:]]


def refuse_steering(command: Sequence[str], told: Sequence[str]) -> None:
    """Raise ``ConfinementError`` when the command is a batch file of Windows and one of these words
    of a task has a letter on which cmd acts: it would execute what stands behind an ``&``, whoever
    wrote it. Do nothing for other commands."""
    if not command[0].lower().endswith(BATCH_FILES):
        return
    for word in told:
        found = next((letter for letter in word if letter in CMD_ACTS_ON), "")
        if found:
            raise ConfinementError(
                f"a batch file cannot be told {word[:100]!r}, because cmd acts on {found!r}: leave "
                "it out, or let the program be an .exe or a script of another language"
            )


def _batch(command: list[str]) -> list[str]:
    """By itself: behind ``cmd /c``, a folder with a space in its name is not found."""
    if not command[0].lower().endswith(BATCH_FILES):
        raise ConfinementError(f"{command[0]} is no batch file: cmd needs a .bat or .cmd")
    return command


def _interpreter(name: str) -> str:
    if name == PYTHON:
        return sys.executable
    found = shutil.which(name)
    if found is None:
        raise ConfinementError(f"{name} is not installed on this machine")
    return found


def _executable(folder: Path, name: str, windows: bool) -> Path:
    if windows and not Path(name).suffix:
        name += ".exe"
    path = _inside(folder, name)
    if not windows and not os.access(path, os.X_OK):
        raise ConfinementError(f"{path} is not executable (Permission denied): chmod +x it")
    return path


def _lies_in(folder: Path, name: str) -> bool:
    """A file right in the folder, neither of them a link, as nearly all are: little to look at."""
    if not folder.is_absolute() or Path(name).name != name:
        return False
    try:
        plain = stat.S_ISREG((folder / name).lstat().st_mode)
        return plain and stat.S_ISDIR(folder.lstat().st_mode)
    except (OSError, ValueError):
        return False


def _inside(folder: Path, name: str) -> Path:
    """The real place of a file of the folder, every link followed."""
    if _lies_in(folder, name):
        return folder / name
    try:
        home = folder.resolve(strict=True)
        path = (home / name).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        known = ", ".join(sorted(INTERPRETERS))
        raise ConfinementError(
            f"{name} is not a file of {folder}: a command begins with one, or with an interpreter "
            f"({known})"
        ) from error
    if not path.is_relative_to(home):
        raise ConfinementError(
            f"{name} leads out of {folder}: only what lies in a program's folder is executed"
        )
    if not path.is_file():
        raise ConfinementError(f"{path} is no file")
    return path
