"""Too much, at the port and from the network: members find each other and a live agent all the same.

Each attack is done twice, with the guard that holds it back and without, where it has to succeed.
"""

from __future__ import annotations

import asyncio
import ssl
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agent.net import link_greeting, link_reception, wire
from agent.net.addresses import Address
from agent.net.dialling import Dialler
from agent.net.discovery import Discovery, DiscoveryCallbacks, own_record
from agent.net.link_places import Room, crowding
from agent.net.link_reception import Reception
from agent.net.tls import LINK
from agent.net.wire import Kind, frame
from agent.node.agent import Agent
from agent.protocol import messages
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import AskStatus, UnknownMessage
from tests.certain import certain
from tests.driver.nodes import flock_of, members, services
from tests.hosts.stranger import Stranger
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually
from tests.net.flocks import new_authority, new_node
from tests.net.test_discovery import still
from tests.security.test_outsiders import HERE, guarded, place, unguard

OTHER_HOSTS = ("127.0.0.2", "127.0.0.3")


@asynccontextmanager
async def pair(folder: Path) -> AsyncIterator[tuple[Agent, Agent]]:
    async with members(folder, "bee", "ant") as (bee, ant):
        yield bee, ant


def links_of(agent: Agent) -> Any:
    return certain(agent.network).links


# -- the port ----------------------------------------------------------------------------------


class Knocking:
    """Connects from some addresses and says nothing; whatever is closed is opened anew."""

    def __init__(self, agent: Agent, hosts: tuple[str, ...], of_each: int) -> None:
        self._address, self._hosts, self._of_each = place(agent), hosts, of_each
        self._tasks: list[asyncio.Task[None]] = []
        self.opened = 0

    async def __aenter__(self) -> Knocking:
        for host in self._hosts * self._of_each:
            self._tasks.append(asyncio.create_task(self._knock(host)))
        await eventually(lambda: self.opened >= len(self._tasks))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _knock(self, host: str) -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(*self._address, local_addr=(host, 0))
                self.opened += 1
                try:
                    await reader.read()
                finally:
                    writer.transport.abort()
            await asyncio.sleep(0.01)


def full_is_full(self: Reception, greeting: Any) -> bool:
    """As it was before: whoever comes too late is refused."""
    strangers = [each for each in self._greetings if not each.dialled]
    same = [each for each in strangers if each.address.host == greeting.address.host]
    room = link_reception.GREETINGS
    if len(strangers) >= room.total_max or len(same) >= room.of_origin_max:
        return False
    self._greetings[greeting] = None
    return True


@guarded
async def test_two_addresses_cannot_close_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    unguard(
        monkeypatch,
        guarded,
        (Reception, "admit", full_is_full),
        (link_greeting, "FIRST_BYTES_S", 60.0),
    )
    async with pair(tmp_path) as (bee, ant), Knocking(bee, OTHER_HOSTS, 32):
        try:
            (await links_of(ant).open_bulk(bee.node_id)).close()
            got_in = True
        except OSError:
            got_in = False
        assert got_in == guarded
        unfinished = [each for each in links_of(bee)._reception._greetings if not each.peer]
        assert len(unfinished) <= link_reception.GREETINGS.total_max
        assert bee.node_id in links_of(ant).linked, "what stands, stands"


