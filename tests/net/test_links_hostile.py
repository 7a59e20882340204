"""Peers that are not healthy: each costs its own link, and nothing else.

``rogue`` speaks TLS and the greeting like any member and then sends and reads as a test says.
"""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from agent.net import (
    link,
    link_greeting,
    link_reception,
    links,
)
from agent.net.link_places import Room
from agent.net.link_refusals import Cause
from agent.net.wire import Kind, Opening, frame, opening_frame, refused_frame
from agent.protocol import messages
from agent.protocol.messages import AskStatus, Goodbye, Heartbeat, Records
from agent.protocol.reasons import Opaque
from agent.protocol.records import Life, TaskLife
from agent.wording.speech import english
from tests.certain import certain
from tests.hosts.stranger import Stranger
from tests.hosts.waiting import eventually
from tests.net.test_links_nodes import LOOPBACK, Node, contexts, linked, nodes

BEAT = messages.encode(Heartbeat(1, 0, 0, 0, 0, "", (0, 0)))
MEGABYTE = 1024 * 1024


@asynccontextmanager
async def rogue(bee: Node, name: str = "ant", *, greet: bool = True) -> AsyncIterator[Stranger]:
    """A member's certificate in the wrong hands."""
    made = await Stranger.dial(bee.address, contexts(name, "flock").link, unread_bytes_max=4096)
    try:
        if greet:
            await made.greet(name, bee.name, "rogue")
        yield made
    finally:
        made.close()
        await eventually(made.writer.transport.is_closing)


MALFORMED = {
    "no message": frame(Kind.MESSAGE, b"\xc1"),
    "oversized": (2**31).to_bytes(4, "big") + bytes([Kind.MESSAGE]),
    "long ping": frame(Kind.PING, bytes(17)),
    "second greeting": opening_frame(Opening("again", 0, 1)),
    "no refusal": frame(Kind.REFUSED, b"x"),
    "noise": bytes(range(255, -1, -1)) * 4,
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED.keys())
async def test_malformed_frames_cost_the_link_of_their_sender(data: bytes) -> None:
    async with nodes("bee", "cat") as (bee, cat):
        await linked(bee, cat)
        async with rogue(bee) as ant:
            good = frame(Kind.MESSAGE, BEAT)
            ant.writer.write(good + data + good)
            await ant.drain()
            await bee.until(lambda: ("unlinked", "ant", False) in bee.told)
            assert (len(bee.heard("received")), bee.links.linked) == (1, ("cat",))
            assert bee.links.refusals()[-1].cause is Cause.MISBEHAVED


@pytest.mark.parametrize(("for_s", "answer"), [(60.0, Kind.REFUSED), (0.0, Kind.WELCOME)])
async def test_who_lost_its_link_so_is_out_of_favour_for_a_while(
    for_s: float, answer: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "OUT_OF_FAVOUR_S", for_s)
    async with nodes("bee") as (bee,):
        async with rogue(bee) as ant:
            ant.writer.write(MALFORMED["no message"])
            await ant.drain()
        async with rogue(bee, greet=False) as ant:
            ant.writer.write(opening_frame(Opening("rogue", 0, 1)))
            assert certain(await ant.next())[0] == Kind.OPENING
            assert certain(await ant.next())[0] == answer


async def test_messages_and_kinds_of_later_versions_are_counted() -> None:
    async with nodes("bee") as (bee,), rogue(bee) as ant:
        ant.writer.write(frame(Kind.MESSAGE, b"\x91\xa5LATER") + bytes([0, 0, 0, 1, 99, 7]))
        ant.writer.write(frame(Kind.MESSAGE, BEAT))
        await bee.until(lambda: len(bee.heard("received")) == 1)
        assert bee.links.report()[0].traffic.unknown == 2


async def test_any_bytes_in_the_greeting_end_the_greeting() -> None:
    words = [
        frame(Kind.MESSAGE, BEAT),
        frame(Kind.OPENING, b"x"),
        frame(Kind.WELCOME),
        opening_frame(Opening("a", 0, 1)) * 2 + frame(Kind.WELCOME),
        b"GET / HTTP/1.1\r\n\r\n",
    ]
    async with nodes("bee") as (bee,):
        for data in words:
            async with rogue(bee, greet=False) as ant:
                ant.writer.write(data)
                await ant.drain()
        await eventually(lambda: not bee.links.linked)
        assert bee.heard("received") == []


