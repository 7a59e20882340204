"""Both ends of a pipe of Windows, on asyncio's own transports.

asyncio makes pipes that every account may read, and calls them with the right to act in the caller's
name. So they are made here: with an access list of this account and the system alone, for this machine
alone, and never beside one that has the name already; and called so that whoever listens learns who
calls, and no more. What of asyncio is used for that (``_proactor``, the transport) has no public name.

The pipe of a service may be called by everybody on the machine. Windows tells who has called only when
something of theirs was read, so their first words are read here, and handed on with their name.
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
FIRST_WORDS_S_MAX = 10.0
Arrived = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def listen_on_pipe(name: str, arrived: Arrived, *, for_all: bool = False) -> Callable[[], None]:
    """Listen on a pipe of this name for programs of this account, or of everybody on this machine,
    in the running loop; return a function that ends the listening soon and does not wait. Raise
    ``OSError`` where there is a pipe of the name already, or Windows refuses."""
    api = PipeApi()
    first = windows_utils.PipeHandle(api.make(name, first=True, for_all=for_all))
    accepting = asyncio.create_task(_accept_all(api, name, first, arrived, for_all))
    return lambda: accepting.cancel() and None


async def _accept_all(
    api: PipeApi, name: str, waiting: Any, arrived: Arrived, for_all: bool
) -> None:
    """Each caller takes the pipe that waits, and the next one is made before it is served."""
    loop: Any = asyncio.get_running_loop()
    callers: set[asyncio.Task[None]] = set()
    try:
        while True:
            try:
                taken = await loop._proactor.accept_pipe(waiting)  # noqa: SLF001
            except BrokenPipeError:  # it called and went
                taken = None
            following = windows_utils.PipeHandle(api.make(name, first=False, for_all=for_all))
            if taken is None:
                waiting.close()
            elif for_all:
                callers.add(calling := asyncio.create_task(_named(api, taken, arrived)))
                calling.add_done_callback(callers.discard)
            else:
                _served(loop, taken, arrived)
            waiting = following
    finally:
        waiting.close()


async def _named(api: PipeApi, pipe: Any, arrived: Arrived) -> None:
    """Who says nothing in time, or is not told by Windows, is sent away."""
    loop: Any = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(FIRST_WORDS_S_MAX):
            words = await loop._proactor.recv(pipe, LINE_BYTES_MAX)  # noqa: SLF001
        caller = api.caller(pipe.handle) if words else None
    except OSError:  # also of too long a silence
        caller = None
    if caller is None:
        pipe.close()
    else:
        _served(loop, pipe, arrived, words, {"caller": caller})


def _served(
    loop: Any, pipe: Any, arrived: Arrived, words: bytes = b"", known: dict[str, Any] | None = None
) -> None:
    reader = asyncio.StreamReader(limit=LINE_BYTES_MAX, loop=loop)
    reader.feed_data(words)
    _transport(loop, pipe, asyncio.StreamReaderProtocol(reader, arrived, loop=loop), known)


async def open_pipe(
    name: str, *, of_machine: bool = False
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Call the pipe of this name and return the streams. Raise ``OSError`` where there is none,
    where others keep it taken for a second, or, with ``of_machine``, where it is not the machine's
    own."""
    loop: Any = asyncio.get_running_loop()
    api = PipeApi()
    for remaining in reversed(range(BUSY_TRIES_MAX)):
        try:
            handle = windows_utils.PipeHandle(api.call(name, of_machine=of_machine))
            break
        except OSError as error:
            if getattr(error, "winerror", 0) != BUSY or not remaining:
                raise
            await asyncio.sleep(BUSY_WAIT_S)
    reader = asyncio.StreamReader(limit=LINE_BYTES_MAX, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport = _transport(loop, handle, protocol)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _transport(
    loop: Any,
    pipe: Any,
    protocol: asyncio.StreamReaderProtocol,
    known: dict[str, Any] | None = None,
) -> Any:
    return loop._make_duplex_pipe_transport(pipe, protocol, extra=known)  # noqa: SLF001
