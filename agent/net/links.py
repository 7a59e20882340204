"""All links of a node: exactly one with each peer that can be reached, and their bulk data.

The rest of the node knows peers, not connections. It is told ``linked`` and ``unlinked`` in turn
for each peer, never twice the same; what it sends goes to whoever is linked, encoded once for
all. Nothing it calls here calls it back before returning.

Of two connections with one peer the higher node id decides, alone (``link_greeting``). An old
link is not given up because a new one knocks, for both sides may have dialled at once, and a
copied identity would throw the real one out. It is asked for a sign of life; if none comes
within a second, or the old one ends, the new one takes its place. Where the other side decides, two
machines with one identity take the link from each other, until that is seen (``copies``): then
whoever has it keeps it.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from agent.net.addresses import ANY_HOST, DEFAULT_PORT, Address
from agent.net.copies import Copied, Copies
from agent.net.dialling import Dialler
from agent.net.link import Link, Traffic, fits, message_frame
from agent.net.link_greeting import Greeting, Verify
from agent.net.link_reception import BulkAcceptor, Contexts, Reception, StreamAcceptor, Transfers
from agent.net.link_refusals import UNREMARKABLE, Cause, LinkRefusal, Refusals, cause_of, explained
from agent.net.transfer_words import Pipe
from agent.net.wire import GOSSIP_BYTES_MAX, Kind, frame
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import Message, Records
from agent.protocol.reasons import Opaque
from agent.protocol.records import NodeId
from agent.wording.speech import english

SIGN_OF_LIFE_S = 1.0
OUT_OF_FAVOUR_S = 5.0
"""Whoever lost its link for what it sent gets no other one for this long."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LinkCallbacks:
    """What the links tell the node."""

    linked: Callable[[NodeId], None]
    unlinked: Callable[[NodeId, bool], None]
    """With whether the other side said so (reset), or it was found broken here."""
    received: Callable[[NodeId, Message], None]
    dropped: Callable[[NodeId], None]
    gossip: Callable[[NodeId, bytes], None]
    bulk: BulkAcceptor
    name_of: Callable[[NodeId], str] = str
    """What people call a node, for the log."""


@dataclass(frozen=True, slots=True)
class LinkReport:
    """What is known of one link."""

    peer: NodeId
    name: str
    address: Address
    dialled: bool
    protocol_version: int
    age_s: float
    round_trip_s: float | None
    queued_bytes: int
    traffic: Traffic


