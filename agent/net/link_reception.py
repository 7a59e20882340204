"""Where connections begin, dialled from here or from elsewhere, until they are agreed on.

Whoever reaches the port gets this far, so it is bounded here: so many at once in all, and so many
from one host, each for a few seconds. Who has not been verified, links and transfers of members, and
each other protocol have room of their own, so that none of them fills that of another; and where
strangers have filled theirs, one of them goes rather than the next who comes (``link_places``).

**Everything that comes through the port and is no link: bulk data, and other protocols.**

A dataset on the link would stand before every claim and heartbeat, however finely it is cut, so
each transfer has its own TLS connection, and TCP shares the wire among them. It is served by a
thread (``transfer_words``). A peer has few at a time; who is expelled loses them at once.

Other protocols (clients, newcomers) are handed over right after the handshake, without having
been verified: who serves them does that, by the ``ssl_object`` of the writer.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import ssl
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from agent.net import transfer_words
from agent.net.addresses import Address
from agent.net.dialling import connect, listening_sockets
from agent.net.invitation_book import origin_of
from agent.net.link_greeting import Greeting, GreetingJudge, Verify
from agent.net.link_places import MemberHosts, Room, crowding
from agent.net.link_refusals import LinkRefusal
from agent.net.link_tls import Shared, Streams, TlsConnection, streams
from agent.net.transfer_words import LoopPipe, Pipe, SocketPipe
from agent.net.wire import Opening
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import PROTOCOL_VERSION
from agent.protocol.records import NodeId

GREETINGS = Room(total_max=64, of_origin_max=32)
"""Of whom nobody is verified yet."""
GREETINGS_PER_MEMBER_MAX = 16
BULK_PER_PEER_MAX = 8
BULK_SERVED_MAX = 32
"""Threads that serve transfers which peers have opened; whoever comes then tries again later."""
OTHERS = Room(total_max=64, of_origin_max=16)
"""Of one other protocol, by strangers; one machine that says nothing must not keep newcomers out."""
OTHERS_OF_MEMBERS = Room(total_max=256, of_origin_max=32)
"""Of one other protocol, by members; each of them counts as one origin."""
LEAVING_LOOKS_MAX, LEAVING_POLL_S = 500, 0.01

_Served = Coroutine[Any, Any, None]
BulkAcceptor = Callable[[NodeId, Pipe], None]
"""Serves one transfer that a peer has opened, in a thread; the pipe is closed when it returns."""
StreamAcceptor = Callable[[asyncio.StreamReader, asyncio.StreamWriter], _Served]
"""Serves one connection of another protocol, likewise."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Contexts:
    """How connections are secured: as the side that is dialled, and as the one that dials.

    The first offers ``wire.ALPN_LINK``, ``wire.ALPN_BULK`` and whatever else is served; the
    others one of these two.
    """

    server: ssl.SSLContext
    link: ssl.SSLContext
    bulk: ssl.SSLContext


class ConnectionAdmission(GreetingJudge, Protocol):
    """Who takes what comes through the port; ``links.Links`` is one."""

    def came_for(self, greeting: Greeting, serve: StreamAcceptor, protocol: str) -> None:
        """Serve a connection for another protocol. A caller that showed a member's certificate is
        the peer of the greeting; what it may ask, whoever serves it decides."""


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
        self._member_hosts = MemberHosts()
        self._stopping = False

    async def listen(
        self, hosts: Sequence[str], port: int, had: Sequence[socket.socket] = ()
    ) -> None:
        """Listen on the sockets in ``had``, or on new ones for these hosts and this port (0: any),
        and set ``port``; raise ``OSError`` with a sentence when that is impossible, where some may
        listen until ``stop``."""
        loop = asyncio.get_running_loop()
        sockets = had or listening_sockets(hosts, port)
        self.port = sockets[0].getsockname()[1]
        for opened in sockets:
            self._servers.append(await loop.create_server(self._accepted, sock=opened))

    async def dial(
        self, addresses: Sequence[Address], expected: NodeId | None, *, bulk: bool = False
    ) -> tuple[Greeting, LinkRefusal | None]:
        """Dial the first of these addresses that answers, for a link or with ``bulk`` for a
        transfer, and wait until the greeting is over; return it and None, or why it was refused,
        here or there. Raise ``OSError``, with nothing open, when nobody answers. ``expected``:
        whose else answers is refused; None takes anybody."""
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
            greeting.refuse(NoLink("NotWanted"))
            raise

    async def close(self) -> None:
        """Stop listening and refuse every connection that is still greeting, without waiting for
        their end (``all_ended``). A connection that the loop has accepted already must be taken on
        before its server is closed, or the server finds itself closed under it and leaves the
        socket open."""
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
            greeting.refuse(NoLink("Stopping"))

    async def all_ended(self) -> None:
        """Wait until every connection that was dialled or accepted here is gone, however long that
        takes."""
        await self._shared.all_ended()

    # -- what greetings ask ----------------------------------------------------------------

    def own_opening(self) -> Opening:
        """Return the first word of this side."""
        return Opening(self._instance, self.port, PROTOCOL_VERSION)

    def admit(self, greeting: Greeting) -> bool:
        """Take on a stranger's connection and return True; False when this node is stopping. Where
        there is no more room for strangers, one of them ends."""
        if self._stopping:
            return False
        strangers = {
            each: origin_of(each.address.host)
            for each in self._greetings
            if not each.dialled and not each.peer
        }
        origin = origin_of(greeting.address.host)
        crowd = crowding(strangers, origin, GREETINGS, self._member_hosts.__contains__)
        if crowd:
            silent = (each for each in crowd if not each.connection.heard)
            next(silent, crowd[0]).give_way()
        self._greetings[greeting] = None
        return True

    def verified(self, greeting: Greeting) -> bool:
        """Note from where a member has come; return False when too many of its connections are
        greeting."""
        self._member_hosts.note(origin_of(greeting.address.host))
        same = [each for each in self._greetings if each.peer == greeting.peer]
        return len(same) <= GREETINGS_PER_MEMBER_MAX

    def came_for(self, greeting: Greeting, protocol: str) -> bool:
        """Hand the connection to whoever serves this other protocol, with the member as its peer whose
        certificate it shows, and return True; return False when nobody does, so that it is for a
        link."""
        serve = self._others.get(protocol)
        if serve is None:
            return False
        if greeting.connection.tls.getpeercert(binary_form=True) is not None:
            known = self.verify(greeting.connection.tls)
            greeting.peer = "" if isinstance(known, NoLink) else known[0]
        self._court.came_for(greeting, serve, protocol)
        return True

    def decide(self, greeting: Greeting) -> None:
        """Hand the greeting to the links to decide; refuse it when this node is stopping."""
        if self._stopping:
            greeting.refuse(NoLink("Stopping"))
        else:
            self._court.decide(greeting)

    def welcomed(self, greeting: Greeting) -> None:
        """Hand the connection that the other side has welcomed to the links; refuse it when this
        node is stopping."""
        if self._stopping:
            greeting.refuse(NoLink("Stopping"))
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


