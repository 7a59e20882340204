"""Who is up, for this node.

A link lives only when both directions do: every heartbeat echoes the last word heard, and
silence is counted from the older of what was heard and what was echoed. Who has many peers says
less to each, and so does everybody while nothing goes on in the flock (calm): every heartbeat
tells when the next is due. Silence closes a link as soon in a calm flock as in a busy one; that a
peer is late with a word shows later by as much as its words are rarer. Then, by duration:

* *suspected* when 2 s late with a word that was due: not asked, not waited for, not down;
* the link is closed after 5 s of silence, or when it was reset;
* *down for me*: no link of mine, and no peer that I reach reports a live link to it. One broken
  cable between two healthy machines therefore downs nobody. Statuses carry neighbours with
  their incarnations, and are sent at once when a link is lost, so a killed agent is down for
  everybody after one exchange. Peers also report, with their beat, what *their* peers are linked
  to: in a network that is healing link by link, two nodes three links apart would otherwise take
  a task from each other over and over. For the same reason fresh news of a run that reached this
  node by another counts as a sign of life for as long as silence on a link would.

An older incarnation of a host is dead when a newer one was seen (``incarnations``). A starting node treats
known members as suspected, not down, until they are linked or the start's wait is over. All of
this is a condition that is evaluated when needed, never an event that could be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

import msgspec

from agent.protocol.core import Core, Part, Peer
from agent.protocol.effects import Unlink
from agent.protocol.events import (
    CapabilitiesChanged,
    Dropped,
    MembersChanged,
    PeerLinked,
    PeerUnlinked,
    PresenceChanged,
)
from agent.protocol.evidence import FETCH_RATE, with_number
from agent.protocol.flock_policy import carried_choice
from agent.protocol.incarnations import Incarnations
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import (
    PROTOCOL_VERSION,
    AskStatus,
    Goodbye,
    Heartbeat,
    Hello,
    Holdings,
    Status,
)
from agent.protocol.reasons import carried
from agent.protocol.records import NodeId, Stamp, short_text
from agent.protocol.sharing_reasons import for_colleagues

PEERS_PER_TICK_MAX = 15
TICKS_PER_BEAT_MAX = 2
"""With more peers a node beats at every second tick only: half the words for the same flock."""
TICKS_PER_CALM_BEAT = 3
"""Three words within the silence that closes a link: one that is held up costs nothing."""
CALM_AFTER_S = 5.0
"""Nothing was claimed, run, missed or mended for so long, and nobody came or went."""
LATE_BEATS = 1.2
"""Silence begins when a word was due: a peer that stalls for less than the time to suspicion is
then never suspected, whenever in its beat the stall began."""


class Liveness(Part):
    """Links, heartbeats and statuses; answers whether an incarnation of a host is up."""

    def __init__(
        self,
        core: Core,
        parts: Callable[[], list[Part]],
        flock_at_work: Callable[[], bool],
        incarnations: Incarnations,
    ) -> None:
        super().__init__(core)
        self._parts, self._flock_at_work = parts, flock_at_work
        self._incarnations = incarnations
        self._status_revision = 0
        self._status: Status | None = None
        self.started_s = 0.0
        self.lost_s: dict[NodeId, float] = {}
        self._heard_of_s: dict[NodeId, float] = {}
        self._reached: dict[NodeId, int] = {}
        self._changed_s = 0.0
        self._looked_s = 0.0
        self._beaten = (0, 0)
        self._stirred_s = 0.0
        self.calm = False
        """Nothing goes on in the flock, and has not for a while."""
        self.restful = False
        """Nobody is late with a beat: there is nothing to watch in between."""
        self.master: NodeId = ""
        self.elected: Stamp = (0, 0)

    def handlers(self) -> dict[type, Callable[..., None]]:
        """Return, by the type of a message or event, the method that handles it; what is not named
        here, this part does not handle."""
        return {
            PeerLinked: self._linked,
            PeerUnlinked: self._unlinked,
            Dropped: self._dropped,
            PresenceChanged: self._presence_changed,
            CapabilitiesChanged: self._capabilities_changed,
            MembersChanged: self._members_changed,
            Hello: self._hello,
            Heartbeat: self._heartbeat,
            Status: self._status_told,
            AskStatus: self._status_asked,
            Goodbye: self._goodbye,
        }

    # -- questions -----------------------------------------------------------------------

    def alive(self, host: NodeId, incarnation: int) -> bool:
        """Tell whether this incarnation of a host may still be running what it says it runs: it is
        not down for this node, nor replaced by a later one; of this node itself, whether it is the
        present one."""
        core = self.core
        if host == core.me:
            return incarnation == core.incarnation
        if self._incarnations.newest(host) > incarnation:
            return False
        return self.up(host)

    def up(self, host: NodeId) -> bool:
        """Tell whether the host, in whatever incarnation, is not down for this node: it is this
        node itself or linked, or peers or fresh news tell of it. Until this node has joined, only a
        host that it lost is down. False for one that is no member."""
        core = self.core
        if host == core.me:
            return True
        if core.members and host not in core.members:
            return False
        peer = core.peers.get(host)
        if peer is not None and peer.greeted:
            return True
        if not core.joined and host not in self.lost_s:
            return True
        return host in self._heard_of_s or self._reported(host)

    def _reported(self, host: NodeId) -> bool:
        newest = self._incarnations.newest(host)
        for status in self._statuses():
            incarnation = status.neighbours.get(host, status.reached.get(host))
            if incarnation is not None and incarnation >= newest:
                return True
        return False

    def _statuses(self) -> Iterator[Status]:
        for peer in self.core.peers.values():
            if peer.status is not None and not peer.suspected:
                yield peer.status

    def heard_of(self, host: NodeId) -> None:
        """Note that fresh news of a run of this host came by another node, so that it counts as up
        for ``down_after_s``; of a linked host nothing is noted."""
        if host not in self.core.peers:
            self._heard_of_s[host] = self.core.now_s

    def down_for_s(self, host: NodeId) -> float:
        """Return for how many seconds the host has been down for this node, counted from its lost
        link, else from this node's start; 0 when it is up."""
        if self.up(host):
            return 0.0
        return self.core.now_s - self.lost_s.get(host, self.started_s)

    def gone_s(self, host: NodeId, incarnation: int) -> float | None:
        """Return for how many seconds this incarnation of a host is gone, as far as this node saw
        it go; None while it may still be running what it says it runs, and infinity where nobody
        here knows."""
        if self.alive(host, incarnation):
            return None
        lost_s = self.lost_s.get(host)
        return inf if lost_s is None or self.up(host) else self.core.now_s - lost_s

    def forget_losses(self) -> None:
        """Suspect members again instead of counting them as down, as this node starts over."""
        self.lost_s.clear()
        self._changed()

    def _changed(self) -> None:
        """Who is up may read differently from now on."""
        self.core.liveness_changed = True
        self._changed_s = self.core.now_s

    def stir(self) -> None:
        """Note that something goes on: after calm, beats and looks are close together again from
        the next tick on."""
        self._stirred_s = self.core.now_s
        if self.calm:
            self.calm = False
            self.core.arm_tick()

    # -- links ---------------------------------------------------------------------------

    def _linked(self, event: PeerLinked) -> None:
        core = self.core
        if core.members and event.peer not in core.members:
            core.count("link of a stranger")
            core.emit(Unlink(event.peer, NoLink("NotMember")))
            return
        if event.peer in core.peers:
            self._lose(core.peers[event.peer])
        now_s = core.now_s
        core.peers[event.peer] = Peer(event.peer, now_s, now_s, core.settings.heartbeat_s)
        seen = core.incarnations.get(event.peer, 0)
        hello = Hello(PROTOCOL_VERSION, core.name, core.incarnation, seen, core.joined)
        core.send(event.peer, hello)

    def _unlinked(self, event: PeerUnlinked) -> None:
        peer = self.core.peers.get(event.peer)
        if peer is not None:
            self._lose(peer)

    def _goodbye(self, peer: Peer, message: Goodbye) -> None:
        self._lose(peer)
        self.core.emit(Unlink(peer.node, NoLink("SaidGoodbye", error=message.reason)))

    def _lose(self, peer: Peer) -> None:
        del self.core.peers[peer.node]
        self.lost_s[peer.node] = self.core.now_s
        self._changed()
        self.stir()
        if peer.greeted:
            for part in self._parts():
                part.on_gone(peer)
        self.tell_status()

    def _dropped(self, event: Dropped) -> None:
        """Whatever it was is told again: the status now, records and holdings by comparison."""
        peer = self.core.peers.get(event.peer)
        if peer is not None and peer.greeted:
            peer.stale = True
            if self._status is not None:
                self.core.send(peer.node, self._status)

    def _hello(self, peer: Peer, message: Hello) -> None:
        core = self.core
        peer.name, peer.has_table = message.name, message.has_table
        renamed = peer.greeted and peer.incarnation != message.incarnation
        peer.incarnation = message.incarnation
        if self._incarnations.told_by(peer.node, message.incarnation):
            self._changed()
        if renamed:
            self.tell_status()
        self._incarnations.seen_of_me(message.seen)
        self._follow_seen()
        if peer.greeted:
            return
        peer.greeted = True
        self.lost_s.pop(peer.node, None)
        self._changed()
        self.stir()
        self.tell_status()
        if self._status is not None:
            core.send(peer.node, self._status)
        core.send(peer.node, Holdings(tuple(core.holdings), complete=True))
        for part in self._parts():
            part.on_greeted(peer)

    def _follow_seen(self) -> None:
        incarnation = self._incarnations.to_take()
        if incarnation:
            self.raise_incarnation(incarnation)

    def raise_incarnation(self, incarnation: int) -> None:
        """Take this incarnation, which must be higher than the present one, as an earlier start of this
        host had one: its disk was lost or its clock set back. Everybody is told anew who this is. What
        ran under the old name is not believed alive any more by anybody, so ``runs`` ends it."""
        core = self.core
        core.incarnation = incarnation
        core.save_identity()
        core.count("incarnation raised")
        for peer in core.peers.values():
            seen = core.incarnations.get(peer.node, 0)
            core.send(
                peer.node,
                Hello(PROTOCOL_VERSION, core.name, incarnation, seen, core.joined),
            )
        self.tell_status()

    # -- heartbeats ----------------------------------------------------------------------

    def on_tick(self) -> None:
        """Judge each peer by its silence (suspect it, close its link, or trust it again), look for
        calm, send the heartbeats that are due, and take a later incarnation where peers know one."""
        core = self.core
        self._follow_seen()
        own_beat_s = self._beat_s
        self.restful = True
        for peer in list(core.peers.values()):
            # An echo is up to a beat of each side old even on a healthy link.
            echoed_s = peer.echoed_s + own_beat_s + peer.beat_s
            self._watch(peer, core.now_s - min(echoed_s, peer.heard_s))
        self._watch_from_afar()
        self._look_for_calm()
        if self._beat_is_due():
            next_ms = int(self._beat_s * 1000)
            for peer in core.peers.values():
                if peer.greeted:
                    self._beat(peer, next_ms)

    def _look_for_calm(self) -> None:
        """A table that differs from a peer's is something that goes on, and a silent peer is; one
        that is merely late is looked at more often, and hears no more for it."""
        core = self.core
        watched = any(p.suspected or p.differs_since_s is not None for p in core.peers.values())
        if watched or self._flock_at_work():
            self.stir()
        self.calm = core.now_s - self._stirred_s >= CALM_AFTER_S

    @property
    def ticks_per_beat(self) -> int:
        """Return how many ticks apart the heartbeats are: more with many peers, so that a larger
        flock costs no more words, and most in calm."""
        if self.calm:
            return TICKS_PER_CALM_BEAT
        ticks = -(-len(self.core.peers) // PEERS_PER_TICK_MAX)
        return min(max(ticks, 1), TICKS_PER_BEAT_MAX)

    @property
    def _beat_s(self) -> float:
        return self.ticks_per_beat * self.core.settings.heartbeat_s

    def _beat_is_due(self) -> bool:
        """On multiples of the beat by the wall clock, as ticks are of theirs (``arm_tick``).

        Also when beats become rarer, for peers have been told to expect one sooner.
        """
        tick_ms = int(self.core.settings.heartbeat_s * 1000)
        beat_ms = tick_ms * self.ticks_per_beat
        beat = beat_ms, (self.core.wall_ms + tick_ms // 4) // beat_ms
        due = beat != self._beaten
        self._beaten = beat
        return due

    def _watch_from_afar(self) -> None:
        """What is known of hosts without a link of ours."""
        core = self.core
        oldest_s = core.now_s - core.settings.down_after_s
        for host in [host for host, at_s in self._heard_of_s.items() if at_s <= oldest_s]:
            del self._heard_of_s[host]
            self._changed()
        settled_s = core.now_s - core.settings.suspect_after_s
        if self._changed_s < self._looked_s - core.settings.suspect_after_s:
            return  # nothing has moved since everything had settled
        self._looked_s = core.now_s
        reached: dict[NodeId, int] = {}
        for status in self._statuses():
            for host, incarnation in status.neighbours.items():
                if host == core.me or host in core.peers:
                    continue
                if self.lost_s.get(host, -1e9) <= settled_s:  # else they are losing it as well
                    reached[host] = max(incarnation, reached.get(host, 0))
        if reached != self._reached:
            self._reached = reached
            self.tell_status()

    def _watch(self, peer: Peer, silence_s: float) -> None:
        settings = self.core.settings
        if silence_s > peer.beat_s + settings.heartbeat_s / 2:
            self.restful = False
        suspect_s = settings.suspect_after_s + LATE_BEATS * peer.beat_s
        if silence_s >= settings.down_after_s:
            self.core.emit(Unlink(peer.node, NoLink("Silent", length_ms=round(silence_s * 1000))))
            self._lose(peer)
        elif silence_s >= suspect_s and not peer.suspected:
            peer.suspected = True
            self._changed()
            for part in self._parts():
                part.on_suspected(peer)
        elif peer.suspected and silence_s < suspect_s:
            self._trust(peer)

    def forgive(self) -> None:
        """Forget the silence of all peers, as this node slept and the silence was its own; those
        that are suspected are trusted again at the next tick."""
        now_s = self.core.now_s
        for peer in self.core.peers.values():
            peer.heard_s = peer.echoed_s = now_s

    def _trust(self, peer: Peer) -> None:
        peer.suspected = False
        self._changed()
        for part in self._parts():
            part.on_trusted(peer)

    def _beat(self, peer: Peer, next_ms: int) -> None:
        core = self.core
        peer.number += 1
        peer.sent.append((peer.number, core.now_s))
        beat = Heartbeat(
            peer.number,
            peer.number_heard,
            core.wall_ms,
            core.table.hash,
            self._status_revision,
            self.master,
            self.elected,
            next_ms,
            core.presence.load_percent,
        )
        core.send(peer.node, beat)

    def _heartbeat(self, peer: Peer, message: Heartbeat) -> None:
        core, settings = self.core, self.core.settings
        peer.number_heard = message.number
        while peer.sent and peer.sent[0][0] <= message.heard:
            peer.echoed_s = peer.sent.popleft()[1]
        peer.wall_ahead_ms = message.wall_ms - core.wall_ms
        peer.beat_s = min(max(message.next_ms / 1000, settings.heartbeat_s), settings.beat_s_max)
        status = peer.status
        if peer.greeted and (status is None or status.revision < message.status_revision):
            core.send(peer.node, AskStatus())

    # -- statuses ------------------------------------------------------------------------

    def tell_status(self) -> None:
        """Tell all greeted peers how this node is, under a new revision, and plan anew, if that
        changed; a change of its load alone is not told here, but with the heartbeats."""
        core = self.core
        presence, reason = core.presence, for_colleagues(core.presence.reason)
        status = Status(
            self._status_revision,
            core.incarnation,
            core.name,
            core.version,
            core.slots,
            core.willing and core.able and core.joined,
            False,
            short_text(core.settings.words(reason)),
            presence.load_percent,
            core.reputation,
            core.capabilities,
            {peer.node: peer.incarnation for peer in core.peers.values() if peer.greeted},
            self._reached,
            core.rule.name,
            {
                **carried(reason),
                **with_number(FETCH_RATE, core.fetch_rate),
                **carried_choice(core.chosen),
            },
            own_only=presence.own_only,
            paused=presence.paused,
            people=presence.people,
            lasts=presence.lasts,
            bans=presence.bans,
        )
        if self._status is not None and status == msgspec.structs.replace(
            self._status, load_percent=status.load_percent
        ):
            return
        self._status_revision += 1
        self._status = msgspec.structs.replace(status, revision=self._status_revision)
        core.broadcast(self._status)
        core.wake = True

    def _status_asked(self, peer: Peer, message: AskStatus) -> None:
        if self._status is not None:
            self.core.send(peer.node, self._status)

    def _status_told(self, peer: Peer, message: Status) -> None:
        if peer.status is not None and message.revision <= peer.status.revision:
            return
        peer.status = message
        self._incarnations.told(message)
        self._changed()
        self.core.wake = True

    def _presence_changed(self, event: PresenceChanged) -> None:
        if event.owner_present and not self.core.presence.owner_present:
            self.core.owner_since_s = self.core.now_s
        self.core.presence = event
        self.core.wake = True
        self.tell_status()

    def _capabilities_changed(self, event: CapabilitiesChanged) -> None:
        self.core.capabilities = event.capabilities
        self.tell_status()

    def _members_changed(self, event: MembersChanged) -> None:
        core = self.core
        core.members = dict.fromkeys(event.members)
        core.follow_trust(event.trust or core.checking.trust)
        self._changed()
        for peer in list(core.peers.values()):
            if peer.node not in core.members:
                core.emit(Unlink(peer.node, NoLink("NotMember")))
                self._lose(peer)
