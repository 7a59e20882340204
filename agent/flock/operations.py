"""What a person does with a flock, each effective while the node runs.

Creating and joining keep the node: its name is its key, and what is in its table goes with it, like
one side of a healed partition. Leaving ends it: the others count on its never coming back under
that key, and the flock's work is not this machine's any more. Then the table is set aside, not
deleted, because nobody asked for that.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import socket
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec.structs import replace

from agent.api.admission import JoinRequestView
from agent.api.errors import RefusedError, ServiceError
from agent.api.flock import DepartureView, Expelled, Invitation, Joined, MemberView
from agent.api.rpc import ErrorCode
from agent.api.session import FlockChanged, PeerChanged
from agent.flock.administering import Administering
from agent.flock.audit_heads import AuditHeads
from agent.flock.flock_audit import FlockAudit
from agent.flock.gossip import AddressBook
from agent.flock.network import FlockNetwork, FlockNotice, sockets_of
from agent.flock.own_join_request import OwnJoinRequest
from agent.flock.own_node import OwnNode
from agent.flock.pairing import Pairing
from agent.flock.standing_invitation import StandingInvitation
from agent.host.key_store import native_key_store
from agent.net import administration, joining
from agent.net.acts import HELPER
from agent.net.addresses import Address, reached_at
from agent.net.asking import Request
from agent.net.certificates import voucher_of
from agent.net.invitation import parse_invitation
from agent.net.link_reception import StreamAcceptor
from agent.net.membership import Membership, create_flock
from agent.paths import Home
from agent.protocol.events import PolicyChosen, PresenceChanged
from agent.protocol.names import fault_of_name
from agent.protocol.reasons import NotOfFlock
from agent.protocol.records import NodeId

INVITATION_VALID_S = 86_400.0
PLACES_MAX = 16
"""At which a keeper is looked for at once."""
ADDRESS_BOOK = "addresses.json"
AUDIT_HEADS = "audit-heads.json"

log = logging.getLogger(__name__)
_Asked = ParamSpec("_Asked")
_Result = TypeVar("_Result")


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


def _one_at_a_time(
    work: Callable[Concatenate[FlockOperations, _Asked], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[FlockOperations, _Asked], Coroutine[Any, Any, _Result]]:
    """Make it refuse while another is under way, and raise ``ServiceError`` for what goes wrong."""

    @wraps(work)
    async def alone(own: FlockOperations, /, *args: _Asked.args, **named: _Asked.kwargs) -> _Result:
        return await own.alone(work(own, *args, **named))

    return alone


class FlockOperations:
    """Carries out what people ask of this node about its flock."""

    def __init__(self, own: OwnNode, serve_clients: StreamAcceptor) -> None:
        self._own, self._serve_clients = own, serve_clients
        self.asking = OwnJoinRequest(own, self.check_port, self.join_asked)
        self.administration = Administering(self, self._network, self._member_called)
        self.pairing = Pairing(self, self._network, self._member_called)
        self.standing = StandingInvitation(own, self.join, self.asking.heard_of)
        self.audit = FlockAudit()
        self._under_way: asyncio.Task[Any] | None = None
        self._ended = False

    @property
    def busy(self) -> bool:
        """Whether somebody creates, joins or leaves a flock at this moment."""
        return self._under_way is not None

    async def stop(self) -> None:
        """Cancel what is under way, wait until it has ended, and refuse all work from now on; a
        request to join is followed no more, but not withdrawn."""
        self._ended = True
        await self.standing.stop()
        if self._under_way is not None:
            self._under_way.cancel()
            await asyncio.gather(self._under_way, return_exceptions=True)
        await self.asking.close()

    async def alone(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Await work on the flock and return its result; ``stop`` cancels it. Raise what it raises,
        and ``ServiceError``, without beginning it, when other work is under way or this node is
        stopping."""
        if self._ended or self._under_way is not None:
            work.close()
            busy = "is stopping" if self._ended else "is busy with its flock"
            raise ServiceError(f"{self._own.name} {busy}: try again later.")
        task = asyncio.create_task(work)
        self._under_way = task
        try:
            return await task
        finally:
            self._under_way = None

    # -- what is asked ---------------------------------------------------------------------

    def flock(self) -> FlockFacts | None:
        """Return the flock of this node and its place in it, also after it was expelled; None when
        it belongs to none."""
        network = self._own.network
        if network is None:
            return None
        membership = network.membership
        return FlockFacts(
            flock_id=membership.flock.flock_id,
            name=membership.flock.name,
            keeper=membership.keeper,
            member_valid_until_s=membership.member.valid_until_s,
            renewal_due_s=membership.member.renewal_due_s,
            expelled=network.expelled,
            member_valid_from_s=membership.member.valid_from_s,
        )

    def members(self) -> list[MemberView]:
        """Return all members of the flock that this node knows of, itself included, linked or not;
        empty when it belongs to none."""
        own, network = self._own, self._own.network
        if network is None:
            return []
        roster = network.membership.roster
        keepers = roster.keepers()
        standing = network.membership.roster.standing
        return [
            MemberView(
                node=member.node_id,
                name=own.name_of(member.node_id),
                keeper=member.node_id in keepers,
                own=member.node_id == own.node_id,
                valid_until_ms=max(0, round(member.valid_until_s * 1000)),
                role=standing.role(member.node_id),
                person=self.pairing.name_of(member.node_id),
            )
            for member in roster.members()
        ]

    def role_of(self, node: NodeId) -> str:
        """Return what a member is in the flock: administrator, operator or helper; a helper when
        this node has no flock."""
        network = self._own.network
        return HELPER if network is None else network.membership.roster.standing.role(node)

    def audit_heads(self, node: NodeId) -> dict[int, str]:
        """Return what this node was told of another one's audit: hashes by the numbers of entries."""
        network = self._own.network
        return {} if network is None else network.audits.of(node)

    def departures(self) -> list[DepartureView]:
        """Return all who left the flock or were expelled, in the order of their ids; empty without
        a flock."""
        network = self._own.network
        return [
            DepartureView(each.node_id, each.host_name, each.expelled, round(each.time_s * 1000))
            for each in (network.membership.roster.departures() if network else ())
        ]

    def choose_rules(self, name: str) -> None:
        """Have this node go by these rules and tell the flock, which follows."""
        self._own.hand(PolicyChosen(name))
        self._own.notify(PeerChanged(self._own.node_id))
        log.info("the flock is to go by the rules %s", name)

    @_one_at_a_time
    async def create(self, name: str) -> Joined:
        """Make a flock of this name with this node as its first member, begin its network, and
        return what a client is told, the recovery phrase too, this once. Raise ``ServiceError`` when
        this machine has a flock, the port or the name cannot be had, the disk refuses, or other work
        is under way; also where only its network did not begin: this machine belongs to it then."""
        own, wrong = self._own, fault_of_name(name)
        if wrong is not None:
            raise RefusedError(ErrorCode.REFUSED, wrong)
        with self._port_had() as had:
            store = native_key_store(own.home.identity)
            membership = await asyncio.to_thread(
                create_flock, own.home.identity, name, own.name, store=store
            )
            log.info("made the flock %s", membership.flock.name)
            await self._belong_to(membership, had)
        return replace(self._joined(), phrase=membership.phrase)

    @_one_at_a_time
    async def join(self, text: str, elsewhere: Sequence[Address] = ()) -> Joined:
        """Join the flock of the invitation in this text, whose keepers may be ``elsewhere`` too,
        begin its network, and return what a client is told. Raise ``ServiceError`` when this machine
        has a flock, the port cannot be had, the invitation is none or is refused, nobody answers, or
        other work is under way; also where only the network did not begin: it is a member then."""
        own = self._own
        invitation = parse_invitation(text)
        places = dict.fromkeys((*invitation.addresses, *elsewhere))
        invitation = replace(invitation, addresses=tuple(places)[:PLACES_MAX])
        with self._port_had() as had:
            store = native_key_store(own.home.identity)
            membership = await joining.join_flock(
                own.home.identity, invitation, own.name, store=store
            )
            log.info("joined the flock %s", membership.flock.name)
            network = await self._belong_to(membership, had, invitation.addresses)
        network.links.dialler.found(None, invitation.addresses)
        return self._joined()

    @_one_at_a_time
    async def join_asked(self, request: Request) -> Joined:
        """Join the flock that was asked and has let this machine in, begin its network, and return
        what a client is told. Raise ``ServiceError`` when this machine has a flock, the port or the
        certificate cannot be had, or other work is under way; also where only the network did not
        begin: it is a member then."""
        with self._port_had() as had:
            membership = await request.collect()
            log.info("joined the flock %s, which was asked", membership.flock.name)
            network = await self._belong_to(membership, had, [request.door.address])
        network.links.dialler.found(None, [request.door.address])
        return self._joined()

    def check_port(self) -> None:
        """Raise ``ServiceError`` when the port on which others would reach this machine cannot be
        had; it is free again on return."""
        with self._port_had() as had:
            _close(had)

    @_one_at_a_time
    async def invite(
        self, uses: int = 1, valid_for_s: float = INVITATION_VALID_S, role: str = ""
    ) -> Invitation:
        """Make an invitation for so many machines and seconds, as what the role says, tell the other
        keepers of it and return it; keepers that do not answer in time are not waited for. Raise
        ``ServiceError``, with none made, when this node has no flock, is no keeper or no
        administrator's, a limit is out of range, the disk refuses, or other work is under way."""
        network = self._network("invite")
        own = await asyncio.to_thread(_own_addresses)
        hosts = reached_at(self._own.settings.listen, own)
        reached = [*hosts[:1], *_other_keepers(network), *hosts[1:]]
        invitation = await network.membership.invite(
            reached, network.links.port, uses, valid_for_s, role
        )
        await network.share_book()
        return Invitation(
            invitation.text,
            invitation.file.decode("utf-8"),
            network.membership.flock.name,
            uses,
            max(0, round(invitation.expires_s * 1000)),
        )

    @_one_at_a_time
    async def expel(self, name_or_id: str, phrase: str = "") -> Expelled:
        """Expel a member by its name, in whatever case, or its id; return who that is, with a warning
        when it was a keeper or its person has other machines, or who has said so where that is not
        enough. Raise ``ServiceError`` without a flock, when nobody, several or this machine have the
        name, when this machine is no administrator's, and while other work is under way;
        ``WantsPhraseError`` where the recovery phrase is missing."""
        network = self._network("expel")
        node = self._member_called(name_or_id)
        if node == network.membership.node_id:
            raise ServiceError("This machine does not expel itself: leave the flock instead.")
        name, warning = self._own.name_of(node), network.membership.expulsion_warning(node)
        warning = warning or self.pairing.left_of(node)
        agreed = await administration.expel(network.membership, node, phrase)
        return Expelled(node, name, "" if agreed else warning or "", tuple(agreed))

    @_one_at_a_time
    async def leave(self, *, even_as_last_keeper: bool = False) -> str:
        """Hand back what runs here, leave the flock, set its table aside and go on alone under a
        new id; return a sentence when the others could not be told, else an empty text. Raise
        ``ServiceError``, with nothing done, without a flock, while other work is under way, and for
        the last keeper unless ``even_as_last_keeper``. Where the disk refuses, the node has begun
        anew, in the flock or without, when that is raised; an error of beginning anew passes on."""
        own, network = self._own, self._network("leave")
        membership = network.membership
        if membership.last_keeper and not even_as_last_keeper:
            await joining.leave(membership, network.addresses_of)  # says why not
        network.leaving = True
        await own.hand_back("leaving the flock")
        try:
            untold = await self._say_farewell(network, even_as_last_keeper=even_as_last_keeper)
        finally:
            await own.end_network()
            await own.begin_again(self._left)
            own.notify(FlockChanged("") if own.network is None else own.network.changed())
        return untold

    def requests(self) -> list[JoinRequestView]:
        """Return the machines that ask to be let in; none without a flock."""
        network = self._own.network
        return [] if network is None else network.admissions.requests()

    async def decide(self, request: str, code: str, *, admit: bool) -> JoinRequestView:
        """Let a machine in that asks (``admit``), or refuse it, here or by asking the keeper that it
        asked; return its request as it was. An empty ``code`` is not compared. Raise
        ``ServiceError`` without a flock, on a machine that is no administrator's, when the request
        is over or has another code, or that keeper refuses or is not reached."""
        network = self._network("answer requests")
        reach = network.addresses_of
        return await network.admissions.decide(request, code, reach, admit=admit)

    async def _left(self) -> None:
        """Set the flock's table aside, unless the leaving has failed."""
        if Membership.open(self._own.home.identity) is None:
            await asyncio.to_thread(self._set_table_aside)

    async def _say_farewell(self, network: FlockNetwork, *, even_as_last_keeper: bool) -> str:
        if network.expelled:
            await network.membership.forget()
            return ""
        untold = await joining.leave(
            network.membership, network.addresses_of, even_as_last_keeper=even_as_last_keeper
        )
        return untold or ""

    # -- wiring ----------------------------------------------------------------------------

    def network_of(self, membership: Membership) -> FlockNetwork:
        """Return the network of a membership, with this node's settings and files, not started yet;
        it will tell peers how far the audit of this node goes, if one is followed."""
        own = self._own
        book = AddressBook(own.home.data / ADDRESS_BOOK)
        network = FlockNetwork(
            membership,
            own.settings,
            book,
            self._own.hand,
            self._notify,
            own.serve_bulk,
            serve_clients=self._serve_clients,
            audits=AuditHeads(own.home.data / AUDIT_HEADS),
        )
        self.audit.told_by(network)
        return network

    @contextmanager
    def _port_had(self) -> Iterator[list[socket.socket]]:
        """Where this node will listen, had before anything is made or asked: whoever cannot be
        reached must not be counted as a member."""
        had = sockets_of(self._own.settings)
        try:
            yield had
        except BaseException:
            _close(had)
            raise

    async def connect(self, network: FlockNetwork, had: Sequence[socket.socket] = ()) -> None:
        """Make this the node's network and start it, on the listening sockets in ``had``, on new
        ones if there are none. When that fails, stop it and raise what it raised, ``ServiceError``
        where the port cannot be had: the node has no network then. A node that does not belong any
        more stops helping."""
        own = self._own
        own.network = network
        try:
            await network.start(discover=own.discovers, had=had)
        except BaseException:
            own.network = None
            await network.stop()
            raise
        self._mind_expulsion()

    async def _belong_to(
        self,
        membership: Membership,
        had: Sequence[socket.socket],
        door: Sequence[Address] = (),
    ) -> FlockNetwork:
        await asyncio.to_thread(self._keep_door, membership, door)
        network = self.network_of(membership)
        self._own.hand(network.members)
        await self.connect(network, had)
        self._own.notify(network.changed())
        return network

    def _keep_door(self, membership: Membership, door: Sequence[Address]) -> None:
        """Keep where this node was let in: killed before its first link, it knows no other way back."""
        book = AddressBook(self._own.home.data / ADDRESS_BOOK)
        voucher = voucher_of(membership.member.certificate)
        if voucher is not None and book.note(voucher.keeper, door, first_hand=False):
            book.save()

    def _notify(self, notice: FlockNotice) -> None:
        if isinstance(notice, FlockChanged):
            self._mind_expulsion()
            if self._own.network is not None:
                self.audit.note_news(self._own.network)
        self._own.notify(notice)

    def _mind_expulsion(self) -> None:
        """Cut off, this node would run the flock's work a second time: it makes way."""
        own, network = self._own, self._own.network
        if network is None or network.leaving or not network.expelled:
            return
        name = network.membership.flock.name
        reason = NotOfFlock(name)
        if own.told_presence.reason != reason:
            log.error("this node does not belong to %s any more", name)
            own.set_presence(PresenceChanged(False, True, reason))

    def _set_table_aside(self) -> None:
        home = self._own.home
        moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        aside = home.data / f"journal-left-{moment}"
        if home.journal.exists() and not aside.exists():
            shutil.move(home.journal, aside)
            log.info("the table of the flock is set aside in %s", aside)
        AddressBook(home.data / ADDRESS_BOOK).forget()

    # -- inside ----------------------------------------------------------------------------

    def _network(self, what: str) -> FlockNetwork:
        network = self._own.network
        if network is None:
            raise ServiceError(
                f"This machine cannot {what}, it belongs to no flock: create one, or join one "
                f"with an invitation."
            )
        return network

    def _joined(self) -> Joined:
        own, network = self._own, self._network("join")
        return Joined(network.membership.flock.name, own.node_id, own.name)

    def _member_called(self, name_or_id: str) -> str:
        wanted = name_or_id.strip()
        members = self.members()
        found = [each for each in members if each.node == wanted] or [
            each for each in members if each.name.casefold() == wanted.casefold()
        ]
        if not found:
            names = ", ".join(sorted(each.name for each in members))
            raise ServiceError(f"Nobody in this flock is called {wanted}; members are {names}.")
        if len(found) > 1:
            ids = ", ".join(each.node for each in found)
            raise ServiceError(f"Several members are called {wanted}; give one of the ids {ids}.")
        return found[0].node


def open_membership(home: Home) -> Membership | None:
    """Return the membership of the node at this home, None where it has no flock; waits for the disk.
    Raise ``MembershipError`` for files that cannot be used."""
    return Membership.open(home.identity, store=native_key_store(home.identity))


def _close(sockets: Sequence[socket.socket]) -> None:
    for each in sockets:
        each.close()


def _other_keepers(network: FlockNetwork) -> list[str]:
    """A host of each, if it listens where this one does: an invitation names one port."""
    membership = network.membership
    found = []
    for keeper in membership.roster.keepers():
        places = network.addresses_of(keeper) if keeper != membership.node_id else []
        hosts = [each.host for each in places if each.port == network.links.port]
        found += hosts[:1]
    return found


def _own_addresses() -> tuple[str, ...]:
    from agent.net.discovery_network import own_addresses

    return own_addresses()
