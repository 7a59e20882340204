"""Second runs of tasks, on machines that have nothing else to do.

A copy is a deliberate second run of one attempt (``second_runs``): the first end wins, the other run is
cancelled. It is bounded, so that it costs nobody anything but power:

* at most ``copies_max`` of one attempt, and none of what is marked *once* or holds a seat of the flock;
* only on machines that have nothing to do, while nothing that is ready waits for one;
* at most ``copies_share`` of the flock's places at once; rules that say so have more of both;
* other work goes before: it is claimed and begins as if the copy was not there, which is ended.

Which runs are worth it says a policy (``policy.copying``). Every node lays the same plan of them now and
then, and begins what falls to it; a claim sees to it that only one does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from agent.protocol.claims import Claims
from agent.protocol.core import Core, Part
from agent.protocol.evidence import Knowledge
from agent.protocol.going_on import is_beside
from agent.protocol.lengths import RUNS
from agent.protocol.news import News
from agent.protocol.own_run import ON_THE_MACHINE, OwnRun, Stage
from agent.protocol.planning import Planning
from agent.protocol.policy.copying import RunningView
from agent.protocol.queue import Queue
from agent.protocol.records import NodeId, Run, Suspended, TaskId, TaskSpec
from agent.protocol.runs import Runs
from agent.protocol.seats import SeatPlan, Seats
from agent.protocol.second_runs import is_copy

LOOKED_AT_MAX = 200
"""So many runs are looked at, and so many that wait, in one plan."""
LOOKS_EVERY_S = 2.0


class Copies(Part):
    """Begins copies on this node, and ends them where others want their place."""

    def __init__(
        self,
        core: Core,
        runs: Runs,
        claims: Claims,
        queue: Queue,
        planning: Planning,
        knowledge: Knowledge,
        closed: Callable[[TaskId], str],
        closed_here: Callable[[TaskId], str],
    ) -> None:
        super().__init__(core)
        self._runs, self._claims, self._queue, self._planning = runs, claims, queue, planning
        self._knowledge = knowledge
        self._closed, self._closed_here = closed, closed_here
        self._held_since_s: dict[TaskId, float] = {}
        self._looked_s = -1e9

    # -- those that are here -------------------------------------------------------------

    def make_room(self) -> None:
        """Start queued copies of runs (second runs on purpose) in slots that nothing else wants;
        where there are more copies than such slots, give the youngest back, those that have not
        started first. Do nothing while the node stops."""
        core, runs = self.core, self._runs
        beside = [own for own in runs.mine.values() if is_copy(own.run) and is_beside(core, own)]
        if not beside or core.stopping:
            return
        room = core.slots - runs.executing()
        here = [own for own in beside if own.stage in ON_THE_MACHINE and not _ends(own)]
        waiting = [own for own in beside if own.stage is Stage.QUEUED]
        too_many = len(here) + len(waiting) - max(0, room)
        if too_many > 0:
            runs.give_back([own.task for own in [*here, *waiting][-too_many:]], "GaveWay")
        for own in waiting:
            if own.stage is Stage.QUEUED and own.task in runs.mine:
                runs.start(own)

    # -- those that could be -------------------------------------------------------------

    def on_news(self, news: News) -> None:
        """Note since when, by this node's clock, each task's run is suspended; forget that when it
        goes on or is removed."""
        for task, _, now in news.moved:
            if now.owner is not None and isinstance(now.owner.phase, Suspended):
                self._held_since_s.setdefault(task, self.core.now_s)
            else:
                self._held_since_s.pop(task, None)
        for task in news.forgotten_tasks:
            self._held_since_s.pop(task, None)

    def on_tick(self) -> None:
        """Now and then, if this node has nothing else to do and no waiting task fits anywhere,
        claim a copy of the run that falls to it, if one does."""
        core = self.core
        if core.now_s - self._looked_s < LOOKS_EVERY_S or not core.table.owned:
            return
        self._looked_s = core.now_s
        if not self._has_nothing_to_do():
            return
        plan = self._planning.seat_plan()
        if any(plan.fitting(spec) for spec in self._waiting()):
            return
        task = self._own_share(plan)
        if task and not self._closed_here(task):
            self._claims.go_for_copy(task)

    def _has_nothing_to_do(self) -> bool:
        core = self.core
        own = [each for each in self._runs.mine.values() if each.stage is not Stage.COPYING]
        free = len(own) < core.slots and not self._claims.open and not self._claims.contested
        return free and core.joined and core.able and core.presence.helps

    def _waiting(self) -> Iterator[TaskSpec]:
        table = self.core.table
        for task in islice(table.ready, LOOKED_AT_MAX):
            if not table.specs[task].gate:
                yield table.specs[task]

    def _own_share(self, plan: SeatPlan) -> TaskId:
        """The task that the plan gives this node to copy; empty where there is none."""
        table, me = self.core.table, self.core.me
        owned = dict(islice(table.owned.items(), LOOKED_AT_MAX))
        copies = [run for task in owned for run in table.life(task).runs if _copies(run)]
        places = sum(each.slots for each in plan.seats if each.willing and not each.own_only)
        share = max(self.core.settings.copies_share, self.core.rule.copies.share)
        left = max(1, int(places * share)) - len(copies)
        taken = [run.host for run in copies]
        made = Counter(task for task in owned for run in table.life(task).runs if _copies(run))
        for task in sorted(
            owned, key=lambda task: (task not in self._held_since_s, made[task], task)
        ):
            if left <= 0:
                return ""
            if self._closed(task):
                continue
            taker = self._taker(table.specs[task], owned[task], plan, taken)
            if taker == me:
                return task
            if taker:
                taken.append(taker)
                left -= 1
        return ""

    def _taker(self, spec: TaskSpec, run: Run, plan: SeatPlan, taken: list[NodeId]) -> NodeId:
        """The best machine for which a copy is worth it; empty where it is not."""
        hosts = {
            run.host,
            *(each.host for each in self.core.table.life(spec.task).runs if each.live),
        }
        free = [
            each
            for each in plan.free(spec)
            if each.node not in hosts and each.busy + taken.count(each.node) < each.slots
        ]
        if free and self.core.rule.copies.worth(
            self._view(spec, run, plan, free[0]), self.core.settings.copy_after_s
        ):
            return free[0].node
        return ""

    def _view(self, spec: TaskSpec, run: Run, plan: SeatPlan, here: Seats) -> RunningView:
        core, table = self.core, self.core.table
        since_s = self._held_since_s.get(spec.task)
        known = core.lengths.of(spec).source == RUNS  # what is only told is often wrong
        evidence = self._knowledge.of(spec, here.node)
        left_s = self._queue.left_ms(spec.task) / 1000
        tasks = table.unfinished.get(table.workflow_of[spec.task], {})
        last = all(task in table.owned or table.specs[task].gate for task in tasks)
        return RunningView(
            None if since_s is None else core.now_s - since_s,
            left_s if known else None,
            (evidence.length_ms + evidence.fetch_ms) / 1000 if known else None,
            plan.lasts(run.host, left_s),
            plan.lasts(here.node, evidence.length_ms / 1000),
            last,
        )


def _ends(own: OwnRun) -> bool:
    return own.stage is Stage.STOPPING


def _copies(run: Run) -> bool:
    return run.live and is_copy(run)
