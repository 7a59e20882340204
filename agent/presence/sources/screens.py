"""Sessions and screen savers together: a screen is left when either says so.

Where no session service runs, a screen saver alone still tells that somebody has left; that nobody
told of other people's screens then shows in the reading of the sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.presence.readings import Reading, Seen, Sessions
from agent.presence.sources.source import Source


class Screens:
    """What the sessions say, and that a screen saver is on."""

    def __init__(self, sessions: Source[Sessions], savers: Sequence[Source[bool]]) -> None:
        self._sessions, self._savers = sessions, tuple(savers)

    def read(self) -> Reading[Sessions]:
        """Return who is at the screens; locked as well when a screen saver says so."""
        reading = self._sessions.read()
        if isinstance(reading, Seen) and (reading.value.locked or reading.value.nobody):
            return reading
        for saver in self._savers:
            on = saver.read()
            if isinstance(on, Seen) and on.value:
                known = reading.value if isinstance(reading, Seen) else Sessions()
                return Seen(replace(known, locked=True), on.by)
        return reading

    def close(self) -> None:
        self._sessions.close()
        for each in self._savers:
            each.close()
