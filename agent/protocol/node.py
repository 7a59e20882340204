"""The node: events in, effects out. It composes the parts and dispatches, nothing else.

``handle`` does one event in three steps: the part that is concerned handles it; the happenings it
led to (records changed, peers came, went, fell silent) are told to all parts until nothing new
comes of it; then what runs here is reconciled and a new plan is laid, if anything moved.

Whoever hosts a node hands in waiting messages before ``Due``, and carries the effects out in
their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf

from agent.protocol.checking import Fault, Refusal
from agent.protocol.claimability import Claimability
from agent.protocol.claims import Claims
from agent.protocol.clock import Instant, TimerKind
from agent.protocol.contests import Contests
from agent.protocol.copies import Copies
from agent.protocol.core import Core, NodeSetup, Part, Peer
from agent.protocol.datasets import Datasets
from agent.protocol.doubts import Doubts
from agent.protocol.early_claims import EarlyClaims
from agent.protocol.effects import Answer, Effect, Fetch, StartChild, TaskProgressed, Verdict
from agent.protocol.election import Election
from agent.protocol.events import (
    DiskUsable,
    Due,
    Event,
    PersistFailed,
    Received,
    RunsRemembered,
)
from agent.protocol.evidence import Knowledge
from agent.protocol.flock_policy import FlockPolicy
from agent.protocol.flock_seats import FlockSeats
from agent.protocol.healing import Healing, Unknown
from agent.protocol.incarnations import Incarnations
from agent.protocol.joining import Joining
from agent.protocol.lengths import Lengths
from agent.protocol.liveness import Liveness
from agent.protocol.messages import Hello, Progress, State
from agent.protocol.origins import Origins
from agent.protocol.own_run import LostRuns
from agent.protocol.people import People
from agent.protocol.planning import Planning
from agent.protocol.progress import ProgressNews
from agent.protocol.promises import Promises
from agent.protocol.pruning import Prunings
from agent.protocol.queue import Queue
from agent.protocol.reasons import StoryEntry
from agent.protocol.records import Claim, DatasetId, NodeId, Run, TaskId, WorkflowSpec
from agent.protocol.requests import Requests
from agent.protocol.rows import ShortTaskBatches
from agent.protocol.runs import Runs
from agent.protocol.seats import others_of_person
from agent.protocol.second_runs import is_copy
from agent.protocol.shares import Shares
from agent.protocol.sharing_reasons import ResultsDiffer
from agent.protocol.sleepers import Sleepers
from agent.protocol.table import Table
from agent.protocol.takeovers import TakeOvers

__all__ = ["Node", "NodeSetup"]

WISHES_GRANTED = (Verdict.DONE, Verdict.CANCELLING)
"""Said only when the wish is on disk; what the disk refused is said when it takes it."""
ROUNDS_MAX, REST_S, UNSETTLED = 20, 1.0, "did not come to rest"
"""So often at most one event leads to a new plan, three times are usual; and none is laid for a while
after that."""


class Node:
    """One node of the flock, as a state machine."""

    def __init__(self, setup: NodeSetup) -> None:
        core = self._core = Core(setup)
        self.table: Table = core.table
        self.lengths: Lengths = core.lengths
        incarnations = Incarnations(core, lambda: bool(self._runs.mine or self.claims.open))
        self._liveness = Liveness(core, lambda: self._parts, self._flock_at_work, incarnations)
        self._datasets = Datasets(core, self._liveness)
        self.seats = FlockSeats(core, self._liveness.alive, self._claims_under_way)
        self._runs = Runs(core, self._datasets, self._is_promised, self._liveness.alive)
        self._decide(core)
        self._lost = LostRuns(core, self._liveness, self._runs.mine.get)
        self._healing = Healing(core)
        self._election = Election(core, self._liveness)
        joins = (self._liveness, self._election, self._healing, self._lost.end_all)
        self._joining = Joining(core, *joins)
        self._unknown = Unknown(core, self._election)
        self._requests = Requests(core, self._liveness.alive)
        self._prunings = Prunings(core, self._election)
        self._policy = FlockPolicy(core, self._liveness.tell_status)
        self._doubts = Doubts(core)
        self.origins = Origins(core)
        self._parts = self._in_order()
        self._handlers, self._deadlines = self._collect_handlers(), self._collect_deadlines()
        self._rests_until_s = -inf
        self._slept = False
        self._withheld: list[Answer] = []

    def _decide(self, core: Core) -> None:
        """The parts that decide who runs what."""
        self._can = Claimability(core, self._liveness, self._datasets, self._runs)
        knowledge = Knowledge(core)
        asked = (self._obstacle, self._obstacle_ahead, self._obstacle_to_copy)
        begun = (self._runs.begin, self.gone_since_ms)
        self.claims = Claims(core, *asked, *begun, knowledge, self._liveness.up)
        yields = (self.claims.own_claim, self.claims.yield_to)
        closed = (self._can.is_taken, self._can.obstacle_to_copy)
        known, in_way = (knowledge, self.seats), self.claims.obstructors
        self.promises = Promises(core, *closed, *yields, *known, in_way)
        self._shares = Shares(core)
        asked_of = (self._can.is_taken, self._claimed, self._shares)
        self._queue = Queue(core, *asked_of)
        self._rows = ShortTaskBatches(core, self._runs)
        parts = (core, self.claims, self.promises, self._queue)
        runs = (self._runs, self._rows)
        self._contests = Contests(core, knowledge)
        self._planning = Planning(
            *parts, self._obstacle, *runs, knowledge, self.seats.taken, self._contests
        )
        plans = (self.claims, self._queue, self._planning, knowledge)
        closed_to_copies = (self._can.obstacle_to_copy, self._obstacle_to_copy)
        self._copies = Copies(core, self._runs, *plans, *closed_to_copies)
        self._takeovers = TakeOvers(core, self._runs, self._planning, knowledge)
        self._sleepers = Sleepers(core, self._planning, self._queue.claimable)
        self._progress_news = ProgressNews(core, self._runs)
        self._ahead = EarlyClaims(core, self._runs, self._queue, self._planning, self.claims)

    def _in_order(self) -> list[Part]:
        """The parts, as they are told of happenings one after the other."""
        return [
            self._liveness, self._policy, self.seats, self._datasets, self._lost, self._runs,
            self._progress_news, self._rows, self._shares, self._queue, self._contests,
            self._planning, self._copies, self._takeovers, self._sleepers, self._ahead,
            self.promises, self.claims, self._healing, self._election, self._joining,
            self._unknown, self._requests, self._prunings, self._doubts, self.origins,
        ]  # fmt: skip

    def _collect_handlers(self) -> dict[type, tuple[Callable[..., None], ...]]:
        handlers: dict[type, tuple[Callable[..., None], ...]] = {
            Received: (self._received,),
            Due: (self._due,),
            PersistFailed: (self._persist_failed,),
            DiskUsable: (self._disk_usable,),
            State: (self._state,),
            Progress: (self._progress,),
            RunsRemembered: (lambda event: self.lengths.remember(event.runs),),
        }
        for part in self._parts:
            for kind, handler in part.handlers().items():
                handlers[kind] = (*handlers.get(kind, ()), handler)
        return handlers

    # -- the three questions of a host ---------------------------------------------------

    def handle(
        self, event: Event, now: Instant, cause: str = "", *, more: bool = False
    ) -> list[Effect]:
        """Handle one event at the instant ``now`` and return the effects to carry out, in order;
        ``cause`` names it in stories. With ``more`` another event follows at once: nothing is
        returned, the effects come with its own. Many messages that wait then lead to one plan, one
        record on disk and one word to each peer."""
        core = self._core
        core.set_now(now, cause or type(event).__name__)
        self._notice_sleep()
        for handler in self._handlers.get(type(event), ()):
            handler(event)
        self._spread_news()
        if more:
            return []
        self._settle()
        if self._liveness.calm and self._flock_at_work():
            self._liveness.stir()
        kept_back = core.untold.kept_back
        if kept_back and not all(map(self._goes_on_here, kept_back)):
            core.untold.hurry()
        return core.take_effects()

    def next_deadline(self) -> float | None:
        """Return when ``Due`` is to be handed in, in seconds of the monotonic clock; None when
        there is no timer."""
        return self._core.timers.next

    def story(self, task: TaskId) -> list[StoryEntry]:
        """Return why the task moved, as far as this node saw it."""
        return self._core.story(task)

    @property
    def refused(self) -> Mapping[Refusal, int]:
        """How many records of peers were not taken in, by why and in whose name they were."""
        return self._core.checking.refused

    def home_of(self, spec: WorkflowSpec) -> NodeId:
        """Return the node on which its own person submitted a workflow, this one only where that was
        noted here; empty where it is nobody's own."""
        return self._core.own.home_of(spec)

    def others_of_person(self, home: NodeId) -> list[str]:
        """Return the other machines of the person for whom one speaks, by their ids and by what they
        are called."""
        return others_of_person(self._core, home)

    def holders(self, dataset: DatasetId) -> tuple[NodeId, ...]:
        """Return the linked peers from which a dataset can be fetched now."""
        return self._datasets.holders(dataset)

    @property
    def signs(self) -> bool:
        """Whether this flock signs its records, so that they tell whose work is whose."""
        return self._core.checking.on

    @property
    def people(self) -> People:
        """Which machines are one person's."""
        return self._core.checking.trust.people

    def needed(self, task: TaskId) -> list[DatasetId]:
        """Return the datasets that a known task takes, as far as they are known."""
        return self._datasets.needed(self.table.specs[task])

    def refuse_data(self, peer: NodeId) -> None:
        """Count that a peer has asked for data that are not for it."""
        self._core.checking.count(Refusal(Fault.DATA, peer))

    def may_take(self, ask: Callable[[TaskId, DatasetId], bool]) -> None:
        """Have it asked from now on whether a task may be given what is here."""
        self._datasets.may_take = ask

    def work_of(self, host: NodeId) -> Iterator[TaskId]:
        """Yield the known tasks that a host may be at: those promised to it by this node, those whose owner it
        is by the table, and those of which it runs a copy with this node's consent. A task may come twice."""
        table = self.table
        promised = self.promises.by_task.items()
        yield from (t for t, each in promised if each.claimant == host and t in table.specs)
        yield from (task for task, run in table.owned.items() if run.host == host)
        for (task, claimant), claim in self.promises.given.items():
            runs = table.life(task).runs if claimant == host else ()
            if any(run.live and run.claim == claim and is_copy(run) for run in runs):
                yield task

    def reachable(self) -> tuple[NodeId, ...]:
        """Return the linked peers that have greeted and are not suspected, those first whose owners
        let them work for others, then by id."""
        peers = [p for p in self._core.peers.values() if p.greeted and not p.suspected]
        return tuple(p.node for p in sorted(peers, key=lambda p: (not _helps(p), p.node)))

    def left_for(self, task: TaskId) -> NodeId:
        """Return the node to which the latest plan has left a ready task, as it ends there sooner
        than where a place is free; empty where it was left to none."""
        return self._planning.left_for.get(task, "") if task in self._core.table.ready else ""

    @property
    def in_the_way(self) -> tuple[NodeId, ...]:
        """The members whose word on claims is not waited for, as they have kept work from beginning."""
        return self.claims.obstructors.all()

    @property
    def doubtful(self) -> Mapping[TaskId, ResultsDiffer]:
        """The tasks that two machines finished with different results, and which they are."""
        return self._doubts.found

    def gone_since_ms(self, run: Run) -> int:
        """Return since when the machine of a run is gone for this node, by the wall clock; since
        its last word where nobody here saw it go, and 0 while it may still be running."""
        gone_s = self._liveness.gone_s(run.host, run.incarnation)
        if gone_s is None:
            return 0
        last_ms, now_ms = run.stamp[0], self._core.wall_ms
        return last_ms if gone_s == inf else max(last_ms, now_ms - round(gone_s * 1000))

    @property
    def rules(self) -> str:
        """By which this node decides who runs what, by name."""
        return self._core.rule.name

    @property
    def master(self) -> NodeId:
        """Who hands the table to newcomers, empty when none is known or it is down for me."""
        return self._election.master

    # -- events that concern everybody ---------------------------------------------------

    def _notice_sleep(self) -> None:
        """A timer handled late tells that this node slept; peers went on without it.

        Noticed once per sleep, by the first of the events that waited. Nothing is planned until
        they are all handled and the late timer is.
        """
        core = self._core
        deadline_s = core.timers.next
        late = deadline_s is not None and core.now_s - deadline_s >= core.settings.late_s
        if deadline_s is None or not late or self._slept:
            return
        self._slept = True
        self.claims.void("this node slept")
        self._liveness.forgive()
        if core.now_s - deadline_s >= core.settings.suspect_after_s:
            self.promises.void()
            self._joining.start_over()

    def _received(self, event: Received) -> None:
        core = self._core
        peer = core.peers.get(event.peer)
        if peer is None:
            core.count("message without a link")
            return
        peer.heard_s = core.now_s
        message = event.message
        if not peer.greeted and not isinstance(message, Hello):
            core.count("message before a greeting")
            return
        core.cause = getattr(message, "cause", "") or f"{type(message).__name__} from {event.peer}"
        for handler in self._handlers.get(type(message), ()):
            handler(peer, message)

    def _state(self, peer: Peer, message: State) -> None:
        """Wishes on a workflow that is not known here wait for it to come with its lives."""
        known = [each for each in message.workflows if each.spec.workflow in self.table.workflows]
        news = self._core.learn(peer.node, known, message.lives, message.prunings, pass_on=True)
        for part in news.lives:
            for run in part.life.runs:
                if run.live and run.host != peer.node:
                    self._liveness.heard_of(run.host)

    def _progress(self, peer: Peer, message: Progress) -> None:
        for item in message.items:
            owner = self.table.owned.get(item.task)
            if owner is not None and owner.host != peer.node:
                continue  # of a copy, or of a run that has not heard yet that it is none
            if item.permille:
                self._queue.told_progress(item.task, item.left_ms / 1000)
            if item.task in self.table.specs:
                notice = TaskProgressed(item.task, peer.node, item.permille, item.left_ms)
                self._core.emit(notice)
        self._unknown.ask(i.task for i in message.items if i.task not in self.table.specs)

    def _due(self, event: Due) -> None:
        core = self._core
        if self._slept:
            self._slept = False
            core.wake = True
        if not core.timers.armed(TimerKind.TICK):
            core.timers.arm(TimerKind.TICK, core.now_s)
        for kind, subject in core.timers.take_due(core.now_s):
            self._deadlines[kind](subject)

    def _collect_deadlines(self) -> dict[TimerKind, Callable[[TaskId], None]]:
        """What is done when a timer is due."""
        return {
            TimerKind.TICK: lambda _: self._tick(),
            TimerKind.AHEAD: self._ahead.end_is_near,
            TimerKind.PLAN: lambda _: self._planning.settled(),
            TimerKind.BETTER: lambda _: self._planning.better.look_again(),
            TimerKind.OVERDUE: lambda _: self._planning.look_for_overdue(),
            TimerKind.CONTEST: lambda _: self.claims.end_contests(),
            TimerKind.ELECTION: lambda _: self._election.close(),
            TimerKind.HAND_BACK: self._runs.hand_back,
            TimerKind.TELL: lambda _: self._core.tell_own(),
            TimerKind.ROW: lambda _: self._core.tell_row(),
            TimerKind.ROW_STANDS: self._rows.overran,
            TimerKind.UNKNOWN: self._unknown.due,
        }

    def _tick(self) -> None:
        self._core.arm_tick()
        for part in self._parts:
            part.on_tick()
        if self._liveness.restful and not self._at_work():
            self._core.arm_tick(self._liveness.ticks_per_beat)

    def _at_work(self) -> bool:
        """Something goes on here that is looked after at every tick."""
        at_it = self.claims.open or self.promises.by_task or self._runs.mine
        return bool(at_it) or not self._core.joined

    def _flock_at_work(self) -> bool:
        """Something goes on somewhere, or may at any moment."""
        return bool(self.table.ready or self.table.owned) or self._at_work()

    def _persist_failed(self, event: PersistFailed) -> None:
        """New work is not begun; everything else that was to be done is done all the same."""
        core = self._core
        core.disk_usable = False
        core.not_saved(event.refused)
        self.claims.void("the disk is full")
        refused = self._requests.refuse_unsaved(event.dropped)
        for effect in event.dropped:
            if isinstance(effect, Fetch | StartChild):
                self._runs.withdraw(effect.task, effect.run)
            elif isinstance(effect, Answer) and effect.verdict in WISHES_GRANTED:
                self._withheld.append(effect)
            elif not self._requests.vouches(effect, refused):
                core.emit(effect)
        self._liveness.tell_status()

    def _disk_usable(self, event: DiskUsable) -> None:
        core = self._core
        core.disk_usable = core.wake = True
        for answer in self._withheld:
            core.emit(answer)
        self._withheld.clear()
        self._liveness.tell_status()

    # -- after each event ----------------------------------------------------------------

    def _spread_news(self) -> None:
        core = self._core
        while core.news:
            news, core.news = core.news, []
            core.wake = True
            for each in news:
                for part in self._parts:
                    part.on_news(each)

    def _settle(self) -> None:
        """Reconcile and plan until nothing new comes of it. Where something always does, plan again
        in a while, so that no word of a member keeps a node from everything else."""
        core = self._core
        self._spread_news()
        for _ in range(ROUNDS_MAX):
            if not (core.wake or core.liveness_changed):
                break
            core.wake = core.liveness_changed = False
            self._plan_again()
            self._spread_news()
        else:
            core.count(UNSETTLED)
            core.wake, self._rests_until_s = False, core.now_s + REST_S
            core.timers.arm(TimerKind.PLAN, self._rests_until_s)
        if core.timers.next is None:
            core.arm_tick()

    def _plan_again(self) -> None:
        self._runs.reconcile()
        self.claims.withdraw_hindered()
        self.promises.answer_seated()
        if not self._slept:
            self._runs.start_queued(self._planning.interactive_waits)
            self._copies.make_room()
            if self._core.now_s >= self._rests_until_s:
                self._planning.plan()

    # -- what parts ask of each other ----------------------------------------------------

    def _obstacle(self, task: TaskId) -> str:
        taken = self._promised(task) or self._can.obstacle(task)
        seats = None if taken else self.seats.obstacle(task)
        return taken if seats is None else self._core.settings.words(seats)

    def _obstacle_ahead(self, task: TaskId) -> str:
        return self._promised(task) or self._can.obstacle_ahead(task)

    def _obstacle_to_copy(self, task: TaskId) -> str:
        return self._promised(task) or self._can.obstacle_to_copy_here(task)

    def _is_promised(self, task: TaskId) -> bool:
        return task in self.promises.by_task

    def _claims_under_way(self) -> Iterator[tuple[TaskId, Claim]]:
        """What is promised, and what this node claims itself."""
        for task, promise in self.promises.by_task.items():
            yield task, promise.claim
        for task, claim in self.claims.open.items():
            yield task, claim.claim

    def _promised(self, task: TaskId) -> str:
        promise = self.promises.by_task.get(task)
        return "" if promise is None else f"promised to {promise.claimant}"

    def _goes_on_here(self, ended: TaskId) -> bool:
        """This node claims or has all that waited for the task; so nobody waits for its end."""
        waited = self.table.dependants(ended)
        return bool(waited) and all(
            task in self.claims.open or task in self._runs.mine for task in waited
        )

    def _claimed(self, task: TaskId) -> NodeId:
        """Who is seen to claim it already; empty when nobody is."""
        promise = self.promises.by_task.get(task)
        if promise is not None:
            return promise.claimant
        if task in self.claims.open:
            return self._core.me
        return self.claims.contested.get(task, ("", 0.0))[0]


def _helps(peer: Peer) -> bool:
    return peer.status is not None and peer.status.helps
