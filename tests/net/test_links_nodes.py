"""Nodes of a test: real sockets on loopback, real TLS, certificates of a flock made for it.

What a node was told is kept in order, and a test waits for conditions, never for time.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from agent.net.addresses import Address
from agent.net.link_reception import Contexts, StreamAcceptor
from agent.net.links import LinkCallbacks, Links
from agent.net.transfer_words import Pipe
from agent.net.wire import ALPN_BULK, ALPN_LINK
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import Message
from tests.hosts.waiting import EVENTUALLY_S_MAX

LOOPBACK = ("127.0.0.1",)
DAY = dt.timedelta(days=1)


# -- certificates ------------------------------------------------------------------------------


@cache
def key() -> ec.EllipticCurvePrivateKey:
    """One key for all will do: what counts here are the certificates."""
    return ec.generate_private_key(ec.SECP256R1())


def certificate(name: str, flock: str, days_from: int = -1, days_to: int = 1) -> x509.Certificate:
    now = dt.datetime.now(dt.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, flock)])
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
    builder = builder.public_key(key().public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now + days_from * DAY).not_valid_after(now + days_to * DAY)
    authority = name == flock
    builder = builder.add_extension(x509.BasicConstraints(authority, None), critical=True)
    return builder.sign(key(), hashes.SHA256())


@cache
def authority(flock: str) -> str:
    return certificate(flock, flock).public_bytes(Encoding.PEM).decode()


@cache
def contexts(name: str, flock: str, days_from: int = -1, days_to: int = 1) -> Contexts:
    private = key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    own = certificate(name, flock, days_from, days_to).public_bytes(Encoding.PEM)
    with TemporaryDirectory() as folder:
        path = Path(folder, "own.pem")
        path.write_bytes(own + private)
        return Contexts(
            context(path, flock, ssl.PROTOCOL_TLS_SERVER, [ALPN_LINK, ALPN_BULK, "other/1"]),
            context(path, flock, ssl.PROTOCOL_TLS_CLIENT, [ALPN_LINK]),
            context(path, flock, ssl.PROTOCOL_TLS_CLIENT, [ALPN_BULK]),
        )


def context(path: Path, flock: str, side: int, protocols: list[str]) -> ssl.SSLContext:
    made = ssl.SSLContext(side)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname = False
    made.verify_mode = ssl.CERT_REQUIRED
    made.load_cert_chain(path)
    made.load_verify_locations(cadata=authority(flock))
    made.set_alpn_protocols(protocols)
    return made


def name_in_certificate(tls: ssl.SSLObject) -> str:
    subject: Any = (tls.getpeercert() or {}).get("subject")
    return str(subject[0][0][1])


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
