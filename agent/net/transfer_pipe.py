"""Bulk data in a thread of its own, so that a gigabyte passes without the loop noticing.

On the loop, each piece of a transfer would stand before every heartbeat for the time of its
encryption, and the loop's bookkeeping would halve what the wire could carry. So once both sides have
agreed on a transfer, its socket and its TLS leave the loop for good and are served by a thread that
blocks. Where a socket cannot be taken out of the loop (the proactor of Windows keeps a reading under
way), the thread asks the loop for each piece instead; that is slower and otherwise the same.

A pipe ends truly: ``receive_into`` returns 0 only after the closing word of TLS, and raises
``ConnectionError`` when the stream broke without it.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol, TypeVar

IDLE_S_MAX = 300.0
"""Nothing comes or goes for this long: the other side is gone, whatever the system believes."""
CIPHER_BYTES = 256 * 1024
PLAIN_BYTES = 256 * 1024
LEAVES_THE_LOOP = sys.platform != "win32"

_Result = TypeVar("_Result")


class Pipe(Protocol):
    """One transfer's connection, used by one thread; ``abort`` by any."""

    def send(self, data: bytes | memoryview) -> None:
        """Send all of the data; raise ``OSError`` when the other side is gone."""

    def receive_into(self, view: memoryview) -> int:
        """Read at least one byte into the view and return how many; 0 when the other side has
        ended. Raise ``OSError`` when the transfer breaks."""

    def abort(self) -> None:
        """Break the transfer: whoever blocks in it is told that the connection is gone."""

    def close(self) -> None:
        """Say the closing word, and end."""


class SocketPipe:
    """A pipe on a socket that has left the loop."""

    def __init__(
        self,
        connected: socket.socket,
        tls: ssl.SSLObject,
        bios: tuple[ssl.MemoryBIO, ssl.MemoryBIO],
        arrived: bytes,
        ended: Callable[[], None],
    ) -> None:
        self._socket, self._tls, self._ended = connected, tls, ended
        self._incoming, self._outgoing = bios
        self._arrived = memoryview(arrived)
        self._cipher = memoryview(bytearray(CIPHER_BYTES))
        self._over = threading.Event()
        connected.settimeout(IDLE_S_MAX)

    def send(self, data: bytes | memoryview) -> None:
        """Send all of the data and block until the system has taken it; raise ``OSError`` when the
        other side is gone."""
        left = memoryview(data)
        while left:
            left = left[self._tls.write(left[:PLAIN_BYTES]) :]
            self._socket.sendall(self._outgoing.read())

    def receive_into(self, view: memoryview) -> int:
        """Read bytes into the view and return how many; block until some come, and return 0 at the
        end of the transfer. Raise ``OSError`` when it breaks."""
        if self._arrived:
            size = min(len(view), len(self._arrived))
            view[:size] = self._arrived[:size]
            self._arrived = self._arrived[size:]
            return size
        while True:
            try:
                return int(self._tls.read(len(view), view))
            except ssl.SSLWantReadError:
                self._more()
            except ssl.SSLZeroReturnError:
                return 0

    def abort(self) -> None:
        self._over.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the transfer in good order and close the socket; failures on the way are ignored."""
        if not self._over.is_set():
            with suppress(OSError):  # it wants to read their word as well, which nobody needs
                self._tls.unwrap()
            with suppress(OSError):
                self._socket.sendall(self._outgoing.read())
        self._over.set()
        self._socket.close()
        self._ended()

    def _more(self) -> None:
        size = self._socket.recv_into(self._cipher)
        if not size:
            raise ConnectionResetError("the other side cut the transfer")
        self._incoming.write(self._cipher[:size])


class LoopPipe:
    """A pipe on streams that stay in the loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ended: Callable[[], None],
    ) -> None:
        self._loop, self._reader, self._writer, self._ended = loop, reader, writer, ended
        self._cut = False

    def send(self, data: bytes | memoryview) -> None:
        """Send all of the data and block until the loop has taken it; raise ``OSError`` when the
        other side is gone."""
        left = memoryview(data)
        while left:
            self._ask(self._send(left[:PLAIN_BYTES]))
            left = left[PLAIN_BYTES:]

    def receive_into(self, view: memoryview) -> int:
        """Read bytes into the view and return how many, 0 at the end of the transfer; raise
        ``ConnectionResetError`` when it was cut."""
        data = self._ask(self._reader.read(len(view)))
        if not data and self._cut:
            raise ConnectionResetError("the transfer was cut")
        view[: len(data)] = data
        return len(data)

    def abort(self) -> None:
        self._cut = True
        with suppress(RuntimeError):  # the loop has ended, and the connection with it
            self._loop.call_soon_threadsafe(self._writer.transport.abort)

    def close(self) -> None:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._writer.close)
        self._ended()

    async def _send(self, data: memoryview) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def _ask(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        try:
            asked = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError as error:
            work.close()
            raise ConnectionResetError("the agent is stopping") from error
        try:
            return asked.result(IDLE_S_MAX)
        except TimeoutError:
            asked.cancel()
            raise


def receive_exactly(pipe: Pipe, view: memoryview) -> None:
    """Fill the whole view from the pipe; raise ``ConnectionResetError`` when the transfer ends
    before."""
    while view:
        size = pipe.receive_into(view)
        if not size:
            raise ConnectionResetError("the other side ended the transfer before its end")
        view = view[size:]
