"""Removing Wingbeat from a computer, as the command and the window do it.

What others still need goes first: copies of what only this machine keeps, then what it runs, then its
place in the flock. Only when the agent has ended is anything deleted. The package itself is left to
whatever has installed it, which alone knows its files.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import psutil
from msgspec import Struct

from agent.api.flock import (
    HAND_OVER,
    LEAVE,
    MEMBERS,
    PEERS,
    HandedOver,
    HandOver,
    Leave,
    Left,
    Members,
    Peers,
)
from agent.client.connected import Client
from agent.client.errors import ClientError
from agent.host.deleting import delete_tree, leads_elsewhere
from agent.paths import APPLICATION, SERVICE, SERVICE_FOLDERS, Home
from agent.paths import VARIABLE as VARIABLE  # noqa: PLC0414

ENTRY = "wingbeat.desktop"
RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
VALUE = "Wingbeat"
"""How the system is told to start the tray at login."""
OWN_KEY, NOT_AT_LOGIN = r"Software\Wingbeat", "NotAtLogin"
"""Where a person says no to what a package for Windows starts at everybody's login."""
HIDDEN = "Hidden=true"
"""The line of an entry that says there is none, also not the system's."""
_TRIED = re.compile(r"^TryExec=(.+)$", re.MULTILINE)
LOOK_S = 5.0
STANDS_STILL_S = 60.0
"""Without anything handed over for so long, nobody takes the rest."""
PARTING_STANDS_STILL_S = 15.0
"""The same where a package goes: its administrator waits for it."""
LINKED_S_MAX, LEFT_S_MAX = 5.0, 45.0
STOPPED_S_MAX = 30.0
ENDED_S = 2.0
"""Within which a tray has noticed that its agent has ended, and goes too if it was told to."""
LOOK_AT_PROCESS_S = 0.1
CLOCK_S = 2.0
"""What clocks of files and of processes may differ by."""
PLACES = (
    *("HOME", VARIABLE, SERVICE, *SERVICE_FOLDERS),
    *(f"XDG_{each}_HOME" for each in ("DATA", "CONFIG", "STATE", "CACHE")),
)
"""Variables that tell a process where its account keeps things."""
Stays = Literal["", "alone", "unreached", "refused"]


class Parting(Struct, frozen=True):
    """What became of a machine's place in its flock, and of what only it kept, in datasets.

    ``stays``: why it is still a member: nobody else belongs to the flock, nobody of it is reached, or
    what ``warning`` says; empty where it has left, or belonged to none."""

    flock: str = ""
    stays: Stays = ""
    handed_over: int = 0
    only_here: int = 0
    warning: str = ""


class OnlyHereError(ClientError):
    """What would be lost if this machine left its flock now."""

    def __init__(self, left: HandedOver) -> None:
        self.left = left
        super().__init__(
            f"nobody takes what only this machine keeps (datasets: {left.datasets}): switch on "
            "another machine, or fetch results first"
        )


async def hand_over_and_leave(
    client: Client,
    told: Callable[[HandedOver], object],
    *,
    even_so: bool = False,
    stands_still_s: float = STANDS_STILL_S,
) -> tuple[str, str]:
    """Have others take what only this machine keeps, then leave the flock, which hands back what
    runs here; return the flock's name, empty without one, and a warning, mostly empty. ``told``
    hears what is left now and then. Where something is left after ``stands_still_s`` without progress,
    it leaves all the same with ``even_so``, else raises ``OnlyHereError``; who is alone in the flock
    hands nothing over and leaves at once. Raises ``ClientError``, also for the last keeper. After an
    error this machine stays a member."""
    node = (await client.call(PEERS, Peers())).node
    if not node.flock:
        return "", ""
    members = (await client.call(MEMBERS, Members())).members
    others = any(not each.own for each in members)
    left = await _handed_over(client, told, stands_still_s) if others else HandedOver(0, 0, 0)
    if left.datasets and not even_so:
        raise OnlyHereError(left)
    answer = await client.call(LEAVE, Leave(even_so or not others))
    return answer.flock, answer.warning


async def part(client: Client, within_s: float) -> Parting:
    """Have others take what only this machine keeps, for at most so long, and leave the flock
    whatever is left then, as the program goes in any case; return what came of it, also that the
    flock did not let it go. Nothing is asked. It stays a member where nobody would be told: its
    data is kept, and it may come back. Raises ``ClientError`` where the agent does not answer
    before that."""
    flock = (await client.call(PEERS, Peers())).node.flock
    if not flock:
        return Parting()
    if all(each.own for each in (await client.call(MEMBERS, Members())).members):
        return Parting(flock, "alone")
    before = left = await _reached(client)
    if before.takers:
        still_s = min(PARTING_STANDS_STILL_S, within_s)
        left = await _handed_over(client, lambda _: None, still_s, within_s)
    done = max(0, before.datasets - left.datasets), left.datasets
    if not left.takers:
        return Parting(flock, "unreached", *done)
    try:
        async with asyncio.timeout(LEFT_S_MAX):
            answer: Left = await client.call(LEAVE, Leave())
    except (ClientError, TimeoutError) as error:
        return Parting(flock, "refused", *done, str(error))
    return Parting(flock, "", *done, answer.warning)


async def _reached(client: Client) -> HandedOver:
    """What is to be handed over, once there is somebody who could take it; an agent that has just
    begun links within seconds."""
    ends_s = time.monotonic() + LINKED_S_MAX
    while not (left := await client.call(HAND_OVER, HandOver(0))).takers:
        if time.monotonic() >= ends_s:
            break
        await asyncio.sleep(LOOK_AT_PROCESS_S)
    return left


