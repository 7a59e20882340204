"""What the words of keepers are worth: who is one, who was, and what stays of what it said.

Statements and certificates are signed twice: by the authority's key, which all keepers have seen,
and by the own key of the keeper that made them. The first founder's word counts from the
beginning, a keeper's from the statement that appointed it. When a keeper goes, by expulsion or of
itself, the statement that says so lists what it had said and whom it had let in so far; what is
not in that list counts no more, whenever it claims to have been made. So a key that an expelled
keeper took with it lets nobody in: its own name is worth nothing any more, and it has no other's.

These are questions about a set of statements, and hold whatever order it came in. What may come
into the set at all is the roster's to decide (``roster``): nothing of a keeper that is known to be
gone. Two keepers that expel each other at the same moment split those who heard the one first from
those who heard the other; that needs a person, and a new flock at worst.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.net.authority import EXPELLED, KEEPER, LEFT, Statement, statement_id
from agent.net.certificates import Member
from agent.net.vouching import is_vouched, voucher_of

Said = Mapping[tuple[str, str], Statement]


@dataclass(frozen=True, slots=True)
class Standing:
    """Questions about members and statements as they are known. Without a founder (a flock made
    before keepers signed in their own names) every word under the authority's key counts."""

    founder: str
    members: Mapping[str, Member]
    said: Said

    def departure(self, node_id: str) -> Statement | None:
        """Return the statement by which a node belongs no more, None when there is none that
        counts; an expulsion outweighs having left."""
        return self._departure(node_id, ())

    def is_keeper(self, node_id: str) -> bool:
        """Tell whether the node may hold the authority's key and its word counts."""
        return self.was_keeper(node_id) and self.departure(node_id) is None

    def was_keeper(self, node_id: str) -> bool:
        """Tell whether the node is a keeper now or was one once."""
        if self.founder and node_id == self.founder:
            return True
        appointed = self.said.get((KEEPER, node_id))
        return appointed is not None and self.counts(appointed)

    def counts(self, statement: Statement) -> bool:
        """Tell whether a statement counts: whoever made it is still here, or went and this was to
        stay."""
        return self._counts(statement, ())

    def belongs(self, member: Member) -> bool:
        """Tell whether the member belongs: it did not depart, and whoever let it in may do so, or
        might and it was to stay."""
        return self.departure(member.node_id) is None and self.was_let_in(member)

    def was_let_in(self, member: Member) -> bool:
        """Tell whether a keeper whose word counts has let the member in; True for all while the
        founder is unknown."""
        if not self.founder:
            return True
        voucher = voucher_of(member.certificate)
        if voucher is None or not self.was_keeper(voucher.keeper):
            return False
        own = voucher.keeper == member.node_id
        keeper = member if own else self.members.get(voucher.keeper)
        if keeper is None or not is_vouched(voucher, member.node_id, keeper.certificate):
            return False
        gone = self.departure(voucher.keeper)
        return gone is None or member.node_id in gone.kept

    def let_in_by(self, keeper: str) -> list[str]:
        """Return the ids of the members that a keeper let in and that still belong, sorted."""
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
            if statement is not None and self._counts(statement, asked):
                return statement
        return None

    def _counts(self, statement: Statement, asked: tuple[Statement, ...]) -> bool:
        """What hangs on itself (who states its own departure) counts."""
        if not self.founder or statement in asked:
            return True
        gone = self._departure(statement.by, (*asked, statement))
        return gone is None or gone is statement or statement_id(statement) in gone.kept_statements
