"""A real PostgreSQL server for one test run: made in a folder, asked over its own socket, removed.

The server refuses to work for root, so a test run of root hands it to another account.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.hosts.waiting import EVENTUALLY_S_MAX

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
ACCOUNTS = ("postgres", "nobody")
PORT = 5432
"""Which names the socket in its folder, and is no port of this machine."""


class Account(NamedTuple):
    """Somebody else than root."""

    user: int
    group: int


def why_no_server() -> str:
    """Empty where a server can be started."""
    if not INSTALLED and shutil.which("initdb") is None:
        return "no PostgreSQL server is installed here"
    if _is_root() and (shutil.which("setpriv") is None or _account() is None):
        return "the server refuses root, and there is no other account to hand it to"
    return ""


@contextmanager
def server() -> Iterator[str]:
    """Its URL; it runs until the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="wingbeat-database-"))
    account = _account() if _is_root() else None
    try:
        if account is not None:
            os.chown(folder, account.user, account.group)
        data = folder / "data"
        _run(account, folder, "initdb", "-D", data, "-U", "wingbeat", "-A", "trust", "-E", "UTF8")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c port={PORT}"
        control = (account, folder, "pg_ctl", "-D", data, "-w", "-t", round(EVENTUALLY_S_MAX))
        try:
            _run(*control, "-l", folder / "log", "-o", options, "start")
            yield f"postgresql://wingbeat@/postgres?host={folder}&port={PORT}"
        finally:
            if (data / "postmaster.pid").exists():  # also where it took too long to start
                _run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _account() -> Account | None:
    import pwd  # not on Windows, where nobody is root

    for name in ACCOUNTS:
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return Account(found.pw_uid, found.pw_gid)
    return None


def _run(account: Account | None, folder: Path, program: str, *words: object) -> None:
    found = str(INSTALLED[0] / program) if INSTALLED else program
    command = [found, *map(str, words)]
    if account is not None:
        ids = [f"--reuid={account.user}", f"--regid={account.group}", "--clear-groups"]
        command = ["setpriv", *ids, *command]
    known = {name: text for name, text in os.environ.items() if not name.startswith("PG")}
    environment = {**known, "LC_ALL": "C"}  # the server takes no locale that is not installed
    with (folder / "said").open("wb") as said:
        subprocess.run(
            command,
            check=True,
            stdout=said,
            stderr=said,
            cwd=folder,
            env=environment,
            timeout=2 * EVENTUALLY_S_MAX,
        )
