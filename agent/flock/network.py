"""The network of one membership: links, discovery, the keeper's desk, and the roster's ways.

It exists while this node belongs to a flock, and is built and ended as it joins and leaves. What it
does besides passing events on:

* the roster goes to each new peer, and to all when it has changed, so that everybody comes to know
  of newcomers and expulsions within a round trip;
* whoever the roster does not accept any more loses its link, after having been told, and again
  every hour, because certificates end;
* a peer's certificate is known from its greeting, before the roster that names it has come, so
  that nobody takes a newcomer for a stranger;
* renewal and the authority's key are seen to every hour and after each change of the roster, and
  sooner after a failure;
* where members can be reached is told (``agent.flock.gossip``) and kept for the next start.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from agent.api.admission import JoinRequested, JoinRequestEnded
from agent.api.errors import MembershipError, NotKeptError, ServiceError
from agent.api.session import FlockChanged, PeerChanged
from agent.flock.audit_heads import AuditHeads
from agent.flock.gossip import AddressBook, RequestWord, gossip_of, own_places, read_gossip
from agent.flock.known_requests import Admissions
from agent.flock.peer_status import PeerNotices, PeerStatuses
from agent.net.addresses import ANY_HOST, Address
from agent.net.dialling import listening_sockets_near
from agent.net.enrolment import EnrolmentServer
from agent.net.joining import keep_up, share_book
from agent.net.link_reception import BulkAcceptor, Contexts, StreamAcceptor
from agent.net.links import LinkCallbacks, Links
from agent.net.membership import Membership
from agent.net.tls import BULK, CLIENT, JOIN, LINK, TlsObject
from agent.protocol.events import (
    Dropped,
    Event,
    MembersChanged,
    PeerLinked,
    PeerUnlinked,
    Received,
)
from agent.protocol.link_reasons import LinkKind, NoLink
from agent.protocol.messages import Message
from agent.protocol.records import NodeId
from agent.settings.node_settings import NodeSettings

if TYPE_CHECKING:
    from agent.net.discovery import Discovery, Sighting

FlockNotice = PeerChanged | FlockChanged | JoinRequested | JoinRequestEnded
KEEP_UP_EVERY_S = 3_600.0
KEEP_UP_AGAIN_S = 60.0
AUDIT_TOLD_AFTER_S = 5.0
"""All that is done meanwhile is told at once."""
FOREIGN_MAX = 64

log = logging.getLogger(__name__)


def sockets_of(settings: NodeSettings) -> list[socket.socket]:
    """Return the sockets on which a node with these settings listens for members, on another port
    where its own is used. Raise ``ServiceError`` when none can be had."""
    try:
        return listening_sockets_near(settings.listen or ANY_HOST, settings.port)
    except OSError as error:
        raise ServiceError(
            f"Other members cannot reach this machine: {error.strerror or error}"
        ) from error


class HasHead(Protocol):
    """The audit of this node, as peers are told of it."""

    @property
    def head(self) -> tuple[int, str]:
        """The number and the hash of the last entry."""


class FlockNetwork:
    """The network of one membership, from ``start`` to ``stop``."""

    def __init__(
        self,
        membership: Membership,
        settings: NodeSettings,
        book: AddressBook,
        tell: Callable[[Event], None],
        notify: Callable[[FlockNotice], None],
        serve_bulk: BulkAcceptor,
        serve_clients: StreamAcceptor | None = None,
        *,
        audits: AuditHeads,
    ) -> None:
        self.membership, self._settings, self._book = membership, settings, book
        self._tell, self._notify = tell, notify
        self.peers = PeerStatuses()
        self._notices = PeerNotices(lambda peer: notify(PeerChanged(peer)))
        self.discovery: Discovery | None = None
        self.keeping_up_error = ""
        self.leaving = False
        self.audits = audits
        self._audit: HasHead | None = None
        self._audit_told: asyncio.TimerHandle | None = None
        self.foreign: dict[str, None] = {}
        self._gossiped: dict[NodeId, bytes] = {}
        self._due = asyncio.Event()
        self._book_due = True
        self._tasks: set[asyncio.Task[None]] = set()
        self._unwatch: Callable[[], None] | None = None
        self.admissions = Admissions(membership, self._tell_requests, notify, self.name_of)
        others: dict[str, StreamAcceptor] = {JOIN: self._desk().serve}
        if serve_clients is not None:
            others[CLIENT] = serve_clients
        self.links = Links(
            membership.node_id,
            Contexts(
                membership.tls.server, membership.tls.client(LINK), membership.tls.client(BULK)
            ),
            self._verify,
            LinkCallbacks(
                self._linked,
                self._unlinked,
                self._received,
                self._dropped,
                self._gossip,
                serve_bulk,
                self.name_of,
            ),
            port=settings.port,
            hosts=settings.listen or ANY_HOST,
            others=others,
        )

    def _desk(self) -> EnrolmentServer:
        return EnrolmentServer(
            self.membership,
            share=self.share_book,
            requests=self.admissions.own,
            may_ask=self._settings.join_requests,
            name=self._settings.name,
        )

    # -- for the service -------------------------------------------------------------------

    async def start(self, *, discover: bool, had: Sequence[socket.socket] = ()) -> None:
        """Listen for peers, on the sockets in ``had`` if there are any, dial those whose addresses
        are on the disk, and look for others: by multicast with ``discover``, else at typed
        addresses only. Does not wait for links; raise ``ServiceError`` when the port cannot be had,
        after which only ``stop`` is called."""
        await self.links.start(had or sockets_of(self._settings))
        self._unwatch = self.membership.roster.watch(self._roster_changed)
        await asyncio.to_thread(self._book.load)
        await asyncio.to_thread(self.audits.load)
        for peer, addresses in self._book.known().items():
            if self.membership.roster.departure(peer) is None:
                self.links.dialler.found(peer, addresses, proven=True)
        if discover:
            self._begin(self._discover())
        else:
            self.links.dialler.found(None, self._settings.addresses)
        self._begin(self._keep_up())
        log.info("listening on port %d for %s", self.links.port, self.membership.flock.name)

    async def stop(self) -> None:
        """Cancel what is under way, end all links, stop listening and take back what multicast told
        of this node; return when all of it has ended. The node is not told that links have
        ended."""
        if self._unwatch is not None:
            self._unwatch()
            self._unwatch = None
        self._notices.close()
        if self._audit_told is not None:
            self._audit_told.cancel()
        self.admissions.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        stopping = [self.links.stop()]
        if self.discovery is not None:
            stopping.append(self.discovery.stop())
        await asyncio.gather(*stopping)

    def addresses_of(self, node: NodeId) -> list[Address]:
        """Return the addresses where a member may be reached, the likeliest first; empty when none
        is known."""
        dialled = [
            report.address
            for report in self.links.report()
            if report.peer == node and report.dialled
        ]
        known = [*dialled, *self.links.dialler.addresses_of(node), *self._book.of(node)]
        return list(dict.fromkeys(known))

    def name_of(self, node: NodeId) -> str:
        """Return what people call a node, also one that has gone: by its own word, else by the
        roster, else its id."""
        own = node == self.membership.node_id
        if told := self._settings.name if own else self.peers.name(node):
            return told
        member = self.membership.roster.known(node)
        return node if member is None else member.host_name

    async def share_book(self, among: Collection[NodeId] | None = None) -> list[NodeId]:
        """Exchange invitations with the other keepers, or with those ``among`` them; return the ids
        of those that answered in time, none where this node is no keeper."""
        return await share_book(self.membership, self.addresses_of, among)

    async def _share_book_when_due(self) -> None:
        due, self._book_due = self._book_due, False
        if due:
            await self.share_book()

    @property
    def member_ids(self) -> tuple[NodeId, ...]:
        """The ids of all who belong, as the node is told."""
        return tuple(member.node_id for member in self.membership.roster.members())

    @property
    def members(self) -> MembersChanged:
        """Who belongs, and whose word counts for what, as the node is told."""
        return MembersChanged(self.member_ids, self.membership.trust)

    @property
    def expelled(self) -> bool:
        """Whether this node does not belong any more, as far as it knows."""
        return self.membership.roster.departure(self.membership.node_id) is not None

    # -- what links tell -------------------------------------------------------------------

    def _verify(self, tls: TlsObject | None) -> tuple[str, str] | NoLink:
        verified = self.membership.verify(tls)
        shown = tls.getpeercert(binary_form=True) if tls is not None else None
        if not isinstance(verified, NoLink) and shown is not None:
            with suppress(MembershipError):  # the roster is full; the link stands all the same
                self.membership.roster.learn(shown)
        return verified

    def _linked(self, peer: NodeId) -> None:
        self.peers.linked(peer)
        head = self._audit.head if self._audit else None
        known = self._book.known() | {self.membership.node_id: self._own_places()}
        roster, waiting = self.membership.roster.to_bytes(), self.admissions.told()
        self.links.gossip(peer, gossip_of(roster, known, waiting or None, head))
        self._tell(PeerLinked(peer))
        self._book_due |= peer in self.membership.roster.keepers()
        self._due.set()
        self._notify(PeerChanged(peer))

    def _unlinked(self, peer: NodeId, reset: bool) -> None:
        self.peers.unlinked(peer)
        self._notices.forget(peer)
        self.admissions.lost(peer)
        self.links.cut_transfers(peer)
        self._tell(PeerUnlinked(peer, reset))
        self._notify(PeerChanged(peer))

    def _received(self, peer: NodeId, message: Message) -> None:
        news = self.peers.heard(peer, message, time.time_ns() // 1_000_000)
        self._tell(Received(peer, message))
        if news:
            self._notices.changed(peer)

    def _dropped(self, peer: NodeId) -> None:
        self._tell(Dropped(peer))

    def _gossip(self, peer: NodeId, body: bytes) -> None:
        """Of rosters that come while one is being taken in, only the last counts: they grow."""
        try:
            roster, addresses, requests, audit = read_gossip(body)
        except MembershipError as error:
            self._send_away(peer, error)
            return
        if roster:
            if peer not in self._gossiped:
                self._begin(self._merge(peer))
            self._gossiped[peer] = roster
        if requests is not None:
            self.admissions.hear(peer, requests)
        self._learn_places(peer, addresses)
        if audit is not None and self.audits.heard(peer, *audit):
            self._begin(asyncio.to_thread(self.audits.save))

    def follow_audit(self, audit: HasHead) -> None:
        """Tell peers from now on how far the audit of this node goes."""
        self._audit = audit

    def audit_grown(self) -> None:
        """Tell peers, some seconds from now, that the audit goes further."""
        if self._audit_told is None:
            loop = asyncio.get_running_loop()
            self._audit_told = loop.call_later(AUDIT_TOLD_AFTER_S, self._tell_audit)

    def _tell_audit(self) -> None:
        self._audit_told = None
        body = gossip_of(audit=self._audit.head if self._audit else None)
        for peer in self.links.linked:
            self.links.gossip(peer, body)

    def _tell_requests(self, words: Sequence[RequestWord]) -> None:
        body = gossip_of(requests=words)
        for peer in self.links.linked:
            self.links.gossip(peer, body)

    async def _merge(self, peer: NodeId) -> None:
        body = b""
        try:
            while body != self._gossiped[peer]:
                body = self._gossiped[peer]
                if await self.membership.merge_roster(body):
                    self._book_due = True  # invitations may have ended with it
                    self._due.set()
        except NotKeptError:
            self._due.set()  # known it is, and kept it will be; the peer is not to blame
        except MembershipError as error:
            self._send_away(peer, error)
        finally:
            del self._gossiped[peer]

    # -- the roster ------------------------------------------------------------------------

    def _roster_changed(self) -> None:
        """Told first, then cut: whoever is expelled should hear why."""
        data = gossip_of(self.membership.roster.to_bytes())
        for peer in self.links.linked:
            self.links.gossip(peer, data)
        self._cut_refused()
        self._tell(self.members)
        if self.expelled and self.discovery is not None:
            self._begin(self.discovery.withdraw())
        self._book_due = True
        self._due.set()
        self._notify(self.changed())

    def changed(self) -> FlockChanged:
        """Return what is told when somebody has joined, left or was sent away."""
        return FlockChanged(self.membership.flock.name, expelled=self.expelled)

    def _cut_refused(self) -> None:
        roster = self.membership.roster
        for peer in self.links.linked:
            member, departure = roster.known(peer), roster.departure(peer)
            if departure is not None:
                kind: LinkKind = "ExpelledFrom" if departure.expelled else "LeftFlock"
                name, flock = departure.host_name, roster.flock.name
                self.links.expel(peer, NoLink(kind, name, flock))
            elif member is not None:
                why = roster.objection_to(member.certificate)
                if why is not None:
                    self.links.expel(peer, why)
        for departed in roster.departures():
            self.links.dialler.gone(departed.node_id)

    async def _keep_up(self) -> None:
        """Now and then, and whenever something has changed."""
        while True:
            self._due.clear()
            self._cut_refused()
            failed = ""
            for part in (self.membership.keep_roster, self._renew):  # each also where another fails
                try:
                    await part()
                except MembershipError as error:
                    failed = str(error)
            if failed and failed != self.keeping_up_error:
                log.warning("%s", failed)
            self.keeping_up_error = failed
            try:
                async with asyncio.timeout(KEEP_UP_AGAIN_S if failed else KEEP_UP_EVERY_S):
                    await self._due.wait()
            except TimeoutError:
                continue

    async def _renew(self) -> None:
        if not self.expelled:
            await keep_up(self.membership, self.addresses_of)
            await self._share_book_when_due()

    # -- where others are ------------------------------------------------------------------

    async def _discover(self) -> None:
        """Imported when it is wanted; telling the network takes a while, nobody waits for it."""
        from agent.net.discovery import Discovery, DiscoveryCallbacks

        dialler = self.links.dialler
        callbacks = DiscoveryCallbacks(
            dialler.found, dialler.unannounced, self._foreign, dialler.retry
        )
        self.discovery = Discovery(
            self.membership.node_id,
            self.membership.flock.flock_id,
            callbacks,
            typed=self._settings.addresses,
            interfaces=self._settings.listen,
            announced=not self.expelled,
        )
        await self.discovery.start(self.links.port)
        if self.expelled:
            await self.discovery.withdraw()

    def _foreign(self, sighting: Sighting) -> None:
        if len(self.foreign) < FOREIGN_MAX and sighting.flock not in self.foreign:
            self.foreign[sighting.flock] = None
            log.info("another flock is on this network: %s", sighting.flock)

    def _own_places(self) -> tuple[Address, ...]:
        return tuple(own_places(self._settings.listen, self.links.port))

    def _learn_places(self, peer: NodeId, told: Mapping[NodeId, Sequence[Address]]) -> None:
        """First hand is passed on; second hand is only dialled."""
        news = [
            node
            for node, addresses in told.items()
            if node != self.membership.node_id
            and self.membership.roster.departure(node) is None
            and addresses
            and self._book.note(node, addresses, first_hand=node == peer)
        ]
        for node in news:
            self.links.dialler.found(node, self._book.of(node), proven=True)
        if peer in news:
            data = gossip_of(addresses={peer: self._book.of(peer)})
            for other in self.links.linked:
                if other != peer:
                    self.links.gossip(other, data)
        if news:
            self._begin(asyncio.to_thread(self._book.save))

    def _send_away(self, peer: NodeId, error: MembershipError) -> None:
        log.warning("what %s tells is not taken: %s", self.peers.name(peer) or peer, error)
        self.links.unlink(peer, NoLink("TellsWrong", error=str(error)))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the network fails at something", exc_info=error)
