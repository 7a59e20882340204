"""Whom to call and when: of whom how much is known, who calls whom, and how often."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.net import dialling
from agent.net.addresses import Address, AddressError, is_numeric, parse_address
from agent.net.dialling import Dialler, Target, connect, listening_sockets, listening_sockets_near
from agent.net.link_refusals import Cause, LinkRefusal
from agent.protocol.reasons import NO_REASON
from tests.hosts.waiting import eventually

A, B, C = (Address("127.0.0.1", port) for port in (1, 2, 3))


class Longest(Random):
    """Draws the longest delay."""

    def uniform(self, a: float, b: float) -> float:
        assert (a, b) == (0.5, 1.0)
        return b


class Caller:
    """Answers each call as it is told, and keeps them."""

    def __init__(self, *answers: tuple[str, Cause | None]) -> None:
        self.calls: list[tuple[tuple[Address, ...], str | None]] = []
        self.links: set[str] = set()
        self._answers = list(answers)
        self.over = asyncio.Event()
        self.dialler = Dialler("mid", self.call, self.links.__contains__, Longest())

    async def call(
        self, addresses: Sequence[Address], expected: str | None
    ) -> tuple[str, LinkRefusal | None]:
        self.calls.append((tuple(addresses), expected))
        if not self._answers:
            self.over.set()
            await asyncio.Event().wait()
        peer, cause = self._answers.pop(0)
        if cause is None:
            self.links.add(peer)
            self.over.set()
            return peer, None
        return peer, LinkRefusal(peer, str(addresses[0]), cause, NO_REASON, 0.0)


def target(peer: str | None = "zebra", *, typed: bool = False, failures: int = 0) -> Target:
    return Target([A], peer, typed, failures)


@pytest.mark.parametrize(
    ("known", "lasting", "delay_s"),
    [
        (target("zebra"), False, 0.0),
        (target("ant"), False, 3.0),
        (target("ant", typed=True), False, 0.0),
        (target(None), False, 0.0),
        (target(failures=1), False, 0.05),
        (target(failures=2), False, 0.1),
        (target(failures=6), False, 1.6),
        (target(failures=7), False, 2.0),
        (target(failures=10_000), False, 2.0),
        (target(failures=1), True, 1.0),
        (target(failures=4), True, 8.0),
        (target(failures=5), True, 15.0),
    ],
)
async def test_calls_that_fail_are_made_later_and_later(
    known: Target, lasting: bool, delay_s: float
) -> None:
    known.lasting = lasting
    assert Caller().dialler._delay_s(known) == pytest.approx(delay_s)


@pytest.mark.parametrize(("lived_s", "failures"), [(0.1, 3), (4.99, 3), (5.0, 0), (3_600.0, 0)])
async def test_a_link_that_lives_for_five_seconds_is_no_failure(
    lived_s: float, failures: int
) -> None:
    caller = Caller()
    known = target(failures=2)
    caller.dialler._targets["zebra"] = known
    caller.dialler.unlinked("zebra", lived_s, lasting=True)
    assert (known.failures, known.lasting, known.news.is_set()) == (failures, True, True)
    caller.dialler.unlinked("other", 0.0)
    assert known.failures == failures


async def test_the_next_address_is_tried_where_somebody_else_answers() -> None:
    caller = Caller(("", Cause.UNREACHABLE), ("yak", Cause.OTHER_NODE), ("zebra", Cause.DUPLICATE))
    caller.dialler.found("zebra", [A, B])
    await caller.over.wait()
    assert [each[0] for each in caller.calls] == [(A, B), (A, B), (B, A), (B, A)]
    assert {each[1] for each in caller.calls} == {"zebra"}
    await caller.dialler.stop()


async def test_each_address_has_its_turn_however_many_are_told_of() -> None:
    places = [Address("127.0.0.9", port) for port in range(10, 30)]
    caller = Caller(*[("", Cause.UNREACHABLE)] * 3)
    caller.dialler.found("zebra", places)
    await caller.over.wait()
    assert [each[0] for each in caller.calls] == [
        tuple(places[:8]),
        tuple(places[8:16]),
        (*places[16:], *places[:4]),
        (*places[4:12],),
    ]
    await caller.dialler.stop()


async def test_who_answers_at_a_typed_address_is_known_from_then_on() -> None:
    caller = Caller(("zebra", None))
    caller.dialler.found(None, [A, B][:1])
    await caller.over.wait()
    assert (caller.calls, caller.dialler.addresses_of("zebra")) == ([((A,), None)], [A])
    caller.links.clear()
    caller.dialler.unlinked("zebra", lived_s=100)
    await eventually(lambda: len(caller.calls) == 2)
    caller.dialler.withdrawn(A)
    assert caller.dialler.addresses_of("zebra") == []
    await caller.dialler.stop()


async def test_addresses_are_learnt_and_forgotten() -> None:
    caller = Caller()
    dialler = caller.dialler
    dialler.found("mid", [A])
    assert dialler.addresses_of("mid") == []
    dialler.found("ant", [A])
    dialler.found("ant", [B, C])
    assert dialler.addresses_of("ant") == [A, B, C]
    dialler.found("ant", [Address("127.0.0.1", port) for port in range(10, 100)])
    assert dialler.addresses_of("ant")[:3] == [A, B, C]
    assert len(dialler._targets["ant"].addresses) == 64
    caller.links.add("ant")
    dialler.gone("ant")
    assert len(dialler.addresses_of("ant")) == 8
    caller.links.clear()
    dialler.gone("ant")
    assert dialler.addresses_of("ant") == []
    await dialler.stop()
    dialler.found("ant", [A])
    assert dialler.addresses_of("ant") == []


async def test_of_so_many_peers_addresses_are_kept() -> None:
    dialler = Caller().dialler
    for number in range(513):
        dialler.found(f"ant{number}", [A])
    known = [bool(dialler.addresses_of(f"ant{number}")) for number in (0, 1, 512)]
    assert known == [False, True, True]
    for number in range(1, 513):
        dialler.found(f"ant{number}", [A], proven=True)
    dialler.found("cat", [A])
    assert dialler.addresses_of("cat") == [], "there is room for nobody else"
    dialler.gone("ant1")
    dialler.found("cat", [A])
    assert dialler.addresses_of("cat") == [A]
    await dialler.stop()


async def test_what_strangers_tell_takes_no_place_of_what_was_proven() -> None:
    caller = Caller()
    dialler = caller.dialler
    dialler.found("ant", [A], proven=True)
    for port in range(10, 60):
        dialler.found("ant", [Address("127.0.0.9", port)])
    known = dialler.addresses_of("ant")
    assert (known[0], len(known)) == (A, 8)
    dialler.unannounced("ant")
    assert dialler.addresses_of("ant") == [A], "a goodbye that anybody may have said"
    assert dialler._delay_s(dialler._targets["ant"]) == 60.0
    dialler.found("ant", [A])
    assert dialler._delay_s(dialler._targets["ant"]) == 3.0
    dialler.found("bee", [B])
    dialler.unannounced("bee")
    assert dialler.addresses_of("bee") == []
    await dialler.stop()


async def test_the_lower_calls_at_once_and_the_higher_waits_for_it() -> None:
    caller = Caller(*[("", Cause.UNREACHABLE)] * 2)
    caller.dialler.found("zebra", [A])
    caller.dialler.found("ant", [A])
    await caller.over.wait()
    assert caller.calls == [((A,), "zebra")] * 3
    await caller.dialler.stop()


async def test_news_makes_the_next_call_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for anything else waits for ever."""
    for name in ("BACK_OFF_FIRST_S", "BACK_OFF_MAX_S"):
        monkeypatch.setattr(dialling, name, 1e9)
    caller = Caller(*[("", Cause.UNREACHABLE)] * 3)
    dialler = caller.dialler
    news: tuple[Callable[[], None], ...] = (
        partial(dialler.found, "zebra", [A]),
        partial(dialler.found, "zebra", [B]),
        dialler.retry,
    )
    for number, comes in enumerate(news, 1):
        comes()
        await eventually(lambda: len(caller.calls) == number)  # noqa: B023
    assert [addresses for addresses, _ in caller.calls] == [(A,), (B, A), (B, A)]
    await dialler.stop()


