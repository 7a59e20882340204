"""What the parts of a node share: its table, its peers, its clock, and its list of effects.

Every change of a record goes through ``learn`` or ``write`` here, so that one place knows the
order: joined, kept on disk, then told. Effects collect while an event is handled and leave in
one list: what stops programs first (a full disk must not delay giving the machine back) and words
about claims (``effects.Overtaking``), then one ``Persist`` with all that changed, then everything that
depends on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from agent.protocol.checking import Checking
from agent.protocol.clock import HybridClock, Instant, TimerKind, Timers
from agent.protocol.effects import (
    Effect,
    Identity,
    OutcomeChanged,
    Persist,
    Send,
    StopChild,
    SuspendChild,
    TaskMoved,
    WorkflowGone,
    parted,
)
from agent.protocol.events import PresenceChanged
from agent.protocol.lengths import Lengths
from agent.protocol.messages import Capabilities, Enqueue, Message, State, Status
from agent.protocol.news import News, left_machine
from agent.protocol.own_work import OwnWork
from agent.protocol.pending_news import PendingNews
from agent.protocol.policy import DEFAULT_RULE, flock_rules
from agent.protocol.quotas import Quotas
from agent.protocol.reading import DerivedState
from agent.protocol.reasons import Became, OutcomeMoved, Reason, Starting, StoryEntry
from agent.protocol.records import (
    DatasetId,
    NodeId,
    Pruning,
    RunName,
    Stamp,
    TaskId,
    TaskLife,
    Workflow,
    WorkflowId,
    run_name,
)
from agent.protocol.sealing import Sealing
from agent.protocol.settings import Settings
from agent.protocol.signing import NO_TRUST, Keys, NoKeys, Trust, as_written
from agent.protocol.table import Table
from agent.protocol.thrown_away import ThrownAway
from agent.protocol.unsaved import Unsaved

STORY_TASKS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class NodeSetup:
    """Everything a node is told when it starts: who it is, and what its disk remembers."""

    node: NodeId
    name: str
    slots: int
    capabilities: Capabilities
    settings: Settings = field(default_factory=Settings)
    members: tuple[NodeId, ...] = ()
    identity: Identity | None = None
    workflows: tuple[Workflow, ...] = ()
    lives: tuple[TaskLife, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    noted: tuple[WorkflowId, ...] = ()
    holdings: tuple[DatasetId, ...] = ()
    policy: str = DEFAULT_RULE
    version: str = "1"
    keys: Keys = field(default_factory=NoKeys)
    trust: Trust = NO_TRUST


@dataclass(slots=True)
class Peer:
    """A linked peer. ``greeted``: its Hello has come, so it counts."""

    node: NodeId
    heard_s: float
    echoed_s: float
    beat_s: float
    greeted: bool = False
    suspected: bool = False
    has_table: bool = False
    name: str = ""
    incarnation: int = 0
    number: int = 0
    number_heard: int = 0
    sent: deque[tuple[int, float]] = field(default_factory=deque)
    status: Status | None = None
    holdings: set[DatasetId] = field(default_factory=set)
    holdings_complete: bool = False
    differs_since_s: float | None = None
    compared_s: float = -1e9
    compared: bool = False
    awaited: dict[str, None] = field(default_factory=dict)
    wall_ahead_ms: int = 0
    stale: bool = False


class Core:
    """State and services shared by the parts. It decides nothing."""

    fetch_rate = 0
    """Bytes in a millisecond that come here from peers, as the status tells it, in powers of two; 0
    where that is not known."""

    def __init__(self, setup: NodeSetup) -> None:
        self.me, self.name, self.version = setup.node, setup.name, setup.version
        self.settings, self.slots = setup.settings, setup.slots
        self.capabilities = setup.capabilities
        self.members: dict[NodeId, None] = dict.fromkeys(setup.members)
        remembered = setup.identity or Identity(0, 10, (0, 0))
        self.incarnation = remembered.incarnation + 1  # raised to the wall clock when started
        self.reputation = remembered.reputation - (setup.identity is not None)
        self.chosen = remembered.chosen
        self.rule = flock_rules.get(self.chosen.name or setup.policy, flock_rules[DEFAULT_RULE])
        self.clock = HybridClock(remembered.stamp, setup.settings.clock_ahead_ms_max)
        self.table = Table(setup.settings)
        self.timers = Timers()
        self.now_s = 0.0
        self.wall_ms = 0
        self.cause = ""
        self.presence = PresenceChanged(volunteering=False, owner_present=True, reason=Starting())
        self.owner_since_s = 0.0
        self.holdings: dict[DatasetId, None] = dict.fromkeys(setup.holdings)
        self.peers: dict[NodeId, Peer] = {}
        self.incarnations: dict[NodeId, int] = {}
        self.joined = False
        self.disk_usable = True
        self.stopping = False
        self.wake = False
        self.liveness_changed = False
        self.news: list[News] = []
        self.counters: dict[str, int] = {}
        self._first: list[Effect] = []
        self._effects: list[Effect] = []
        self._unsaved = Unsaved()
        self.untold = PendingNews(self.timers, setup.settings)
        self._stories: dict[TaskId, list[StoryEntry]] = {}
        """Lists, for most are short: an empty deque alone is as large as six entries."""
        self._remember(setup)

    def _remember(self, setup: NodeSetup) -> None:
        """Believe this disk, whoever wrote what is on it: it was looked at when it came."""
        self.sealing = Sealing(self.me, self.table, setup.keys)
        quotas = Quotas(self.table, self._let_go, self.forget_pruning, lambda: self.now_s)
        known = (self.table, setup.keys, self._long_ago_ms, self.forget_pruning)
        self.checking = Checking(*known, quotas)
        self.follow_trust(setup.trust)
        news = self.table.join(setup.workflows, setup.lives, setup.prunings)
        self.lengths = Lengths(self.table)
        self.thrown_away = ThrownAway(self.table)
        self.lengths.on_news(news)
        self.own = OwnWork(self.me, self.table, setup.noted)
        if setup.identity is not None and not setup.identity.notes:
            self.own.believe_records()

    # -- time and counting ---------------------------------------------------------------

    def set_now(self, now: Instant, cause: str) -> None:
        """Set the instant at which the current event is handled, and what to call the event."""
        self.cause = cause
        self.now_s = now.elapsed_s
        self.wall_ms = now.wall_ms

    def stamp(self) -> Stamp:
        """Return a new reading of the hybrid clock."""
        return self.clock.read(self.wall_ms)

    def arm_tick(self, ticks: int = 1) -> None:
        """Set the timer of the next tick to a multiple of ``ticks`` heartbeats by the wall clock,
        to the one after where the next is near. Machines whose clocks agree then beat together, and
        a peer wakes up once for thirty heartbeats instead of thirty times: waking up is most of
        what an idle agent costs."""
        tick_ms = int(self.settings.heartbeat_s * 1000)
        period_ms = ticks * tick_ms
        wait_ms = period_ms - self.wall_ms % period_ms
        if wait_ms < tick_ms // 4:
            wait_ms += period_ms
        self.timers.arm(TimerKind.TICK, self.now_s + wait_ms / 1000)

    def count(self, what: str) -> None:
        """Count bad or surprising input, which is never silently dropped."""
        self.counters[what] = self.counters.get(what, 0) + 1

    @property
    def able(self) -> bool:
        """Whether new work can be kept and done here, whatever the owner allows."""
        return self.disk_usable and not self.stopping

    @property
    def willing(self) -> bool:
        """Whether the owner lets this machine work now, be it only for whoever submits here."""
        return self.presence.willing

    # -- peers ---------------------------------------------------------------------------

    def name_of(self, node: NodeId) -> str:
        """Return what a node calls itself; its id where it has not told that."""
        status = self.peers[node].status if node in self.peers else None
        return self.name if node == self.me else node if status is None else status.name

    def greeted(self) -> list[NodeId]:
        """Return the linked peers whose Hello has come."""
        return [peer.node for peer in self.peers.values() if peer.greeted]

    def voters(self) -> list[NodeId]:
        """Return the peers believed alive: everyone who must consent to a claim."""
        return [peer.node for peer in self.peers.values() if peer.greeted and not peer.suspected]

    # -- effects -------------------------------------------------------------------------

    def emit(self, effect: Effect) -> None:
        """Add an effect to those of this event, to be done after what changed is on disk;
        suspending and stopping programs come first of all."""
        if isinstance(effect, SuspendChild | StopChild):
            self._first.append(effect)
        else:
            self._effects.append(effect)

    def send(self, peers: NodeId | Iterable[NodeId], message: Message) -> None:
        """Add a message to one peer or several to the effects of this event, whether or not they
        are linked; without a peer do nothing."""
        names = (peers,) if isinstance(peers, str) else tuple(peers)
        if names:
            self._effects.append(Send(names, self.sealing.sealed(message)))

    def broadcast(self, message: Message) -> None:
        """Send a message to all greeted peers."""
        self.send(self.greeted(), message)

    def take_effects(self) -> list[Effect]:
        """Return and clear the effects of this event, in the order in which they must be done, news
        that is due to be told among them. A record of all changes to be saved is in front of what
        depends on it; while the disk takes none, the changes are kept for later and what depends on
        them is handed out all the same, unsaved."""
        if self.untold.is_due(self.now_s):
            self.tell_own()
        effects, behind = self._first, self._effects
        self._first, self._effects = [], []
        if (self._unsaved or self.own.changed) and self.disk_usable:
            ahead, behind = parted(behind)
            effects += ahead
            effects.append(self._persist())
        effects += behind
        return effects

    # -- records -------------------------------------------------------------------------

    def learn(
        self,
        sender: NodeId,
        workflows: Iterable[Workflow] = (),
        lives: Iterable[TaskLife] = (),
        prunings: Iterable[Pruning] = (),
        pass_on: bool = False,
    ) -> News:
        """Join what counts of the records that a peer told, have it saved, tell clients which tasks
        moved by that, and return what was new; with ``pass_on`` tell it to the neighbours to which
        the peer has no link."""
        news = self.table.join(*self.checking.counting(workflows, lives, prunings))
        self.take_in(news)
        if pass_on and news:
            self._pass_on(sender, news)
        return news

    def write(
        self,
        workflows: Iterable[Workflow] = (),
        lives: Iterable[TaskLife] = (),
        prunings: Iterable[Pruning] = (),
        *,
        hurried: bool = True,
    ) -> News:
        """Join records that this node itself decided, have them saved, tell clients which tasks
        moved by that, and return what was new. Peers are told at the end of this event, without
        ``hurried`` maybe a moment later, together with whatever else there is to tell by then."""
        if hurried:
            self.untold.hurry()
        news = self.table.join(workflows, map(as_written, lives), prunings)
        self.take_in(news)
        self.untold.add(news)
        return news

    def write_in_row(self, lives: Iterable[TaskLife]) -> News:
        """Join lives of runs in this node's row of short tasks, have them saved, tell clients which
        tasks moved by that, and return what was new; peers are told with the ends of the runs, or
        when these take long."""
        news = self.table.join(lives=map(as_written, lives))
        self.take_in(news)
        self.untold.add_in_row(news.lives, self.now_s)
        return news

    def save_identity(self) -> None:
        """Have incarnation and reputation saved, as one of them changed."""
        self._unsaved.identity = True

    def save_again(self, workflow: WorkflowId) -> None:
        """Have the workflow saved again: what is said next relies on it being on disk, and it may
        still be on its way."""
        self._unsaved.workflows[workflow] = None

    def follow_trust(self, trust: Trust) -> None:
        """Believe by this from now on; what is in the table stays."""
        self.checking.trust = trust
        self._unsaved.prunings.update(dict.fromkeys(self.sealing.follow(trust)))

    def flock_wall_ms(self) -> int | None:
        """Return the median wall-clock time of the members, this node included, of two the earlier;
        None when fewer than half of the others are heard."""
        others = sum(member != self.me for member in self.members)
        ahead = [peer.wall_ahead_ms for peer in self.peers.values() if peer.greeted]
        if len(ahead) * 2 < others:
            return None
        ahead = sorted([0, *ahead])
        return self.wall_ms + ahead[(len(ahead) - 1) // 2]

    def _long_ago_ms(self) -> int:
        """What has rested since then may be removed by anybody: by the clock by which it is removed,
        half of how long it is kept has passed."""
        wall_ms = self.flock_wall_ms()
        kept_ms = self.settings.retention_ms // 2
        return (self.wall_ms if wall_ms is None else wall_ms) - kept_ms

    def _let_go(self, workflows: list[WorkflowId], runs: dict[TaskId, set[RunName]]) -> None:
        self.take_in(self.table.let_go(workflows, runs))

    def forget_pruning(self, workflow: WorkflowId) -> None:
        """Forget a pruning, here and on disk, so that it hides its workflow no more."""
        self.table.forget_pruning(workflow)
        self._unsaved.prunings.pop(workflow, None)
        self._unsaved.forgotten_prunings[workflow] = None

    def not_saved(self, refused: Persist) -> None:
        """Mark the records that the disk refused as unsaved again, so that they are written, as
        they read by then, once it takes records."""
        unsaved = self._unsaved
        unsaved.identity = True
        unsaved.lives.update(dict.fromkeys(part.task for part in refused.lives))
        unsaved.workflows.update(dict.fromkeys(w.spec.workflow for w in refused.workflows))
        unsaved.prunings.update(dict.fromkeys(p.workflow for p in refused.prunings))
        unsaved.forgotten_workflows.update(dict.fromkeys(refused.forgotten_workflows))
        unsaved.forgotten_tasks.update(dict.fromkeys(refused.forgotten_tasks))
        unsaved.forgotten_prunings.update(dict.fromkeys(refused.forgotten_prunings))
        self.own.changed.update(dict.fromkeys((*refused.noted, *refused.unnoted)))

    def take_in(self, news: News) -> None:
        """Mark changed records to be saved, keep the news for the parts of the node, and tell
        clients which tasks moved; contradictory records are counted. Without news nothing else
        happens."""
        if news.contradictions:
            self.count("contradictory record")
        if not news:
            return
        gone = [WorkflowGone(w, tuple(lives), self.own.home_of(w.spec)) for w, lives in news.gone]
        self.lengths.on_news(news)
        self.thrown_away.on_news(news)
        self.own.drop((*news.forgotten_workflows, *news.replaced))
        self._mark_unsaved(news)
        self.news.append(news)
        for task, before, now in news.moved:
            self._tell_moved(task, before, now)
        self._effects += gone

    def _mark_unsaved(self, news: News) -> None:
        unsaved = self._unsaved
        for part in news.lives:
            unsaved.lives[part.task] = None
            for run in part.life.runs:
                if not self.clock.observe(run.stamp, self.wall_ms):
                    self.count("stamp too far ahead")
                self.clock.observe(run.claim.stamp, self.wall_ms)
        for workflow in news.workflows:
            unsaved.workflows[workflow.spec.workflow] = None
            self.clock.observe(workflow.spec.submitted, self.wall_ms)
        for pruning in news.prunings:
            unsaved.prunings[pruning.workflow] = None
        unsaved.forgotten_workflows.update(dict.fromkeys(news.forgotten_workflows))
        unsaved.forgotten_tasks.update(dict.fromkeys(news.forgotten_tasks))

    def _tell_moved(self, task: TaskId, before: DerivedState | None, now: DerivedState) -> None:
        left = left_machine(before, now)
        if before is None or before.state is not now.state or left:
            before_state = None if before is None else before.state
            self._effects.append(TaskMoved(task, before_state, now.state, self.cause))
            owner = now.owner or now.outcome
            host = "" if owner is None else owner.host
            self.note(task, Became(now.state.value, host, left, now.reason))
        old = None if before is None else before.outcome
        if old is not None and now.outcome is not None and run_name(old) != run_name(now.outcome):
            self._effects.append(
                OutcomeChanged(task, run_name(old), run_name(now.outcome), self.cause)
            )
            self.note(task, OutcomeMoved(old.host, now.outcome.host))

    def _pass_on(self, sender: NodeId, news: News) -> None:
        peer = self.peers.get(sender)
        reached = peer.status.neighbours if peer is not None and peer.status is not None else {}
        others = [node for node in self.greeted() if node != sender and node not in reached]
        if not others:
            return
        new = [each for each in news.listed if each in self.table.workflows]
        if new:
            workflows = tuple(self.table.workflows[each] for each in new)
            lives = tuple(part for each in new for part in self.table.lives_of(each))
            self.send(others, Enqueue(workflows, lives, False, self.cause))
        wishes = tuple(each for each in news.workflows if each.spec.workflow not in news.listed)
        state = State(tuple(news.lives), wishes, tuple(news.prunings), self.cause)
        if state.lives or state.workflows or state.prunings:
            self.send(others, state)

    def tell_own(self) -> None:
        """Send all greeted peers, in one message, what this node wrote and has not told yet; do
        nothing when that is nothing."""
        told = self.untold.take(self.cause)
        if told is not None:
            self.broadcast(told)

    def tell_enqueued(self, receipt: bool) -> None:
        """Tell the workflows just written as new work."""
        self.broadcast(self.untold.take_enqueued(receipt, self.cause))

    def tell_row(self) -> None:
        """Tell of runs that have lain in this node's row for long."""
        self.untold.leave_row(self.now_s)
        self.tell_own()

    def _persist(self) -> Persist:
        table, unsaved = self.table, self._unsaved
        self._unsaved = Unsaved()
        return Persist(
            Identity(self.incarnation, self.reputation, self.clock.last, True, self.chosen),
            tuple(table.workflows[w] for w in unsaved.workflows if w in table.workflows),
            tuple(TaskLife(t, table.lives[t]) for t in unsaved.lives if t in table.lives),
            tuple(table.prunings[w] for w in unsaved.prunings if w in table.prunings),
            tuple(w for w in unsaved.forgotten_workflows if w not in table.workflows),
            tuple(t for t in unsaved.forgotten_tasks if t not in table.lives),
            tuple(w for w in unsaved.forgotten_prunings if w not in table.prunings),
            *self.own.take_changes(),
        )

    # -- stories -------------------------------------------------------------------------

    def note(self, task: TaskId, what: Reason) -> None:
        """Remember why a task moved, with the time and cause. Beyond their limits the oldest
        entries of a task, and the stories of the tasks that were noted first, are dropped."""
        story = self._stories.get(task)
        if story is None:
            while len(self._stories) >= STORY_TASKS_MAX:
                del self._stories[next(iter(self._stories))]
            story = self._stories[task] = []
        story.append(StoryEntry(self.wall_ms, self.cause, what))
        if len(story) > self.settings.story_entries_max:
            del story[0]

    def story(self, task: TaskId) -> list[StoryEntry]:
        """Return what happened to the task as this node saw it, as far as it is remembered."""
        return [*self._stories.get(task, ())]


class Part:
    """A part of the node: handles some events and messages, and is told of some happenings."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def handlers(self) -> dict[type, Callable[..., None]]:
        """Return which method handles which event (it takes the event) or message (peer,
        message)."""
        return {}

    def on_greeted(self, peer: Peer) -> None:
        """Handle that a peer's Hello has come: it counts from now on."""

    def on_gone(self, peer: Peer) -> None:
        """Handle that the link with a peer is gone."""

    def on_suspected(self, peer: Peer) -> None:
        """Handle that a peer is silent: it is not waited for any more."""

    def on_trusted(self, peer: Peer) -> None:
        """Handle that a suspected peer spoke again."""

    def on_news(self, news: News) -> None:
        """Handle that records changed, or tasks read differently."""

    def on_tick(self) -> None:
        """Do what is due now and then; called on every periodic beat."""
