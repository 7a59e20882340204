"""Who gets in over real TLS, who does not, and what both sides are told."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.net.certificates import Member
from agent.net.enrolment_messages import close
from agent.net.identity import IdentityPaths
from agent.net.link_refusals import explained
from agent.net.roster import Roster
from agent.net.tls import (
    BULK,
    CLIENT,
    JOIN,
    LINK,
    MEMBER_PROTOCOLS,
    NO_SERVER_NAME,
    Arrival,
    TlsContexts,
    arrival_of,
    client_context,
    peer_of,
    server_context,
    unverified_context,
)
from agent.protocol.link_reasons import NoLink
from agent.wording.speech import english
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.net.flocks import (
    LOOPBACK,
    Node,
    expired_node,
    future_node,
    new_authority,
    new_node,
    serving,
)

AUTHORITY = new_authority()
FLOCK = AUTHORITY.flock
OTHER = new_authority("Studio")


class Listener:
    """One member that listens, and says hello to whom it lets in.

    It drives TLS itself: asyncio's own drops the alert that says why a handshake failed.
    """

    def __init__(self, roster: Roster, context: ssl.SSLContext) -> None:
        self.roster = roster
        self.context = context
        self.port = 0
        self.outcomes: asyncio.Queue[Arrival | NoLink] = asyncio.Queue()

    async def arrived(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self.context.wrap_bio(incoming, outgoing, server_side=True)
        try:
            while not shaken(tls):
                writer.write(outgoing.read())
                arrived = await reader.read(65_536)
                incoming.write(arrived) if arrived else incoming.write_eof()
            outcome = arrival_of(tls, self.roster)
            self.outcomes.put_nowait(outcome)
            if isinstance(outcome, Arrival):
                tls.write(b"hello")
        except ssl.SSLError:
            pass  # the alert is in what goes out
        with contextlib.suppress(OSError):  # whoever dialled may be gone already
            writer.write(outgoing.read())
            writer.write_eof()
            await reader.read()

    async def dial(self, context: ssl.SSLContext) -> Member | NoLink | str:
        """Who was reached, or what a dialler is told when nobody lets it in."""
        try:
            async with asyncio.timeout(EVENTUALLY_S_MAX):
                reader, writer = await asyncio.open_connection(
                    LOOPBACK, self.port, ssl=context, server_hostname=NO_SERVER_NAME
                )
                try:
                    peer = peer_of(writer.get_extra_info("ssl_object"), self.roster)
                    await reader.readexactly(5)
                    return peer
                finally:
                    await close(writer)
        except (OSError, EOFError) as error:
            return english(explained(error))

    async def outcome(self) -> Arrival | NoLink:
        async with asyncio.timeout(EVENTUALLY_S_MAX):
            return await self.outcomes.get()


def shaken(tls: ssl.SSLObject) -> bool:
    """Whether hands are shaken; raises when they never will be."""
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


@asynccontextmanager
async def listening(folder: Path, *, keeper: bool) -> AsyncIterator[Listener]:
    context = server_context(FLOCK, new_node(AUTHORITY, "server").files(folder), keeper=keeper)
    async with listening_with(context) as listener:
        yield listener


@asynccontextmanager
async def listening_with(context: ssl.SSLContext) -> AsyncIterator[Listener]:
    listener = Listener(Roster(FLOCK), context)
    async with serving(listener.arrived) as listener.port:
        yield listener


def files(folder: Path, node: Node) -> IdentityPaths:
    return node.files(folder / node.node_id)


@pytest.mark.parametrize("keeper", [False, True])
@pytest.mark.parametrize("protocol", MEMBER_PROTOCOLS)
async def test_members_know_each_other(tmp_path: Path, protocol: str, keeper: bool) -> None:
    node = new_node(AUTHORITY, "client")
    async with listening(tmp_path / "server", keeper=keeper) as listener:
        peer = await listener.dial(client_context(FLOCK, files(tmp_path, node), protocol))
        assert isinstance(peer, Member)
        assert peer.host_name == "server"
        assert await listener.outcome() == Arrival(protocol, node.member)


@pytest.mark.parametrize("keeper", [False, True])
@pytest.mark.parametrize("protocol", MEMBER_PROTOCOLS)
async def test_nobody_gets_in_without_a_certificate(
    tmp_path: Path, protocol: str, keeper: bool
) -> None:
    async with listening(tmp_path, keeper=keeper) as listener:
        told = await listener.dial(client_context(FLOCK, None, protocol))
        assert isinstance(told, str)
        if keeper:
            assert await listener.outcome() == NoLink("ShowsNoCertificate")
        else:
            assert told == "it takes members only, and this machine showed no certificate"
            assert listener.outcomes.empty()


@pytest.mark.parametrize("keeper", [False, True])
@pytest.mark.parametrize("protocol", [*MEMBER_PROTOCOLS, JOIN])
@pytest.mark.parametrize(
    ("node", "told"),
    [
        (new_node(OTHER), "it belongs to another flock"),
        (expired_node(AUTHORITY), "it says that this machine's certificate has ended"),
        (future_node(AUTHORITY), "it does not accept this machine's certificate"),
    ],
    ids=["foreign", "expired", "future"],
)
async def test_bad_certificates_end_in_the_handshake(
    tmp_path: Path, protocol: str, keeper: bool, node: Node, told: str
) -> None:
    async with listening(tmp_path / "server", keeper=keeper) as listener:
        context = client_context(FLOCK, files(tmp_path, node), protocol)
        assert str(await listener.dial(context)).startswith(told)
        assert listener.outcomes.empty()


async def test_an_expelled_member_is_refused_from_both_ends(tmp_path: Path) -> None:
    node = new_node(AUTHORITY)
    async with listening(tmp_path / "server", keeper=True) as listener:
        context = client_context(FLOCK, files(tmp_path, node), LINK)
        assert isinstance(await listener.dial(context), Member)
        assert isinstance(await listener.outcome(), Arrival)
        listener.roster.expel(AUTHORITY, node.node_id)
        for protocol in (*MEMBER_PROTOCOLS, JOIN):
            context = client_context(FLOCK, files(tmp_path, node), protocol)
            assert await listener.dial(context) == "it closed the connection"
            refusal = await listener.outcome()
            assert isinstance(refusal, NoLink)
            assert refusal.kind == "WasExpelled"


async def test_whoever_dials_sees_that_the_other_was_expelled(tmp_path: Path) -> None:
    server = new_node(AUTHORITY)
    context = server_context(FLOCK, files(tmp_path, server), keeper=False)
    async with listening_with(context) as listener:
        knowing = Listener(Roster(FLOCK), context)
        knowing.port = listener.port
        knowing.roster.expel(AUTHORITY, server.node_id)
        node = files(tmp_path, new_node(AUTHORITY))
        peer = await knowing.dial(client_context(FLOCK, node, LINK))
        assert isinstance(peer, NoLink)
        assert peer.kind == "WasExpelled"


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (new_node(OTHER), "it belongs to another flock"),
        (expired_node(AUTHORITY), "its certificate has expired"),
        (future_node(AUTHORITY), "its certificate is not valid yet"),
    ],
    ids=["foreign", "expired", "future"],
)
async def test_whoever_dials_checks_the_other_end(tmp_path: Path, server: Node, told: str) -> None:
    context = server_context(FLOCK, files(tmp_path, server), keeper=True)
    async with listening_with(context) as listener:
        node = files(tmp_path, new_node(AUTHORITY))
        for dialling in (client_context(FLOCK, node, LINK), client_context(FLOCK, None, JOIN)):
            assert str(await listener.dial(dialling)).startswith(told)


async def test_an_authoritys_certificate_is_nobodys(tmp_path: Path) -> None:
    """A keeper could show it: it has the key."""

    paths = files(tmp_path, Node(AUTHORITY.key, new_node(AUTHORITY).member))
    paths.certificate.write_bytes(ssl.DER_cert_to_PEM_cert(FLOCK.der).encode())
    async with listening(tmp_path / "server", keeper=True) as listener:
        await listener.dial(client_context(FLOCK, paths, LINK))
        assert listener.outcomes.empty() or isinstance(await listener.outcome(), NoLink)


async def test_a_newcomer_is_let_in_to_join_by_a_keeper_only(tmp_path: Path) -> None:
    for keeper in (True, False):
        async with listening(tmp_path / str(keeper), keeper=keeper) as listener:
            for context in (client_context(FLOCK, None, JOIN), unverified_context()):
                told = await listener.dial(context)
                if keeper:
                    assert await listener.outcome() == Arrival(JOIN, None)
                else:
                    assert str(told).startswith("it takes members only")


@pytest.mark.parametrize("protocols", [[], ["http/1.1"], ["wingbeat/9"]])
async def test_a_member_without_a_known_protocol_is_refused(
    tmp_path: Path, protocols: list[str]
) -> None:
    context = client_context(FLOCK, files(tmp_path, new_node(AUTHORITY)), LINK)
    context.set_alpn_protocols(protocols)
    async with listening(tmp_path / "server", keeper=True) as listener:
        await listener.dial(context)
        assert await listener.outcome() == NoLink("NoKnownProtocol")


async def test_older_tls_is_refused(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols([JOIN])
    async with listening(tmp_path, keeper=True) as listener:
        assert await listener.dial(context) == "it speaks another version of TLS"


async def test_no_session_can_be_resumed(tmp_path: Path) -> None:
    context = client_context(FLOCK, files(tmp_path, new_node(AUTHORITY)), LINK)
    async with listening(tmp_path / "server", keeper=False) as listener:
        reader, writer = await asyncio.open_connection(
            LOOPBACK, listener.port, ssl=context, server_hostname=NO_SERVER_NAME
        )
        await reader.readexactly(5)
        tls = writer.get_extra_info("ssl_object")
        assert tls.session is None or not tls.session.has_ticket
        await close(writer)


async def test_a_renewed_certificate_is_shown_without_a_restart(tmp_path: Path) -> None:
    old = new_node(AUTHORITY, "old name")
    contexts = TlsContexts(FLOCK, old.files(tmp_path / "server"), keeper=False)
    mine = TlsContexts(FLOCK, files(tmp_path, new_node(AUTHORITY)), keeper=False)
    async with listening_with(contexts.server) as listener:
        names = []
        for name in ("old name", "new name"):
            new_node(AUTHORITY, name, key=old.key).files(tmp_path / "server")
            contexts.refresh(keeper=False)
            peer = await listener.dial(mine.client(BULK))
            assert isinstance(peer, Member)
            names.append(peer.host_name)
        assert names == ["old name", "new name"]


async def test_a_new_keeper_lets_newcomers_in_without_a_restart(tmp_path: Path) -> None:
    contexts = TlsContexts(FLOCK, files(tmp_path, new_node(AUTHORITY)), keeper=False)
    async with listening_with(contexts.server) as listener:
        assert isinstance(await listener.dial(client_context(FLOCK, None, JOIN)), str)
        contexts.refresh(keeper=True)
        await listener.dial(client_context(FLOCK, None, JOIN))
        assert await listener.outcome() == Arrival(JOIN, None)


def test_a_connection_without_tls_is_nobodys() -> None:
    roster = Roster(FLOCK)
    assert isinstance(arrival_of(None, roster), NoLink)
    assert isinstance(peer_of(None, roster), NoLink)


def test_contexts_for_the_same_protocol_are_made_once(tmp_path: Path) -> None:
    contexts = TlsContexts(FLOCK, files(tmp_path, new_node(AUTHORITY)), keeper=False)
    assert contexts.client(CLIENT) is contexts.client(CLIENT)
    assert contexts.client(CLIENT) is not contexts.client(LINK)


async def test_what_is_not_wingbeat_is_told_apart() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.office ESMTP\r\n")
        await reader.read()

    context = client_context(FLOCK, None, JOIN)
    listener = Listener(Roster(FLOCK), context)
    async with serving(talk) as listener.port:
        assert await listener.dial(context) == "something that is not wingbeat answers there"
    assert str(await listener.dial(context)).startswith("no Wingbeat listens there")