# -- addresses as people type them, and who of several answers a call ------------------------------


LOOPBACK = "127.0.0.1"


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("ant", "ant", 29464),
        (" ant.example. ", "ant.example.", 29464),
        ("ant:1", "ant", 1),
        ("ant:65535", "ant", 65535),
        ("192.0.2.7:80", "192.0.2.7", 80),
        ("[fe80::1]:80", "fe80::1", 80),
        ("[fe80::1]", "fe80::1", 29464),
        ("fe80::1", "fe80::1", 29464),
        ("a" * 63, "a" * 63, 29464),
        (".".join(["a" * 62] * 4), ".".join(["a" * 62] * 4), 29464),
        ("a_b-c", "a_b-c", 29464),
        (" pc-12.office.example:81 ", "pc-12.office.example", 81),
        ("[fe80::1%eth0]", "fe80::1%eth0", 29464),
        ("2001:db8::1", "2001:db8::1", 29464),
    ],
)
def test_an_address_is_read(text: str, host: str, port: int) -> None:
    assert parse_address(text) == Address(host, port)


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_a_sentence(text: str) -> None:
    try:
        address = parse_address(text)
    except AddressError:
        return
    assert 1 <= address.port <= 65535
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "An address is empty; write host, host:port or [IPv6]:port."),
        ("  ", "An address is empty; write host, host:port or [IPv6]:port."),
        ("[fe80::1", "'[fe80::1' opens a bracket; write [IPv6] or [IPv6]:port."),
        ("[fe80::1]x", "'[fe80::1]x' opens a bracket; write [IPv6] or [IPv6]:port."),
        ("[ant]", "'[ant]' has no IPv6 address in its brackets."),
        ("[a:b]", "'a:b' in '[a:b]' is not an IPv6 address."),
        ("a:b:c", "'a:b:c' has several colons; write an IPv6 address in [brackets]."),
        ("ant:0", "'0' in 'ant:0' is not a port; ports go from 1 to 65535."),
        ("ant:65536", "'65536' in 'ant:65536' is not a port; ports go from 1 to 65535."),
        ("ant:0000001", "'0000001' in 'ant:0000001' is not a port; ports go from 1 to 65535."),
        ("ant:", "'' in 'ant:' is not a port; ports go from 1 to 65535."),
        ("https://host", "'//host' in 'https://host' is not a port; ports go from 1 to 65535."),
        ("two words", "'two words' is not a host name, nor an address of IPv4 or IPv6."),
        ("ant:x", "'x' in 'ant:x' is not a port; ports go from 1 to 65535."),
        ("ant:٣", "'٣' in 'ant:٣' is not a port; ports go from 1 to 65535."),
        ("192.0.2.256", "'192.0.2.256' in '192.0.2.256' is not an IPv4 address."),
        ("-ant", "'-ant' is not a host name, nor an address of IPv4 or IPv6."),
        ("ant-", "'ant-' is not a host name, nor an address of IPv4 or IPv6."),
        ("a..b", "'a..b' is not a host name, nor an address of IPv4 or IPv6."),
        ("a" * 64, f"'{'a' * 64}' is not a host name, nor an address of IPv4 or IPv6."),
    ],
)
def test_what_is_no_address_is_said(text: str, sentence: str) -> None:
    with pytest.raises(AddressError) as found:
        parse_address(text)
    assert str(found.value) == sentence


