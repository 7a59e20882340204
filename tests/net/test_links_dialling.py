"""Whom to call and when: the dialler with calls that only note, and connecting on loopback. And bulk
data and other protocols, beside the link.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from random import Random

import pytest

from agent.net import dialling, link_reception, transfer_words
from agent.net.addresses import Address
from agent.net.dialling import BACK_OFF_MAX_S, Dialler, connect, listening_sockets
from agent.net.link_refusals import Cause, LinkRefusal
from agent.net.transfer_words import Pipe, receive_exactly
from agent.protocol.messages import AskStatus
from tests.hosts.waiting import eventually
from tests.net.test_links_nodes import LOOPBACK, Node, contexts, linked, nodes

HERE, THERE = Address("192.0.2.1", 1), Address("192.0.2.2", 2)


@dataclass
class Line:
    """Notes calls, and answers all of them the same."""

    answer: Cause | None = Cause.UNREACHABLE
    who: str = ""
    calls: list[tuple[tuple[Address, ...], str | None]] = field(default_factory=list)
    linked: set[str] = field(default_factory=set)

    def dialler(self) -> Dialler:
        return Dialler("me", self.call, self.linked.__contains__, Random(1))

    async def call(
        self, addresses: Sequence[Address], expected: str | None
    ) -> tuple[str, LinkRefusal | None]:
        self.calls.append((tuple(addresses), expected))
        await asyncio.sleep(0)
        if self.answer is None:
            self.linked.add(self.who)
            return self.who, None
        return self.who, LinkRefusal(self.who, "", self.answer, "", 0)


def delays(dialler: Dialler, key: str, failures: range, *, lasting: bool) -> list[float]:
    target = dialler._targets[key]
    found = []
    for target.failures in failures:
        target.lasting = lasting
        found.append(dialler._delay_s(target))
    return found


async def test_calls_are_repeated_ever_later_and_never_in_step() -> None:
    dialler = Line().dialler()
    dialler.found("peer", [HERE])
    found = delays(dialler, "peer", range(1, 40), lasting=False)
    assert 0.025 <= found[0] <= 0.05
    assert all(BACK_OFF_MAX_S / 2 <= delay <= BACK_OFF_MAX_S for delay in found[6:])
    assert len(set(found)) == len(found)
    assert max(delays(dialler, "peer", range(1, 40), lasting=True)) > BACK_OFF_MAX_S
    await dialler.stop()


async def test_the_lower_calls_at_once_and_the_higher_waits_for_it() -> None:
    line = Line()
    dialler = line.dialler()
    for peer in ("zoe", "abe"):
        dialler.found(peer, [HERE])
    await eventually(lambda: len(line.calls) == 3)
    assert {expected for _, expected in line.calls} == {"zoe"}
    assert delays(dialler, "abe", range(1), lasting=False) == [dialling.LOWER_COMES_WITHIN_S]
    await dialler.stop()


async def test_news_of_an_address_makes_the_next_call_at_once() -> None:
    line = Line()
    dialler = line.dialler()
    dialler.found("zoe", [HERE])
    dialler._targets["zoe"].failures = 1000
    await eventually(lambda: len(line.calls) == 1)
    dialler._targets["zoe"].failures = 1000
    dialler.found("zoe", [THERE])
    await eventually(lambda: line.calls[-1][0] == (THERE, HERE))
    dialler._targets["zoe"].failures = 1000
    calls = len(line.calls)
    dialler.retry()
    await eventually(lambda: len(line.calls) > calls)
    await dialler.stop()


async def test_a_typed_address_is_called_until_who_is_there_is_linked() -> None:
    line = Line(answer=None, who="abe")
    dialler = line.dialler()
    dialler.found(None, [HERE])
    await eventually(lambda: "abe" in line.linked)
    assert line.calls == [((HERE,), None)]
    assert dialler.addresses_of("abe") == [HERE]
    line.linked.clear()
    dialler.unlinked("abe", lived_s=100)
    await eventually(lambda: len(line.calls) == 2)
    dialler.withdrawn(HERE)
    assert dialler.addresses_of("abe") == []
    await dialler.stop()


async def test_links_that_do_not_last_are_not_sought_in_haste() -> None:
    line = Line(answer=None, who="zoe")
    dialler = line.dialler()
    dialler.found("zoe", [HERE])
    await eventually(lambda: "zoe" in line.linked)
    for lived_s, failures in ((0.1, 1), (0.1, 2), (100, 0)):
        dialler.unlinked("zoe", lived_s)
        assert dialler._targets["zoe"].failures == failures
    await dialler.stop()


async def test_who_is_gone_is_forgotten_unless_linked() -> None:
    line = Line(answer=None, who="zoe")
    dialler = line.dialler()
    dialler.found("zoe", [HERE])
    await eventually(lambda: "zoe" in line.linked)
    dialler.gone("zoe")
    assert dialler.addresses_of("zoe") == [HERE]
    line.linked.clear()
    dialler.gone("zoe")
    assert dialler.addresses_of("zoe") == []
    await dialler.stop()


async def test_an_address_where_another_node_answers_is_tried_last() -> None:
    line = Line(answer=Cause.OTHER_NODE)
    dialler = line.dialler()
    dialler.found("zoe", [HERE, THERE])
    await eventually(lambda: len(line.calls) >= 2)
    assert [addresses[0] for addresses, _ in line.calls[:2]] == [HERE, THERE]
    await dialler.stop()


async def test_what_is_known_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialling, "TARGETS_MAX", 3)

    dialler = Line().dialler()
    for number in range(10):
        dialler.found(f"peer{number}", [Address("192.0.2.1", port) for port in range(1, 99)])
    assert len(dialler._targets) == 3
    assert len(dialler.addresses_of("peer0")) == dialling.ADDRESSES_MAX
    await dialler.stop()


# -- sockets -----------------------------------------------------------------------------------


@contextmanager
def deaf() -> Iterator[Address]:
    """A port that nobody listens at, nor anybody can: it is held."""
    with socket.socket() as held:
        held.bind((*LOOPBACK, 0))
        yield Address(*held.getsockname())


async def test_the_first_address_that_answers_wins() -> None:
    (open_one,) = listening_sockets(LOOPBACK, 0)
    with deaf() as closed, closing(open_one):
        answering = Address(*open_one.getsockname())
        connected, address = await connect([closed, answering, Address("localhost", closed.port)])
        with closing(connected):
            assert address == answering
            assert connected.getpeername() == open_one.getsockname()
    with deaf() as closed, deaf() as another, pytest.raises(ConnectionRefusedError):
        await connect([closed, another])
    with pytest.raises(OSError, match="no address"):
        await connect([])


async def test_of_several_failures_the_one_that_says_most_of_the_peer_is_told() -> None:
    with deaf() as closed:
        nowhere = Address("fe80::1", closed.port)
        for addresses in ([closed, nowhere], [nowhere, closed]):
            with pytest.raises(ConnectionRefusedError):
                await connect(addresses)


def test_both_families_listen_on_one_port() -> None:
    opened = listening_sockets(("127.0.0.1", "::1"), 0)
    try:
        assert len({one.getsockname()[1] for one in opened}) == 1
        families = {one.family for one in opened}
        assert socket.AF_INET in families
    finally:
        for one in opened:
            one.close()


def test_any_port_is_one_that_is_free_on_all_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system gives for the first may be taken on the second."""
    taken: list[socket.socket] = []
    listen = dialling._listening

    def beside_another_program(host: str, port: int) -> socket.socket | None:
        if port and not taken:
            taken.append(socket.create_server((host, port)))
        return listen(host, port)

    monkeypatch.setattr(dialling, "_listening", beside_another_program)
    opened = listening_sockets(("127.0.0.1", "127.0.0.2"), 0)
    (port,) = {one.getsockname()[1] for one in opened}
    assert [one.getsockname()[1] != port for one in taken] == [True]
    for one in (*opened, *taken):
        one.close()


