"""Whoever is on the network and belongs to no flock: what such a machine says to a live agent is for nothing.

Each attack is done twice, with the guard that holds it back and without: it has to succeed without, or
nothing here would tell that the guard has gone.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agent.api.errors import MembershipError
from agent.flock import member_clients
from agent.net import certificates, enrolment, invitation_book, link_greeting, link_reception
from agent.net.addresses import Address
from agent.net.asking import Door, begin_request, find_door
from agent.net.certificates import Member
from agent.net.enrolment_messages import (
    ANSWER_BYTES_MAX,
    AskToJoin,
    Expel,
    Join,
    Question,
    Refused,
    RequestBegun,
    ShareBook,
    ShowNonce,
    TakeAuthority,
    close,
    decode_answer,
    encode,
    receive,
    send,
)
from agent.net.join_requests import JoinRequests
from agent.net.link_places import Room
from agent.net.link_reception import Transfers
from agent.net.tls import BULK, CLIENT, JOIN, LINK, NO_SERVER_NAME, Arrival, unverified_context
from agent.net.wire import GREETING_LIMITS, FrameReader, Kind, Opening, opening_frame
from agent.node.agent import Agent
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import PROTOCOL_VERSION
from tests.certain import certain
from tests.driver.nodes import members
from tests.hosts.stranger import context_of
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually
from tests.net.flocks import Node, new_authority, new_node

guarded = pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "unguarded"])
HERE = "127.0.0.1"


@pytest.fixture
async def keeper(tmp_path: Path) -> AsyncIterator[Agent]:
    """The only member of a flock, so far."""
    async with members(tmp_path, "bee") as (bee,):
        yield bee


def unguard(monkeypatch: pytest.MonkeyPatch, guarded: bool, *patches: tuple[Any, str, Any]) -> None:
    """Take the guards away, where the attack is to succeed."""
    for target, name, instead in () if guarded else patches:
        monkeypatch.setattr(target, name, instead)


def place(agent: Agent) -> Address:
    return Address(HERE, agent.port)


@asynccontextmanager
async def dialled(
    agent: Agent, context: ssl.SSLContext, host: str = HERE
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection from this address, as far as TLS goes."""
    reader, writer = await asyncio.open_connection(
        *place(agent), ssl=context, server_hostname=NO_SERVER_NAME, local_addr=(host, 0)
    )
    try:
        yield reader, writer
    finally:
        await close(writer)


async def asked(agent: Agent, question: Question, host: str = HERE) -> Any:
    """What a keeper answers to a stranger at this address."""
    async with dialled(agent, unverified_context(), host) as (reader, writer):
        await send(writer, encode(question))
        return decode_answer(await receive(reader, ANSWER_BYTES_MAX))


async def said(agent: Agent, context: ssl.SSLContext, word: bytes) -> bytes:
    """All that an agent says to this word, until it ends the connection or has greeted."""
    heard = b""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(EVENTUALLY_S_MAX), dialled(agent, context) as (reader, writer):
            writer.write(word)
            while (data := await reader.read(65_536)) and not _greets(heard + data):
                heard += data
            heard += data
    return heard


def _greets(data: bytes) -> bool:
    """Whether an agent takes whoever it talks to for a member, so far."""
    frames = FrameReader(GREETING_LIMITS)
    frames.add(memoryview(data))
    with suppress(Exception):
        first = frames.next()
        return first is not None and first[0] == Kind.OPENING
    return False


# -- certificates ------------------------------------------------------------------------------


def without(_: Path) -> Node | None:
    return None


def self_signed(_: Path) -> Node:
    """Of a flock that calls itself as this one does."""
    return new_node(new_authority("office"), "bee")


def of_another_flock(_: Path) -> Node:
    return new_node(new_authority("studio"), "ant")


OPENING = opening_frame(Opening("outsider", 0, PROTOCOL_VERSION))
STATUS = b'{"jsonrpc": "2.0", "id": 1, "method": "status"}\n'


@guarded
@pytest.mark.parametrize("shown", [without, self_signed, of_another_flock])
@pytest.mark.parametrize("protocol", [LINK, BULK, CLIENT])
async def test_connections_without_a_certificate_of_the_flock_are_refused(
    keeper: Agent,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    protocol: str,
    shown: Callable[[Path], Node | None],
    guarded: bool,
) -> None:
    """link_, bulk_, client_without_certificate_refused; self_signed_, other_flocks_certificate_refused."""

    async def serve(
        _: str, __: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"served " + await reader.readline())

    keeper.member_clients.serve(serve)
    context = context_of(shown(tmp_path), tmp_path / "outsider")
    context.set_alpn_protocols([protocol])
    network = certain(keeper.network)
    if not guarded:
        member = certain(network.membership.roster.member(keeper.node_id))
        network.links._reception.contexts.server.verify_mode = ssl.CERT_NONE
        monkeypatch.setattr(network.links._reception, "verify", lambda _: ("ant", "ant"))
        arrived = Arrival(CLIENT, member)
        monkeypatch.setattr(member_clients, "arrival_of", lambda *_: arrived)
    heard = await said(keeper, context, STATUS if protocol == CLIENT else OPENING)
    got_in = _greets(heard) or heard.startswith(b"served")
    assert got_in == (not guarded), heard


