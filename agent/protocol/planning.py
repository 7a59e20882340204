"""Which task this node goes for, so that nodes race rarely.

Every node lays the same plan from what all of them know: claimable tasks in the policy's order
are dealt out to free seats in a common order (``seats``), and each node goes for what the plan
gives it. Views differ for moments only; where they do, claims decide.
Tasks that somebody is seen to claim count as taken, and take a seat of that node.

A plan is laid when something changed. One timer guards against a node that was planned in and
does nothing: what it leaves lying for a second is dealt out without it.

**Rows of short tasks**: how long they may be, and that nothing waits long in them. Such tasks are
claimed many at a time, and wait on the node that has claimed them; what lies there is not dealt out
to others. That is right only while they are as short as is said of them, and while nothing long is
before them. So rows grow only while they are soon done, none is begun behind long tasks alone, and
one that stands still is given back to whoever is free.

**Early claims** are made of what follows a task before that task has ended, so that it starts the
moment it may. Between the end of a task and the start of the next on the same node lies the round
of questions. Where many nodes end tasks of one length together, all of them ask all others at the
very moment at which the programs need the machine. A claim relies on consent and on nothing else,
and nobody else can run what follows while that task goes on; so who runs a task asks shortly before
its expected end for what follows. The claim is *held*: nothing is won, recorded or started before
the task has ended and everything that a claim needs is there (``claims``, ``claimability``).

* It is asked only for what would have a place if all that ends about now had ended: what is wanted
  more, and waits already, comes first. And only where nobody has more room.
* It takes no place meanwhile: neither this node nor others see less room here.
* It is withdrawn when the task ends in another way or later than any claim waits, when this node may
  not run what follows any more, when work comes that is wanted more, and when the place is taken
  by then.

Short tasks are claimed in rows anyway, and for long tables the order is dear: nothing is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from agent.protocol.claims import SCORE, SCORE_AT_HOME, Claims
from agent.protocol.clock import TimerKind
from agent.protocol.core import Core, Part
from agent.protocol.needs import seats_of
from agent.protocol.own_run import ON_THE_MACHINE, Stage
from agent.protocol.promises import Promises
from agent.protocol.queue import Queue
from agent.protocol.reading import DerivedState
from agent.protocol.records import NodeId, TaskId, TaskSpec, TaskState
from agent.protocol.runs import Runs
from agent.protocol.seats import (
    SHORT_TASKS_PER_SLOT,
    SHORT_TASKS_PER_SLOT_FIRST,
    Kind,
    SeatPlan,
    Seats,
    made_by,
)
from agent.protocol.table import News

SETTLE_S = 0.004
WAITING_LOOKED_AT_MAX = 100
LOT_S = 3.0
"""A short task that is for a node with work of its own is left to it for so long: several rows."""
QUICK_ROW_S = 1.0
"""Half a row that is done within this was of short tasks indeed."""
STANDS_S = 3.0
"""A row of which nothing was begun for this long stands still."""
AHEAD_S = 0.2
"""Long enough for a round of questions on a busy machine, and for an end that comes early."""

TOGETHER_S = 2 * AHEAD_S
"""What is expected to end within this ends together: when it does, its places are dealt out anew."""


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
        rows: ShortTaskBatches,
        taken: Callable[[str], int],
    ) -> None:
        super().__init__(core)
        self._claims = claims
        self._promises = promises
        self._queue = queue
        self._obstacle = obstacle
        self._runs, self._rows, self._taken = runs, rows, taken
        self._planned: dict[TaskId, tuple[NodeId, float]] = {}
        self._drawn: dict[TaskId, tuple[NodeId, float]] = {}
        """Short tasks that are for others who are at work, and since when that is seen."""
        self._passed_over: dict[TaskId, dict[NodeId, None]] = {}
        self._settled = False

    def plan(self) -> None:
        """Plan who takes which claimable task, and claim those that fall to this node, at most
        ``claims_per_message_max``; low claims that are not won give way to interactive work. Do
        nothing before it has joined, with a full disk, while it stops, or when no interactive work
        is there and it has no room."""
        core = self.core
        if not core.joined or not core.able:
            return
        mine = self._own_seats()
        if not self._queue.has_interactive() and self._has_nothing_to_do(mine):
            return
        if self._give_way_to_interactive():
            mine = self._own_seats()
        plan = SeatPlan(core, [mine, *self._peers_seats()], self._passed_over, self._taken)
        chosen: list[tuple[TaskId, int]] = []
        planned: dict[TaskId, tuple[NodeId, float]] = {}
        for task, taker in self._deal(plan):
            if taker is mine:
                chosen.append((task, self._score(task)))
            else:
                planned[task] = self._since(task, taker.node)
        self._remember(planned)
        if chosen:
            self._rows.note_claimed(len(chosen))
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
        if self._queue.ends_are_near() and not self._is_clear_already(mine):
            core.timers.arm(TimerKind.PLAN, core.now_s + SETTLE_S)
            return True
        return False

    def _is_clear_already(self, mine: Seats) -> bool:
        """What others make ready changes nothing for this node.

        Either everything has a free seat, so that no order decides; or what comes first is the
        task that this node itself has made ready. Whoever else ends one brings a seat along with
        the task that it makes ready.
        """
        table = self.core.table
        ready = table.ready
        if len(ready) > WAITING_LOOKED_AT_MAX:
            return False
        first = next(self._queue.in_order(), None)
        if first is not None and made_by(table, first) == [self.core.me]:
            return True
        free = sum(max(0, each.slots - each.busy) for each in (mine, *self._peers_seats()))
        return sum(map(self._queue.claimable, ready)) <= free

    def settled(self) -> None:
        """Plan again, as what was about to end has ended, or is later than a moment."""
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

    def _deal(self, plan: SeatPlan) -> Iterator[tuple[TaskId, Seats]]:
        """Tasks with their takers, until nobody has room or this node has its share."""
        mine = plan.mine
        dealt: dict[TaskId, None] = {}
        if plan.plenty:
            for task, taker in self._deal_in_order(plan, dealt, drawn=True):
                dealt[task] = None
                yield task, taker
            if plan.held_back or mine.busy > mine.had or not mine.open:
                return
        yield from self._deal_in_order(plan, dealt)

    def _deal_in_order(
        self, plan: SeatPlan, dealt: Mapping[TaskId, None], *, drawn: bool = False
    ) -> Iterator[tuple[TaskId, Seats]]:
        """Those that are not dealt yet; with ``drawn`` short ones to those whose they are."""
        table, mine = self.core.table, plan.mine
        plan.held_back = self._contested_interactive()
        hopeless: dict[Kind, None] = {}
        in_order = self._queue.in_order()
        for task in islice(in_order, plan.looked_at_max) if drawn else in_order:
            if task in dealt:
                continue
            spec = table.specs[task]
            if not plan.has_seats(spec):
                continue
            if not table.interactive(task):
                if plan.held_back or not (mine.willing and self._may_have_room(mine)):
                    return
                if hopeless and plan.kind(spec) in hopeless:
                    continue
                by_lot = drawn and plan.short(spec)
                taker = self._taker_by_lot(spec, plan) if by_lot else self._taker(spec, plan)
                if taker is None and not by_lot and not plan.has_place(spec):
                    hopeless[plan.kind(spec)] = None
            else:
                taker = self._taker(spec, plan)
                plan.held_back |= taker is not mine and self._could_take(spec)
            if taker is not None:
                taker.take()
                plan.take_seats(spec)
                yield task, taker

    def _own_seats(self) -> Seats:
        core = self.core
        asked = self._claims.places_wanted()
        busy = max(self._runs.executing(), core.table.owned_by.get(core.me, 0)) + asked
        active = self._runs.active() + asked
        told = core.presence
        mine = Seats(
            *(core.me, core.capabilities, core.slots, busy, active),
            *(core.willing, told.own_only, told.paused, told.people, told.bans),
        )
        mine.in_a_row_max, mine.for_rows = self._rows.in_a_row_max, self._rows.slots()
        return mine

    def _peers_seats(self) -> list[Seats]:
        core = self.core
        seats = []
        busy = dict(core.table.owned_by)
        for task, promise in self._promises.by_task.items():
            if task in core.table.ready:
                busy[promise.claimant] = busy.get(promise.claimant, 0) + 1
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
                        status.paused,
                        status.people,
                        status.bans,
                    )
                )
        return seats

    def goes_on_here(self, following: TaskId) -> bool:
        """Tell whether this node could take the task that follows once a run of its own has ended, and
        no other will then have more room; a tie counts as yes. False where it is not free for that
        task, while interactive work is unfinished, and before it has joined."""
        if self._queue.has_interactive() or not (self.core.joined and self.core.able):
            return False
        if seats_of(self.core.table.specs[following]):
            return False  # a seat must not stand empty until it may begin
        mine = self._own_seats()
        mine.leave()
        seats = [mine, *self._peers_seats()]
        plan = SeatPlan(self.core, seats, self._passed_over, self._taken)
        free = list(plan.free(self.core.table.specs[following]))
        return mine in free and mine.level == free[0].level

    def _taker(self, spec: TaskSpec, plan: SeatPlan) -> Seats | None:
        """The seat that the plan gives the task to."""
        home = plan.home(spec)
        if home is not None and home.active == 0:
            return self._if_possible(home, spec)
        for each in plan.free(spec):
            taker = self._if_possible(each, spec)
            if taker is not None:
                return taker
        return None

    def _taker_by_lot(self, spec: TaskSpec, plan: SeatPlan) -> Seats | None:
        """The same of a short task of which there are plenty. Who works at a row is not seen to
        have room, and takes it nevertheless when it has."""
        drawn = plan.drawn(spec)
        if drawn is None:
            return None
        if not (drawn.open or drawn is plan.mine):
            if self._drawn.get(spec.task, ("", 0.0))[0] != drawn.node:
                self._drawn[spec.task] = (drawn.node, self.core.now_s)
            return None
        return self._if_possible(drawn, spec) if plan.has_room(drawn, spec) else None

    def _if_possible(self, seats: Seats, spec: TaskSpec) -> Seats | None:
        """What stands in this node's own way is known here; of the peers it is not."""
        if seats.node == self.core.me and self._obstacle(spec.task):
            return None
        return seats

    def _could_take(self, spec: TaskSpec) -> bool:
        """No low task starts where an interactive one could: first it must be seen taken."""
        return not self._obstacle(spec.task)

    def interactive_waits(self) -> bool:
        """Tell whether an interactive task waits that this node could run now, in a place that is
        free or only queued for; False before it has joined, with a full disk, and while it
        stops."""
        core = self.core
        if not core.joined or not core.able:
            return False
        task = self._wanted_interactive()
        if task is None:
            return False
        mine = self._own_seats()
        return mine.active < mine.slots

    def _contested_interactive(self) -> bool:
        """Another's better claim was seen, and no record of it yet: it may still fail."""
        table = self.core.table
        return any(
            task in table.specs and table.interactive(task) and self._could_take(table.specs[task])
            for task in self._claims.contested
        )

    def _may_have_room(self, seats: Seats) -> bool:
        return seats.open or (self._queue.has_short and seats.fills_up(SHORT_TASKS_PER_SLOT))

    def _score(self, task: TaskId) -> int:
        core = self.core
        at_home = core.table.interactive(task) and core.own.has(task)
        return SCORE_AT_HOME if at_home else SCORE

    # -- what others leave lying ---------------------------------------------------------

    def _since(self, task: TaskId, node: NodeId) -> tuple[NodeId, float]:
        known = self._planned.get(task)
        return known if known is not None and known[0] == node else (node, self.core.now_s)

    def _remember(self, planned: dict[TaskId, tuple[NodeId, float]]) -> None:
        self._planned = planned
        core = self.core
        if (planned or self._drawn) and not core.timers.armed(TimerKind.OVERDUE):
            core.timers.arm(TimerKind.OVERDUE, core.now_s + core.settings.overdue_s)

    def look_for_overdue(self) -> None:
        """Note which nodes have left tasks lying that were planned for them, and have these dealt
        out without them from now on; look again later while tasks are planned for others."""
        core = self.core
        for left, wait_s in ((self._planned, core.settings.overdue_s), (self._drawn, LOT_S)):
            for task, (node, since_s) in left.items():
                if since_s <= core.now_s - wait_s:
                    self._passed_over.setdefault(task, {})[node] = None
                    core.wake = True
        if self._planned or self._drawn:
            core.timers.arm(TimerKind.OVERDUE, core.now_s + core.settings.overdue_s)

    def on_news(self, news: News) -> None:
        """Forget the plans for tasks that somebody owns now, that have ended or were removed."""
        for task, _, now in news.moved:
            if now.owner is not None or now.outcome is not None:
                self._forget(task)
        for task in news.forgotten_tasks:
            self._forget(task)

    def _forget(self, task: TaskId) -> None:
        for each in (self._passed_over, self._planned, self._drawn):
            each.pop(task, None)


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
        """Return how many slots short tasks may wait for: those that no long task occupies, 0 when
        there is none."""
        short_ms = self.core.settings.short_task_ms
        return self.core.slots - sum(
            own.stage in ON_THE_MACHINE and own.spec.expected_ms >= short_ms
            for own in self._runs.mine.values()
        )

    def note_claimed(self, tasks: int) -> None:
        """Adapt how long a row may be, as so many tasks were claimed: double it when the claim
        before is only a moment ago, else halve it, within limits. A single task changes only a row
        that had stood still."""
        if tasks < 2 and self.in_a_row_max >= SHORT_TASKS_PER_SLOT_FIRST:
            return
        now_s = self.core.now_s
        if now_s - self._filled_s <= QUICK_ROW_S:
            self.in_a_row_max = min(2 * self.in_a_row_max, SHORT_TASKS_PER_SLOT)
        elif self.in_a_row_max > SHORT_TASKS_PER_SLOT_FIRST:
            self.in_a_row_max = max(self.in_a_row_max // 2, SHORT_TASKS_PER_SLOT_FIRST)
        self._filled_s = now_s

    def on_tick(self) -> None:
        """Give all waiting tasks of the row back when the first has not begun for too long, and
        claim single ones from then on."""
        waiting = [own.task for own in self._runs.mine.values() if own.stage is Stage.QUEUED]
        first = waiting[0] if waiting else ""
        if first != self._first:
            self._first, self._first_since_s = first, self.core.now_s
        elif first and self.core.now_s - self._first_since_s >= STANDS_S:
            self.in_a_row_max = 1
            self._runs.give_back(waiting)


class EarlyClaims(Part):
    """Looks at each run of this node shortly before its end."""

    def __init__(
        self, core: Core, runs: Runs, queue: Queue, planning: Planning, claims: Claims
    ) -> None:
        super().__init__(core)
        self._runs, self._queue, self._planning, self._claims = runs, queue, planning, claims

    def on_news(self, news: News) -> None:
        """Set a timer shortly before the end of each longer task that runs here and that others
        wait for, and drop it for one that does no more. When a workflow changed, withdraw held
        claims if other work is wanted more."""
        for task, _, now in news.moved:
            if self._is_followed(task, now):
                self._wait_for_end(task)
            else:
                self.core.timers.disarm(TimerKind.AHEAD, task)
        if news.workflows:
            self._look_again()

    def _is_followed(self, task: TaskId, now: DerivedState) -> bool:
        """A longer task that runs here, and others wait for it."""
        own = self._runs.mine.get(task)
        if own is None or now.state is not TaskState.RUNNING or now.owner is not own.run:
            return False
        long = own.spec.expected_ms >= self.core.settings.short_task_ms
        return long and bool(self.core.table.dependants(task))

    def _wait_for_end(self, task: TaskId) -> None:
        core = self.core
        left_s = self._runs.mine[task].left_ms_at(core.now_s) / 1000
        core.timers.arm(TimerKind.AHEAD, core.now_s + max(0.0, left_s - AHEAD_S), task)

    def end_is_near(self, task: TaskId) -> None:
        """Claim what follows a run of this node, if that goes on here; when the program has said
        meanwhile that its end is not near, set the timer again. Do nothing for a task that does not
        run here now."""
        own = self._runs.mine.get(task)
        if own is None or own.stage is not Stage.RUNNING:
            return
        if own.left_ms_at(self.core.now_s) > 1000 * AHEAD_S:
            self._wait_for_end(task)
            return
        waiting = self.core.table.dependants(task)
        first = self._queue.after([task], TOGETHER_S)
        following = next((each for each in first if each in waiting), None)
        if following is not None and self._planning.goes_on_here(following):
            self._claims.go_for_ahead(following)

    def _look_again(self) -> None:
        """Other work has come, or is wanted more than before."""
        held = self._claims.held()
        if held:
            producers = self.core.table.producers
            ending = [each for task in held for each in producers[task]]
            first = self._queue.after(ending, TOGETHER_S, frozenset(held))
            passed = [task for task in held if task not in first]
            self._claims.withdraw(passed, "other work is wanted more")