def test_that_no_port_is_free_everywhere_names_no_port(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[socket.socket] = []
    listen = dialling._listening

    def taken_on_the_second(host: str, port: int) -> socket.socket | None:
        if port:
            raise OSError(errno.EADDRINUSE, "in use")
        listening = listen(host, port)
        assert listening is not None
        opened.append(listening)
        return listening

    monkeypatch.setattr(dialling, "_listening", taken_on_the_second)
    with pytest.raises(OSError, match="No port is free on all addresses"):
        listening_sockets(("127.0.0.1", "127.0.0.2"), 0)
    assert [each.fileno() for each in opened] == [-1] * dialling.ANY_PORT_TRIES


def test_a_taken_port_is_said_in_a_sentence() -> None:
    (opened,) = listening_sockets(LOOPBACK, 0)
    with closing(opened):
        port = opened.getsockname()[1]
        with pytest.raises(OSError, match=f"Port {port} is used by another program"):
            listening_sockets(LOOPBACK, port)


# -- bulk connections ------------------------------------------------------------------------------


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


async def test_bulk_data_arrives_whole_in_both_directions() -> None:
    def echo(peer: str, pipe: Pipe) -> None:
        pipe.send(peer.encode() + exactly(pipe, 3 * MEGABYTE))

    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = echo
        await linked(ant, bee)
        data = bytes(range(256)) * (3 * MEGABYTE // 256)
        pipe = await ant.links.open_bulk("bee")
        await asyncio.to_thread(pipe.send, data)
        assert await asyncio.to_thread(to_end, pipe) == b"ant" + data
        pipe.close()


async def test_the_side_that_was_dialled_can_open_bulk_too() -> None:
    async with nodes("ant", "bee") as (ant, bee):
        ant.on_bulk = waits
        await linked(ant, bee)
        pipe = await bee.links.open_bulk("ant")
        assert await asyncio.to_thread(exactly, pipe, 4) == b"here"
        pipe.close()


async def test_bulk_data_does_not_stand_before_small_messages() -> None:
    """With a transfer that its reader has stopped, messages go through all the same."""
    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = sends(64 * MEGABYTE)
        await linked(ant, bee)
        pipe = await ant.links.open_bulk("bee")
        await asyncio.to_thread(pipe.send, b"send")
        await asyncio.to_thread(exactly, pipe, MEGABYTE)
        bee.links.send(["ant"], AskStatus())
        await ant.until(lambda: bool(ant.heard("received")))
        assert len(await asyncio.to_thread(exactly, pipe, 63 * MEGABYTE)) == 63 * MEGABYTE
        pipe.close()


async def test_bulk_in_full_flow_does_not_stand_before_small_messages() -> None:
    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = sends(48 * MEGABYTE)
        await linked(ant, bee)
        pipe = await ant.links.open_bulk("bee")
        await asyncio.to_thread(pipe.send, b"send")
        got, answered_at = 0, 0
        while got < 48 * MEGABYTE:
            if got == MEGABYTE:
                bee.links.send(["ant"], AskStatus())
            got += len(await asyncio.to_thread(exactly, pipe, MEGABYTE))
            if ant.heard("received") and not answered_at:
                answered_at = got
        assert 0 < answered_at < 24 * MEGABYTE
        pipe.close()


async def test_a_transfer_that_is_cut_is_told_from_one_that_ended() -> None:
    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = waits
        await linked(ant, bee)
        pipe = await ant.links.open_bulk("bee")
        assert await asyncio.to_thread(exactly, pipe, 4) == b"here"
        bee.links.expel("ant", "expelled")
        with pytest.raises(ConnectionError):
            await asyncio.to_thread(to_end, pipe)
        pipe.close()


async def test_whoever_is_stopped_is_not_waited_for() -> None:
    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = waits
        await linked(ant, bee)
        pipe = await ant.links.open_bulk("bee")
        assert await asyncio.to_thread(exactly, pipe, 4) == b"here"
        blocked = asyncio.create_task(asyncio.to_thread(to_end, pipe))
        await ant.links.stop()
        with pytest.raises(ConnectionError):
            await blocked
        pipe.close()


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

    async with nodes("ant", "bee") as (ant, bee):
        bee.on_bulk = waits
        await linked(ant, bee)
        opened = [await ant.links.open_bulk("bee") for _ in range(2)]
        with pytest.raises(ConnectionRefusedError, match="Too many"):
            await ant.links.open_bulk("bee")
        for pipe in opened:
            pipe.close()
        transfers = bee.links._transfers
        await eventually(lambda: not transfers._serving)
        (await ant.links.open_bulk("bee")).close()


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


async def test_one_machine_that_keeps_its_connections_open_keeps_nobody_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link_reception, "OTHERS_PER_HOST_MAX", 2)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())

    try:
        socket.create_server((OTHER_HOST, 0)).close()
    except OSError:
        pytest.skip(f"this system has no address {OTHER_HOST}")
    bee = Node("bee")
    await bee.start(others={"other/1": serve})
    own = contexts("stranger", "flock").link
    own.set_alpn_protocols(["other/1"])
    writers: list[asyncio.StreamWriter] = []

    async def said_from(host: str, word: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(
            *bee.address, ssl=own, server_hostname="", local_addr=(host, 0)
        )
        writers.append(writer)
        writer.write(word)
        return await reader.read() if word else b""

    try:
        for _ in range(2):
            await said_from(OTHER_HOST, b"")
        await eventually(lambda: len(bee.links._transfers._connections.get("", ())) == 2)
        with suppress(ConnectionError):  # as the system tells that it is cut
            assert await said_from(OTHER_HOST, b"hello\n") == b""
        assert await said_from("127.0.0.1", b"hello\n") == b"hello\n"
    finally:
        for writer in writers:
            writer.close()
        await bee.links.stop()
