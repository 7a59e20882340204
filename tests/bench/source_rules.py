"""The source's own rules in our simulator, to see whether the simulator flatters us.

The source (a thesis of 2014) measured a prototype on nine workstations. When its rules run on the
same machines, network and clocks as ours and come out near its figures, then what our rules gain
is gained by rules. So nothing here is fitted: every period is the text's. What it says:

* ENQUEUE, STATE and PROGRESS (each 15 s) are broadcast; each node keeps its own map and queue;
* a node whose CPU has become idle broadcasts TRY_DEQUEUE for a task of its queue and waits 15 s;
  requests for the same task that are older, or as old and from a lower host name, are counted, and
  that count is its rank: without one it runs the task, otherwise the next time it tries the task
  at the position of its rank;
* idleness is checked each 60 s while no task runs here, failures of remote tasks each 60 s;
* an interactive task is executed where it was submitted, idle or not, if nothing runs there.

What it leaves open, and what is assumed here:

* *When a node tries again.* "When the CPU becomes idle again" is taken as the next check that finds
  it so: one check is good for one try, won or lost. A node that was found idle while its queue was
  empty tries as soon as something becomes ready, for that wakes the same thread. The checks tick on
  through a task on their own clock, each node's at its own phase, and the test programs use no CPU.
* *The order of the queue.* Interactive before low ("priority_queue<task>"), then as they came.
* *Which interactive tasks.* Read narrowly, only a request that finds its node free is executed at
  once (``WHEN_ASKED``); read widely, every interactive task whose node is free when the task
  becomes ready (``WHEN_READY``). Both are run.
* *The rank.* Algorithm 3.2 sets it to -1 before counting, which would let a loser run the task too;
  here counting begins at 0. Positions count from 1, and the last stands for those beyond.
* *A request outside the window* "is simply ignored". So a node may try what somebody tries since
  before its own window opened; it is told within its window that the other runs the task, and lets
  go. Who loses holds the task for taken: by silence, if nothing more is heard of it.
* *The limit of silence* after which a remote task has failed is one period of the check, 60 s.
* Nothing asks for the master in these tests, so that there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Final, cast

from agent.protocol.clock import Instant
from agent.protocol.effects import (
    Answer,
    Effect,
    Send,
    StartChild,
    StopChild,
    TaskMoved,
    Verdict,
)
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
from agent.protocol.reasons import StoryEntry
from agent.protocol.records import NodeId, RunName, TaskId, TaskSpec, TaskState
from tests.sim.checks import Watch
from tests.sim.machine import Machine

WINDOW_S: Final = 15.0
IDLE_CHECK_S: Final = 60.0
FAILURE_CHECK_S: Final = 60.0
SILENCE_S: Final = 60.0
PROGRESS_S: Final = 15.0
INTERACTIVE: Final = "interactive"
LOW: Final = "low"
"""A task's priority is told by its name; a task of ours has none of its own."""

Rank = tuple[int, str]


class Reading(Enum):
    """When the rule for interactive tasks applies."""

    WHEN_ASKED = "when asked"
    WHEN_READY = "when ready"


@dataclass(frozen=True, slots=True)
class Enqueue:
    """A task for everybody's map."""

    spec: TaskSpec


@dataclass(frozen=True, slots=True)
class TryDequeue:
    """I try to take this task; ``stamp`` is the wall clock."""

    task: TaskId
    stamp: int
    name: str


@dataclass(frozen=True, slots=True)
class Running:
    """STATE Running, or the PROGRESS that repeats it: I run this task since then."""

    task: TaskId
    stamp: int
    name: str


@dataclass(frozen=True, slots=True)
class Terminated:
    task: TaskId


@dataclass(slots=True)
class Held:
    """A task in the map. ``heard_s``: when its runner last said something."""

    spec: TaskSpec
    missing: dict[TaskId, None]
    remote: bool = False
    heard_s: float = 0.0
    attempts: int = 0


class NoTable:
    """Hosts ask for the hash of a node's table; this one has none."""

    hash = 0


