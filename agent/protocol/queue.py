"""The claimable tasks of this node's view, in the order in which the flock wants them.

The policy is asked with a picture of all unfinished work. Laying out that picture costs time in
proportion to the work, so for large tables the answer is kept for a moment: it only loses tasks
meanwhile, and what is new joins behind it, except interactive work, which asks anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent.protocol.core import Core, Part
from agent.protocol.policy import FlockView, OrderPolicy, Stage, TaskView, WorkflowView
from agent.protocol.records import PRIORITY_INTERACTIVE, TaskId, WorkflowId
from agent.protocol.states import TaskState
from agent.protocol.table import News

FRESH_TASKS = 200
"""Up to so many unfinished tasks the policy is asked every time."""
STALE_S_PER_TASK = 0.0002
"""Beyond that, an answer is kept this long per unfinished task."""


class Queue(Part):
    """What may be claimed, in order."""

    def __init__(
        self,
        core: Core,
        policy: OrderPolicy,
        taken: Callable[[TaskId], bool],
        claimed: Callable[[TaskId], bool],
    ) -> None:
        super().__init__(core)
        self._policy = policy
        self._taken = taken
        self._claimed = claimed
        self._order: list[TaskId] = []
        self._asked_s = -1e9
        self._added: list[TaskId] = []
        self._ask_anew = True
        self.running_since_s: dict[TaskId, float] = {}
        self.left_s: dict[TaskId, tuple[float, float]] = {}

    def in_order(self) -> Iterable[TaskId]:
        """Claimable tasks, those wanted first in front."""
        unfinished = sum(len(tasks) for tasks in self.core.table.unfinished.values())
        stale_s = unfinished * STALE_S_PER_TASK
        fresh = not self._ask_anew and self.core.now_s - self._asked_s < stale_s
        if unfinished <= FRESH_TASKS or not fresh:
            self._order = self._policy.order(self._picture())
            self._added.clear()
            self._asked_s, self._ask_anew = self.core.now_s, False
        return [task for task in (*self._order, *self._added) if self.claimable(task)]

    def claimable(self, task: TaskId) -> bool:
        """Nothing in the table stands against claiming the task, and nobody is seen doing so."""
        table = self.core.table
        open_to_all = task in table.ready or (task in table.owned and not self._taken(task))
        return open_to_all and not self._claimed(task)

    def on_news(self, news: News) -> None:
        for task, _, now in news.moved:
            if now.state is TaskState.READY:
                self._added.append(task)
                self._ask_anew = self._ask_anew or self._interactive(task)
            if now.state is TaskState.RUNNING:
                self.running_since_s.setdefault(task, self.core.now_s)
            else:
                self.running_since_s.pop(task, None)
                self.left_s.pop(task, None)
        if news.workflows or self.core.liveness_changed:
            self._ask_anew = True

    def _interactive(self, task: TaskId) -> bool:
        table = self.core.table
        workflow = table.workflows.get(table.workflow_of.get(task, ""))
        return workflow is not None and workflow.priority.value >= PRIORITY_INTERACTIVE

    def _picture(self) -> FlockView:
        views = [
            self._workflow(each) for each, tasks in self.core.table.unfinished.items() if tasks
        ]
        return FlockView(self._places(), tuple(views))

    def _places(self) -> int:
        core = self.core
        willing = core.presence.volunteering and not core.presence.owner_present
        places = core.slots * willing
        for peer in core.peers.values():
            if peer.status is not None and peer.status.willing and not peer.suspected:
                places += peer.status.slots
        return max(places, 1)

    def _workflow(self, workflow_id: WorkflowId) -> WorkflowView:
        core = self.core
        workflow = core.table.workflows[workflow_id]
        age_s = max(0, core.wall_ms - workflow.spec.submitted[0]) / 1000
        tasks = core.table.unfinished[workflow_id]
        return WorkflowView(
            workflow_id,
            workflow.priority.value,
            workflow.spec.submitted,
            age_s,
            tuple(self._task(task) for task in tasks if not core.table.specs[task].gate),
        )

    def _task(self, task: TaskId) -> TaskView:
        table = self.core.table
        spec = table.specs[task]
        expected_s = spec.expected_ms / 1000
        if self._claimed(task):
            return TaskView(task, expected_s, (), Stage.RUNNING)
        if task in table.ready:
            return TaskView(task, expected_s, (), Stage.READY)
        if task in table.owned:
            if not self._taken(task):
                return TaskView(task, expected_s, (), Stage.READY)
            return TaskView(task, self._left_s(task, expected_s), (), Stage.RUNNING)
        needs = [ref.task for ref in spec.inputs] + list(spec.after)
        open_needs = tuple(need for need in dict.fromkeys(needs) if self._unfinished(need))
        return TaskView(task, expected_s, open_needs, Stage.WAITING)

    def _unfinished(self, task: TaskId) -> bool:
        reading = self.core.table.reading(task)
        return reading is None or reading.outcome is None

    def _left_s(self, task: TaskId, expected_s: float) -> float:
        """What is left by this node's own clock; told progress counts more than expectation."""
        told = self.left_s.get(task)
        if told is not None:
            left_s, at_s = told
            return max(0.0, left_s - (self.core.now_s - at_s))
        since_s = self.running_since_s.get(task)
        return expected_s if since_s is None else max(0.0, expected_s - (self.core.now_s - since_s))
