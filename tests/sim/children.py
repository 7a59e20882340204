"""Programs that run on a simulated machine, on its clock.

A program has a course drawn in advance: when it is running, when it tells how far it is, when and
how it ends. Suspension stops its clock. A request to stop takes a moment, and a program that was
about to end may end well in that moment.

Some programs save their state whenever they tell how far they are; the next attempt goes on there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

from agent.protocol.effects import StartChild
from agent.protocol.events import (
    ChildCheckpointed,
    ChildFailed,
    ChildProgressed,
    ChildStarted,
    ChildStopped,
    ChildSucceeded,
    Event,
)
from agent.protocol.reasons import EndCause
from agent.protocol.records import Dataset, RunName, TaskId, TaskSpec
from agent.protocol.times import Took
from tests.sim.work import Behaviour, Course

if TYPE_CHECKING:
    from tests.sim.machine import Machine

SAVING_ONE_IN = 4
STOP_S = (0.001, 0.05)
NEVER_S = 1e9
Key = tuple[TaskId, RunName]


@dataclass(slots=True, eq=False)
class Child:
    spec: TaskSpec
    run: RunName
    behaviour: Behaviour
    saved: float
    marks: list[tuple[float, str]] = field(default_factory=list)
    index: int = 0
    done_s: float = 0.0
    since: float = 0.0
    pauses: int = 0
    token: int = 0
    stopping: bool = False
    suspended: bool = False

    @property
    def paused(self) -> bool:
        """Whether it stands still, or is about to end."""
        return bool(self.pauses) or self.stopping


def saves(task: TaskId) -> bool:
    """Whether the program of the task saves its state; the same on every machine."""
    return crc32(task.encode()) % SAVING_ONE_IN == 0


def _saved(effect: StartChild) -> float:
    """The part of the work that an earlier attempt has left done."""
    return int(effect.checkpoint.rpartition("!")[2]) / 1000 if effect.checkpoint else 0.0


class Children:
    __slots__ = ("asleep", "living", "machine", "ran_s", "world")

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.world = machine.world
        self.living: dict[Key, Child] = {}
        self.asleep = False
        self.ran_s = 0.0
        """What programs that are over have run here, suspension excluded."""

    def start(self, effect: StartChild) -> None:
        """A process comes to life; it counts as running a moment later."""
        simulation = self.machine.simulation
        behaviour = simulation.behaviour(effect.task)
        child = Child(effect.spec, effect.run, behaviour, _saved(effect))
        start_s = simulation.plan.start_s
        length = behaviour.duration_s * self.machine.plan.slowness * (1.0 - _saved(effect))
        child.marks = [(start_s, "started")]
        parts = simulation.plan.progress_marks
        child.marks += [(start_s + length * n / (parts + 1), "told") for n in range(1, parts + 1)]
        ends_s = NEVER_S if self._hangs(behaviour) else start_s + length
        child.marks.append((ends_s, "ended"))
        self.living[effect.task, effect.run] = child
        self._go(child)
        if self.asleep:
            self._pause(child)

    def suspend(self, task: TaskId, run: RunName) -> None:
        child = self.living.get((task, run))
        if child is not None and not child.suspended:
            child.suspended = True
            self._pause(child)

    def resume(self, task: TaskId, run: RunName) -> None:
        child = self.living.get((task, run))
        if child is not None and child.suspended:
            child.suspended = False
            self._unpause(child)

    def stop(self, task: TaskId, run: RunName) -> None:
        """Ask it to end; nothing of it is left a moment later."""
        child = self.living.get((task, run))
        if child is not None:
            child.stopping = True
        delay = self.world.random.uniform(*STOP_S)
        self.world.after(delay, self._stopped, (task, run), self.machine.boots)

    def end_all(self) -> None:
        """The agent died, and its programs with it."""
        for child in self.living.values():
            self._over(child)
        self.living.clear()

    def sleep(self) -> None:
        self.asleep = True
        for child in self.living.values():
            self._pause(child)

    def wake(self) -> None:
        if self.asleep:
            self.asleep = False
            for child in self.living.values():
                self._unpause(child)

    def end_hanging(self) -> None:
        for child in list(self.living.values()):
            if child.marks[-1][0] >= NEVER_S:
                child.marks[-1] = (child.done_s + self.world.now - child.since, "ended")
                if not child.pauses:
                    self._pause(child)
                    self._unpause(child)

    def _hangs(self, behaviour: Behaviour) -> bool:
        return behaviour.course is Course.HANG and not self.machine.simulation.settling

    def _go(self, child: Child) -> None:
        child.since = self.world.now
        child.token += 1
        offset, _ = child.marks[child.index]
        delay = max(0.0, offset - child.done_s)
        if delay < NEVER_S / 2:
            self.world.after(delay, self._mark, child, child.token)

    def _over(self, child: Child) -> None:
        """Whatever it was about to do, it does not."""
        child.token += 1
        self.ran_s += child.done_s + (0.0 if child.pauses else self.world.now - child.since)

    def _pause(self, child: Child) -> None:
        child.pauses += 1
        if child.pauses == 1:
            child.token += 1
            child.done_s += self.world.now - child.since

    def _unpause(self, child: Child) -> None:
        child.pauses -= 1
        if not child.pauses:
            self._go(child)

    def _mark(self, child: Child, token: int) -> None:
        if token != child.token:
            return
        offset, what = child.marks[child.index]
        child.done_s = offset
        child.index += 1
        task, run = child.spec.task, child.run
        if what == "ended":
            del self.living[task, run]
            self.ran_s += offset
            self._end(child)
            return
        self._go(child)
        if what == "started":
            self.machine.hand(ChildStarted(task, run))
        else:
            left_ms = int((child.marks[-1][0] - offset) * 1000)
            permille = int(1000 * offset / child.marks[-1][0])
            self.machine.hand(ChildProgressed(task, run, permille, min(left_ms, 10**9)))
            if saves(child.spec.task):
                self._save(child, permille)

    def _save(self, child: Child, permille: int) -> None:
        """What was done before the last checkpoint is done for good."""
        task, run = child.spec.task, child.run
        done = round(1000 * (child.saved + (1.0 - child.saved) * permille / 1000))
        state = Dataset(f"{task}!{run[1]}.{run[2]}.{run[3]}!{done}", 1_000)
        self.machine.disk.datasets[state.dataset] = None
        self.machine.hand(ChildCheckpointed(task, run, state))

    def _end(self, child: Child) -> None:
        machine, behaviour = self.machine, child.behaviour
        task, run = child.spec.task, child.run
        draw = self.world.random
        if behaviour.course is Course.KILLS_AGENT and not machine.simulation.plan.exact:
            machine.simulation.faults.crash_now(machine, back_s=draw.uniform(0.5, 4.0))
            return
        if behaviour.fails_on(machine.node_id, draw):
            why = EndCause("SaidError", error="the program says no")
            machine.hand(ChildFailed(task, run, why, self._took(child)))
            return
        outputs = tuple(self._output(child, number) for number in range(behaviour.outputs))
        for output in outputs:
            machine.disk.datasets[output.dataset] = None
        machine.hand(ChildSucceeded(task, run, outputs, took=self._took(child)))

    def _took(self, child: Child, since_mark_s: float = 0.0) -> Took:
        """As its machine measures it: from when the program runs, without its suspensions."""
        ran_s = child.done_s + since_mark_s - self.machine.simulation.plan.start_s
        return Took(max(1, round(ran_s * 1000)))

    def _output(self, child: Child, number: int) -> Dataset:
        """Equal content is the same dataset; most programs write something new each time."""
        name = f"{child.spec.task}.{number}"
        if not child.behaviour.same_content:
            generation, attempt, host, incarnation = child.run
            name = f"{name}@{generation}.{attempt}.{host}.{incarnation}"
        return Dataset(name, 1_000)

    def _stopped(self, key: Key, boots: int) -> None:
        if boots != self.machine.boots:
            return
        child = self.living.pop(key, None)
        if child is not None:
            self._over(child)
        took = None
        if child is not None:
            took = self._took(child, 0.0 if child.pauses else self.world.now - child.since)
        event: Event = ChildStopped(*key, took)
        self.machine.hand(event)