def _half_said() -> tuple[ssl.SSLObject, ssl.MemoryBIO, ssl.MemoryBIO]:
    """What a slow machine has said of its first word is in the last of these."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([LINK])
    arrived, said = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(arrived, said)
    with suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return tls, arrived, said


@guarded
async def test_silent_handshakes_evicted_before_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """Before a slow one that has begun, though it is older."""
    monkeypatch.setattr(link_reception, "GREETINGS", Room(total_max=64, of_origin_max=8))
    if not guarded:

        def oldest_first(*told: Any) -> Any:
            crowd = crowding(*told)
            for each in crowd:
                each.connection.heard = False
            return crowd

        monkeypatch.setattr(link_reception, "crowding", oldest_first)
    async with pair(tmp_path) as (bee, _):
        reader, writer = await asyncio.open_connection(*place(bee))
        _tls, _arrived, said = _half_said()
        word = said.read()
        writer.write(word[:100])
        reception = links_of(bee)._reception
        await eventually(lambda: any(each.connection.heard for each in reception._greetings))
        async with Knocking(bee, (HERE,), 16):
            with suppress(OSError):
                writer.write(word[100:])
                await writer.drain()
            answered = b""
            with suppress(OSError):
                async with asyncio.timeout(EVENTUALLY_S_MAX):
                    answered = await reader.read(100)
        assert bool(answered) == guarded
        writer.transport.abort()


@guarded
async def test_silent_connections_are_gone_after_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    unguard(monkeypatch, guarded, (link_greeting, "FIRST_BYTES_S", link_greeting.HANDSHAKE_S))
    async with members(tmp_path, "bee") as (bee,):
        loop = asyncio.get_running_loop()
        reader, writer = await asyncio.open_connection(*place(bee))
        began_s = loop.time()
        with suppress(OSError):
            await reader.read()
        assert (loop.time() - began_s < 3.0) == guarded
        writer.transport.abort()


# -- multicast ---------------------------------------------------------------------------------


def discovery_of(agent: Agent) -> Discovery:
    """As the agent's own, told by the test alone."""
    dialler, flock = links_of(agent).dialler, certain(agent.flock.flock())
    callbacks = DiscoveryCallbacks(
        dialler.found, dialler.unannounced, lambda _: None, dialler.retry
    )
    return Discovery(agent.node_id, flock.flock_id, callbacks, watch=still())


@guarded
async def test_mdns_flood_hides_no_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """Invented nodes of the flock, a member at addresses that are not its own, and its farewell."""
    async with pair(tmp_path) as (bee, ant):
        dialler = links_of(ant).dialler
        if not guarded:
            found = Dialler.found

            def taken_alike(self: Dialler, peer: str, where: Any, **_: bool) -> None:
                found(self, peer, where)

            monkeypatch.setattr(Dialler, "found", taken_alike)
            monkeypatch.setattr(Dialler, "unannounced", Dialler.gone)
        true = place(bee)
        forget_all(dialler)
        dialler.found(bee.node_id, [true], proven=True)
        links_of(bee).dialler._call = _nobody
        heard = discovery_of(ant)
        flock = certain(ant.flock.flock()).flock_id
        for number in range(600):
            node = f"{number:032x}"
            heard._note(node, own_record(node, flock, 1, 9, ["192.0.2.1"]))
        for port in range(10, 40):
            heard._note("forged", own_record(bee.node_id, flock, 1, port, ["127.0.0.9"]))
        links_of(ant).unlink(bee.node_id, NoLink("NotWanted"))
        heard._lost("forged")
        assert (true in dialler.addresses_of(bee.node_id)) == guarded
        heard._note("again", own_record(bee.node_id, flock, 1, 9, ["127.0.0.9"]))
        if guarded:
            await eventually(lambda: bee.node_id in links_of(ant).linked)


def forget_all(dialler: Dialler) -> None:
    """Also what was typed: where members are is then known by multicast alone."""
    for key in list(dialler._targets):
        dialler._forget(key)


async def _nobody(*_: object) -> Any:
    """So that it is the other side that has to find the way."""
    await asyncio.Event().wait()


class Listening:
    """Somebody at a forged address, who has a certificate of another flock and writes down what comes."""

    def __init__(self, folder: Path) -> None:
        node = new_node(new_authority("office"), "bee")
        paths = node.files(folder / "forged")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(paths.certificate, paths.key)
        self.context.set_alpn_protocols([LINK])
        self.heard = b""
        self._writers: list[asyncio.StreamWriter] = []

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with suppress(OSError):
            while data := await reader.read(65_536):
                self.heard += data

    @asynccontextmanager
    async def at(self) -> AsyncIterator[Address]:
        server = await asyncio.start_server(self._serve, HERE, 0, ssl=self.context)
        async with server:
            yield Address(*server.sockets[0].getsockname()[:2])
            for writer in self._writers:
                writer.transport.abort()


