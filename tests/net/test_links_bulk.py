"""Bulk data and other protocols, beside the link."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from agent.net import link_bulk
from agent.protocol.messages import AskStatus
from tests.net.test_links_nodes import Node, contexts, eventually, linked, nodes, run, scenario

MEGABYTE = 1024 * 1024
Serve = Callable[[str, asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


def sends(size: int) -> Serve:
    async def serve(peer: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(4)
        for _ in range(size // MEGABYTE):
            writer.write(bytes(MEGABYTE))
            await writer.drain()

    return serve


async def waits(_: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"here")
    await reader.read()


@scenario
async def test_bulk_data_arrives_whole_in_both_directions() -> None:
    async def echo(peer: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(peer.encode() + await reader.readexactly(3 * MEGABYTE))

    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = echo
        await linked(ant, bee)
        data = bytes(range(256)) * (3 * MEGABYTE // 256)
        reader, writer = await ant.links.open_bulk("bee")
        writer.write(data)
        assert await reader.read() == b"ant" + data
        writer.close()
        await writer.wait_closed()


@scenario
async def test_the_side_that_was_dialled_can_open_bulk_too() -> None:
    async with nodes("ant", "bee") as (ant, bee):
        ant.on_bulk = waits
        await linked(ant, bee)
        reader, writer = await bee.links.open_bulk("ant")
        assert await reader.readexactly(4) == b"here"
        writer.close()


@scenario
async def test_bulk_data_does_not_stand_before_small_messages() -> None:
    """With a transfer that its reader has stopped, messages go through all the same."""
    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = sends(64 * MEGABYTE)
        await linked(ant, bee)
        reader, writer = await ant.links.open_bulk("bee")
        writer.write(b"send")
        await reader.readexactly(MEGABYTE)
        bee.links.send(["ant"], AskStatus())
        await ant.until(lambda: bool(ant.heard("received")))
        assert len(await reader.readexactly(63 * MEGABYTE)) == 63 * MEGABYTE
        writer.close()


@scenario
async def test_bulk_in_full_flow_does_not_stand_before_small_messages() -> None:
    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = sends(48 * MEGABYTE)
        await linked(ant, bee)
        reader, writer = await ant.links.open_bulk("bee")
        writer.write(b"send")
        got, answered_at = 0, 0
        while data := await reader.read(MEGABYTE):
            if not got:
                bee.links.send(["ant"], AskStatus())
            got += len(data)
            if ant.heard("received") and not answered_at:
                answered_at = got
        assert got == 48 * MEGABYTE
        assert 0 < answered_at < 8 * MEGABYTE
        writer.close()


@scenario
async def test_a_transfer_that_is_cut_is_told_from_one_that_ended() -> None:
    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = waits
        await linked(ant, bee)
        reader, writer = await ant.links.open_bulk("bee")
        assert await reader.readexactly(4) == b"here"
        bee.links.expel("ant", "expelled")
        with pytest.raises(ConnectionError):
            await reader.read()
        writer.close()


@scenario
async def test_bulk_with_who_is_not_there_or_not_wanted_is_an_error() -> None:
    async with nodes("ant", "bee") as (ant, bee):
        with pytest.raises(OSError, match="no address"):
            await ant.links.open_bulk("bee")
        ant.links.dialler.found("bee", [bee.address])
        await ant.until(lambda: "bee" in ant.links.linked)
        bee.expelled.add("ant")
        with pytest.raises(ConnectionRefusedError, match="expelled"):
            await ant.links.open_bulk("bee")


def test_transfers_with_one_peer_are_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_bulk, "BULK_PER_PEER_MAX", 2)

    async def scenario() -> None:
        async with nodes("ant", "bee") as (ant, bee):
            bee.on_bulk = waits
            await linked(ant, bee)
            opened = [await ant.links.open_bulk("bee") for _ in range(2)]
            with pytest.raises(ConnectionRefusedError, match="Too many"):
                await ant.links.open_bulk("bee")
            for _, writer in opened:
                writer.close()
            await eventually(lambda: not bee.links._transfers._connections)
            _, writer = await ant.links.open_bulk("bee")
            writer.close()

    run(scenario)


@scenario
async def test_other_protocols_get_the_connection_as_it_comes() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tls = writer.get_extra_info("ssl_object")
        line = await reader.readline()
        writer.write(f"{tls.selected_alpn_protocol()} {line.decode()}".encode())

    bee = Node("bee")
    await bee.start(others={"other/1": serve})
    try:
        own = contexts("newcomer", "flock").link
        own.set_alpn_protocols(["other/1"])
        reader, writer = await asyncio.open_connection(*bee.address, ssl=own, server_hostname="")
        writer.write(b"hello\n")
        assert await reader.read() == b"other/1 hello\n"
        writer.close()
        await writer.wait_closed()
    finally:
        await bee.links.stop()
