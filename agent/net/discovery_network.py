"""The addresses of this machine, and whether something has become of the network meanwhile.

Cables, wireless networks and sleep change it without a word to those who use it, and each system
tells of it in its own way. Looking every few seconds works on all of them, and notices sleep too:
a clock has gone on further than the wait. A look at all addresses is a dozen
system calls and as many objects. Where the system tells of changes by itself, asking whether it did
is one call that finds nothing, and the look can wait. Where it does not, or will not, the answer is
that there may always be something new.

Linux tells of interfaces and addresses by rtnetlink, read only to know that some came. The socket
is opened at the first question, which is answered with yes: what was before it is not told. What
did not fit into it is lost, and the kernel says so; that is a yes as well. Where such sockets are
forbidden the answer is always yes.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
import time
from collections.abc import Callable, Sequence
from enum import Enum

import ifaddr

POLL_S = 5.0
JUMP_S = 10.0
"""Clocks further ahead than this after a wait tell that the machine slept."""
OF_LINKS, OF_IPV4_ADDRESSES, OF_IPV6_ADDRESSES = 0x1, 0x10, 0x100
"""``RTMGRP_LINK``, ``RTMGRP_IPV4_IFADDR``, ``RTMGRP_IPV6_IFADDR``."""
WORD_BYTES_MAX = 64 * 1024
WORDS_MAX = 1_000
"""Of one answer; who tells more is told of again at the next."""


class Change(Enum):
    """What a look at the network has shown."""

    NOTHING = "nothing"
    ADDRESSES = "addresses"
    RESUMED = "resumed"


def own_addresses() -> tuple[str, ...]:
    """Return the addresses of this machine as the system tells them now, of both families, sorted,
    without loopback and scopes; link-local ones are among them. Raise ``OSError`` when they cannot
    be read."""
    found = []
    for adapter in ifaddr.get_adapters():
        for place in adapter.ips:
            host = place.ip if isinstance(place.ip, str) else place.ip[0]
            if not ipaddress.ip_address(host.partition("%")[0]).is_loopback:
                found.append(host.partition("%")[0])
    return tuple(sorted(set(found)))


def has_way(host: str) -> bool:
    """Tell whether a numeric address can be dialled as it stands: a link-local IPv6 one cannot
    without its interface, as others tell it."""
    address = ipaddress.ip_address(host)
    return not (address.version == 6 and address.is_link_local and address.scope_id is None)


class NetworkWatch:
    """Compares each look with the one before."""

    def __init__(
        self,
        addresses: Callable[[], Sequence[str]] = own_addresses,
        clocks: Sequence[Callable[[], float]] = (time.time, time.monotonic),
        news: AddressNews | None = None,
    ) -> None:
        self._look, self._clocks = addresses, clocks
        self._news = news or AddressNews()
        self._look_due = self._slept = False
        self.addresses = tuple(addresses())
        self._times = [clock() for clock in clocks]

    def look(self) -> Change:
        """Tell what changed since the last look, ``POLL_S`` ago, and remember the present state for
        the next: the machine slept, which outweighs the rest, its addresses changed, or nothing.
        Raise ``OSError`` when the addresses cannot be read; the next look tries again, and tells of
        a sleep that was found in this one."""
        times = [clock() for clock in self._clocks]
        self._slept |= any(
            now - before > POLL_S + JUMP_S for now, before in zip(times, self._times, strict=True)
        )
        self._times = times
        addresses = self._addresses_now()
        slept, self._slept = self._slept, False
        changed = addresses != self.addresses
        self.addresses = addresses
        if slept:
            return Change.RESUMED
        return Change.ADDRESSES if changed else Change.NOTHING

    def _addresses_now(self) -> tuple[str, ...]:
        """Whoever could not look when it was due looks the next time."""
        self._look_due |= self._news.due() or self._slept
        if self._look_due:
            addresses = tuple(self._look())
            self._look_due = False
            return addresses
        return self.addresses

    def close(self) -> None:
        """Close the source of news; the watch is not used afterwards."""
        self._news.close()


class AddressNews:
    """Tells whether the system had news of addresses; asked now and then, from one thread. This is
    that of a system which tells nothing: looking is the only way to know."""

    def due(self) -> bool:
        """Tell whether addresses may have changed since this was asked last; True the first
        time."""
        return True

    def close(self) -> None:
        """Let go of everything. Can be called again."""


if sys.platform == "linux":

    class NetlinkNews(AddressNews):
        """The kernel's news of addresses, in the network namespace in which it is asked first."""

        def __init__(self) -> None:
            self._socket: socket.socket | None = None
            self._forbidden = False

        def due(self) -> bool:
            """Tell whether addresses may have changed since this was asked last; True the first time,
            and where the kernel cannot be heard."""
            if self._socket is None:
                self._open()
                return True
            return self._drained(self._socket)

        def close(self) -> None:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

        def _open(self) -> None:
            if self._forbidden:
                return
            try:
                self._socket = socket.socket(
                    socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE
                )
                self._socket.bind((0, OF_LINKS | OF_IPV4_ADDRESSES | OF_IPV6_ADDRESSES))
            except OSError:
                self._forbidden = True
                self.close()

        def _drained(self, told: socket.socket) -> bool:
            """Whether anything was there; all of it is gone now."""
            for number in range(WORDS_MAX):
                try:
                    told.recv(WORD_BYTES_MAX)
                except BlockingIOError:
                    return number > 0
                except OSError:  # what did not fit is lost
                    return True
            return True


def native_news() -> AddressNews:
    """Return the source of news about changed addresses on this system; where none is known, one
    that says each time that there may be some."""
    if sys.platform == "linux":
        return NetlinkNews()
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        return AddressNews()
