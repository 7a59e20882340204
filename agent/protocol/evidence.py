"""What this node knows of a task on a host, from what all nodes are told alike.

Lengths come from the ends of runs, and so do speeds of hosts; where data lie every node tells its
peers, how large they are stands in the records, and how fast a node brings data to itself it says in
its status, with how likely its owner stays away. So all nodes value a host about alike, whoever
asks. Small differences do not matter: the value is fixed in the claim with what it stands on, and
claims decide.

A claim may not boast. Whoever is to consent compares what the claim stands on with what is known
here, and consents unless that is more than twice as good in any part; what was doubted is not told
again. A claimant may always say less: what only it knows, as when its owner comes back, makes its claim worse and never better.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from agent.protocol.core import Core
from agent.protocol.policy import Evidence
from agent.protocol.policy.lasting import UNKNOWN, Curve, survival
from agent.protocol.policy.view import PERMILLE_MAX
from agent.protocol.reading import effective_generation
from agent.protocol.records import (
    Claim,
    Dataset,
    Evicted,
    Life,
    Lost,
    More,
    NodeId,
    TaskSpec,
    Yielded,
)

SCORE_AT_HOME = 1_000_000
"""Of interactive work on the node that it was submitted to: nobody else is better."""
AT_MOST = 2
"""A claim may stand on what is so many times as good as what is known here."""
SLACK_MS = 2_000
"""Differences up to this contradict nothing."""
FETCH_COUNTS_MS = 250
"""What is brought faster than this counts as there."""
LIKE_ANY = 500_000
STANDS_ON, FETCH_RATE = "stands", "fetch"
NUMBER_MAX = 2**40
_encode = msgspec.msgpack.Encoder().encode
_evidence = msgspec.msgpack.Decoder(Evidence).decode
_number = msgspec.msgpack.Decoder(int).decode


class Knowledge:
    """Evidence on hosts, the score that the policy makes of it, and what contradicts it."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def of(self, spec: TaskSpec, node: NodeId, wait_ms: int = 0) -> Evidence:
        """Return what this node knows of how the task would run on ``node``: its usual length, its
        length there, how long its inputs take to come, how likely the machine stays free, how often
        runs of it were broken off; ``wait_ms``, how long the node is busy before, goes into that."""
        lengths = self._core.lengths
        usual = lengths.of(spec)
        factor = lengths.host_factor(spec, node)
        length_ms = usual.q50_ms if factor == 1.0 else max(1, round(usual.q50_ms * factor))
        lasts = self._lasts_permille(node, usual.q90_ms * factor / 1000)
        times = (usual.q50_ms, length_ms, self.fetch_ms(spec, node), wait_ms)
        return Evidence(*times, lasts, broken_off(self._core.table.lives.get(spec.task)))

    def usual_ms(self, spec: TaskSpec) -> int:
        """Return what the task takes on a node that is neither fast nor slow."""
        return self._core.lengths.of(spec).q50_ms

    def differ(self) -> bool:
        """Tell whether anything is known by which nodes differ; if not, all are alike for every
        task."""
        core = self._core
        if core.lengths.speeds_differ() or core.fetch_rate:
            return True
        return any(self._rate(node) for node in core.peers)

    def score(self, evidence: Evidence) -> int:
        """Return what the rules of the flock make of it."""
        return self._core.rule.score.score(evidence)

    def fetch_ms(self, spec: TaskSpec, node: NodeId) -> int:
        """Return how long it takes to bring the inputs of the task to the node; 0 for what is there
        already or as good as that, and where nobody knows how fast data come there."""
        if not (spec.raw or spec.inputs or spec.published):
            return 0
        rate = self._rate(node)
        if not rate:
            return 0
        held = self._held(node)
        missing = sum(
            each.size_bytes
            for each in self._inputs(spec)
            if not each.external and each.dataset not in held
        )
        took_ms = missing // rate
        return took_ms if took_ms >= FETCH_COUNTS_MS else 0

    def data_matter(self, spec: TaskSpec, nodes: list[NodeId]) -> bool:
        """Tell whether bringing the inputs of the task takes longer to some of these nodes than to
        others."""
        if not (spec.raw or spec.inputs or spec.published):
            return False
        return len({self.fetch_ms(spec, node) for node in nodes}) > 1

    def _inputs(self, spec: TaskSpec) -> list[Dataset]:
        found = list(spec.raw if spec.published is None else (*spec.raw, spec.published))
        for ref in spec.inputs:
            reading = self._core.table.reading(ref.task)
            outputs = () if reading is None else reading.outputs
            if ref.output < len(outputs):
                found.append(outputs[ref.output])
        return found

    def _held(self, node: NodeId) -> set[str] | dict[str, None]:
        core = self._core
        if node == core.me:
            return core.holdings
        peer = core.peers.get(node)
        return peer.holdings if peer is not None else {}

    def _lasts_permille(self, node: NodeId, seconds: float) -> int:
        """How likely the owner of a node stays away for so long, beside that of a node that tells
        nothing, so that none is better for telling; less where owners threw away what it did. Where
        nothing else differs this does not count here, and the order of machines that are alike goes by
        it (``seats``). Other rules than ours are about nothing else, and get it as it is told."""
        if self._core.rule.placing is not None:
            return round(PERMILLE_MAX * survival(self._curve(node), seconds))
        likely = survival(self._curve(node), seconds) / UNKNOWN
        likely = min(likely, 1.0) * self._core.thrown_away.keeps(node, seconds)
        return round(PERMILLE_MAX * likely) if likely < 1.0 and self.differ() else PERMILLE_MAX

    def _curve(self, node: NodeId) -> Curve:
        """What the node tells of when its owner comes back."""
        core = self._core
        if node == core.me:
            return core.presence.lasts
        peer = core.peers.get(node)
        return () if peer is None or peer.status is None else peer.status.lasts

    def _rate(self, node: NodeId) -> int:
        """Bytes in a millisecond that come to the node; 0 where that is not known."""
        core = self._core
        if node == core.me:
            return core.fetch_rate
        peer = core.peers.get(node)
        return 0 if peer is None or peer.status is None else number_in(peer.status.more, FETCH_RATE)

    # -- claims ----------------------------------------------------------------------------

    def bid(self, spec: TaskSpec) -> tuple[int, Evidence | None]:
        """Return the score with which this node claims the task, and the evidence for that score;
        None for evidence where the score is that of any node, or of a submitter's own machine."""
        core = self._core
        if core.table.interactive(spec.task) and core.own.has(spec.task):
            return SCORE_AT_HOME, None
        evidence = self.of(spec, core.me)
        score = self.score(evidence)
        return score, None if score == LIKE_ANY else evidence

    def believed(self, spec: TaskSpec, claim: Claim, told: Evidence | None) -> int | None:
        """Return None where a claim's score agrees with what is known here, else the score that this node would
        believe, never above the claim's: the score does not follow from the evidence told, or that is more than
        twice as good as what is known. Without evidence (None) a claim may score like any node, or at home."""
        if told is None:
            table, home = self._core.table, self._core.own.home(spec.task)
            at_home = claim.host == home and table.interactive(spec.task)
            if at_home or claim.score <= max(LIKE_ANY, self.score(self.of(spec, claim.host))):
                return None
            return self.score(self.of(spec, claim.host))
        known = self.of(spec, claim.host)
        if claim.score > self.score(told) or contradicted(told, known):
            return min(claim.score, self.score(known))
        return None


