"""What need not wait for the disk: words about claims.

A claim, a consent and a release rely on no record. Promises are not kept on disk, for a node that
starts anew claims nothing until it has met the others again, and a claim becomes a run only when
the winner has it on disk. What a peer must have on disk before it says so (that a workflow is
stored, that a run moved) waits as ever. So these words go ahead of records that are merely being
learned, or every dispatch would wait for the slowest disk of the flock; and a node whose task has
just ended claims the next one while the record of that end is still being written.

What a word about claims says of a task's life is a record like any other, and may be one that is
still being written: such a word waits. Those that say nothing of the kind overtake news of runs, and
the like, that is to be told to the same peer: whoever hears of a claim before it hears what made the
task ready promises the task all the same. They do not overtake the workflow, for a peer should know
what is claimed, nor each other, nor anything else. Only the receipt for a workflow may arrive later
than any of them.
"""

from __future__ import annotations

from agent.protocol.effects import Effect, Send
from agent.protocol.messages import (
    ClaimAnswers,
    Heartbeat,
    Holdings,
    Message,
    Progress,
    Release,
    State,
    Stored,
    TryDequeue,
)
from agent.protocol.records import NO_LIFE, NodeId

CLAIM_WORDS = (TryDequeue, ClaimAnswers, Release)
BEHIND = (State, Progress, Holdings, Heartbeat, Stored)
"""What they do not wait for."""


class Overtaking:
    """Knows what waits, and tells what may go ahead of it."""

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first: dict[NodeId, int] = {}
        """How many words wait for each peer that no other word to it may overtake."""

    def may_go_ahead(self, effect: Effect) -> bool:
        """Tell whether the effect may go ahead of the disk: it is a word about claims, says nothing
        of a life, and nothing that has to come first waits for its peers."""
        return (
            isinstance(effect, Send)
            and isinstance(effect.message, CLAIM_WORDS)
            and _tells_no_life(effect.message)
            and not any(peer in self._first for peer in effect.peers)
        )

    def hold(self, effect: Effect) -> None:
        """Count a message that waits for the disk, which words to its peers must not overtake."""
        if isinstance(effect, Send) and not isinstance(effect.message, BEHIND):
            for peer in effect.peers:
                self._first[peer] = self._first.get(peer, 0) + 1

    def free(self, effect: Effect) -> None:
        """Count a message that waited as sent, so that words to its peers may overtake again."""
        if isinstance(effect, Send) and not isinstance(effect.message, BEHIND):
            for peer in effect.peers:
                left = self._first[peer] - 1
                if left:
                    self._first[peer] = left
                else:
                    del self._first[peer]


def _tells_no_life(message: Message) -> bool:
    """Nothing in it has to be on disk before it is said."""
    if isinstance(message, TryDequeue):
        return all(offer.life == NO_LIFE for offer in message.claims)
    return not (isinstance(message, ClaimAnswers) and message.known)
