"""What can be told of a flock and its machines, as plain values: no sentence about what to do."""

from __future__ import annotations

from dataclasses import dataclass

from agent.protocol.messages import Capabilities
from agent.protocol.reasons import Reason
from agent.protocol.records import NodeId

UNKNOWN = Capabilities()
"""Of a machine that has not said what it has."""


@dataclass(frozen=True, slots=True)
class PeerFacts:
    """A linked peer as this node sees it."""

    node: NodeId
    name: str
    address: str
    version: str
    """Of the program there; empty until it has said so."""
    protocol_version: int
    round_trip_s: float | None
    clock_skew_s: float | None
    """How far its clock is ahead of this one's, negative when behind; None before a word."""
    linked_since_s: float
    """Seconds since 1970."""
    bytes_in: int
    bytes_out: int
    messages_in: int
    messages_out: int
    willing: bool
    owner_present: bool
    reason: Reason
    """Why it works for others, or does not."""
    load_percent: int
    slots: int
    capabilities: Capabilities = UNKNOWN


@dataclass(frozen=True, slots=True)
class FlockFacts:
    """The flock that this node belongs to."""

    flock_id: str
    name: str
    keeper: bool
    member_valid_until_s: float
    renewal_due_s: float
    expelled: bool
    """This node was expelled, or left elsewhere: it is cut off and runs nothing for others."""
    member_valid_from_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RefusalFacts:
    """The last time that there came to be no link with somebody."""

    node: NodeId
    """Empty where nobody said who it is."""
    name: str
    address: str
    cause: str
    """A value of ``agent.net.link_refusals.Cause``."""
    text: str
    at_s: float


@dataclass(frozen=True, slots=True)
class CopiedFacts:
    """An identity that is at work on two machines; it may be the one of this node."""

    node: NodeId
    name: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SightingFacts:
    """A node that tells of itself on this network, of whatever flock."""

    node: NodeId
    flock_id: str
    protocol_version: int
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiscoveryFacts:
    """What multicast tells: the nodes it saw, and why it cannot be used."""

    trouble: str
    """Why it cannot be used, in a sentence; empty when it can."""
    sightings: tuple[SightingFacts, ...]
