"""The attacks of ``live_fuzz`` on wire and links, each a coroutine on a host outside the flock.

Members are made with the flock's own authority, so that their certificates are as good as any;
there are many, because whoever misbehaved gets no other link for five seconds.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from agent.api import flock
from agent.net import identity
from agent.net.certificates import Signer
from agent.net.membership import Membership
from agent.net.wire import Kind, frame, opening_frame
from agent.net.wire import Opening as OpeningWord
from agent.protocol import messages
from agent.protocol.messages import PROTOCOL_VERSION, Hello
from tests.bench.live_mutants import Breeder, Due
from tests.hosts.host import Host
from tests.hosts.hosts import nap
from tests.hosts.stranger import Frame, Stranger, TurnedAwayError, context_of
from tests.net.flocks import Node, new_node

PORT = 29464
MEMBERS = 100
AT_ONCE = 20
FRAMES_PER_LINK = 800
BATCH = 100
RAW_SHARE, GREETING_SHARE, REPLAY_SHARE = 0.01, 0.003, 0.0002
OUT_OF_FAVOUR_S = 5.2
CLOSED_S_MAX = 10.0
RECORD_S = 8.0

Counts = dict[str, int]
Attack = Callable[["Target", int], Coroutine[Any, Any, Counts]]


@dataclass
class Target:
    """The agent, and what the attackers have in hand."""

    host: Host
    address: str
    folder: Path
    random: Random
    frames: list[Frame] = field(default_factory=list)
    members: list[tuple[Node, ssl.SSLContext]] = field(default_factory=list)
    peer: str = ""
    """The node id of the agent's peer."""

    def __post_init__(self) -> None:
        membership = Membership.open(self.host.home.identity)
        assert membership is not None
        self.authority = membership.authority("make members")
        key = identity.own_key(membership.folder)
        self.signer = Signer(membership.node_id, key)
        for number in range(MEMBERS):
            node = new_node(self.authority, f"attacker{number}", signer=self.signer)
            self.members.append((node, context_of(node, self.folder)))

    @property
    def place(self) -> tuple[str, int]:
        return self.address, PORT

    def breeder(self) -> Breeder:
        return Breeder(self.frames, Random(self.random.random()))


async def record(target: Target, peer: Host) -> None:
    """Listen in as a member, while the flock works: the frames that mutants are made of."""
    node, context = target.members[0]
    stranger = await linked(target, node, context)
    asked = peer.ask_submit("recorded", [nap(f"recorded{n}", 0.2) for n in range(10)])
    try:
        async with asyncio.timeout(RECORD_S):
            while (found := await stranger.next()) is not None:
                target.frames.append(found)
    except TimeoutError:
        pass
    stranger.close()
    await asyncio.wrap_future(asked)
    await asyncio.to_thread(target.host.call, flock.PEERS, flock.Peers())


async def linked(target: Target, node: Node, context: ssl.SSLContext) -> Stranger:
    """As a member; raises ``TurnedAwayError`` or ``OSError``."""
    stranger = await Stranger.dial(target.place, context)
    try:
        await stranger.greet(node.node_id, target.host.node, f"{target.random.random()}")
        stranger.writer.write(frame(Kind.MESSAGE, _hello(node)))
    except BaseException:
        stranger.close()
        raise
    return stranger


def _hello(node: Node) -> bytes:
    """Without it the agent hears nothing further of this member."""
    incarnation = int(time.time() * 1000)
    return messages.encode(Hello(PROTOCOL_VERSION, node.member.host_name, incarnation, 0, False))


# -- before the handshake -------------------------------------------------------------------------


async def garbage(target: Target, frames: int) -> Counts:
    """Bytes that begin like a TLS handshake, and do not go on so."""
    hello = _client_hello(target.members[0][1])
    random = Random(target.random.random())

    async def one() -> None:
        data = bytearray(hello)
        for _ in range(random.randint(0, 6)):
            data[random.randrange(len(data))] = random.randrange(256)
        reader, writer = await asyncio.open_connection(*target.place)
        writer.write(bytes(data[: random.randint(1, len(data))]))
        writer.write_eof()
        await _closed(reader)
        writer.transport.abort()

    count = max(50, int(frames * RAW_SHARE))
    await many(count, one)
    return {"connections with garbage": count}


def _client_hello(context: ssl.SSLContext) -> bytes:
    outgoing = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), outgoing)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()
    raise AssertionError("a handshake needs two")


async def _closed(reader: asyncio.StreamReader) -> bytes:
    found = b""
    try:
        async with asyncio.timeout(CLOSED_S_MAX):
            while data := await reader.read(65_536):
                found += data
    except OSError:
        pass
    return found


