"""Starting at login, behind one interface: an entry of the autostart folder, or a value of the registry.

The system keeps a command and knows nothing else of us, so whether the switch is on is asked of the
system each time, and nothing of it is kept here. On Linux it is what freedesktop.org describes; on
Windows a value under the user's own Run key, which Qt reads and writes as settings.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QSettings

from agent.client import removal
from agent.client.removal import (
    VALUE,
    login_entry,
    start_no_more,
    starts_at_login,
    system_entry,
)

_ENTRY_TEXT = """\
[Desktop Entry]
Type=Application
Name=Wingbeat
Comment=Lets this computer help its flock while nobody uses it
Exec={command} --background
Icon=wingbeat
Terminal=false
X-GNOME-Autostart-enabled=true
"""
RUN_KEY = rf"HKEY_CURRENT_USER\{removal.RUN_KEY}"


class Login(Protocol):
    """Whether the tray starts when its owner logs in. All may raise ``OSError``."""

    def enabled(self) -> bool:
        """Tell whether the system starts this program at login."""
        ...

    def enable(self) -> None:
        """Have the system start this program from the next login on."""
        ...

    def disable(self) -> None:
        """Have the system not start this program any more."""
        ...


def native_login() -> Login:
    """Return what starts programs at login on this system."""
    return WindowsLogin() if sys.platform == "win32" else LinuxLogin()


def switch(login: Login, on: bool) -> str:
    """Have this program start at login from now on, or not any more. Return why the system refuses,
    as a sentence; empty where it does not."""
    try:
        if on:
            login.enable()
        else:
            login.disable()
    except OSError as error:
        return f"{error.filename or ''}: {error.strerror}".lstrip(": ") + "."
    return ""


class LinuxLogin:
    """Starts at login by an autostart entry, the person's own or that of a package for all;
    satisfies ``Login``."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment

    def enabled(self) -> bool:
        """Tell whether this program starts at login; an own entry goes before the system's, and a
        hidden one counts as none. Raises ``OSError`` for one that cannot be read."""
        return starts_at_login(self._environment)

    def enable(self) -> None:
        """Write the autostart entry, over one that is there, with the installed command if it is
        found, else with this Python; where the system has an entry, that one is left to do it.
        Raises ``OSError``."""
        file = login_entry(self._environment)
        if system_entry(self._environment) is not None:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        installed = shutil.which("wingbeat-tray")
        words = (installed,) if installed else _own_command()
        command = " ".join(_quoted(word) for word in words)
        file.write_text(_ENTRY_TEXT.format(command=command), "utf-8")

    def disable(self) -> None:
        """Remove the autostart entry, if it is there; hide that of the system."""
        start_no_more(self._environment)


def run_key() -> QSettings:
    """Return the values of the user's own Run key; on another system there are none."""
    return QSettings(RUN_KEY, QSettings.Format.NativeFormat)


class WindowsLogin:
    """Starts at login by a value of the registry; satisfies ``Login``."""

    def __init__(self, values: Callable[[], QSettings] = run_key) -> None:
        self._values = values

    def enabled(self) -> bool:
        """Tell whether there is a value of ours, whatever its command is."""
        return self._values().contains(VALUE)

    def enable(self) -> None:
        """Write the value that starts this program in the background, with a Python without a
        console window where there is one. Raises ``OSError`` where an administrator has locked
        it."""
        values = self._values()
        values.setValue(VALUE, subprocess.list2cmdline(_quiet_command()))
        _written(values)

    def disable(self) -> None:
        """Remove the value, if it is there. Raises ``OSError`` as ``enable`` does."""
        values = self._values()
        values.remove(VALUE)
        _written(values)


def _own_command() -> tuple[str, ...]:
    """Return the command that starts this program again, word by word."""
    if getattr(sys, "frozen", False):
        return (sys.executable,)
    return (sys.executable, "-m", "gui")


def _quoted(word: str) -> str:
    """Return the word as the specification of desktop entries wants it."""
    if not any(sign in word for sign in " \t\"'\\><~|&;$*?#()`"):
        return word.replace("%", "%%")
    for sign in '\\"`$':
        word = word.replace(sign, "\\" + sign)
    return f'"{word}"'.replace("%", "%%")


def _written(values: QSettings) -> None:
    values.sync()
    if values.status() is not QSettings.Status.NoError:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), values.fileName())


def _quiet_command() -> list[str]:
    first, *rest = _own_command()
    quiet = Path(first).with_name("pythonw.exe")
    if Path(first).name.lower() == "python.exe" and quiet.exists():
        first = str(quiet)
    return [first, *rest, "--background"]
