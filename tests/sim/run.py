"""Runs of the simulator by seed, and the report of one that fails."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from agent.protocol.node import Node
from tests.sim.classes import CLASSES, draw_plan
from tests.sim.failure import Broken, SimulationFailure
from tests.sim.settle import settle
from tests.sim.simulation import Simulation
from tests.sim.world import Storm

STARTS_SHOWN = 12


@dataclass(slots=True)
class Result:
    """What a run that kept all promises was made of."""

    seed: int
    kind: str
    trace: str
    events: int
    virtual_s: float
    settled_s: float
    cpu_s: float
    nodes: int
    counts: dict[str, int] = field(default_factory=dict)


def class_of(seed: int) -> str:
    """The class of scenarios that a seed stands for, when none is asked for."""
    names = [name for name, kind in CLASSES.items() for _ in range(kind.weight)]
    return Random(f"class {seed}").choice(names)


def run_seed(
    seed: int,
    node_class: type[Node] = Node,
    only_class: str | None = None,
    tell: Callable[[str], None] | None = None,
    policy: str = "",
) -> Result:
    """Run one seed, by the rules of that name where one is given; raises ``SimulationFailure`` when a
    promise is broken."""
    kind = only_class or class_of(seed)
    began = time.process_time()
    plan = draw_plan(seed, kind)
    if policy:
        for machine in plan.machines:
            machine.policy = policy
    simulation = Simulation(plan, node_class, tell)
    settled_s = _guarded(simulation)
    world = simulation.world
    return Result(
        seed=seed,
        kind=kind,
        trace=world.trace_hash(),
        events=world.events,
        virtual_s=world.now,
        settled_s=settled_s,
        cpu_s=time.process_time() - began,
        nodes=len(simulation.machines),
        counts=dict(simulation.ledger.calls),
    )


def _guarded(simulation: Simulation) -> float:
    try:
        simulation.start()
        simulation.world.run(simulation.plan.until_s)
        return settle(simulation)
    except Broken as broken:
        text = _report(simulation, broken.check, broken.detail, broken.task)
        raise _failure(simulation, broken.check, text) from broken
    except Storm as storm:
        raise _failure(
            simulation, "no storm", _report(simulation, "no storm", str(storm), "")
        ) from storm
    except SimulationFailure:
        raise
    except Exception as error:
        last = "".join(traceback.format_exception(error)[-4:])
        text = _report(simulation, "no exception", f"{type(error).__name__}: {error}\n{last}", "")
        raise _failure(simulation, "no exception", text) from error


def _failure(simulation: Simulation, check: str, text: str) -> SimulationFailure:
    return SimulationFailure(simulation.plan.seed, simulation.plan.kind, check, text)


def _report(simulation: Simulation, check: str, detail: str, task: str) -> str:
    """Seed first, then what was broken, then the story, then how to see it again."""
    plan = simulation.plan
    lines = [
        f"seed {plan.seed}, class {plan.kind}, at {simulation.world.now:.3f} s: {check}",
        detail[:4_000],
    ]
    if task:
        lines.append(f"task {task}:")
        lines += [
            f"  started on {simulation.machines[start.machine]} at {start.at_s:.3f} s: {start.run}"
            for start in simulation.ledger.starts.get(task, [])[:STARTS_SHOWN]
        ]
        lines += _stories(simulation, task)
    lines += _misfortunes(simulation)
    lines.append(f"replay: python -m tests.sim --seed {plan.seed} --class {plan.kind} --trace")
    return "\n".join(lines)


def _stories(simulation: Simulation, task: str) -> list[str]:
    lines: list[str] = []
    for machine in simulation.running():
        if machine.node is not None:
            lines.append(f"  as {machine} tells it:")
            lines += [f"    {line}" for line in machine.node.story(task)]
    return lines


def _misfortunes(simulation: Simulation) -> list[str]:
    """What the plan did to the flock before, without the work."""
    now = simulation.world.now
    struck = [
        f"  {at:8.3f} s {verb} {str(details)[:160]}"
        for at, verb, details in sorted(simulation.plan.happenings, key=lambda entry: entry[0])
        if at <= now and verb != "submit"
    ]
    broken = [f"  never a link between {pair}" for pair in simulation.plan.broken]
    return ["misfortunes:", *broken, *struck[-40:]]
