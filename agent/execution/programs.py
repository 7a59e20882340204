"""Programs that this node can run: a folder each, with a description and its files.

How a description is written is not known here: whoever puts the parts together hands in the reader.
A folder that cannot be read, or whose command may not be executed, is left out and said once, in a
sentence; the others count. Programs that came with a workflow are added one by one, under names
of their own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent.execution.allowed_commands import ConfinementError, command_line
from agent.execution.confinement.boundary import NO_WISHES, Wishes
from agent.execution.limits import NO_LIMITS, Limits
from agent.host.whose import exposed_way, exposed_within
from agent.protocol.messages import NeededBy

log = logging.getLogger(__name__)


class ProgramError(Exception):
    """One sentence: which program, what is wrong with it, what to do."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program as its description tells."""

    name: str
    folder: Path
    command: tuple[str, ...]
    outputs: tuple[str, ...] | None = None
    """Files that it leaves in its working folder, by name; None where its description does not
    say, and then all that it makes count."""
    limits: Limits = NO_LIMITS
    wishes: Wishes = NO_WISHES
    """What it asks for beyond its boundary."""
    version: str = ""
    needs: NeededBy | None = None
    """What it needs besides what its machine is; None where that is nothing."""
    unfit: str = ""
    """Why this machine cannot run it; empty when it can."""

    def command_line(self) -> list[str]:
        """Return the program's command with absolute paths, its files looked at anew; raise
        ``ProgramError`` when it may not or cannot be executed."""
        try:
            return command_line(self.folder, self.command)
        except ConfinementError as error:
            raise ProgramError(f"{self.name} cannot be executed: {error}") from error


Reader = Callable[[Path], Program]
"""Reads the program in a folder; raises ``ProgramError``."""


class Programs:
    """The programs in one folder, those that others have put beside, and those that were added."""

    def __init__(self, folder: Path, read: Reader, beside: Sequence[Path] = ()) -> None:
        self.folder, self._read, self._beside = folder, read, beside
        self._installed: dict[str, Program] = {}
        self._added: dict[str, Program] = {}
        self._complained: dict[str, None] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the programs that can be run here."""
        return tuple(sorted(self._installed.keys() | self._added.keys()))

    def all(self) -> tuple[Program, ...]:
        """Return all programs that can be run here, in the order of their names."""
        found = (self.get(name) for name in self.names)
        return tuple(each for each in found if each is not None)

    def get(self, name: str) -> Program | None:
        """Return the program of this name, installed or added; None when there is none."""
        return self._installed.get(name) or self._added.get(name)

    def look(self) -> tuple[str, ...]:
        """Read the folders of programs anew and return the names of all programs, added ones too;
        folders that are unusable, do not suit this machine or repeat a name are left out and
        logged, each complaint once. Of one name the first counts: its own go before those beside."""
        found: dict[str, Program] = {}
        for folder in self._folders():
            program = self._usable(folder)
            other = found.get(program.name) if program is not None else None
            if program is None:
                continue
            if other is not None:
                self._complain(f"{folder} and {other.folder} are both called {program.name}.")
                continue
            found[program.name] = program
        self._installed = found
        return self.names

    def add(self, name: str, folder: Path) -> Program:
        """Add the program in this folder under this name, in place of one added before, and return
        it; raise ``ProgramError``, and add nothing, when it cannot be read or executed. Whether it
        suits this machine is not looked at. An installed one of that name goes first."""
        program = replace(self._read(folder), name=name)
        program.command_line()
        self._added[name] = program
        return program

    def drop(self, name: str) -> None:
        """Forget a program that was added; an unknown name is ignored."""
        self._added.pop(name, None)

    def _usable(self, folder: Path) -> Program | None:
        try:
            exposed = exposed_way(folder) or exposed_within(folder)
            if exposed:
                raise ProgramError(f"{folder} {exposed}; it is not run before.")
            program = self._read(folder)
            program.command_line()
        except OSError as error:
            self._complain(f"{folder} cannot be read ({error.strerror}).")
            return None
        except ProgramError as error:
            self._complain(str(error))
            return None
        if program.unfit:
            self._complain(f"{program.name} does not run on this machine: {program.unfit}.")
            return None
        return program

    def _folders(self) -> list[Path]:
        found: list[Path] = []
        there = (each for each in self._beside if each.exists())
        for folder in (self.folder, *there):
            try:
                found += sorted(each for each in folder.iterdir() if each.is_dir())
            except OSError as error:
                self._complain(f"The programs in {folder} cannot be listed ({error.strerror}).")
        return found

    def _complain(self, text: str) -> None:
        if text not in self._complained:
            self._complained[text] = None
            log.warning("%s", text)
