"""The fourth document's devices in our simulator: a queue on each, broadcasts, contests, late claims.

On the same machines as ``source_rules`` and ours. What the document says:

* a device without work claims the task at its head (TRYDEQUEUE) and waits for T; the requests for the task
  that it had are sorted, and the i-th goes for the i-th task of the queue;
* if that runs elsewhere, there is a contest with its host by the same order; who loses goes on to the next
  task, until it wins or finds one without a host, which it starts. A host that loses stops the run;
* RUNNING is broadcast now and then; where it is silent for T, the task is broadcast as FAILED and queued
  again; DONE puts it among the finished ones for T;
* what is said of an unknown task leads to DOYOUKNOWTHISELEMENT by one of three strategies, and whoever
  knows it answers after a random time, if nobody else has.

What it leaves open, and how it was read: T is 15 s as in the first document, RUNNING comes each third of
T, an answer within 1 s. The order of claims is that of ``ClaimOfSource``; a device's battery is drawn and
stays. A device that ends a task tries the next at once. A claim is late where its task runs, however far it has come. A
broadcast that is lost is lost for one receiver, and nobody notices.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from random import Random
from typing import ClassVar, Final, cast

from agent.protocol.clock import Instant
from agent.protocol.effects import Answer, Effect, Send, StartChild, StopChild, TaskMoved, Verdict
from agent.protocol.events import (
    ChildStopped,
    ChildSucceeded,
    Event,
    PeerLinked,
    PeerUnlinked,
    Received,
    Submit,
)
from agent.protocol.messages import Message
from agent.protocol.node import Node, NodeSetup
from agent.protocol.policy.late_claims import STRATEGIES, WINDOW_S, ClaimOfSource
from agent.protocol.reasons import StoryEntry
from agent.protocol.records import NodeId, RunName, TaskId, TaskSpec, TaskState
from tests.bench.source_rules import NoTable

ANSWERS_WITHIN_S: Final = 1.0
BEATS: Final = 3
"""Of RUNNING in each T."""


@dataclass(frozen=True, slots=True)
class Element:
    """ENQUEUE, and TAKEMYELEMENT to who asked."""

    spec: TaskSpec


@dataclass(frozen=True, slots=True)
class Try:
    """TRYDEQUEUE."""

    task: TaskId
    claim: ClaimOfSource


@dataclass(frozen=True, slots=True)
class Runs:
    """RUNNING, with the claim by which it was won."""

    task: TaskId
    claim: ClaimOfSource


@dataclass(frozen=True, slots=True)
class Done:
    """DONE, and ALREADYFINISHEDELEMENT to who asked."""

    task: TaskId


@dataclass(frozen=True, slots=True)
class LostRun:
    """FAILED."""

    task: TaskId


@dataclass(frozen=True, slots=True)
class DoYouKnowThis:
    task: TaskId


Said = Element | Try | Runs | Done | LostRun | DoYouKnowThis


@dataclass(slots=True)
class Entry:
    """A task in the map; ``by`` is the claim by which it runs on some device."""

    spec: TaskSpec
    begun: int = 0
    by: ClaimOfSource | None = None
    heard_s: float = 0.0


class LateNode:
    """A device of the document, under a host of ours: events in, effects out."""

    window_s: ClassVar[float] = WINDOW_S
    strategy: ClassVar[str] = "Always"

    def __init__(self, setup: NodeSetup) -> None:
        self.me, self.table = setup.node, NoTable()
        self.random = Random(f"device {setup.node}")
        self.battery_lacks, self.rank = self.random.randrange(100), 0
        self.now_s, self.wall_ms = 0.0, 0
        self.peers: dict[NodeId, None] = {}
        self.tasks: dict[TaskId, Entry] = {}
        self.queue: dict[TaskId, None] = {}
        self.ended: dict[TaskId, float] = {}
        self.trying: TaskId = ""
        self.order: list[TaskId] = []
        """What waited when it was tried."""
        self.tried = ClaimOfSource(0, 0, 0, 0, "")
        self.closes_s = self.beats_s = inf
        self.requests: dict[TaskId, dict[str, tuple[float, ClaimOfSource]]] = {}
        self.running: TaskId = ""
        self.run: RunName = (0, 0, "", 0)
        self.starts = 0
        self.stopping = False
        self.asked: dict[TaskId, float] = {}
        self.answers: dict[TaskId, float] = {}
        self._effects: list[Effect] = []

    # The questions of a host

    def handle(self, event: Event, now: Instant, *, more: bool = False) -> list[Effect]:
        """One event; what is to be done about it."""
        del more
        self.now_s, self.wall_ms = now.elapsed_s, now.wall_ms
        self._concern(event)
        self._look_at_clocks()
        if not (self.running or self.trying or self.stopping) and self.queue:
            self._try(next(iter(self.queue)))
        effects, self._effects = self._effects, []
        return effects

    def next_deadline(self) -> float:
        silent = [each.heard_s + self.window_s for each in self.tasks.values() if each.by]
        return min(self.closes_s, self.beats_s, *self.answers.values(), *silent, inf)

    def story(self, _: TaskId) -> list[StoryEntry]:
        return []

    # Events

    def _concern(self, event: Event) -> None:
        match event:
            case PeerLinked(peer):
                self.peers[peer] = None
            case PeerUnlinked(peer):
                self.peers.pop(peer, None)
            case Received(peer, message):
                self._received(peer, cast("Said", message))
            case Submit():
                for spec in event.tasks:
                    self._tell(Element(spec))
                    self._put(spec)
                self._effects.append(Answer(event.request, Verdict.ACCEPTED))
            case ChildSucceeded(task, run, _) if run == self.run:
                self._tell(Done(task))
                self._end(task)
                self._rests()
            case ChildStopped(_, run) if run == self.run:
                self._rests()
            case _:
                pass

    def _rests(self) -> None:
        self.running, self.beats_s, self.stopping = "", inf, False

    def _received(self, peer: NodeId, message: Said) -> None:
        task = message.spec.task if isinstance(message, Element) else message.task
        if isinstance(message, Element):
            self._put(message.spec)
            self.answers.pop(task, None)
            return
        if isinstance(message, DoYouKnowThis):
            if task in self.tasks or task in self.ended:
                self.answers.setdefault(task, self.now_s + self.random.uniform(0, ANSWERS_WITHIN_S))
            return
        if isinstance(message, Done):
            self.answers.pop(task, None)
        if task not in self.tasks:
            self._heard_of_unknown(task)
            return
        match message:
            case Try(_, claim):
                self.requests.setdefault(task, {})[peer] = (self.now_s, claim)
                self._contested(task, claim)
            case Runs(_, claim):
                self._runs_elsewhere(task, claim)
            case Done():
                self._end(task)
            case LostRun():
                self._queue_again(task)

    def _heard_of_unknown(self, task: TaskId) -> None:
        long_ago = self.now_s - self.asked.get(task, -inf) > self.window_s
        if task not in self.ended and long_ago and STRATEGIES[self.strategy](1 + len(self.peers)):
            self.asked[task] = self.now_s
            self._tell(DoYouKnowThis(task))

    # The map, the queue, and what has ended

    def _put(self, spec: TaskSpec) -> None:
        if spec.task not in self.tasks and spec.task not in self.ended:
            self.tasks[spec.task] = Entry(spec)
            self.queue[spec.task] = None
            self._effects.append(TaskMoved(spec.task, None, TaskState.READY, ""))

    def _queue_again(self, task: TaskId) -> None:
        if task != self.running and self.tasks[task].by is not None:
            self.tasks[task].by = None
            self.queue = {task: None} | self.queue

    def _end(self, task: TaskId) -> None:
        """It is known as finished for T; whoever speaks of it after that speaks of an unknown task."""
        if task == self.running and not self.stopping and task in self.tasks:
            self._stop()
        self.tasks.pop(task, None)
        self.queue.pop(task, None)
        self.requests.pop(task, None)
        self.ended[task] = self.now_s + self.window_s
        self._effects.append(TaskMoved(task, None, TaskState.TERMINATED, ""))

    # Clocks

    def _look_at_clocks(self) -> None:
        now_s = self.now_s
        for task in [task for task, until_s in self.ended.items() if until_s <= now_s]:
            del self.ended[task]
        for task, entry in list(self.tasks.items()):
            if entry.by and task != self.running and entry.heard_s + self.window_s <= now_s:
                self._tell(LostRun(task))
                self._queue_again(task)
        for task in [task for task, at_s in self.answers.items() if at_s <= now_s]:
            del self.answers[task]
            known = task in self.tasks
            self._tell(Element(self.tasks[task].spec) if known else Done(task))
        if self.beats_s <= now_s:
            self._beat()
        if self.closes_s <= now_s:
            self.closes_s = inf
            self._close_window()

    def _beat(self) -> None:
        self.beats_s = self.now_s + self.window_s / BEATS
        entry = self.tasks[self.running]
        entry.heard_s = self.now_s
        assert entry.by is not None
        self._tell(Runs(self.running, entry.by))

    # Claims

    def _claim(self, task: TaskId) -> ClaimOfSource:
        begun = self.tasks[task].begun
        return ClaimOfSource(begun, self.battery_lacks, self.rank, self.wall_ms, self.me)

    def _try(self, task: TaskId) -> None:
        self.trying, self.closes_s = task, self.now_s + self.window_s
        self.order = list(self.queue)
        self.tried = self._claim(task)
        self._tell(Try(task, self.tried))

    def _close_window(self) -> None:
        """The i-th of those who have asked for it goes for the i-th task of the queue."""
        task, self.trying = self.trying, ""
        heard = self.requests.pop(task, {}).values()
        recent = [each for at_s, each in heard if at_s > self.now_s - 2 * self.window_s]
        self.rank = sum(each < self.tried for each in recent)
        if self.rank >= len(self.order):
            return
        goal = self.order[self.rank]
        if goal in self.queue:
            self._start(goal)
        elif goal in self.tasks:
            self._contest_from(goal, self.tried)

    def _contest_from(self, task: TaskId, mine: ClaimOfSource) -> None:
        """The task runs elsewhere: against its host, then against those of the tasks behind it."""
        names = list(self.tasks)
        for each in names[names.index(task) :]:
            by = self.tasks[each].by
            if by is None or mine < by:
                self._tell(Try(each, mine))
                self._start(each)
                return

    def _contested(self, task: TaskId, claim: ClaimOfSource) -> None:
        """A late claim for what runs here."""
        by = self.tasks[task].by
        if task != self.running or by is None or self.stopping:
            return
        if claim < by:
            self._stop()
            self.tasks[task].by, self.tasks[task].heard_s = claim, self.now_s + self.window_s
        else:
            self._tell(Runs(task, by))

    def _runs_elsewhere(self, task: TaskId, claim: ClaimOfSource) -> None:
        entry = self.tasks[task]
        if task == self.running and not self.stopping:
            if entry.by is not None and claim >= entry.by:
                return
            self._stop()
        entry.begun = max(entry.begun, claim.begun + 1)
        entry.by, entry.heard_s = claim, self.now_s
        self.queue.pop(task, None)

    def _stop(self) -> None:
        self._effects.append(StopChild(self.running, self.run, "it runs elsewhere"))
        self.stopping, self.beats_s = True, inf

    def _start(self, task: TaskId) -> None:
        entry = self.tasks[task]
        self.queue.pop(task, None)
        entry.by, self.running = self._claim(task), task
        entry.begun += 1
        self.starts += 1
        self.run = (1, self.starts, self.me, 1)
        self._beat()
        self._effects.append(StartChild(task, self.run, entry.spec, ()))

    def _tell(self, message: Said) -> None:
        if self.peers:
            self._effects.append(Send(tuple(self.peers), cast("Message", message)))


def devices(strategy: str, window_s: float) -> type[Node]:
    """Return the devices with a strategy for unknown tasks, and this T; a host asks them only the three
    questions."""
    made = type("Device", (LateNode,), {"strategy": strategy, "window_s": window_s})
    return cast("type[Node]", made)
