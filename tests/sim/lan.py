"""A flock in a perfect world, for benchmarks: no misfortune, every moment read out.

Built of the same world, network and machines as the scenarios, so that what is measured is the
protocol and not a model of it. Times are virtual seconds; a run costs what its events cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent.protocol.effects import StartChild, TaskMoved
from agent.protocol.messages import Capabilities
from agent.protocol.node import Node
from agent.protocol.records import (
    ENDED,
    EXPECTED_MS,
    PRIORITY_LOW,
    InputRef,
    Requirements,
    TaskSpec,
    TaskState,
)
from agent.protocol.settings import Settings
from tests.sim.checks import Watch
from tests.sim.machine import Machine, MachinePlan
from tests.sim.network import NetworkPlan
from tests.sim.plan import NAMES, Plan
from tests.sim.simulation import Simulation
from tests.sim.work import PROGRAMS, Behaviour, Job

STEP_S = 1.0
JOINED_S = 12.0
"""By then every machine has found the others and holds their table."""

CAPABLE = Capabilities(
    system="linux",
    architecture="x86_64",
    memory_mb=16_000,
    disk_mb=100_000,
    cores=4,
    programs=PROGRAMS,
)


@dataclass(slots=True)
class Times:
    """The moments of one task: when it became ready, where and when it started, when it ended."""

    ready_s: float | None = None
    started: list[tuple[float, str]] = field(default_factory=list)
    ended_s: float | None = None
    claimed: tuple[float, str] | None = None
    in_a_row_s: float = 0.0
    """For how long it lay on a node at most that had claimed it."""

    @property
    def waited_s(self) -> float:
        if self.ready_s is None or not self.started:
            return 0.0
        return self.started[0][0] - self.ready_s


@dataclass(frozen=True, slots=True)
class Step:
    """A task for a benchmark: how long it runs, which steps of its workflow it needs, and how long
    its submitter says that it runs: as long as it does where that is None, and nothing for 0. With
    a ``node`` no other may run it."""

    duration_s: float
    needs: tuple[int, ...] = ()
    program: str = PROGRAMS[0]
    name: str = ""
    told_s: float | None = None
    node: str = ""
    outputs: int = 1

    @property
    def expected_ms(self) -> int:
        told_s = self.duration_s if self.told_s is None else self.told_s
        return EXPECTED_MS if self.told_s == 0 else int(told_s * 1000)


def chain(length: int, duration_s: float, told_s: float | None = None) -> list[Step]:
    return [Step(duration_s, (n - 1,) if n else (), told_s=told_s) for n in range(length)]


class Flock:
    """So many machines on one LAN, from the moment at which all have joined.

    ``data_s`` is what bringing one dataset from disk to disk takes. ``slowness`` is by how much
    longer programs run on each machine, in their order. Another ``node_class`` is put on the same
    machines; where it keeps other promises, ``watch_class`` checks those.
    """

    def __init__(
        self,
        n: int,
        delays: tuple[float, float] = (0.0002, 0.001),
        start_s: float = 0.05,
        seed: int = 1,
        *,
        slots: int = 1,
        settings: Settings | None = None,
        names: Iterable[str] = NAMES,
        policy: str = "look-ahead",
        data_s: tuple[float, float] = (0.002, 0.05),
        slowness: Sequence[float] = (),
        node_class: type[Node] = Node,
        watch_class: type[Watch] = Watch,
        programs: tuple[str, ...] = PROGRAMS,
    ) -> None:
        plan = Plan(seed, "lan", settings or Settings(), exact=True, start_s=start_s)
        plan.fetch_s = data_s
        plan.network = NetworkPlan(delay_s=delays)
        capable = replace(CAPABLE, programs=programs)
        plan.machines = [
            MachinePlan(f"n{i:02}", name, slots, capable, policy, boot_s=i * 0.001)
            for i, name in zip(range(n), names, strict=False)
        ]
        for machine, slow in zip(plan.machines, slowness, strict=False):
            machine.slowness = slow
            machine.capabilities = replace(capable, tags=(machine.node,))
        self.simulation = Simulation(plan, node_class)
        self.world = self.simulation.world
        self.times: dict[str, Times] = {}
        self.submitted_s: dict[str, float] = {}
        self._open: dict[str, None] = {}
        watch = self.simulation.watch = watch_class(self.simulation)
        watch.on_moved = self._moved
        watch.on_started = self._starts
        self.simulation.start()
        self.run_until(JOINED_S)

    # What is done

    def submit(
        self,
        workflow: str,
        steps: Sequence[Step],
        *,
        at: float | None = None,
        node: int = 0,
        priority: int = PRIORITY_LOW,
        after: tuple[str, ...] = (),
        told: bool = True,
    ) -> list[str]:
        """Submit a workflow at a node, now or at a time, ``told`` how long its steps take; return
        the ids of its tasks. Those that need nothing of it begin after these of others."""
        tasks = [
            TaskSpec(
                task=f"{workflow}/{number}",
                name=step.name or f"step {number}",
                program=step.program,
                inputs=tuple(InputRef(f"{workflow}/{need}", 0) for need in step.needs),
                after=() if step.needs else after,
                requirements=Requirements(tags=(step.node,) if step.node else ()),
                expected_ms=step.expected_ms if told else EXPECTED_MS,
            )
            for number, step in enumerate(steps)
        ]
        for task, step in zip(tasks, steps, strict=True):
            self.simulation.plan.behaviours[task.task] = Behaviour(step.duration_s, step.outputs)
            self.times[task.task] = Times()
            self._open[task.task] = None
        when = self.world.now if at is None else at
        self.submitted_s[workflow] = when
        job = Job(workflow, priority, tuple(tasks))
        self.world.at(when, self._submit, job, node)
        return [task.task for task in tasks]

    def kill(self, node: int, *, at: float | None = None, silent: bool = False) -> None:
        """The machine is lost for ever; ``silent``: with the power, so that no link is reset."""
        self.world.at(self.world.now if at is None else at, self._kill, node, silent)

    def run_until(self, time_s: float) -> None:
        self.world.run(time_s)

    def run(self, at_most_s: float = 100_000.0) -> bool:
        """Until all that was submitted has ended; False when that took too long."""
        until_s = self.world.now + at_most_s
        while self._open and self.world.now < until_s:
            self.world.run(self.world.now + STEP_S)
        return not self._open

    # What is read out

    def makespan_s(self, workflow: str) -> float:
        ends = [
            t.ended_s or 0.0 for name, t in self.times.items() if name.startswith(f"{workflow}/")
        ]
        return max(ends) - self.submitted_s[workflow]

    @property
    def open_tasks(self) -> int:
        """Submitted and not ended."""
        return len(self._open)

    # What is seen

    def _submit(self, job: Job, node: int) -> None:
        self.simulation.clients.submit(job, node)

    def _kill(self, node: int, silent: bool) -> None:
        machine = self.simulation.machines[node]
        machine.gone_for_ever = True
        self.simulation.ledger.fault(machine, "gone")
        machine.die(silent=silent)

    def _moved(self, machine: Machine, moved: TaskMoved) -> None:
        times = self.times.get(moved.task)
        if times is None:
            return
        now = self.world.now
        if moved.after is TaskState.READY and times.ready_s is None:
            times.ready_s = now
        self._note_row(machine, moved, times)
        if moved.after in ENDED and moved.task in self._open:
            times.ended_s = now
            del self._open[moved.task]

    def _note_row(self, machine: Machine, moved: TaskMoved, times: Times) -> None:
        """As the machine sees it that has claimed the task; others may hear late."""
        if moved.after is TaskState.SCHEDULED:
            run = machine.node.table.owned.get(moved.task) if machine.node else None
            if run is not None and run.host == machine.node_id:
                times.claimed = (self.world.now, machine.node_id)
        elif times.claimed is not None and times.claimed[1] == machine.node_id:
            times.in_a_row_s = max(times.in_a_row_s, self.world.now - times.claimed[0])
            times.claimed = None

    def _starts(self, machine: Machine, effect: StartChild) -> None:
        if effect.task in self.times:
            runs_s = self.world.now + self.simulation.plan.start_s
            self.times[effect.task].started.append((runs_s, machine.plan.name))
