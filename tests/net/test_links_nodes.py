"""Nodes of a test: real sockets on loopback, real TLS, certificates of a flock made for it.

What a node was told is kept in order, and a test waits for conditions, never for time.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from agent.net.addresses import Address
from agent.net.certificates import member_of
from agent.net.link_reception import Contexts, StreamAcceptor
from agent.net.links import LinkCallbacks, Links
from agent.net.tls import BULK, LINK, client_context, server_context
from agent.net.transfer_words import Pipe
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import Message
from tests.certain import certain
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.net.flocks import DAY_S, new_authority, new_node

LOOPBACK = ("127.0.0.1",)


# -- certificates ------------------------------------------------------------------------------


authority = cache(new_authority)


@cache
def contexts(name: str, flock: str, days_from: int = -1, days_to: int = 1) -> Contexts:
    life_s = (days_to - days_from) * DAY_S
    node = new_node(authority(flock), name, time.time() + days_from * DAY_S, life_s)
    with TemporaryDirectory() as folder:
        told = authority(flock).flock, node.files(Path(folder))
        server = server_context(*told, keeper=False)
        server.set_alpn_protocols([LINK, BULK, "other/1"])
        return Contexts(server, client_context(*told, LINK), client_context(*told, BULK))


def name_in_certificate(tls: ssl.SSLObject) -> str:
    return member_of(certain(tls.getpeercert(binary_form=True))).host_name


# -- nodes -------------------------------------------------------------------------------------


@dataclass
class Node:
    """A node with its links, and all that it was told, in order."""

    name: str
    flock: str = "flock"
    expelled: set[str] = field(default_factory=set)
    told: list[tuple[Any, ...]] = field(default_factory=list)
    on_linked: Callable[[str], None] | None = None
    on_received: Callable[[str, Message], None] | None = None
    on_bulk: Callable[[str, Pipe], None] | None = None
    links: Links = field(init=False)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(
        self,
        port: int = 0,
        own: Contexts | None = None,
        others: Mapping[str, StreamAcceptor] | None = None,
    ) -> None:
        self.links = Links(
            self.name,
            own or contexts(self.name, self.flock),
            self.verify,
            LinkCallbacks(
                self.linked,
                lambda peer, reset: self.tell("unlinked", peer, reset),
                self.received,
                lambda peer: self.tell("dropped", peer),
                lambda peer, body: self.tell("gossip", peer, body),
                self.bulk,
            ),
            port=port,
            hosts=LOOPBACK,
            others=others,
            random=Random(7),
        )
        await self.links.start()

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self.links.port)

    def verify(self, tls: ssl.SSLObject) -> tuple[str, str] | NoLink:
        peer = name_in_certificate(tls)
        if peer in self.expelled:
            return NoLink("ExpelledFrom", peer, "flock")
        return peer, peer.title()

    def linked(self, peer: str) -> None:
        if self.on_linked is not None:
            self.on_linked(peer)
        self.tell("linked", peer)

    def received(self, peer: str, message: Message) -> None:
        if self.on_received is not None:
            self.on_received(peer, message)
        self.tell("received", peer, message)

    def tell(self, *what: Any) -> None:
        self.told.append(what)
        self.changed.set()

    def bulk(self, peer: str, pipe: Pipe) -> None:
        if self.on_bulk is not None:
            self.on_bulk(peer, pipe)

    def heard(self, kind: str) -> list[tuple[Any, ...]]:
        return [what for what in self.told if what[0] == kind]

    def comings_and_goings(self, peer: str) -> list[str]:
        return [
            what[0] for what in self.told if what[0] in ("linked", "unlinked") and what[1] == peer
        ]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition holds; it is looked at whenever something was told."""
        async with asyncio.timeout(EVENTUALLY_S_MAX):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def nodes(*names: str, flock: str = "flock") -> AsyncIterator[list[Node]]:
    """Started nodes; they are stopped whatever happens."""
    made = [Node(name, flock) for name in names]
    try:
        for node in made:
            await node.start()
        yield made
    finally:
        await asyncio.gather(*(node.links.stop() for node in made))


async def linked(dialling: Node, dialled: Node) -> None:
    """Have one dial the other, and wait until both know."""
    dialling.links.dialler.found(dialled.name, [dialled.address])
    await dialling.until(lambda: dialled.name in dialling.links.linked)
    await dialled.until(lambda: dialling.name in dialled.links.linked)
