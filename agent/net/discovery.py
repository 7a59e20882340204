"""Nodes find each other: by multicast DNS, and by addresses that a person has typed.

Multicast needs no configuration and does not work everywhere, so it is a help and never a
condition: when it cannot be used, ``trouble`` says why in a sentence, typed addresses are told
all the same, and it is tried again when the network changes or some time has passed.

What is found is told on, not judged: other flocks apart from one's own, both with addresses.

**What a node tells the network of itself: flock, node, port, protocol version; nothing else.**

Everybody on the network can read it and anybody can write one, so it is a hint of whom to dial
and where. Who answers there is decided by TLS. What is read is bounded and checked field by field.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from zeroconf import Error as ZeroconfError
from zeroconf import InterfaceChoice, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from agent.net.addresses import ANY_HOST, Address, reached_at
from agent.net.discovery_network import POLL_S, Change, NetworkWatch, has_way, native_news
from agent.protocol.link_reasons import NoMulticast
from agent.protocol.messages import PROTOCOL_VERSION
from agent.protocol.records import NodeId
from agent.wording.speech import english

SIGHTINGS_MAX = 256
QUESTIONS_MAX = 64
ANSWER_MS = 3_000
TRY_AGAIN_S = 60.0
STOPPING_S = 2.0

log = logging.getLogger(__name__)
SERVICE = "_wingbeat._tcp.local."
ADDRESSES_MAX = 16
NAME_LENGTH_MAX = 63

_ID = re.compile(r"[!-~]{1,64}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9-]")


@dataclass(frozen=True, slots=True)
class DiscoveryCallbacks:
    """What discovery calls when it has found something."""

    found: Callable[[NodeId | None, Sequence[Address]], None]
    """These addresses lead to a node of this flock; None: to whoever is there."""
    gone: Callable[[NodeId], None]
    """Somebody says that the node does not tell of itself any more."""
    foreign: Callable[[Sighting], None]
    """There is another flock on this network."""
    changed: Callable[[], None]
    """The network of this machine has changed, or the machine slept."""


class Discovery:
    """Tells the network of this node, and this node of the others. Not ``announced``, it only
    listens, as a machine does that has no flock yet: to it all flocks are foreign."""

    def __init__(
        self,
        me: NodeId,
        flock: str,
        callbacks: DiscoveryCallbacks,
        *,
        typed: Sequence[Address] = (),
        interfaces: Sequence[str] = (),
        watch: NetworkWatch | None = None,
        announced: bool = True,
    ) -> None:
        self._announced = announced
        self._me, self._flock, self._callbacks = me, flock, callbacks
        self._typed, self._listen = tuple(typed), list(interfaces)
        self._watch = watch or NetworkWatch(news=native_news())
        self._port = 0
        self._zeroconf: AsyncZeroconf | None = None
        self._browser: AsyncServiceBrowser | None = None
        self._sightings: dict[str, Sighting] = {}
        self._questions: dict[str, asyncio.Task[None]] = {}
        self._watching: asyncio.Task[None] | None = None
        self.trouble: NoMulticast | None = None
        """Why multicast cannot be used; None when it can."""

    # -- for the composition root ----------------------------------------------------------

    async def start(self, port: int) -> None:
        """Tell the typed addresses, begin to look for other nodes and, if ``announced``, to
        announce this one, which listens on this port; keep watch of the network until ``stop``.
        Without multicast it does not fail: ``trouble`` says why, and it is tried again."""
        self._port = port
        if self._typed:
            self._callbacks.found(None, self._typed)
        await self._begin()
        self._watching = asyncio.create_task(self._keep_watch())

    async def stop(self) -> None:
        """Stop looking for others and take this node's announcement back; wait until that is done,
        about two seconds at most, and ignore what the network refuses."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        self._watch.close()
        await self._end()

    async def withdraw(self) -> None:
        """Take this node's announcement back for good, because it was sent away, and go on
        listening for others; what the network refuses is ignored."""
        self._announced = False
        if self._zeroconf is not None:
            with contextlib.suppress(OSError, RuntimeError, ZeroconfError):
                await self._zeroconf.async_unregister_all_services()

    def sightings(self) -> tuple[Sighting, ...]:
        """Return the other nodes that announce themselves on this network, of whatever flock, as
        they were seen last; at most 256, of more the newest and those of this flock."""
        return tuple(self._sightings.values())

    # -- multicast -------------------------------------------------------------------------

    async def _begin(self) -> None:
        try:
            self._zeroconf = self._opened()
            zeroconf = self._zeroconf.zeroconf
            if self._announced:
                await self._zeroconf.async_register_service(
                    self._own_record(), cooperating_responders=True
                )
            self._browser = AsyncServiceBrowser(zeroconf, SERVICE, handlers=[self._seen])
            if not self._announced:  # perhaps sent away meanwhile
                await self._zeroconf.async_unregister_all_services()
        except (OSError, RuntimeError, ZeroconfError) as error:
            await self._end()
            self._troubled(error)
        else:
            if self.trouble:
                log.info("multicast can be used again")
            self.trouble = None

    def _opened(self) -> AsyncZeroconf:
        """On all interfaces, of both families where there are both."""
        if self._listen and not set(ANY_HOST) & set(self._listen):
            return AsyncZeroconf(interfaces=self._listen)
        try:
            return AsyncZeroconf(interfaces=InterfaceChoice.All, ip_version=IPVersion.All)
        except (OSError, RuntimeError) as error:
            log.info("multicast without IPv6: %s", error)
            return AsyncZeroconf(interfaces=InterfaceChoice.All, ip_version=IPVersion.V4Only)

    def _own_record(self) -> AsyncServiceInfo:
        hosts = reached_at(self._listen, self._watch.addresses)
        return own_record(self._me, self._flock, PROTOCOL_VERSION, self._port, hosts)

    async def _end(self) -> None:
        questions, self._questions = list(self._questions.values()), {}
        for question in questions:
            question.cancel()
        await asyncio.gather(*questions, return_exceptions=True)
        zeroconf, self._zeroconf = self._zeroconf, None
        browser, self._browser = self._browser, None
        if zeroconf is None:
            return
        with contextlib.suppress(OSError, RuntimeError, ZeroconfError):
            async with asyncio.timeout(STOPPING_S):
                if browser is not None:
                    await browser.async_cancel()
                await zeroconf.async_close()

    def _troubled(self, error: Exception) -> None:
        trouble = explained_trouble(error)
        before, self.trouble = self.trouble, trouble
        if trouble != before:
            log.warning("%s", self.trouble_text)

    @property
    def trouble_text(self) -> str:
        """Return why multicast cannot be used and what to do, in a sentence; empty when it can."""
        if self.trouble is None:
            return ""
        why = english(self.trouble)
        return f"Nodes cannot be found by multicast: {why}; give addresses by hand."

    # -- what is seen ----------------------------------------------------------------------

    def _seen(
        self,
        zeroconf: Zeroconf,
        service_type: str,
        name: str,
        state_change: ServiceStateChange,
    ) -> None:
        """Called by zeroconf, on the loop."""
        if state_change is ServiceStateChange.Removed:
            self._lost(name)
            return
        record = AsyncServiceInfo(service_type, name)
        if record.load_from_cache(zeroconf):
            self._note(name, record)
        elif name not in self._questions:
            while (
                len(self._questions) >= QUESTIONS_MAX
            ):  # who is there answers before it is the oldest
                self._questions.pop(next(iter(self._questions))).cancel()
            question = asyncio.create_task(self._ask(zeroconf, name, record))
            self._questions[name] = question
            question.add_done_callback(lambda done: self._answered(name, done))

    async def _ask(self, zeroconf: Zeroconf, name: str, record: AsyncServiceInfo) -> None:
        with contextlib.suppress(OSError, ZeroconfError):
            if await record.async_request(zeroconf, ANSWER_MS):
                self._note(name, record)

    def _answered(self, name: str, question: asyncio.Task[None]) -> None:
        """One that had to make room may be asked again already."""
        if self._questions.get(name) is question:
            del self._questions[name]

    def _note(self, name: str, record: AsyncServiceInfo) -> None:
        sighting = read_record(record)
        if sighting is None or sighting.node == self._me:
            return
        full = name not in self._sightings and len(self._sightings) >= SIGHTINGS_MAX
        if full and not self._has_room_for(sighting):
            return
        self._sightings[name] = sighting
        if sighting.flock != self._flock:
            self._callbacks.foreign(sighting)
            return
        mine = {(host, self._port) for host in self._watch.addresses}
        told = [address for address in sighting.addresses if address not in mine]
        addresses = [address for address in told if has_way(address.host)]
        if addresses:
            self._callbacks.found(sighting.node, addresses)

    def _has_room_for(self, sighting: Sighting) -> bool:
        """Forget the oldest, of other flocks first and for those only of others: whoever makes many
        up hides nobody who comes."""
        names = [name for name, each in self._sightings.items() if each.flock != self._flock]
        if not names and sighting.flock != self._flock:
            return False
        del self._sightings[next(iter(names or self._sightings))]
        return True

    def _lost(self, name: str) -> None:
        sighting = self._sightings.pop(name, None)
        if sighting is not None and sighting.flock == self._flock:
            self._callbacks.gone(sighting.node)

    # -- what becomes of the network -------------------------------------------------------

    async def _keep_watch(self) -> None:
        troubled_for_s = 0.0
        while True:
            await asyncio.sleep(POLL_S)
            troubled_for_s = troubled_for_s + POLL_S if self.trouble else 0.0
            change = self._look()
            if change is not Change.NOTHING:
                log.info("network: %s", change.value)
                await self._follow(change)
                self._callbacks.changed()
            elif troubled_for_s >= TRY_AGAIN_S:
                troubled_for_s = 0.0
                await self._begin()

    def _look(self) -> Change:
        try:
            return self._watch.look()
        except OSError as error:
            log.info("the addresses of this machine cannot be read: %s", error)
            return Change.NOTHING

    async def _follow(self, change: Change) -> None:
        """Sleep may have cost the membership in multicast groups: begin anew after it."""
        if change is Change.RESUMED or self._zeroconf is None:
            await self._end()
            await self._begin()
            return
        try:
            await self._zeroconf.async_update_interfaces()
            if self._announced:
                await self._zeroconf.async_update_service(self._own_record())
        except (OSError, RuntimeError, ZeroconfError) as error:
            await self._end()
            self._troubled(error)


