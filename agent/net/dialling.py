"""Whom to call, and when to try again.

Both of a pair could call, and one suffices: the lower node id calls. An address typed by hand
says nothing of who is there, so it is called whoever that is; and a higher node calls after all
when the lower has not come for a while, because firewalls are often open in one direction only.

A failed call is repeated after 50 ms, then ever later up to 2 s, by chance a little earlier, so
that a flock that lost its switch does not call in step. What repeating does not help, such as
another flock, is tried less often. News of an address makes the next call at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from agent.net.addresses import Address
from agent.net.link_refusals import LASTING, Cause, LinkRefusal
from agent.protocol.records import NodeId

BACK_OFF_FIRST_S = 0.05
BACK_OFF_MAX_S = 2.0
BACK_OFF_LASTING_FIRST_S = 1.0
BACK_OFF_LASTING_MAX_S = 15.0
LOWER_COMES_WITHIN_S = 3.0
SHORT_LIVED_S = 5.0
"""A link that ends sooner counts as a failed call."""
TARGETS_MAX = 512
ADDRESSES_MAX = 16

log = logging.getLogger(__name__)

Call = Callable[[Sequence[Address], NodeId | None], Awaitable[tuple[NodeId, LinkRefusal | None]]]
"""One attempt: whom to expect; who answered, and how it ended, ``None`` for well."""


@dataclass(slots=True, eq=False)
class Target:
    """Somebody to call: a peer, or whoever is at a typed address."""

    addresses: list[Address]
    peer: NodeId | None
    """Who is there, or was when somebody answered."""
    typed: bool
    """The address came from a person, without a name."""
    failures: int = 0
    lasting: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class Dialler:
    """Calls whoever is known and not linked."""

    def __init__(
        self, me: NodeId, call: Call, linked: Callable[[NodeId], bool], random: Random
    ) -> None:
        self._me, self._call, self._linked, self._random = me, call, linked, random
        self._targets: dict[str, Target] = {}
        self._stopped = False

    # -- what is known ---------------------------------------------------------------------

    def found(self, peer: NodeId | None, addresses: Sequence[Address]) -> None:
        """Learn that these addresses lead to the peer, or with None each to whoever is there, and
        call them. This node's own are ignored."""
        if peer == self._me or self._stopped:
            return
        if peer is not None:
            self._learn(peer, peer, addresses)
            return
        for address in addresses:
            self._learn(str(address), None, [address])

    def gone(self, peer: NodeId) -> None:
        """Forget where the peer may be, unless it is linked."""
        if not self._linked(peer):
            self._forget(peer)

    def withdrawn(self, address: Address) -> None:
        """Forget an address that was typed by hand."""
        self._forget(str(address))

    def addresses_of(self, peer: NodeId) -> list[Address]:
        """Return where the peer may be, the likeliest first; empty when nothing is known."""
        known = [target for target in self._targets.values() if target.peer == peer]
        return [address for target in known for address in target.addresses]

    def retry(self) -> None:
        """Call everybody again at once, as the network has changed and what failed may work now."""
        for target in self._targets.values():
            self._renew(target)

    def unlinked(self, peer: NodeId, lived_s: float, *, lasting: bool = False) -> None:
        """Note that the link with a peer is gone, so that it is called again: later and later after
        links that lived briefly, and still later where the reason is ``lasting``."""
        for target in self._targets.values():
            if target.peer == peer:
                target.lasting = lasting
                target.failures = target.failures + 1 if lived_s < SHORT_LIVED_S else 0
                target.news.set()

    async def stop(self) -> None:
        """Cancel all calls, wait until they have ended, and call nobody any more."""
        self._stopped = True
        tasks = [target.task for target in self._targets.values() if target.task is not None]
        self._targets.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _learn(self, key: str, peer: NodeId | None, addresses: Sequence[Address]) -> None:
        target = self._targets.get(key)
        if target is None:
            if len(self._targets) >= TARGETS_MAX:
                log.warning("more than %d addresses are known; %s is left out", TARGETS_MAX, key)
                return
            target = Target([], peer, typed=peer is None)
            self._targets[key] = target
            target.task = asyncio.create_task(self._pursue(target))
        known = list(dict.fromkeys([*addresses, *target.addresses]))[:ADDRESSES_MAX]
        if set(known) != set(target.addresses) or self._wanted(target):
            target.addresses = known
            self._renew(target)

    def _renew(self, target: Target) -> None:
        target.failures, target.lasting = 0, False
        if target.typed and target.peer == self._me:
            target.peer = None
        target.news.set()

    def _forget(self, key: str) -> None:
        target = self._targets.pop(key, None)
        if target is not None and target.task is not None:
            target.task.cancel()

    # -- calling ---------------------------------------------------------------------------

    async def _pursue(self, target: Target) -> None:
        while True:
            if not self._wanted(target):
                await target.news.wait()
                target.news.clear()
            elif not await self._heard_news(target, self._delay_s(target)):
                await self._attempt(target)

    def _wanted(self, target: Target) -> bool:
        if target.peer == self._me or not target.addresses:
            return False
        return target.peer is None or not self._linked(target.peer)

    def _delay_s(self, target: Target) -> float:
        if target.failures:
            first_s, longest_s = BACK_OFF_FIRST_S, BACK_OFF_MAX_S
            if target.lasting:
                first_s, longest_s = BACK_OFF_LASTING_FIRST_S, BACK_OFF_LASTING_MAX_S
            doubled_s: float = first_s * 2 ** min(target.failures - 1, 16)
            return min(longest_s, doubled_s) * self._random.uniform(0.5, 1.0)
        if target.typed or target.peer is None or self._me < target.peer:
            return 0.0
        return LOWER_COMES_WITHIN_S

    async def _heard_news(self, target: Target, within_s: float) -> bool:
        if not within_s:
            target.news.clear()
            return False
        try:
            async with asyncio.timeout(within_s):
                await target.news.wait()
        except TimeoutError:
            return False
        target.news.clear()
        return True

    async def _attempt(self, target: Target) -> None:
        expected = None if target.typed else target.peer
        peer, refusal = await self._call(tuple(target.addresses), expected)
        own_copy = peer == self._me and refusal is not None and refusal.cause is Cause.COPIED
        if target.typed and peer and not own_copy:
            target.peer = peer
        target.lasting = refusal is not None and refusal.cause in LASTING
        if refusal is None:
            return
        target.failures += 1
        if refusal.cause not in (Cause.UNREACHABLE, Cause.DUPLICATE) and len(target.addresses) > 1:
            target.addresses.append(target.addresses.pop(0))
