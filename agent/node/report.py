"""Everything that explains a live node, gathered as it is at one moment.

Raw facts: what they mean for a person, and what to do, is worded elsewhere.
"""

from __future__ import annotations

import os
import time
from functools import cached_property

from agent import __version__
from agent.flock.facts import (
    CopiedFacts,
    DiscoveryFacts,
    FlockFacts,
    PeerFacts,
    RefusalFacts,
    SightingFacts,
)
from agent.flock.network import FlockNetwork
from agent.flock.operations import FlockOperations
from agent.flock.own_node import OwnNode
from agent.node.facts import Facts
from agent.node.running import RunningNode
from agent.presence.watching import PresenceWatcher
from agent.protocol.reasons import Reason
from agent.protocol.records import NodeId
from agent.protocol.table import Table


class Snapshot:
    """A node at one moment. Its facts take a look at the disk: they are gathered when asked for."""

    def __init__(
        self,
        own: OwnNode,
        flock: FlockOperations,
        live: RunningNode,
        presence: PresenceWatcher,
        started_s: float,
    ) -> None:
        self._own, self._flock, self._live = own, flock, live
        self._presence, self._started_s = presence, started_s

    @property
    def node(self) -> NodeId:
        """Return the id of this node."""
        return self._live.node_id

    @property
    def name(self) -> str:
        """Return what people call this node."""
        return self._own.name

    @property
    def table(self) -> Table:
        """The table, to be read only, and only in the loop.

        It is ahead of the notices: a change is told when it is on disk.
        """
        return self._live.node.table

    @property
    def flock(self) -> FlockFacts | None:
        """Return the flock that it belongs to; None when it runs alone."""
        return self._flock.flock()

    @cached_property
    def facts(self) -> Facts:
        """Return everything that explains what is seen and what is not."""
        return _facts_of(self._own, self._flock, self._live, self._presence, self._started_s)

    def name_of(self, node: NodeId) -> str:
        """Return what people call a node."""
        return self._own.name_of(node)


def _facts_of(
    own: OwnNode,
    flock: FlockOperations,
    live: RunningNode,
    presence: PresenceWatcher,
    started_s: float,
) -> Facts:
    network, settings = own.network, own.settings
    return Facts(
        node=own.node_id,
        name=own.name,
        version=__version__,
        process_id=os.getpid(),
        started_s=started_s,
        port=0 if network is None else network.links.port,
        listen=settings.listen,
        flock=flock.flock(),
        members=tuple(flock.members()),
        departures=tuple(flock.departures()),
        peers=tuple(_peers_of(network)),
        refusals=_refusals(own),
        static_addresses=tuple(str(each) for each in settings.addresses),
        discovery=_discovery(network),
        foreign_flocks=() if network is None else tuple(network.foreign),
        keeping_up_error="" if network is None else network.keeping_up_error,
        journal_notices=live.notices,
        disk_usable=live.driver.disk_usable,
        volunteering=live.presence.volunteering and not live.presence.owner_present,
        presence_reason=_reason(live, presence),
        programs=live.children.names(),
        data_folder=str(own.home.data),
        log_folder=str(own.home.log),
        owner_present=live.presence.owner_present,
        slots=settings.slots,
        capabilities=live.capabilities,
        master=live.node.master,
        load_percent=live.presence.load_percent,
        copied=_copied(own),
    )


def _peers_of(network: FlockNetwork | None) -> list[PeerFacts]:
    return [] if network is None else network.peers.facts(network.links.report(), time.time())


def _reason(live: RunningNode, presence: PresenceWatcher) -> Reason:
    """In full for whoever sits here, unless there is another reason than presence."""
    told = live.presence
    return presence.state().reason if told == presence.current() else told.reason


def _refusals(own: OwnNode) -> tuple[RefusalFacts, ...]:
    if own.network is None:
        return ()
    return tuple(
        RefusalFacts(
            node=each.peer,
            name=own.name_of(each.peer) if each.peer else "",
            address=each.address,
            cause=each.cause.value,
            text=each.text,
            at_s=each.at_s,
        )
        for each in own.network.links.refusals()
    )


def _copied(own: OwnNode) -> tuple[CopiedFacts, ...]:
    if own.network is None:
        return ()
    return tuple(
        CopiedFacts(each.node, own.name_of(each.node), each.hosts)
        for each in own.network.links.copies()
    )


def _discovery(network: FlockNetwork | None) -> DiscoveryFacts | None:
    if network is None or network.discovery is None:
        return None
    return DiscoveryFacts(
        trouble=network.discovery.trouble,
        sightings=tuple(
            SightingFacts(
                each.node,
                each.flock,
                each.protocol_version,
                tuple(str(address) for address in each.addresses),
            )
            for each in network.discovery.sightings()
        ),
    )
