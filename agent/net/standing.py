"""What the words of keepers are worth: who is one, who was, who belongs and who does not any more.

Statements and certificates are signed twice: by the authority's key, which all keepers have seen,
and by the own key of the keeper that made them. The first founder's word counts from the
beginning, a keeper's from the statement that appointed it. When a keeper goes, by expulsion or of
itself, the statement that says so lists what it had said and whom it had let in so far; what is
not in that list counts no more, whenever it claims to have been made. So a key that an expelled
keeper took with it lets nobody in: its own name is worth nothing any more, and it has no other's.

These are questions about a set of statements, and hold whatever order it came in. What may come
into the set at all is decided here too: nothing of a keeper that is known to be
gone. Two keepers that expel each other at the same moment split those who heard the one first from
those who heard the other; that needs a person, and a new flock at worst.

**With acts** (``charter``; a flock that was made before there were any has none until it is upgraded)
they decide who is a keeper and who is out. What keepers had stated before counts as far as the founding
names it; what they state besides is for versions that know no acts, and kept only where it says the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.net.acts import ADMINISTRATOR, HELPER, OPERATOR
from agent.net.authority import EXPELLED, KEEPER, LEFT, Statement, statement_id
from agent.net.certificates import Member, is_vouched, role_of, voucher_of
from agent.net.rights import Rights

Said = dict[tuple[str, str], Statement]


@dataclass(frozen=True, slots=True)
class Standing:
    """Questions about members and statements as they are known. Without a founder (a flock made
    before keepers signed in their own names) every word under the authority's key counts."""

    founder: str
    members: dict[str, Member]
    said: Said
    rights: Rights | None = None
    """What acts amount to; None in a flock without."""

    def departure(self, node_id: str) -> Statement | None:
        """Return the statement by which a node belongs no more, None when there is none that
        counts, for an unknown node too; an expulsion outweighs having left."""
        gone = self.rights.departed.get(node_id) if self.rights else None
        if gone is not None:
            return Statement(gone.kind, node_id, gone.time_s, b"", kept=tuple(gone.kept))
        return self._departure(node_id, ())

    def is_keeper(self, node_id: str) -> bool:
        """Tell whether the node may hold the authority's key and its word counts."""
        held = self.rights.is_keeper(node_id) if self.rights else self.was_keeper(node_id)
        return held and self.departure(node_id) is None

    def is_administrator(self, node_id: str) -> bool:
        """Tell whether the node may act on the flock; keepers do where it has no acts."""
        if self.rights is None:
            return self.is_keeper(node_id)
        person = self.rights.person(node_id)
        return person in self.rights.administrators and self.departure(node_id) is None

    def role(self, node_id: str) -> str:
        """Return what a member is in the flock: what an administrator made it, else what it was
        invited as, an operator where nobody said and for a node that is not known."""
        if self.is_administrator(node_id):
            return ADMINISTRATOR
        member = self.members.get(node_id)
        invited = role_of(self.members, member) if member else OPERATOR
        given = self.rights.roles.get(node_id, invited) if self.rights else invited
        return HELPER if given == HELPER else OPERATOR

    def was_keeper(self, node_id: str) -> bool:
        """Tell whether the node is a keeper now or was one once: it founded the flock, or was
        appointed by a statement that counts."""
        if self.rights is not None:
            return node_id in self.rights.keepers
        if self.founder and node_id == self.founder:
            return True
        appointed = self.said.get((KEEPER, node_id))
        return appointed is not None and self.counts(appointed)

    def counts(self, statement: Statement) -> bool:
        """Tell whether a statement counts: whoever made it is still here, or went and this was to
        stay; in a flock with acts, only those that its founding names."""
        if self.rights is None:
            return self._counts(statement, ())
        return statement_id(statement) in self.rights.statements_before

    def may_state(self, statement: Statement) -> bool:
        """Tell whether a statement that comes now is taken in: made by a keeper whose word counts;
        in a flock with acts only older ones, and those that repeat what acts say for older
        versions."""
        if self.rights is None:
            return self.is_keeper(statement.by)
        if self.counts(statement):
            return True
        if not self.is_keeper(statement.by):
            return False
        if statement.kind == KEEPER:
            return self.rights.is_keeper(statement.node_id)
        gone = self.rights.departed.get(statement.node_id)
        return gone is not None and gone.kind == statement.kind

    def belongs(self, member: Member) -> bool:
        """Tell whether the member belongs: it did not depart, and whoever let it in may do so, or
        might and it was to stay."""
        return self.departure(member.node_id) is None and self.was_let_in(member)

    def was_let_in(self, member: Member) -> bool:
        """Tell whether a keeper whose word counts has let the member in, also one that went since,
        if this was to stay; True for all while the founder is unknown. Whether the member departed
        is not asked."""
        if not self.founder or (self.rights and member.node_id in self.rights.before):
            return True
        voucher = voucher_of(member.certificate)
        if voucher is None or not self.was_keeper(voucher.keeper):
            return False
        own = voucher.keeper == member.node_id
        keeper = member if own else self.members.get(voucher.keeper)
        if keeper is None or not is_vouched(voucher, member.node_id, keeper.certificate):
            return False
        if self.rights is not None:
            kept = self.rights.keepers[voucher.keeper]
            return kept is None or member.node_id in kept
        gone = self.departure(voucher.keeper)
        return gone is None or member.node_id in gone.kept

    def precedence(self, statement: Statement) -> tuple[bool, int, bytes]:
        """Return which of two statements on the same is kept, the lesser: one that counts, then the
        earlier."""
        later = self.rights is not None and not self.counts(statement)
        return later, statement.time_s, statement.signature

    def let_in_by(self, keeper: str) -> list[str]:
        """Return the ids of the members that a keeper let in, by what their certificates say, and
        that still belong, sorted."""
        found = []
        for node_id, member in self.members.items():
            voucher = voucher_of(member.certificate)
            if voucher is not None and voucher.keeper == keeper and self.belongs(member):
                found.append(node_id)
        return sorted(found)

    def said_by(self, keeper: str) -> list[bytes]:
        """Return the ids of the statements of a keeper that count, sorted."""
        return sorted(
            statement_id(each)
            for each in self.said.values()
            if each.by == keeper and self.counts(each)
        )

    def _departure(self, node_id: str, asked: tuple[Statement, ...]) -> Statement | None:
        for kind in (EXPELLED, LEFT):
            statement = self.said.get((kind, node_id))
            if statement is None:
                continue
            if self.counts(statement) if self.rights else self._counts(statement, asked):
                return statement
        return None

    def _counts(self, statement: Statement, asked: tuple[Statement, ...]) -> bool:
        """What hangs on itself (who states its own departure) counts."""
        if not self.founder or statement in asked:
            return True
        gone = self._departure(statement.by, (*asked, statement))
        return gone is None or gone is statement or statement_id(statement) in gone.kept_statements
