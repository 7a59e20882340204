"""Waiting for a condition, with a limit: what takes real time is never waited for by the clock."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import AnyStr

POLL_S = 0.02
PAUSE_S_MAX = 0.5
"""After a look that took long itself: what is waited for needs the processors more."""
TURN_S = 0.002
EVENTUALLY_S_MAX = 120.0
"""How long anything may take that comes for certain, on a machine that is busy with other things:
whoever waits waits so long, because a shorter limit finds slow machines and no faults."""


LIFE_S_MAX = 900.0
"""Of a process that a test talks with, however much it is to do on a busy machine."""


class TookTooLongError(AssertionError):
    """A condition did not come true in time."""


def let_pass(seconds: float) -> None:
    """Let real time pass: between two looks, or because what happens meanwhile is measured."""
    threading.Event().wait(seconds)


@contextmanager
def ended(process: subprocess.Popen[AnyStr]) -> Iterator[subprocess.Popen[AnyStr]]:
    """A process that ends with the block at the latest, or when nobody can be meant to wait for it
    any more: then whoever reads what it says comes to an end, too."""
    watchdog = threading.Timer(LIFE_S_MAX, process.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        with process:
            pass


def wait_for(
    condition: Callable[[], bool],
    limit_s: float,
    what: str,
    explain: Callable[[], str] = str,
    poll_s: float = POLL_S,
) -> float:
    """Until it is true; how long that took. Raises with what ``explain`` tells then."""
    began_s = looked_s = time.monotonic()
    while not condition():
        now_s = time.monotonic()
        if now_s - began_s > limit_s:
            raise TookTooLongError(f"after {limit_s:g} s not yet: {what}. {explain()}")
        let_pass(max(poll_s, min(now_s - looked_s, PAUSE_S_MAX)))
        looked_s = time.monotonic()
    return time.monotonic() - began_s


async def eventually(condition: Callable[[], bool], limit_s: float = EVENTUALLY_S_MAX) -> None:
    """Until it is true, in a loop that goes on meanwhile: for what nobody tells of."""
    async with asyncio.timeout(limit_s):
        while not condition():  # noqa: ASYNC110 - the condition is in nobody's hands
            await asyncio.sleep(TURN_S)
