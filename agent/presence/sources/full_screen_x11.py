"""Whether a window of X11 fills the screen: as its window manager says, else by its size."""

from __future__ import annotations

from agent.api.presence_reasons import Filling, NamedFills, ProgramFills
from agent.presence.readings import Reading
from agent.presence.sources.x11 import X11Screen
from agent.presence.sources.x11_wire import XConnection, XRefusal

WINDOWS_MAX = 64


class X11FullScreen:
    """Sees whether a window fills an X11 screen, as films, games and talks do."""

    def __init__(self, screen: X11Screen) -> None:
        self._screen = screen

    def read(self) -> Reading[Filling | None]:
        """Return what fills the screen, None for nothing; unseen when the server does not tell."""
        return self._screen.see(_ask)

    def close(self) -> None:
        self._screen.close()


def _ask(connection: XConnection) -> Filling | None:
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