@guarded
async def test_forged_mdns_address_gets_no_data(tmp_path: Path, guarded: bool) -> None:
    """It hears the hello of TLS, and neither a word of ours nor who called."""
    listening = Listening(tmp_path)
    async with services(tmp_path, "bee", "ant") as (bee, ant), listening.at() as forged:
        await flock_of(bee)
        if not guarded:
            links_of(bee)._reception.contexts.link.verify_mode = ssl.CERT_NONE
            links_of(bee)._reception.verify = lambda _: (ant.node_id, "ant")
        heard = discovery_of(bee)
        flock = certain(bee.flock.flock()).flock_id
        heard._note("forged", own_record(ant.node_id, flock, 1, forged.port, [forged.host]))
        await eventually(lambda: bool(links_of(bee).refusals() or listening.heard))
        if not guarded:
            await eventually(lambda: bool(listening.heard))
        assert (listening.heard == b"") == guarded


@guarded
async def test_forged_addresses_do_not_keep_members_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """Each takes the call and says something else; the true one is further down."""
    if not guarded:
        monkeypatch.setattr(
            "agent.net.dialling._in_order",
            lambda target, addresses: list(dict.fromkeys([*addresses, *target.addresses]))[:16],
        )
    listening = Listening(tmp_path)
    async with pair(tmp_path) as (bee, ant), listening.at() as forged:
        dialler, true = links_of(ant).dialler, place(bee)
        forget_all(dialler)
        links_of(bee).dialler._call = _nobody
        links_of(ant).unlink(bee.node_id, NoLink("NotWanted"))
        dialler.found(bee.node_id, [true])
        heard, flock = discovery_of(ant), certain(ant.flock.flock()).flock_id
        for number in range(16):  # each of this machine, and so at one listener
            host = f"127.0.0.{number + 1}"
            heard._note("forged", own_record(bee.node_id, flock, 1, forged.port, [host]))
        if guarded:
            await eventually(lambda: bee.node_id in links_of(ant).linked)
        else:
            assert true not in dialler._targets[bee.node_id].addresses


# -- what a member's certificate in wrong hands sends ----------------------------------------------


@asynccontextmanager
async def rogue(folder: Path) -> AsyncIterator[tuple[Agent, Agent, Stranger]]:
    """Two members, and a third of which only the certificate is left."""
    async with members(folder, "bee", "ant", "rat") as (bee, ant, rat):
        context, own_id = certain(rat.network).membership.tls.client(LINK), rat.node_id
        await rat.stop()
        await eventually(lambda: own_id not in links_of(bee).linked)
        made = await Stranger.dial(place(bee), context)
        try:
            await made.greet(own_id, bee.node_id, "rogue")
            yield bee, ant, made
        finally:
            made.close()


CUT_S_MAX = 2.0
"""Of what comes for certain and at once; where nothing is cut, so long is waited for it."""


async def _is_cut(made: Stranger) -> bool:
    try:
        async with asyncio.timeout(CUT_S_MAX):
            await made.drain()
    except TimeoutError:
        return False
    return True


@guarded
async def test_oversized_length_closes_without_allocation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with rogue(tmp_path) as (bee, ant, rat):
        if not guarded:
            for kind in Kind:
                monkeypatch.setitem(wire.LINK_LIMITS, kind, 2**32)
        tracemalloc.start()
        try:
            rat.writer.write((2**32 - 1).to_bytes(4, "big") + bytes([Kind.MESSAGE]) + b"x" * 1_000)
            assert await _is_cut(rat) == guarded
            assert tracemalloc.get_traced_memory()[1] < 2**24
        finally:
            tracemalloc.stop()
        assert ant.node_id in links_of(bee).linked


NESTED = b"\x91" * 1_000_000 + b"\xc0"


@guarded
@pytest.mark.parametrize("body", [NESTED, b"\xc1", bytes(range(256)) * 100], ids=lambda _: "")
async def test_garbage_and_nested_messages_drop_only_sender(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, guarded: bool
) -> None:
    async with rogue(tmp_path) as (bee, ant, rat):
        unguard(monkeypatch, guarded, (messages, "decode", lambda _: UnknownMessage("garbage")))
        rat.writer.write(frame(Kind.MESSAGE, body))
        assert await _is_cut(rat) == guarded
        links_of(ant).send([bee.node_id], AskStatus())
        assert ant.node_id in links_of(bee).linked
