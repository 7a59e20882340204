"""Which task this node goes for, so that nodes race rarely.

Every node lays the same plan from what all of them know: claimable tasks in the policy's order
are dealt out to free seats in a common order (the least busy node first, then by id), and each
node goes for what the plan gives it. Views differ for moments only; where they do, claims decide.
Tasks that somebody is seen to claim count as taken, and take a seat of that node.

A plan is laid when something changed, never by polling. One timer guards against a node that was
planned in and does nothing: what it leaves lying for a second is dealt out without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.protocol.claims import Claims
from agent.protocol.core import Core, Part
from agent.protocol.matching import failed_on, misfit
from agent.protocol.messages import Capabilities
from agent.protocol.promises import Promises
from agent.protocol.queue import Queue
from agent.protocol.records import PRIORITY_INTERACTIVE, NodeId, TaskId, TaskSpec
from agent.protocol.table import News
from agent.protocol.timers import TimerKind

SCORE = 500_000
SCORE_AT_HOME = 1_000_000
SHORT_TASKS_PER_SLOT = 16


@dataclass(slots=True)
class Seats:
    """The places of one node in a plan."""

    node: NodeId
    capabilities: Capabilities
    slots: int
    busy: int
    willing: bool

    @property
    def depth(self) -> int:
        """How deep in the node's row the next free seat is; the least busy node comes first."""
        return self.busy // max(self.slots, 1)


