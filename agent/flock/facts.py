"""What the doctor has to know of a flock, as plain values: no sentence about what to do.

What clients are told of machines and people is said in the words of ``agent.api`` from the start.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.protocol.records import NodeId


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
