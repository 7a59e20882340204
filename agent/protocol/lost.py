"""Runs of this host that nothing executes: its earlier starts left them behind.

At start, and whenever a peer tells of one, an unfinished run of this host that this incarnation
does not execute is ended as ``Lost``. That is a condition read from the table, so it holds also
when the disk was lost and a peer brings the record back later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from agent.protocol.core import Core, Part
from agent.protocol.liveness import Liveness
from agent.protocol.own_run import OwnRun
from agent.protocol.records import Life, Lost, Run, Running, Suspended, TaskId, TaskLife, run_name
from agent.protocol.table import News


class LostRuns(Part):
    """Ends what earlier incarnations of this host began."""

    def __init__(
        self, core: Core, liveness: Liveness, executed: Callable[[TaskId], OwnRun | None]
    ) -> None:
        super().__init__(core)
        self._liveness = liveness
        self._executed = executed

    def end_all(self) -> None:
        """End, at the start, every run of this host that the disk shows unfinished."""
        self._end(list(self.core.table.lives))

    def on_news(self, news: News) -> None:
        me = self.core.me
        self._end(part.task for part in news.lives if any(run.host == me for run in part.life.runs))

    def _end(self, tasks: Iterable[TaskId]) -> None:
        lost = [
            self._lost(task, run)
            for task in tasks
            for run in self.core.table.life(task).runs
            if run.host == self.core.me and run.live and not self._is_executed(task, run)
        ]
        if lost:
            self.core.write(lives=lost)

    def _is_executed(self, task: TaskId, run: Run) -> bool:
        own = self._executed(task)
        return own is not None and run_name(own.run) == run_name(run)

    def _lost(self, task: TaskId, run: Run) -> TaskLife:
        if run.incarnation > self.core.incarnation:
            self._liveness.raise_incarnation(run.incarnation + 1)
        ran = isinstance(run.phase, Running | Suspended)
        ended = msgspec.structs.replace(
            run, revision=run.revision + 1, phase=Lost(ran), stamp=self.core.stamp()
        )
        return TaskLife(task, Life(0, runs=(ended,)))
