"""Who belongs to the flock, and who does not any more: a join, so that all nodes come to agree.

A node learns of members in any order, from any peer, again and again, and after a partition from
both sides. So the roster is a join, like the table: of each node the certificate that ends last,
and of each kind of statement about it the earliest. Merging is commutative, associative and
idempotent. Everything in it is signed by the flock's authority: a peer can pass a roster on, but
can put nothing into it, and a merge takes all of what a peer sends or nothing.

An expulsion is for ever: it names the key. A machine that was expelled by mistake joins again
with a new key. That a certificate is missing from the roster is no reason to refuse it (the
news of a newcomer may be slower than the newcomer), only an expulsion is, and that no keeper whose
word counts has let it in.

Statements are what keepers say of a node: ``expelled`` and ``left`` end its membership, ``keeper``
lets it hold the authority's key. Kinds of later versions are kept and passed on. Of a keeper that
is known to be gone nothing new is taken in; here the roster is more than a join, and an old word
of such a keeper that is still on its way is lost. The roster of the keeper that let this node in,
and its own on the disk, are taken as they are, with the name of the flock's founder.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.api.errors import MembershipError
from agent.host.private_files import PrivateFolder
from agent.net import certificates
from agent.net.acts import Act
from agent.net.authority import EXPELLED, KEEPER, LEFT, Authority, Flock, Statement, stated_by
from agent.net.certificates import CERTIFICATE_BYTES_MAX, Member, Signer
from agent.net.charter import ACTS_MAX, Charter
from agent.net.identity import read_named
from agent.net.standing import Standing
from agent.protocol.link_reasons import LinkKind, NoLink
from agent.protocol.phrases import UNREADABLE

ROSTER_FILE = "roster"
ROSTER_BYTES_MAX = 1024 * 1024
MEMBERS_MAX = 1_000
STATEMENTS_MAX = 3_000

Clock = Callable[[], float]


class Departure(Struct, frozen=True):
    """A node that belonged once: when and how it ceased to."""

    node_id: str
    host_name: str
    time_s: int
    expelled: bool


class _Content(Struct, frozen=True, array_like=True):
    version: int
    flock_id: Annotated[str, Meta(max_length=64)]
    certificates: Annotated[
        tuple[Annotated[bytes, Meta(max_length=CERTIFICATE_BYTES_MAX)], ...],
        Meta(max_length=MEMBERS_MAX),
    ]
    statements: Annotated[tuple[Statement, ...], Meta(max_length=STATEMENTS_MAX)]
    founder: Annotated[str, Meta(max_length=64)] = ""
    acts: Annotated[tuple[Act, ...], Meta(max_length=ACTS_MAX + MEMBERS_MAX)] = ()


_decoder = msgspec.msgpack.Decoder(_Content)


class Roster:
    """The flock's members as this node knows them."""

    def __init__(self, flock: Flock, clock: Clock = time.time) -> None:
        self.flock = flock
        self.founder = ""
        self._clock = clock
        self._members: dict[str, Member] = {}
        self._statements: dict[tuple[str, str], Statement] = {}
        self._watchers: list[Callable[[], None]] = []
        self.charter = Charter(flock)
        self._bytes: bytes | None = None
        self._belonging: dict[str, Member] | None = None

    def members(self) -> list[Member]:
        """Return all who belong, in the order of their ids; also those whose certificate has ended
        or is not valid yet."""
        return list(self._who_belongs().values())

    def member(self, node_id: str) -> Member | None:
        """Return the member with this id, None when it does not belong."""
        return self._who_belongs().get(node_id)

    def known(self, node_id: str) -> Member | None:
        """Return the node with this id if its certificate was seen, whether or not it belongs; else
        None."""
        return self._members.get(node_id)

    def _who_belongs(self) -> dict[str, Member]:
        if self._belonging is None:
            standing = self.standing
            self._belonging = {
                node_id: self._members[node_id]
                for node_id in sorted(self._members)
                if standing.belongs(self._members[node_id])
            }
        return self._belonging

    @property
    def standing(self) -> Standing:
        """What is known of keepers and their words."""
        return self._standing(self._members, self._statements, self.charter)

    def departures(self) -> list[Departure]:
        """Return all who were expelled or left, by a statement that counts, in the order of their
        ids."""
        ids = {node_id for kind, node_id in self._statements if kind in (EXPELLED, LEFT)}
        ids |= self.charter.rights.departed.keys()
        return [departure for node_id in sorted(ids) if (departure := self.departure(node_id))]

    def departure(self, node_id: str) -> Departure | None:
        """Return when and how a node ceased to belong, None if it did not; being expelled outweighs
        having left."""
        statement = self.standing.departure(node_id)
        if statement is None:
            return None
        known = self._members.get(node_id)
        name = known.host_name if known else node_id
        return Departure(node_id, name, statement.time_s, statement.kind == EXPELLED)

    def keepers(self) -> list[str]:
        """Return the ids, sorted, of those who may hold the authority's key and have not departed,
        also where their certificate was not seen here."""
        ids = {node_id for kind, node_id in self._statements if kind == KEEPER}
        ids |= self.charter.rights.keepers.keys()
        standing = self.standing
        return [node_id for node_id in sorted(ids) if standing.is_keeper(node_id)]

    def administrators(self) -> list[str]:
        """Return the ids of the members that may act on the flock, sorted."""
        standing = self.standing
        return [each for each in self._who_belongs() if standing.is_administrator(each)]

    def act(self, *acts: Act) -> bool:
        """Take in acts and tell whether that changed anything; raise ``MembershipError`` when one is
        not signed as it says or there are too many. What its signer may not sign is left out."""
        return self._join([], [], acts, trusted=True)

    def objection_to(self, certificate: bytes) -> NoLink | None:
        """Return None for a certificate of whoever belongs now, else why it is not accepted:
        unreadable, of another flock, not valid at this time, departed, or not let in by a keeper
        whose word counts."""
        try:
            member = certificates.member_of(certificate)
            if not self.flock.has_issued(certificate):
                return NoLink("CertificateOfOther", name=self.flock.name)
        except MembershipError as error:
            return NoLink("CertificateUnreadable", error=str(error))
        now_s = self._clock()
        if now_s < member.valid_from_s:
            return NoLink("CertificateFrom", dated_ms=round(member.valid_from_s * 1000))
        if now_s > member.valid_until_s:
            return NoLink("CertificateUntil", dated_ms=round(member.valid_until_s * 1000))
        departure = self.departure(member.node_id)
        if departure is not None:
            kind: LinkKind = "WasExpelled" if departure.expelled else "HasLeft"
            return NoLink(kind, dated_ms=round(departure.time_s * 1000))
        return None if self.standing.was_let_in(member) else NoLink("NotLetIn")

    def learn(self, certificate: bytes) -> bool:
        """Take in a member's certificate and tell whether that changed anything; False also when no
        keeper whose word counts has let it in. Raise ``MembershipError`` when it cannot be read, is
        not of this flock, or the roster is full."""
        return self._join([certificate], [])

    def record(self, statement: Statement) -> bool:
        """Take in a statement and tell whether that changed anything; False also when whoever made
        it does not count. Raise ``MembershipError`` when it is not of this flock's authority or the
        roster is full."""
        return self._join([], [statement])

    def expel(self, authority: Authority, node_id: str, signer: Signer | None = None) -> Statement:
        """State that a node is expelled, take that in and return the statement; nothing is saved.
        Raises what ``record`` raises."""
        return self.depart(authority, EXPELLED, node_id, signer)

    def depart(
        self, authority: Authority, kind: str, node_id: str, signer: Signer | None
    ) -> Statement:
        """State that a node no longer belongs (``kind``: expelled or left), take that in, unsaved, if
        the word of the ``signer`` counts, and return the statement, either way; of a keeper it lists,
        where there is a signer, which of its words stay valid. Raise ``MembershipError`` for another
        flock's authority or a roster that is full."""
        standing = self.standing
        kept: tuple[tuple[str, ...], tuple[bytes, ...]] = ((), ())
        if signer is not None and standing.was_keeper(node_id):
            kept = (tuple(standing.let_in_by(node_id)), tuple(standing.said_by(node_id)))
        statement = authority.state(kind, node_id, self._clock(), signer, kept)
        self.record(statement)
        return statement

    def merge(self, data: bytes) -> bool:
        """Take in what counts of another node's roster, or nothing of it where something is wrong;
        tell whether there was news. Raise ``MembershipError`` for bytes that no member sends,
        another flock's roster, a wrong signature, and one that would make this too large."""
        content = self._read(data)
        return self._join(content.certificates, content.statements, content.acts)

    def adopt(self, data: bytes) -> None:
        """Take in a roster as it is, founder included, without asking whether its words count: this
        node's own, or that of the keeper that let it in. Raise ``MembershipError`` for bytes that are
        none, another flock's roster, a wrong signature, and one that would make this too large."""
        content = self._read(data)
        self.founder = content.founder
        self._join(content.certificates, content.statements, content.acts, trusted=True)

    def _read(self, data: bytes) -> _Content:
        content = _decoded(data)
        if content.flock_id != self.flock.flock_id:
            raise MembershipError("this is the roster of another flock")
        return content

    def to_bytes(self) -> bytes:
        """Return the roster as bytes for another node or the disk; equal rosters give equal
        bytes."""
        if self._bytes is None:
            members = tuple(self._members[key].certificate for key in sorted(self._members))
            statements = tuple(self._statements[key] for key in sorted(self._statements))
            content = _Content(
                1, self.flock.flock_id, members, statements, self.founder, self.charter.acts
            )
            self._bytes = msgspec.msgpack.encode(content)
        return self._bytes

    def digest(self) -> bytes:
        """Return what two nodes compare to see whether they have to exchange rosters."""
        return hashlib.sha256(self.to_bytes()).digest()[:16]

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call ``changed`` after each change from now on, before whoever made it goes on; return
        what ends that."""
        self._watchers.append(changed)
        return lambda: self._watchers.remove(changed)

    def save(self, folder: PrivateFolder) -> None:
        """Write the roster to the folder; raise ``NotKeptError`` when the disk refuses."""
        folder.write(ROSTER_FILE, self.to_bytes())

    @classmethod
    def load(cls, folder: PrivateFolder, flock: Flock, clock: Clock = time.time) -> Roster:
        """Return the roster on the disk, every signature checked; an empty one where there is none.
        Raise ``MembershipError`` when it cannot be read or is damaged."""

        def parse(data: bytes) -> Roster:
            roster = cls(flock, clock)
            roster.adopt(data)
            return roster

        return read_named(folder, ROSTER_FILE, parse) or cls(flock, clock)

    def _join(
        self,
        sent: Iterable[bytes],
        statements: Iterable[Statement],
        acts: Iterable[Act] = (),
        *,
        trusted: bool = False,
    ) -> bool:
        """Checks all that is new before any of it counts."""
        members, said = dict(self._members), dict(self._statements)
        offered, stated = list(sent), list(statements)
        standing, charter = self._standing(members, said, self.charter), self.charter

        def may_found(founding: Act) -> bool:
            return trusted or standing.is_keeper(founding.by)

        for _ in range(2):  # who founds is a keeper by what is known before; who leaves was let in
            charter = charter.joined(acts, may_found, members.__contains__)
            standing = self._standing(members, said, charter)
            _take_in(
                standing,
                [each for each in offered if self._is_news(members, each)],
                [each for each in stated if self._is_newly_said(standing, each)],
                trusted,
            )
        if (members, said, charter) == (self._members, self._statements, self.charter):
            return False
        if len(members) > MEMBERS_MAX or len(said) > STATEMENTS_MAX:
            raise MembershipError(
                f"the roster would have more than {MEMBERS_MAX} members or {STATEMENTS_MAX} "
                f"statements: make a new flock"
            )
        self._members, self._statements, self.charter = members, said, charter
        self._bytes = self._belonging = None
        for changed in list(self._watchers):
            changed()
        return True

    def _is_news(self, members: dict[str, Member], certificate: bytes) -> bool:
        offered = certificates.member_of(certificate)
        known = members.get(offered.node_id)
        if known and _strength(known) >= _strength(offered):
            return False
        if not self.flock.has_issued(certificate):
            raise MembershipError(f"a certificate in the roster is not of {self.flock.name}")
        return True

    def _is_newly_said(self, standing: Standing, statement: Statement) -> bool:
        known = standing.said.get((statement.kind, statement.node_id))
        if known and standing.precedence(known) <= standing.precedence(statement):
            return False
        if not self.flock.has_stated(statement):
            raise MembershipError(f"a statement in the roster is not of {self.flock.name}")
        return True

    def _standing(
        self,
        members: dict[str, Member],
        said: dict[tuple[str, str], Statement],
        charter: Charter,
    ) -> Standing:
        return Standing(self.founder, members, said, charter.rights if charter else None)


def _take_in(
    standing: Standing, offered: list[bytes], stated: list[Statement], trusted: bool
) -> None:
    waiting = len(offered) + len(stated) + 1
    while len(offered) + len(stated) < waiting:  # one word may make the next one count
        waiting = len(offered) + len(stated)
        offered = [each for each in offered if not _was_let_in(standing, each, trusted)]
        stated = [each for each in stated if not _heard(standing, each, trusted)]


def _was_let_in(standing: Standing, certificate: bytes, trusted: bool) -> bool:
    """Take the member in, if a keeper whose word counts has let it in."""
    offered = certificates.member_of(certificate)
    if not (trusted or standing.was_let_in(offered)):
        return False
    known = standing.members.get(offered.node_id)
    if known is None or _strength(known) < _strength(offered):
        standing.members[offered.node_id] = offered
    return True


def _heard(standing: Standing, statement: Statement, trusted: bool) -> bool:
    """Take the statement in, if it is of a keeper whose word counts now."""
    if standing.founder:
        keeper = standing.members.get(statement.by)
        if keeper is None or not stated_by(statement, keeper.certificate):
            return False
        if not (trusted or standing.may_state(statement)):
            return False
    key = (statement.kind, statement.node_id)
    known = standing.said.get(key)
    if known is None or standing.precedence(statement) < standing.precedence(known):
        standing.said[key] = statement
    return True


def _strength(member: Member) -> tuple[int, bytes]:
    return (member.valid_until_s, member.certificate)


def _decoded(data: bytes) -> _Content:
    if len(data) > ROSTER_BYTES_MAX:
        raise MembershipError(f"a roster of {len(data)} bytes; at most {ROSTER_BYTES_MAX}")
    try:
        return _decoder.decode(data)
    except UNREADABLE as error:
        raise MembershipError("holds no readable roster") from error
