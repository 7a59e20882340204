"""The row of short tasks that a node has claimed: how long it may be, and when it is given back.

**Rows of short tasks**: how long they may be, and that nothing waits long in them. Such tasks are
claimed many at a time, and wait on the node that has claimed them; what lies there is not dealt out
to others. That is right only while they are as short as is said of them, and while nothing long is
before them. So rows grow only while they are soon done, none is begun behind long tasks alone, and
one that stands still is given back to whoever is free.
"""

from __future__ import annotations

from math import inf

from agent.protocol.clock import TimerKind
from agent.protocol.core import Core, Part
from agent.protocol.lengths import ROW_MAX
from agent.protocol.news import News
from agent.protocol.own_run import ON_THE_MACHINE, OwnRun, Stage
from agent.protocol.records import TaskId, TaskState
from agent.protocol.runs import Runs
from agent.protocol.seats import SHORT_TASKS_PER_SLOT_FIRST

QUICK_ROW_S = 1.0
"""Half a row that is done within this was of short tasks indeed."""
STANDS_S = 3.0
"""A row of which nothing was begun for this long stands still."""
TOO_LONG, STARTS_S = 4, 0.25
"""So does one of which a task takes so many times what none was thought to exceed, and the while that it
takes to start and end a program."""


class ShortTaskBatches(Part):
    """How many short tasks this node claims and keeps waiting in a row."""

    def __init__(self, core: Core, runs: Runs) -> None:
        super().__init__(core)
        self.in_a_row_max = SHORT_TASKS_PER_SLOT_FIRST
        """For each slot; one is no row."""
        self._runs = runs
        self._filled_s = -1e9
        self._first: TaskId = ""
        self._first_since_s = 0.0

    def on_news(self, news: News) -> None:
        """Watch the short tasks of this node that have begun, so that what waits behind one that
        takes too long is given back; stop watching those that run no more."""
        for task, _, now in news.moved:
            own = self._runs.mine.get(task)
            if own is None or now.state is not TaskState.RUNNING or now.owner is not own.run:
                self.core.timers.disarm(TimerKind.ROW_STANDS, task)
            else:
                self._look_after(own)

    def _look_after(self, own: OwnRun) -> None:
        """Set a timer for when the run takes too long for a row to wait behind it."""
        timers, left_s = self.core.timers, self._patience_s(own)
        if 0 < left_s < inf and not timers.armed(TimerKind.ROW_STANDS, own.task):
            timers.arm(TimerKind.ROW_STANDS, self.core.now_s + left_s, own.task)

    def _patience_s(self, own: OwnRun) -> float:
        """For how much longer a row may wait behind the run; infinite where it is no short one."""
        lengths = self.core.lengths
        if not lengths.short(own.spec):
            return inf
        longest_s = TOO_LONG * lengths.longest_ms(own.spec) / 1000 + STARTS_S
        return longest_s - own.passed_ms(self.core.now_s) / 1000

    def slots(self) -> int:
        """Return how many slots short tasks may wait for: those in which no long task is, suspended
        or not, nor a short one that takes too long; 0 or less when there is none."""
        return self.core.slots - sum(
            own.stage in ON_THE_MACHINE and not 0 < self._patience_s(own) < inf
            for own in self._runs.mine.values()
        )

    def note_claimed(self, tasks: int) -> None:
        """Adapt how long a row may be, as so many tasks were claimed: double it, up to ``ROW_MAX``,
        when the claim before is only a moment ago, else halve it, down to
        ``SHORT_TASKS_PER_SLOT_FIRST``. A single task changes only a row that had stood still."""
        for own in self._runs.mine.values():
            if own.stage in ON_THE_MACHINE:
                self._look_after(own)
        if tasks < 2 and self.in_a_row_max >= SHORT_TASKS_PER_SLOT_FIRST:
            return
        now_s = self.core.now_s
        if now_s - self._filled_s <= QUICK_ROW_S:
            self.in_a_row_max = min(2 * self.in_a_row_max, ROW_MAX)
        elif self.in_a_row_max > SHORT_TASKS_PER_SLOT_FIRST:
            self.in_a_row_max = max(self.in_a_row_max // 2, SHORT_TASKS_PER_SLOT_FIRST)
        self._filled_s = now_s

    def overran(self, task: TaskId) -> None:
        """Give back all tasks queued here, as this one takes far longer than any was thought to, and claim
        single ones from then on. Do nothing when it does not run here any more, or none is queued."""
        own = self._runs.mine.get(task)
        waiting = self._waiting()
        if own is not None and own.stage in ON_THE_MACHINE and waiting:
            self.in_a_row_max = 1
            self._runs.give_back(waiting)

    def _waiting(self) -> list[TaskId]:
        return [own.task for own in self._runs.mine.values() if own.stage is Stage.QUEUED]

    def on_tick(self) -> None:
        """Give back all tasks queued here when the first of them has not begun for ``STANDS_S``,
        and claim single ones from then on."""
        waiting = self._waiting()
        first = waiting[0] if waiting else ""
        if first != self._first:
            self._first, self._first_since_s = first, self.core.now_s
        elif first and self.core.now_s - self._first_since_s >= STANDS_S:
            self.in_a_row_max = 1
            self._runs.give_back(waiting)
