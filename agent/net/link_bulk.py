"""Everything that comes through the port and is no link: bulk data, and other protocols.

A dataset on the link would stand before every claim and heartbeat, however finely it is cut, so
each transfer has its own TLS connection, and TCP shares the wire among them. It is served by a
thread (``transfer_pipe``). A peer has few at a time; who is expelled loses them at once.

Other protocols (clients, newcomers) are handed over right after the handshake, without having
been verified: who serves them does that, by the ``ssl_object`` of the writer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from agent.net import transfer_pipe
from agent.net.link_greeting import Greeting
from agent.net.link_refusals import Cause
from agent.net.link_streams import Streams, streams
from agent.net.link_tls import TlsConnection
from agent.net.transfer_pipe import LoopPipe, Pipe, SocketPipe
from agent.protocol.records import NodeId

BULK_PER_PEER_MAX = 8
BULK_SERVED_MAX = 32
"""Threads that serve transfers which peers have opened; whoever comes then tries again later."""
OTHERS_MAX, OTHERS_PER_HOST_MAX = 64, 32
"""One machine that says nothing on its connections must not keep newcomers and members out."""
LEAVING_LOOKS_MAX, LEAVING_POLL_S = 500, 0.01

_Served = Coroutine[Any, Any, None]
BulkAcceptor = Callable[[NodeId, Pipe], None]
"""Serves one transfer that a peer has opened, in a thread; the pipe is closed when it returns."""
StreamAcceptor = Callable[[asyncio.StreamReader, asyncio.StreamWriter], _Served]
"""Serves one connection of another protocol, likewise."""

log = logging.getLogger(__name__)


class Transfers:
    """The connections that are no links, by peer; those of other protocols under no name."""

    def __init__(self, serve: BulkAcceptor) -> None:
        self._serve = serve
        self._connections: dict[NodeId, dict[TlsConnection, str]] = {}
        """And the host at its other end."""
        self._pipes: dict[NodeId, dict[Pipe, None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(BULK_SERVED_MAX, "transfer")
        self._serving = 0

    def decide(self, greeting: Greeting) -> None:
        """Accept a peer's connection for a transfer and serve it in a thread; refuse it when too
        many are open."""
        busy = len(self._pipes.get(greeting.peer, ())) >= BULK_PER_PEER_MAX
        if busy or self._serving >= BULK_SERVED_MAX:
            greeting.refuse(Cause.BUSY, "Too many transfers with this peer at once.")
            return
        greeting.welcome()
        greeting.succeed()
        self._begin(self._serve_in_thread(greeting), greeting.name)

    def serve_other(self, greeting: Greeting, serve: StreamAcceptor) -> None:
        """Serve a connection for another protocol, whose caller is not verified yet; refuse it when
        there are too many, in all or from its host."""
        hosts = list(self._connections.get("", {}).values())
        from_there = hosts.count(greeting.address.host)
        if len(hosts) >= OTHERS_MAX or from_there >= OTHERS_PER_HOST_MAX:
            greeting.refuse(Cause.BUSY, "Too many connections at once.")
            return
        greeting.succeed()
        opened = self._streams(greeting)
        self._begin(_until_served(serve(*opened), opened[1]), str(greeting.address))

    async def open_pipe(self, greeting: Greeting) -> Pipe:
        """Return the pipe of a transfer connection that both sides agreed on; raise ``OSError``
        when the connection has ended."""
        loop, known = asyncio.get_running_loop(), self._pipes.setdefault(greeting.peer, {})

        def ended() -> None:
            with suppress(RuntimeError):  # the loop has ended, and what it knew with it
                loop.call_soon_threadsafe(known.pop, pipe, None)

        pipe: Pipe
        if not transfer_pipe.LEAVES_THE_LOOP:
            pipe = LoopPipe(loop, *self._streams(greeting), ended)
        else:
            await _all_sent(greeting.connection)
            connected, *bios = greeting.connection.leave_loop()
            rest, tls = greeting.reader.rest(), greeting.connection.tls
            pipe = SocketPipe(connected, tls, (bios[0], bios[1]), rest, ended)
        known[pipe] = None
        return pipe

    def cut(self, peer: NodeId) -> None:
        """Abort all transfers with a peer at once."""
        for pipe in list(self._pipes.get(peer, ())):
            pipe.abort()
        for connection in list(self._connections.get(peer, ())):
            connection.abort()

    async def stop(self) -> None:
        """Abort all transfers with everybody and wait until their tasks and threads have ended."""
        for task in self._tasks:
            task.cancel()
        for peer in [*self._connections, *self._pipes]:
            self.cut(peer)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._threads.shutdown)

    def _streams(self, greeting: Greeting) -> Streams:
        peer, connection = greeting.peer, greeting.connection
        self._connections.setdefault(peer, {})[connection] = greeting.address.host

        def ended() -> None:
            kept = self._connections.get(peer, {})
            kept.pop(connection, None)
            if not kept:
                self._connections.pop(peer, None)

        return streams(connection, greeting.reader.rest(), ended)

    async def _serve_in_thread(self, greeting: Greeting) -> None:
        self._serving += 1
        try:
            pipe = await self.open_pipe(greeting)
            work = asyncio.wrap_future(self._threads.submit(self._serve_pipe, greeting.peer, pipe))
            try:
                await asyncio.shield(work)
            except asyncio.CancelledError:
                pipe.abort()
                await asyncio.gather(work, return_exceptions=True)
                raise
        finally:
            self._serving -= 1

    def _serve_pipe(self, peer: NodeId, pipe: Pipe) -> None:
        try:
            self._serve(peer, pipe)
        finally:
            pipe.close()

    def _begin(self, served: _Served, name: str) -> None:
        task = asyncio.get_running_loop().create_task(_served(served, name))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _all_sent(connection: TlsConnection) -> None:
    """Until the first words have left; what is only a few bytes rarely waits."""
    for _ in range(LEAVING_LOOKS_MAX):
        if connection.raw is None or not connection.raw.get_write_buffer_size():
            return
        await asyncio.sleep(LEAVING_POLL_S)


async def _until_served(served: _Served, writer: asyncio.StreamWriter) -> None:
    try:
        await served
    finally:
        writer.close()


async def _served(served: _Served, name: str) -> None:
    """Whatever goes wrong in one transfer ends that transfer."""
    try:
        await served
    except (OSError, EOFError) as error:
        log.info("a transfer with %s broke off: %s", name, error)
    except Exception:
        log.exception("a transfer with %s failed", name)
