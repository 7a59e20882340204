"""The rules that a flock can be told to go by: what is started first, and which machine gets it.

``look-ahead`` is ours and the default: the order of ``default``, the machine on which a task ends first,
and what ``better_machines`` and ``early_claims`` add to that. The others are the documents' rules, and
ours of ``reaching``, as the classes that the simulators load. They all take what was submitted first
first. Who is free is known to every node, so nothing is gathered for 10 s and nobody looks again: the
rule is asked at once, by all alike, and its score is the score of the claim.

**What a rule is told of a host** comes from the evidence of a claim: how likely the machine stays free
for as long as the task takes, as it says itself. A machine for which times between failures are
distributed exponentially and which has that chance fails at the rate -ln(chance) / length; so f1 of the
source is the chance itself, and f2 is what it is there.

Interactive work goes by none of this, and tasks of less than a second are dealt in rows whatever the
rule, as a question for each would cost more than the task.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Final

from agent.protocol.policy.best_fit import BestFit, CorrectedBestFit, GroupBestFit
from agent.protocol.policy.central import (
    LastingReplication2,
    LastingReplication4,
    Replication2,
    Replication4,
)
from agent.protocol.policy.competition import Competition, GroupCompetition
from agent.protocol.policy.copying import CopyPolicy, WhateverRuns, WhereItHelps
from agent.protocol.policy.default import LookAhead
from agent.protocol.policy.late_claims import Asks, LateClaims, always, among_enough, never
from agent.protocol.policy.placing import HostPast, Placing, Waiting
from agent.protocol.policy.ranking import FirstCome, Strict
from agent.protocol.policy.reaching import Lasting
from agent.protocol.policy.view import (
    PERMILLE_MAX,
    SCORE_MAX,
    EarliestFinish,
    Evidence,
    OrderPolicy,
    ScorePolicy,
)

WHERE_IT_HELPS: Final = WhereItHelps()


class ByRule:
    """Scores a host as a rule of the documents does, between 1 and the most. A rule that weighs
    nothing gives everybody what our own gives a host like any other."""

    def __init__(self, placing: Placing) -> None:
        self._placing = placing

    def score(self, evidence: Evidence) -> int:
        """Return the rule's score brought between 0 and 1, in the order of the rule."""
        value = self._placing.score(waiting_of(evidence), past_of(evidence))
        share = value / (1 + value) if value else 0.5
        return min(max(round(SCORE_MAX * share), 1), SCORE_MAX - 1)


@dataclass(frozen=True, slots=True)
class FlockRule:
    """One of them. ``placing`` is None where machines are chosen by when they end a task."""

    name: str
    order: OrderPolicy
    score: ScorePolicy
    placing: Placing | None = None
    copies: CopyPolicy = WHERE_IT_HELPS
    """Which runs are begun a second time on machines that stand idle."""
    asks: Asks = always
    """Whether a task of which somebody speaks is asked for where it is not known."""


def waiting_of(evidence: Evidence) -> Waiting:
    """Return the task as a rule sees it: how long it takes on a host like any other."""
    return Waiting(max(1, evidence.usual_ms) / 1000, evidence.broken_off)


def past_of(evidence: Evidence) -> HostPast:
    """Return a made-up past of a host, with the mean uptime by which it lasts through the task as
    likely as the evidence says; one without a failure where that is certain."""
    length_ms = max(1, evidence.length_ms)
    past = HostPast("", speed=max(1, evidence.usual_ms) / length_ms, foretold=True)
    chance = max(1, evidence.lasts_permille) / PERMILLE_MAX
    if chance < 1.0:
        past.failed(length_ms / 1000 / -log(chance))
    return past


def _by(placing: Placing, name: str = "", asks: Asks = always) -> FlockRule:
    return FlockRule(name or placing.name, FirstCome(), ByRule(placing), placing, asks=asks)


def _replicated(placing: Replication2) -> FlockRule:
    return FlockRule(
        placing.name, FirstCome(), ByRule(placing), placing, WhateverRuns(placing.runs)
    )


DEFAULT_RULE: Final = "look-ahead"
CHOSEN: Final = (
    FlockRule(DEFAULT_RULE, LookAhead(), EarliestFinish()),
    _by(Lasting(), "reaching"),
    *map(_replicated, (Replication2(), Replication4())),
    *map(_replicated, (LastingReplication2(), LastingReplication4())),
    *map(_by, (Placing(), Competition(), GroupCompetition(), BestFit())),
    *map(_by, (GroupBestFit(), CorrectedBestFit(), LateClaims())),
    _by(LateClaims(), "late-claims-among-3", among_enough),
    _by(LateClaims(), "late-claims-unasked", never),
)
"""Among which administrators choose, ours first."""
flock_rules: Final[dict[str, FlockRule]] = {
    **{each.name: each for each in CHOSEN},
    "strict": FlockRule("strict", Strict(), EarliestFinish()),
    "first-come": FlockRule("first-come", FirstCome(), EarliestFinish()),
}
"""With two orders that are kept for comparison."""
