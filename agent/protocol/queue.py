"""The claimable tasks of this node's view, in the order in which the flock wants them.

The policy is asked with a picture of all unfinished work. Laying out that picture costs time in
proportion to the work, so for large tables the answer is kept for a moment: it only loses tasks
meanwhile, and what is new joins behind it. Interactive work asks anew; what a lost node left
behind goes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from agent.protocol.core import Core, Part
from agent.protocol.lengths import share_of
from agent.protocol.news import News
from agent.protocol.policy import FlockView, Places, Stage, TaskView, WorkflowView
from agent.protocol.records import (
    NodeId,
    Run,
    ShortText,
    TaskId,
    TaskSpec,
    TaskState,
    WorkflowId,
)
from agent.protocol.shares import Shares
from agent.protocol.table import Table

FRESH_TASKS = 200
"""Up to so many unfinished tasks the policy is asked every time."""
SOON_S = 0.02
LATE_END_S = 0.25
"""Starting and ending a program takes a while that no expectation holds."""
NOTHING: frozenset[TaskId] = frozenset()
STALE_S_PER_TASK = 0.0005
"""Beyond that, an answer is kept this long per unfinished task."""


class Queue(Part):
    """What may be claimed, in order."""

    def __init__(
        self,
        core: Core,
        taken: Callable[[TaskId], bool],
        claimed: Callable[[TaskId], NodeId],
        shares: Shares,
    ) -> None:
        super().__init__(core)
        self._shares = shares
        self._behind_s: Mapping[ShortText, float] = {}
        self._taken = taken
        self._claimed = claimed
        self._order: list[TaskId] = []
        self._added: dict[TaskId, None] = {}
        self._asked_s = -1e9
        self._ask_anew = True
        self._keeps_places = False
        """Some tasks of the order are not ready."""
        self._learned, self._rule = 0, core.rule
        self.row_max = 0
        """So many of some claimable tasks may wait in a row on a busy node; 0 where none is short."""
        self.running_since_s: dict[TaskId, float] = {}
        self.left_s: dict[TaskId, tuple[float, float]] = {}

    def in_order(self) -> Iterator[TaskId]:
        """Yield the claimable tasks, those wanted first in front. With much work the order may be a
        while old: then what a lost owner left behind comes first, and what is new comes last."""
        unfinished = sum(len(tasks) for tasks in self.core.table.unfinished.values())
        stale_s = unfinished * STALE_S_PER_TASK if unfinished > FRESH_TASKS else 0.0
        if self._learned != self.core.lengths.turns:
            self._learned, self._ask_anew = self.core.lengths.turns, True
        if self._rule is not self.core.rule:
            self._rule, self._ask_anew = self.core.rule, True
        if self._ask_anew or self.core.now_s - self._asked_s >= stale_s:
            self._order = self.core.rule.order.order(self._picture())
            self._keeps_places = any(_waits(task, self.core.table) for task in self._order)
            share, specs = self._share(), self.core.table.specs
            rows = (self.core.lengths.in_a_row(specs[task], share) for task in self._order)
            self.row_max = max(rows, default=0)
            self._added.clear()
            self._asked_s, self._ask_anew = self.core.now_s, False
            yield from filter(self.claimable, self._order)
            return
        left_behind = [task for task in self.core.table.owned if self.claimable(task)]
        yield from left_behind
        seen = set(left_behind)
        for task in chain(self._order, self._added):
            if task not in seen and self.claimable(task):
                seen.add(task)
                yield task

    def with_waiting(self) -> Iterator[TaskId]:
        """Yield the claimable tasks in order and, where the policy keeps places, between them the
        tasks that it keeps places for although they are not ready."""
        claimable = self.in_order()
        first = next(claimable, None)  # may ask the policy anew
        if self._added or not self._keeps_places:
            yield from () if first is None else chain((first,), claimable)
            return
        table, known = self.core.table, dict.fromkeys(claimable)
        for task in self._order:
            if task == first or task in known or _waits(task, table):
                yield task

    def after(
        self, ending: Iterable[TaskId], within_s: float, held: frozenset[TaskId] = NOTHING
    ) -> list[TaskId]:
        """Return the ready tasks for which the flock, not only this node, has a place once these
        tasks, and all longer ones that are to end within this time, have ended; first in front.
        Empty with too much unfinished work. ``held``: claims of this node that are taken for not
        made."""
        table = self.core.table
        if sum(len(tasks) for tasks in table.unfinished.values()) > FRESH_TASKS:
            return []
        ended = frozenset([*ending, *self._ends(within_s)])
        picture = self._picture(ended, held)
        running = [view for each in picture.workflows for view in each.tasks if _runs(view)]
        return self.core.rule.order.order(picture)[: max(0, picture.slots - len(running))]

    def claimable(self, task: TaskId) -> bool:
        """Tell whether the task is ready, or its owner is down or offers it, and nobody, this node
        included, is seen to claim it. False for an unknown task."""
        table = self.core.table
        open_to_all = task in table.ready or (task in table.owned and not self._taken(task))
        return open_to_all and not self._claimed(task)

    def on_news(self, news: News) -> None:
        """Keep the queue in line with the news: add tasks that became ready, note since when tasks
        run, as long as they do, and have the policy asked anew when a workflow changed."""
        for task, _, now in news.moved:
            if now.state is TaskState.READY:
                self._added[task] = None
                self.row_max = max(self.row_max, self._row(task))
                self._ask_anew = self._ask_anew or self.core.table.interactive(task)
            if now.state is TaskState.RUNNING:
                self.running_since_s.setdefault(task, self.core.now_s)
            else:
                self._forget(task)
        for task in news.forgotten_tasks:
            self._forget(task)
        self._ask_anew = self._ask_anew or bool(news.workflows)

    def _row(self, task: TaskId) -> int:
        return self.core.lengths.in_a_row(self.core.table.specs[task], self._share())

    def _share(self) -> int:
        """What each place has of all that is ready."""
        core = self.core
        slots = core.slots + sum(p.status.slots for p in core.peers.values() if p.status)
        return share_of(len(core.table.ready), slots)

    def _forget(self, task: TaskId) -> None:
        self.running_since_s.pop(task, None)
        self.left_s.pop(task, None)

    def told_progress(self, task: TaskId, left_s: float) -> None:
        """Note how long the node that runs the task says that it still needs."""
        if task in self.running_since_s:
            self.left_s[task] = (left_s, self.core.now_s)

    def _picture(
        self, ended: frozenset[TaskId] = NOTHING, held: frozenset[TaskId] = NOTHING
    ) -> FlockView:
        """With some running tasks taken for ended, and some claims for not made."""
        table, places = self.core.table, self._places()
        slots = max(1, sum(each.slots for each in places))
        open_ = [each for each, tasks in table.unfinished.items() if tasks]
        submitters = (self._shares.submitter(table.workflows[each].spec) for each in open_)
        self._behind_s = self._shares.behind_s(submitters, slots)
        views = [view for each in open_ for view in self._workflow(each, ended, held)]
        differ = any(each.slowness != 1.0 for each in places)
        return FlockView(slots, tuple(views), places if differ else ())

    def _places(self) -> tuple[Places, ...]:
        core, slowness = self.core, self.core.lengths.slowness
        places = []
        if core.presence.helps:
            places.append(Places(core.me, core.slots, slowness(core.me)))
        places += [
            Places(peer.node, peer.status.slots, slowness(peer.node))
            for peer in core.peers.values()
            if peer.status is not None and peer.status.helps and not peer.suspected
        ]
        return tuple(places)

    def _workflow(
        self, workflow_id: WorkflowId, ended: frozenset[TaskId], held: frozenset[TaskId]
    ) -> list[WorkflowView]:
        """The workflow; where tasks of it have priorities of their own, in as many parts."""
        core, table = self.core, self.core.table
        specs, own = table.specs, table.priorities.own
        workflow = table.workflows[workflow_id]
        usual = workflow.priority.value
        parts: dict[int, list[TaskView]] = {usual: []}
        for task in table.unfinished[workflow_id]:
            if task not in ended and not specs[task].gate:
                value = own(task)
                part = parts.setdefault(usual if value is None else value, [])
                part.append(self._task(specs[task], ended, held))
        submitted, behind_s = workflow.spec.submitted, self._behind_s
        age_s = max(0, core.wall_ms - submitted[0]) / 1000
        put_back_s = behind_s.get(self._shares.submitter(workflow.spec), 0.0)
        return [
            WorkflowView(workflow_id, value, submitted, age_s, tuple(tasks), put_back_s)
            for value, tasks in parts.items()
            if tasks or value == usual
        ]

    def _task(self, spec: TaskSpec, ended: frozenset[TaskId], held: frozenset[TaskId]) -> TaskView:
        """What is claimed ahead waits like the others."""
        table, task = self.core.table, spec.task
        expected_s = self.core.lengths.of(spec).q50_ms / 1000
        claimed = "" if task in held else self._claimed(task)
        if task in table.owned and self._taken(task) and not claimed:
            run = table.owned[task]
            left_s = self._left_s(spec, run)
            return TaskView(task, left_s, (), Stage.RUNNING, host=run.host)
        if task not in table.ready and task not in table.owned:
            needs = table.producers[task]
            open_needs = tuple(n for n in needs if n not in ended and self._unfinished(n))
            if open_needs or ended.isdisjoint(needs):
                return TaskView(task, expected_s, open_needs, Stage.WAITING)
        if claimed:
            length_s = self.core.lengths.of(spec, claimed).q50_ms / 1000
            return TaskView(task, length_s, (), Stage.RUNNING, host=claimed)
        return TaskView(task, expected_s, (), Stage.READY)

    def _unfinished(self, task: TaskId) -> bool:
        reading = self.core.table.reading(task)
        return reading is None or reading.outcome is None

    def _left_s(self, spec: TaskSpec, run: Run) -> float:
        """What is left by this node's own clock; told progress counts more than expectation. What
        is late is not free now: it takes as long again as it is late, or as those take that took so
        long."""
        told_s = self._told_s(spec.task)
        if told_s is not None:
            return told_s if told_s > 0 else max(-told_s, 0.0)
        since_s = self.running_since_s.get(spec.task, self.core.now_s)
        ran_ms = int((self.core.now_s - since_s) * 1000)
        return self.core.lengths.left_ms(spec, ran_ms, run.host) / 1000

    def _told_s(self, task: TaskId) -> float | None:
        """In what time it ends as its program says; below zero where it is late, None where it says
        nothing."""
        told = self.left_s.get(task)
        return None if told is None else told[0] - (self.core.now_s - told[1])

    def _due_s(self, spec: TaskSpec, run: Run) -> float:
        """In what time a run should end, as most others do; below zero where it is late."""
        told_s = self._told_s(spec.task)
        if told_s is not None:
            return told_s
        since_s = self.running_since_s.get(spec.task, self.core.now_s)
        return self.core.lengths.of(spec, run.host).q50_ms / 1000 - (self.core.now_s - since_s)

    def left_ms(self, task: TaskId) -> int:
        """Return how long a task that somebody owns still takes there, as far as is known."""
        table = self.core.table
        return max(0, int(1000 * self._left_s(table.specs[task], table.owned[task])))

    def near_end_s(self) -> float | None:
        """Return how long a run usually takes that is about to end and for which others wait; 0
        where others wait for none of those about to end, None where no longer run is about to
        end."""
        table, near_s = self.core.table, None
        for task in self._ends(SOON_S):
            if table.is_needed(task):
                return self.core.lengths.of(table.specs[task]).q50_ms / 1000
            near_s = 0.0
        return near_s

    def due_s(self, task: TaskId) -> float:
        """Return in how many seconds a task that somebody runs should end, as far as is known; below
        0 when it is later than expected."""
        return self._due_s(self.core.table.specs[task], self.core.table.owned[task])

    def _ends(self, within_s: float) -> Iterator[TaskId]:
        """Longer tasks that are expected to end so soon, or have not yet what they should have."""
        table = self.core.table
        for task, run in table.owned.items():
            spec = table.specs[task]
            if self.core.lengths.short(spec) or not self.core.lengths.known(spec):
                continue
            if -LATE_END_S <= self._due_s(spec, run) <= within_s:
                yield task

    def has_interactive(self) -> bool:
        """Tell whether some interactive work is unfinished."""
        return self.core.table.priorities.any_interactive(self.core.table.unfinished)


def _waits(task: TaskId, table: Table) -> bool:
    return task not in table.ready and task not in table.owned


def _runs(view: TaskView) -> bool:
    return view.state is Stage.RUNNING
