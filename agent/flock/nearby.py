"""Which flocks are on this network, for a machine that wants to join one.

A machine without a flock tells nothing of itself and does not listen all day either: it begins to
when somebody asks, and stops some minutes after the last question. Multicast tells ids only; what a
flock is called, a keeper of it says, who is found by knocking at what was heard. Where multicast is
blocked, the addresses that a person typed are knocked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from agent.api.admission import NearbyFlock
from agent.api.errors import MembershipError
from agent.flock.network import FlockNetwork
from agent.net.addresses import Address
from agent.net.asking import Door, find_door
from agent.settings.node_settings import NodeSettings

if TYPE_CHECKING:
    from agent.net.discovery import Discovery

LISTENED_S = 300.0
FIRST_LOOK_S = 3.0
LOOK_EVERY_S = 0.1
SETTLED_S = 1.0
"""Once somebody is heard, the others are within this time."""
DOOR_KEPT_S = 60.0
FLOCKS_MAX = 32
KNOCKS_AT_ONCE = 16
KNOCKING_S_MAX = 10.0
"""As long a person waits for the names of flocks, whatever others tell the network."""


class NearbyFlocks:
    """Listens for flocks while somebody wants to know, in the loop."""

    def __init__(
        self, settings: NodeSettings, network: Callable[[], FlockNetwork | None], *, discover: bool
    ) -> None:
        self._settings, self._network, self._discover = settings, network, discover
        self._discovery: Discovery | None = None
        self._doors: dict[str, tuple[float, Door]] = {}
        self._ending: asyncio.TimerHandle | None = None
        self._stopping: set[asyncio.Task[None]] = set()
        self._looking = asyncio.Lock()

    @property
    def trouble(self) -> str:
        """Why the network cannot be listened to; empty when it can."""
        heard = self._heard()
        return heard.trouble_text if heard is not None else ""

    async def flocks(self) -> list[NearbyFlock]:
        """Look for flocks on this network, for some seconds the first time, and at the addresses of
        the settings where this machine has no flock; return them, some 32 at most, in the order of
        names, those that have not answered (no name) last. The own one is among them if others of it
        are heard. Listening goes on for five minutes; where it cannot be done, nothing is raised."""
        async with self._looking:
            await self._listen()
            places = self._places()
            await self._knock_at_all(places)
        own = self._own_flock()
        known = self._known_doors()
        found = [
            NearbyFlock(
                flock,
                known[flock].flock.name if flock in known else "",
                len(nodes) + (flock == own),
                askable=flock in known,
                own=flock == own,
            )
            for flock, nodes in {**{each: {} for each in known}, **places}.items()
            if flock
        ]
        return sorted(found, key=lambda each: (not each.name, each.name.casefold(), each.flock))

    async def heard_of(self, flock_id: str) -> list[Address]:
        """Return the addresses where machines of this flock were heard, one of each machine first;
        empty when none was. Listen for some seconds the first time, and five minutes on."""
        async with self._looking:
            await self._listen()
        return _addresses(self._places().get(flock_id, {}))

    async def door_of(self, flock_id: str) -> Door:
        """Return a keeper of the flock that answers now, at an address where the flock was heard;
        raise ``MembershipError`` when none does."""
        known = self._known_doors().get(flock_id)
        nodes = self._places().get(flock_id, {})
        first = [known.address] if known is not None else []
        return await self.door_at([*first, *_addresses(nodes)], flock_id)

    async def door_at(self, addresses: Sequence[Address], flock_id: str = "") -> Door:
        """Return a keeper that answers at one of these addresses, of this flock if one is given,
        and keep it in mind for a minute; raise ``MembershipError`` when none answers."""
        door = await find_door(addresses, flock_id)
        self._remember(door)
        return door

    async def close(self) -> None:
        """Stop listening for flocks, and wait until that has ended; where this machine has a flock,
        its network listens on."""
        if self._ending is not None:
            self._ending.cancel()
        self._stop_listening()
        await asyncio.gather(*self._stopping, return_exceptions=True)

    # -- inside ----------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Begin, if this is the first question in a while, and wait for first answers."""
        loop = asyncio.get_running_loop()
        if self._ending is not None:
            self._ending.cancel()
        self._ending = loop.call_later(LISTENED_S, self._stop_listening)
        if self._heard() is not None or not self._discover or self._network() is not None:
            return
        from agent.net.discovery import Discovery, DiscoveryCallbacks

        callbacks = DiscoveryCallbacks(
            lambda *_: None, lambda _: None, lambda _: None, lambda: None
        )
        discovery = self._discovery = Discovery(
            "", "", callbacks, interfaces=self._settings.listen, announced=False
        )
        await discovery.start(0)
        began_s = heard_s = loop.time()
        while loop.time() - began_s < FIRST_LOOK_S and not discovery.trouble:
            await asyncio.sleep(LOOK_EVERY_S)
            if self._discovery is not discovery:
                return  # the agent stops meanwhile
            if not discovery.sightings():
                heard_s = loop.time()
            elif loop.time() - heard_s > SETTLED_S:
                return

    def _heard(self) -> Discovery | None:
        network = self._network()
        return self._discovery if network is None else network.discovery

    def _places(self) -> dict[str, dict[str, Sequence[Address]]]:
        """Addresses by node and flock; typed ones under no flock."""
        heard, places = self._heard(), dict[str, dict[str, Sequence[Address]]]()
        for each in heard.sightings() if heard is not None else ():
            if each.flock in places or len(places) < FLOCKS_MAX:
                places.setdefault(each.flock, {})[each.node] = each.addresses
        if self._settings.addresses and self._network() is None:
            places[""] = {"": self._settings.addresses}
        return places

    async def _knock_at_all(self, places: Mapping[str, Mapping[str, Sequence[Address]]]) -> None:
        known = self._known_doors()
        unknown = [flock for flock in places if flock not in known]
        at_once = asyncio.Semaphore(KNOCKS_AT_ONCE)

        async def knock(flock: str) -> None:
            async with at_once:
                try:
                    await self.door_at(_addresses(places[flock]), flock)
                except MembershipError:
                    return

        with suppress(TimeoutError):
            async with asyncio.timeout(KNOCKING_S_MAX):
                await asyncio.gather(*map(knock, unknown))

    def _known_doors(self) -> dict[str, Door]:
        """A keeper that answered lately does not have to answer again."""
        now_s = asyncio.get_running_loop().time()
        self._doors = {
            flock: (at_s, door)
            for flock, (at_s, door) in self._doors.items()
            if now_s - at_s < DOOR_KEPT_S
        }
        return {flock: door for flock, (_, door) in self._doors.items()}

    def _remember(self, door: Door) -> None:
        if door.flock.flock_id in self._doors or len(self._doors) < FLOCKS_MAX:
            now_s = asyncio.get_running_loop().time()
            self._doors[door.flock.flock_id] = (now_s, door)

    def _own_flock(self) -> str:
        network = self._network()
        if network is None or network.expelled:
            return ""
        return network.membership.flock.flock_id

    def _stop_listening(self) -> None:
        discovery, self._discovery = self._discovery, None
        if discovery is not None:
            task = asyncio.get_running_loop().create_task(discovery.stop())
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)


def _addresses(nodes: Mapping[str, Sequence[Address]]) -> list[Address]:
    """One of each node first, because a flock has few keepers among many members."""
    waiting = [list(each) for each in nodes.values()]
    found: list[Address] = []
    while waiting := [each for each in waiting if each]:
        found += [each.pop(0) for each in waiting]
    return found
