"""Whom to call and when: the dialler with calls that only note, and connecting on loopback."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from random import Random

import pytest

from agent.net import dialling
from agent.net.addresses import Address
from agent.net.dialling import BACK_OFF_MAX_S, Dialler, connect, listening_sockets
from agent.net.link_refusals import Cause, LinkRefusal
from tests.hosts.waiting import eventually
from tests.net.test_links_nodes import LOOPBACK

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
