"""A member that lies: beside what its node says it sends records that nobody else should believe.

It has a key like everybody and signs with it, in its own name and in others', and it tells again what
it has heard. What it may say in its own name of its own work is left to it: that a result of its own is
wrong, no signature shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.protocol.events import Received
from agent.protocol.messages import Enqueue, Message, Records, State, TryDequeue
from agent.protocol.records import (
    CANCEL,
    FLOOR,
    RETRY,
    Claim,
    Dataset,
    Failed,
    Life,
    Lost,
    Phase,
    PriorityWish,
    Proof,
    Pruning,
    Run,
    Running,
    TaskLife,
    TaskPriority,
    Terminated,
    Wish,
    Workflow,
)
from agent.protocol.signing import (
    priority_leaf,
    pruning_leaf,
    run_leaf,
    signed_batch,
    spec_leaf,
    wish_leaf,
    with_proof,
)
from tests.sim.keys import SimulatedKeys

if TYPE_CHECKING:
    from tests.sim.machine import Machine
    from tests.sim.simulation import Simulation

HEARD_MAX = 300
LIES = ("run", "run", "wish", "priority", "pruning", "workflow", "replay", "part")
"""What there is to lie about, as often as it is drawn."""
TELLING = (State, Enqueue, Records, TryDequeue)


class Liars:
    """What the members that lie have heard, and what they make of it."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.draw = simulation.world.random
        self._heard: dict[str, list[Message]] = {}
        self._lies: dict[str, Callable[[Machine], Message | None]] = {
            "run": self._run,
            "wish": self._wish,
            "priority": self._priority,
            "pruning": self._pruning,
            "workflow": self._workflow,
            "replay": self._replay,
            "part": self._part,
        }

    def listen(self, machine: Machine, message: Message) -> None:
        """Remember what a member that lies has heard."""
        heard = self._heard.setdefault(machine.node_id, [])
        if isinstance(message, TELLING):
            heard.append(message)
            del heard[:-HEARD_MAX]

    def lie(self, who: int, kind: str) -> None:
        """Tell everybody one lie, if there is anything to lie about."""
        machine = self.simulation.machines[who]
        if machine.node is None or machine.stalled:
            return
        machine.lies = True
        told = self._lies[kind](machine)
        if told is None:
            return
        self.simulation.ledger.count("lies")
        for channel in list(machine.channels.values()):
            self.simulation.network.send(channel, Received(machine.node_id, told))

    # -- lies ----------------------------------------------------------------------------

    def _run(self, machine: Machine) -> Message | None:
        """In the name of another machine: of a run that is there, or of a new one."""
        found = self._some_task(machine)
        if found is None or machine.node is None:
            return None
        task, other = found, self._another(machine)
        runs = [run for run in machine.node.table.life(task).runs if run.host != machine.node_id]
        stamp = (machine.wall_ms(), 0)
        phases: tuple[Phase, ...] = (
            Terminated((Dataset("a lie", 1), Dataset("a lie", 1)), (other,)),
            *(Failed("a lie"), Lost(), Running()),
        )
        phase = self.draw.choice(phases)
        if runs and self.draw.random() < 0.6:
            known = self.draw.choice(runs)
            run = replace(known, revision=known.revision + self.draw.randint(0, 3), phase=phase)
        else:
            claim, attempt = Claim(1_000_000, stamp, other), self.draw.randint(1, 5)
            run = Run(1, attempt, other, self.draw.randint(1, 9), claim, 0, (), 1, phase, stamp)
        if self.draw.random() < 0.7:
            signer = machine.node_id if self.draw.random() < 0.3 else ""
            proof = self._proof(machine, run_leaf(task, run), signer)
            run = replace(run, more=with_proof(run.more, proof))
        return State(lives=(TaskLife(task, Life(0, runs=(run,))),))

    def _wish(self, machine: Machine) -> Message | None:
        """A retry or a cancel of the work of others, a floor in another's name."""
        task = self._some_task(machine, others=True)
        if task is None:
            return None
        kind, value = self.draw.choice((RETRY, FLOOR, CANCEL)), self.draw.choice((1, 2, 400_000))
        by = self._another(machine)
        if kind != FLOOR and self.draw.random() < 0.5:
            by = machine.node_id
        wish = Wish(kind, value, by)
        wish = replace(wish, proof=self._proof(machine, wish_leaf(task, wish)))
        numbers = [0, 0, 0]
        numbers[kind] = value
        signed = self.draw.random() < 0.7
        life = Life(numbers[0], numbers[1], numbers[2], wishes=(wish,) if signed else ())
        return State(lives=(TaskLife(task, life),))

    def _priority(self, machine: Machine) -> Message | None:
        workflow = self._some_workflow(machine)
        if workflow is None:
            return None
        name = workflow.spec.workflow
        by = self.draw.choice((machine.node_id, workflow.spec.host))
        wish = PriorityWish(self.draw.randint(1, 9), by, 100)
        wish = replace(wish, proof=self._proof(machine, priority_leaf(name, wish)))
        raised = Wish(self.draw.choice((RETRY, FLOOR)), 9, by)
        raised = replace(raised, proof=self._proof(machine, wish_leaf(name, raised)))
        task = self.draw.choice(workflow.spec.tasks).task
        alone = replace(wish, proof=self._proof(machine, priority_leaf(name, wish, task)))
        tasks = (TaskPriority(task, alone),)
        return State(workflows=(Workflow(workflow.spec, wish, 9, tasks, raised),))

    def _pruning(self, machine: Machine) -> Message | None:
        workflow = self._some_workflow(machine)
        if workflow is None:
            return None
        by = self.draw.choice((machine.node_id, workflow.spec.host, ""))
        generation = self.draw.choice((workflow.generation, 500_000))
        pruning = Pruning(workflow.spec.workflow, generation, (machine.wall_ms(), 0), by)
        if by:
            proof = self._proof(machine, pruning_leaf(pruning))
            pruning = replace(pruning, proof=proof)
        return State(prunings=(pruning,))

    def _workflow(self, machine: Machine) -> Message | None:
        """The same id with other tasks, submitted here at the beginning of time."""
        workflow = self._some_workflow(machine)
        if workflow is None:
            return None
        tasks = tuple(replace(task, program="", gate=True) for task in workflow.spec.tasks)
        host = self.draw.choice((machine.node_id, workflow.spec.host))
        spec = replace(workflow.spec, tasks=tasks, submitted=(0, 0), host=host)
        proof = self._proof(machine, spec_leaf(spec))
        spec = replace(spec, more=with_proof(spec.more, proof))
        return Enqueue((Workflow(spec, workflow.priority, workflow.generation),))

    def _replay(self, machine: Machine) -> Message | None:
        heard = self._heard.get(machine.node_id)
        return self.draw.choice(heard) if heard else None

    def _part(self, machine: Machine) -> Message | None:
        """What it has heard, changed: the proof of one record on another."""
        heard = [each for each in self._heard.get(machine.node_id, ()) if isinstance(each, State)]
        told = self.draw.choice(heard) if heard else None
        if told is None or not told.lives:
            return None
        tasks = [part.task for part in told.lives]
        other = self._some_task(machine) or tasks[0]
        moved = tuple(TaskLife(other, part.life) for part in told.lives if part.task != other)
        return State(lives=tuple(part for part in moved if part.life.runs))

    # -- about what ----------------------------------------------------------------------

    def _proof(self, machine: Machine, found: bytes, signer: str = "") -> Proof:
        return signed_batch(SimulatedKeys(self.simulation, machine.node_id), [found], signer)[0]

    def _some_workflow(self, machine: Machine) -> Workflow | None:
        """One that another machine has submitted."""
        if machine.node is None:
            return None
        known = machine.node.table.workflows.values()
        others = [each for each in known if each.spec.host != machine.node_id]
        return self.draw.choice(others) if others else None

    def _some_task(self, machine: Machine, *, others: bool = False) -> str | None:
        if others:
            workflow = self._some_workflow(machine)
            return None if workflow is None else self.draw.choice(workflow.spec.tasks).task
        known = [] if machine.node is None else list(machine.node.table.specs)
        return self.draw.choice(known) if known else None

    def _another(self, machine: Machine) -> str:
        others = [each.node_id for each in self.simulation.machines if each is not machine]
        return self.draw.choice(others)
