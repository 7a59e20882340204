"""Owner-only files where files have access lists.

Windows ignores modes; a file takes the access list of its folder. So the folder alone is
protected: it inherits nothing, and gives this account and the system full access to itself and to
whatever is made in it. Files are therefore private from their first moment, and keep their list
when they replace another in the same folder.

``icacls`` and ``whoami`` belong to every Windows, take security identifiers (names are translated
and repeat), and need no rights beyond the owner's. They are called by full path, so that
no program of the same name is, and without a window, because the agent sits in the tray.

Who may change what administrators lay down is read from the owner and the access list, as Windows
writes both in a text (SDDL): identifiers and letters, the same in every language. An account that
administers at this moment counts itself among them. Windows lets
everybody make files in a folder of ``%ProgramData%``; such a file has its maker as owner, and so
does not count.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.api.errors import MembershipError

SYSTEM = "S-1-5-18"
COMMAND_S_MAX = 20.0
REPLACE_TRIES_MAX = 10
REPLACE_PAUSE_S = 0.05
_SECURITY_IDENTIFIER = re.compile(rb"S-1-\d+(?:-\d+)+")

PROGRAMS = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"
Run = Callable[[Sequence[str]], bytes]
Describe = Callable[[Path], str]
"""Owner and access list of a file or folder, as SDDL; raises ``OSError``."""

ADMINISTRATORS = frozenset(
    {"SY", "BA", "LA", "DA", "EA", SYSTEM, "S-1-5-32-544"}
    | {"S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"}  # TrustedInstaller
)
CREATOR_OWNER = frozenset({"CO", "S-1-3-0"})
"""Stands in lists that are handed down for whoever makes a file; gives nothing where it stands."""
_OWNER = re.compile(r"^O:([A-Z]{2}|S-[0-9-]+)")
_ENTRY = re.compile(r"\(([^()]*)\)")
_RIGHTS = {
    "CC": 0x1,
    "DC": 0x2,
    "LC": 0x4,
    "SW": 0x8,
    "RP": 0x10,
    "WP": 0x20,
    "DT": 0x40,
    "LO": 0x80,
    "CR": 0x100,
    "SD": 0x10000,
    "RC": 0x20000,
    "WD": 0x40000,
    "WO": 0x80000,
    "GA": 0x10000000,
    "GX": 0x20000000,
    "GW": 0x40000000,
    "GR": 0x80000000,
    "FA": 0x1F01FF,
    "FR": 0x120089,
    "FW": 0x120116,
    "FX": 0x1200A0,
}
_REPLACES = 0x40 | 0x10000 | 0x40000 | 0x80000 | 0x10000000
"""Take what is in a folder away, the folder itself, or who may do so."""
_CHANGES = _REPLACES | 0x2 | 0x4 | 0x40000000


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


@dataclass(frozen=True, slots=True)
class Caller:
    """Who has called the pipe of a service: identifier and name of the account, and whether it has the
    rights of an administrator now."""

    account: str
    name: str
    administers: bool


class WindowsGuard:
    """One access list on the folder, inherited by all that is in it."""

    def __init__(
        self,
        run: Run = run_quietly,
        pause: Callable[[float], None] = time.sleep,
        describe: Describe | None = None,
        is_administrator: Callable[[], bool] | None = None,
    ) -> None:
        self._run, self._describe, self._is_administrator = run, describe, is_administrator
        self._trusted: frozenset[str] | None = None
        self._pause = pause

    def protect(self, folder: Path) -> None:
        """Let only this account and the system into the folder; raise ``OSError`` when Windows
        refuses, ``MembershipError`` when it does not say which account this is. The list is reset
        first: a grant that is replaced leaves those to other accounts."""
        own = own_identifier(self._run)
        icacls = str(PROGRAMS / "icacls.exe")
        grants = [f"*{identifier}:(OI)(CI)F" for identifier in (own, SYSTEM)]
        self._run([icacls, str(folder), "/reset", "/q"])
        self._run([icacls, str(folder), "/inheritance:r", "/grant:r", *grants, "/q"])

    def exposure(self, path: Path) -> str:
        """Return an empty text for every file: nothing is asked, as the list of its folder was set
        before it was made."""
        del path
        return ""

    def alterable(self, path: Path) -> str:
        """Return who else than administrators may change the file, or take away what is in the
        folder, as the end of a sentence with the cure; empty when nobody may. Raise ``OSError``
        when Windows does not say, ``MembershipError`` when it does not say which account this
        is."""
        from agent.host import private_windows_api

        described = (self._describe or private_windows_api.described)(path)
        if self._trusted is None:
            administers = (self._is_administrator or private_windows_api.is_administrator)()
            self._trusted = ADMINISTRATORS | ({own_identifier(self._run)} if administers else set())
        trusted, owner = self._trusted, _OWNER.match(described)
        if owner is None or owner[1] not in trusted:
            return (
                "does not belong to the administrators: run icacls with /setowner *S-1-5-32-544 on "
                "it, if its content is right."
            )
        wanted = _REPLACES if path.is_dir() else _CHANGES
        others = [who for who, rights in allowed(described, trusted) if rights & wanted]
        if others:
            return (
                f"can be changed by others than administrators ({others[0]}): take that from them "
                f"with icacls, if its content is right."
            )
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


def allowed(described: str, trusted: frozenset[str]) -> list[tuple[str, int]]:
    """Return to whom, those in ``trusted`` apart, an access list (as ``described``) gives rights to
    the file itself, and which, as bits of an access mask; everybody, with all that change it, where
    there is no list."""
    head, marked, listed = described.partition("D:")
    del head
    if not marked or listed.startswith("NO_ACCESS_CONTROL"):
        return [("WD", _CHANGES)]
    found = []
    for entry in _ENTRY.findall(listed.partition("S:(")[0]):
        kind, flags, rights, _, _, who = entry.split(";")[:6]
        if kind in ("A", "XA") and "IO" not in flags and who not in trusted | CREATOR_OWNER:
            found.append((who, _mask(rights)))
    return found


def _mask(rights: str) -> int:
    if rights.startswith("0x"):
        return int(rights, 16)
    mask = 0
    for at in range(0, len(rights), 2):
        mask |= _RIGHTS.get(rights[at : at + 2], _CHANGES)
    return mask


def service_identifier(name: str) -> str:
    """Return the identifier of the account that Windows makes for a service of this name; by it the
    account is known before the service is there."""
    digest = hashlib.sha1(name.upper().encode("utf-16-le"), usedforsecurity=False).digest()
    return "-".join(("S-1-5-80", *map(str, struct.unpack("<5I", digest))))


def own_identifier(run: Run = run_quietly) -> str:
    """Return the security identifier of this account. Raise ``MembershipError`` when Windows tells
    none, ``OSError`` when it cannot be asked."""
    said = run([str(PROGRAMS / "whoami.exe"), "/user", "/fo", "csv", "/nh"])
    found = _SECURITY_IDENTIFIER.findall(said)
    if not found:
        raise MembershipError(
            "Windows does not say which account this is, so that its keys cannot be protected: "
            "run whoami /user and repair what it reports"
        )
    return str(found[-1].decode("ascii"))
