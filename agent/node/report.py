"""Everything that explains a live node, gathered as it is at one moment.

Raw facts: what they mean for a person, and what to do, is worded elsewhere.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent import __version__
from agent.flock.network import FlockNetwork
from agent.node.facts import (
    CopiedFacts,
    DepartureFacts,
    DiscoveryFacts,
    Facts,
    RefusalFacts,
    SightingFacts,
)

if TYPE_CHECKING:
    from agent.node.agent import Service


def facts_of(service: Service) -> Facts:
    """The facts of a service."""
    network, live = service.network, service.live
    return Facts(
        node=service.node_id,
        name=service.name,
        version=__version__,
        process_id=os.getpid(),
        started_s=service.started_s,
        port=service.port,
        listen=service.settings.listen,
        flock=service.flock,
        members=tuple(service.members()),
        departures=_departures(network),
        peers=tuple(service.peers()),
        refusals=_refusals(service),
        static_addresses=tuple(str(each) for each in service.settings.addresses),
        discovery=_discovery(network),
        foreign_flocks=() if network is None else tuple(network.foreign),
        keeping_up_error="" if network is None else network.keeping_up_error,
        journal_notices=live.notices,
        disk_usable=live.driver.disk_usable,
        volunteering=live.presence.volunteering and not live.presence.owner_present,
        presence_reason=_reason(service),
        programs=live.children.names(),
        data_folder=str(service.home.data),
        log_folder=str(service.home.log),
        owner_present=live.presence.owner_present,
        slots=service.settings.slots,
        capabilities=live.capabilities,
        master=live.node.master,
        load_percent=live.presence.load_percent,
        copied=_copied(service),
    )


def _reason(service: Service) -> str:
    """In full for whoever sits here, unless there is another reason than presence."""
    told, presence = service.live.presence, service.presence
    return presence.state().reason if told == presence.current() else told.reason


def _departures(network: FlockNetwork | None) -> tuple[DepartureFacts, ...]:
    if network is None:
        return ()
    return tuple(
        DepartureFacts(each.node_id, each.host_name, each.time_s, each.expelled)
        for each in network.membership.roster.departures()
    )


def _refusals(service: Service) -> tuple[RefusalFacts, ...]:
    if service.network is None:
        return ()
    return tuple(
        RefusalFacts(
            node=each.peer,
            name=service.name_of(each.peer) if each.peer else "",
            address=each.address,
            cause=each.cause.value,
            text=each.text,
            at_s=each.at_s,
        )
        for each in service.network.links.refusals()
    )


def _copied(service: Service) -> tuple[CopiedFacts, ...]:
    if service.network is None:
        return ()
    return tuple(
        CopiedFacts(each.node, service.name_of(each.node), each.hosts)
        for each in service.network.links.copies()
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
