"""What each submitter has taken of the flock's machines lately, read off the runs that have ended. A
person with several machines is one, by their keys; else submitters are told apart by their names.

Who has taken less goes first: the workflows of whoever has had more are ranked as if they had come
later, by the time for which the whole flock worked for that person and not for the one with least.
What was taken fades with a half-life of hours, and nobody is put back by more than ``BEHIND_S_MAX``,
so that nobody waits for ever. It moves nobody between interactive work and low, nor between levels.

Every node reads the same off the same table. Views differ by what is on its way; so only whole
``STEP_S`` count, and as everywhere claims decide. With one submitter there is nothing to share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from agent.protocol.core import Core, Part
from agent.protocol.identity import KEPT
from agent.protocol.news import News
from agent.protocol.records import ShortText, TaskId, WorkflowSpec
from agent.protocol.second_runs import is_copy
from agent.protocol.times import held_ms, started_ms

HALF_LIFE_S: Final = 4 * 3600.0
BEHIND_S_MAX: Final = 3600.0
STEP_S: Final = 60.0
HALVES_MAX: Final = 500.0
"""So many half-lives after the last beginning all that was taken is counted from a new one: what is
older has faded, and no number becomes too large."""


class Shares(Part):
    """Machine time by submitter, as it was worth at one moment (``_since_s``), which moves seldom."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._since_s = 0.0
        self._taken: dict[ShortText, float] = {}
        self._of_task: dict[TaskId, tuple[ShortText, float]] = {}
        self._people = core.checking.trust.people
        for task in core.table.lives:
            self._look_at(task)

    def on_news(self, news: News) -> None:
        """Count what submitters have had by runs that ended, and no longer count runs of removed
        tasks."""
        for part in news.lives:
            self._look_at(part.task)
        for task in news.forgotten_tasks:
            self._drop(task)

    def submitter(self, spec: WorkflowSpec) -> str:
        """Return as whose work a workflow counts: as a person's, whatever he is called, who has several
        machines in the flock."""
        return self._people.submitter(spec.home, spec.submitter)

    def behind_s(self, submitters: Iterable[ShortText], places: int) -> Mapping[ShortText, float]:
        """Return for each submitter by how many seconds its work is put back: how much more of the flock's time its
        ended runs took lately than those of the one with least, in whole ``STEP_S``, at most ``BEHIND_S_MAX``.
        Empty for fewer than two. ``places``, how many tasks the flock runs at once, must not be 0."""
        self._look_at_people()
        names = list(dict.fromkeys(submitters))
        if len(names) < 2:
            return {}
        faded = 2.0 ** -((self.core.wall_ms / 1000 - self._since_s) / HALF_LIFE_S)
        taken = {name: faded * self._taken.get(name, 0.0) / places for name in names}
        least = min(taken.values())
        return {
            name: min(BEHIND_S_MAX, STEP_S * ((each - least) // STEP_S))
            for name, each in taken.items()
        }

    def _look_at(self, task: TaskId) -> None:
        table = self.core.table
        self._drop(task)
        runs = [
            run
            for run in table.life(task).runs
            if not run.live and KEPT not in run.more and not is_copy(run)
        ]
        if not runs or task not in table.workflow_of:
            return
        if not self._since_s:
            self._since_s = runs[0].stamp[0] / 1000
        taken = 0.0
        for run in runs:
            ended_s, ran_ms = run.stamp[0] / 1000, run.stamp[0] - started_ms(run) - held_ms(run)
            halves = min(HALVES_MAX, (ended_s - self._since_s) / HALF_LIFE_S)
            taken += max(0, ran_ms) / 1000 * 2.0 ** max(-HALVES_MAX, halves)
        submitter = self.submitter(table.workflows[table.workflow_of[task]].spec)
        self._of_task[task] = (submitter, taken)
        self._taken[submitter] = self._taken.get(submitter, 0.0) + taken

    def _drop(self, task: TaskId) -> None:
        submitter, taken = self._of_task.pop(task, ("", 0.0))
        if submitter:
            self._taken[submitter] -= taken

    def on_tick(self) -> None:
        """Count anew from now on when that was last done long ago."""
        now_s = self.core.wall_ms / 1000
        if self._since_s and (now_s - self._since_s) / HALF_LIFE_S > HALVES_MAX / 2:
            self._count_anew(now_s)

    def _look_at_people(self) -> None:
        """Count anew where machines were paired since."""
        people = self.core.checking.trust.people
        if people != self._people:
            self._people = people
            self._count_anew(self._since_s)

    def _count_anew(self, since_s: float) -> None:
        self._since_s, self._taken = since_s, {}
        for task in list(self._of_task):
            self._of_task.pop(task)
            self._look_at(task)