@pytest.mark.parametrize(("length", "fits"), [(253, True), (254, False)])
def test_a_long_name(length: int, fits: bool) -> None:
    name = ("a." * 200)[: length - 1] + "b"
    if fits:
        assert parse_address(name).host == name
    else:
        with pytest.raises(AddressError):
            parse_address(name)


@pytest.mark.parametrize(
    ("host", "numeric"), [("192.0.2.7", True), ("fe80::1", True), ("ant", False), ("1.2", False)]
)
def test_what_needs_no_looking_up(host: str, numeric: bool) -> None:
    assert is_numeric(host) is numeric


# -- calls -------------------------------------------------------------------------------------


def free_port() -> int:
    """A port at which nobody listens, as long as nobody is given it anew."""
    with socket.create_server((LOOPBACK, 0)) as listening:
        return int(listening.getsockname()[1])


def called(*addresses: Address) -> Address:
    async def call() -> Address:
        connected, address = await connect(addresses)
        connected.close()
        return address

    return asyncio.run(call())


def test_a_name_that_is_not_known_does_not_hide_one_that_is() -> None:
    with socket.create_server((LOOPBACK, 0)) as listening:
        there = Address(LOOPBACK, listening.getsockname()[1])
        assert called(Address("nobody.invalid", 1), there) == there
        assert (called(Address(LOOPBACK, free_port()), there), called(there)) == (there, there)


