"""The file that opens the client protocol: where to connect, and the token.

It is written whole, for the owner of the account alone, once the server listens, and removed when
the server ends. What an agent that was killed leaves behind opens nothing: the token is drawn anew
at each start.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import msgspec

from agent.api.session import CONTROL_FILE, ControlFile
from agent.host.private_files import PrivateFolder

TOKEN_BYTES = 32


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def write_control_file(folder: Path, port: int, token: str) -> None:
    """Write port, token and process where this account's clients look. Raises ``MembershipError``
    when the disk refuses."""
    content = ControlFile(port, token, os.getpid())
    data = msgspec.json.format(msgspec.json.encode(content)) + b"\n"
    PrivateFolder(folder).write(CONTROL_FILE, data)


def remove_control_file(folder: Path, token: str) -> None:
    """Remove the file if it still has this token; one that cannot be read, or is another server's,
    stays."""
    path = folder / CONTROL_FILE
    try:
        written = msgspec.json.decode(path.read_bytes(), type=ControlFile)
    except (OSError, msgspec.MsgspecError):
        return
    if written.token == token:
        path.unlink(missing_ok=True)