class Links:
    """Listens, dials, and keeps one link with each peer."""

    def __init__(
        self,
        me: NodeId,
        contexts: Contexts,
        verify: Verify,
        callbacks: LinkCallbacks,
        *,
        port: int = DEFAULT_PORT,
        hosts: Sequence[str] = ANY_HOST,
        others: Mapping[str, StreamAcceptor] | None = None,
        random: Random | None = None,
    ) -> None:
        self._callbacks = callbacks
        self.link_received, self.link_gossiped = callbacks.received, callbacks.gossip
        self._port, self._hosts = port, tuple(hosts)
        self._links: dict[NodeId, Link] = {}
        self._rivals: dict[NodeId, Greeting] = {}
        self._unfavoured: dict[NodeId, float] = {}
        self._unreported: dict[NodeId, bool] = {}
        self._dropped: dict[NodeId, None] = {}
        self._unflushed: dict[Link, None] = {}
        self._turn_planned = False
        self._stopping = False
        self._refusals = Refusals(callbacks.name_of)
        self._copies = Copies(callbacks.name_of)
        self._reception = Reception(me, contexts, verify, others or {}, self)
        self._transfers = Transfers(callbacks.bulk)
        self.dialler = Dialler(me, self._call, self._links.__contains__, random or Random())
        """Told of addresses: ``found``, ``gone``, ``withdrawn``, ``retry``."""
        self._loop: asyncio.AbstractEventLoop

    # -- for the composition root ----------------------------------------------------------

    async def start(self, had: Sequence[socket.socket] = ()) -> None:
        """Listen, on these sockets if there are any; raises ``OSError`` with a sentence."""
        self._loop = asyncio.get_running_loop()
        await self._reception.listen(self._hosts, self._port, had)

    async def stop(self) -> None:
        """Tell all links why and close them, cut transfers, stop listening and dialling, and wait
        until every connection is gone. The node is not told that links have ended."""
        self._stopping = True
        await self._reception.close()
        await self.dialler.stop()
        for link in self._links.values():
            link.close(Cause.CLOSED, NoLink("Stopping"))
        self._links.clear()
        await self._transfers.stop()
        await self._reception.all_ended()

    def use(self, contexts: Contexts) -> None:
        """Secure the connections made from now on by these contexts."""
        self._reception.contexts = contexts

    @property
    def port(self) -> int:
        """The port on which this node listens."""
        return self._reception.port

    def send(self, peers: Sequence[NodeId], message: Message) -> None:
        """Queue one message for each of these peers that is linked, to leave at the end of this
        turn of the loop; others are passed over. Where it is dropped, being too long or the lane
        full, the node is told so for that peer."""
        links = [self._links[peer] for peer in peers if peer in self._links]
        if not links:
            return
        data = message_frame(message)
        if not fits(data):
            log.error("a %s of %d bytes is not sent", type(message).__name__, len(data))
            self._dropped.update(dict.fromkeys(link.peer for link in links))
            self._plan_turn()
            return
        bulky = isinstance(message, Records)
        for link in links:
            if not link.send(data, bulky=bulky):
                self._dropped[link.peer] = None
            self._unflushed[link] = None
        self._plan_turn()

    def gossip(self, peer: NodeId, body: bytes) -> bool:
        """Queue this gossip for a peer, to leave at the end of this turn of the loop; return False
        when the peer is not linked, the gossip is too long or its lane is full."""
        link = self._links.get(peer)
        if link is None or len(body) > GOSSIP_BYTES_MAX:
            return False
        self._unflushed[link] = None
        self._plan_turn()
        return link.send(frame(Kind.GOSSIP, body))

    def unlink(self, peer: NodeId, why: NoLink) -> None:
        """Close the link with a peer, which hears the reason; log it, keep it for people until
        there is a link again, and tell the node later in this turn. The peer may be linked again.
        Do nothing without a link."""
        link = self._links.get(peer)
        if link is not None:
            log.info("unlinking %s: %s", link.name, english(why))
            self._refusals.lost(peer, str(link.address), why)
            self._remove(link, reset=False)
            link.close(Cause.CLOSED, why)

    def expel(self, peer: NodeId, why: NoLink) -> None:
        """Close the link with a peer, which hears the reason, and abort all transfers with it; that
        ``verify`` refuses it from now on is not done here."""
        self.unlink(peer, why)
        self._transfers.cut(peer)

    def cut_transfers(self, peer: NodeId) -> None:
        """End all bulk transfers with a peer; whoever is at it finds another way."""
        self._transfers.cut(peer)

    async def open_bulk(self, peer: NodeId) -> Pipe:
        """Open a connection for bulk data to a peer, where it is linked or may be found, and return
        it as a pipe, which a thread uses and closes; raise ``OSError``, with nothing open, when it
        cannot be reached or refuses."""
        addresses = self.dialler.addresses_of(peer)
        link = self._links.get(peer)
        if link is not None and link.opening.port:
            addresses.insert(0, Address(link.address.host, link.opening.port))
        greeting, refusal = await self._reception.dial(addresses, peer, bulk=True)
        if refusal is not None:
            raise ConnectionRefusedError(english(refusal.why))
        return await self._transfers.open_pipe(greeting)

    @property
    def linked(self) -> tuple[NodeId, ...]:
        """The peers with a link, oldest link first."""
        return tuple(self._links)

    def report(self) -> tuple[LinkReport, ...]:
        """Return what is known of each link as it is now, oldest link first; empty without
        links."""
        now_s = self._loop.time()
        return tuple(
            LinkReport(
                link.peer,
                link.name,
                link.address,
                link.dialled,
                link.opening.version,
                now_s - link.since_s,
                link.round_trip_s,
                link.queued_bytes,
                link.traffic,
            )
            for link in self._links.values()
        )

    def refusals(self) -> tuple[LinkRefusal, ...]:
        """Return the last refusal of each peer or address with which there is no link since, oldest
        first, as far as anybody was heard of."""
        return self._refusals.all()

    def copies(self) -> tuple[Copied, ...]:
        """Return the identities that were seen on two machines in the last three minutes, this
        node's own among them."""
        return self._copies.all()

    # -- one turn of the loop --------------------------------------------------------------

    def _plan_turn(self) -> None:
        if not self._turn_planned:
            self._turn_planned = True
            self._loop.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        """What was sent in this turn leaves; what could not be done is told."""
        self._turn_planned = False
        unflushed, self._unflushed = self._unflushed, {}
        for link in unflushed:
            link.flush()
        dropped, self._dropped = self._dropped, {}
        for peer in dropped:
            if peer in self._links:
                self._callbacks.dropped(peer)
        for peer in list(self._unreported):
            self._report_unlinked(peer)
            self._promote_rival(peer)

    # -- links come and go -----------------------------------------------------------------

    def _adopt(self, greeting: Greeting) -> None:
        """The connection is the link with its peer from now on."""
        peer, opening = greeting.peer, greeting.opening
        assert opening is not None
        old = self._links.get(peer)
        if self._copies.note_link(peer, opening.instance) and old is not None:
            self._copies.note(peer, old.address.host, greeting.address.host)
        if old is not None:
            self._remove(old, reset=True)
            old.close(Cause.DUPLICATE, NoLink("NewerLink"))
        link = Link(
            peer,
            greeting.name,
            greeting.connection,
            greeting.reader,
            opening,
            greeting.address,
            dialled=greeting.dialled,
            owner=self,
        )
        greeting.connection.application = link
        self._links[peer] = link
        greeting.succeed()
        if link.dialled or opening.port:
            place = Address(greeting.address.host, opening.port)
            self.dialler.proven(peer, greeting.address if link.dialled else place)
        rival = self._rivals.get(peer)
        if rival is not None:
            rival.refuse(NoLink("LinkedAlready"))
        self._refusals.linked(peer, greeting.address.host)
        self._refusals.linked(peer, str(greeting.address))
        self._report_unlinked(peer)
        log.info("linked with %s (%s)", link.name, link.address)
        self._callbacks.linked(peer)
        link.received(memoryview(b""))  # what came behind the greeting

    def _remove(self, link: Link, *, reset: bool) -> None:
        """It is no link any more; the node hears of it in this turn's end, or before a new one."""
        del self._links[link.peer]
        self._unreported[link.peer] = reset
        lasting = link.told_cause == Cause.COPIED
        self.dialler.unlinked(link.peer, self._loop.time() - link.since_s, lasting=lasting)
        self._plan_turn()

    def _report_unlinked(self, peer: NodeId) -> None:
        reset = self._unreported.pop(peer, None)
        if reset is None or self._stopping:
            return
        self._callbacks.unlinked(peer, reset)

    def _promote_rival(self, peer: NodeId) -> None:
        """Who knocked while there was a link has waited for this."""
        rival = self._rivals.pop(peer, None)
        if rival is not None and not rival.over and peer not in self._links:
            self._welcome(rival)

    # -- what links tell -------------------------------------------------------------------

    def link_answered(self, link: Link) -> None:
        """Refuse the second connection of a peer whose old link has just proved alive: as a
        duplicate, or as a copy when another instance of the node is behind it. Do nothing when none
        waits."""
        rival = self._rivals.pop(link.peer, None)
        if rival is None or rival.opening is None:
            return
        if rival.opening.instance == link.opening.instance:
            rival.refuse(NoLink("LinkedAlready"))
            return
        self._refuse_copy(rival, link)

    def link_misbehaved(self, link: Link, why: NoLink) -> None:
        """Close the link with a peer that broke the protocol, note why, and refuse it another for
        ``OUT_OF_FAVOUR_S``; the node is told later in this turn."""
        self._unfavoured[link.peer] = self._loop.time() + OUT_OF_FAVOUR_S
        self._refusals.note(
            LinkRefusal(link.peer, str(link.address), Cause.MISBEHAVED, why, time.time())
        )
        self._remove(link, reset=False)
        link.close(Cause.MISBEHAVED, why)

    def link_lost(self, link: Link, *, reset: bool, why: NoLink | Opaque) -> None:
        """Forget a link that has ended, note why, tell the node, and take the peer's second
        connection in its place if one waits. ``reset``: it did not end on this side. Do nothing
        when another link has taken its place already."""
        if self._links.get(link.peer) is not link:
            return
        log.info("the link with %s (%s) is gone: %s", link.name, link.address, english(why))
        if link.told_cause == Cause.COPIED:
            self._refusals.note(
                LinkRefusal(link.peer, str(link.address), Cause.COPIED, why, time.time())
            )
        else:
            self._refusals.lost(link.peer, str(link.address), why)
        self._remove(link, reset=reset)
        self._report_unlinked(link.peer)
        self._promote_rival(link.peer)

    # -- what becomes of greetings ---------------------------------------------------------

    def decide(self, greeting: Greeting) -> None:
        """Decide what becomes of a connection on which a peer has greeted: a transfer, the link or,
        where there is a link, a second one that replaces it if that is dead. A peer that broke the
        protocol lately is refused."""
        if greeting.bulk:
            self._transfers.decide(greeting)
        elif self._unfavoured.get(greeting.peer, 0.0) > self._loop.time():
            greeting.refuse(NoLink("OutOfFavour"))
        elif greeting.peer in self._links:
            self._compare(greeting, self._links[greeting.peer])
        else:
            self._welcome(greeting)

    def welcomed(self, greeting: Greeting) -> None:
        """Take on a connection that the other side has welcomed, for bulk data or as the link,
        which an older one makes way for; refuse it when it leads to a copy of the peer."""
        old = self._links.get(greeting.peer)
        if greeting.bulk:
            greeting.succeed()
        elif old is not None and self._is_copy(greeting, old):
            self._refuse_copy(greeting, old)
        else:
            self._adopt(greeting)

    def came_for(self, greeting: Greeting, serve: StreamAcceptor, protocol: str) -> None:
        self._transfers.serve_other(greeting, serve, protocol)

    def greeting_over(self, greeting: Greeting) -> None:
        if self._rivals.get(greeting.peer) is greeting:
            del self._rivals[greeting.peer]

    def refused(self, refusal: LinkRefusal) -> None:
        """Keep a refusal for people to see, unless its cause is not worth telling or the peer is
        linked; a refusal because of a copy of this node's identity is noted as a copy."""
        if refusal.cause is Cause.COPIED and refusal.peer == self._reception.me:
            self._copies.note(refusal.peer, refusal.address)
        elif refusal.cause not in UNREMARKABLE and refusal.peer not in self._links:
            self._refusals.note(refusal)

    def _is_copy(self, greeting: Greeting, old: Link) -> bool:
        """Known to be; before that, a newer link may be that of an agent that has started anew."""
        other = greeting.opening is not None and greeting.opening.instance != old.opening.instance
        return other and self._copies.known(greeting.peer)

    def _refuse_copy(self, greeting: Greeting, link: Link) -> None:
        self._copies.note(link.peer, link.address.host, greeting.address.host)
        greeting.refuse(NoLink("IdentityLinked", address=str(link.address)))

    def _welcome(self, greeting: Greeting) -> None:
        greeting.welcome()
        self._adopt(greeting)

    def _compare(self, greeting: Greeting, old: Link) -> None:
        """Only when the old link shows no sign of life does the new one take its place."""
        earlier = self._rivals.get(greeting.peer)
        if earlier is not None:
            earlier.refuse(NoLink("NewerLink"))
        self._rivals[greeting.peer] = greeting
        self._loop.call_later(SIGN_OF_LIFE_S, self._no_sign, greeting, old)
        old.ping()

    def _no_sign(self, greeting: Greeting, old: Link) -> None:
        if self._rivals.get(greeting.peer) is not greeting or greeting.over:
            return
        del self._rivals[greeting.peer]
        if self._links.get(greeting.peer) is old:
            log.info("the link with %s shows no sign of life; it is replaced", old.name)
        self._welcome(greeting)

    async def _call(
        self, addresses: Sequence[Address], expected: NodeId | None
    ) -> tuple[NodeId, LinkRefusal | None]:
        """One attempt of the dialler."""
        try:
            greeting, refusal = await self._reception.dial(addresses, expected)
        except OSError as error:
            why = explained(error)
            places = ", ".join(str(address) for address in addresses)
            refusal = LinkRefusal(expected or "", places, cause_of(why), why, time.time())
            self.refused(refusal)
            return "", refusal
        return greeting.peer, refusal
