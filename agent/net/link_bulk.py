"""Everything that comes through the port and is no link: bulk data, and other protocols.

A dataset on the link would stand before every claim and heartbeat, however finely it is cut, so
each transfer has its own TLS connection, and TCP shares the wire among them. A peer has few at a
time; who is expelled loses them at once.

Other protocols (clients, newcomers) are handed over right after the handshake, without having
been verified: who serves them does that, by the ``ssl_object`` of the writer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from agent.net.link_greeting import Greeting
from agent.net.link_refusals import Cause
from agent.net.link_streams import Streams, streams
from agent.net.link_tls import TlsConnection
from agent.protocol.records import NodeId

BULK_PER_PEER_MAX = 8
OTHERS_MAX = 64

_Served = Coroutine[Any, Any, None]
BulkAcceptor = Callable[[NodeId, asyncio.StreamReader, asyncio.StreamWriter], _Served]
"""Serves one transfer that a peer has opened; the streams are closed when it returns."""
StreamAcceptor = Callable[[asyncio.StreamReader, asyncio.StreamWriter], _Served]
"""Serves one connection of another protocol, likewise."""

log = logging.getLogger(__name__)


class Transfers:
    """The connections that are streams, by peer."""

    def __init__(self, serve: BulkAcceptor) -> None:
        self._serve = serve
        self._connections: dict[NodeId, dict[TlsConnection, None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def decide(self, greeting: Greeting) -> None:
        """A peer wants to open a transfer."""
        if len(self._connections.get(greeting.peer, ())) >= BULK_PER_PEER_MAX:
            greeting.refuse(Cause.BUSY, "Too many transfers with this peer at once.")
            return
        greeting.welcome()
        greeting.succeed()
        opened = self.opened(greeting)
        self._begin(self._serve(greeting.peer, *opened), greeting.name, opened[1])

    def other(self, greeting: Greeting, serve: StreamAcceptor) -> None:
        """Somebody, not verified yet, has come for another protocol."""
        if len(self._connections.get("", ())) >= OTHERS_MAX:
            greeting.refuse(Cause.BUSY, "Too many connections at once.")
            return
        greeting.succeed()
        opened = self.opened(greeting)
        self._begin(serve(*opened), str(greeting.address), opened[1])

    def opened(self, greeting: Greeting) -> Streams:
        """The streams of a connection that was agreed on."""
        peer, connection = greeting.peer, greeting.connection
        self._connections.setdefault(peer, {})[connection] = None

        def ended() -> None:
            kept = self._connections.get(peer, {})
            kept.pop(connection, None)
            if not kept:
                self._connections.pop(peer, None)

        return streams(connection, greeting.reader.rest(), ended)

    def cut(self, peer: NodeId) -> None:
        """End all transfers with a peer at once."""
        for connection in list(self._connections.get(peer, ())):
            connection.abort()

    async def stop(self) -> None:
        """End all of them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for peer in list(self._connections):
            self.cut(peer)

    def _begin(self, served: _Served, name: str, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(_served(served, name, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _served(served: _Served, name: str, writer: asyncio.StreamWriter) -> None:
    """Whatever goes wrong in one transfer ends that transfer."""
    try:
        await served
    except (OSError, EOFError) as error:
        log.info("a transfer with %s broke off: %s", name, error)
    except Exception:
        log.exception("a transfer with %s failed", name)
    finally:
        writer.close()
