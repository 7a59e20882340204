"""Ending an agent of another process that does not answer, so that it can be started anew.

Only the process that the control file names is ended, and only if it was there before the file was
written: process numbers are used again.
"""

from __future__ import annotations

import os

import psutil

from agent.api.session import CONTROL_FILE
from agent.client import Home
from agent.client.errors import ClientError
from agent.client.link import read_control_file
from gui.words import tr

PATIENCE_S = 5.0
CLOCK_STEP_S = 2.0
"""How far a file's time and a process's may be apart by rounding alone."""


def end_silent_agent(home: Home) -> str:
    """Kill the process that this home's control file names as its agent, and wait a few seconds
    until it is gone. Return a sentence if it is this process or cannot be ended; empty when it is
    gone, no file names one, or the number is another program's by now."""
    try:
        number = read_control_file(home).process
        written_s = (home.data / CONTROL_FILE).stat().st_mtime
    except (ClientError, OSError):
        return ""
    if number == os.getpid():
        return tr("The agent hangs in this process: quit Wingbeat and start it again.")
    try:
        process = psutil.Process(number)
        if process.create_time() <= written_s + CLOCK_STEP_S:
            process.kill()
            process.wait(PATIENCE_S)
    except psutil.NoSuchProcess:
        return ""
    except (psutil.AccessDenied, psutil.TimeoutExpired):
        return tr(
            "Process {process} cannot be ended: end it yourself, then start Wingbeat.",
            process=number,
        )
    return ""