@pytest.mark.parametrize(
    ("addresses", "number", "text"),
    [
        ((), errno.EADDRNOTAVAIL, "there is no address to dial"),
        ((Address("nobody.invalid", 1),), None, "the name nobody.invalid is not known"),
    ],
)
def test_why_nobody_can_be_called(
    addresses: tuple[Address, ...], number: int | None, text: str
) -> None:
    with pytest.raises(OSError, match=text) as found:
        called(*addresses)
    assert number in (None, found.value.errno)


def test_of_several_that_fail_who_refuses_is_told() -> None:
    refuses = Address(LOOPBACK, free_port())
    with pytest.raises(ConnectionRefusedError):
        called(refuses, Address("255.255.255.255", 1))
    with pytest.raises(ConnectionRefusedError):
        called(Address("255.255.255.255", 1), refuses)
    with pytest.raises(ConnectionRefusedError):
        called(refuses)


def test_who_keeps_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that do not answer, silence is told; the other is not dialled for longer than that."""
    monkeypatch.setattr(dialling, "CONNECT_S", 2.0)  # in which both begin, however busy it is
    monkeypatch.setattr(dialling, "LEAD_S", 0.0)
    hung_up: list[bool] = []

    async def silent(_: object) -> tuple[socket.socket, Address]:
        try:
            await asyncio.Event().wait()
        finally:
            hung_up.append(True)
        raise AssertionError

    monkeypatch.setattr(dialling, "_call", silent)
    with pytest.raises(TimeoutError):
        called(Address(LOOPBACK, 1), Address(LOOPBACK, 2))
    assert hung_up == [True, True]


# -- sockets that others dial ------------------------------------------------------------------


def test_all_hosts_listen_at_one_port() -> None:
    opened = listening_sockets((LOOPBACK, "127.0.0.2", "203.0.113.9"), 0)
    try:
        hosts, ports = zip(*(each.getsockname()[:2] for each in opened), strict=True)
        assert hosts == (LOOPBACK, "127.0.0.2")
        assert len(set(ports)) == 1
        assert not opened[0].getblocking()
        with pytest.raises(OSError, match=f"Port {ports[0]} is used by another program") as found:
            listening_sockets((LOOPBACK,), ports[0])
        assert found.value.errno == errno.EADDRINUSE
    finally:
        for each in opened:
            each.close()


def test_addresses_of_other_machines_cannot_be_listened_at() -> None:
    with pytest.raises(OSError, match="None of the addresses") as found:
        listening_sockets(("203.0.113.9",), 0)
    assert found.value.errno == errno.EADDRNOTAVAIL


def test_a_port_can_be_used_again_at_once() -> None:
    """Connections of the agent before this one may still be dying."""
    (opened,) = listening_sockets((LOOPBACK,), 0)
    port = opened.getsockname()[1]
    with socket.create_connection((LOOPBACK, port)):
        opened.accept()[0].close()
    opened.close()
    (again,) = listening_sockets((LOOPBACK,), port)
    again.close()


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


@pytest.mark.parametrize(
    ("port", "taken", "tried"),
    [
        (0, 0, [0]),
        (29_464, 0, [29_464]),
        (29_464, 31, [*range(29_464, 29_496)]),
        (29_464, 32, [*range(29_464, 29_496), 0]),
        (65_534, 2, [65_534, 65_535, 0]),
    ],
)
@pytest.mark.parametrize("number", [errno.EADDRINUSE, errno.EACCES])
def test_beside_a_used_port_the_next_free_one_is_taken_else_any(
    monkeypatch: pytest.MonkeyPatch, port: int, taken: int, tried: list[int], number: int
) -> None:
    asked: list[int] = []

    def listen(_: Sequence[str], each: int) -> list[socket.socket]:
        asked.append(each)
        if each and len(asked) <= taken:
            raise OSError(number, "in use")
        return []

    monkeypatch.setattr(dialling, "listening_sockets", listen)
    assert listening_sockets_near((LOOPBACK,), port) == []
    assert asked == tried


def test_a_host_that_is_not_here_has_no_next_port() -> None:
    with pytest.raises(OSError, match="None of the addresses"):
        listening_sockets_near(("203.0.113.9",), 29_464)