class Planning(Part):
    """Deals claimable tasks out, and claims this node's share."""

    def __init__(
        self,
        core: Core,
        claims: Claims,
        promises: Promises,
        queue: Queue,
        obstacle: Callable[[TaskId], str],
        executing: Callable[[], int],
    ) -> None:
        super().__init__(core)
        self._claims = claims
        self._promises = promises
        self._queue = queue
        self._obstacle = obstacle
        self._executing = executing
        self._planned: dict[TaskId, tuple[NodeId, float]] = {}
        self._passed_over: dict[TaskId, dict[NodeId, None]] = {}

    def plan(self) -> None:
        """Lay the plan anew and go for what it gives this node."""
        core = self.core
        if not core.joined or not core.able:
            return
        seats = self._seats()
        mine = seats[0]
        if not self._may_go(mine):
            return
        chosen: list[tuple[TaskId, int]] = []
        planned: dict[TaskId, tuple[NodeId, float]] = {}
        held_back = False
        for task in self._queue.in_order():
            spec = core.table.specs[task]
            if held_back and not self._interactive(spec):
                break
            taker = self._taker(task, spec, seats)
            if taker is None:
                if not any(self._has_room(each, spec) for each in seats):
                    break
                continue
            taker.busy += 1
            if taker is mine:
                chosen.append((task, self._score(spec)))
                if not self._may_go(mine):
                    break
            else:
                planned[task] = self._since(task, taker.node)
                held_back = held_back or self._could_take_interactive(spec, mine)
        self._remember(planned)
        if chosen:
            self._claims.go_for(chosen[: core.settings.claims_per_message_max])

    def _may_go(self, mine: Seats) -> bool:
        return mine.busy < mine.slots * SHORT_TASKS_PER_SLOT

    def _seats(self) -> list[Seats]:
        """This node's seats first, then the peers'."""
        core = self.core
        busy: dict[NodeId, int] = {}
        for run in core.table.owned.values():
            busy[run.host] = busy.get(run.host, 0) + 1
        for task, promise in self._promises.by_task.items():
            if task not in core.table.owned:
                busy[promise.claimant] = busy.get(promise.claimant, 0) + 1
        willing = core.presence.volunteering and not core.presence.owner_present
        own = max(self._executing(), busy.get(core.me, 0)) + len(self._claims.open)
        seats = [Seats(core.me, core.capabilities, core.slots, own, willing)]
        for peer in core.peers.values():
            if peer.greeted and not peer.suspected and peer.status is not None:
                status = peer.status
                seats.append(
                    Seats(
                        peer.node,
                        status.capabilities,
                        status.slots,
                        busy.get(peer.node, 0),
                        status.willing,
                    )
                )
        return seats

    def _taker(self, task: TaskId, spec: TaskSpec, seats: list[Seats]) -> Seats | None:
        """The seat that the plan gives the task to."""
        core = self.core
        passed = self._passed_over.get(task, {})
        fitting = [each for each in seats if not misfit(spec, each.capabilities)]
        home = self._home(spec, fitting)
        if home is not None and home.busy == 0 and home.node not in passed:
            return self._if_possible(home, task)
        fitting = [each for each in fitting if each.willing]
        failed = failed_on(core.table.life(task))
        if failed:
            fitting = [each for each in fitting if each.node not in failed] or fitting
        free = [each for each in fitting if each.node not in passed and self._has_room(each, spec)]
        for each in sorted(free, key=lambda each: (each.depth, each.busy, each.node)):
            taker = self._if_possible(each, task)
            if taker is not None:
                return taker
        return None

    def _if_possible(self, seats: Seats, task: TaskId) -> Seats | None:
        """What stands in this node's own way is known here; of the peers it is not."""
        if seats.node == self.core.me and self._obstacle(task):
            return None
        return seats

    def _home(self, spec: TaskSpec, seats: list[Seats]) -> Seats | None:
        """Where an interactive task was submitted: it runs there at once, owner or not."""
        core = self.core
        if not self._interactive(spec):
            return None
        workflow = core.table.workflows[core.table.workflow_of[spec.task]]
        for each in seats:
            if each.node == workflow.spec.host:
                return each
        return None

    def _could_take_interactive(self, spec: TaskSpec, mine: Seats) -> bool:
        """No low task starts where an interactive one could: first it must be seen taken."""
        if not self._interactive(spec) or misfit(spec, mine.capabilities):
            return False
        return self._has_room(mine, spec) and not self._obstacle(spec.task)

    def _interactive(self, spec: TaskSpec) -> bool:
        table = self.core.table
        workflow = table.workflows[table.workflow_of[spec.task]]
        return workflow.priority.value >= PRIORITY_INTERACTIVE

    def _has_room(self, seats: Seats, spec: TaskSpec) -> bool:
        if seats.busy < seats.slots:
            return True
        short = spec.expected_ms < self.core.settings.short_task_ms
        deep = seats.slots * min(
            SHORT_TASKS_PER_SLOT, self.core.settings.short_task_ms // max(spec.expected_ms, 1)
        )
        return short and seats.busy < deep

    def _score(self, spec: TaskSpec) -> int:
        core = self.core
        workflow = core.table.workflows[core.table.workflow_of[spec.task]]
        at_home = self._interactive(spec) and workflow.spec.host == core.me
        return SCORE_AT_HOME if at_home else SCORE

    # -- what others leave lying ---------------------------------------------------------

    def _since(self, task: TaskId, node: NodeId) -> tuple[NodeId, float]:
        known = self._planned.get(task)
        return known if known is not None and known[0] == node else (node, self.core.now_s)

    def _remember(self, planned: dict[TaskId, tuple[NodeId, float]]) -> None:
        self._planned = planned
        core = self.core
        if planned and not core.timers.armed(TimerKind.OVERDUE):
            core.timers.arm(TimerKind.OVERDUE, core.now_s + core.settings.overdue_s)

    def look_for_overdue(self) -> None:
        """Deal out without a node what it left lying although it was planned to take it."""
        core = self.core
        late_s = core.now_s - core.settings.overdue_s
        for task, (node, since_s) in self._planned.items():
            if since_s <= late_s:
                self._passed_over.setdefault(task, {})[node] = None
                core.wake = True
        if self._planned:
            core.timers.arm(TimerKind.OVERDUE, core.now_s + core.settings.overdue_s)

    def on_news(self, news: News) -> None:
        for task, _, now in news.moved:
            if now.owner is not None or now.outcome is not None:
                self._passed_over.pop(task, None)
                self._planned.pop(task, None)
        for task in news.forgotten_tasks:
            self._passed_over.pop(task, None)
            self._planned.pop(task, None)
