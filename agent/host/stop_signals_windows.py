"""Windows asks in two ways, and ends the process when the answer has been given.

* A console process gets control events in a thread of the system: Ctrl-C, Ctrl-Break, the closing of
  its window, logoff, shutdown. After the last three the process ends as soon as the handler
  returns, so the handler waits until everything is handed back, as long as Windows allows.
* A process with windows gets ``WM_QUERYENDSESSION``, which it agrees to, and ``WM_ENDSESSION``, after
  whose handling it may be ended at any moment; so that handler waits too. Only top-level windows
  get these, so there is a hidden one with a thread of its own.

What is decided is in ``WindowsEnding`` and runs anywhere; ``windows_api`` the few calls of the
system, by ctypes.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Protocol

WAIT_S_MAX = 4.5
"""Windows waits five seconds before it ends what does not answer."""
PROGRAM_GRACE_S = 3.0
"""What programs get of that; the rest is for handing back and saying goodbye."""

CONTROL_EVENTS = {
    0: "stopped from the terminal",
    1: "stopped from the terminal",
    2: "the terminal was closed",
    5: "the user logs off",
    6: "the system shuts down",
}
ENDS_ON_RETURN = frozenset({2, 5, 6})
WM_QUERYENDSESSION = 0x0011
WM_ENDSESSION = 0x0016

log = logging.getLogger(__name__)


class WindowsApi(Protocol):
    """The calls of Windows by which a process hears that it is asked to end."""

    def handle_control_events(self, handler: Callable[[int], bool]) -> bool:
        """Have console control events handled, in some thread; return False when there is no
        console."""

    def show_hidden_window(self, handler: Callable[[int, int], int | None]) -> bool:
        """Run a hidden window in this thread until it is closed; return False when it cannot be
        made. The handler gets message and first parameter; None leaves the message to Windows."""

    def close_hidden_window(self) -> None:
        """Close the hidden window, from any thread."""


class WindowsEnding:
    """Hears that the process is asked to end, by console and window."""

    def __init__(self, api: WindowsApi, wait_s: float = WAIT_S_MAX) -> None:
        self._api, self._wait_s = api, wait_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked: Callable[[str], None] | None = None
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, asked: Callable[[str], None]) -> None:
        """Begin to watch, in a thread, and return at once: ``asked`` is called in the running loop
        with the reason, whenever the console or the session asks this process to end. That there is
        no console is only logged."""
        self._loop, self._asked = asyncio.get_running_loop(), asked
        if not self._api.handle_control_events(self.control_event):
            log.info("there is no console that could ask this process to end")
        self._thread = threading.Thread(
            target=self._api.show_hidden_window,
            args=(self.window_message,),
            name="session end",
            daemon=True,
        )
        self._thread.start()

    def ended(self) -> None:
        self._over.set()
        self._api.close_hidden_window()

    def control_event(self, number: int) -> bool:
        """Handle a control event of the console, in a thread of the system: pass on that the
        process is asked to end and return True, or False for an event that does not ask. Where
        Windows kills on return, wait first until everything is handed back, for 4.5 seconds at
        most."""
        reason = CONTROL_EVENTS.get(number)
        if reason is None:
            return False
        self._ask(reason)
        if number in ENDS_ON_RETURN:
            self._over.wait(self._wait_s)
        return True

    def window_message(self, message: int, parameter: int) -> int | None:
        """Handle a message to the hidden window, in its thread, and return the answer to it; None
        for messages that are not about the end of the session. When the session does end, wait
        first until everything is handed back, for 4.5 seconds at most."""
        if message == WM_QUERYENDSESSION:
            return 1
        if message == WM_ENDSESSION:
            if parameter:
                self._ask("the session ends")
                self._over.wait(self._wait_s)
            return 0
        return None

    def _ask(self, reason: str) -> None:
        if self._loop is not None and self._asked is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._asked, reason)