# -- between handshake and link -------------------------------------------------------------------


async def mutant_greetings(target: Target, frames: int) -> Counts:
    """Members whose first words are none."""
    breeder = target.breeder()
    random = breeder.random
    found = {"mutants in place of a greeting": 0}

    async def one() -> None:
        _, context = random.choice(target.members)
        stranger = await Stranger.dial(target.place, context)
        if random.random() < 0.3:
            word = OpeningWord(f"{random.random()}", 0, PROTOCOL_VERSION)
            stranger.writer.write(opening_frame(word))
        for _ in range(3):
            stranger.writer.write(breeder.mutant()[0])
        found["mutants in place of a greeting"] += 3
        if stranger.writer.can_write_eof():
            stranger.writer.write_eof()
        async with asyncio.timeout(CLOSED_S_MAX):
            await stranger.drain()
        stranger.close()

    await many(max(20, int(frames * GREETING_SHARE)), one)
    return found


# -- on links -------------------------------------------------------------------------------------


async def mutants_on_links(target: Target, frames: int) -> Counts:
    """Each link carries harmless mutants and then one that has to end it."""
    found = {"mutants on links": 0, "links lost": 0, "malformed frames that cost no link": 0}
    members: asyncio.Queue[tuple[Node, ssl.SSLContext]] = asyncio.Queue()
    for member in target.members:
        members.put_nowait(member)
    loop = asyncio.get_running_loop()

    async def attack() -> None:
        breeder = target.breeder()
        while found["mutants on links"] < frames:
            member = await members.get()
            try:
                await _burst(target, *member, breeder, found)
            except TurnedAwayError:
                found["links refused for a while"] = found.get("links refused for a while", 0) + 1
            except (OSError, TimeoutError) as error:
                name = f"links failed ({type(error).__name__})"
                found[name] = found.get(name, 0) + 1
            loop.call_later(OUT_OF_FAVOUR_S, members.put_nowait, member)

    await asyncio.gather(*(attack() for _ in range(AT_ONCE)))
    return found


async def _burst(
    target: Target, node: Node, context: ssl.SSLContext, breeder: Breeder, found: Counts
) -> None:
    stranger = await linked(target, node, context)
    draining = asyncio.create_task(stranger.drain())
    try:
        for _ in range(FRAMES_PER_LINK // BATCH):
            batch = [breeder.wanted(Due.NOTHING) for _ in range(BATCH)]
            stranger.writer.write(b"".join(batch))
            await stranger.writer.drain()
            found["mutants on links"] += BATCH
            await asyncio.sleep(0)
        stranger.writer.write(breeder.wanted(Due.LINK))
        found["mutants on links"] += 1
        try:
            async with asyncio.timeout(CLOSED_S_MAX):
                await draining
            found["links lost"] += 1
        except TimeoutError:
            found["malformed frames that cost no link"] += 1
    finally:
        draining.cancel()
        stranger.close()


# -- replays --------------------------------------------------------------------------------------


async def replays(target: Target, frames: int) -> Counts:
    """What was recorded, again: as bytes of a connection, and as words of another member."""
    found = {"connections replayed": 0, "frames replayed": 0}
    recorded = _client_hello(target.members[1][1]) + target.random.randbytes(3_000)

    async def bytes_again() -> None:
        reader, writer = await asyncio.open_connection(*target.place)
        writer.write(recorded)
        await _closed(reader)
        writer.transport.abort()
        found["connections replayed"] += 1

    await many(max(10, int(frames * REPLAY_SHARE)), bytes_again)
    await asyncio.sleep(OUT_OF_FAVOUR_S)
    for node, context in target.members[:10]:
        stranger = await linked(target, node, context)
        draining = asyncio.create_task(stranger.drain())
        for kind, body in target.frames:
            if kind in (Kind.MESSAGE, Kind.GOSSIP, Kind.PING):
                stranger.writer.write(frame(Kind(kind), body))
                found["frames replayed"] += 1
        await stranger.writer.drain()
        stranger.writer.write_eof() if stranger.writer.can_write_eof() else None
        await asyncio.sleep(0.2)
        draining.cancel()
        stranger.close()
    return found


async def many(count: int, one: Callable[[], Awaitable[None]]) -> None:
    """So many of them, some at a time."""
    left = iter(range(count))

    async def some() -> None:
        for _ in left:
            try:
                await one()
            except (OSError, TimeoutError):
                continue

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


ATTACKS: dict[str, Attack] = {
    "garbage": garbage,
    "mutant greetings": mutant_greetings,
    "mutants on links": mutants_on_links,
    "replays": replays,
}