async def test_a_refusal_in_the_greeting_ends_it() -> None:
    async with nodes("bee") as (bee,), rogue(bee, greet=False) as ant:
        ant.writer.write(refused_frame("any", Opaque("For no reason.")))
        await ant.drain()
        await eventually(lambda: bool(bee.links.refusals()))
        assert english(bee.links.refusals()[0].why) == "it refuses this machine: For no reason."


# -- too much ----------------------------------------------------------------------------------


async def test_a_flood_is_held_back_and_then_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "FRAMES_PER_S", 2_000)
    monkeypatch.setattr(link, "FRAMES_BURST", 1_000)
    monkeypatch.setattr(link, "HELD_BACK_STEP_S", 0.01)
    monkeypatch.setattr(link, "HELD_BACK_S_MAX", 0.5)

    async def flood(ant: Stranger) -> None:
        beats = frame(Kind.MESSAGE, BEAT) * 500
        try:
            while True:
                ant.writer.write(beats)
                await ant.writer.drain()
        except OSError:
            pass

    async with nodes("bee", "cat") as (bee, cat), rogue(bee) as ant:
        await linked(bee, cat)
        flooding = asyncio.create_task(flood(ant))
        await bee.until(lambda: ("unlinked", "ant", False) in bee.told)
        assert "sends more than" in english(bee.links.refusals()[-1].why)
        assert len(bee.heard("received")) < 10_000
        cat.links.send(["bee"], AskStatus())
        await bee.until(lambda: ("received", "cat", AskStatus()) in bee.told)
        await ant.drain()
        await flooding


async def test_a_hurried_peer_is_slowed_down_and_keeps_its_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link, "FRAMES_PER_S", 5_000)
    monkeypatch.setattr(link, "FRAMES_BURST", 1_000)
    monkeypatch.setattr(link, "HELD_BACK_STEP_S", 0.01)

    async with nodes("bee") as (bee,), rogue(bee) as ant:
        ant.writer.write(frame(Kind.MESSAGE, BEAT) * 3_000)
        await bee.until(lambda: len(bee.heard("received")) == 3_000)
        assert bee.comings_and_goings("ant") == ["linked"]


