"""How fast the simulator and one node are, on one core, and what large tables cost.

*Simulator*: events per second of processor time over a stated mix, the median of several rounds,
each piece beside the whole: a cell of the source's tables (9 nodes, 40 chained tasks of two
minutes), a flock of 30 that idles for a minute and then does 60 tasks of two seconds, and the first
seeds of the simulator as ``python -m tests.sim`` draws them, checks and all. Beside the mix, a crowd:
the same flock with 120 tasks at once, which is mostly plans and far slower per event.

*One node alone*: what the first node of a flock of nine was told in such a cell is recorded and
told again to a fresh node, with nothing around it.

*Large tables*: 10,000 ready tasks in a flock of 30 with one place each, timed is the node's whole
answer to the end of its own task, plan included, at any of the nodes (the policy's answer is kept
for a moment there, so what asking it anew costs is timed, too); joining a workflow of
10,000 tasks as decoded from bytes; and starting a node on 20,000 remembered tasks, all of them
ended, which joins them and reads each off. Memory is what stays allocated, traced separately.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import ClassVar, Final

from agent.protocol import messages
from agent.protocol.clock import Instant
from agent.protocol.effects import Effect, Send
from agent.protocol.events import ChildSucceeded, Event, OutputsCopied
from agent.protocol.messages import Capabilities, Enqueue, TryDequeue
from agent.protocol.node import Node, NodeSetup
from agent.protocol.records import PriorityWish, TaskSpec, Workflow, WorkflowSpec
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from tests.bench.journal import finished
from tests.bench.report import Figures, Sheet, Verdict, quantile
from tests.sim.lan import Flock, Step, chain
from tests.sim.run import run_seed

WHAT: Final = "events per second of the simulator and of one node; plans and joins of 10,000 tasks"

EVENTS_PER_S_MIN: Final = 50_000


@dataclass(frozen=True, slots=True)
class Size:
    rounds: int
    seeds: int
    flock: int
    tasks: int
    remembered_workflows: int


FULL: Final = Size(5, 20, 30, 10_000, 2_000)
QUICK: Final = Size(1, 1, 3, 30, 5)


def measure(*, quick: bool) -> Figures:
    size = QUICK if quick else FULL
    return {
        "simulator": _simulator(size),
        "node": _node_alone(size.rounds),
        "plan": _plan(size),
        "join": _join(size.tasks),
        "start": _start(size.remembered_workflows),
    }


# The simulator


def _simulator(size: Size) -> Figures:
    pieces: dict[str, Callable[[], int]] = {
        "cell": _cell_events,
        "flock": lambda: _flock_events(size.flock),
        "seeds": lambda: sum(run_seed(seed).events for seed in range(1, size.seeds + 1)),
    }
    rounds = [{name: _rated(piece) for name, piece in pieces.items()} for _ in range(size.rounds)]
    whole = [
        sum(events for events, _ in each.values()) / sum(cpu_s for _, cpu_s in each.values())
        for each in rounds
    ]
    rates = {name: median(each[name][0] / each[name][1] for each in rounds) for name in pieces}
    crowd_events, crowd_s = _rated(lambda: _crowd_events(size.flock))
    return {
        "crowd_per_s": crowd_events / crowd_s,
        "events_per_s": median(whole),
        "least": min(whole),
        "greatest": max(whole),
        "events": sum(events for events, _ in rounds[0].values()),
        "pieces": rates,
    }


def _rated(piece: Callable[[], int]) -> tuple[int, float]:
    began_s = time.process_time()
    return piece(), max(time.process_time() - began_s, 1e-9)


def _cell_events(node_class: type[Node] = Node) -> int:
    return _worked_off(Flock(9, node_class=node_class), 10, chain(4, 120.0))


def _flock_events(nodes: int) -> int:
    flock = Flock(nodes)
    flock.run_until(flock.world.now + 60.0)
    return _worked_off(flock, nodes, chain(2, 2.0))


def _crowd_events(nodes: int) -> int:
    """Four times as many tasks as places: most of the time goes into plans."""
    return _worked_off(Flock(nodes), nodes, chain(4, 2.0))


def _worked_off(flock: Flock, workflows: int, steps: list[Step]) -> int:
    for number in range(workflows):
        flock.submit(f"w{number}", steps, node=number % len(flock.simulation.machines))
    flock.run()
    return flock.world.events


# One node alone


class Recorded(Node):
    """Keeps what the first node of a flock is told."""

    setups: ClassVar[list[NodeSetup]] = []
    told: ClassVar[list[tuple[Event, Instant]]] = []

    def __init__(self, setup: NodeSetup) -> None:
        super().__init__(setup)
        self._keeps = not Recorded.setups
        if self._keeps:
            Recorded.setups.append(setup)

    def handle(
        self, event: Event, now: Instant, cause: str = "", *, more: bool = False
    ) -> list[Effect]:
        if self._keeps:
            Recorded.told.append((event, now))
        return super().handle(event, now, cause, more=more)


def _node_alone(rounds: int) -> Figures:
    Recorded.setups, Recorded.told = [], []
    _cell_events(Recorded)
    setup, told = Recorded.setups[0], Recorded.told
    rates: list[float] = []
    for _ in range(rounds):
        node = Node(setup)
        began_s = time.process_time()
        for event, now in told:
            node.handle(event, now)
        rates.append(len(told) / max(time.process_time() - began_s, 1e-9))
    return {"handled": len(told), "per_s": median(rates)}


# Large tables


class Timed(Node):
    """Notes how long it thinks when its own task has ended and it goes for the next one."""

    took_ms: ClassVar[list[float]] = []

    def handle(
        self, event: Event, now: Instant, cause: str = "", *, more: bool = False
    ) -> list[Effect]:
        if not isinstance(event, ChildSucceeded | OutputsCopied):
            return super().handle(event, now, cause, more=more)
        began_s = time.process_time()
        effects = super().handle(event, now, cause, more=more)
        took_s = time.process_time() - began_s
        if any(isinstance(e, Send) and isinstance(e.message, TryDequeue) for e in effects):
            Timed.took_ms.append(took_s * 1000)
        return effects


def _plan(size: Size) -> Figures:
    Timed.took_ms = []
    flock = Flock(size.flock, node_class=Timed)
    steps = [Step(5.0 + number % 100 / 10) for number in range(size.tasks)]
    flock.submit("large", steps)
    flock.run_until(flock.world.now + 30.0)
    took_ms = Timed.took_ms
    return {
        "fresh_ms": median(_fresh_order_ms(flock) for _ in range(size.rounds)),
        "ready": size.tasks,
        "nodes": size.flock,
        "plans": len(took_ms),
        "median_ms": median(took_ms) if took_ms else 0.0,
        "p99_ms": quantile(took_ms, 0.99) if took_ms else 0.0,
        "max_ms": max(took_ms, default=0.0),
    }


def _fresh_order_ms(flock: Flock) -> float:
    """What it costs a node to ask its policy anew, with all that is still to be done."""
    node = flock.simulation.machines[0].node
    if node is None:
        return 0.0
    queue = node._queue
    queue._ask_anew = True
    began_s = time.process_time()
    for _ in queue.in_order():
        break
    return (time.process_time() - began_s) * 1000


def _join(tasks: int) -> Figures:
    specs = tuple(TaskSpec(f"{number:032x}", f"step {number}", "import") for number in range(tasks))
    spec = WorkflowSpec("large", "large", (1_750_000_000_000, 0), "n00", "Ann", specs)
    workflow = Workflow(spec, PriorityWish(1, "n00", 50))
    data = messages.encode(Enqueue((workflow,)))

    def joined() -> Table:
        message = messages.decode(data)
        table = Table(Settings())
        if isinstance(message, Enqueue):
            began_s = time.process_time()
            table.join(message.workflows)
            took_ms.append((time.process_time() - began_s) * 1000)
        return table

    took_ms: list[float] = []
    for _ in range(5):
        joined()
    return {
        "tasks": tasks,
        "bytes": len(data),
        "median_ms": median(took_ms),
        "kept_mb": _kept_mb(joined),
    }


def _start(workflows: int) -> Figures:
    persists = [finished(number) for number in range(workflows)]
    setup = NodeSetup(
        "n00",
        "acor",
        1,
        Capabilities(),
        workflows=tuple(each for persist in persists for each in persist.workflows),
        lives=tuple(each for persist in persists for each in persist.lives),
    )
    took_ms = []
    for _ in range(3):
        began_s = time.process_time()
        Node(setup)
        took_ms.append((time.process_time() - began_s) * 1000)
    return {
        "tasks": len(setup.lives),
        "median_ms": median(took_ms),
        "kept_mb": _kept_mb(lambda: Node(setup)),
    }


def _kept_mb(make: Callable[[], object]) -> float:
    """What is allocated because of what was made, while that is held."""
    tracemalloc.start()
    made = make()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del made
    return kept / 1e6


def judge(figures: Figures) -> list[Verdict]:
    """Only the simulator has a limit; how long a run takes decides how many are run."""
    rate = figures["simulator"]["events_per_s"]
    return [Verdict("simulator, events per second", rate, EVENTS_PER_S_MIN, at_least=True)]


def sheets(figures: Figures) -> list[Sheet]:
    simulator, node, plan = figures["simulator"], figures["node"], figures["plan"]
    join, start = figures["join"], figures["start"]
    spread = f"{simulator['least']:,.0f} to {simulator['greatest']:,.0f}"
    large = f"{plan['ready']:,} ready, {plan['nodes']} nodes"
    return [
        Sheet(
            "Speed on one core",
            ["what", "per second", "of"],
            [
                ["simulator, the mix", simulator["events_per_s"], f"{spread}"],
                *([f"  {name}", rate, "median"] for name, rate in simulator["pieces"].items()),
                ["a crowd, not in the mix", simulator["crowd_per_s"], "one run"],
                ["one node alone", node["per_s"], f"{node['handled']:,} events"],
            ],
        ),
        Sheet(
            "Large tables",
            ["what", "median ms", "max ms", "kept MB"],
            [
                [f"own task ended, {large}", plan["median_ms"], plan["max_ms"], None],
                ["  its policy asked anew", plan["fresh_ms"], None, None],
                [f"join a workflow of {join['tasks']:,}", join["median_ms"], None, join["kept_mb"]],
                [f"start with {start['tasks']:,}", start["median_ms"], None, start["kept_mb"]],
            ],
        ),
    ]
