"""Bulk data and other protocols, beside the link."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress

import pytest

from agent.net import link_reception, transfer_words
from agent.net.link_places import Room
from agent.net.transfer_words import Pipe, receive_exactly
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import AskStatus
from tests.hosts.waiting import eventually
from tests.net.test_links_nodes import Node, contexts, linked, nodes

MEGABYTE = 1024 * 1024
OTHER_HOST = "127.0.0.2"
Serve = Callable[[str, Pipe], None]


@pytest.fixture(params=[True, False], ids=["thread", "loop"], autouse=True)
def in_thread(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything holds on systems where a socket stays in the loop, too."""
    if request.param and not transfer_words.LEAVES_THE_LOOP:
        pytest.skip("sockets do not leave the loop on this system")
    monkeypatch.setattr(transfer_words, "LEAVES_THE_LOOP", request.param)


def sends(size: int) -> Serve:
    def serve(peer: str, pipe: Pipe) -> None:
        exactly(pipe, 4)
        for _ in range(size // MEGABYTE):
            pipe.send(bytes(MEGABYTE))

    return serve


def waits(_: str, pipe: Pipe) -> None:
    pipe.send(b"here")
    to_end(pipe)


def exactly(pipe: Pipe, size: int) -> bytes:
    buffer = bytearray(size)
    receive_exactly(pipe, memoryview(buffer))
    return bytes(buffer)


def to_end(pipe: Pipe) -> bytes:
    found, buffer = bytearray(), memoryview(bytearray(MEGABYTE))
    while size := pipe.receive_into(buffer):
        found += buffer[:size]
    return bytes(found)


@asynccontextmanager
async def transfer(
    serve: Serve, *, by_dialled: bool = False
) -> AsyncIterator[tuple[Node, Node, Pipe]]:
    """Two linked nodes: who opens, who serves, and what the first has of it."""
    async with nodes("ant", "bee") as both:
        await linked(*both)
        opening, serving = both[::-1] if by_dialled else both
        serving.on_bulk = serve
        with closing(await opening.links.open_bulk(serving.name)) as pipe:
            yield opening, serving, pipe


@pytest.mark.parametrize("by_dialled", [False, True])
async def test_bulk_data_arrives_whole_in_both_directions(by_dialled: bool) -> None:
    def echo(peer: str, pipe: Pipe) -> None:
        pipe.send(peer.encode() + exactly(pipe, 3 * MEGABYTE))

    async with transfer(echo, by_dialled=by_dialled) as (opening, _, pipe):
        data = bytes(range(256)) * (3 * MEGABYTE // 256)
        await asyncio.to_thread(pipe.send, data)
        assert await asyncio.to_thread(to_end, pipe) == opening.name.encode() + data


async def test_bulk_data_does_not_stand_before_small_messages() -> None:
    """With a transfer that its reader has stopped, messages go through all the same."""
    async with transfer(sends(64 * MEGABYTE)) as (ant, bee, pipe):
        await asyncio.to_thread(pipe.send, b"send")
        await asyncio.to_thread(exactly, pipe, MEGABYTE)
        bee.links.send(["ant"], AskStatus())
        await ant.until(lambda: bool(ant.heard("received")))
        assert len(await asyncio.to_thread(exactly, pipe, 63 * MEGABYTE)) == 63 * MEGABYTE


async def test_bulk_in_full_flow_does_not_stand_before_small_messages() -> None:
    async with transfer(sends(48 * MEGABYTE)) as (ant, bee, pipe):
        await asyncio.to_thread(pipe.send, b"send")
        got, answered_at = 0, 0
        while got < 48 * MEGABYTE:
            if got == MEGABYTE:
                bee.links.send(["ant"], AskStatus())
            got += len(await asyncio.to_thread(exactly, pipe, MEGABYTE))
            if ant.heard("received") and not answered_at:
                answered_at = got
        assert 0 < answered_at < 24 * MEGABYTE


@pytest.mark.parametrize("stopped", [False, True])
async def test_a_transfer_that_is_cut_is_told_from_one_that_ended(stopped: bool) -> None:
    """And whoever is stopped is not waited for."""
    async with transfer(waits) as (ant, bee, pipe):
        assert await asyncio.to_thread(exactly, pipe, 4) == b"here"
        reading = asyncio.create_task(asyncio.to_thread(to_end, pipe))
        if stopped:
            await ant.links.stop()
        else:
            bee.links.expel("ant", NoLink("WasExpelled"))
        with pytest.raises(ConnectionError):
            await reading


async def test_bulk_with_who_is_not_there_or_not_wanted_is_an_error() -> None:
    async with nodes("ant", "bee") as (ant, bee):
        with pytest.raises(OSError, match="no address"):
            await ant.links.open_bulk("bee")
        ant.links.dialler.found("bee", [bee.address])
        await ant.until(lambda: "bee" in ant.links.linked)
        bee.expelled.add("ant")
        with pytest.raises(ConnectionRefusedError, match="expelled"):
            await ant.links.open_bulk("bee")


async def test_transfers_with_one_peer_are_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_reception, "BULK_PER_PEER_MAX", 2)
    async with transfer(waits) as (ant, bee, pipe):
        with (
            closing(await ant.links.open_bulk("bee")),
            pytest.raises(ConnectionRefusedError, match="too many"),
        ):
            await ant.links.open_bulk("bee")
        pipe.close()
        await eventually(lambda: not bee.links._transfers._serving)
        (await ant.links.open_bulk("bee")).close()


# -- other protocols -------------------------------------------------------------------------------


@asynccontextmanager
async def other_protocol() -> AsyncIterator[tuple[Node, Callable[[str, bytes], Awaitable[bytes]]]]:
    """A node that tells the protocol and the line it was sent; and what it answers to one from an
    address, or nothing to who says nothing, whose connection stays open."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tls = writer.get_extra_info("ssl_object")
        line = await reader.readline()
        writer.write(f"{tls.selected_alpn_protocol()} {line.decode()}".encode())

    own = contexts("newcomer", "flock").link
    own.set_alpn_protocols(["other/1"])
    writers: list[asyncio.StreamWriter] = []

    async def said_from(host: str, word: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(
            *bee.address, ssl=own, server_hostname="", local_addr=(host, 0)
        )
        writers.append(writer)
        writer.write(word)
        return await reader.read() if word else b""

    bee = Node("bee")
    await bee.start(others={"other/1": serve})
    try:
        yield bee, said_from
    finally:
        for writer in writers:
            writer.close()
        await bee.links.stop()


async def test_other_protocols_get_the_connection_as_it_comes() -> None:
    async with other_protocol() as (_, said_from):
        assert await said_from("127.0.0.1", b"hello\n") == b"other/1 hello\n"


async def test_one_machine_that_keeps_its_connections_open_keeps_nobody_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link_reception, "OTHERS", Room(total_max=64, of_origin_max=2))
    try:
        socket.create_server((OTHER_HOST, 0)).close()
    except OSError:
        pytest.skip(f"this system has no address {OTHER_HOST}")
    async with other_protocol() as (bee, said_from):
        bee.expelled.add("newcomer")
        for _ in range(2):
            await said_from(OTHER_HOST, b"")
        await eventually(
            lambda: len(bee.links._transfers._connections.get("other/1 of strangers", ())) == 2
        )
        with suppress(ConnectionError):  # as the system tells that it is cut
            assert await said_from(OTHER_HOST, b"hello\n") == b""
        assert await said_from("127.0.0.1", b"hello\n") == b"other/1 hello\n"
