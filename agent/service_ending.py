"""The ways in which a system asks a process to end, as one.

A terminal's Ctrl-C, a service manager, a logoff and a shutdown of the machine all mean the same to a
node: hand everything back and go. What they have in common is this interface; each system has a
module of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol

from agent.execution.child import GRACE_S

Asked = Callable[[str], None]
"""Called in the loop with the reason, as often as somebody asks."""


def program_grace_s() -> float:
    """How long programs may take to end by themselves: less where the system does not wait."""
    if sys.platform == "win32":
        from agent.service_ending_windows import PROGRAM_GRACE_S

        return PROGRAM_GRACE_S
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        return GRACE_S


class Ending(Protocol):
    """Watches for being asked to end."""

    def watch(self, asked: Asked) -> None:
        """Begin. To be called in the loop, in the main thread."""

    def ended(self) -> None:
        """The process has handed everything back; whoever waits for it may go on."""


def native_ending() -> Ending:
    """For the system that this runs on."""
    if sys.platform == "win32":
        from agent.service_ending_windows import WindowsEnding, native_api

        return WindowsEnding(native_api())
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.service_ending_posix import PosixEnding

        return PosixEnding()
