"""How far the runs of this node are, told to peers and clients.

Only of the run by which its task is read: a copy beside it would say something else of the same task.
"""

from __future__ import annotations

from agent.protocol.core import Core, Part
from agent.protocol.effects import TaskProgressed
from agent.protocol.going_on import is_beside
from agent.protocol.messages import Progress, ProgressItem
from agent.protocol.own_run import OwnRun, Stage, left_ms
from agent.protocol.runs import Runs

PROGRESS_REPEAT_S = 15.0
"""Unchanged progress is told again this often: it is also the heartbeat of a running task."""


class ProgressNews(Part):
    """Tells of each run that goes on."""

    def __init__(self, core: Core, runs: Runs) -> None:
        super().__init__(core)
        self._runs = runs

    def on_tick(self) -> None:
        """Tell peers and clients the progress of the programs that run here, without copies beside
        other runs: changes at most every ``progress_s``, what stays the same every
        ``PROGRESS_REPEAT_S``."""
        core = self.core
        items: list[ProgressItem] = []
        for own in self._runs.mine.values():
            since_s = core.now_s - own.told_s
            changed = own.permille != own.told_permille and since_s >= core.settings.progress_s
            if own.stage is not Stage.RUNNING or not (changed or since_s >= PROGRESS_REPEAT_S):
                continue
            if not is_beside(core, own):
                own.told_s, own.told_permille = core.now_s, own.permille
                item = self._progress(own)
                items.append(item)
                core.emit(TaskProgressed(own.task, core.me, item.permille, item.left_ms))
        if items:
            core.broadcast(Progress(tuple(items)))

    def _progress(self, own: OwnRun) -> ProgressItem:
        return ProgressItem(own.task, own.run.attempt, own.permille, left_ms(self.core, own))
