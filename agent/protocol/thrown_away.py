"""What was thrown away on each machine, as its owner came back, read off the ends of runs.

A machine whose owner often breaks off what it runs costs the flock what those runs had done. All nodes read
the same from the records, so all lower it alike: by the share of its time that came to nothing, for tasks
of an hour or more wholly, for shorter ones by as much less. It fades: what was a week ago counts half. Of
little nothing is made, as a machine counts as if it had given some hours without loss. What saved its
state is not lost, and a copy that came second is no owner's doing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agent.protocol.news import News
from agent.protocol.reasons import EndCause, reason_in
from agent.protocol.records import Evicted, NodeId, Run, Terminated, Yielded
from agent.protocol.second_runs import is_copy
from agent.protocol.table import Table
from agent.protocol.times import held_ms, started_ms, took

HALF_LIFE_MS: Final = 7 * 24 * 3_600_000
FIRST_S: Final = 4 * 3600.0
"""So much each machine counts as having given without loss before anything was seen."""
LONG_S: Final = 3600.0
OWNERS: Final = ("OwnerBack", "OwnerBans")


@dataclass(slots=True)
class _Given:
    """Seconds as they were worth at one moment, faded since."""

    at_ms: int = 0
    kept_s: float = 0.0
    thrown_s: float = 0.0

    def fade(self, now_ms: int) -> None:
        """Reduce what was counted so far by its age, so that it is worth what it is at this moment;
        do nothing for an earlier one."""
        if now_ms > self.at_ms:
            worth = 2.0 ** -((now_ms - self.at_ms) / HALF_LIFE_MS) if self.at_ms else 0.0
            self.kept_s, self.thrown_s, self.at_ms = (
                self.kept_s * worth,
                self.thrown_s * worth,
                now_ms,
            )


class ThrownAway:
    """How much of what machines do comes to an end there."""

    def __init__(self, table: Table) -> None:
        self._given: dict[NodeId, _Given] = {}
        ended = [run for life in table.lives.values() for run in life.runs if not run.live]
        for run in sorted(ended, key=lambda run: run.stamp):
            self._learn(run)

    def on_news(self, news: News) -> None:
        """Learn from the runs that have ended."""
        for _, run in news.ended:
            self._learn(run)

    def keeps(self, node: NodeId, seconds: float) -> float:
        """Return which share of a task that runs for ``seconds`` this machine is expected not to
        throw away; 1 where it threw nothing away lately."""
        given = self._given.get(node)
        if given is None or not given.thrown_s:
            return 1.0
        share = given.thrown_s / (FIRST_S + given.kept_s + given.thrown_s)
        return 1.0 - share * min(1.0, max(0.0, seconds) / LONG_S)

    def _learn(self, run: Run) -> None:
        thrown = _thrown_by_owner(run)
        if not (thrown or isinstance(run.phase, Terminated)) or is_copy(run):
            return
        measured = took(run)
        ran_ms = measured.run_ms if measured is not None else 0
        ran_s = (ran_ms or max(0, run.stamp[0] - started_ms(run) - held_ms(run))) / 1000
        given = self._given.setdefault(run.host, _Given())
        given.fade(run.stamp[0])
        if thrown:
            given.thrown_s += ran_s
        else:
            given.kept_s += ran_s


def _thrown_by_owner(run: Run) -> bool:
    """Its owner came back and it was given up, at once or after it was held for long."""
    if run.checkpoint is not None:
        return False
    if isinstance(run.phase, Yielded):
        return held_ms(run) > 0
    why = reason_in(run.more, "")
    return isinstance(run.phase, Evicted) and isinstance(why, EndCause) and why.kind in OWNERS
