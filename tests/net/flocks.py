"""Flocks for tests: authorities and members in memory, and keepers that listen on loopback.

Everything is real but the clock: keys, certificates, files and TLS connections. Waiting is for a
condition with a limit, never for a time.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.api.errors import MembershipError
from agent.host.private_files import PrivateFolder
from agent.net import certificates, identity, recovery
from agent.net.acts import ADMINISTRATOR, KEEPER
from agent.net.addresses import Address
from agent.net.administration import appoint
from agent.net.authority import NODE_LIFE_S, Authority
from agent.net.certificates import Applicant, Member, PrivateKey, Signer
from agent.net.enrolment import EnrolmentServer
from agent.net.enrolment_messages import close
from agent.net.identity import IdentityPaths
from agent.net.invitation import Invitation
from agent.net.joining import AddressesOf, join_flock
from agent.net.membership import Membership, create_flock
from agent.net.tls import Arrival, arrival_of
from agent.protocol.link_reasons import NoLink
from tests.certain import certain
from tests.hosts.waiting import EVENTUALLY_S_MAX

LOOPBACK = "127.0.0.1"
DAY_S = 86_400
PHRASE_WORK, recovery._WORK = recovery._WORK, 2**4
"""Flocks are founded here by the hundred; what was written down in earnest is tried once."""

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Hands:
    """A clock that tests set: the time of this machine and how far it is off."""

    ahead_s: float = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


class FullDisk:
    """A system on which nothing can be replaced any more."""

    def protect(self, folder: Path) -> None:
        del folder

    def exposure(self, path: Path) -> str:
        del path
        return ""

    def replace(self, source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(source), None, str(target))


@dataclass(frozen=True)
class Node:
    key: PrivateKey
    member: Member

    @property
    def node_id(self) -> str:
        return self.member.node_id

    def files(self, folder: Path) -> IdentityPaths:
        """The node's files, as TLS loads them."""
        private = PrivateFolder(folder)
        private.prepare()
        private.write(identity.KEY_FILE, certificates.private_bytes(self.key))
        identity.save_certificate(private, self.member)
        return identity.paths_in(private)


@dataclass
class Door:
    """Where a keeper listens, and what became of each connection."""

    address: Address
    outcomes: asyncio.Queue[Arrival | NoLink] = field(default_factory=asyncio.Queue)

    async def outcome(self) -> Arrival | NoLink:
        async with asyncio.timeout(EVENTUALLY_S_MAX):
            return await self.outcomes.get()


def new_authority(name: str = "Office") -> Authority:
    return Authority.create(name, time.time())


def new_node(
    authority: Authority,
    host_name: str = "host",
    issued_s: float | None = None,
    life_s: float = NODE_LIFE_S,
    key: PrivateKey | None = None,
    signer: Signer | None = None,
) -> Node:
    key = key or certificates.new_key()
    node_id = certificates.node_id_of(key.public_key())
    applicant = Applicant(node_id, host_name, key.public_key())
    moment_s = time.time() if issued_s is None else issued_s
    return Node(key, authority.issue(applicant, moment_s, life_s, signer))


def expired_node(
    authority: Authority, key: PrivateKey | None = None, signer: Signer | None = None
) -> Node:
    long_ago_s = time.time() - 2 * DAY_S
    return new_node(authority, issued_s=long_ago_s, life_s=DAY_S, key=key, signer=signer)


def future_node(authority: Authority) -> Node:
    return new_node(authority, issued_s=time.time() + 2 * DAY_S)


@asynccontextmanager
async def serving(handle: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server on loopback, by its port; it ends when all its connections have."""
    open_ones: set[asyncio.Task[None]] = set()

    async def arrived(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_ones.add(task)
        try:
            await handle(reader, writer)
        finally:
            await close(writer)
            open_ones.discard(task)

    server = await asyncio.start_server(arrived, LOOPBACK, 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        async with asyncio.timeout(EVENTUALLY_S_MAX):
            await asyncio.gather(*open_ones)


@asynccontextmanager
async def open_door(membership: Membership) -> AsyncIterator[Door]:
    """Listens for a member as its composition root does: first who, then what."""
    desk = EnrolmentServer(membership)
    door = Door(Address(LOOPBACK, 0))

    async def arrived(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        outcome = arrival_of(writer.get_extra_info("ssl_object"), membership.roster)
        door.outcomes.put_nowait(outcome)
        await desk.serve(reader, writer)

    async with serving(arrived, membership.tls.server) as port:
        door.address = Address(LOOPBACK, port)
        yield door


def first(path: Path, name: str = "Office", hands: Hands | None = None) -> Membership:
    return create_flock(path / f"first of {name}", name, "first", hands or Hands())


def reopened(path: Path) -> Membership:
    """The member that is started there again."""
    return certain(Membership.open(path))


async def invited(membership: Membership, door: Door, uses: int = 1) -> Invitation:
    return await membership.invite([door.address.host], door.address.port, uses)


async def members(path: Path, keeper: Membership, door: Door, *names: str) -> list[Membership]:
    """Who has joined with one invitation, each in the folder of its name."""
    invitation = await invited(keeper, door, uses=len(names))
    return [await join_flock(path / name, invitation, name) for name in names]


async def appointed(founder: Membership, *others: Membership) -> None:
    """Makes them keepers and administrators, with the authority's key; they hear of it."""
    for each in others:
        await appoint(founder, each.node_id, KEEPER, founder.phrase)
    helping: list[Membership] = []
    for each in others:
        await appoint(founder, each.node_id, ADMINISTRATOR, "" if helping else founder.phrase)
        for other in helping[:1]:
            await other.merge_roster(founder.roster.to_bytes())
            assert await appoint(other, each.node_id, ADMINISTRATOR) == []
            await founder.merge_roster(other.roster.to_bytes())
        helping.append(each)
    for each in others:
        await each.merge_roster(founder.roster.to_bytes())
        await each.adopt_authority(founder.authority("hand on its key"))


def at(*doors: tuple[Membership, Door]) -> AddressesOf:
    known = {membership.node_id: [door.address] for membership, door in doors}
    return lambda node_id: known.get(node_id, [])


def nowhere(node_id: str) -> Sequence[Address]:
    del node_id
    return ()


async def refusal(path: Path, invitation: Invitation, hands: Hands | None = None) -> str:
    with pytest.raises(MembershipError) as caught:
        await join_flock(path, invitation, "newcomer", hands or Hands())
    assert "\n" not in str(caught.value)
    assert Membership.open(path) is None
    return str(caught.value)
