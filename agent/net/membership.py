"""This node's place in a flock, as one object: what it holds, and what it may do with it.

Everything that changes who belongs goes through here, so that it is on the disk before anybody is
told. Disks are slow and the loop must not wait for them, so changes are written in a thread, one
after the other; what is written is taken when its turn comes, so that a later state is never
overwritten by an earlier one.

Connections are not made here: ``enrolment`` answers, ``joining`` asks, both with a membership.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from pathlib import Path

from agent.api.errors import MembershipError, NotKeptError
from agent.host.key_store import KeyStore
from agent.host.private_files import FileGuard, PrivateFolder
from agent.net import certificates, identity
from agent.net.acts import Act, Pen
from agent.net.authority import KEEPER, LEFT, NODE_LIFE_S, Authority, Flock
from agent.net.certificates import Applicant, Member, Signer, role_of
from agent.net.identity import AuthorityFile, Identity, IdentityFolder
from agent.net.invitation import KEEPER_BYTES, Invitation, usable_addresses
from agent.net.invitation_book import (
    BOOK_FILE,
    CHALLENGE_BYTES,
    VALID_S_DEFAULT,
    Entry,
    InvitationBook,
)
from agent.net.recovery import founded, new_phrase
from agent.net.roster import ROSTER_FILE, Clock, Roster
from agent.net.tls import TlsContexts, TlsObject, peer_of
from agent.protocol.link_reasons import NoLink
from agent.protocol.signing import Trust


class Membership:
    """A member's identity, roster and contexts, and the authority where it is a keeper."""

    def __init__(
        self,
        folder: IdentityFolder,
        own: Identity,
        roster: Roster,
        authority: Authority | None,
        clock: Clock = time.time,
        key_file: AuthorityFile | None = None,
    ) -> None:
        self.folder: PrivateFolder = folder
        self.roster = roster
        self.clock = clock
        self._own = own
        self.phrase = ""
        """Of the flock, where it was made just now: shown once and kept nowhere."""
        self._key_file = key_file or AuthorityFile(folder, own.flock)
        self._authority = authority
        self._book = InvitationBook(folder, own.flock.flock_id) if authority else None
        self.tls = TlsContexts(own.flock, identity.paths_in(folder), keeper=self.keeper)
        self.signer = Signer(own.node_id, own.key)
        self._roster_kept = True
        self._expelled_keepers = frozenset(self._keepers_expelled())
        self._disk = asyncio.Lock()
        self.node_life_s: float = NODE_LIFE_S

    @classmethod
    def open(
        cls,
        path: Path,
        clock: Clock = time.time,
        guard: FileGuard | None = None,
        store: KeyStore | None = None,
    ) -> Membership | None:
        """Return the membership saved in a folder; None when this node belongs to no flock. A keeper's
        key of the authority is kept in the ``store``, in a file for None. Raise
        ``MembershipError`` for files that are damaged, missing or open to other accounts."""
        folder = IdentityFolder(path, guard, store)
        own = identity.load_identity(folder)
        if own is None:
            return None
        roster = Roster.load(folder, own.flock, clock)
        roster.learn(own.member.certificate)
        key_file = AuthorityFile(folder, own.flock)
        return cls(folder, own, roster, key_file.load(), clock, key_file)

    @property
    def node_id(self) -> str:
        """This node's name in every message."""
        return self._own.node_id

    @property
    def member(self) -> Member:
        """This node's certificate, as others see it."""
        return self._own.member

    @property
    def flock(self) -> Flock:
        """The flock that this node belongs to."""
        return self._own.flock

    @property
    def keeper(self) -> bool:
        """Whether this node holds the authority's key."""
        return self._authority is not None

    @property
    def appointed(self) -> bool:
        """Whether this node may hold the authority's key."""
        return self.node_id in self.roster.keepers()

    @property
    def pen(self) -> Pen:
        """What signs acts on the flock in the name of this node."""
        return Pen(self.flock.flock_id, self._own.key)

    @property
    def key_file(self) -> AuthorityFile:
        """Where the authority's key is, or would be."""
        return self._key_file

    def check_administrator(self, what: str) -> None:
        """Raise ``MembershipError``, naming those who can, unless this node may act on the flock."""
        roster = self.roster
        if not roster.standing.is_administrator(self.node_id):
            known = [roster.member(each) for each in roster.administrators()]
            names = ", ".join(each.host_name for each in known if each) or "no machine known"
            raise MembershipError(
                f"this machine cannot {what}: do it on one of an administrator ({names})"
            )

    def authority(self, what: str) -> Authority:
        """Return the flock's authority, whose key a keeper holds; on another node raise
        ``MembershipError`` that says which keepers can do ``what``."""
        if self._authority is None:
            known = [self.roster.member(node_id) for node_id in self.roster.keepers()]
            names = ", ".join(member.host_name for member in known if member) or "no machine known"
            raise MembershipError(f"this machine cannot {what}: do it on a keeper ({names})")
        return self._authority

    def book(self) -> InvitationBook:
        """Return the invitations of this keeper; raise ``MembershipError`` on a node that is no
        keeper, and on a keeper whose book is not open until Wingbeat is started again."""
        if self._book is None:
            self.authority("invite")
            raise MembershipError("this machine keeps no invitations: start Wingbeat again")
        return self._book

    async def invite(
        self,
        hosts: Sequence[str],
        port: int,
        uses: int = 1,
        valid_for_s: float = VALID_S_DEFAULT,
        role: str = "",
    ) -> Invitation:
        """Make, save and return a new invitation to any keeper, under the addresses by which others
        reach them; whoever comes by it has the ``role``, an operator's for none. Raise
        ``MembershipError`` on a node that is no keeper or no administrator, for limits out of range,
        without an address that others reach, or when the disk refuses."""
        book, addresses = self.book(), usable_addresses(hosts, port)
        self.check_administrator("invite")
        async with self._disk:
            secret, expires_s = await asyncio.to_thread(
                book.add, uses, valid_for_s, self.clock(), role
            )
        own = certificates.key_hash(self._own.key.public_key())[:KEEPER_BYTES]
        return Invitation(self.flock.flock_id, own, secret, expires_s, addresses)

    async def withdraw(self, number: str) -> bool:
        """End an invitation by its number in the book, on disk; return False when there is none of
        that number or it was ended before. Raise ``MembershipError`` on a node that is no keeper or
        when the disk refuses."""
        async with self._disk:
            return await asyncio.to_thread(self.book().withdraw, number)

    async def join_book(self, entries: Sequence[Entry]) -> bool:
        """Take in what another keeper knows of invitations, save it, and tell whether there was
        news; raise ``MembershipError`` on a node that is no keeper or when the disk refuses."""
        async with self._disk:
            return await asyncio.to_thread(self.book().join, entries, self.clock())

    def proof(self, tag: bytes, challenge: bytes) -> bytes:
        """Return the proof for a newcomer that this keeper knows the invitation of this tag; empty
        when it does not, the question is malformed or this node is no keeper."""
        if self._book is None or not tag or len(challenge) != CHALLENGE_BYTES:
            return b""
        return self._book.proof(tag, challenge, self.member.certificate)

    async def end_known_invitations(self) -> None:
        """End, on disk, the invitations that expelled keepers knew; do nothing without any, or on a
        node that is no keeper. When an expulsion is news, all end, whenever they say that they were
        made: the keeper may have told of some of its own, with any time, also to those who did not
        know yet. Raise ``NotKeptError`` when the disk refuses: none has ended then, and the next
        call tries again."""
        book, expelled = self._book, self._keepers_expelled()
        news = expelled.keys() - self._expelled_keepers
        self._expelled_keepers |= news
        if book is None or not expelled:
            return
        until_s = math.inf if news else max(expelled.values())
        try:
            async with self._disk:
                await asyncio.to_thread(book.end_made_until, until_s)
        except NotKeptError:
            self._expelled_keepers -= news
            raise

    def _keepers_expelled(self) -> dict[str, int]:
        """When each of them was, as was stated."""
        standing = self.roster.standing
        return {
            each.node_id: each.time_s
            for each in self.roster.departures()
            if each.expelled and standing.was_keeper(each.node_id)
        }

    async def redeem(self, secret: bytes, node_id: str) -> str | None:
        """Burn a use of an invitation for this node, on disk; return None when done (or done
        before), else a sentence that says why not. Raise ``MembershipError`` on a node that is no
        keeper or when the disk refuses."""
        async with self._disk:
            return await asyncio.to_thread(self.book().redeem, secret, node_id, self.clock())

    async def renew_own(self, host_name: str | None = None) -> None:
        """Issue this keeper a certificate that begins now and ends a second after the one that it has,
        save and use it; raise ``MembershipError`` on a node that is no keeper or when the disk refuses.
        A roster takes in of each member what ends last: where the old one begins in months, as the
        clock was ahead, one that only began earlier would not count."""
        applicant = certificates.read_request(self.certificate_request(host_name))
        left_s = self.member.valid_until_s + 1 - int(self.clock())  # as certificates round it
        await self.adopt_certificate(await self.admit(applicant, left_s))

    async def admit(self, applicant: Applicant, life_s_min: float = 0.0, role: str = "") -> Member:
        """Issue a certificate to a newcomer or a member, save it in the roster and return it; it
        lasts as long as this flock's do, or ``life_s_min`` if that is longer. A newcomer is what the
        ``role`` says, a member what it was. Raise ``MembershipError`` on a node that is no keeper, when the roster is
        full or the disk refuses; if it does so at last, the member is known until a restart.
        Whether the applicant may be let in is not asked."""
        authority = self.authority("admit")
        known = self.roster.known(applicant.node_id)
        if known is None:
            await self.save_roster()  # whom this disk cannot keep is told so, and known to nobody
        else:
            role = role_of(self.roster.standing.members, known)
        life_s = max(self.node_life_s, life_s_min)
        member = authority.issue(applicant, self.clock(), life_s, self.signer, role)
        self.roster.learn(member.certificate)
        await self.save_roster()
        return member

    async def state_expulsion(self, node_id: str) -> None:
        """Expel a member for ever, in a flock without acts; save that, and end what invitations it
        knew as a keeper. Raise ``MembershipError``, with nothing done, on a
        node that is no keeper and for whom is no member or the only keeper; also when the disk
        refuses, where it is expelled all the same and only not saved."""
        authority = self.authority("expel")
        self.check_departure(node_id, "expel")
        self.roster.expel(authority, node_id, self.signer)
        await self.save_roster()
        await self.end_known_invitations()

    def expulsion_warning(self, node_id: str) -> str | None:
        """Return what a person has to know who expels this keeper, with whom it had let in; None
        when the node is no keeper. Nobody is expelled by it."""
        if node_id not in self.roster.keepers():
            return None
        let_in = self.roster.standing.let_in_by(node_id)
        known = [self.roster.member(each) for each in let_in if each != node_id]
        names = ", ".join(member.host_name for member in known if member) or "nobody"
        expelled = self.roster.known(node_id)
        name = node_id if expelled is None else expelled.host_name
        if self.roster.keepers() == [node_id]:
            return (
                f"{name} was the only keeper: nobody joins or stays for longer than its certificate "
                f"until an administrator takes its place (`wingbeat flock recover`). It had let in "
                f"{names}: see whether they belong here"
            )
        return (
            f"{name} was a keeper; it can let in nobody any more, and open invitations have "
            f"ended. It had let in {names}: see whether they belong here"
        )

    def verify(self, tls: TlsObject | None) -> tuple[str, str] | NoLink:
        """Return node id and host name of the member at the other end, or why it is none."""
        peer = peer_of(tls, self.roster)
        return peer if isinstance(peer, NoLink) else (peer.node_id, peer.host_name)

    async def record_departure(self, node_id: str) -> None:
        """State, as a keeper, that a member has left at its own wish, in a flock without acts, and
        save that; raise ``MembershipError`` on a node that is no keeper, for whom
        is no member or the only keeper, and when the disk refuses."""
        authority = self.authority("leave for others")
        self.check_departure(node_id, "let go")
        self.roster.depart(authority, LEFT, node_id, self.signer)
        await self.save_roster()

    async def take_acts(self, *acts: Act) -> bool:
        """Take in acts on the flock, save them with what follows from them for the keys here, and
        tell whether there was news. Raise ``MembershipError`` when they are not signed as they say or
        too many; ``NotKeptError`` when the disk refuses, where they count all the same."""
        news = self.roster.act(*acts)
        if news:
            self._roster_kept = False
            await self.keep_roster()
        return news

    @property
    def trust(self) -> Trust:
        """Return whose signatures count for what in this flock; in one without acts nobody
        signs."""
        if not self.roster.charter:
            return Trust()
        rights = self.roster.charter.rights
        until_ms = (rights.founded_s + 1) * 1000 - 1  # acts have seconds
        return Trust(until_ms, tuple(sorted(rights.signers)), rights.people)

    def sign(self, data: bytes) -> bytes:
        """Return this node's signature of what it writes."""
        return self._own.key.sign(data, certificates.SIGNATURE)

    def is_signed(self, node_id: str, data: bytes, signature: bytes) -> bool:
        """Tell whether a node has signed this, also one that does not belong any more; False for a
        node whose certificate was not seen."""
        member = self.roster.known(node_id)
        return member is not None and certificates.has_signed(member.certificate, signature, data)

    async def merge_roster(self, data: bytes) -> bool:
        """Take in a peer's roster and save it; tell whether there was news. Raise ``MembershipError``
        for a roster that is wrong, with nothing taken in; ``NotKeptError`` when this disk does not
        take it: the news counts then all the same."""
        news = self.roster.merge(data)
        if news:
            self._roster_kept = False
            await self.keep_roster()
        return news

    async def keep_roster(self) -> None:
        """Save what others told and the disk has not taken so far, end the invitations that
        expelled keepers knew, and let go of the authority's key where it was taken from this node; do
        nothing when all is saved. Raise ``NotKeptError`` when the disk still refuses; the next call
        tries again."""
        if self._roster_kept:
            return
        self._roster_kept = True
        try:
            await self.save_roster()
            await self.end_known_invitations()
            if self.keeper and self.roster.charter and not self.appointed:
                await self._let_go_of_key()
        except MembershipError as error:
            self._roster_kept = False
            raise NotKeptError(str(error)) from error

    async def _let_go_of_key(self) -> None:
        async with self._disk:
            await asyncio.to_thread(self._key_file.remove)
        self._authority = self._book = None
        self.tls.refresh(keeper=False)

    async def adopt_certificate(self, member: Member) -> None:
        """Save a renewed certificate of this node and use it for connections made from now on.
        Raise ``MembershipError`` when it is not this node's, with nothing changed, or when the disk
        refuses: it is used then only if itself was saved, and not the roster."""
        if member.node_id != self.node_id or not self.flock.has_issued(member.certificate):
            raise MembershipError("the renewed certificate is not for this machine")
        self.roster.learn(member.certificate)
        async with self._disk:
            await asyncio.to_thread(identity.save_certificate, self.folder, member)
        self._own = Identity(self._own.key, self.flock, member)
        self.tls.refresh(keeper=self.keeper)
        await self.save_roster()

    async def adopt_authority(self, authority: Authority) -> None:
        """Become a keeper with the authority's key that another one handed on, and save it; raise
        ``NotKeptError`` when the disk refuses."""
        async with self._disk:
            await asyncio.to_thread(self._key_file.save, authority)
        self._use(authority)

    async def look_for_key(self) -> None:
        """Ask the system's key store once more for the authority's key where it was locked at the
        start, and use the key if it comes; do nothing otherwise. Raise ``MembershipError`` for a key
        that is wrong."""
        if self._key_file.locked:
            found = await asyncio.to_thread(self._key_file.load)
            if found is not None:
                self._use(found)

    def _use(self, authority: Authority) -> None:
        self._authority = authority
        self._book = InvitationBook(self.folder, self.flock.flock_id)
        self.tls.refresh(keeper=True)

    def certificate_request(self, host_name: str | None = None) -> bytes:
        """Return what this node sends to have its certificate renewed, under another host name if
        given."""
        return certificates.request_certificate(self._own.key, host_name or self.member.host_name)

    @property
    def alone(self) -> bool:
        """Whether the flock has nobody else."""
        return all(member.node_id == self.node_id for member in self.roster.members())

    @property
    def last_keeper(self) -> bool:
        """Whether the flock has others, and nobody else who could admit or renew."""
        return self.keeper and not self.alone and self.roster.keepers() == [self.node_id]

    async def forget(self) -> None:
        """Remove all that makes this node a member, from this disk only: nobody is told. Raise
        ``MembershipError`` when a file cannot be removed."""
        async with self._disk:
            await asyncio.to_thread(self._key_file.remove)
            await asyncio.to_thread(forget_membership, self.folder)

    def check_departure(self, node_id: str, verb: str) -> None:
        """Raise ``MembershipError`` where a node cannot be made to leave, as it is no member or the
        only keeper; ``verb`` is what was tried, for the sentence."""
        if self.roster.member(node_id) is None:
            raise MembershipError(f"{node_id} is not a member: there is nobody to {verb}")
        if self.roster.keepers() == [node_id]:
            raise MembershipError(
                f"cannot {verb} the only keeper, nobody could admit or renew any more: "
                f"appoint another one first"
            )

    async def save_roster(self) -> None:
        """Write the roster to the disk; raise ``NotKeptError`` when it refuses. The bytes are taken
        on the loop, when the turn has come."""
        async with self._disk:
            data = self.roster.to_bytes()
            await asyncio.to_thread(self.folder.write, ROSTER_FILE, data)


