"""Members that stand in the way of claims, and whose word is then not waited for any more.

Everybody alive is asked before a task begins, so one member that says *busy* for ever, keeps silent
while its heart beats, or claims and never runs would stop all new work. An objection of an honest
node stands on something, and passes with it. So what does not pass is counted:

* a consent that is owed for longer than any honest node takes, where nothing that this node can see
  stands behind it (``Claims``);
* a task that is left to the same rival again and again, and lies there all the while.

Who was counted twice is *in the way*: it is asked with the others, for a moment only, what it says
against a claim is not heeded, and neither is what others say for its sake. That is told to people. It
is forgiven when it has not happened again for a while. What is given up by it is small: two nodes
without a link to each other are kept apart by those that are linked with both, and one of these
counts less then. That a task begins twice for it is possible, and no work is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.protocol.core import Core
from agent.protocol.records import NodeId, TaskId

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


class Obstructors:
    """Who is in the way, by what this node has seen; kept in memory alone."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._strikes: dict[NodeId, tuple[int, float]] = {}
        self._left: dict[TaskId, dict[NodeId, _Left]] = {}

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
        """Count that an answer of the node was not waited for any longer."""
        strikes, last_s = self._strikes.get(node, (0, 0.0))
        if self._core.now_s - last_s >= FORGIVEN_AFTER_S:
            strikes = 0
        self._strikes[node] = strikes + 1, self._core.now_s
        self._core.count("in the way")

    def left_to(self, task: TaskId, rival: NodeId, *, waits: bool = False) -> None:
        """Count that a task was left to a rival; who does not begin it then is in the way. ``waits``:
        there may be a reason that lasts."""
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

    def went_on(self, task: TaskId) -> None:
        """Forget to whom a task was left, as something has become of it."""
        self._left.pop(task, None)
