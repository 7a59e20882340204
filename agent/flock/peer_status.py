"""What peers say of themselves, overheard on the way to the node, for people to see.

The node decides by it and keeps it to itself; names, versions, clocks and reasons are wanted on
screens too. Only the last word of each linked peer is kept.

That something about a peer is new is told to people so often and no more. What a peer says of itself changes a few times a minute. One that says something else with every
word must not fill the memory of what happened, which clients that were away rely on: of its
changes within ``CHANGES_EVERY_S`` only the first and the last are told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import structs

from agent.api.flock import PeerView
from agent.api.reasons import as_why
from agent.api.values import capabilities_of
from agent.api.volunteering import own_work
from agent.net.links import LinkReport
from agent.protocol.messages import Heartbeat, Hello, Message, Status
from agent.protocol.policy import DEFAULT_RULE
from agent.protocol.policy.lasting import half_s
from agent.protocol.reasons import (
    LikelyFreeForLong,
    LikelyFreeUntil,
    NobodyUsesIt,
    Reason,
    reason_in,
)
from agent.protocol.records import NodeId
from agent.wording.speech import english

CHANGES_EVERY_S = 1.0
QUARTER_MS = 900_000
"""People are told to the quarter of an hour: nobody knows it better."""


@dataclass(slots=True)
class PeerStatus:
    """What one peer says of itself."""

    name: str = ""
    wall_ahead_ms: int | None = None
    load_percent: int | None = None
    """As its beats tell; None where they do not."""
    status: Status | None = None
    status_ms: int = 0
    """When that was told, by the clock here."""


class PeerStatuses:
    """What all linked peers say of themselves."""

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
        """Take note of what a peer says of itself in this message, and of how far its clock is
        ahead of ``wall_ms``; tell whether people should hear of it. False for a peer that is not
        linked and for messages that say nothing of it."""
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
                known.status_ms = wall_ms
                return changed
            case _:
                pass
        return False

    def name(self, peer: NodeId) -> str:
        """Return what the peer calls itself; empty when it has not said so."""
        known = self._peers.get(peer)
        return "" if known is None else known.name

    def version(self, peer: NodeId) -> str:
        """Return the version that the peer runs; empty when it has not said so."""
        known = self._peers.get(peer)
        return "" if known is None or known.status is None else known.status.version

    def views(self, reports: Sequence[LinkReport], wall_s: float) -> list[PeerView]:
        """Return a view of the peer of each of these links, with defaults for what it has not said
        yet and without what it runs; ``wall_s`` is the present time."""
        return [self._view(report, wall_s) for report in reports]

    def _view(self, report: LinkReport, wall_s: float) -> PeerView:
        known = self._peers.get(report.peer, PeerStatus())
        status, ahead_ms, trip_s = known.status, known.wall_ahead_ms, report.round_trip_s
        on_the_way_ms = (trip_s or 0.0) * 500
        linked = PeerView(
            report.peer,
            known.name or report.name,
            "linked",
            str(report.address),
            round_trip_ms=None if trip_s is None else trip_s * 1000,
            clock_ahead_ms=None if ahead_ms is None else round(ahead_ms + on_the_way_ms),
            load_percent=_load_percent(known),
            linked_since_ms=max(0, round((wall_s - report.age_s) * 1000)),
            bytes_in=report.traffic.bytes_in,
            bytes_out=report.traffic.bytes_out,
        )
        return linked if status is None else _with_status(linked, status, known.status_ms)


def _with_status(peer: PeerView, status: Status, told_ms: int) -> PeerView:
    why = _presence(status, told_ms)
    return structs.replace(
        peer,
        version=status.version,
        volunteering=status.helps,
        own_work=own_work(willing=status.willing, paused=status.paused),
        owner_present=status.owner_present,
        reason=english(why) or status.reason,
        slots=status.slots,
        capabilities=capabilities_of(status.capabilities),
        why=as_why(why),
        people=status.people,
        bans=status.bans,
        rules=status.policy or DEFAULT_RULE,
    )


def _presence(status: Status, told_ms: int) -> Reason:
    """Why it helps or not; of one that nobody uses also until when that is likely so."""
    why = reason_in(status.more, status.reason)
    if not isinstance(why, NobodyUsesIt) or not status.lasts:
        return why
    half = half_s(status.lasts)
    if half is None:
        return LikelyFreeForLong()
    quarters = round((told_ms + half * 1000) / QUARTER_MS)
    return LikelyFreeUntil(quarters * QUARTER_MS)


def _load_percent(known: PeerStatus) -> int:
    if known.load_percent is not None:
        return known.load_percent
    return 0 if known.status is None else known.status.load_percent


class PeerNotices:
    """Tells people of news of peers, for one network, until ``close``."""

    def __init__(self, notify: Callable[[NodeId], None]) -> None:
        self._notify = notify
        self._quiet: dict[NodeId, asyncio.TimerHandle] = {}
        self._owed: dict[NodeId, None] = {}

    def changed(self, peer: NodeId) -> None:
        """Tell people that something about this peer is new: at once, or, when they were told
        within the last second, once more at its end."""
        if peer in self._quiet:
            self._owed[peer] = None
            return
        loop = asyncio.get_running_loop()
        self._quiet[peer] = loop.call_later(CHANGES_EVERY_S, self._over, peer)
        self._notify(peer)

    def forget(self, peer: NodeId) -> None:
        """Drop what was still to be told of a peer whose link is gone; that it is gone is told at
        once."""
        self._owed.pop(peer, None)

    def close(self) -> None:
        """Cancel all notices that are still to be told, whatever peer they are of."""
        for timer in self._quiet.values():
            timer.cancel()
        self._quiet.clear()
        self._owed.clear()

    def _over(self, peer: NodeId) -> None:
        del self._quiet[peer]
        if self._owed.pop(peer, peer) is None:
            self.changed(peer)
