"""Coming to front when another process asks for it, which systems do not let every program do.

A window that came to front whenever it liked would take what a person types elsewhere; so systems
want to see that the person did something. Whoever was started by the person passes that right on:
on Wayland as a token from the environment, on Windows by a call. X11 asks for nothing.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import MutableMapping
from typing import Any, Protocol

WAYLAND, TOKEN = "WAYLAND_DISPLAY", "XDG_ACTIVATION_TOKEN"
ANY_PROCESS = 0xFFFFFFFF
TOKEN_MAX = 512


class Foreground(Protocol):
    """The way to come to front: what one process gives, and another takes."""

    def give(self) -> str:
        """Return what lets the other process come to front; for the one that the person started."""
        ...

    def take(self, way: str) -> None:
        """Use what the other process gave, right before this one's window comes to front."""
        ...


class TokenForeground:
    """freedesktop.org's activation: launchers put a token into the environment of what they start."""

    def __init__(self, environment: MutableMapping[str, str] = os.environ) -> None:
        self._environment = environment

    def give(self) -> str:
        """Return the launcher's token; empty where nobody gave one, as on a command line."""
        return self._environment.get(TOKEN, "")

    def take(self, way: str) -> None:
        """Put the token where Qt reads it, once, at the next window that is activated. Does nothing
        outside Wayland, and with a token that is empty, too long or not printable."""
        if WAYLAND in self._environment and 0 < len(way) <= TOKEN_MAX and way.isprintable():
            self._environment[TOKEN] = way


class WindowsForeground:
    """Whoever the person started may name others that may come to front as well."""

    def __init__(self, user: Any) -> None:
        self._allow = user.AllowSetForegroundWindow
        self._allow.argtypes = [ctypes.c_uint32]
        self._allow.restype = ctypes.c_int

    def give(self) -> str:
        """Let any process come to front until the next input, for the other one's number is not
        known here; return nothing."""
        self._allow(ANY_PROCESS)
        return ""

    def take(self, way: str) -> None:
        """Do nothing: ``give`` has allowed it already."""


def native_foreground() -> Foreground:
    """Return the way to come to front on this system: a call on Windows, a token everywhere else,
    which only Wayland wants."""
    if sys.platform == "win32":
        return WindowsForeground(ctypes.windll.user32)
    return TokenForeground()
