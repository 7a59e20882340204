"""Whether a task had better wait for another machine than begin on the one that is free.

That is so where the owner of the free machine will probably be back before the task ends, while a
machine that lasts is about to end what it runs (``policy.lasting``). The seat goes to another task
meanwhile, one that is short enough. Nobody waits for ever: the time begins when a task is first seen to
wait, is no longer than what the task takes, and is not given twice.
"""

from __future__ import annotations

from agent.protocol.clock import TimerKind
from agent.protocol.core import Core
from agent.protocol.policy.lasting import RISKY, waits_s, worth_waiting
from agent.protocol.queue import Queue
from agent.protocol.records import NodeId, TaskId, TaskSpec
from agent.protocol.seats import SeatPlan, Seats

LOOKS_AGAIN_S = 15.0


class BetterMachines:
    """What waits for a better machine, and until when at the most."""

    def __init__(self, core: Core, queue: Queue) -> None:
        self._core, self._queue = core, queue
        self.until_s: dict[TaskId, float] = {}

    def had_better_wait(self, spec: TaskSpec, plan: SeatPlan, free: list[Seats]) -> bool:
        """Tell whether the task is not to begin on any of the free machines now, the best of them first;
        look again in a while where that is so. Interactive work never waits."""
        core = self._core
        if not free or core.table.interactive(spec.task):
            return False
        here = plan.survives(free[0], spec)
        if here >= RISKY:
            return False
        until_s = self.until_s.setdefault(
            spec.task, core.now_s + waits_s(plan.length_s(spec, free[0].node))
        )
        if until_s <= core.now_s:
            return False
        left_s = self._soon_free(until_s - core.now_s)
        others = [each for each in plan.fitting(spec) if each.node in left_s and each not in free]
        chances = (plan.survives(each, spec, left_s[each.node]) for each in others)
        if not worth_waiting(here, chances):
            return False
        core.timers.arm(TimerKind.BETTER, min(until_s, core.now_s + LOOKS_AGAIN_S))
        return True

    def _soon_free(self, within_s: float) -> dict[NodeId, float]:
        """The nodes that are expected to end a task within this time, and when."""
        owned = self._core.table.owned.items()
        left = ((run.host, self._queue.left_of(task)) for task, run in owned)
        return {host: left_s for host, left_s in left if 0.0 < left_s <= within_s}

    def look_again(self) -> None:
        """Have everything planned anew, as the time of a task may be over."""
        self._core.wake = True
