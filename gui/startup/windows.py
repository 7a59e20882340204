"""At login on Windows: a value under the user's own Run key."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Protocol

from gui.startup.command import own_command

RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
VALUE = "Wingbeat"


class Registry(Protocol):
    """As much of the registry as is needed, of the current user."""

    def read(self, key: str, name: str) -> str | None:
        """Return the text of a value; None where there is no such value."""
        ...

    def write(self, key: str, name: str, text: str) -> None:
        """Make a value, or change it."""
        ...

    def remove(self, key: str, name: str) -> None:
        """Remove a value; nothing happens where there is none."""
        ...


class WindowsLogin:
    """Starts at login by a value of the registry; satisfies ``Login``."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def enabled(self) -> bool:
        """Tell whether there is a value of ours, whatever its command is."""
        return self._registry.read(RUN_KEY, VALUE) is not None

    def enable(self) -> None:
        """Write the value, with a Python without a console window where there is one."""
        self._registry.write(RUN_KEY, VALUE, subprocess.list2cmdline(_command()))

    def disable(self) -> None:
        """Remove the value, if it is there."""
        self._registry.remove(RUN_KEY, VALUE)


def _command() -> list[str]:
    first, *rest = own_command()
    quiet = Path(first).with_name("pythonw.exe")
    if Path(first).name.lower() == "python.exe" and quiet.exists():
        first = str(quiet)
    return [first, *rest, "--background"]


def native_registry() -> Registry:
    """Return the user's own registry. Raises ``OSError`` on other systems."""
    if sys.platform == "win32":
        from gui.startup.windows_registry import UserRegistry

        return UserRegistry()
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        raise OSError("there is no registry on this system")
