"""Which task this node goes for, so that nodes race rarely.

Every node lays the same plan from what all of them know: claimable tasks in the policy's order
are dealt out to free seats in a common order (``seats``), and each node goes for what the plan
gives it. Views differ for moments only; where they do, claims decide.
Tasks that somebody is seen to claim count as taken, and take a seat of that node.

A plan is laid when something changed. One timer guards against a node that was planned in and
does nothing: what it leaves lying for a second is dealt out without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from agent.protocol.better_machines import BetterMachines
from agent.protocol.claims import Claims
from agent.protocol.clock import TimerKind
from agent.protocol.contests import Contests
from agent.protocol.core import Core, Part
from agent.protocol.evidence import Knowledge
from agent.protocol.needs import seats_of
from agent.protocol.news import News
from agent.protocol.own_run import Stage
from agent.protocol.placing import InHand, Placing
from agent.protocol.policy.lasting import RISKY
from agent.protocol.promises import Promises
from agent.protocol.queue import Queue
from agent.protocol.records import NodeId, TaskId, TaskSpec
from agent.protocol.rows import ShortTaskBatches
from agent.protocol.runs import Runs
from agent.protocol.seats import (
    Kind,
    SeatPlan,
    Seats,
    made_by,
)

SETTLE_S, SETTLE_S_MAX, SETTLE_SHARE = 0.004, 0.06, 0.0005
"""Ends that fall together are waited for so long; for those that make others ready, which bring more
along the longer they are, a share of their length."""
WAITING_LOOKED_AT_MAX = 100
LOT_S = 3.0
"""A short task that is for a node with work of its own is left to it for so long: several rows."""


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
        knowledge: Knowledge,
        taken: Callable[[str], int],
        contests: Contests,
    ) -> None:
        super().__init__(core)
        self._knowledge, self._contests = knowledge, contests
        self._claims = claims
        self._promises = promises
        self._queue = queue
        self._obstacle = obstacle
        self._runs, self._rows, self._taken = runs, rows, taken
        self._planned: dict[TaskId, tuple[NodeId, float]] = {}
        self._drawn: dict[TaskId, tuple[NodeId, float]] = {}
        """Short tasks that are for others who are at work, and since when that is seen."""
        self._passed_over: dict[TaskId, dict[NodeId, None]] = {}
        self.better = BetterMachines(core, queue)
        self._settled = False
        self._gave_way: tuple[float, tuple[TaskId, ...]] = (0.0, ())
        self.left_for: dict[TaskId, NodeId] = {}
        """Tasks that end sooner on a node which still works at something else."""

    def plan(self) -> None:
        """Plan who takes which claimable task, and claim this node's share, at most ``claims_per_message_max``; low
        claims not won give way to interactive work. Do nothing before it has joined or while it is not ``able``; nor,
        without interactive work, where it has no room, may not work, or waits for near ends (a timer plans again)."""
        core = self.core
        if not core.joined or not core.able:
            return
        mine = self._own_seats()
        if not self._queue.has_interactive() and self._has_nothing_to_do(mine):
            return
        if self._give_way_to_interactive():
            mine = self._own_seats()
        plan = self._seat_plan(mine)
        chosen: list[TaskId] = []
        planned: dict[TaskId, tuple[NodeId, float]] = {}
        self.left_for = {}
        for task, taker in self._deal(plan):
            if taker is mine:
                chosen.append(task)
            else:
                planned[task] = self._since(task, taker.node)
        self._remember(planned)
        if chosen:
            self._rows.note_claimed(len(chosen))
            self._claims.go_for(chosen[: core.settings.claims_per_message_max])

    def seat_plan(self) -> SeatPlan:
        """Return the places of all nodes as they are now, with nothing dealt out."""
        return self._seat_plan(self._own_seats())

    def _seat_plan(self, mine: Seats) -> SeatPlan:
        seats, knowledge = [mine, *self._peers_seats()], self._knowledge
        weighs = self.core.rule.placing is None and knowledge.differ()
        placing = Placing(knowledge, self._hands, seats, weighs=weighs)
        return SeatPlan(self.core, seats, self._passed_over, placing, self._taken)

    def _hands(self) -> Iterator[InHand]:
        """What each node has, or is about to have, and how long it still takes there."""
        core, table = self.core, self.core.table
        claimed = dict.fromkeys(self._claims.open, core.me)
        for task, promise in self._promises.by_task.items():
            claimed.setdefault(task, promise.claimant)
        for task, node in claimed.items():
            if task in table.ready:
                yield InHand(task, node, self._knowledge.of(table.specs[task], node).length_ms)
        for task, run in table.owned.items():
            yield InHand(task, run.host, self._queue.left_ms(task))

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
        near_s = self._queue.near_end_s()
        if near_s is not None and not self._is_clear_already(mine):
            settle_s = min(SETTLE_S_MAX, max(SETTLE_S, SETTLE_SHARE * near_s))
            core.timers.arm(TimerKind.PLAN, core.now_s + settle_s)
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
        """A low claim that is not won yet must not keep interactive work from this node. Where the
        work is dealt to another one all the same, low work is claimed again, and that stands."""
        core, table = self.core, self.core.table
        low = [task for task in self._claims.open if not table.interactive(task)]
        now = core.now_s, tuple(low)
        if low and now != self._gave_way and self._wanted_interactive() is not None:
            self._gave_way = now
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
        table, mine, ruled = self.core.table, plan.mine, self.core.rule.placing is not None
        plan.held_back = self._contested_interactive()
        hopeless: dict[Kind, None] = {}
        in_order = self._queue.with_waiting() if plan.weighs else self._queue.in_order()
        looked_at = islice(in_order, plan.looked_at_max) if drawn else in_order
        left = (task for task in looked_at if task not in dealt)
        for task in self._contests.in_turn(plan, left):
            spec = table.specs[task]
            if not self._may_begin(spec, plan):
                continue
            if not table.interactive(task):
                if plan.held_back or not (mine.willing and self._may_have_room(mine)):
                    return
                if hopeless and plan.kind(spec) in hopeless:
                    continue
                by_lot = drawn and (plan.short(spec) if ruled else plan.by_lot(spec))
                taker = self._taker_by_lot(spec, plan) if by_lot else self._taker(spec, plan)
                if taker is None and not by_lot and not plan.has_place(spec):
                    hopeless[plan.kind(spec)] = None
            else:
                taker = self._taker(spec, plan)
                plan.held_back |= taker is not mine and self._could_take(spec)
            if taker is None:
                continue
            leaves = plan.differs(spec) and not plan.has_room(taker, spec)
            plan.take(taker, spec)
            if leaves:
                self.left_for[task] = taker.node
            else:
                plan.take_seats(spec)
                yield task, taker

    def _may_begin(self, spec: TaskSpec, plan: SeatPlan) -> bool:
        """Not one that lacks a seat of the flock, nor one that is not ready, for which a place is
        kept."""
        if plan.weighs and not self._queue.claimable(spec.task):
            plan.keep_place(spec)
            return False
        return plan.has_seats(spec)

    def _leaves_place(self, task: TaskId) -> bool:
        """Whether a run here is only being copied, and its place can go to any work: nothing waits for
        what it has made, which would best go on here."""
        own, table = self._runs.mine[task], self.core.table
        return own.stage is Stage.COPYING and not table.is_needed(task) and not seats_of(own.spec)

    def _own_seats(self) -> Seats:
        core = self.core
        asked = self._claims.places_wanted()
        owned = core.table.owned_by.get(core.me, 0) - sum(map(self._leaves_place, self._runs.mine))
        busy = max(self._runs.executing(), owned) + asked
        active = self._runs.active() + asked
        told = core.presence
        mine = Seats(
            *(core.me, core.capabilities, core.slots, busy, active),
            *(core.willing, told.own_only, told.paused),
            *(told.people, told.lasts, told.bans),
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
                        status.lasts,
                        status.bans,
                    )
                )
        return seats

    def goes_on_here(self, following: TaskId, before: Sequence[TaskId]) -> bool:
        """Tell whether this node could take ``following`` once a run of its own has ended, no other having more room
        or, with those ``before`` dealt out, an earlier end. False before it has joined, if it may not stay free for
        long enough, beside interactive work, for a task that needs a seat, and under rules by which hosts compete."""
        if self._queue.has_interactive() or not (self.core.joined and self.core.able):
            return False
        if self.core.rule.placing is not None:
            return False  # who is free then competes for it
        if seats_of(self.core.table.specs[following]):
            return False  # a seat must not stand empty until it may begin
        mine = self._own_seats()
        mine.leave()
        plan, specs = self._seat_plan(mine), self.core.table.specs
        spec = specs[following]
        if plan.survives(mine, spec) < RISKY:
            return False  # whoever lasts longer may ask first
        if plan.differs(spec):
            for task in before:
                for taker in plan.first_to_end(specs[task])[:1]:
                    plan.take(taker, specs[task])
            return plan.first_to_end(spec)[:1] == [mine]
        free = list(plan.free(spec))
        return mine in free and plan.rank(mine, spec) == plan.rank(free[0], spec)

    def _taker(self, spec: TaskSpec, plan: SeatPlan) -> Seats | None:
        """The seat that the plan gives the task to."""
        home = plan.home(spec)
        if home is not None and home.active == 0:
            return self._if_possible(home, spec)
        if self.core.rule.placing is not None and not self.core.table.interactive(spec.task):
            free = self._contests.best_first(plan, spec)
        else:
            free = plan.first_to_end(spec) if plan.differs(spec) else plan.free(spec)
            if self.better.had_better_wait(spec, plan, free):
                return None
        for each in free:
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
        return seats.open or (self._queue.row_max > 0 and seats.fills_up(self._queue.row_max))

    # -- what others leave lying ---------------------------------------------------------

    def _since(self, task: TaskId, node: NodeId) -> tuple[NodeId, float]:
        known = self._planned.get(task)
        return known if known is not None and known[0] == node else (node, self.core.now_s)

    def _remember(self, planned: dict[TaskId, tuple[NodeId, float]]) -> None:
        self._planned = planned
        core = self.core
        looks_again = planned or self._drawn or self.left_for
        if looks_again and not core.timers.armed(TimerKind.OVERDUE):
            core.timers.arm(TimerKind.OVERDUE, core.now_s + core.settings.overdue_s)

    def look_for_overdue(self) -> None:
        """Note which nodes have not begun tasks in time that were planned for them; plan those
        tasks without them from now on. Set a timer to look again while any are planned for
        others."""
        core = self.core
        for left, wait_s in ((self._planned, core.settings.overdue_s), (self._drawn, LOT_S)):
            for task, (node, since_s) in left.items():
                if since_s <= core.now_s - wait_s:
                    self._passed_over.setdefault(task, {})[node] = None
                    core.wake = True
        core.wake |= bool(self.left_for)
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
        for each in (self._passed_over, self._planned, self._drawn, self.better.since_s):
            each.pop(task, None)
