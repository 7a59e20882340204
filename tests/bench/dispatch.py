"""How soon things happen, in virtual time: a start, a start elsewhere, replicas equal again.

*Starts*: 1,000 tasks come one at a time at drawn nodes of a flock that has nothing else to do; from
the first node that reads a task as ready to the word that starts its process. Delays are the LAN's,
0.2 to 1 ms plus 0.3 of jitter; disks take no time here, so what flushes cost comes on top.

*Elsewhere*: a node dies while it runs a task, by its process (links are reset) or cut off from all
others (nobody is told, and it runs on); until the process of the task runs on another node, the
50 ms of its start included.

*Healing*: the flock is cut in two, each part is given half of 1,000 tasks and ends them, so that
each half of the table is new to the other side. Counted are the time until all tables are equal,
and everything sent until then but heartbeats. Both ends of a broken link dial again after 0.05 to
2 s, as drawn; so two times are told, since the network carries again, and since the first link
stands between the two parts. The limit is on the first, which includes the waiting to dial.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from statistics import median
from typing import Final

from agent.protocol.messages import Heartbeat
from tests.bench.messages import Meter
from tests.bench.report import Figures, Sheet, Verdict, quantile
from tests.sim.lan import Flock, Step, chain

WHAT: Final = "ready to running, killed to running elsewhere, replicas equal after healing"

MEDIAN_MS_MAX: Final = 10.0
P99_MS_MAX: Final = 100.0
KILLED_S_MAX: Final = 1.0
CUT_OFF_S_MAX: Final = 6.0
EQUAL_S_MAX: Final = 2.0

EVERY_S: Final = 0.4
SHORT_S: Final = 0.1
LONG_S: Final = 300.0
CUT_S: Final = 10_000.0
TASKS_PER_WORKFLOW: Final = 10
LOOK_S: Final = 0.01
GIVE_UP_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run: nodes of flocks, tasks started, trials, parts and tasks of healing."""

    flocks: tuple[int, ...]
    tasks: int
    trials: int
    parts: tuple[tuple[int, int], ...]
    healed_tasks: int


FULL: Final = Size((9, 30), 1_000, 12, ((4, 5), (15, 15)), 1_000)
QUICK: Final = Size((3,), 5, 1, ((1, 2),), 20)


def measure(*, quick: bool) -> Figures:
    size = QUICK if quick else FULL
    return {
        "starts": [_starts(nodes, size.tasks) for nodes in size.flocks],
        "elsewhere": [
            _elsewhere(nodes, size.trials, how)
            for nodes in size.flocks
            for how in ("killed", "cut off")
        ],
        "healing": [_healing(*parts, size.healed_tasks) for parts in size.parts],
    }


# Starts


def _starts(nodes: int, tasks: int) -> Figures:
    flock = Flock(nodes)
    draw = Random(f"starts {nodes}")
    began_s = flock.world.now
    for number in range(tasks):
        at = began_s + EVERY_S * number + draw.uniform(0.0, 0.1)
        flock.submit(f"w{number}", [Step(SHORT_S)], at=at, node=draw.randrange(nodes))
        flock.run_until(began_s + EVERY_S * (number + 1))
    flock.run()
    start_s = flock.simulation.plan.start_s
    took_ms = [(times.waited_s - start_s) * 1000 for times in flock.times.values()]
    return {
        "nodes": nodes,
        "tasks": tasks,
        "median_ms": median(took_ms),
        "p99_ms": quantile(took_ms, 0.99),
        "max_ms": max(took_ms),
    }


# Elsewhere


def _elsewhere(nodes: int, trials: int, how: str) -> Figures:
    took_s = [_trial(nodes, seed, how) for seed in range(1, trials + 1)]
    return {
        "nodes": nodes,
        "how": how,
        "trials": trials,
        "median_s": median(took_s),
        "max_s": max(took_s),
    }


def _trial(nodes: int, seed: int, how: str) -> float:
    """One task, its node lost at a drawn moment; seconds until it runs on another one."""
    flock = Flock(nodes, seed=seed)
    draw = Random(f"elsewhere {nodes} {seed}")
    task = flock.submit("w", [Step(LONG_S)], node=draw.randrange(nodes))[0]
    flock.run_until(flock.world.now + draw.uniform(5.0, 20.0))
    name = flock.times[task].started[0][1]
    host = next(m for m in flock.simulation.machines if m.plan.name == name)
    lost_s = flock.world.now
    if how == "killed":
        flock.kill(host.index)
    else:
        flock.simulation.faults.isolate(host.index, CUT_S)
    flock.run_until(lost_s + GIVE_UP_S)
    again = [at for at, where in flock.times[task].started if where != name]
    return again[0] - lost_s if again else GIVE_UP_S