class Transfers:
    """The connections that are no links, by peer; those of other protocols by who may come by it."""

    def __init__(self, serve: BulkAcceptor) -> None:
        self._serve = serve
        self._connections: dict[str, dict[TlsConnection, str]] = {}
        """And of which origin each is."""
        self._pipes: dict[NodeId, dict[Pipe, None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(BULK_SERVED_MAX, "transfer")
        self._serving = 0

    def decide(self, greeting: Greeting) -> None:
        """Accept a peer's connection for a transfer and begin to serve it in a thread; refuse it
        when too many are open, with this peer or in all."""
        busy = len(self._pipes.get(greeting.peer, ())) >= BULK_PER_PEER_MAX
        if busy or self._serving >= BULK_SERVED_MAX:
            greeting.refuse(NoLink("TooManyTransfers"))
            return
        greeting.welcome()
        greeting.succeed()
        self._begin(self._serve_in_thread(greeting), greeting.name)

    def serve_other(self, greeting: Greeting, serve: StreamAcceptor, protocol: str) -> None:
        """Begin to serve a connection for another protocol and close it afterwards; refuse it when
        there are too many of its origin. Where there are too many in all, the oldest of the origin
        with most ends instead, unless that is its own."""
        room = OTHERS_OF_MEMBERS if greeting.peer else OTHERS
        origin = greeting.peer or origin_of(greeting.address.host)
        pool = f"{protocol} {'of members' if greeting.peer else 'of strangers'}"
        held = self._connections.get(pool, {})
        crowd = crowding(held, origin, room, lambda _: False)
        if crowd and held[crowd[0]] == origin:
            greeting.refuse(NoLink("TooManyConnections"))
            return
        if crowd:
            crowd[0].abort()
        greeting.succeed()
        opened = self._streams(greeting, pool, origin)
        self._begin(_until_served(serve(*opened), opened[1]), str(greeting.address))

    async def open_pipe(self, greeting: Greeting) -> Pipe:
        """Return the pipe of a transfer connection that both sides agreed on, once what was said
        before has left; from then on a thread uses and closes it. Raise ``OSError`` when the
        connection has ended; nothing has to be closed then."""
        loop, known = asyncio.get_running_loop(), self._pipes.setdefault(greeting.peer, {})

        def ended() -> None:
            with suppress(RuntimeError):  # the loop has ended, and what it knew with it
                loop.call_soon_threadsafe(known.pop, pipe, None)

        pipe: Pipe
        if not transfer_words.LEAVES_THE_LOOP:
            streams_of = self._streams(greeting, greeting.peer, greeting.peer)
            pipe = LoopPipe(loop, *streams_of, ended)
        else:
            await _all_sent(greeting.connection)
            connected, *bios = greeting.connection.leave_loop()
            rest, tls = greeting.reader.rest(), greeting.connection.tls
            pipe = SocketPipe(connected, tls, (bios[0], bios[1]), rest, ended)
        known[pipe] = None
        return pipe

    def cut(self, peer: NodeId) -> None:
        """Abort all transfers with a peer at once, without waiting for their threads; an unknown
        peer has none."""
        for pipe in list(self._pipes.get(peer, ())):
            pipe.abort()
        for connection in list(self._connections.get(peer, ())):
            connection.abort()

    async def stop(self) -> None:
        """Abort the transfers and the connections of other protocols with all peers, and wait until
        their tasks and threads have ended. The caller sees to it that none begins any more."""
        for task in self._tasks:
            task.cancel()
        for peer in [*self._connections, *self._pipes]:
            self.cut(peer)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._threads.shutdown)

    def _streams(self, greeting: Greeting, pool: str, origin: str) -> Streams:
        connection = greeting.connection
        self._connections.setdefault(pool, {})[connection] = origin

        def ended() -> None:
            kept = self._connections.get(pool, {})
            kept.pop(connection, None)
            if not kept:
                self._connections.pop(pool, None)

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
