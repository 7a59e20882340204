"""What explains why a machine is not seen, or this one does not work: raw facts, for ``diagnosis``."""

from __future__ import annotations

from dataclasses import dataclass

from agent.api.flock import MemberView, PeerView
from agent.flock.facts import CopiedFacts, DiscoveryFacts, FlockFacts, RefusalFacts
from agent.protocol.records import NodeId


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that explains why a peer is not seen, or this node does not work."""

    node: NodeId
    name: str
    port: int
    """0 without a flock: nothing listens then."""
    listen: tuple[str, ...]
    flock: FlockFacts | None
    members: tuple[MemberView, ...]
    peers: tuple[PeerView, ...]
    """Those that are linked."""
    refusals: tuple[RefusalFacts, ...]
    static_addresses: tuple[str, ...]
    discovery: DiscoveryFacts | None
    """None while multicast is not used: without a flock, or because it is turned off."""
    foreign_flocks: tuple[str, ...]
    """Ids of other flocks that were seen on this network."""
    keeping_up_error: str
    """Why the last renewal or hand-over of the authority's key failed; empty when none did."""
    journal_notices: tuple[str, ...]
    disk_usable: bool
    data_folder: str
    copied: tuple[CopiedFacts, ...] = ()
