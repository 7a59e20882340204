"""Waiting in a loop for what another thread brings about, with a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

LIMIT_S = 30.0


async def eventually(condition: Callable[[], bool]) -> None:
    """Until it is true."""
    async with asyncio.timeout(LIMIT_S):
        while not condition():  # noqa: ASYNC110 - there is nothing to be told by
            await asyncio.sleep(0.01)
