"""The system's own store of keys: unlocked with the login, closed to other accounts, encrypted on disk.

Linux has it as the Secret Service of the session bus (GNOME's keyring, KDE's wallet, KeePassXC), which
nobody starts or asks to be unlocked for this: where it is not there or locked, that is said. On Windows
the account's own key protects a value (DPAPI), and the bytes lie in a file. A system behind this interface
is a class.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Protocol


class KeyStore(Protocol):
    """Keeps values by name; each call waits for the system and raises ``OSError`` where it does not
    do it."""

    def put(self, name: str, value: bytes) -> None:
        """Keep a value, in place of one before."""

    def get(self, name: str) -> bytes:
        """Return a value."""

    def remove(self, name: str) -> None:
        """Delete a value; do nothing where there is none."""


def native_key_store(folder: Path) -> KeyStore:
    """Return the store of the system that this runs on, for the values of the agent that keeps its
    own files in this folder."""
    if sys.platform == "win32":
        from agent.host.key_store_windows import ProtectedFiles, protection

        return ProtectedFiles(folder, protection())
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.host.key_store_linux import SecretService

        return SecretService(str(folder))
