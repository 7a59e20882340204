"""The last input in any terminal: consoles, windows with a shell, and logins over the network.

The system keeps for each terminal when a program read from it last, which is when somebody typed
and their program took it. It rounds this down to eight seconds, but the first key after a pause is
seen at once. Writing to a terminal is another time, so that a long build is not taken for typing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from agent.presence.readings import LastInput, Reading, Seen

PSEUDO = Path("/dev/pts")
CONSOLE = Path("/sys/class/tty/tty0/active")
DEVICES = Path("/dev")
NAME = "terminals"


class TerminalLastInput:
    """Sees the last input of all terminals, whoever's they are."""

    def __init__(
        self,
        clock: Callable[[], float],
        wall: Callable[[], float] = time.time,
        pseudo: Path = PSEUDO,
        console: Path = CONSOLE,
        devices: Path = DEVICES,
    ) -> None:
        self._clock, self._wall = clock, wall
        self._pseudo, self._console, self._devices = pseudo, console, devices

    def read(self) -> Reading[LastInput]:
        """Return when somebody last typed in any terminal, and in which; infinitely long ago where
        there is none."""
        newest_s, where = 0.0, ""
        for path in self._terminals():
            with suppress(OSError):
                at_s = os.stat(path).st_atime  # noqa: PTH116 - as below
                if at_s > newest_s:
                    newest_s, where = at_s, path
        if not where:
            return Seen(LastInput(float("-inf")), NAME)
        ago_s = max(0.0, self._wall() - newest_s)
        name = str(Path(where).relative_to(self._devices))
        return Seen(LastInput(self._clock() - ago_s, None, name), NAME)

    def close(self) -> None:
        """Do nothing, as nothing is held open."""

    def _terminals(self) -> Iterator[str]:
        """As texts: this is looked at four times a second, and paths would cost the most of it."""
        with suppress(OSError):
            for number in os.listdir(self._pseudo):  # noqa: PTH208
                if number.isdigit():
                    yield f"{self._pseudo}/{number}"
        with suppress(OSError):
            name = self._console.read_text().strip()
            if name.startswith("tty") and name[3:].isdigit():
                yield f"{self._devices}/{name}"
