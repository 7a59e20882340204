"""Starting at login, behind one interface: one module for each system."""

from __future__ import annotations

import sys
from typing import Protocol


class Login(Protocol):
    """Whether the tray starts when its owner logs in. All may raise ``OSError``."""

    def enabled(self) -> bool:
        """Tell whether the system starts this program at login."""
        ...

    def enable(self) -> None:
        """Have the system start this program from the next login on."""
        ...

    def disable(self) -> None:
        """Have the system not start this program any more."""
        ...


def native_login() -> Login:
    """Return what starts programs at login on this system."""
    if sys.platform == "win32":
        from gui.startup.windows import WindowsLogin, native_registry

        return WindowsLogin(native_registry())
    from gui.startup.linux import LinuxLogin

    return LinuxLogin()
