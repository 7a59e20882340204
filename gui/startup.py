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
from agent.client.own_agent import own_command
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
SYSTEM_RUN_KEY = rf"HKEY_LOCAL_MACHINE\{removal.RUN_KEY}"
OWN_KEY = rf"HKEY_CURRENT_USER\{removal.OWN_KEY}"


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
        """Write the autostart entry, over one that is there, which starts the installed command if
        it is found, else this Python, in the background. Where the system has an entry, remove the
        person's own instead, so that the system's counts. Raises ``OSError``."""
        file = login_entry(self._environment)
        if system_entry(self._environment) is not None:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        installed = shutil.which("wingbeat-tray")
        words = (installed,) if installed else own_command("gui")
        command = " ".join(_quoted(word) for word in words)
        file.write_text(_ENTRY_TEXT.format(command=command), "utf-8")

    def disable(self) -> None:
        """Remove the autostart entry, if it is there; hide that of the system."""
        start_no_more(self._environment)


def registry(key: str) -> QSettings:
    """Return the values of a key of the registry; on another system there are none."""
    return QSettings(key, QSettings.Format.NativeFormat)


class WindowsLogin:
    """Starts at login by a value of the registry, the person's own or that of a package for all,
    which only administrators may change; so who does not want that one says it in a value of their
    own, and the program looks there before it stays (``--at-login``). Satisfies ``Login``."""

    def __init__(self, values: Callable[[str], QSettings] = registry) -> None:
        self._values = values

    def enabled(self) -> bool:
        """Tell whether there is a value of ours, whatever its command is: the person's, or the
        system's where the person has not switched that off."""
        if self._values(RUN_KEY).contains(VALUE):
            return True
        return self._by_system() and not self._values(OWN_KEY).contains(removal.NOT_AT_LOGIN)

    def enable(self) -> None:
        """Write the value that starts this program in the background, with a Python without a
        console window where there is one. Where the system has one, remove the person's own
        instead, and what switches the system's off. Raises ``OSError`` where an administrator has
        locked it."""
        self._set(OWN_KEY, removal.NOT_AT_LOGIN, None)
        command = None if self._by_system() else subprocess.list2cmdline(_quiet_command())
        self._set(RUN_KEY, VALUE, command)

    def disable(self) -> None:
        """Remove the value, if it is there; say no to that of the system. Raises ``OSError`` as
        ``enable`` does."""
        self._set(RUN_KEY, VALUE, None)
        self._set(OWN_KEY, removal.NOT_AT_LOGIN, "1" if self._by_system() else None)

    def _by_system(self) -> bool:
        return self._values(SYSTEM_RUN_KEY).contains(VALUE)

    def _set(self, key: str, name: str, value: str | None) -> None:
        values = self._values(key)
        if value is None and not values.contains(name):
            return
        if value is None:
            values.remove(name)
        else:
            values.setValue(name, value)
        _written(values)


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
    first, *rest = own_command("gui")
    quiet = Path(first).with_name("pythonw.exe")
    if Path(first).name.lower() == "python.exe" and quiet.exists():
        first = str(quiet)
    return [first, *rest, "--background"]
