"""Waiting for a condition, with a limit: what takes real time is never waited for by the clock."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

POLL_S = 0.02
TURN_S = 0.002
EVENTUALLY_S_MAX = 120.0
"""How long anything may take that comes for certain, on a machine that is busy with other things:
whoever waits waits so long, because a shorter limit finds slow machines and no faults."""


class TookTooLongError(AssertionError):
    """A condition did not come true in time."""


def let_pass(seconds: float) -> None:
    """Let real time pass: between two looks, or because what happens meanwhile is measured."""
    threading.Event().wait(seconds)


def wait_for(
    condition: Callable[[], bool],
    limit_s: float,
    what: str,
    explain: Callable[[], str] = str,
    poll_s: float = POLL_S,
) -> float:
    """Until it is true; how long that took. Raises with what ``explain`` tells then."""
    began_s = time.monotonic()
    while not condition():
        if time.monotonic() - began_s > limit_s:
            raise TookTooLongError(f"after {limit_s:g} s not yet: {what}. {explain()}")
        let_pass(poll_s)
    return time.monotonic() - began_s


async def eventually(condition: Callable[[], bool], limit_s: float = EVENTUALLY_S_MAX) -> None:
    """Until it is true, in a loop that goes on meanwhile: for what nobody tells of."""
    async with asyncio.timeout(limit_s):
        while not condition():  # noqa: ASYNC110 - the condition is in nobody's hands
            await asyncio.sleep(TURN_S)
