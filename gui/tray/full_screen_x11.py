"""The same on X11: whether the active window has the state of full screen.

Wayland tells nobody; there the desktop's own notification service holds messages back.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

LIBRARY = "libX11.so.6"
ANY_TYPE, FALSE = 0, 0
WORDS_MAX = 64


def x11_libraries() -> tuple[Any, Any] | None:
    """Load X11 and open the display; return the library and the display, or None where there is no
    X11."""
    if not os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return None
    try:
        x11 = ctypes.CDLL(LIBRARY)  # by its name of decades; searching for it starts a process
    except OSError:
        return None
    x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
    x11.XDefaultRootWindow.restype = ctypes.c_ulong
    x11.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    x11.XInternAtom.restype = ctypes.c_ulong
    x11.XGetSelectionOwner.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
    x11.XGetSelectionOwner.restype = ctypes.c_ulong
    x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
    x11.XCloseDisplay.restype = ctypes.c_int
    x11.XFree.argtypes = [ctypes.c_void_p]
    x11.XFree.restype = ctypes.c_int
    x11.XGetWindowProperty.argtypes = [
        *(ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_long, ctypes.c_long),
        *(ctypes.c_int, ctypes.c_ulong, ctypes.POINTER(ctypes.c_ulong)),
        *(ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_ulong)),
        *(ctypes.POINTER(ctypes.c_ulong), ctypes.POINTER(ctypes.c_void_p)),
    ]
    x11.XGetWindowProperty.restype = ctypes.c_int
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
        """Tell whether the active window is full screen; false where there is none. The root is
        asked for it first, so that a window that is gone is not asked."""
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