class SourceNode:
    """A server-node of the source, under a host of ours: events in, effects out."""

    reading = Reading.WHEN_ASKED

    def __init__(self, setup: NodeSetup) -> None:
        self.me, self.name = setup.node, setup.name
        self.table = NoTable()
        self.now_s, self.wall_ms = 0.0, 0
        self.peers: dict[NodeId, None] = {}
        self.tasks: dict[TaskId, Held] = {}
        self.ended: dict[TaskId, None] = {}
        self.queue: dict[TaskId, None] = {}
        self.own: dict[TaskId, None] = {}
        self.idle = False
        self.rank = 0
        self.trying: TaskId = ""
        self.tried: Rank = (0, "")
        self.requests: list[TryDequeue] = []
        self.running: TaskId = ""
        self.run: RunName = (0, 0, "", 0)
        self.since: Rank = (0, "")
        self.window_s = self.progress_s = self.idle_s = self.failure_s = inf
        self._effects: list[Effect] = []

    # The three questions of a host

    def handle(self, event: Event, now: Instant, *, more: bool = False) -> list[Effect]:
        """One event; what is to be done about it. The source knows no events together."""
        del more
        if self.idle_s == inf:
            self.idle_s = _next(now.elapsed_s, IDLE_CHECK_S)
            self.failure_s = _next(now.elapsed_s, FAILURE_CHECK_S)
        self.now_s, self.wall_ms = now.elapsed_s, now.wall_ms
        self._concern(event)
        self._look_at_clocks()
        self._execute()
        effects, self._effects = self._effects, []
        return effects

    def next_deadline(self) -> float:
        return min(self.window_s, self.progress_s, self.idle_s, self.failure_s)

    def story(self, _: TaskId) -> list[StoryEntry]:
        return []

    # Events

    def _concern(self, event: Event) -> None:
        match event:
            case PeerLinked(peer):
                self.peers[peer] = None
            case PeerUnlinked(peer):
                self.peers.pop(peer, None)
            case Received(_, message):
                self._received(message)
            case Submit():
                self._submitted(event)
            case ChildSucceeded(task, _, _):
                self.running, self.progress_s = "", inf
                self._tell(Terminated(task))
                self._end(task)
            case ChildStopped():
                self.running, self.progress_s = "", inf
            case _:
                pass

    def _received(self, message: object) -> None:
        match message:
            case Enqueue(spec):
                self._hold(spec)
            case TryDequeue():
                if self.trying:
                    self.requests.append(message)
            case Running(task, stamp, name):
                self._runs_elsewhere(task, (stamp, name))
            case Terminated(task):
                self._end(task)
            case _:
                raise TypeError(f"no message of these rules: {message}")

    def _submitted(self, event: Submit) -> None:
        for spec in event.tasks:
            self._tell(Enqueue(spec))
            self._hold(spec)
            self.own[spec.task] = None
        self._effects.append(Answer(event.request, Verdict.ACCEPTED))
        self._execute_at_home([spec.task for spec in event.tasks])

    # The map and the queue

    def _hold(self, spec: TaskSpec) -> None:
        needs = {each.task: None for each in spec.inputs if each.task not in self.ended}
        self.tasks[spec.task] = Held(spec, needs)
        if not needs:
            self._make_ready(spec.task)

    def _make_ready(self, task: TaskId) -> None:
        self.queue[task] = None
        self._effects.append(TaskMoved(task, None, TaskState.READY, ""))

    def _end(self, task: TaskId) -> None:
        if task in self.ended:
            return
        self.ended[task] = None
        self.queue.pop(task, None)
        self.tasks[task].remote = False
        self._effects.append(TaskMoved(task, None, TaskState.TERMINATED, ""))
        for name, held in self.tasks.items():
            if task in held.missing:
                del held.missing[task]
                if not held.missing:
                    self._make_ready(name)

    def _in_order(self) -> list[TaskId]:
        """Interactive first; a dictionary remembers how they came."""
        return sorted(self.queue, key=lambda task: self.tasks[task].spec.name != INTERACTIVE)

    def _runs_elsewhere(self, task: TaskId, since: Rank) -> None:
        if task in self.ended:
            return
        if task == self.running:
            if since < self.since:
                self._effects.append(StopChild(task, self.run, "it runs elsewhere"))
                self._leave_to_others(task)
            return
        self._leave_to_others(task)

    def _leave_to_others(self, task: TaskId) -> None:
        self.queue.pop(task, None)
        held = self.tasks[task]
        held.remote, held.heard_s = True, self.now_s

    # Clocks

    def _look_at_clocks(self) -> None:
        if self.window_s <= self.now_s:
            self.window_s = inf
            self._close_window()
        if self.progress_s <= self.now_s:
            self.progress_s = self.now_s + PROGRESS_S
            self._tell(Running(self.running, *self.since))
        if self.idle_s <= self.now_s:
            self.idle_s = _next(self.now_s, IDLE_CHECK_S)
            self.idle = self.idle or not self.running
        if self.failure_s <= self.now_s:
            self.failure_s = _next(self.now_s, FAILURE_CHECK_S)
            self._look_for_failures()

    def _look_for_failures(self) -> None:
        for task, held in self.tasks.items():
            if held.remote and self.now_s - held.heard_s > SILENCE_S:
                held.remote = False
                self._make_ready(task)

    # Algorithm 3.2

    def _execute(self) -> None:
        """What the thread does that executes tasks, whenever it is woken."""
        if self.running or self.trying:
            return
        if self.reading is Reading.WHEN_READY:
            self._execute_at_home(list(self.own))
        if self.idle and self.queue:
            self._dispatch()

    def _execute_at_home(self, tasks: list[TaskId]) -> None:
        if self.running or self.trying:
            return
        for task in tasks:
            if task in self.queue and self.tasks[task].spec.name == INTERACTIVE:
                self._start(task)
                return

    def _dispatch(self) -> None:
        if self.running:
            return
        queue = self._in_order()
        self.idle = False
        self.trying = queue[min(max(self.rank, 1), len(queue)) - 1]
        self.tried = (self.wall_ms, self.name)
        self._tell(TryDequeue(self.trying, *self.tried))
        self.window_s = self.now_s + WINDOW_S

    def _close_window(self) -> None:
        task, self.trying = self.trying, ""
        rivals = [
            (each.stamp, each.name)
            for each in self.requests
            if each.task == task and (each.stamp, each.name) < self.tried
        ]
        self.requests.clear()
        self.rank = len(rivals)
        if task not in self.queue:
            return
        if rivals:
            self._leave_to_others(task)
        else:
            self._start(task)

    def _start(self, task: TaskId) -> None:
        held = self.tasks[task]
        self.queue.pop(task, None)
        held.attempts += 1
        self.running, self.since = task, (self.wall_ms, self.name)
        self.run = (1, held.attempts, self.me, 1)
        self.progress_s = self.now_s + PROGRESS_S
        self._tell(Running(task, *self.since))
        self._effects.append(StartChild(task, self.run, held.spec, ()))

    def _tell(self, message: Enqueue | TryDequeue | Running | Terminated) -> None:
        if self.peers:
            self._effects.append(Send(tuple(self.peers), cast("Message", message)))


class WideReading(SourceNode):
    """The same, with every interactive task at home when it can be."""

    reading = Reading.WHEN_READY


class SourceWatch(Watch):
    """Only looks: these rules keep none of the promises that the checks are about."""

    def started(self, machine: Machine, effect: StartChild) -> None:
        self.ledger.count("starts")
        if self.on_started is not None:
            self.on_started(machine, effect)

    def answered(self, machine: Machine, answer: Answer) -> None:  # noqa: ARG002 - as inherited
        self.simulation.clients.answered(answer)

    def tick(self) -> None:
        """Nothing to look at."""


NODE_CLASSES: Final[dict[Reading, type[Node]]] = {
    # A host only asks the three questions, which these classes answer, too.
    Reading.WHEN_ASKED: cast("type[Node]", SourceNode),
    Reading.WHEN_READY: cast("type[Node]", WideReading),
}


def _next(now_s: float, period_s: float) -> float:
    """The next whole period of this node's own clock, which starts at an hour of its own."""
    return (now_s // period_s + 1) * period_s
