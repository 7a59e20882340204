"""Clients from other machines: a member may ask this node what its own clients ask, over TLS.

The flock's port takes them in under a protocol of their own. Both sides are verified against the
flock's authority before a word is said, so no token is needed and none travels; the same goes for
this node when it asks another member. Who does not belong any more is cut off at once. What a
member may ask is decided where requests are served, not here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any
from weakref import WeakSet

import msgspec

from agent.api.errors import ServiceError
from agent.api.rpc import ErrorCode, Failure, Problem
from agent.api.session import FlockChanged
from agent.flock.own_node import OwnNode
from agent.net.certificates import Member
from agent.net.dialling import connect
from agent.net.link_refusals import explained
from agent.net.link_tls import Streams
from agent.net.membership import Membership
from agent.net.tls import CLIENT, NO_SERVER_NAME, arrival_of, peer_of
from agent.protocol.link_reasons import NoLink
from agent.protocol.records import NodeId
from agent.wording.speech import english

DIAL_S_MAX = 5.0
_encode = msgspec.json.Encoder().encode

MemberAcceptor = Callable[
    [str, NodeId, asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]
]
"""Serves one client, whose machine has this name and id; the streams are closed when it returns."""

log = logging.getLogger(__name__)


class MemberClients:
    """Client connections in both directions: members that ask here, and members asked from here."""

    def __init__(self, own: OwnNode) -> None:
        self._own = own
        self._accept: MemberAcceptor | None = None
        self._open: WeakSet[asyncio.StreamWriter] = WeakSet()
        """In both directions; nobody has to say when one has ended."""

    def serve(self, accept: MemberAcceptor | None) -> None:
        """Set who serves members from now on; with None they are sent away."""
        self._accept = accept

    async def arrived(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection for the client protocol until it ends; who is no member is told so in
        one refusal, and while nobody serves members nothing is said. The caller closes the streams.
        Raise ``ServiceError`` when this machine belongs to no flock."""
        membership = self._membership()
        arrival = arrival_of(writer.get_extra_info("ssl_object"), membership.roster)
        if isinstance(arrival, NoLink) or arrival.member is None or arrival.protocol != CLIENT:
            reason = english(arrival) if isinstance(arrival, NoLink) else "it is no member"
            log.warning("a client from another machine is not let in: %s", reason)
            refused = Problem(ErrorCode.UNAUTHORISED, f"that machine is not let in, {reason}")
            writer.write(_encode(Failure(None, refused)) + b"\n")
            return
        if self._accept is None:
            return
        self._open.add(writer)
        await self._accept(arrival.member.host_name, arrival.member.node_id, reader, writer)

    async def open(self, node: NodeId) -> Streams:
        """Connect to the client protocol of a member and return the streams; raise ``ServiceError``
        when this machine has no flock, no address of the member is known, it does not answer in
        time, or another one answers there."""
        membership, name = self._membership(), self._own.name_of(node)
        try:
            async with asyncio.timeout(DIAL_S_MAX):
                return await self._dialled(membership, node)
        except (OSError, EOFError) as error:
            raise ServiceError(f"{name} cannot be asked: {english(explained(error))}") from error

    async def _dialled(self, membership: Membership, node: NodeId) -> Streams:
        network, name = self._own.network, self._own.name_of(node)
        addresses = [] if network is None else network.addresses_of(node)
        if not addresses:
            raise ServiceError(f"{name} cannot be asked: nobody knows where it is reached")
        called, _ = await connect(addresses)
        context = membership.tls.client(CLIENT)
        try:
            reader, writer = await asyncio.open_connection(
                sock=called, ssl=context, server_hostname=NO_SERVER_NAME
            )
        except BaseException:
            called.close()
            raise
        peer = peer_of(writer.get_extra_info("ssl_object"), membership.roster)
        if isinstance(peer, Member) and peer.node_id == node:
            self._open.add(writer)
            return reader, writer
        writer.transport.abort()
        reason = (
            english(peer) if isinstance(peer, NoLink) else f"{peer.host_name} answers there now"
        )
        raise ServiceError(f"{name} cannot be asked: {reason}")

    def _membership(self) -> Membership:
        network = self._own.network
        if network is None:
            raise ServiceError("this machine belongs to no flock, so there is no other to ask")
        return network.membership

    def noticed(self, notice: object) -> None:
        """When the flock has changed, cut off clients from machines that do not belong any more and
        questions to them, or all where this node has left; ignore other notices."""
        if not isinstance(notice, FlockChanged):
            return
        network = self._own.network
        for writer in list(self._open):
            tls = writer.get_extra_info("ssl_object")
            if network is None or isinstance(peer_of(tls, network.membership.roster), NoLink):
                writer.transport.abort()
