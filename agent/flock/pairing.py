"""Who is who in the flock of this node, and how another machine becomes its person's, for clients."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable, Coroutine
from typing import Any

from agent.api.administration import Acted
from agent.api.errors import ServiceError
from agent.api.people import MeReply, Met, OwnMachine, Paired
from agent.flock.administering import Alone
from agent.flock.network import FlockNetwork
from agent.net import pairing
from agent.net.membership import Membership
from agent.net.pairing import CodeKey, ShownCode
from agent.protocol.people import NO_PEOPLE, People
from agent.protocol.records import NodeId

SETTLED_S_MAX = 10.0
KEY_LETTERS = 6
"""Of a person's id, shown where two have one name."""


class Pairing:
    """The people of the flock, as far as this node is one of theirs; one code at a time."""

    def __init__(
        self, flock: Alone, network: Callable[[str], FlockNetwork], known: Callable[[str], NodeId]
    ) -> None:
        """``network`` returns that of the flock, or raises for want of one; ``known`` the id of a
        member by its name."""
        self._flock, self._network, self._known = flock, network, known
        self._shown: ShownCode | None = None
        self._typed: CodeKey | None = None

    @property
    def people(self) -> People:
        """Return which machines belong to the same person; no two do without a flock."""
        try:
            return self._network("look").membership.roster.charter.rights.people
        except ServiceError:
            return NO_PEOPLE

    def name_of(self, node: NodeId) -> str:
        """Return the name of the person to whom a paired machine belongs, with a part of the key
        where two have one name; empty for a machine that is not paired or was taken away from its
        person, and without a flock."""
        people = self.people
        if node not in people.ever or people.is_lost(node):
            return ""
        name_of, person = self._network("look").name_of, people.of(node)
        name = name_of(person)
        alike = [each for each in set(people.ever.values()) if name_of(each) == name]
        return name if len(alike) < 2 else f"{name} ({person[:KEY_LETTERS]})"

    def left_of(self, node: NodeId) -> str:
        """Return a warning for who expels a machine whose person has other machines, which still
        speak for him; empty where there are none. Raise ``ServiceError`` without a flock."""
        network = self._network("look")
        rights = network.membership.roster.charter.rights
        others = [each for each in rights.machines(rights.person(node)) if each != node]
        if not others:
            return ""
        names = ", ".join(map(network.name_of, others))
        return f"its person still speaks on {names}: see whether that is he"

    def mine(self) -> MeReply:
        """Return who this machine's person is and which machines are his; raise ``ServiceError``
        without a flock."""
        network = self._network("be paired")
        own = network.membership.node_id
        person = self.people.of(own)
        rights = network.membership.roster.charter.rights
        machines = sorted(rights.machines(person)) or [own]
        name = self.name_of(own) or network.name_of(own)
        shown = (OwnMachine(each, network.name_of(each), each == own) for each in machines)
        return MeReply(name, person, tuple(shown))

    async def show(self) -> Paired:
        """Make a new pairing code, in place of the last, and return it with who this machine's
        person is and until when it can be typed, in ms since 1970. Raise ``ServiceError`` without a
        flock, in one without acts, and on a machine that was taken away from its person."""
        membership = self._network("be paired").membership
        pairing.check_pairs(membership)
        code = pairing.new_code()
        key = await asyncio.to_thread(CodeKey.of, code, membership.flock.flock_id)
        self._shown = ShownCode(key, time.monotonic() + pairing.VALID_S)
        return Paired(self.mine(), code, round((time.time() + pairing.VALID_S) * 1000))

    async def typed(self, code: str) -> bytes:
        """Note the code that a person typed here, as another machine shows it, and return the tag
        by which to ask members for it. Raise ``ServiceError`` without a flock, for a typing error,
        and where this machine is paired already or an administrator's."""
        membership = self._network("be paired").membership
        pairing.check_is_new(membership)
        self._typed = await asyncio.to_thread(CodeKey.of, code, membership.flock.flock_id)
        return self._typed.tag(membership.node_id)

    def consent(self, shown_on: NodeId, met: Met) -> bytes:
        """Return this machine's signed consent to belong to the person that a member named; empty
        where no code was typed here or that member has not proven that it knows it. Raise
        ``ServiceError`` without a flock, and where this machine is paired meanwhile."""
        membership = self._network("be paired").membership
        if self._typed is None:
            return b""
        wanted = self._typed.proof(membership.node_id, shown_on, met.person)
        if not hmac.compare_digest(wanted, met.proof):
            return b""
        pairing.check_is_new(membership)
        return membership.pen.consent(met.person)

    async def meet(self, asking: NodeId, tag: bytes, consent: bytes) -> Met:
        """Answer a member that proves to know the code shown here with this machine's person; given
        its consent, sign that it belongs to this person: the code is used up then, even where that
        fails. Raise ``ServiceError`` where it does not know the code or may not be paired, without a
        flock, and, to sign, while other work is under way."""
        membership, shown = self._network("be paired").membership, self._shown
        if shown is None or not shown.is_meant(asking, tag, time.monotonic()):
            raise ServiceError("no such code is shown here")
        person = pairing.check_pairs(membership).person(membership.node_id)
        if consent:
            self._shown = None  # it is used up, whatever comes of it
            await self._flock.alone(pairing.pair(membership, asking, consent))
        return Met(person, shown.code.proof(asking, membership.node_id, person))

    async def settled(self, person: str) -> Paired:
        """Wait until this node has heard that it belongs to this person, and return who that is;
        the code that was typed is forgotten then. Raise ``ServiceError`` after ten seconds, and
        without a flock."""
        membership = self._network("be paired").membership
        heard = asyncio.Event()
        unwatch = membership.roster.watch(heard.set)
        try:
            async with asyncio.timeout(SETTLED_S_MAX):
                while self.people.of(membership.node_id) != person:
                    heard.clear()
                    await heard.wait()
        except TimeoutError as error:
            raise ServiceError(
                "the other machine has signed, and its word has not come yet: look again with `wingbeat me`"
            ) from error
        finally:
            unwatch()
        self._typed = None
        return Paired(self.mine())

    async def unpair(self, member: str, phrase: str) -> Acted:
        """Take a machine away from its person; return which one it is and who has said so where
        that is not enough yet. Raise ``ServiceError`` without a flock, for an unknown member or one
        whose person has no other machine, where this machine may not, or while other work is under
        way; ``WantsPhraseError`` where the phrase is missing."""

        async def act(membership: Membership) -> Acted:
            node = self._known(member)
            agreed = await pairing.unpair(membership, node, phrase)
            return Acted(node, self._network("act").name_of(node), tuple(agreed))

        return await self._do(act)

    async def _do(self, act: Callable[[Membership], Coroutine[Any, Any, Acted]]) -> Acted:
        return await self._flock.alone(act(self._network("take machines away").membership))
