"""What the desktop tells: whether there is a place for the icon, and whether a program fills the screen.

Qt looks once whether a panel listens on the bus and remembers the answer for the life of the process,
so an icon that is made before its panel would never come there. Therefore Qt is asked only once there
is a host of either kind: one on the bus (KDE, GNOME with its extension, most panels of Wayland), or
one that takes windows into its panel (X11).

Films, games and talks fill the screen: then nothing is told. The shell of Windows is asked for it, and
on X11 the active window for its state. Wayland tells nobody; there the desktop's own notification
service holds messages back.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import POINTER, c_char_p, c_int, c_long, c_ulong, c_void_p
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtWidgets import QSystemTrayIcon

WATCHER = "org.kde.StatusNotifierWatcher"
SELECTION = b"_NET_SYSTEM_TRAY_S0"
QUNS_BUSY, QUNS_FULL_SCREEN, QUNS_PRESENTATION = 2, 3, 4
LIBRARY = "libX11.so.6"
CALLS: tuple[tuple[str, Any, tuple[Any, ...]], ...] = (
    ("XOpenDisplay", c_void_p, (c_char_p,)),
    ("XCloseDisplay", c_int, (c_void_p,)),
    ("XDefaultRootWindow", c_ulong, (c_void_p,)),
    ("XInternAtom", c_ulong, (c_void_p, c_char_p, c_int)),
    ("XGetSelectionOwner", c_ulong, (c_void_p, c_ulong)),
    ("XFree", c_int, (c_void_p,)),
    (
        "XGetWindowProperty",
        c_int,
        (
            *(c_void_p, c_ulong, c_ulong, c_long, c_long, c_int, c_ulong),
            *(POINTER(c_ulong), POINTER(c_int), POINTER(c_ulong), POINTER(c_ulong)),
            POINTER(c_void_p),
        ),
    ),
)
"""Of X11, those that are called here: the name, what it returns, what it takes."""
ANY_TYPE, FALSE = 0, 0
WORDS_MAX = 64


def tray_host_there() -> bool:
    """Tell whether the desktop has a place for tray icons now. On Linux Qt is asked only where a
    host is seen, because it remembers a no as long as the process lives."""
    if sys.platform == "linux" and not (_on_the_bus() or _in_a_panel()):
        return False
    return QSystemTrayIcon.isSystemTrayAvailable()


def _on_the_bus() -> bool:
    if not (os.environ.get("DBUS_SESSION_BUS_ADDRESS") or _user_bus().exists()):
        return False  # asked all the same, some libraries start a bus and leave it behind
    from PySide6.QtDBus import QDBusConnection

    bus = QDBusConnection.sessionBus()
    return bus.isConnected() and bus.interface().isServiceRegistered(WATCHER).value() is True


def _user_bus() -> Path:
    return Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}") / "bus"


def _in_a_panel() -> bool:
    """Who takes windows in owns a selection; asked on a connection that ends with the question."""
    libraries = x11_libraries()
    if libraries is None:
        return False
    x11, display = libraries
    try:
        return bool(x11.XGetSelectionOwner(display, x11.XInternAtom(display, SELECTION, 0)))
    finally:
        x11.XCloseDisplay(display)


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
    """Return what watches for full screen on this system: the shell of Windows, or X11; where it
    cannot be known, as on Wayland, one that never sees any."""
    if sys.platform == "win32":
        return WindowsFullScreen(ctypes.windll.shell32)
    libraries = x11_libraries()
    return NotKnown() if libraries is None else X11FullScreen(*libraries)


def x11_libraries() -> tuple[Any, Any] | None:
    """Load X11 and open a display of its own for the caller, to be closed by them; return the
    library and the display. None on Wayland, also where X programs run there, and where X11 or the
    display is missing."""
    if not os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return None
    try:
        x11 = ctypes.CDLL(LIBRARY)  # by its name of decades; searching for it starts a process
    except OSError:
        return None
    for name, result, arguments in CALLS:
        call = getattr(x11, name)
        call.restype, call.argtypes = result, arguments
    display = x11.XOpenDisplay(None)
    return (x11, display) if display else None


class X11FullScreen:
    """On a connection of its own."""

    def __init__(self, x11: Any, display: Any) -> None:
        self._x11, self._display = x11, display
        self._active = x11.XInternAtom(display, b"_NET_ACTIVE_WINDOW", FALSE)
        self._state = x11.XInternAtom(display, b"_NET_WM_STATE", FALSE)
        self._full = x11.XInternAtom(display, b"_NET_WM_STATE_FULLSCREEN", FALSE)

    def now(self) -> bool:
        """Tell whether the active window is full screen; false where there is none, or it cannot be
        asked. The root is asked for it first, so that a window that is gone is not asked."""
        active = self._words(self._x11.XDefaultRootWindow(self._display), self._active)
        if not active or not active[0]:
            return False
        return self._full in self._words(active[0], self._state)

    def _words(self, window: int, what: int) -> list[int]:
        kind, width = ctypes.c_ulong(), ctypes.c_int()
        count, after, data = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_void_p()
        failed = self._x11.XGetWindowProperty(
            self._display, window, what, 0, WORDS_MAX, FALSE, ANY_TYPE,
            ctypes.byref(kind), ctypes.byref(width), ctypes.byref(count),
            ctypes.byref(after), ctypes.byref(data),
        )  # fmt: skip
        if failed or not data.value:
            return []
        try:
            if width.value != 32:
                return []
            words = ctypes.cast(data, ctypes.POINTER(ctypes.c_ulong))
            return [int(words[place]) for place in range(count.value)]
        finally:
            self._x11.XFree(data)