async def test_a_slow_reader_loses_messages_and_that_is_told() -> None:
    """What is kept for it is bounded, and small messages are still taken when records are not."""

    records = Records(lives=tuple(TaskLife(f"{number:036}", Life()) for number in range(20_000)))
    size = len(messages.encode(records))
    bound = link.BULKY_LANE_BYTES_MAX + size + MEGABYTE
    async with nodes("bee") as (bee,), rogue(bee) as ant:
        tracemalloc.start()
        for _ in range(3 * link.BULKY_LANE_BYTES_MAX // size):
            bee.links.send(["ant"], records)
        await bee.until(lambda: ("dropped", "ant") in bee.told)
        assert tracemalloc.get_traced_memory()[1] < bound + 8 * MEGABYTE
        tracemalloc.stop()
        assert bee.links.report()[0].queued_bytes < bound
        assert bee.links.report()[0].traffic.dropped > 0
        dropped = bee.links.report()[0].traffic.dropped
        bee.links.send(["ant"], Goodbye("small"))
        assert bee.links.report()[0].traffic.dropped == dropped
        assert await until_goodbye(ant) < link.BULKY_LANE_BYTES_MAX // 2


async def until_goodbye(ant: Stranger) -> int:
    """How much comes before the small message that was sent last."""
    passed = 0
    while True:
        _, body = certain(await ant.next())
        if body == messages.encode(Goodbye("small")):
            return passed
        passed += len(body)


async def test_records_keep_their_order_among_themselves(ant: Node, bee: Node) -> None:
    """The small last piece of a table does not pass the large ones before it."""

    lives = tuple(TaskLife(f"{number:036}", Life()) for number in range(3_000))
    for _ in range(5):
        bee.links.send(["ant"], Records(lives=lives))
    bee.links.send(["ant"], Records(last=True))
    bee.links.send(["ant"], AskStatus())
    await ant.until(lambda: len(ant.heard("received")) == 7)
    messages = [message for _, _, message in ant.heard("received")]
    assert (messages[0], messages[-1]) == (AskStatus(), Records(last=True))


async def test_a_message_that_no_peer_would_take_is_not_sent(
    monkeypatch: pytest.MonkeyPatch, ant: Node, bee: Node
) -> None:
    monkeypatch.setattr(links, "fits", lambda data: len(data) < 100)
    ant.links.send(["bee"], Goodbye("x" * 200))
    ant.links.send(["bee"], AskStatus())
    await ant.until(lambda: ("dropped", "bee") in ant.told)
    await bee.until(lambda: bee.heard("received") == [("received", "ant", AskStatus())])


# -- too little --------------------------------------------------------------------------------


async def test_an_old_link_without_a_sign_of_life_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half open: the machine came back, and its old connection never heard of it."""
    monkeypatch.setattr(links, "SIGN_OF_LIFE_S", 0.05)

    async with nodes("bee") as (bee,), rogue(bee), rogue(bee) as ant:
        assert bee.comings_and_goings("ant") == ["linked", "unlinked", "linked"]
        assert ("unlinked", "ant", True) in bee.told
        ant.writer.write(frame(Kind.MESSAGE, BEAT))
        await bee.until(lambda: bool(bee.heard("received")))


async def test_who_knocks_gets_the_link_when_the_old_one_ends() -> None:
    async with nodes("bee") as (bee,), rogue(bee) as old, rogue(bee, greet=False) as new:
        new.writer.write(opening_frame(Opening("rogue", 0, 1)))
        assert certain(await new.next())[0] == Kind.OPENING
        await eventually(lambda: bool(bee.links._rivals))
        old.writer.transport.abort()
        assert certain(await new.next())[0] == Kind.WELCOME
        assert bee.comings_and_goings("ant") == ["linked", "unlinked", "linked"]


async def test_the_silent_and_the_half_greeted_are_sent_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link_greeting, "HANDSHAKE_S", 1.0)

    async with nodes("bee") as (bee,), rogue(bee, greet=False) as ant:
        reader, writer = await asyncio.open_connection(*bee.address)
        assert await reader.read() == b""
        writer.close()
        await ant.drain()
        assert {refusal.cause for refusal in bee.links.refusals()} == {Cause.SLOW}
        assert bee.told == []


async def test_unfinished_greetings_are_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_reception, "GREETINGS", Room(total_max=64, of_origin_max=3))

    async with nodes("bee") as (bee,):
        silent = [await asyncio.open_connection(*bee.address) for _ in range(3)]
        await eventually(lambda: len(bee.links._reception._greetings) == 3)
        async with rogue(bee):
            assert bee.links.linked == ("ant",)
            with suppress(ConnectionResetError):
                assert await silent[0][0].read() == b"", "the oldest that said nothing has gone"
        for _, other in silent:
            other.close()
        await eventually(lambda: not bee.links._reception._greetings)


async def test_who_dials_something_else_is_told_what_it_is() -> None:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, *LOOPBACK)
    async with nodes("ant") as (ant,), server:
        port = server.sockets[0].getsockname()[1]
        ant.links.dialler.found(None, [type(ant.address)("127.0.0.1", port)])
        await eventually(lambda: bool(ant.links.refusals()))
        assert ant.links.refusals()[0].cause is Cause.NOT_WINGBEAT


async def test_many_lost_connections_leave_nothing_behind() -> None:
    async with nodes("bee") as (bee,):
        for _ in range(60):
            async with rogue(bee, greet=False) as ant:
                ant.writer.write(b"\0\0\0\0\0")
                await ant.drain()
        await eventually(lambda: not bee.links._reception._shared.connections)
        gc.collect()
        kept = [one for one in gc.get_objects() if isinstance(one, link_greeting.Greeting)]
        assert len(kept) <= 1
