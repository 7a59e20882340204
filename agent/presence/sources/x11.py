"""A screen of the X Window System: one connection for all that is asked of it.

Opened when it is first needed, given up when it breaks, opened anew at the next look.

The server knows the last input and where the pointer is: its screen saver extension tells how long
ago any device was used, and whether the saver is on; then nobody has touched the machine for long.
Whether a window fills the screen its window manager says, else its size.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping
from typing import TypeVar

from agent.api.presence_reasons import Filling, NamedFills, ProgramFills, WaylandHidesIt
from agent.presence.readings import LastInput
from agent.presence.sources.source import Asked
from agent.presence.sources.x11_wire import XConnection, XError, XRefusal

NAME = "X11"
T = TypeVar("T")
WINDOWS_MAX = 64
EXTENSION = "MIT-SCREEN-SAVER"
QUERY_INFO = 1
SAVER_ON = 1


class X11Screen:
    """The display that the environment names."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._connection: XConnection | None = None

    def asked(self, ask: Callable[[XConnection], T]) -> Asked[T]:
        """Return the source of what ``ask`` finds on the connection, opened if need be. A
        connection that fails is closed."""
        return Asked(lambda: self._answer(ask), NAME, self.close)

    def close(self) -> None:
        """Close the connection to the X server; the next look opens it anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _answer(self, ask: Callable[[XConnection], T]) -> T:
        if self._environment.get("WAYLAND_DISPLAY"):
            raise XError(WaylandHidesIt())
        try:
            if self._connection is None:
                self._connection = XConnection.connect(self._environment)
            return ask(self._connection)
        except XError:
            self.close()
            raise
        except (OSError, struct.error) as error:
            self.close()
            raise XError(f"the X server cannot be asked ({error})") from error


def x11_last_input(screen: X11Screen, clock: Callable[[], float]) -> Asked[LastInput]:
    """Return the source of when keyboard or mouse were used last on an X11 screen."""

    def ask(connection: XConnection) -> LastInput:
        quiet_ms = saver_info(connection)[1]
        return LastInput(clock() - quiet_ms / 1000, connection.pointer())

    return screen.asked(ask)


def x11_screen_saver(screen: X11Screen) -> Asked[bool]:
    """Return the source of whether the screen saver is on; any input turns it off."""
    return screen.asked(lambda connection: saver_info(connection)[0] == SAVER_ON)


def saver_info(connection: XConnection) -> tuple[int, int]:
    """Return the state of the screen saver, and milliseconds since the last input; raise
    ``OSError`` when the server does not tell."""
    opcode = connection.extension(EXTENSION)
    reply = connection.ask(opcode, QUERY_INFO, struct.pack("=I", connection.root))
    return reply.head[1], struct.unpack_from("=I", reply.head, 16)[0]


def filling(connection: XConnection) -> Filling | None:
    """Return the window that fills the screen, as films, games and talks do, None for nothing;
    raise ``OSError`` when the server does not tell."""
    managed = connection.numbers(connection.root, "_NET_SUPPORTING_WM_CHECK")
    if not managed:
        return _by_size(connection)
    active = connection.numbers(connection.root, "_NET_ACTIVE_WINDOW")
    if not active or not active[0]:
        return None
    try:
        states = connection.numbers(active[0], "_NET_WM_STATE")
        if connection.atom("_NET_WM_STATE_FULLSCREEN") not in states:
            return None
        return _named(connection, active[0])
    except XRefusal:
        return None  # the window was closed in between


def _by_size(connection: XConnection) -> Filling | None:
    screen = connection.size(connection.root)
    for window in connection.windows()[-WINDOWS_MAX:]:
        try:
            width, height = connection.size(window)
            if width >= screen[0] and height >= screen[1] and connection.shown(window):
                return _named(connection, window)
        except XRefusal:
            continue
    return None


def _named(connection: XConnection, window: int) -> Filling:
    name = connection.text(window, "WM_CLASS").split("\0")[0]
    return NamedFills(name) if name else ProgramFills()
