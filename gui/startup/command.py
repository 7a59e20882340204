"""The command by which the system starts this program again, at login or after an update."""

from __future__ import annotations

import sys


def own_command() -> tuple[str, ...]:
    """Return the command that starts this program, word by word."""
    if getattr(sys, "frozen", False):
        return (sys.executable,)
    return (sys.executable, "-m", "gui.app")
