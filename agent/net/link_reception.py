"""Where connections begin, dialled from here or from elsewhere, until they are agreed on.

Whoever reaches the port gets this far, so it is bounded here: so many at once in all, and so many
from one host, each for a few seconds.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from agent.net.addresses import Address
from agent.net.dial_connect import connect, listening_sockets
from agent.net.link_bulk import StreamAcceptor
from agent.net.link_greeting import Greeting, Verify
from agent.net.link_refusals import Cause, LinkRefusal
from agent.net.link_tls import Shared, TlsConnection
from agent.net.wire import Opening
from agent.protocol.messages import PROTOCOL_VERSION
from agent.protocol.records import NodeId

GREETINGS_MAX = 64
GREETINGS_PER_HOST_MAX = 32


@dataclass(frozen=True, slots=True)
class Contexts:
    """How connections are secured: as the side that is dialled, and as the one that dials.

    The first offers ``wire.ALPN_LINK``, ``wire.ALPN_BULK`` and whatever else is served; the
    others one of these two.
    """

    server: ssl.SSLContext
    link: ssl.SSLContext
    bulk: ssl.SSLContext


class ConnectionAdmission(Protocol):
    """Who says what becomes of a greeting; ``links.Links`` is one."""

    def decide(self, greeting: Greeting) -> None:
        """Decide on the connection: welcome it, refuse it, or do so later."""

    def welcomed(self, greeting: Greeting) -> None:
        """Take on a connection that the other side has welcomed."""

    def came_for(self, greeting: Greeting, serve: StreamAcceptor) -> None:
        """Serve a connection for another protocol, whose caller is not verified."""

    def refused(self, refusal: LinkRefusal) -> None:
        """Note that there will be no link by this connection."""

    def greeting_over(self, greeting: Greeting) -> None:
        """Forget a greeting that has become a link or bulk connection, or ended."""


class Reception:
    """Listens and dials; holds what is not agreed on yet."""

    def __init__(
        self,
        me: NodeId,
        contexts: Contexts,
        verify: Verify,
        others: Mapping[str, StreamAcceptor],
        court: ConnectionAdmission,
    ) -> None:
        self.me = me
        self.contexts = contexts
        self.verify = verify
        self.port = 0
        self._others, self._court = others, court
        self._instance = secrets.token_hex(16)
        self._shared = Shared()
        self._greetings: dict[Greeting, None] = {}
        self._servers: list[asyncio.Server] = []
        self._stopping = False

    async def listen(
        self, hosts: Sequence[str], port: int, had: Sequence[socket.socket] = ()
    ) -> None:
        """Listen on the sockets in ``had``, or on new ones for these hosts and port; raise
        ``OSError`` with a sentence when that is impossible."""
        loop = asyncio.get_running_loop()
        sockets = had or listening_sockets(hosts, port)
        self.port = sockets[0].getsockname()[1]
        for opened in sockets:
            self._servers.append(await loop.create_server(self._accepted, sock=opened))

    async def dial(
        self, addresses: Sequence[Address], expected: NodeId | None, *, bulk: bool = False
    ) -> tuple[Greeting, LinkRefusal | None]:
        """Dial the first of these addresses that answers and greet it; return the greeting and
        None, or why it was refused. Raise ``OSError`` when nobody answers."""
        opened, address = await connect(addresses)
        greeting = Greeting(self, address, expected, bulk=bulk)
        context = self.contexts.bulk if bulk else self.contexts.link
        connection = TlsConnection(context, greeting, self._shared, server_side=False)
        greeting.connection = connection
        self._greetings[greeting] = None
        try:
            await asyncio.get_running_loop().create_connection(lambda: connection, sock=opened)
            return greeting, await greeting.outcome
        except BaseException:
            greeting.refuse(Cause.CLOSED, "It is not wanted any more.")
            raise

    async def close(self) -> None:
        """Stop listening and refuse every connection that is still greeting. A connection that the
        loop has accepted already must be taken on before its server is closed, or the server finds
        itself closed under it and leaves the socket open."""
        self._stopping = True
        loop = asyncio.get_running_loop()
        for opened in [each for server in self._servers for each in server.sockets]:
            with suppress(NotImplementedError):  # Windows: accepting ends with the server
                loop.remove_reader(opened.fileno())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for server in self._servers:
            server.close()
        for greeting in list(self._greetings):
            greeting.refuse(Cause.CLOSED, "The agent there is stopping.")

    async def all_ended(self) -> None:
        """Wait until every connection that was made here is gone."""
        await self._shared.all_ended()

    # -- what greetings ask ----------------------------------------------------------------

    def own_opening(self) -> Opening:
        """Return the first word of this side."""
        return Opening(self._instance, self.port, PROTOCOL_VERSION)

    def admit(self, greeting: Greeting) -> bool:
        """Take on a stranger's connection; return False when there are too many greeting, in all or
        from its host, or this node is stopping."""
        host = greeting.address.host
        strangers = [other for other in self._greetings if not other.dialled]
        from_there = sum(1 for other in strangers if other.address.host == host)
        if self._stopping or len(strangers) >= GREETINGS_MAX:
            return False
        if from_there >= GREETINGS_PER_HOST_MAX:
            return False
        self._greetings[greeting] = None
        return True

    def came_for(self, greeting: Greeting, protocol: str) -> bool:
        """Hand the connection to whoever serves this other protocol; return False when nobody does,
        so that it is for a link."""
        serve = self._others.get(protocol)
        if serve is None:
            return False
        self._court.came_for(greeting, serve)
        return True

    def decide(self, greeting: Greeting) -> None:
        """Hand the greeting to the links to decide; refuse it when this node is stopping."""
        if self._stopping:
            greeting.refuse(Cause.CLOSED, "The agent there is stopping.")
        else:
            self._court.decide(greeting)

    def welcomed(self, greeting: Greeting) -> None:
        """Hand the connection that the other side has welcomed to the links; refuse it when this
        node is stopping."""
        if self._stopping:
            greeting.refuse(Cause.CLOSED, "The agent there is stopping.")
        else:
            self._court.welcomed(greeting)

    def greeting_over(self, greeting: Greeting) -> None:
        self._greetings.pop(greeting, None)
        self._court.greeting_over(greeting)

    def refused(self, refusal: LinkRefusal) -> None:
        self._court.refused(refusal)

    def _accepted(self) -> TlsConnection:
        greeting = Greeting(self, None)
        greeting.connection = TlsConnection(
            self.contexts.server, greeting, self._shared, server_side=True
        )
        return greeting.connection
