"""Addresses as people type them, and who of several answers a call."""

from __future__ import annotations

import asyncio
import errno
import socket

import pytest

from agent.net import dialling
from agent.net.addresses import Address, AddressError, is_numeric, parse_address
from agent.net.dialling import connect, listening_sockets

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
    ],
)
def test_an_address_is_read(text: str, host: str, port: int) -> None:
    assert parse_address(text) == Address(host, port)


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
        taken = opened.accept()[0]
        taken.close()
    opened.close()
    (again,) = listening_sockets((LOOPBACK,), port)
    again.close()