async def _handed_over(
    client: Client,
    told: Callable[[HandedOver], object],
    stands_still_s: float,
    within_s: float = float("inf"),
) -> HandedOver:
    """What is left when there is nothing more, nobody has taken anything for a while, or the time is
    over."""
    before, since_s = -1, time.monotonic()
    ends_s = since_s + within_s
    while True:
        left = await client.call(HAND_OVER, HandOver(min(LOOK_S, stands_still_s, within_s)))
        told(left)
        if left.datasets != before:
            before, since_s = left.datasets, time.monotonic()
        still = time.monotonic() - since_s >= stands_still_s
        if not left.datasets or still or time.monotonic() >= ends_s:
            return left


def login_entry(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where the entry lies that starts the tray at login, on systems that keep such files."""
    base = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "autostart" / ENTRY


def starts_at_login(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the tray starts at this person's login, on systems that keep such files: by an
    entry of theirs that is not hidden or, where they have none, by one of the system. Raises
    ``OSError`` for one that cannot be read."""
    try:
        return HIDDEN not in login_entry(environment).read_text("utf-8")
    except FileNotFoundError:
        return system_entry(environment) is not None


def system_entry(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the entry by which a package has the tray start at everybody's login; None where there
    is none, or the first that is found is hidden or its program is gone. Raises ``OSError`` for one
    that cannot be read."""
    for base in (environment.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"):
        file = Path(base) / "autostart" / ENTRY
        if file.is_file():
            tried = _TRIED.search(file.read_text("utf-8"))
            gone = tried and not shutil.which(tried[1], path=environment.get("PATH"))
            return None if gone or HIDDEN in file.read_text("utf-8") else file
    return None


def start_no_more(environment: Mapping[str, str] = os.environ) -> None:
    """Have the tray not start at this person's login, on systems that keep such files: their entry
    goes or, where the system has one for all, hides that one. Raises ``OSError`` when the file
    cannot be deleted or written."""
    file = login_entry(environment)
    if system_entry(environment) is None:
        file.unlink(missing_ok=True)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"[Desktop Entry]\nType=Application\nName=Wingbeat\n{HIDDEN}\n", "utf-8")


def forget_login(environment: Mapping[str, str] = os.environ) -> bool:
    """Have the tray not start at this person's login any more, by an entry of theirs or by one for
    everybody; return whether it did. Do nothing for a home other than the user's own, and return
    False. Raises ``OSError``."""
    if environment.get(VARIABLE, "").strip():
        return False
    if sys.platform == "win32":
        import winreg

        would = False
        with (
            suppress(FileNotFoundError),
            winreg.OpenKey(winreg.HKEY_CURRENT_USER, RUN_KEY, 0, winreg.KEY_SET_VALUE) as key,
        ):
            winreg.DeleteValue(key, VALUE)
            would = True
        with (
            suppress(FileNotFoundError),
            winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, RUN_KEY) as system,
            winreg.CreateKey(winreg.HKEY_CURRENT_USER, OWN_KEY) as own,
        ):
            winreg.QueryValueEx(system, VALUE)
            winreg.SetValueEx(own, NOT_AT_LOGIN, 0, winreg.REG_SZ, "1")
            would = True
        return would
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        would = starts_at_login(environment)
        start_no_more(environment)
        return would


def delete_home(home: Home) -> list[Path]:
    """Delete all that an agent of this home has kept: data, settings, logs and cache, also where a
    link leads to them, and the folders above that were made for it, if nothing else is in them;
    return what could not be deleted, whose link stays. No agent may run on it."""
    left = []
    for folder in home.folders:
        elsewhere = leads_elsewhere(folder)  # its owner has laid it on another disk
        content = Path(os.path.realpath(folder)) if elsewhere else folder
        delete_tree(content)
        if content.exists():
            left.append(content)
        elif elsewhere:
            delete_tree(folder)
    tops = {each.parent for each in home.folders}
    for top in tops:  # those that were made for it, if they held nothing else
        if len(tops) == 1 or top.name == APPLICATION:
            with suppress(OSError):
                top.rmdir()
    return left


def end_windows(home: Home, *hosting: int) -> bool:
    """Wait until the tray of this home and the processes that hosted its agent (``hosting``, ids, 0
    for none) have ended, and end those that do not within some seconds: a tray would stay, and
    start the agent again. Return whether any id was given or a tray is known, also one that had
    ended. Raises ``psutil.Error`` for one that may not be ended."""
    window = _window_of(home)
    running = {*hosting, window} - {0}
    for process in running:
        with suppress(psutil.NoSuchProcess):
            found = psutil.Process(process)
            if not _ends(found, ENDED_S if process == window else STOPPED_S_MAX):
                found.terminate()
                _ends(found, STOPPED_S_MAX)
    return bool(running)


def _window_of(home: Home) -> int:
    """The process of the window, by the lock that it holds; 0 without one. Whoever has its number
    since it died has begun after the lock was made."""
    try:
        process = int(home.window_lock.read_text("utf-8").split()[0])
        begun_s = psutil.Process(process).create_time()
        return process if begun_s <= home.window_lock.stat().st_mtime + CLOCK_S else 0
    except (OSError, ValueError, IndexError, psutil.Error):
        return 0


def _ends(process: psutil.Process, within_s: float) -> bool:
    """Whether it ends in this time; one that only nobody has waited for has ended."""
    ends_s = time.monotonic() + within_s
    while process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() >= ends_s:
            return False
        time.sleep(LOOK_AT_PROCESS_S)
    return True
