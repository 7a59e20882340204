"""Signals: SIGTERM of a service manager or shutdown, SIGINT of Ctrl-C, SIGHUP of a closed terminal.

A second one of them does not hurry anything: handing back has its own limit.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable

assert sys.platform != "win32"

REASONS = {
    signal.SIGTERM: "asked to end by the system",
    signal.SIGINT: "stopped from the terminal",
    signal.SIGHUP: "the terminal was closed",
}


class PosixEnding:
    """Hears that the process is asked to end by the loop's signal handlers."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def watch(self, asked: Callable[[str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        for number, reason in REASONS.items():
            self._loop.add_signal_handler(number, asked, reason)

    def ended(self) -> None:
        if self._loop is not None:
            for number in REASONS:
                self._loop.remove_signal_handler(number)
