"""Programs that this node can run: a folder each, with a description and its files.

For now the description is ``program.json`` with ``name``, ``command`` and ``outputs``. In the
command ``{python}`` stands for the Python that runs the agent and ``{folder}`` for the program's
folder, because a program works in a folder of its own and not there. ``read_description`` is the
only place that knows the format.

A folder that cannot be read is left out and said once, in a sentence; the others count.
"""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import dataclass
from pathlib import Path

DESCRIPTION = "program.json"
DESCRIPTION_BYTES_MAX = 256 * 1024
OUTPUTS_MAX = 1_000
NAME_LENGTH_MAX = 256

log = logging.getLogger(__name__)


class ProgramError(Exception):
    """One sentence: which program, what is wrong with it, what to do."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program as its description tells."""

    name: str
    command: tuple[str, ...]
    outputs: int
    folder: Path

    def command_line(self, arguments: list[str]) -> list[str]:
        """What to execute."""
        words = [
            word.replace("{folder}", str(self.folder)).replace("{python}", sys.executable)
            for word in self.command
        ]
        beside = self.folder / words[0]
        if not Path(words[0]).is_absolute() and beside.is_file():
            words[0] = str(beside)
        return words + arguments


class Programs:
    """The programs in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs: dict[str, Program] = {}
        self._complained: dict[str, None] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """What can be run here."""
        return tuple(sorted(self._programs))

    def get(self, name: str) -> Program | None:
        """One of them."""
        return self._programs.get(name)

    def look(self) -> tuple[str, ...]:
        """See what is in the folder now."""
        found: dict[str, Program] = {}
        for folder in self._folders():
            try:
                program = read_description(folder)
            except ProgramError as error:
                self._complain(str(error))
                continue
            other = found.get(program.name)
            if other is not None:
                self._complain(f"{folder} and {other.folder} are both called {program.name}.")
                continue
            found[program.name] = program
        self._programs = found
        return self.names

    def _folders(self) -> list[Path]:
        try:
            return sorted(each for each in self._folder.iterdir() if each.is_dir())
        except OSError as error:
            self._complain(f"The programs in {self._folder} cannot be listed ({error.strerror}).")
            return []

    def _complain(self, text: str) -> None:
        if text not in self._complained:
            self._complained[text] = None
            log.warning("%s", text)


def read_description(folder: Path) -> Program:
    """The program in a folder; raises ``ProgramError``."""
    path = folder / DESCRIPTION
    try:
        with path.open("rb") as file:
            data = file.read(DESCRIPTION_BYTES_MAX + 1)
        described = json.loads(data[:DESCRIPTION_BYTES_MAX])
    except OSError as error:
        raise ProgramError(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"{path} is not JSON ({error}).") from error
    if not isinstance(described, dict):
        raise ProgramError(f"{path} has to hold an object with name, command and outputs.")
    return Program(
        _name(path, described.get("name", folder.name)),
        _command(path, described.get("command")),
        _outputs(path, described.get("outputs", 0)),
        folder,
    )


def _name(path: Path, given: object) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= NAME_LENGTH_MAX:
        raise ProgramError(f"{path}: name has to be a text of 1 to {NAME_LENGTH_MAX} characters.")
    return given


def _command(path: Path, given: object) -> tuple[str, ...]:
    words = given if isinstance(given, list) else []
    if not words or not all(isinstance(word, str) and word for word in words):
        raise ProgramError(f'{path}: command has to be a list of words, like ["run", "--fast"].')
    return tuple(words)


def _outputs(path: Path, given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= OUTPUTS_MAX:
        raise ProgramError(f"{path}: outputs has to be a number from 0 to {OUTPUTS_MAX}.")
    return given
