"""How many records one member may have told to it when it asks.

A question is small, and its answer may be the whole table. What a newcomer needs, and a flock that meets
again, is far below; who asks for more is not answered for a while, which an honest member takes for a
message that was lost, and asks again.
"""

from __future__ import annotations

from agent.protocol.core import Core
from agent.protocol.records import NodeId

RECORDS_PER_S = 50_000
RECORDS_AT_ONCE_MAX = 1_000_000


class Allowance:
    """Of each member, what is left of it, and since when that is known."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._left: dict[NodeId, tuple[float, float]] = {}

    def takes(self, peer: NodeId, records: int) -> bool:
        """Tell whether the peer may be sent so many records now, and count them if so. A peer that
        has used up nothing of its allowance is sent even more than that; a refusal is counted."""
        core = self._core
        left, at_s = self._left.get(peer, (RECORDS_AT_ONCE_MAX, core.now_s))
        left = min(RECORDS_AT_ONCE_MAX, left + (core.now_s - at_s) * RECORDS_PER_S)
        answers = records <= left or left >= RECORDS_AT_ONCE_MAX
        if not answers:
            core.count("asks for more records than one member may")
        self._left[peer] = (left - records if answers else left, core.now_s)
        return answers