def explained_trouble(error: Exception) -> NoMulticast:
    """Return the reason, for people, why multicast cannot be used, as this error tells it; an unknown
    error is told by its text."""
    match error:
        case OSError(errno=errno.EADDRINUSE):
            return NoMulticast("PortOfMulticastTaken")
        case PermissionError():
            return NoMulticast("NotAllowed")
        case OSError(errno=errno.ENODEV | errno.ENETUNREACH | errno.EADDRNOTAVAIL):
            return NoMulticast("NoNetwork")
        case OSError():
            return NoMulticast("NetworkRefuses", error.strerror or str(error))
        case _:
            return NoMulticast("MulticastFails", str(error) or type(error).__name__)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A node that tells of itself on this network."""

    node: NodeId
    flock: str
    protocol_version: int
    addresses: tuple[Address, ...]


def own_record(
    node: NodeId, flock: str, version: int, port: int, hosts: Sequence[str]
) -> AsyncServiceInfo:
    """Return the multicast record, not sent yet, that announces this node of a flock on this port of
    these ``hosts``, which are IP addresses; ``version`` is that of the protocol. Raise ``OSError``
    for a name among the hosts."""
    name = _NOT_IN_NAMES.sub("-", node)[:NAME_LENGTH_MAX]
    told: dict[str | bytes, str | bytes | None] = {
        "flock": flock,
        "node": node,
        "port": str(port),
        "version": str(version),
    }
    return AsyncServiceInfo(
        SERVICE,
        f"{name}.{SERVICE}",
        port=port,
        properties=told,
        server=f"{name}.local.",
        parsed_addresses=list(hosts),
    )


def read_record(record: AsyncServiceInfo) -> Sighting | None:
    """Return the node, flock, version and addresses that another node's record announces, 16
    addresses at most and version 0 where none can be read; None when node, flock or port make no
    sense."""
    told = record.properties
    node, flock = _text(told, b"node"), _text(told, b"flock")
    port, version = _number(told, b"port"), _number(told, b"version")
    if not (_ID.fullmatch(node) and _ID.fullmatch(flock)) or not 1 <= port <= 65535:
        return None
    hosts = record.parsed_scoped_addresses(IPVersion.All)[:ADDRESSES_MAX]
    return Sighting(node, flock, version, tuple(Address(host, port) for host in hosts))


def _text(told: Mapping[bytes, bytes | None], key: bytes) -> str:
    return (told.get(key) or b"").decode("ascii", "replace")


def _number(told: Mapping[bytes, bytes | None], key: bytes) -> int:
    text = _text(told, key)
    return int(text) if text.isdigit() and text.isascii() and len(text) < 10 else 0
