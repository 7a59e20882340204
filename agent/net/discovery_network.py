"""The addresses of this machine, and whether something has become of the network meanwhile.

Cables, wireless networks and sleep change it without a word to those who use it, and each system
tells of it in its own way. Looking every few seconds works on all of them, and notices sleep too:
a clock has gone on further than the wait. Where the system says that nothing is new
(``discovery_news``), the addresses need not be looked at.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Sequence
from enum import Enum

import ifaddr

from agent.net.discovery_news import AddressNews, NoNews

POLL_S = 5.0
JUMP_S = 10.0
"""Clocks further ahead than this after a wait tell that the machine slept."""


class Change(Enum):
    """What a look at the network has shown."""

    NOTHING = "nothing"
    ADDRESSES = "addresses"
    RESUMED = "resumed"


def own_addresses() -> tuple[str, ...]:
    """Return the addresses of this machine by which others may reach it, of both families, sorted,
    without loopback and scopes."""
    found = []
    for adapter in ifaddr.get_adapters():
        for place in adapter.ips:
            host = place.ip if isinstance(place.ip, str) else place.ip[0]
            if not ipaddress.ip_address(host.partition("%")[0]).is_loopback:
                found.append(host.partition("%")[0])
    return tuple(sorted(set(found)))


def has_way(host: str) -> bool:
    """Tell whether the address can be dialled as it stands: a link-local IPv6 one cannot without
    its interface, as others tell it."""
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
        self._news = news or NoNews()
        self._look_due = False
        self.addresses = tuple(addresses())
        self._times = [clock() for clock in clocks]

    def look(self) -> Change:
        """Tell what changed since the last look, ``POLL_S`` ago: the machine slept, its addresses
        changed, or nothing; remember the present state for the next."""
        times = [clock() for clock in self._clocks]
        slept = any(
            now - before > POLL_S + JUMP_S for now, before in zip(times, self._times, strict=True)
        )
        self._times = times
        addresses = self._addresses_now(slept=slept)
        changed = addresses != self.addresses
        self.addresses = addresses
        if slept:
            return Change.RESUMED
        return Change.ADDRESSES if changed else Change.NOTHING

    def _addresses_now(self, *, slept: bool) -> tuple[str, ...]:
        """Whoever could not look when it was due looks the next time."""
        self._look_due |= self._news.due() or slept
        if self._look_due:
            addresses = tuple(self._look())
            self._look_due = False
            return addresses
        return self.addresses

    def close(self) -> None:
        """Close the source of news; the watch is not used afterwards."""
        self._news.close()