# Healing


def _healing(one: int, other: int, tasks: int) -> Figures:
    nodes = one + other
    flock = Flock(nodes)
    between = [(low, high) for low in range(one) for high in range(one, nodes)]
    both_ways = tuple(between + [(high, low) for low, high in between])
    flock.simulation.faults.cut(both_ways, CUT_S)
    flock.run_until(flock.world.now + 10.0)
    draw = Random(f"healing {one} {other}")
    for number in range(tasks // TASKS_PER_WORKFLOW):
        node = draw.randrange(one) if number % 2 else one + draw.randrange(other)
        flock.submit(f"w{number:03}", chain(TASKS_PER_WORKFLOW, 0.2), node=node)
    if not flock.run():
        raise RuntimeError(f"{flock.open_tasks} tasks have not ended")
    flock.run_until(flock.world.now + 5.0)
    different = len(_hashes(flock))
    meter = Meter(flock)
    healed_s = flock.world.now
    flock.simulation.network.heal_all()
    linked_s = _until_linked(flock, one)
    _until_equal(flock)
    beats = Heartbeat.__name__
    return {
        "parts": f"{one} | {other}",
        "tasks": tasks,
        "tables_before": different,
        "since_healed_s": flock.world.now - healed_s,
        "since_linked_s": flock.world.now - linked_s,
        "messages": sum(n for kind, n in meter.messages.items() if kind != beats),
        "bytes": sum(n for kind, n in meter.bytes.items() if kind != beats),
        "by_kind": dict(sorted(meter.bytes.items())),
    }


def _until_linked(flock: Flock, one: int) -> float:
    """Until some machine of the first part has a link to one of the second."""
    far = {machine.node_id for machine in flock.simulation.machines[one:]}
    near = flock.simulation.machines[:one]
    give_up_s = flock.world.now + GIVE_UP_S
    while not any(far & set(machine.channels) for machine in near):
        if flock.world.now > give_up_s:
            raise RuntimeError("no link between the two parts")
        flock.run_until(flock.world.now + LOOK_S)
    return flock.world.now


def _until_equal(flock: Flock) -> None:
    give_up_s = flock.world.now + GIVE_UP_S
    while len(_hashes(flock)) > 1 and flock.world.now < give_up_s:
        flock.run_until(flock.world.now + LOOK_S)


def _hashes(flock: Flock) -> set[int]:
    return {m.node.table.hash for m in flock.simulation.machines if m.node is not None}


def judge(figures: Figures) -> list[Verdict]:
    starts, healing = figures["starts"], figures["healing"]
    killed = [each for each in figures["elsewhere"] if each["how"] == "killed"]
    cut_off = [each for each in figures["elsewhere"] if each["how"] == "cut off"]
    return [
        Verdict("start, median", max(e["median_ms"] for e in starts), MEDIAN_MS_MAX, "ms"),
        Verdict("start, p99", max(e["p99_ms"] for e in starts), P99_MS_MAX, "ms"),
        Verdict("killed, runs elsewhere", max(e["max_s"] for e in killed), KILLED_S_MAX, "s"),
        Verdict("cut off, runs elsewhere", max(e["max_s"] for e in cut_off), CUT_OFF_S_MAX, "s"),
        Verdict("equal since healed", max(e["since_healed_s"] for e in healing), EQUAL_S_MAX, "s"),
    ]


def sheets(figures: Figures) -> list[Sheet]:
    return [
        Sheet(
            "Ready to running",
            ["nodes", "tasks", "median ms", "p99 ms", "max ms"],
            [
                [e["nodes"], e["tasks"], e["median_ms"], e["p99_ms"], e["max_ms"]]
                for e in figures["starts"]
            ],
        ),
        Sheet(
            "Runs elsewhere after its node was lost",
            ["nodes", "how", "trials", "median s", "max s"],
            [
                [e["nodes"], e["how"], e["trials"], e["median_s"], e["max_s"]]
                for e in figures["elsewhere"]
            ],
        ),
        Sheet(
            "Replicas equal after healing",
            ["parts", "tasks", "since healed s", "since linked s", "messages", "bytes"],
            [
                [
                    e["parts"],
                    e["tasks"],
                    e["since_healed_s"],
                    e["since_linked_s"],
                    e["messages"],
                    e["bytes"],
                ]
                for e in figures["healing"]
            ],
        ),
    ]
