"""Whether a window of X11 fills the screen: as its window manager says, else by its size."""

from __future__ import annotations

from agent.presence.readings import Reading
from agent.presence.sources.x11 import X11Screen
from agent.presence.sources.x11_wire import XConnection, XRefusal

WINDOWS_MAX = 64


class X11FullScreen:
    """Films, games and talks."""

    def __init__(self, screen: X11Screen) -> None:
        self._screen = screen

    def read(self) -> Reading[str]:
        return self._screen.see(_ask)

    def close(self) -> None:
        self._screen.close()


def _ask(connection: XConnection) -> str:
    managed = connection.numbers(connection.root, "_NET_SUPPORTING_WM_CHECK")
    if not managed:
        return _by_size(connection)
    active = connection.numbers(connection.root, "_NET_ACTIVE_WINDOW")
    if not active or not active[0]:
        return ""
    try:
        states = connection.numbers(active[0], "_NET_WM_STATE")
        if connection.atom("_NET_WM_STATE_FULLSCREEN") not in states:
            return ""
        return _named(connection, active[0])
    except XRefusal:
        return ""  # the window was closed in between


def _by_size(connection: XConnection) -> str:
    screen = connection.size(connection.root)
    for window in connection.windows()[-WINDOWS_MAX:]:
        try:
            width, height = connection.size(window)
            if width >= screen[0] and height >= screen[1] and connection.shown(window):
                return _named(connection, window)
        except XRefusal:
            continue
    return ""


def _named(connection: XConnection, window: int) -> str:
    name = connection.text(window, "WM_CLASS").split("\0")[0]
    return f"{name or 'a program'} fills the screen"