def broken_off(life: Life | None) -> int:
    """Return how often runs of a task ended in its present generation before their program did."""
    generation = 0 if life is None else effective_generation(life)
    runs = () if life is None else life.runs
    return sum(
        run.generation == generation and isinstance(run.phase, Evicted | Yielded | Lost)
        for run in runs
    )


def contradicted(told: Evidence, known: Evidence) -> bool:
    """Tell whether the evidence in a claim is more than twice as good as what is known here in some
    respect, for times by more than ``SLACK_MS`` besides."""
    times = (
        (told.length_ms, known.length_ms),
        (told.fetch_ms, known.fetch_ms),
        (known.usual_ms, told.usual_ms),
    )
    return any(worse > AT_MOST * better + SLACK_MS for better, worse in times) or (
        told.lasts_permille > AT_MOST * known.lasts_permille
    )


# What records and statuses carry of that, under ``more``, by name


def standing_on(evidence: Evidence | None) -> More:
    """Return what the record of a run carries of the evidence that its claim stood on."""
    return {} if evidence is None else {STANDS_ON: Raw(_encode(evidence))}


def stands_on(more: More) -> Evidence | None:
    """Return the evidence that a claim carries in ``more``; None where it carries none that can be
    read."""
    try:
        return _evidence(more[STANDS_ON])
    except (KeyError, msgspec.MsgspecError):
        return None


def with_number(name: str, number: int) -> More:
    """Return what carries a number by this name; nothing for 0."""
    return {name: Raw(_encode(number))} if number else {}


def number_in(more: More, name: str) -> int:
    """Return the number that a record carries under this name, brought within 0 and ``NUMBER_MAX``;
    0 where there is none that can be read."""
    try:
        return min(NUMBER_MAX, max(0, _number(more[name])))
    except (KeyError, msgspec.MsgspecError):
        return 0
