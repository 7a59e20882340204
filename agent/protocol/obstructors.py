"""Members that stand in the way of claims, and whose word is then not waited for any more.

Everybody alive is asked before a task begins, so one member that says *busy* for ever, keeps silent
while its heart beats, or claims and never runs would stop all new work. An objection of an honest
node stands on something, and passes with it. So what does not pass is counted:

* a consent that is owed for longer than any honest node takes, where nothing that this node can see
  stands behind it (``Claims``);
* a task that is left to the same rival again and again, and lies there all the while;
* a member that names better claims of several others which are linked here, and never ask here: whoever
  makes a claim asks everybody with the same words, so those were made up. Of one rival alone it may be
  the rival that asks some and not others: what this member says for that one is then not heeded, and
  neither is counted.

Who was counted twice is *in the way*: it is asked with the others, for a moment only, what it says
against a claim is not heeded, and neither is what others say for its sake. That is told to people. It
is forgiven when it has not happened again for a while. What is given up by it is small: two nodes
without a link to each other are kept apart by those that are linked with both, and one of these
counts less then. That a task begins twice for it is possible, and no work is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.protocol.core import Core
from agent.protocol.records import Claim, NodeId, TaskId

PATIENCE_S = 5.0
"""An honest node that does not answer for so long is silent altogether, and suspected before."""
PATIENCE_AGAIN_S = 0.25
STRIKES_MAX = 2
FORGIVEN_AFTER_S = 1_800.0
LEFT_TIMES_MAX = 3
LEFT_FOR_S = 6.0
"""A task is left to a rival for two seconds at a time (``claims.CONTESTED_S``)."""
LEFT_WAITING_S = 60.0
"""Whoever wants a seat of the flock waits for others that have it; and of a run that goes on for one
and not for another both learn before long what has become of its host."""
TASKS_MAX = 1_000


@dataclass(slots=True)
class _Left:
    """How often a task was left to a rival, and since when."""

    times: int
    since_s: float


@dataclass(slots=True)
class _Named:
    """Claims of one rival that a member has named and that were not made here, and since when."""

    since_s: float
    claims: list[Claim] = field(default_factory=list)


class Obstructors:
    """Who is in the way, by what this node has seen; kept in memory alone."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._strikes: dict[NodeId, tuple[int, float]] = {}
        self._left: dict[TaskId, dict[NodeId, _Left]] = {}
        self._named: dict[TaskId, dict[tuple[NodeId, NodeId], _Named]] = {}
        self._doubted: dict[tuple[NodeId, NodeId], float] = {}
        """Who has named whom in vain, and when last."""

    def __contains__(self, node: NodeId) -> bool:
        strikes, last_s = self._strikes.get(node, (0, 0.0))
        return strikes >= STRIKES_MAX and self._core.now_s - last_s < FORGIVEN_AFTER_S

    def all(self) -> tuple[NodeId, ...]:
        """Return who is in the way now, sorted."""
        return tuple(sorted(node for node in self._strikes if node in self))

    def patience_s(self, node: NodeId) -> float:
        """Return how long an answer of the node is waited for, where nothing stands behind that."""
        return PATIENCE_AGAIN_S if node in self else PATIENCE_S

    def passed_by(self, node: NodeId) -> None:
        """Count once more that this node goes on without waiting for a node's answer; the
        ``STRIKES_MAX``-th time that node is in the way. Counts are forgiven ``FORGIVEN_AFTER_S``
        after the last."""
        strikes, last_s = self._strikes.get(node, (0, 0.0))
        if self._core.now_s - last_s >= FORGIVEN_AFTER_S:
            strikes = 0
        self._strikes[node] = strikes + 1, self._core.now_s
        self._core.count("in the way")

    def left_to(self, task: TaskId, rival: NodeId, *, waits: bool = False) -> None:
        """Count that this node left a task to a rival; a rival that was left it too often, for too
        long, without beginning counts as in the way. ``waits``: it may have a lasting reason, so
        that it is given longer."""
        now_s = self._core.now_s
        while len(self._left) >= TASKS_MAX and task not in self._left:
            del self._left[next(iter(self._left))]
        left = self._left.setdefault(task, {}).setdefault(rival, _Left(0, now_s))
        left.times += 1
        long_s = LEFT_WAITING_S if waits else LEFT_FOR_S
        if left.times > LEFT_TIMES_MAX and now_s - left.since_s >= long_s:
            del self._left[task]
            for _ in range(STRIKES_MAX):
                self.passed_by(rival)

    def named(self, task: TaskId, objector: NodeId, claim: Claim) -> bool:
        """Note that a member (``objector``) refused consent because of a better claim by a rival
        that may not exist; tell whether what it says for this rival is ignored from now on. When
        that begins, the objector and the rival are in the way if others contradict them as well."""
        pair, now_s = (objector, claim.host), self._core.now_s
        if now_s - self._doubted.get(pair, -FORGIVEN_AFTER_S) < FORGIVEN_AFTER_S:
            self._doubted[pair] = now_s
            return True
        while len(self._named) >= TASKS_MAX and task not in self._named:
            del self._named[next(iter(self._named))]
        named = self._named.setdefault(task, {})
        known = named.setdefault(pair, _Named(now_s))
        known.claims = [*known.claims[-LEFT_TIMES_MAX:], claim]
        by_it = [each for (who, _), each in named.items() if who == objector]
        if sum(len(each.claims) for each in by_it) <= LEFT_TIMES_MAX:
            return False
        if now_s - min(each.since_s for each in by_it) < LEFT_FOR_S:
            return False
        self._doubt(pair, alone=len(by_it) == 1)
        return True

    def _doubt(self, pair: tuple[NodeId, NodeId], *, alone: bool) -> None:
        """One of the two says what is not so: the one with whom others have that, too."""
        objector, rival = pair
        self._doubted[pair] = self._core.now_s
        framed = {named for who, named in self._doubted if who == objector}
        asked = {who for who, named in self._doubted if named == rival}
        for node, seen in ((objector, len(framed) > 1 or not alone), (rival, len(asked) > 1)):
            for _ in range(STRIKES_MAX * seen):
                self.passed_by(node)

    def asked(self, task: TaskId, claim: Claim) -> None:
        """Note that a rival has really made this claim, so that no member that named it is
        suspected for it any more."""
        named = self._named.get(task, {})
        for pair, each in list(named.items()):
            each.claims = [known for known in each.claims if known != claim]
            if not each.claims:
                del named[pair]

    def went_on(self, task: TaskId) -> None:
        """Forget to whom a task was left, as something has become of it."""
        self._left.pop(task, None)
        self._named.pop(task, None)
