"""What really happened in a run, kept beside the nodes and read by the checks.

Nodes only know what reached them; the checks know everything. Only facts are kept here: who was
touched by which fault and until when, what was started where, what was ever written as an end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from agent.protocol.records import Phase, RunName, TaskId, WorkflowId

if TYPE_CHECKING:
    from tests.sim.machine import Machine

AFTERMATH_S = 20.0
"""A fault may make a task start again this long after it ended."""


@dataclass(slots=True)
class Fault:
    """Something that touched a machine. ``until_s`` is open while it goes on."""

    kind: str
    since_s: float
    until_s: float = inf


@dataclass(frozen=True, slots=True)
class Start:
    machine: int
    run: RunName
    at_s: float


@dataclass(slots=True)
class Ledger:
    """All that the checks remember."""

    faults: dict[int, list[Fault]] = field(default_factory=dict)
    starts: dict[TaskId, list[Start]] = field(default_factory=dict)
    copies: dict[tuple[TaskId, int, int], list[Start]] = field(default_factory=dict)
    """Second runs on purpose, by task, generation and attempt."""
    started: set[tuple[TaskId, RunName]] = field(default_factory=set)
    written: dict[tuple[TaskId, RunName, int], Phase] = field(default_factory=dict)
    successes: dict[TaskId, dict[RunName, None]] = field(default_factory=dict)
    handovers: dict[TaskId, dict[RunName, None]] = field(default_factory=dict)
    failures: dict[TaskId, dict[RunName, None]] = field(default_factory=dict)
    floors: dict[TaskId, dict[int, None]] = field(default_factory=dict)
    retries: int = 0
    starts_at_home: dict[WorkflowId, int] = field(default_factory=dict)
    outcomes: dict[int, dict[TaskId, RunName]] = field(default_factory=dict)
    accepted: dict[WorkflowId, float] = field(default_factory=dict)
    excused: dict[WorkflowId, str] = field(default_factory=dict)
    disk_lost: bool = False
    disks_refused: dict[str, None] = field(default_factory=dict)
    orphan_promises: dict[tuple[int, TaskId, str, tuple[object, ...]], float] = field(
        default_factory=dict
    )
    calls: dict[str, int] = field(default_factory=dict)

    def booted(self, machine: Machine) -> None:
        """An agent started: what it knew of outcomes it must read off its records again."""
        self.outcomes[machine.index] = {}

    def fault(self, machine: Machine, kind: str, until_s: float = inf) -> Fault:
        fault = Fault(kind, machine.world.now, until_s)
        self.faults.setdefault(machine.index, []).append(fault)
        self.count(kind)
        return fault

    def fault_now(self, machine: Machine, kind: str) -> None:
        self.fault(machine, kind, machine.world.now)

    def count(self, what: str) -> None:
        self.calls[what] = self.calls.get(what, 0) + 1

    def faults_of(self, machine: int, since_s: float) -> int:
        """How many faults touched this machine since then, aftermath included."""
        faults = self.faults.get(machine, ())
        return sum(1 for fault in faults if fault.until_s + AFTERMATH_S >= since_s)

    def copies_allowed(self, copied: tuple[TaskId, int, int], most: int) -> int:
        """As many as the flock wants of one attempt, and one more for each fault that touched a
        machine since the first was begun or runs the task."""
        starts = [*self.starts.get(copied[0], ()), *self.copies[copied]]
        owners = {start.machine: start.at_s for start in reversed(starts)}
        return most + sum(self.faults_of(machine, at_s) for machine, at_s in owners.items())

    def starts_allowed(self, task: TaskId) -> int:
        """One, and one more for each reason that there is."""
        owners = {start.machine: start.at_s for start in reversed(self.starts[task])}
        return (
            1
            + len(self.failures.get(task, ()))
            + len(self.handovers.get(task, ()))
            + self.retries
            + self.starts_at_home.get(task.partition("/")[0], 0)
            + len(self.floors.get(task, ()))
            + sum(self.faults_of(machine, at_s) for machine, at_s in owners.items())
        )
