"""Starting at login, behind one interface: one module for each system."""

from __future__ import annotations

import sys
from typing import Protocol


class Login(Protocol):
    """Whether the tray starts when its owner logs in. All may raise ``OSError``."""

    def enabled(self) -> bool:
        """As the system has it now."""
        ...

    def enable(self) -> None:
        """From the next login on."""
        ...

    def disable(self) -> None:
        """Not any more."""
        ...


def native_login() -> Login:
    """Return what starts programs at login on this system."""
    if sys.platform == "win32":
        from gui.startup.windows import WindowsLogin, native_registry

        return WindowsLogin(native_registry())
    from gui.startup.linux import LinuxLogin

    return LinuxLogin()
