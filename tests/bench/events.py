"""What an event costs a node of a large flock: 2,000 ready tasks, 100 nodes.

Programs take unequally long, and machines too, and no node is told either; so everything is weighed
that makes one machine better than another. The real protocol runs on a simulated LAN until a share of
the tasks has ended, and every node's answer to every event is timed alone, in processor time: what it
is told by peers, what it asks them, its own starts and ends, its timers. Left out is the submission, by
which each takes all tasks in at once.

*A plan* is an event in which the policy is asked anew about all that is still to be done.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Final

from agent.protocol.clock import Instant
from agent.protocol.effects import Effect
from agent.protocol.events import Event
from agent.protocol.node import Node
from tests.bench.report import Figures, Sheet, Verdict, quantile
from tests.sim.lan import Flock, Step
from tests.sim.work import PROGRAMS

WHAT: Final = "what an event costs with 2,000 ready tasks and 100 nodes, and what a plan"
EVENT_MS_MAX: Final = 5.0
PLAN_MS_MAX: Final = 250.0
LENGTHS_S: Final = (2.0, 30.0)
SLOWNESS: Final = (1.0, 0.5, 2.0)


@dataclass(frozen=True, slots=True)
class Size:
    nodes: int
    tasks: int
    ended: int


FULL: Final = Size(100, 2_000, 200)
QUICK: Final = Size(3, 24, 12)


class Timed(Node):
    """Notes what each event costs it, and in which it asked its policy."""

    events_ms: ClassVar[dict[str, list[float]]] = {}
    plans_ms: ClassVar[list[float]] = []
    counts: ClassVar[bool] = False

    def handle(
        self, event: Event, now: Instant, cause: str = "", *, more: bool = False
    ) -> list[Effect]:
        asked_s = self._queue._asked_s
        began_s = time.process_time()
        effects = super().handle(event, now, cause, more=more)
        took_ms = 1000 * (time.process_time() - began_s)
        if Timed.counts:
            message = getattr(event, "message", event)
            Timed.events_ms.setdefault(type(message).__name__, []).append(took_ms)
            if self._queue._asked_s != asked_s:
                Timed.plans_ms.append(took_ms)
        return effects


def measure(*, quick: bool) -> Figures:
    size = QUICK if quick else FULL
    Timed.events_ms, Timed.plans_ms, Timed.counts = {}, [], False
    draw = Random("events")
    flock = Flock(
        size.nodes,
        slowness=[draw.choice(SLOWNESS) for _ in range(size.nodes)],
        names=[f"host{number}" for number in range(size.nodes)],
        node_class=Timed,
    )
    lengths_s = {program: draw.uniform(*LENGTHS_S) for program in PROGRAMS}
    programs = draw.choices(PROGRAMS, k=size.tasks)
    flock.submit("large", [Step(lengths_s[each], (), each, told_s=0.0) for each in programs])
    flock.run_until(flock.world.now + 1.0)
    Timed.counts = True
    gc.collect()
    gc.disable()  # a search through a hundred nodes is none that one of them makes
    try:
        while size.tasks - flock.open_tasks < size.ended:
            flock.run_until(flock.world.now + 1.0)
    finally:
        gc.enable()
    all_ms = [each for kind in Timed.events_ms.values() for each in kind]
    return {
        "nodes": size.nodes,
        "ready": size.tasks,
        "ended": size.tasks - flock.open_tasks,
        "events": _figures(all_ms),
        "plans": _figures(Timed.plans_ms or [0.0]),
        "kinds": {kind: _figures(ms) for kind, ms in sorted(Timed.events_ms.items())},
    }


def _figures(ms: list[float]) -> Figures:
    return {
        "count": len(ms),
        "mean_ms": sum(ms) / len(ms),
        "p99_ms": quantile(ms, 0.99),
        "max_ms": max(ms),
    }


def judge(figures: Figures) -> list[Verdict]:
    return [
        Verdict("an event, 99 of 100", figures["events"]["p99_ms"], EVENT_MS_MAX, "ms"),
        Verdict("the dearest, a whole plan", figures["events"]["max_ms"], PLAN_MS_MAX, "ms"),
    ]


def sheets(figures: Figures) -> list[Sheet]:
    rows = [("all events", figures["events"]), ("asked its policy", figures["plans"])]
    rows += sorted(
        figures["kinds"].items(), key=lambda each: -each[1]["count"] * each[1]["mean_ms"]
    )
    columns = ["what", "count", "mean ms", "99 of 100", "max ms"]
    title = f"{figures['ready']:,} tasks, {figures['nodes']} nodes, {figures['ended']} ended"
    return [Sheet(title, columns, [[name, *told.values()] for name, told in rows])]
