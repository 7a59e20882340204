"""Whether the screen saver of X11 is on: then nobody has touched the machine for long."""

from __future__ import annotations

from agent.presence.readings import Reading
from agent.presence.sources.last_input_x11 import SAVER_ON, saver_info
from agent.presence.sources.x11 import X11Screen


class X11ScreenSaver:
    """Sees whether the screen saver is on; any input turns it off."""

    def __init__(self, screen: X11Screen) -> None:
        self._screen = screen

    def read(self) -> Reading[bool]:
        return self._screen.see(lambda connection: saver_info(connection)[0] == SAVER_ON)

    def close(self) -> None:
        self._screen.close()
