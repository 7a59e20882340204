"""A loop that can rest: for a moment it lets arrive what arrives, and then takes it in one go.

All agents beat on the same multiples of the wall clock, so an idle agent hears all its peers
within some milliseconds, and waking up for each of them alone is most of what it costs. So after
its own beat, and a few times while those of its peers come, it asks for no news for ``REST_S``;
only while nothing else goes on. Whatever comes just then waits that long; what is due in the loop
itself does not.

On Windows the loop is the system's own, which wakes up for each word; nothing there rests.
"""

from __future__ import annotations

import asyncio
import selectors
import sys
import time
from selectors import SelectorKey

REST_S = 0.03


class PatientSelector(selectors.DefaultSelector):
    """Asks the system for news, and after ``rest`` a moment later than it was told to."""

    def __init__(self) -> None:
        super().__init__()
        self._until_s = 0.0

    def rest(self, for_s: float) -> None:
        """Let this much time go by before the next wait, when there is nothing else to do."""
        self._until_s = time.monotonic() + for_s

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """Sleep until a rest that was asked for is over, then wait for files like any selector,
        altogether no longer than ``timeout``. With a ``timeout`` of 0 or less nothing is slept, and
        the rest stays asked for."""
        if self._until_s and (timeout is None or timeout > 0):
            rest_s = max(0.0, self._until_s - time.monotonic())
            if timeout is not None:
                rest_s = min(rest_s, timeout)
                timeout -= rest_s
            self._until_s = 0.0
            time.sleep(rest_s)
        return super().select(timeout)


class RestingLoop(asyncio.SelectorEventLoop):
    """The usual loop, on a selector that can rest."""

    def __init__(self) -> None:
        self._patient = PatientSelector()
        super().__init__(self._patient)

    def rest(self, for_s: float) -> None:
        """Take what arrives within this time in one go."""
        self._patient.rest(for_s)


def new_loop() -> asyncio.AbstractEventLoop:
    """Return a new event loop for an agent, to be run and closed by the caller: one that can rest,
    on Windows the system's own, which cannot."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    return RestingLoop()
