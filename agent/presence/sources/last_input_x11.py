"""The last input on a screen of X11, and its saver: the server knows both, and where the pointer is.

The screen saver extension tells how long ago any device of the server was used, and whether the
saver is on: then nobody has touched the machine for long.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from agent.presence.readings import LastInput, Reading
from agent.presence.sources.x11 import X11Screen
from agent.presence.sources.x11_wire import XConnection

EXTENSION = "MIT-SCREEN-SAVER"
QUERY_INFO = 1
SAVER_ON = 1


class X11LastInput:
    """Sees when keyboard or mouse were used last on an X11 screen."""

    def __init__(self, screen: X11Screen, clock: Callable[[], float]) -> None:
        self._screen, self._clock = screen, clock

    def read(self) -> Reading[LastInput]:
        return self._screen.see(self._ask)

    def close(self) -> None:
        self._screen.close()

    def _ask(self, connection: XConnection) -> LastInput:
        quiet_ms = saver_info(connection)[1]
        at_s = self._clock() - quiet_ms / 1000
        return LastInput(at_s, connection.pointer())


def saver_info(connection: XConnection) -> tuple[int, int]:
    """Return the state of the screen saver, and milliseconds since the last input; raise
    ``OSError`` when the server does not tell."""
    opcode = connection.extension(EXTENSION)
    reply = connection.ask(opcode, QUERY_INFO, struct.pack("=I", connection.root))
    return reply.head[1], struct.unpack_from("=I", reply.head, 16)[0]


class X11ScreenSaver:
    """Sees whether the screen saver is on; any input turns it off."""

    def __init__(self, screen: X11Screen) -> None:
        self._screen = screen

    def read(self) -> Reading[bool]:
        return self._screen.see(lambda connection: saver_info(connection)[0] == SAVER_ON)

    def close(self) -> None:
        self._screen.close()
