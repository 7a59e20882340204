"""Opening a file at a line, behind one interface: what opens such files here differs by system.

Which editor a person has chosen for a kind of file is asked of the system; whether that editor takes
a line, and how, is known in ``lines``. What is not known there is opened as a click would open it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Protocol


class Associations(Protocol):
    """What opens files on this system. May take a moment; raises ``OSError``."""

    def command_for(self, path: Path) -> tuple[str, ...]:
        """Return the program that opens the file and its words, without the file; empty where none
        is known."""
        ...


def native_associations() -> Associations:
    """Return what knows the programs of files on this system: the registry on Windows, ``xdg-mime``
    everywhere else."""
    if sys.platform == "win32":
        from gui.editing.windows import WindowsAssociations, associated

        return WindowsAssociations(associated)
    from gui.editing.linux import LinuxAssociations, ask_system

    return LinuxAssociations(ask_system)
