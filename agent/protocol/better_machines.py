"""Whether a task had better wait for another machine than begin on the one that is free.

The owner of the free machine will perhaps be back before the task ends (``policy.lasting``). Then

* *a shorter one* of the same priority, among the next in order, takes the place, if it is clearly more
  likely to end there; so short tasks fill a lunch, and long ones go where nobody comes;
* *a better machine* is waited for that ends soon what it runs.

Nobody waits for ever: the time begins when a task is first seen to wait, and is not given twice. Where
nothing is better the task begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from agent.protocol.clock import TimerKind
from agent.protocol.core import Core
from agent.protocol.policy.lasting import (
    OVERTAKEN_S_MAX,
    RISKY,
    WAITS_S_MAX,
    much_likelier,
    survival,
)
from agent.protocol.queue import Queue
from agent.protocol.records import NodeId, TaskId, TaskSpec
from agent.protocol.seats import SeatPlan, Seats

LOOKS_AGAIN_S = 15.0
LATE_S = 30.0
"""What is so much later than expected still ends soon."""
NEXT_LOOKED_AT = 40
"""Among so many tasks a shorter one is looked for, and so many are left waiting in one plan."""


class BetterMachines:
    """What waits for a better machine, and since when."""

    def __init__(self, core: Core, queue: Queue) -> None:
        self._core, self._queue = core, queue
        self.since_s: dict[TaskId, float] = {}
        self._plan: SeatPlan | None = None
        self._next: list[TaskSpec] = []
        self._left_waiting = 0

    def had_better_wait(self, spec: TaskSpec, plan: SeatPlan, free: list[Seats]) -> bool:
        """Tell whether the task had better wait, as a machine that stays free longer is free soon, or a shorter
        task suits the first (best) of the ``free`` ones much better; if so, set a timer to look again. False
        without a free one, for interactive work, where the best is likely to stay free, and after a long wait."""
        core = self._core
        if not free or core.table.interactive(spec.task):
            return False
        here = plan.survives(free[0], spec)
        if here >= RISKY:
            return False
        self._look_at(plan)
        waited_s = core.now_s - self.since_s.setdefault(spec.task, core.now_s)
        if self._left_waiting >= NEXT_LOOKED_AT or not (
            (waited_s < OVERTAKEN_S_MAX and self._is_overtaken(spec, plan, free[0], here))
            or self._better_soon(spec, plan, free, here, WAITS_S_MAX - waited_s)
        ):
            return False
        self._left_waiting += 1
        core.timers.arm(TimerKind.BETTER, core.now_s + LOOKS_AGAIN_S)
        return True

    def _look_at(self, plan: SeatPlan) -> None:
        """The next tasks in order, once for each plan."""
        if self._plan is not plan:
            specs = self._core.table.specs
            self._plan, self._left_waiting = plan, 0
            self._next = [specs[each] for each in islice(self._queue.in_order(), NEXT_LOOKED_AT)]

    def _is_overtaken(self, spec: TaskSpec, plan: SeatPlan, seats: Seats, here: float) -> bool:
        """A shorter task is much more likely to end there."""
        table = self._core.table
        priority = table.priority(spec.task)
        length_s = min(
            (
                plan.length_s(each, seats.node)
                for each in self._next
                if table.priority(each.task) == priority and seats in plan.fitting(each)
            ),
            default=plan.length_s(spec, seats.node),
        )
        return much_likelier(survival(seats.lasts, length_s), here)

    def _better_soon(
        self, spec: TaskSpec, plan: SeatPlan, free: Iterable[Seats], here: float, within_s: float
    ) -> bool:
        """A machine on which the task is likely to end is expected to end another soon."""
        owned = self._core.table.owned.items()
        left = {run.host: self._queue.due_s(task) for task, run in owned} if within_s > 0 else {}
        soon: dict[NodeId, float] = {
            node: max(0.0, left_s) for node, left_s in left.items() if -LATE_S <= left_s <= within_s
        }
        return any(
            plan.survives(each, spec, soon[each.node]) >= RISKY
            for each in plan.fitting(spec)
            if each.node in soon and each not in free
        )

    def look_again(self) -> None:
        """Have everything planned anew, as the time of a task may be over."""
        self._core.wake = True
