"""Waking a machine that sleeps: what its network card waits for, sent to all of its network.

A magic packet is six bytes of ones and then the hardware address sixteen times, wherever it stands in a
frame; by custom it comes as a datagram to port 9. It is not routed, so it has to leave by an interface that
is on the same network as the machine. It says nothing, and can do nothing but wake.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from ipaddress import IPv4Interface
from typing import NamedTuple

import psutil

from agent.protocol.capabilities import WAKE_ADDRESSES_MAX, WakeAddress

PORT, HARDWARE_BYTES = 9, 6
NO_HARDWARE = "00:00:00:00:00:00"

log = logging.getLogger(__name__)


class Interface(NamedTuple):
    """An interface of this machine with an IPv4 address: that, its network's broadcast, its hardware's."""

    address: str
    broadcast: str
    hardware: str


def interfaces() -> Iterator[Interface]:
    """Yield each IPv4 address of this machine, on an interface with a hardware address, whose network
    has room for others and is no loopback. Raise ``OSError`` when the system does not tell them,
    ``ValueError`` for what is no address."""
    for each in psutil.net_if_addrs().values():
        hardware = next((one.address for one in each if one.family == psutil.AF_LINK), "")
        hardware = hardware.replace("-", ":").lower()
        for one in each:
            if one.family != socket.AF_INET or not one.netmask or hardware in ("", NO_HARDWARE):
                continue
            network = IPv4Interface(f"{one.address}/{one.netmask}").network
            if network.prefixlen < 31 and not network.is_loopback:
                yield Interface(one.address, str(network.broadcast_address), hardware)


def own_wake_addresses(
    found: Callable[[], Iterable[Interface]] = interfaces,
) -> tuple[WakeAddress, ...]:
    """Return the first eight places, sorted by network, at which this machine can be woken; empty where
    it is on no network, or that cannot be seen."""
    try:
        told = {WakeAddress(each.hardware, each.broadcast) for each in found()}
    except (OSError, ValueError):
        return ()
    ordered = sorted(told, key=lambda each: (each.broadcast, each.hardware))
    return tuple(ordered[:WAKE_ADDRESSES_MAX])


def magic_packet(hardware: str) -> bytes:
    """Return the packet that wakes the machine with this hardware address, in hex digits with colons
    or without; raise ``ValueError`` for what is none."""
    address = bytes.fromhex(hardware.replace(":", ""))
    if len(address) != HARDWARE_BYTES:
        raise ValueError(f"{hardware!r} is no hardware address")
    return b"\xff" * 6 + address * 16


def wake(
    addresses: Iterable[WakeAddress], found: Callable[[], Iterable[Interface]] = interfaces
) -> int:
    """Send what wakes a machine at those of its addresses whose network this one is on, by each
    interface that is; return how often it was sent, 0 where no network is shared. What cannot be
    sent is logged; nothing is raised."""
    sent = 0
    own: list[Interface] = []
    with suppress(OSError, ValueError):
        own = list(found())
    for address in addresses:
        for each in own:
            if each.broadcast == address.broadcast:
                sent += _send(each, address)
    return sent


def _send(own: Interface, address: WakeAddress) -> int:
    try:
        with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as out:
            out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            out.bind((own.address, 0))
            out.sendto(magic_packet(address.hardware), (address.broadcast, PORT))
    except (OSError, ValueError) as error:
        log.info("nothing that wakes %s could be sent: %s", address.hardware, error)
        return 0
    return 1
