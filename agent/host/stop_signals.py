"""The ways in which a system asks a process to end, as one.

A terminal's Ctrl-C, a service manager, a logoff and a shutdown of the machine all mean the same to a
node: hand everything back and go. What they have in common is this interface; each system has a
module of its own.

A process may also belong to the one that started it. No system tells a child in time that its
parent was killed, but each closes the parent's pipes: so such a process reads its input until that ends.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

STANDARD_INPUT = 0
READ_BYTES_MAX = 4_096
INPUT_ENDED = "whoever started it has ended"
Asked = Callable[[str], None]
"""Called in the loop with the reason, as often as somebody asks."""


class Ending(Protocol):
    """Watches for being asked to end."""

    def watch(self, asked: Asked) -> None:
        """Begin. To be called in the loop, in the main thread."""

    def ended(self) -> None:
        """Let whoever waits for the end of this process go on: everything is handed back."""


class InputEnding:
    """In the ways of the system, and when the input of this process ends."""

    def __init__(self, native: Ending, descriptor: int = STANDARD_INPUT) -> None:
        self._native, self._descriptor = native, descriptor

    def watch(self, asked: Asked) -> None:
        """Begin to watch, in a thread, and return at once: ``asked`` is called in the running loop
        with the reason, once standard input ends and whenever the system asks this process to
        end."""
        self._native.watch(asked)
        arguments = (asyncio.get_running_loop(), asked)
        threading.Thread(
            target=self._read, args=arguments, name="input ending", daemon=True
        ).start()

    def ended(self) -> None:
        self._native.ended()

    def _read(self, loop: asyncio.AbstractEventLoop, asked: Asked) -> None:
        with suppress(OSError):  # an input that cannot be read has ended too
            while os.read(self._descriptor, READ_BYTES_MAX):
                pass
        with suppress(RuntimeError):  # the process has ended meanwhile
            loop.call_soon_threadsafe(asked, INPUT_ENDED)


def native_ending() -> Ending:
    """Return what watches for requests to end on the system that this runs on."""
    if sys.platform == "win32":
        from agent.host.stop_signals_windows import WindowsEnding
        from agent.host.windows_api import CtypesApi

        return WindowsEnding(CtypesApi())
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.host.stop_signals_posix import PosixEnding

        return PosixEnding()
