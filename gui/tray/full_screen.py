"""Whether a program fills the screen now, as films, games and talks do: then nothing is told."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Protocol

QUNS_BUSY, QUNS_FULL_SCREEN, QUNS_PRESENTATION = 2, 3, 4


class FullScreen(Protocol):
    """Asked each time before something is told."""

    def now(self) -> bool:
        """Tell whether a program fills the screen now."""
        ...


class NotKnown:
    """Where it cannot be seen, the desktop itself holds back what it wants to hold back."""

    def now(self) -> bool:
        """Return false, always."""
        return False


class WindowsFullScreen:
    """Full screen as the shell of Windows knows it."""

    def __init__(self, shell: Any) -> None:
        self._ask = shell.SHQueryUserNotificationState
        self._ask.argtypes = [ctypes.POINTER(ctypes.c_int)]
        self._ask.restype = ctypes.c_long

    def now(self) -> bool:
        """Tell whether the shell says that a program fills the screen, gives a presentation or is
        busy; false if it does not say."""
        state = ctypes.c_int(0)
        if self._ask(ctypes.byref(state)) != 0:
            return False
        return state.value in (QUNS_BUSY, QUNS_FULL_SCREEN, QUNS_PRESENTATION)


def native_full_screen() -> FullScreen:
    """Return what watches for full screen on this system; where it cannot be known, one that never
    sees any."""
    if sys.platform == "win32":
        return WindowsFullScreen(ctypes.windll.shell32)
    from gui.tray.full_screen_x11 import X11FullScreen, x11_libraries

    libraries = x11_libraries()
    return NotKnown() if libraries is None else X11FullScreen(*libraries)