def create_flock(
    path: Path,
    flock_name: str,
    host_name: str,
    clock: Clock = time.time,
    guard: FileGuard | None = None,
    store: KeyStore | None = None,
) -> Membership:
    """Make a flock with this node as its first member, administrator and keeper, save it at ``path``
    and return the membership, which knows the flock's recovery ``phrase``; waits for the disk.
    ``guard`` keeps other accounts out, that of the system for None; the authority's key goes into the
    ``store``, a file for None. Raise ``MembershipError`` when this machine has a flock already, the name is impossible or
    the disk refuses; files that were written stay then."""
    folder = IdentityFolder(path, guard, store)
    refuse_second_flock(folder, "", clock())
    authority = Authority.create(flock_name, clock())
    folder.prepare()
    folder.remove(BOOK_FILE)
    key = identity.own_key(folder)
    node = certificates.read_request(certificates.request_certificate(key, host_name))
    signer = Signer(node.node_id, key)
    member = authority.issue(node, clock(), signer=signer)
    roster = Roster(authority.flock, clock)
    roster.founder = member.node_id
    roster.learn(member.certificate)
    roster.record(authority.state(KEEPER, member.node_id, clock(), signer))
    phrase = new_phrase()
    roster.act(founded(authority, Pen(authority.flock.flock_id, key), phrase, clock()))
    key_file = AuthorityFile(folder, authority.flock)
    identity.save_flock(folder, authority.flock)
    key_file.save(authority)
    roster.save(folder)
    identity.save_certificate(folder, member)
    own = Identity(key, authority.flock, member)
    made = Membership(folder, own, roster, authority, clock, key_file)
    made.phrase = phrase
    return made


def refuse_second_flock(folder: PrivateFolder, joining: str, now_s: float) -> None:
    """Raise ``MembershipError`` when this machine belongs to a flock already, or its files are
    damaged. It may join its own again, ``joining`` being that flock's id, once its certificate has
    ended; an empty one stands for a new flock and never may."""
    own = identity.load_identity(folder)
    if own is None:
        return
    if own.flock.flock_id != joining or now_s <= own.member.valid_until_s:
        raise MembershipError(
            f"this machine belongs to the flock {own.flock.name} already: leave that first"
        )


def forget_membership(folder: PrivateFolder) -> None:
    """Remove certificate, flock, roster, invitations and keys, this node's own too, as far as they
    are there: who joins next is another node. Raise ``MembershipError`` at the first that cannot be
    removed; those before it are gone."""
    identity.remove_identity(folder)
    folder.remove(ROSTER_FILE)
    folder.remove(BOOK_FILE)
