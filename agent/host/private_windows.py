"""Owner-only files where files have access lists.

Windows ignores modes; a file takes the access list of its folder. So the folder alone is
protected: it inherits nothing, and gives this account and the system full access to itself and to
whatever is made in it. Files are therefore private from their first moment, and keep their list
when they replace another in the same folder.

``icacls`` and ``whoami`` belong to every Windows, take security identifiers (names are translated
and repeat), and need no rights beyond the owner's. They are called by full path, so that
no program of the same name is, and without a window, because the agent sits in the tray.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.api.errors import MembershipError

SYSTEM = "S-1-5-18"
COMMAND_S_MAX = 20.0
REPLACE_TRIES_MAX = 10
REPLACE_PAUSE_S = 0.05
_SECURITY_IDENTIFIER = re.compile(rb"S-1-\d+(?:-\d+)+")

Run = Callable[[Sequence[str]], bytes]


def run_quietly(command: Sequence[str]) -> bytes:
    """Run a command of the system without a window, wait for its end and return what it writes;
    raise ``OSError`` when it cannot be started, fails or takes longer than 20 seconds."""
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW
    try:
        done = subprocess.run(
            list(command),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=COMMAND_S_MAX,
            check=True,
            creationflags=flags,
        )
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.output or b"").decode("ascii", "replace").strip()
        raise OSError(error.returncode, f"{command[0]} says: {said[:200]}") from error
    except subprocess.TimeoutExpired as error:
        raise OSError(0, f"{command[0]} did not end within {COMMAND_S_MAX:.0f} s") from error
    return done.stdout


class WindowsGuard:
    """One access list on the folder, inherited by all that is in it."""

    def __init__(self, run: Run = run_quietly, pause: Callable[[float], None] = time.sleep) -> None:
        self._run = run
        self._pause = pause
        self._programs = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"

    def protect(self, folder: Path) -> None:
        """Let only this account and the system into the folder; raise ``OSError`` when Windows
        refuses, ``MembershipError`` when it does not say which account this is. The list is reset
        first: a grant that is replaced leaves those to other accounts."""
        own = self._own_identifier()
        icacls = str(self._programs / "icacls.exe")
        grants = [f"*{identifier}:(OI)(CI)F" for identifier in (own, SYSTEM)]
        self._run([icacls, str(folder), "/reset", "/q"])
        self._run([icacls, str(folder), "/inheritance:r", "/grant:r", *grants, "/q"])

    def exposure(self, path: Path) -> str:
        """Return an empty text for every file: nothing is asked, as the list of its folder was set
        before it was made."""
        del path
        return ""

    def replace(self, source: Path, target: Path) -> None:
        """Put ``source`` in the place of ``target``, and try for half a second where a scanner
        holds the target open; raise ``PermissionError`` then, and any other ``OSError`` at once.
        The volume's journal keeps names."""
        for remaining in reversed(range(REPLACE_TRIES_MAX)):
            try:
                source.replace(target)
            except PermissionError:
                if not remaining:
                    raise
                self._pause(REPLACE_PAUSE_S)
            else:
                return

    def _own_identifier(self) -> str:
        """The last one on the line: the account's name, before it, may look like anything."""
        said = self._run([str(self._programs / "whoami.exe"), "/user", "/fo", "csv", "/nh"])
        found = _SECURITY_IDENTIFIER.findall(said)
        if not found:
            raise MembershipError(
                "Windows does not say which account this is, so that its keys cannot be protected: "
                "run whoami /user and repair what it reports"
            )
        return str(found[-1].decode("ascii"))
