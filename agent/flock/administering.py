"""What an administrator does with the flock of this node, for clients: by names, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Protocol, TypeVar

from agent.api.administration import Acted, Given, PhraseShown
from agent.api.errors import ServiceError
from agent.api.reasons import Diagnosis, Reason
from agent.flock.network import FlockNetwork
from agent.net import administration
from agent.net.acts import ADMINISTRATOR, EXPELLED, KEEPER, PHRASE, ROLE, UNPAIRED
from agent.net.membership import Membership
from agent.net.rights import Pending
from agent.protocol.records import NodeId

_Result = TypeVar("_Result")
ACTS = {
    (EXPELLED, ""): "wingbeat flock expel {name}",
    (KEEPER, "appointed"): "wingbeat flock appoint {name} --keeper",
    (KEEPER, "withdrawn"): "wingbeat flock appoint {name} --keeper --withdraw",
    (ROLE, ADMINISTRATOR): "wingbeat flock appoint {name} --administrator",
    (ROLE, "operator"): "wingbeat flock role {name} operator",
    (ROLE, "helper"): "wingbeat flock role {name} helper",
    (UNPAIRED, ""): "wingbeat me unpair {name}",
}
"""What somebody types to say the same."""


class Alone(Protocol):
    """Does one thing with the flock at a time; ``FlockOperations``."""

    async def alone(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Await work on the flock; raise ``ServiceError`` while other work is under way."""


class Administering:
    """Acts on the flock, each signed by this machine."""

    def __init__(
        self, flock: Alone, network: Callable[[str], FlockNetwork], known: Callable[[str], NodeId]
    ) -> None:
        """``network`` returns that of the flock, or raises for want of one; ``known`` the id of a
        member by its name."""
        self._flock, self._network, self._known = flock, network, known

    async def appoint(self, member: str, what: Given, phrase: str, *, withdraw: bool) -> Acted:
        """Make a member an administrator or keeper, or end that; return who it is and who has said
        so where that is not enough yet. Raise ``ServiceError`` without a flock, for an unknown
        member, where this machine may not, or while other work is under way; ``WantsPhraseError``
        where the phrase is missing."""

        async def act(membership: Membership) -> Acted:
            node = self._known(member)
            agreed = await administration.appoint(membership, node, what, phrase, withdraw=withdraw)
            return self._acted(node, agreed)

        return await self._do("appoint", act)

    async def set_role(self, member: str, role: str, phrase: str) -> Acted:
        """Make a member an operator or a helper; return who it is and who has said so where that is
        not enough yet. Raise ``ServiceError`` without a flock, for an unknown member, where this
        machine may not, or while other work is under way; ``WantsPhraseError`` where the phrase is
        missing."""

        async def act(membership: Membership) -> Acted:
            node = self._known(member)
            return self._acted(node, await administration.set_role(membership, node, role, phrase))

        return await self._do("give roles", act)

    async def recover(self, phrase: str, *, check: bool) -> str:
        """Make this machine the flock's only administrator, and a keeper, by the recovery phrase or,
        with ``check``, only compare the phrase; return the flock's name. Raise ``ServiceError`` where
        the phrase is not right, without a flock, or while other work is under way."""

        async def act(membership: Membership) -> str:
            if check:
                await administration.check_phrase(membership, phrase)
            else:
                await administration.recover(membership, phrase)
            return membership.flock.name

        return await self._do("recover a flock", act)

    async def upgrade(self) -> PhraseShown:
        """Found administrators for a flock of an older version that has none, with this machine the
        first, and return the recovery phrase; raise ``ServiceError`` on one that is no keeper, in a
        flock that has some, or while other work is under way."""

        async def act(membership: Membership) -> PhraseShown:
            return PhraseShown(membership.flock.name, await administration.upgrade(membership))

        return await self._do("upgrade a flock", act)

    async def renew_phrase(self, phrase: str) -> PhraseShown:
        """Draw another recovery phrase, or agree to the one that another administrator drew; return
        it (empty then) and who has said so where that is not enough yet. Raise ``ServiceError`` on a
        machine that is no keeper or may not, or while other work is under way; ``WantsPhraseError``
        where the old phrase is missing."""

        async def act(membership: Membership) -> PhraseShown:
            fresh, agreed = await administration.renew_phrase(membership, phrase)
            return PhraseShown(membership.flock.name, fresh, tuple(agreed))

        return await self._do("renew the phrase", act)

    def waiting(self) -> Iterator[Reason]:
        """Yield what an administrator or keeper should look at: that the flock has no acts yet, acts
        that wait for voices, audits cut short, a key of the flock that is locked or, on a keeper,
        lies in clear; nothing without a flock."""
        try:
            network = self._network("act")
        except ServiceError:
            return
        membership, name_of = network.membership, network.name_of
        roster = membership.roster
        if not roster.charter and not network.expelled:
            keepers = tuple(map(name_of, roster.keepers()))
            yield Diagnosis("FlockHasNoActs", name=membership.flock.name, places=keepers)
        for each in roster.charter.rights.pending:
            yield _waits(each, name_of)
        for node, had in network.audits.cut.items():
            yield Diagnosis("AuditCut", name=name_of(node), count=had)
        if membership.key_file.locked:
            yield Diagnosis("KeyLocked", error=membership.key_file.locked)
        elif membership.keeper and membership.key_file.in_clear:
            yield Diagnosis("KeyInClear", folder=str(membership.folder.path))

    async def _do(
        self, what: str, act: Callable[[Membership], Coroutine[Any, Any, _Result]]
    ) -> _Result:
        return await self._flock.alone(act(self._network(what).membership))

    def _acted(self, node: NodeId, agreed: list[str]) -> Acted:
        return Acted(node, self._network("act").name_of(node), tuple(agreed))


def _waits(pending: Pending, name_of: Callable[[NodeId], str]) -> Diagnosis:
    act = pending.act
    name = name_of(act.whom) if act.kind != PHRASE else ""
    typed = ACTS.get((act.kind, act.value), "wingbeat flock phrase").format(name=name)
    return Diagnosis("ActWaits", name=typed, places=tuple(map(name_of, pending.by)))
