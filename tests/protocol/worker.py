"""A node, alone, whose parts a test asks one by one: its runs, peers and clock are what the test says."""

from __future__ import annotations

from typing import Any

from agent.protocol.clock import Instant, TimerKind
from agent.protocol.core import Peer
from agent.protocol.events import PresenceChanged
from agent.protocol.messages import Capabilities, Status
from agent.protocol.node import Node, NodeSetup
from agent.protocol.own_run import OwnRun, Stage
from agent.protocol.records import (
    Claim,
    Life,
    Phase,
    PriorityWish,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    Workflow,
    WorkflowSpec,
    run_name,
)
from agent.protocol.settings import Settings

WALL_MS = 1_800_000_000_000
LONG_MS = 600_000
RUNNING = Running()


class Worker:
    """A node that has joined, and does nothing by itself."""

    def __init__(self, slots: int = 1, **settings: Any) -> None:
        able = Capabilities(programs=("mill",))
        self.node = Node(NodeSetup("me", "me", slots, able, Settings(**settings)))
        self.core, self.runs = self.node._core, self.node._runs
        self.core.joined = True
        self.now_s = 100.0
        self.later(0.0)

    def later(self, seconds: float) -> None:
        self.now_s += seconds
        self.core.set_now(Instant(self.now_s, WALL_MS + round(self.now_s * 1000)), "")

    def ready(self, task: str, priority: int = 50, **more: Any) -> TaskSpec:
        """A task that waits for somebody to run it, or for what it is ``after``."""
        spec = TaskSpec(task, task, "mill", **{"expected_ms": LONG_MS, **more})
        work = WorkflowSpec(f"w {task}", task, (1, 0), "me", "ana", (spec,))
        self.core.learn("", [Workflow(work, PriorityWish(1, "me", priority))])
        return spec

    def run(self, task: str, stage: Stage, priority: int = 50, **more: Any) -> OwnRun:
        """A run of this node that is in this stage."""
        spec = self.ready(task, priority, **more)
        run = self.begun(task)
        own = self.runs.mine[task] = OwnRun(task, spec, run, stage, left_said_s=self.now_s)
        return own

    def begun(self, task: str, host: str = "me", phase: Phase = RUNNING) -> Run:
        """Somebody runs the task, as a record says."""
        claim, incarnation = Claim(1, (WALL_MS, 0), host), self.core.incarnation
        run = Run(1, 1, host, incarnation, claim, LONG_MS, phase=phase, revision=2)
        self.core.learn("", lives=[TaskLife(task, Life(1, runs=(run,)))])
        return run

    def tell(self, word: type, own: OwnRun, *more: Any) -> None:
        self.runs._word(word(own.task, run_name(own.run), *more))

    def effects(self, *kinds: type) -> list[Any]:
        return [each for each in self.core.take_effects() if isinstance(each, kinds)]

    def volunteers(self) -> None:
        """Its owner lets it help."""
        self.core.presence = PresenceChanged(True, False)

    def due_in(self, kind: TimerKind) -> float:
        """In how many seconds the timer of this kind is due."""
        return self.core.timers._deadlines[kind, ""] - self.now_s

    def peer(
        self, name: str, *, slots: int = 1, willing: bool = True, beat_s: float = 0.5, **more: Any
    ) -> Peer:
        """A machine that is linked and has greeted, or what else is said of it."""
        able = Capabilities(programs=("mill",))
        told = Status(1, 1, name, "1", slots, willing, False, "", 0, 0, able, {})
        about = {"greeted": True, "status": told, **more}
        self.core.peers[name] = peer = Peer(name, self.now_s, self.now_s, beat_s, **about)
        return peer

    def phase(self, task: str) -> object:
        return self.core.table.life(task).runs[-1].phase
