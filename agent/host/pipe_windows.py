"""Both ends of a pipe of Windows, on asyncio's own transports.

asyncio makes pipes that every account may read, and calls them with the right to act in the caller's
name. So they are made here: with an access list of this account and the system alone, for this machine
alone, and never beside one that has the name already; and called so that whoever listens learns who
calls, and no more. What of asyncio is used for that (``_proactor``, the transport) has no public name.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio import windows_utils
from collections.abc import Awaitable, Callable
from typing import Any

from agent.host.pipe_windows_api import BUSY, PipeApi

assert sys.platform == "win32"

LINE_BYTES_MAX = 64 * 1024
BUSY_TRIES_MAX, BUSY_WAIT_S = 50, 0.02
Arrived = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def listen_on_pipe(name: str, arrived: Arrived) -> Callable[[], None]:
    """Listen on a pipe of this name for programs of this account, and return what ends that. Raises
    ``OSError`` where there is one of the name already, or Windows refuses."""
    api = PipeApi()
    first = windows_utils.PipeHandle(api.make(name, first=True))
    accepting = asyncio.create_task(_accept_all(api, name, first, arrived))
    return lambda: accepting.cancel() and None


async def _accept_all(api: PipeApi, name: str, waiting: Any, arrived: Arrived) -> None:
    """Each caller takes the pipe that waits, and the next one is made before it is served."""
    loop: Any = asyncio.get_running_loop()
    try:
        while True:
            try:
                taken = await loop._proactor.accept_pipe(waiting)  # noqa: SLF001
            except BrokenPipeError:  # it called and went
                taken = None
            following = windows_utils.PipeHandle(api.make(name, first=False))
            if taken is None:
                waiting.close()
            else:
                reader = asyncio.StreamReader(limit=LINE_BYTES_MAX, loop=loop)
                protocol = asyncio.StreamReaderProtocol(reader, arrived, loop=loop)
                _transport(loop, taken, protocol)
            waiting = following
    finally:
        waiting.close()


async def open_pipe(name: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Call the pipe of this name, wait a moment while it is taken by others, and return the streams.
    Raises ``OSError`` where there is none."""
    loop: Any = asyncio.get_running_loop()
    api = PipeApi()
    for remaining in reversed(range(BUSY_TRIES_MAX)):
        try:
            handle = windows_utils.PipeHandle(api.call(name))
            break
        except OSError as error:
            if getattr(error, "winerror", 0) != BUSY or not remaining:
                raise
            await asyncio.sleep(BUSY_WAIT_S)
    reader = asyncio.StreamReader(limit=LINE_BYTES_MAX, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport = _transport(loop, handle, protocol)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _transport(loop: Any, pipe: Any, protocol: asyncio.StreamReaderProtocol) -> Any:
    return loop._make_duplex_pipe_transport(pipe, protocol)  # noqa: SLF001
