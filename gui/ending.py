"""Ending tray and agent of this home from another process, for whoever replaces or removes their files.

They are asked, not killed: the agent hands back what it runs first and, where the files do not come
back, leaves its flock. It is over when the processes are
gone, not when they say goodbye, because a system may refuse to replace files that are still in use.
"""

from __future__ import annotations

from contextlib import suppress

import psutil
from PySide6.QtCore import QDeadlineTimer, QThread

from agent.api.session import STOP, Stop
from agent.client import BlockingClient, ClientError, Home, NoAgentError
from agent.client.link import read_control_file, service_of
from agent.client.removal import part
from gui.single import PAUSE_MS, SilentWindowError, ask_first_to_quit, first_process

END_S_MAX = 75.0
"""A tray gives its agent 30 s to hand back, and may have to begin one before it can end it."""
HAND_OVER_S = 60.0


def end_all(home: Home, within_s: float = END_S_MAX) -> str:
    """Have the tray of this home quit, then its agent end wherever it runs, but not a service of
    the machine, and wait until their processes are gone; nothing is killed. Return an empty text
    then and where none ran, else one sentence: what still runs after ``within_s``, or at once where
    the tray is silent, or why the agent does not end."""
    until = QDeadlineTimer(round(within_s * 1000))
    process = first_process(home)
    if process and not _tray_ended(home, process, until):
        return _still_runs(process)
    if service_of(home) is not None:
        return ""  # what answers is the machine's agent, not this home's
    try:
        process = read_control_file(home).process
        with BlockingClient(home, "wingbeat-tray --quit") as client:
            client.call(STOP, Stop("wingbeat-tray --quit"))
    except NoAgentError:
        return ""  # also where one that was killed has left its file
    except ClientError as error:
        return str(error)
    return "" if _is_gone(process, until) else _still_runs(process)


def leave_and_end_all(home: Home) -> str:
    """Have this home's agent, where one runs that is no service of the machine, hand over what only
    this machine keeps, for a minute at most, and leave its flock; then do and return what
    ``end_all`` does, also where that failed."""
    with suppress(ClientError):
        if service_of(home) is None:
            with BlockingClient(home, "wingbeat-tray --leave") as client:
                client.run(lambda agent: part(agent, HAND_OVER_S))
    return end_all(home)


def _tray_ended(home: Home, process: int, until: QDeadlineTimer) -> bool:
    """Asked until one listens: it may just be starting."""
    while first_process(home) == process and not until.hasExpired():
        try:
            if ask_first_to_quit(home, until.remainingTime() / 1000):
                break
        except SilentWindowError:
            return False
        QThread.msleep(PAUSE_MS)
    return _is_gone(process, until)


def _is_gone(process: int, until: QDeadlineTimer) -> bool:
    """One that has ended and that its parent has not noticed yet holds nothing any more."""
    try:
        running = psutil.Process(process)
        while running.is_running() and running.status() != psutil.STATUS_ZOMBIE:
            if until.hasExpired():
                return False
            QThread.msleep(PAUSE_MS)
    except psutil.NoSuchProcess:
        pass
    return True


def _still_runs(process: int) -> str:
    return f"Wingbeat still runs, as process {process}: its log tells why; try again, or end that process"