@guarded
@pytest.mark.parametrize("question", [Expel("somebody"), TakeAuthority(), ShareBook(())])
async def test_stranger_cannot_expel_take_key_or_share_book(
    keeper: Agent, monkeypatch: pytest.MonkeyPatch, question: Question, guarded: bool
) -> None:
    roster = certain(keeper.network).membership.roster
    own: Member = certain(roster.member(keeper.node_id))
    unguard(monkeypatch, guarded, (enrolment, "arrival_of", lambda *_: Arrival(JOIN, own)))
    answer = await asked(keeper, question)
    refused = isinstance(answer, Refused) and "only members may ask this" in answer.reason
    assert refused == guarded, answer


# -- how the agent is spoken to ----------------------------------------------------------------


@guarded
async def test_tls12_refused(keeper: Agent, guarded: bool) -> None:
    if not guarded:
        server = certain(keeper.network).links._reception.contexts.server
        server.minimum_version = ssl.TLSVersion.TLSv1_2
    older = unverified_context()
    older.minimum_version = older.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        async with dialled(keeper, older):
            shaken = True
    except (ssl.SSLError, OSError):
        shaken = False
    assert shaken == (not guarded)


@guarded
async def test_unknown_alpn_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """Also of a member: what it will say nobody knows."""
    async with members(tmp_path, "bee", "ant") as (bee, ant):
        link = certain(ant.network).membership.tls.client(LINK)
        await ant.stop()
        link.set_alpn_protocols(["wingbeat/99"])
        reception = certain(bee.network).links._reception
        unguard(
            monkeypatch,
            guarded,
            (link_greeting, "ALPN_LINK", None),
            (reception, "verify", lambda _: ("ant", "ant")),
        )
        assert _greets(await said(bee, link, OPENING)) == (not guarded)


# -- joining -----------------------------------------------------------------------------------


@guarded
async def test_wrong_secrets_throttled_per_address(
    keeper: Agent, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    unguard(monkeypatch, guarded, (invitation_book.GuessLimit, "blocked", lambda *_: False))
    request = certificates.request_certificate(certificates.new_key(), "guesser")
    guess = Join(b"s" * 12, request, int(time.time()))
    told = [await asked(keeper, guess, "127.0.0.2") for _ in range(6)]
    assert ("too many wrong" in told[-1].reason) == guarded
    elsewhere = await asked(keeper, guess, "127.0.0.3")
    assert "too many wrong" not in elsewhere.reason


async def _flood(keeper: Agent, door: Door, hosts: range) -> int:
    """Three machines ask from each of these addresses; how many were heard."""
    begun = 0
    for number in hosts:
        for _ in range(3):
            request = certificates.request_certificate(certificates.new_key(), "flood")
            host = f"127.0.1.{number}"
            answer = await asked(keeper, AskToJoin(request, "", int(time.time())), host)
            if isinstance(answer, RequestBegun):
                await asked(keeper, ShowNonce(answer.number, b"n" * 16), host)
                begun += 1
    return begun


@guarded
async def test_ask_to_join_flood_leaves_room_for_honest(
    keeper: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    def full(*_: object) -> None:
        raise MembershipError("too many machines ask to join")

    unguard(monkeypatch, guarded, (JoinRequests, "_make_room", full))
    door = await find_door([place(keeper)])
    assert await _flood(keeper, door, range(1, 5)) == 12
    try:
        await begin_request(tmp_path / "honest", door, "honest", "ada")
    except MembershipError:
        assert not guarded
    else:
        assert guarded
    await _flood(keeper, door, range(1, 7))
    asking = [each.name for each in certain(keeper.network).admissions.own.open()]
    assert ("honest" in asking) == guarded, "it stays where those come back"
    assert len(asking) <= 12


@guarded
async def test_silent_joiners_leave_room_for_honest(
    keeper: Agent, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """Those that have shaken hands to join and ask nothing."""
    monkeypatch.setattr(link_reception, "OTHERS", Room(total_max=8, of_origin_max=4))
    connections = certain(keeper.network).links._transfers._connections

    def full_is_full(self: Transfers, greeting: Any, serve: Any, protocol: str) -> None:
        if sum(map(len, connections.values())) >= 8:
            greeting.refuse(NoLink("TooManyConnections"))
        else:
            serve_other(self, greeting, serve, protocol)

    serve_other = Transfers.serve_other
    unguard(monkeypatch, guarded, (Transfers, "serve_other", full_is_full))
    held = []
    for host in ("127.0.0.2", "127.0.0.3"):
        held += [
            await asyncio.open_connection(
                *place(keeper),
                ssl=unverified_context(),
                server_hostname=NO_SERVER_NAME,
                local_addr=(host, 0),
            )
            for _ in range(4)
        ]
    await eventually(lambda: sum(map(len, connections.values())) == 8)
    try:
        await find_door([place(keeper)])
        got_in = True
    except MembershipError:
        got_in = False
    assert got_in == guarded
    for _, writer in held:
        await close(writer)
