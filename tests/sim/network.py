"""The simulated LAN: links between machines, and everything that goes wrong with them.

What a node may rely on is little: words of one direction of a link arrive in order or not at all,
and a link that was reset is gone. So that little is all that is modelled faithfully. The two sides
see a link come up at different times, a cut holds words back without telling anybody, a side that
closes a link cannot tell a side it cannot reach, and a message may be refused on a living link.

A delivery in the heap is only a ticket for the next word of its channel. Thus order holds whatever
is cut, held and healed, and the tickets of a closed channel are void by themselves.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.protocol.events import Dropped, Event, PeerLinked, PeerUnlinked
from tests.sim.world import World

if TYPE_CHECKING:
    from tests.sim.machine import Machine

QUEUE_MAX = 5_000
REDIAL_S = (0.05, 2.0)
HEAL_S = (0.005, 0.4)


@dataclass(slots=True)
class NetworkPlan:
    """What is drawn for the whole network: base delay, its jitter, and what a link-up takes."""

    delay_s: tuple[float, float] = (0.0002, 0.001)
    jitter_s: float = 0.0003
    seen_s: tuple[float, float] = (0.001, 0.02)
    redial_s: tuple[float, float] = REDIAL_S


@dataclass(slots=True, eq=False)
class Channel:
    """One direction of one link."""

    source: Machine
    target: Machine
    delay: float
    loss: float = 0.0
    dead: bool = False
    holds: int = 0
    owed: int = 0
    last_at: float = 0.0
    queue: deque[Event] = field(default_factory=deque)


class Link:
    """One connection: two channels, and for each side whether it has seen it and closed it."""

    __slots__ = ("boots", "channels", "closed", "fin_waits", "seen", "sides")

    def __init__(self, sides: tuple[Machine, Machine], channels: tuple[Channel, Channel]) -> None:
        self.sides = sides
        self.channels = channels
        self.boots = (sides[0].boots, sides[1].boots)
        self.seen = [False, False]
        self.closed = [False, False]
        self.fin_waits = [False, False]


@dataclass(slots=True, eq=False)
class Pair:
    """Two machines: the link between them, if there is one, and the dialling of the next."""

    low: Machine
    high: Machine
    link: Link | None = None
    dials: int = 0
    broken: bool = False
    losses: list[float] = field(default_factory=lambda: [0.0, 0.0])


class Network:
    def __init__(self, world: World, plan: NetworkPlan) -> None:
        self.world = world
        self.plan = plan
        self.pairs: dict[tuple[int, int], Pair] = {}
        self._cuts: dict[tuple[int, int], int] = {}
        self._delays: dict[tuple[int, int], float] = {}

    def add(self, machine: Machine, others: list[Machine]) -> None:
        """Wire a machine to all that are there already."""
        draw = self.world.random
        for other in others:
            low, high = sorted((machine, other), key=_index)
            self.pairs[low.index, high.index] = Pair(low, high)
            self._delays[low.index, high.index] = draw.uniform(*self.plan.delay_s)
            self._delays[high.index, low.index] = draw.uniform(*self.plan.delay_s)

    def pair(self, one: Machine, other: Machine) -> Pair:
        low, high = sorted((one.index, other.index))
        return self.pairs[low, high]

    def pairs_of(self, machine: Machine) -> list[Pair]:
        return [pair for pair in self.pairs.values() if machine in (pair.low, pair.high)]

    def reachable(self, one: Machine, other: Machine) -> bool:
        """Both directions carry, and the two were not born without a way to each other."""
        return (
            not self._cuts.get((one.index, other.index))
            and not self._cuts.get((other.index, one.index))
            and not self.pair(one, other).broken
        )

    def carries(self, one: Machine, other: Machine) -> bool:
        """Data can be had from the other just now: reachable and awake."""
        return other.node is not None and not other.stalled and self.reachable(one, other)

    # Dialling

    def dial_later(self, pair: Pair, delay: float) -> None:
        """Plan the next attempt; it replaces the one that was planned."""
        pair.dials += 1
        self.world.after(delay, self._dial, pair, pair.dials)

    def _dial(self, pair: Pair, number: int) -> None:
        if number != pair.dials or pair.link is not None:
            return
        if pair.low.node is None or pair.high.node is None:
            return
        if not self.reachable(pair.low, pair.high):
            return
        if pair.low.stalled or pair.high.stalled:
            self.dial_later(pair, 0.2)
            return
        self._connect(pair)

    def _connect(self, pair: Pair) -> None:
        low, high = pair.low, pair.high
        channels = (
            Channel(low, high, self._delays[low.index, high.index]),
            Channel(high, low, self._delays[high.index, low.index]),
        )
        link = Link((low, high), channels)
        pair.link = link
        for side, channel in enumerate(channels):
            channel.loss = pair.losses[side]
            channel.holds = 1
            seen_s = self.world.random.uniform(*self.plan.seen_s)
            self.world.after(seen_s, self._see, link, side)

    def _see(self, link: Link, side: int) -> None:
        """A side learns that the link stands; what had arrived for it comes right behind."""
        machine, peer = link.sides[side], link.sides[1 - side]
        if link.closed[side] or machine.boots != link.boots[side] or machine.node is None:
            return
        link.seen[side] = True
        machine.channels[peer.node_id] = link.channels[side]
        machine.hand(PeerLinked(peer.node_id))
        self._release(link.channels[1 - side], 0.0)

    # Words

    def send(self, channel: Channel, event: Event) -> None:
        if channel.dead:
            return
        world = self.world
        chance = world.random.random()
        if channel.loss and world.random.random() < channel.loss:
            self._refuse(channel)
            return
        queue = channel.queue
        queue.append(event)
        if len(queue) > QUEUE_MAX:
            queue.pop()
            self._refuse(channel)
            return
        at = world.now + channel.delay + chance * self.plan.jitter_s
        if at < channel.last_at:
            at = channel.last_at
        else:
            channel.last_at = at
        world.at(at, self.deliver, channel)

    def _refuse(self, channel: Channel) -> None:
        self.world.after(0.0, self._tell_dropped, channel, channel.source.boots)

    def _tell_dropped(self, channel: Channel, boots: int) -> None:
        source, peer = channel.source, channel.target.node_id
        if source.boots == boots and source.channels.get(peer) is channel:
            source.hand(Dropped(peer))

    def deliver(self, channel: Channel, _: object) -> None:
        """A ticket is due: the next word arrives, unless the way is cut or the link closed."""
        if channel.holds:
            channel.owed += 1
        elif channel.queue:
            channel.target.hand(channel.queue.popleft())

    def _hold(self, channel: Channel) -> None:
        channel.holds += 1

    def _release(self, channel: Channel, delay: float) -> None:
        channel.holds -= 1
        if channel.holds:
            return
        owed, channel.owed = channel.owed, 0
        at = max(self.world.now + delay, channel.last_at if delay else 0.0)
        channel.last_at = max(channel.last_at, at)
        for _ in range(owed):
            self.world.at(at, self.deliver, channel)

    # Closing

    def close(self, machine: Machine, peer_id: str) -> None:
        """A side closes its link; the other is told when the word can reach it."""
        channel = machine.channels.get(peer_id)
        if channel is not None:
            pair = self.pair(machine, channel.target)
            if pair.link is not None:
                self._close_side(pair, pair.link, 0 if machine is pair.low else 1, told=True)

    def _close_side(self, pair: Pair, link: Link, side: int, *, told: bool) -> None:
        machine, peer = link.sides[side], link.sides[1 - side]
        link.closed[side] = True
        if machine.channels.get(peer.node_id) is link.channels[side]:
            del machine.channels[peer.node_id]
        link.channels[1 - side].queue.clear()
        link.channels[1 - side].dead = True
        if told and not link.closed[1 - side]:
            self._send_fin(link, 1 - side)
        self._forget_if_done(pair, link)

    def _send_fin(self, link: Link, side: int) -> None:
        channel = link.channels[1 - side]
        if self._cuts.get((channel.source.index, channel.target.index)):
            link.fin_waits[side] = True
        else:
            at = max(self.world.now + channel.delay, channel.last_at)
            self.world.at(at, self._told_closed, link, (side, True))

    def _told_closed(self, link: Link, told: tuple[int, bool]) -> None:
        side, reset = told
        machine, peer = link.sides[side], link.sides[1 - side]
        if link.closed[side]:
            return
        pair = self.pair(machine, peer)
        self._close_side(pair, link, side, told=not reset)
        if link.seen[side] and machine.boots == link.boots[side]:
            machine.hand(PeerUnlinked(peer.node_id, reset))

    def _forget_if_done(self, pair: Pair, link: Link) -> None:
        if all(link.closed) and pair.link is link:
            pair.link = None
            self.dial_later(pair, self.world.random.uniform(*self.plan.redial_s))

    def machine_gone(self, machine: Machine, *, silent: bool) -> None:
        """Its process ended. ``silent``: power was lost, so nobody is told before it is back."""
        for pair in self.pairs_of(machine):
            link, side = pair.link, 0 if machine is pair.low else 1
            if link is None or link.closed[side]:
                continue
            if silent:
                link.fin_waits[1 - side] = not link.closed[1 - side]
            self._close_side(pair, link, side, told=not silent)

    def machine_back(self, machine: Machine, discovery_s: tuple[float, float]) -> None:
        """It runs again: stale links to it break, and it is found after a while."""
        draw = self.world.random
        for pair in self.pairs_of(machine):
            self._flush_fins(pair)
            self.dial_later(pair, draw.uniform(*discovery_s))

    def _flush_fins(self, pair: Pair) -> None:
        link = pair.link
        if link is None:
            return
        for side in (0, 1):
            source, target = link.sides[1 - side], link.sides[side]
            waits = link.fin_waits[side] and source.node is not None
            if waits and not self._cuts.get((source.index, target.index)):
                link.fin_waits[side] = False
                delay = self.world.random.uniform(*HEAL_S)
                self.world.after(delay, self._told_closed, link, (side, True))

    # Faults

    def reset(self, pair: Pair, *, found_broken: bool = False) -> None:
        """Both sides lose the link, each at its own time, and dial again."""
        link = pair.link
        if link is None:
            return
        for side in (0, 1):
            delay = self.world.random.uniform(0.0001, 0.01)
            self.world.after(delay, self._told_closed, link, (side, not found_broken))

    def cut(self, source: Machine, target: Machine) -> None:
        """Nothing passes in this direction any more, and nobody is told."""
        key = (source.index, target.index)
        self._cuts[key] = self._cuts.get(key, 0) + 1
        channel = self._channel(source, target)
        if channel is not None and self._cuts[key] == 1:
            self._hold(channel)

    def heal(self, source: Machine, target: Machine) -> None:
        """The direction carries again; what was held arrives, if the link still stands."""
        key = (source.index, target.index)
        if not self._cuts.get(key):
            return
        self._cuts[key] -= 1
        if self._cuts[key]:
            return
        del self._cuts[key]
        pair = self.pair(source, target)
        channel = self._channel(source, target)
        if channel is not None:
            self._release(channel, self.world.random.uniform(*HEAL_S))
        self._flush_fins(pair)
        if pair.link is None:
            self.dial_later(pair, self.world.random.uniform(*self.plan.redial_s))

    def heal_all(self) -> None:
        """Every cut ends now."""
        machines = {pair.low.index: pair.low for pair in self.pairs.values()}
        machines |= {pair.high.index: pair.high for pair in self.pairs.values()}
        for source, target in sorted(self._cuts):
            while self._cuts.get((source, target)):
                self.heal(machines[source], machines[target])

    def lossy(self, pair: Pair, rate: float) -> None:
        """From now on this share of the words is refused in both directions."""
        pair.losses = [rate, rate]
        if pair.link is not None:
            for channel in pair.link.channels:
                channel.loss = rate

    def _channel(self, source: Machine, target: Machine) -> Channel | None:
        pair = self.pair(source, target)
        if pair.link is None:
            return None
        return pair.link.channels[0 if source is pair.low else 1]


def _index(machine: Machine) -> int:
    return machine.index
