"""How the firewall of this computer is opened for Wingbeat: a command to read, and its run as administrator.

Nothing in such a command comes from anywhere but this file, save the number of the port. Programs that
an administrator is to run are looked for where only administrators put them, never where the person
who asks may.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

PORT_MAX, MULTICAST_PORT = 65_535, 5353
OF_ADMINISTRATORS = "/usr/sbin:/usr/bin:/sbin:/bin"
DISMISSED = (126, 127)
"""What ``pkexec`` ends with when nobody allowed it."""
WITHIN_S = 180.0
"""Somebody types a password."""
SHOWN_MIN = 32
"""What Windows answers is above it when a program was started."""

Outcome = Literal["opened", "asked", "dismissed", "failed"]
Find = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Opening:
    """What opens a firewall: the line that people copy, and the words that are run, where this
    computer has something that asks for an administrator's word; empty where it has not."""

    line: str
    words: tuple[str, ...] = ()


def opening(
    port: int, system: str = sys.platform, find: Find | None = None, *, root: bool = False
) -> Opening | None:
    """Return how the firewall of this computer is opened for this port and for finding machines;
    None where none is installed that Wingbeat knows. ``root``: nobody has to be asked for an
    administrator's word. Raise ``ValueError`` for what is no port."""
    if not 0 < port <= PORT_MAX:
        raise ValueError(f"{port} is no port")
    if system == "win32":
        return _of_windows(port)
    find = find or _of_administrators
    if firewalld := find("firewall-cmd"):
        ports = f"--add-port={port}/tcp --add-port={MULTICAST_PORT}/udp"
        line = f"{firewalld} {ports} && {firewalld} --permanent {ports}"
    elif ufw := find("ufw"):
        line = f"{ufw} allow {port}/tcp && {ufw} allow {MULTICAST_PORT}/udp"
    else:
        return None
    run, asks = ("/bin/sh", "-c", line), find("pkexec")
    return Opening(f"sudo sh -c '{line}'", run if root else (asks, *run) if asks else ())


def _of_administrators(name: str) -> str | None:
    return shutil.which(name, path=OF_ADMINISTRATORS)


def _of_windows(port: int) -> Opening:
    """Not for networks that Windows calls public."""
    rule = "New-NetFirewallRule -DisplayName Wingbeat -Direction Inbound -Action Allow"
    where = "-Profile Private,Domain"
    line = (
        f"{rule} {where} -Protocol TCP -LocalPort {port}; "
        f"{rule} {where} -Protocol UDP -LocalPort {MULTICAST_PORT}"
    )
    folder = os.environ.get("SYSTEMROOT", r"C:\Windows")
    shell = rf"{folder}\System32\WindowsPowerShell\v1.0\powershell.exe"
    return Opening(line, (shell, "-NoProfile", "-NonInteractive", "-Command", line))


def open_firewall(
    wanted: Opening,
    system: str = sys.platform,
    run: Callable[..., Any] = subprocess.run,
    elevated: Callable[[str, str], int] | None = None,
) -> tuple[Outcome, str]:
    """Have an administrator's word asked for, run the command of ``wanted``, which must have
    ``words``, and wait for its end, for ``WITHIN_S`` at most; return what came of it, ``failed``
    rather than an exception, and the last line that it said, if any. On Windows it is only known
    that it was begun."""
    try:
        if system == "win32":
            program, *words = wanted.words
            began = (elevated or _elevated)(program, _quoted(words))
            return ("asked", "") if began > SHOWN_MIN else ("dismissed", "")
        done = run(
            wanted.words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "failed", str(error)
    said = [each.strip() for each in done.stdout.decode("utf-8", "replace").splitlines()]
    last = next((each for each in reversed(said) if each), "")
    if done.returncode == 0:
        return "opened", last
    return ("dismissed", "") if done.returncode in DISMISSED else ("failed", last)


def _quoted(words: Sequence[str]) -> str:
    """As a program of Windows takes its words apart."""
    return subprocess.list2cmdline(words)


if sys.platform == "win32":
    import ctypes

    def _elevated(program: str, words: str) -> int:
        """Windows asks the person who sits there."""
        return int(ctypes.windll.shell32.ShellExecuteW(None, "runas", program, words, None, 0))

else:

    def _elevated(program: str, words: str) -> int:
        raise OSError(f"only Windows asks whether {program} {words} may be run")
