"""What can be told of a flock and its machines, as plain values: no sentence about what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.protocol.messages import Capabilities
from agent.protocol.records import NodeId

AskState = Literal["none", "waiting", "admitted", "joining", "joined", "refused", "ended"]
"""Of this machine's request to join a flock, as clients know it too."""

UNKNOWN = Capabilities()
"""Of a machine that has not said what it has."""


@dataclass(frozen=True, slots=True)
class PeersChanged:
    """Notice: a machine was linked or unlinked, or says something else of itself now; this one too."""

    peer: NodeId
    linked: bool


@dataclass(frozen=True, slots=True)
class MembersMoved:
    """Notice: who belongs to the flock has changed, or whether there is a flock."""


@dataclass(frozen=True, slots=True)
class JoinRequested:
    """Notice: a machine asks to be let in, at the keeper of this name."""

    request: str
    name: str
    user: str
    code: str
    keeper: str


@dataclass(frozen=True, slots=True)
class JoinRequestEnded:
    """Notice: it does not ask any more."""

    request: str
    name: str
    outcome: Literal["joined", "refused", "ended"]


@dataclass(frozen=True, slots=True)
class AskMoved:
    """Notice: the request of this machine to a flock is in another state."""

    state: AskState
    flock: str


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
    reason: str
    """Why it works for others, or does not."""
    load_percent: int
    slots: int
    capabilities: Capabilities = UNKNOWN


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """A member of the flock, linked or not."""

    node: NodeId
    name: str
    keeper: bool
    linked: bool
    is_this_node: bool
    valid_until_s: float


@dataclass(frozen=True, slots=True)
class DepartureFacts:
    """A node that belonged once."""

    node: NodeId
    name: str
    at_s: float
    expelled: bool


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
class InvitationFacts:
    """An invitation to hand on."""

    text: str
    file: bytes
    expires_s: float
    uses: int
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JoinRequestFacts:
    """A machine that asks to be let in. Name and user are its own word."""

    request: str
    name: str
    user: str
    address: str
    code: str
    keeper: NodeId
    """The one that was asked."""
    keeper_name: str
    asked_s: float
    expires_s: float
    admitted: bool


@dataclass(frozen=True, slots=True)
class NearbyFacts:
    """A flock that tells of itself on this network. ``name`` is empty before a keeper answered."""

    flock_id: str
    name: str
    machines: int
    askable: bool
    own: bool


@dataclass(frozen=True, slots=True)
class AskFacts:
    """The request of this machine to a flock. ``confirmed``: a person has compared the code."""

    state: AskState = "none"
    flock: str = ""
    keeper: str = ""
    code: str = ""
    expires_s: float = 0.0
    confirmed: bool = False
    reason: str = ""


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
    """What multicast tells."""

    trouble: str
    """Why it cannot be used, in a sentence; empty when it can."""
    sightings: tuple[SightingFacts, ...]
