"""A live node as a process of its own, without a window: from its start until it is asked to end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

from agent.host.stop_signals import Ending
from agent.host.stop_signals_native import native_ending
from agent.node.agent import Options, Service
from agent.paths import Home

Beside = Callable[[Service], Awaitable[None]]
"""Called when the node runs; what it begins ends when the service has stopped."""


def run(home: Home, options: Options | None = None, beside: Beside | None = None) -> str:
    """Run in the main thread until somebody asks it to end; the reason.

    Raises ``ServiceError`` when it cannot start.
    """
    if options is None:
        options = Options(log_to_terminal=sys.stderr is not None and sys.stderr.isatty())
    return asyncio.run(live(home, options, native_ending(), beside))


async def live(home: Home, options: Options, ending: Ending, beside: Beside | None = None) -> str:
    """The same within a loop."""
    service = await Service.start(home, options)
    stopping: list[asyncio.Task[None]] = []

    def asked(reason: str) -> None:
        if not stopping:
            stopping.append(asyncio.create_task(service.stop(reason)))

    ending.watch(asked)
    try:
        if beside is not None:
            await beside(service)
        return await service.wait_stopped()
    finally:
        await service.stop("the process ends")
        ending.ended()
