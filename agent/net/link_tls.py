"""One TLS connection over a plain transport, without asyncio's own TLS in between.

A flock of thirty is 29 links that each say something small twice a second, and an idle agent may
cost next to nothing. asyncio's TLS copies each arrival through three layers and holds 256 KiB per
connection for it; here the transport receives into one place shared by all connections of a
loop, and OpenSSL decrypts into another. What is decrypted is handed on at once, so nothing read
is ever kept here.

The end of a connection is told truly: ``cut`` when the stream broke without the closing word of
TLS. Closing says that word, and then lets the other side read it to the end, because a socket
closed with something unread takes its last words back.

**A connection as the pair of streams that asyncio code is used to.**

Links read frames in place, because they are many and mostly idle. Whatever else comes through
the port, bulk data first of all, is better written against reader and writer, with the
back-pressure that they have.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from typing import Any, Protocol

ARRIVAL_BYTES = 64 * 1024
PLAIN_BYTES = 64 * 1024
UNSENT_BYTES_HIGH = 64 * 1024
CLOSING_S = 1.0
STREAM_BYTES_MAX = 256 * 1024
STREAM_CLOSING_S = 60.0
"""What was written before closing has this long to be read."""


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Shared:
    """What all connections of one loop share: where they read into, and who is there."""

    __slots__ = ("_empty", "arrival", "arrival_view", "connections", "plain", "plain_view")

    def __init__(self) -> None:
        self.arrival = bytearray(ARRIVAL_BYTES)
        self.arrival_view = memoryview(self.arrival)
        self.plain = bytearray(PLAIN_BYTES)
        self.plain_view = memoryview(self.plain)
        self.connections: dict[TlsConnection, None] = {}
        self._empty = asyncio.Event()

    def ended(self, connection: TlsConnection) -> None:
        """Forget a connection that has ended, and wake who waits for the last one."""
        self.connections.pop(connection, None)
        if not self.connections:
            self._empty.set()

    async def all_ended(self) -> None:
        """Wait until no connection is left, when no new ones come any more; return at once when
        there is none."""
        while self.connections:
            self._empty.clear()
            await self._empty.wait()


class Application(Protocol):
    """Whoever speaks on a connection: it is told what becomes of it and what arrives."""

    def connected(self, transport: asyncio.Transport) -> bool:
        """Take note that the connection stands; return False when it is to be cut at once."""

    def secured(self) -> None:
        """Take note that the handshake is done, as far as this side can tell."""

    def received(self, data: memoryview) -> None:
        """Take in data that has arrived; its memory is used again afterwards."""

    def pause_writing(self) -> None:
        """Take note that the transport takes no more for now."""

    def resume_writing(self) -> None:
        """Take note that the transport takes more again."""

    def lost(self, error: Exception | None) -> None:
        """Take note that the connection has ended; ``None`` when with the closing word of either
        side."""


class TlsConnection(asyncio.BufferedProtocol):
    """TLS between a plain transport and an application."""

    __slots__ = (
        "_arrived",
        "_closing",
        "_closing_timer",
        "_outgoing",
        "_raw",
        "_secured",
        "_shared",
        "application",
        "closed_here",
        "error",
        "gone",
        "heard",
        "tls",
    )

    def __init__(
        self,
        context: ssl.SSLContext,
        application: Application,
        shared: Shared,
        *,
        server_side: bool,
    ) -> None:
        self.application = application
        self._shared = shared
        self._arrived = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._arrived, self._outgoing, server_side=server_side)
        self._raw: asyncio.Transport | None = None
        self._secured = False
        self._closing = False
        self._closing_timer: asyncio.TimerHandle | None = None
        self.error: Exception | None = None
        self.closed_here = False
        self.gone = False
        self.heard = False
        """Whether anything has come from the other side."""

    # -- what the application does ---------------------------------------------------------

    def write(self, data: bytes | memoryview) -> None:
        """Encrypt and send all of the data, without waiting; the transport keeps what the socket
        does not take yet. Do nothing once the connection is closing; an error of TLS closes it and
        is not raised."""
        if self._closing or self._raw is None:
            return
        try:
            written = self.tls.write(data)
            while written < len(data):
                written += self.tls.write(memoryview(data)[written:])
        except ssl.SSLError as error:
            self._broken(error)
            return
        self._raw.write(self._outgoing.read())

    def close(self, limit_s: float = CLOSING_S) -> None:
        """Begin to end the connection in good order: send TLS's closing word and leave the other
        side ``limit_s`` to read it, then cut it; the application is told at the end. Do nothing
        when it is closing already, or has no connection below it yet."""
        if self._closing or self._raw is None:
            return
        self._closing = self.closed_here = True
        with contextlib.suppress(OSError, ValueError):
            self.tls.unwrap()
        self._send_what_tls_says()
        self._raw.resume_reading()
        if self._raw.can_write_eof():
            self._raw.write_eof()
        self._end_within(limit_s)

    def abort(self) -> None:
        """End the connection at once; what is not sent yet is lost, and the application is told a
        little later."""
        self.closed_here = self.closed_here or not self._closing
        self._closing = True
        if self._raw is not None:
            self._raw.abort()

    def leave_loop(self) -> tuple[socket.socket, ssl.MemoryBIO, ssl.MemoryBIO]:
        """Return a copy of the socket, and the TLS buffers (arrived, outgoing), for a thread that
        blocks; here the connection is over from now on. Raise ``OSError`` when it has ended, or not
        everything that was written has left."""
        if self._closing or self._raw is None or self._raw.get_write_buffer_size():
            raise ConnectionResetError("the connection has ended before the transfer began")
        connected: socket.socket = self._raw.get_extra_info("socket").dup()
        self._closing = True
        self._raw.abort()
        return connected, self._arrived, self._outgoing

    def pause_reading(self) -> None:
        """Let the other side's pipe fill."""
        if self._raw is not None and not self._closing:
            self._raw.pause_reading()

    def resume_reading(self) -> None:
        """Read again after a pause; do nothing on a connection that is closing."""
        if self._raw is not None and not self._closing:
            self._raw.resume_reading()

    @property
    def closing(self) -> bool:
        """Whether the connection is being closed, so that nothing more can be said."""
        return self._closing

    @property
    def raw(self) -> asyncio.Transport | None:
        """The transport below, for what is asked of the socket; None before it is connected."""
        return self._raw

    # -- what the transport tells ----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the TLS handshake on a new connection; abort the connection when the application
        does not want it."""
        assert isinstance(transport, asyncio.Transport)
        self._raw = transport
        self._shared.connections[self] = None
        if not self.application.connected(transport):
            self.abort()
            return
        transport.set_write_buffer_limits(high=UNSENT_BYTES_HIGH)
        self._shake_hands()

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002
        return self._shared.arrival

    def buffer_updated(self, nbytes: int) -> None:
        """Take in what has arrived: go on with the handshake, then decrypt and hand it to the
        application. The closing word of TLS, or an error of it, closes the connection; nothing is
        taken in on one that is closing."""
        if self._closing:
            return
        self.heard = True
        self._arrived.write(self._shared.arrival_view[:nbytes])
        if not (self._secured or self._shake_hands()):
            return
        plain, view = self._shared.plain, self._shared.plain_view
        try:
            while not self._closing:
                size: int = self.tls.read(PLAIN_BYTES, plain)  # type: ignore[assignment]
                if not size:
                    self._ended()
                    return
                self.application.received(view[:size])
                if not self._arrived.pending:
                    break
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self._ended()
        except ssl.SSLError as error:
            self._broken(error)
        if self._outgoing.pending:
            self._send_what_tls_says()

    def eof_received(self) -> bool:
        """Note that the other side has closed its end, which is an error unless the connection was
        closing already, and cut the connection soon; return False, so that the transport closes."""
        if not self._closing:
            self.error = self.error or ConnectionResetError("the other side cut the connection")
            self._closing = True
        self._end_within(CLOSING_S)
        return False

    def pause_writing(self) -> None:
        self.application.pause_writing()

    def resume_writing(self) -> None:
        self.application.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that has ended, and tell the application so with the first error, or
        None if there was none."""
        self._closing = True
        if self._closing_timer is not None:
            self._closing_timer.cancel()
        self._shared.ended(self)
        self.gone = True
        self.error = self.error or exc
        self.application.lost(self.error)

    # -- TLS -------------------------------------------------------------------------------

    def _shake_hands(self) -> bool:
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self._send_what_tls_says()
            return False
        except (ssl.SSLError, ssl.CertificateError) as error:
            self._broken(error)
            return False
        self._send_what_tls_says()
        self._secured = True
        self.application.secured()
        return True

    def _ended(self) -> None:
        """The other side said the closing word."""
        if self._closing:
            return
        self.close()
        self.closed_here = False

    def _broken(self, error: Exception) -> None:
        """The other side is told why by TLS itself, where it has a word for it."""
        self.error = self.error or error
        self.close()

    def _end_within(self, limit_s: float) -> None:
        """However the other side behaves, the connection is gone after this long."""
        if self._raw is not None and self._closing_timer is None:
            loop = asyncio.get_running_loop()
            self._closing_timer = loop.call_later(limit_s, self._raw.abort)

    def _send_what_tls_says(self) -> None:
        if self._raw is not None and self._outgoing.pending:
            self._raw.write(self._outgoing.read())


def streams(connection: TlsConnection, arrived: bytes, ended: Callable[[], None]) -> Streams:
    """Return reader and writer for a connection, which take the place of its application;
    ``arrived`` is what came behind the greeting, and ``ended`` is called when the connection is
    over, at once if it is."""
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
        """Return ``ssl_object`` and ``sslcontext`` from TLS, everything else from the transport below,
        and ``default`` where that does not know it or is not there."""
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
