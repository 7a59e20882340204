"""Short tasks in a row: how long it may be, and that nothing waits long in it.

Short tasks are claimed many at a time, and wait on the node that has claimed them; what lies there is
not dealt out to others. That is right only while they are as short as is said of them, and while
nothing long is before them. So rows grow only while they are soon done, none is begun behind long
tasks alone, and one that stands still is given back to whoever is free.
"""

from __future__ import annotations

from agent.protocol.core import Core, Part
from agent.protocol.own_run import ON_THE_MACHINE, Stage
from agent.protocol.records import TaskId
from agent.protocol.runs import Runs
from agent.protocol.seats import SHORT_TASKS_PER_SLOT, SHORT_TASKS_PER_SLOT_FIRST

QUICK_ROW_S = 1.0
"""Half a row that is done within this was of short tasks indeed."""
STANDS_S = 3.0
"""A row of which nothing was begun for this long stands still."""


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

    def slots(self) -> int:
        """Return how many slots short tasks may wait for: those that no long task occupies."""
        short_ms = self.core.settings.short_task_ms
        return self.core.slots - sum(
            own.stage in ON_THE_MACHINE and own.spec.expected_ms >= short_ms
            for own in self._runs.mine.values()
        )

    def note_claimed(self, tasks: int) -> None:
        """Adapt how long a row may be to how fast it emptied, as these many tasks were claimed.
        After a row that stood still, single ones show that it may grow."""
        if tasks < 2 and self.in_a_row_max >= SHORT_TASKS_PER_SLOT_FIRST:
            return
        now_s = self.core.now_s
        if now_s - self._filled_s <= QUICK_ROW_S:
            self.in_a_row_max = min(2 * self.in_a_row_max, SHORT_TASKS_PER_SLOT)
        elif self.in_a_row_max > SHORT_TASKS_PER_SLOT_FIRST:
            self.in_a_row_max = max(self.in_a_row_max // 2, SHORT_TASKS_PER_SLOT_FIRST)
        self._filled_s = now_s

    def on_tick(self) -> None:
        """Give the waiting short tasks back when the first has not begun for too long, and claim
        single ones from then on."""
        waiting = [own.task for own in self._runs.mine.values() if own.stage is Stage.QUEUED]
        first = waiting[0] if waiting else ""
        if first != self._first:
            self._first, self._first_since_s = first, self.core.now_s
        elif first and self.core.now_s - self._first_since_s >= STANDS_S:
            self.in_a_row_max = 1
            self._runs.give_back(waiting, "what runs before it takes long")
