"""What need not wait for the disk: words about claims.

A claim, a consent and a release rely on no record. Promises are not kept on disk, for a node that
starts anew claims nothing until it has met the others again, and a claim becomes a run only when
the winner has it on disk. What a peer must have on disk before it says so (that a workflow is
stored, that a run moved) waits as ever. So these words go ahead of records that are merely being
learned, or every dispatch would wait for the slowest disk of the flock.

They overtake nothing that is to be told to the same peer: whoever hears of a claim must have heard
before of what the claimant knew. Only the receipt for a workflow may arrive later.
"""

from __future__ import annotations

from agent.protocol.effects import Effect, Send
from agent.protocol.messages import ClaimAnswers, Release, Stored, TryDequeue
from agent.protocol.records import NodeId

CLAIM_WORDS = (TryDequeue, ClaimAnswers, Release)


class Overtaking:
    """Knows what waits, and tells what may go ahead of it."""

    __slots__ = ("_told",)

    def __init__(self) -> None:
        self._told: dict[NodeId, int] = {}
        """How many words wait for each peer."""

    def may(self, effect: Effect) -> bool:
        """It is a word about claims, and nothing waits for the same peers."""
        return (
            isinstance(effect, Send)
            and isinstance(effect.message, CLAIM_WORDS)
            and not any(peer in self._told for peer in effect.peers)
        )

    def hold(self, effect: Effect) -> None:
        """It waits."""
        if isinstance(effect, Send) and not isinstance(effect.message, Stored):
            for peer in effect.peers:
                self._told[peer] = self._told.get(peer, 0) + 1

    def free(self, effect: Effect) -> None:
        """It waits no more."""
        if isinstance(effect, Send) and not isinstance(effect.message, Stored):
            for peer in effect.peers:
                left = self._told[peer] - 1
                if left:
                    self._told[peer] = left
                else:
                    del self._told[peer]
