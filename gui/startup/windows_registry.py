"""The registry of the current user, as the standard library reaches it; Windows only."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import winreg

    class UserRegistry:
        """The values of the user who runs this; satisfies ``Registry``."""

        def read(self, key: str, name: str) -> str | None:
            """Return the text of a value of the user's own; None where there is no such value."""
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
                    return str(winreg.QueryValueEx(opened, name)[0])
            except FileNotFoundError:
                return None

        def write(self, key: str, name: str, text: str) -> None:
            """Make a value of the user's own, or change it."""
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, key) as opened:
                winreg.SetValueEx(opened, name, 0, winreg.REG_SZ, text)

        def remove(self, key: str, name: str) -> None:
            """Remove a value of the user's own; nothing happens where there is none."""
            try:
                access = winreg.KEY_SET_VALUE
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key, 0, access) as opened:
                    winreg.DeleteValue(opened, name)
            except FileNotFoundError:
                return
