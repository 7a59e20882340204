"""A connection as the pair of streams that asyncio code is used to.

Links read frames in place, because they are many and mostly idle. Whatever else comes through
the port, bulk data first of all, is better written against reader and writer, with the
back-pressure that they have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from agent.net.link_tls import TlsConnection

STREAM_BYTES_MAX = 256 * 1024
STREAM_CLOSING_S = 60.0
"""What was written before closing has this long to be read."""


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def streams(connection: TlsConnection, arrived: bytes, ended: Callable[[], None]) -> Streams:
    """Return reader and writer of a connection; ``arrived`` is what came behind the greeting,
    ``ended`` is called when the connection is over."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=STREAM_BYTES_MAX, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport = _StreamTransport(connection, protocol)
    connection.application = _StreamApplication(protocol, ended)
    protocol.connection_made(transport)
    if arrived:
        reader.feed_data(arrived)
    if connection.gone:
        connection.application.lost(connection.error)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


class _StreamApplication:
    """Tells a stream what its connection tells."""

    __slots__ = ("_ended", "_protocol")

    def __init__(self, protocol: asyncio.StreamReaderProtocol, ended: Callable[[], None]) -> None:
        self._protocol = protocol
        self._ended = ended

    def connected(self, transport: asyncio.Transport) -> bool:  # noqa: ARG002
        return True

    def secured(self) -> None:
        """Do nothing; the handshake was done long before."""

    def received(self, data: memoryview) -> None:
        self._protocol.data_received(bytes(data))

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()

    def lost(self, error: Exception | None) -> None:
        self._ended()
        self._protocol.connection_lost(error)


class _StreamTransport(asyncio.Transport):
    """What a stream expects of a transport, done by a connection."""

    def __init__(self, connection: TlsConnection, protocol: asyncio.BaseProtocol) -> None:
        super().__init__()
        self._connection = connection
        self._protocol = protocol

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return ``ssl_object`` and ``sslcontext`` from TLS, everything else from the socket, and
        ``default`` once it is gone."""
        if name == "ssl_object":
            return self._connection.tls
        if name == "sslcontext":
            return self._connection.tls.context
        raw = self._connection.raw
        return default if raw is None else raw.get_extra_info(name, default)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if data:
            self._connection.write(memoryview(data))

    def can_write_eof(self) -> bool:
        """Return False: TLS has no half of an end."""
        return False

    def close(self) -> None:
        self._connection.close(STREAM_CLOSING_S)

    def abort(self) -> None:
        self._connection.abort()

    def is_closing(self) -> bool:
        return self._connection.closing

    def pause_reading(self) -> None:
        self._connection.pause_reading()

    def resume_reading(self) -> None:
        self._connection.resume_reading()

    def get_write_buffer_size(self) -> int:
        raw = self._connection.raw
        return 0 if raw is None else raw.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        if self._connection.raw is not None:
            self._connection.raw.set_write_buffer_limits(high, low)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol
