"""A connection as a pair of streams: back-pressure both ways, its end, and what it tells of itself."""

from __future__ import annotations

import asyncio
import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.net import link_reception
from agent.net.link_greeting import keep_alive
from agent.net.link_tls import streams

LIMIT = 256 * 1024


class Connection:
    """Keeps what is done with it."""

    def __init__(self) -> None:
        self.tls = SimpleNamespace(context="the context")
        self.raw: Any = None
        self.application: Any = None
        self.gone = False
        self.closing = True  # whoever forgets to close a stream is told of it otherwise
        self.error: Exception | None = None
        self.done: list[Any] = []

    def write(self, data: memoryview) -> None:
        self.done.append(bytes(data))

    def close(self, within_s: float) -> None:
        self.done.append(("close", within_s))
        self.closing = True

    def abort(self) -> None:
        self.done.append("abort")

    def pause_reading(self) -> None:
        self.done.append("pause")

    def resume_reading(self) -> None:
        self.done.append("resume")


class Scene:
    def __init__(self, arrived: bytes = b"", *, gone: bool = False) -> None:
        self.connection, self.ended = Connection(), list[str]()
        self.connection.gone = gone
        made = streams(cast("Any", self.connection), arrived, lambda: self.ended.append("ended"))
        self.reader, self.writer = made

    def arrives(self, data: bytes) -> None:
        self.connection.application.received(memoryview(data))


async def test_what_came_behind_the_greeting_is_read_first() -> None:
    it = Scene(b"first ")
    it.arrives(b"second")
    assert await it.reader.readexactly(12) == b"first second"


async def test_who_does_not_read_is_not_sent_more() -> None:
    """Twice the limit is held, and when half of that is read it goes on."""

    it = Scene()
    it.arrives(bytes(2 * LIMIT))
    assert it.connection.done == []
    it.arrives(b"x")
    assert it.connection.done == ["pause"]
    await it.reader.readexactly(LIMIT)
    assert it.connection.done == ["pause"]
    await it.reader.readexactly(1)
    assert it.connection.done == ["pause", "resume"]


async def test_who_writes_waits_while_the_pipe_is_full() -> None:
    it = Scene()
    it.writer.write(b"")
    it.writer.write(b"one")
    it.connection.application.pause_writing()
    waiting = asyncio.create_task(it.writer.drain())
    for _ in range(3):
        await asyncio.sleep(0)
    assert not waiting.done()
    it.connection.application.resume_writing()
    await waiting
    assert it.connection.done == [b"one"]


@pytest.mark.parametrize("gone", [False, True])
async def test_the_end_of_the_connection_is_the_end_of_the_stream(gone: bool) -> None:
    it = Scene(b"last", gone=gone)
    if not gone:
        it.connection.application.lost(None)
    assert (await it.reader.read(), it.ended) == (b"last", ["ended"])
    await it.writer.wait_closed()


async def test_a_break_is_told_to_who_reads() -> None:
    it = Scene()
    it.connection.application.lost(ConnectionResetError("cut"))
    with pytest.raises(ConnectionResetError, match="cut"):
        await it.reader.read()
    with pytest.raises(ConnectionResetError, match="cut"):
        await it.writer.wait_closed()


async def test_closing_gives_a_minute_and_aborting_none() -> None:
    it = Scene()
    it.connection.closing = False
    assert not it.writer.is_closing()
    it.writer.close()
    assert it.writer.is_closing()
    it.writer.transport.abort()
    assert it.connection.done == [("close", 60.0), "abort"]
    assert not it.writer.can_write_eof()
    it.connection.application.lost(None)
    await it.writer.wait_closed()


async def test_a_stream_tells_of_its_connection() -> None:
    it = Scene()
    transport = it.writer.transport
    told = it.writer.get_extra_info
    assert (told("ssl_object"), told("sslcontext")) == (it.connection.tls, "the context")
    assert told("peername", "nobody") == "nobody"
    assert transport.get_write_buffer_size() == 0
    transport.set_write_buffer_limits(5)
    limits: list[tuple[int | None, int | None]] = []
    it.connection.raw = SimpleNamespace(
        get_extra_info=lambda name, default: (name, default),
        get_write_buffer_size=lambda: 7,
        set_write_buffer_limits=lambda high, low: limits.append((high, low)),
    )
    assert told("peername", "nobody") == ("peername", "nobody")
    assert transport.get_write_buffer_size() == 7
    transport.set_write_buffer_limits(5, 2)
    assert limits == [(5, 2)]
    other = asyncio.Protocol()
    transport.set_protocol(other)
    assert transport.get_protocol() is other
    it.writer.close()
    it.connection.application.lost(None)


@pytest.mark.parametrize(("sizes", "looks"), [([0], 0), ([5, 5, 0], 2), ([5] * 600, 500)])
async def test_a_socket_leaves_the_loop_when_all_is_sent(
    sizes: list[int], looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And after five seconds at the latest; whoever keeps a transfer waiting longer is cut."""
    waited: list[float] = []

    async def noted(delay_s: float) -> None:
        waited.append(delay_s)

    connection = Connection()
    connection.raw = SimpleNamespace(get_write_buffer_size=lambda: sizes.pop(0))
    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "sleep", noted)
        await link_reception._all_sent(cast("Any", connection))
    assert sum(waited) == pytest.approx(looks * 0.01)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="not told on this system")
def test_the_system_finds_out_in_twenty_seconds_that_nobody_is_there() -> None:
    with socket.socket() as connected:
        keep_alive(connected)
        told = [
            connected.getsockopt(socket.IPPROTO_TCP, option)
            for option in (
                socket.TCP_NODELAY,
                socket.TCP_KEEPIDLE,
                socket.TCP_KEEPINTVL,
                socket.TCP_KEEPCNT,
                socket.TCP_USER_TIMEOUT,
            )
        ]
        assert connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert told == [1, 10, 3, 3, 10_000]
    keep_alive(None)
