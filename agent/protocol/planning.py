"""Which task this node goes for, so that nodes race rarely.

Every node lays the same plan from what all of them know: claimable tasks in the policy's order
are dealt out to free seats in a common order (the least busy node first, then by id), and each
node goes for what the plan gives it. Views differ for moments only; where they do, claims decide.
Tasks that somebody is seen to claim count as taken, and take a seat of that node.

A plan is laid when something changed. One timer guards against a node that was planned in and
does nothing: what it leaves lying for a second is dealt out without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agent.protocol.claims import Claims
from agent.protocol.core import Core, Part
from agent.protocol.matching import failed_on, misfit
from agent.protocol.messages import Capabilities
from agent.protocol.promises import Promises
from agent.protocol.queue import Queue
from agent.protocol.records import NodeId, Requirements, TaskId, TaskSpec
from agent.protocol.runs import Runs
from agent.protocol.table import News
from agent.protocol.timers import TimerKind

SCORE = 500_000
SCORE_AT_HOME = 1_000_000
SHORT_TASKS_PER_SLOT = 16
SETTLE_S = 0.004


@dataclass(slots=True)
class Seats:
    """The places of one node in a plan. ``active``: taken by what cannot be overtaken."""

    node: NodeId
    capabilities: Capabilities
    slots: int
    busy: int
    active: int
    willing: bool
    own_only: bool = False
    had: int = 0
    """Busy before anything was dealt out."""

    def __post_init__(self) -> None:
        self.had = self.busy

    @property
    def row(self) -> tuple[int, int, NodeId]:
        """The common order of free seats: the least busy node first, then by id."""
        return (self.busy // max(self.slots, 1), self.busy, self.node)


Kind = tuple[str, bool, Requirements, bool, NodeId]
"""Tasks of one kind fit the same seats: program, whether it was published with them, requirements,
whether short, and where they were submitted if that matters to anybody."""


class Planning(Part):
    """Deals claimable tasks out, and claims this node's share."""

    def __init__(
        self,
        core: Core,
        claims: Claims,
        promises: Promises,
        queue: Queue,
        obstacle: Callable[[TaskId], str],
        runs: Runs,
    ) -> None:
        super().__init__(core)
        self._claims = claims
        self._promises = promises
        self._queue = queue
        self._obstacle = obstacle
        self._runs = runs
        self._planned: dict[TaskId, tuple[NodeId, float]] = {}
        self._passed_over: dict[TaskId, dict[NodeId, None]] = {}
        self._settled = False

    def plan(self) -> None:
        """Lay the plan anew and go for what it gives this node."""
        core = self.core
        if not core.joined or not core.able:
            return
        seats = self._seats()
        mine = seats[0]
        if not self._queue.has_interactive() and self._has_nothing_to_do(mine):
            return
        if self._give_way_to_interactive():
            seats = self._seats()
            mine = seats[0]
        chosen: list[tuple[TaskId, int]] = []
        planned: dict[TaskId, tuple[NodeId, float]] = {}
        for task, taker in self._deal(seats):
            taker.busy += 1
            taker.active += 1
            if taker is mine:
                chosen.append((task, self._score(task)))
            else:
                planned[task] = self._since(task, taker.node)
        self._remember(planned)
        if chosen:
            self._claims.go_for(chosen[: core.settings.claims_per_message_max])

    def _has_nothing_to_do(self, mine: Seats) -> bool:
        """No room for low work, or work that is better dealt out in a moment.

        Where many tasks of one length end together, whoever deals at the first end does not know
        yet what the others make ready. A few milliseconds later everybody knows the same.
        """
        core = self.core
        if not (mine.willing and self._may_have_room(mine)):
            return True
        if self._settled:
            self._settled = False
            return False
        if core.timers.armed(TimerKind.PLAN):
            return True
        if self._queue.ends_are_near():
            core.timers.arm(TimerKind.PLAN, core.now_s + SETTLE_S)
            return True
        return False

    def settled(self) -> None:
        """What was about to end has ended, or is later than a moment."""
        self._settled = self.core.wake = True

    def _give_way_to_interactive(self) -> bool:
        """A low claim that is not won yet must not keep interactive work from this node."""
        table = self.core.table
        low = [task for task in self._claims.open if not table.interactive(task)]
        if low and self._wanted_interactive() is not None:
            self._claims.withdraw(low, "interactive work came")
            return True
        return False

    def _wanted_interactive(self) -> TaskId | None:
        """The first interactive task in the queue that this node could run."""
        if not self._queue.has_interactive():
            return None
        for task in self._queue.in_order():
            if not self.core.table.interactive(task):
                return None
            if self._could_take(self.core.table.specs[task]):
                return task
        return None

    def _deal(self, seats: list[Seats]) -> Iterator[tuple[TaskId, Seats]]:
        """Tasks with their takers, until nobody has room or this node has its share."""
        table, mine = self.core.table, seats[0]
        held_back = self._contested_interactive()
        choosy = any(each.own_only for each in seats)
        hopeless: dict[Kind, None] = {}
        for task in self._queue.in_order():
            spec = table.specs[task]
            if not table.interactive(task):
                if held_back or not (mine.willing and self._may_have_room(mine)):
                    return
                kind = self._kind(spec, choosy)
                if kind in hopeless:
                    continue
                taker = self._taker(task, spec, seats)
                if taker is None and not any(self._has_place(each, spec) for each in seats):
                    hopeless[kind] = None
            else:
                taker = self._taker(task, spec, seats)
                held_back = held_back or (taker is not mine and self._could_take(spec))
            if taker is not None:
                yield task, taker

    def _kind(self, spec: TaskSpec, choosy: bool) -> Kind:
        home = self.core.table.home(spec.task) if choosy else ""
        published = spec.published is not None
        return (spec.program, published, spec.requirements, self._short(spec), home)

    def _seats(self) -> list[Seats]:
        """This node's seats first, then the peers'."""
        core = self.core
        busy: dict[NodeId, int] = {}
        for run in core.table.owned.values():
            busy[run.host] = busy.get(run.host, 0) + 1
        for task, promise in self._promises.by_task.items():
            if task not in core.table.owned:
                busy[promise.claimant] = busy.get(promise.claimant, 0) + 1
        asked = len(self._claims.open)
        own = max(self._runs.executing(), busy.get(core.me, 0)) + asked
        active = self._runs.active() + asked
        own_only = core.presence.own_only
        seats = [Seats(core.me, core.capabilities, core.slots, own, active, core.willing, own_only)]
        for peer in core.peers.values():
            if peer.greeted and not peer.suspected and peer.status is not None:
                status, taken = peer.status, busy.get(peer.node, 0)
                seats.append(
                    Seats(
                        peer.node,
                        status.capabilities,
                        status.slots,
                        taken,
                        taken,
                        status.willing,
                        status.own_only,
                    )
                )
        return seats

    def _taker(self, task: TaskId, spec: TaskSpec, seats: list[Seats]) -> Seats | None:
        """The seat that the plan gives the task to."""
        core = self.core
        passed = self._passed_over.get(task, {})
        fitting = [each for each in seats if not misfit(spec, each.capabilities)]
        home = self._home(task, fitting)
        if home is not None and home.active == 0 and home.node not in passed:
            return self._if_possible(home, task)
        fitting = [each for each in fitting if self._willing(each, task)]
        failed = failed_on(core.table.life(task))
        if failed:
            fitting = [each for each in fitting if each.node not in failed] or fitting
        free = [each for each in fitting if each.node not in passed and self._has_room(each, spec)]
        for each in sorted(free, key=lambda each: each.row):
            taker = self._if_possible(each, task)
            if taker is not None:
                return taker
        return None

    def _if_possible(self, seats: Seats, task: TaskId) -> Seats | None:
        """What stands in this node's own way is known here; of the peers it is not."""
        if seats.node == self.core.me and self._obstacle(task):
            return None
        return seats

    def _home(self, task: TaskId, seats: list[Seats]) -> Seats | None:
        """Where an interactive task was submitted: it runs there at once, owner or not."""
        table = self.core.table
        if not table.interactive(task):
            return None
        home = table.home(task)
        return next((each for each in seats if each.node == home), None)

    def _could_take(self, spec: TaskSpec) -> bool:
        """No low task starts where an interactive one could: first it must be seen taken."""
        return not self._obstacle(spec.task)

    def interactive_waits(self) -> bool:
        """An interactive task lies there that this node could run now."""
        core = self.core
        if not core.joined or not core.able:
            return False
        task = self._wanted_interactive()
        return task is not None and self._has_room(self._seats()[0], core.table.specs[task])

    def _has_place(self, seats: Seats, spec: TaskSpec) -> bool:
        """Any task of this kind could go there now."""
        fits = not misfit(spec, seats.capabilities)
        return fits and self._willing(seats, spec.task) and self._has_room(seats, spec)

    def _willing(self, seats: Seats, task: TaskId) -> bool:
        """Its owner lets it take this task; some take only what was submitted there."""
        at_home = not seats.own_only or self.core.table.home(task) == seats.node
        return seats.willing and at_home

    def _contested_interactive(self) -> bool:
        """Another's better claim was seen, and no record of it yet: it may still fail."""
        table = self.core.table
        return any(
            task in table.specs and table.interactive(task) and self._could_take(table.specs[task])
            for task in self._claims.contested
        )

    def _may_have_room(self, seats: Seats) -> bool:
        if seats.busy < seats.slots:
            return True
        return self._queue.has_short and self._fills_up(seats, SHORT_TASKS_PER_SLOT)

    def _short(self, spec: TaskSpec) -> bool:
        return spec.expected_ms < self.core.settings.short_task_ms

    def _has_room(self, seats: Seats, spec: TaskSpec) -> bool:
        """Interactive work overtakes what is only queued; short tasks queue up in a row."""
        if self.core.table.interactive(spec.task):
            return seats.active < seats.slots
        if seats.busy < seats.slots:
            return True
        if not self._short(spec):
            return False
        in_a_row = self.core.settings.short_task_ms // max(spec.expected_ms, 1)
        return self._fills_up(seats, min(SHORT_TASKS_PER_SLOT, in_a_row))

    def _fills_up(self, seats: Seats, in_a_row: int) -> bool:
        """A row of short tasks is filled up when half of it is done, so that many are claimed
        with one question instead of each with its own."""
        row = seats.slots * in_a_row
        return seats.had <= row // 2 and seats.busy < row

    def _score(self, task: TaskId) -> int:
        table = self.core.table
        at_home = table.interactive(task) and table.home(task) == self.core.me
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
