"""At login on Linux: an entry in the autostart folder, as freedesktop.org describes it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from gui.startup.command import own_command

ENTRY = "wingbeat.desktop"
_TEXT = """\
[Desktop Entry]
Type=Application
Name=Wingbeat
Comment=Lets this computer help its flock while nobody uses it
Exec={command} --background
Icon=wingbeat
Terminal=false
X-GNOME-Autostart-enabled=true
"""


class LinuxLogin:
    """Starts at login by an autostart entry; satisfies ``Login``."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        base = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        self._file = Path(base) / "autostart" / ENTRY

    def enabled(self) -> bool:
        """Tell whether this program starts at login; an entry that is hidden counts as none."""
        try:
            text = self._file.read_text("utf-8")
        except FileNotFoundError:
            return False
        return "Hidden=true" not in text

    def enable(self) -> None:
        """Write the autostart entry, over one that is there. Raises ``OSError``."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        installed = shutil.which("wingbeat-tray")
        words = (installed,) if installed else own_command()
        command = " ".join(_quoted(word) for word in words)
        self._file.write_text(_TEXT.format(command=command), "utf-8")

    def disable(self) -> None:
        """Remove the autostart entry, if it is there."""
        self._file.unlink(missing_ok=True)


def _quoted(word: str) -> str:
    """Return the word as the specification of desktop entries wants it."""
    if not any(sign in word for sign in " \t\"'\\><~|&;$*?#()`"):
        return word.replace("%", "%%")
    for sign in '\\"`$':
        word = word.replace(sign, "\\" + sign)
    return f'"{word}"'.replace("%", "%%")
