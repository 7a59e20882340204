"""What peers say of themselves, overheard on the way to the node, for people to see.

The node decides by it and keeps it to itself; names, versions, clocks and reasons are wanted on
screens too. Only the last word of each linked peer is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.flock.facts import PeerFacts
from agent.net.links import LinkReport
from agent.protocol.messages import Capabilities, Heartbeat, Hello, Message, Status
from agent.protocol.reasons import NO_REASON, reason_in
from agent.protocol.records import NodeId


@dataclass(slots=True)
class PeerStatus:
    """What one peer says of itself."""

    name: str = ""
    wall_ahead_ms: int | None = None
    load_percent: int | None = None
    """As its beats tell; None where they do not."""
    status: Status | None = None


class PeerStatuses:
    """Of all linked peers."""

    def __init__(self) -> None:
        self._peers: dict[NodeId, PeerStatus] = {}

    def __contains__(self, peer: NodeId) -> bool:
        return peer in self._peers

    def linked(self, peer: NodeId) -> None:
        """Begin to listen to a peer that is linked now; it has to introduce itself anew."""
        self._peers[peer] = PeerStatus()

    def unlinked(self, peer: NodeId) -> None:
        """Forget what a peer that is not linked any more has said."""
        self._peers.pop(peer, None)

    def heard(self, peer: NodeId, message: Message, wall_ms: int) -> bool:
        """Take note of what a peer says of itself; tell whether that is new for people. False for a
        peer that is not linked."""
        known = self._peers.get(peer)
        if known is None:
            return False
        match message:
            case Heartbeat():
                known.wall_ahead_ms = message.wall_ms - wall_ms
                if message.load_percent not in (-1, known.load_percent):
                    known.load_percent = message.load_percent
                    return True
            case Hello():
                known.name = message.name
                return True
            case Status():
                changed = known.status is None or known.status.revision != message.revision
                known.name, known.status = message.name, message
                return changed
            case _:
                pass
        return False

    def name(self, peer: NodeId) -> str:
        """Return what the peer calls itself; empty when it has not said so."""
        known = self._peers.get(peer)
        return "" if known is None else known.name

    def facts(self, reports: Sequence[LinkReport], wall_s: float) -> list[PeerFacts]:
        """Return all that is known of the peers that are linked."""
        return [self._facts(report, wall_s) for report in reports]

    def _facts(self, report: LinkReport, wall_s: float) -> PeerFacts:
        known = self._peers.get(report.peer, PeerStatus())
        status = known.status
        ahead_ms = known.wall_ahead_ms
        on_the_way_s = (report.round_trip_s or 0.0) / 2
        return PeerFacts(
            node=report.peer,
            name=known.name or report.name,
            address=str(report.address),
            version="" if status is None else status.version,
            protocol_version=report.protocol_version,
            round_trip_s=report.round_trip_s,
            clock_skew_s=None if ahead_ms is None else ahead_ms / 1000 + on_the_way_s,
            linked_since_s=wall_s - report.age_s,
            bytes_in=report.traffic.bytes_in,
            bytes_out=report.traffic.bytes_out,
            messages_in=report.traffic.messages_in,
            messages_out=report.traffic.messages_out,
            willing=status is not None and status.willing,
            owner_present=status is not None and status.owner_present,
            reason=NO_REASON if status is None else reason_in(status.more, status.reason),
            load_percent=_load_percent(known),
            slots=0 if status is None else status.slots,
            capabilities=Capabilities() if status is None else status.capabilities,
        )


def _load_percent(known: PeerStatus) -> int:
    if known.load_percent is not None:
        return known.load_percent
    return 0 if known.status is None else known.status.load_percent
