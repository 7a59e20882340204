"""One run, put together: world, network, machines, people, misfortunes and checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.protocol.node import Node
from agent.protocol.signing import NO_TRUST
from tests.sim.checks import Watch
from tests.sim.clients import Clients
from tests.sim.faults import Faults
from tests.sim.keys import trust_of
from tests.sim.ledger import Ledger
from tests.sim.liars import Liars
from tests.sim.machine import Machine
from tests.sim.network import Network
from tests.sim.plan import Plan
from tests.sim.traps import Traps
from tests.sim.work import Behaviour
from tests.sim.world import World

ANY_BEHAVIOUR = Behaviour(1.0)


class Simulation:
    """Everything in a run, and the verbs of its plan."""

    def __init__(
        self,
        plan: Plan,
        node_class: type[Node] = Node,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.plan = plan
        self.node_class = node_class
        self.world = World(f"{plan.kind} {plan.seed}", tell)
        self.ledger = Ledger()
        self.network = Network(self.world, plan.network)
        self.faults = Faults(self)
        self.traps = Traps(self)
        self.clients = Clients(self)
        self.liars = Liars(self)
        self.watch: Watch = Watch(self)
        self.settling = False
        self.joined: dict[str, None] = {}
        self.machines: list[Machine] = []
        self.by_id: dict[str, Machine] = {}
        self.trust = trust_of(self, 0) if plan.signed else NO_TRUST
        self._verbs: dict[str, Callable[..., None]] = {}

    def start(self) -> None:
        """Wire the flock and plan all that was drawn."""
        for index, machine_plan in enumerate(self.plan.machines):
            machine = Machine(self, machine_plan, index)
            self.network.add(machine, self.machines)
            self.machines.append(machine)
            self.by_id[machine.node_id] = machine
            if machine_plan.newcomer:
                self.world.at(machine_plan.boot_s, self._perform, "join", (index,))
            else:
                self.joined[machine.node_id] = None
                self.world.at(machine_plan.boot_s, self._boot, machine)
        for one, other in self.plan.broken:
            self.network.pair(self.machines[one], self.machines[other]).broken = True
        for at, verb, details in self.plan.happenings:
            self.world.at(at, self._perform, verb, details)
        self.world.at(self.plan.tick_s, self._tick)

    def members(self, machine: Machine) -> tuple[str, ...]:
        """Who belongs to the flock, as far as this machine was told."""
        return tuple(dict.fromkeys((*self.joined, machine.node_id)))

    def behaviour(self, task: str) -> Behaviour:
        """What the program of a task does."""
        return self.plan.behaviours.get(task, ANY_BEHAVIOUR)

    def running(self) -> list[Machine]:
        """Machines whose agent runs."""
        return [machine for machine in self.machines if machine.node is not None]

    def _boot(self, machine: Machine, _: object) -> None:
        if machine.boots == 0 and not machine.gone_for_ever:
            machine.boot()

    def _perform(self, verb: str, details: tuple[Any, ...]) -> None:
        known = self._verbs.get(verb)
        if known is None:
            owners = (self.faults, self.liars, self.clients)
            known = next(getattr(owner, verb) for owner in owners if hasattr(owner, verb))
            self._verbs[verb] = known
        if self.world.tell is not None:
            self.world.tell(f"{self.world.now:10.4f} ** {verb} {str(details)[:200]}")
        known(*details)

    def _tick(self, _: object, __: object) -> None:
        self.watch.tick()
        for machine in self.machines:
            node = machine.node
            self.world.note(-1.0 - machine.index, 0.0 if node is None else float(node.table.hash))
        self.world.after(self.plan.tick_s, self._tick)
