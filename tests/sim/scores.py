"""Nodes whose claims have scores at random: whatever a policy says of hosts, every promise holds.

Half of the claims say nothing of what they stand on, so that nobody can contradict them; the others
boast as often as not, and those are doubted, to be made again with a lower score.
"""

from __future__ import annotations

from random import Random

from agent.protocol.core import Core, NodeSetup
from agent.protocol.evidence import Knowledge
from agent.protocol.node import Node
from agent.protocol.policy import SCORE_MAX, Evidence
from agent.protocol.records import TaskSpec

BOASTS = (1, 2, 3, 10, 1_000)


class DrawnKnowledge(Knowledge):
    """Bids anything; what it believes of others' bids stays as it is."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._draw = Random(f"scores {core.me} {core.incarnation}")

    def bid(self, spec: TaskSpec) -> tuple[int, Evidence | None]:
        draw = self._draw
        score = draw.randrange(SCORE_MAX + 1)
        if draw.random() < 0.5:
            return score, None
        known = self.of(spec, self._core.me)
        length_ms = known.length_ms // draw.choice(BOASTS)
        return score, Evidence(known.usual_ms, length_ms, lasts_permille=draw.randrange(1001))


class RandomScores(Node):
    """A node that scores each of its claims at random."""

    def __init__(self, setup: NodeSetup) -> None:
        super().__init__(setup)
        drawn = DrawnKnowledge(self._core)
        self.claims._knowledge = self.promises._knowledge = drawn
