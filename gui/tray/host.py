"""Whether the desktop has a place for the icon now; it may come later than this program.

Qt looks once whether a panel listens on the bus and remembers the answer for the life of the process,
so an icon that is made before its panel would never come there. Therefore Qt is asked only once there
is a host of either kind: one on the bus (KDE, GNOME with its extension, most panels of Wayland), or
one that takes windows into its panel (X11).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from PySide6.QtWidgets import QSystemTrayIcon

WATCHER = "org.kde.StatusNotifierWatcher"
SELECTION = b"_NET_SYSTEM_TRAY_S0"


def tray_host_there() -> bool:
    """Tell whether the desktop has a place for tray icons now."""
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
    from gui.tray.full_screen_x11 import x11_libraries

    libraries = x11_libraries()
    if libraries is None:
        return False
    x11, display = libraries
    try:
        return bool(x11.XGetSelectionOwner(display, x11.XInternAtom(display, SELECTION, 0)))
    finally:
        x11.XCloseDisplay(display)
