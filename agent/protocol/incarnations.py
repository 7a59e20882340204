"""Which start of each host is the newest: only the host itself can say so.

An older incarnation of a host is dead, so whoever could tell of a newer one would end all that the
host runs. The word of a host on its own link therefore counts, and that of others for such hosts alone
as have no link here. What peers have seen of this node itself, which a start with a lost disk and a
clock set back does not know, counts only while this node runs nothing, and not over and over.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.protocol.core import Core
from agent.protocol.messages import Status
from agent.protocol.records import NodeId
from agent.protocol.sanity import sane_incarnation

SEEN_MAX = 2**51
"""What peers say to have seen of this node counts up to here, so that it can always go higher."""
RAISED_AGAIN_S = 60.0


class Incarnations:
    """The newest of each host, and what peers have seen of this one."""

    def __init__(self, core: Core, at_work: Callable[[], bool]) -> None:
        self._core, self._at_work = core, at_work
        self._told: dict[NodeId, int] = {}
        """Of hosts without a link here, as peers have told them."""
        self._seen_of_me, self._raised_s = 0, -RAISED_AGAIN_S

    def newest(self, host: NodeId) -> int:
        """Return the newest incarnation of a host as far as this node believes it; 0 for none."""
        own = self._core.incarnations.get(host, 0)
        return own if host in self._core.peers else max(own, self._told.get(host, 0))

    def told_by(self, host: NodeId, incarnation: int) -> bool:
        """Note the incarnation (the number of its start) that a host tells on its own link; return whether
        what is believed of the host may have changed: the number is higher than known, or what peers told
        of it is forgotten by this. A lower number, or one that no honest node has, is ignored."""
        told = self._told.pop(host, 0)
        known = self._core.incarnations
        if not sane_incarnation(incarnation) or incarnation <= known.get(host, 0):
            return bool(told)
        known[host] = incarnation
        return True

    def told(self, status: Status) -> None:
        """Note the incarnations (numbers of starts) that a peer tells of members not linked here,
        where they are higher than those known; others are ignored."""
        core = self._core
        for reported in (status.neighbours, status.reached):
            for host, incarnation in reported.items():
                known = core.members and host not in core.members
                if host == core.me or host in core.peers or known:
                    continue
                if sane_incarnation(incarnation) and incarnation > self._told.get(host, 0):
                    self._told[host] = incarnation

    def seen_of_me(self, seen: int) -> None:
        """Note the newest incarnation of this node that a peer has seen."""
        if seen <= SEEN_MAX:
            self._seen_of_me = max(self._seen_of_me, seen)

    def to_take(self) -> int:
        """Return the incarnation that this node has to take now, as peers know a later start of it,
        and count it as taken; 0 where its own stands, while it works, and, once joined, for
        ``RAISED_AGAIN_S`` after the last."""
        core = self._core
        again = core.joined and core.now_s - self._raised_s < RAISED_AGAIN_S
        if self._seen_of_me <= core.incarnation or again or self._at_work():
            return 0
        self._raised_s = core.now_s
        return self._seen_of_me + 1
