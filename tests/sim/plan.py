"""The plan of a run: everything that chance decides before the first event.

The seed draws the flock, its work and its misfortunes in advance. What is drawn while the run goes
on (jitter of messages, which holder is asked) only fills in small print.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Self

from agent.protocol.settings import Settings
from tests.sim.keys import SEEDS_PER_SIGNED, SIGNED_SEED
from tests.sim.machine import MachinePlan
from tests.sim.network import NetworkPlan
from tests.sim.work import Behaviour, Job, Workshop, WorkStyle, draw_capabilities

NAMES = (
    "acor",
    "andorinha",
    "corredor",
    "cotovia",
    "gaviao",
    "gralha",
    "grifo",
    "pato",
    "rouxinol",
    "abelharuco",
    "alveola",
    "carrica",
    "cegonha",
    "chapim",
    "coruja",
    "cuco",
    "estorninho",
    "falcao",
    "garca",
    "melro",
    "milhafre",
    "mocho",
    "pardal",
    "pega",
    "perdiz",
    "picanco",
    "pintassilgo",
    "poupa",
    "tordo",
    "verdilhao",
)
FAST = Settings(hand_back_s=12.0, outputs_lost_after_s=12.0, copy_after_s=3.0)
SEEDS_PER_SLOW_DISKS = 4
SLOW_SEED = 2
"""Disks are slow in the runs of every fourth seed, and not in those with turns (``machine``)."""
Happening = tuple[float, str, tuple[object, ...]]


@dataclass(slots=True)
class Plan:
    """What a run is made of. ``until_s`` ends the misfortunes; ``exact``: none of them counts."""

    seed: int
    kind: str
    settings: Settings
    machines: list[MachinePlan] = field(default_factory=list)
    network: NetworkPlan = field(default_factory=NetworkPlan)
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    happenings: list[Happening] = field(default_factory=list)
    broken: list[tuple[int, int]] = field(default_factory=list)
    until_s: float = 30.0
    settle_s: float = 400.0
    exact: bool = False
    coded: bool = False
    gates_are_marked: bool = True
    slow_disks: bool = False
    signed: bool = False
    start_s: float = 0.05
    progress_marks: int = 1
    fetch_s: tuple[float, float] = (0.002, 0.05)
    fetch_breaks: float = 0.0
    tick_s: float = 1.0
    """What is looked at now and then is looked at so often."""


class Draft:
    """A plan being drawn. Each class of scenarios calls what it needs of this."""

    def __init__(self, seed: int, kind: str) -> None:
        self.draw = Random(f"wingbeat {kind} {seed}")
        slow_disks = seed % SEEDS_PER_SLOW_DISKS == SLOW_SEED
        self.plan = Plan(seed, kind, FAST, slow_disks=slow_disks)
        self.plan.signed = seed % SEEDS_PER_SIGNED == SIGNED_SEED and kind != "submitted-twice"
        self.plan.coded = self.draw.random() < 0.125
        self.style = WorkStyle()
        self.workshop = Workshop(self.draw, self.style, [])

    # Flock and work

    def flock(self, least: int, most: int, *, slots: int = 2) -> Self:
        """Machines with names, clocks a little apart, booted together within a second."""
        draw = self.draw
        for index in range(draw.randint(least, most)):
            self.plan.machines.append(
                MachinePlan(
                    node=f"n{index:02}",
                    name=NAMES[index],
                    slots=draw.randint(1, slots),
                    capabilities=draw_capabilities(draw),
                    boot_s=draw.uniform(0.0, 1.0),
                    wall_offset_ms=draw.randint(-2_000, 2_000),
                    clock_rate=1.0 + draw.uniform(-5e-5, 5e-5),
                    wall_rate=1.0 + draw.uniform(-5e-5, 5e-5),
                    slowness=draw.uniform(0.8, 1.3),
                )
            )
        self.workshop = Workshop(draw, self.style, [m.node for m in self.plan.machines])
        return self

    def any_flock(self) -> Self:
        """Mostly a few machines, now and then one, seldom thirty."""
        chance = self.draw.random()
        sizes = ((0.04, (1, 1)), (0.65, (2, 5)), (0.97, (6, 9)), (1.0, (10, 30)))
        return self.flock(*next(size for share, size in sizes if chance < share))

    def work(self, **style: object) -> None:
        """Workflows submitted at any node in the first part of the run."""
        for name, value in style.items():
            setattr(self.style, name, value)
        latest = max(1.0, self.plan.until_s * 0.6)
        for _ in range(self.draw.randint(*self.style.workflows)):
            self.submit(self.draw.uniform(0.2, latest))

    def submit(self, at: float, machine: int | None = None, priority: int | None = None) -> Job:
        """One workflow more; its client turns to another node when this one is down."""
        job = self.workshop.job(priority)
        self.plan.behaviours = self.workshop.behaviours
        self.happen(at, "submit", job, self.one() if machine is None else machine)
        return job

    def lasts(self, least: float, most: float) -> Self:
        """How long misfortunes go on."""
        self.plan.until_s = self.draw.uniform(least, most)
        return self

    # Chance

    @property
    def size(self) -> int:
        """How many machines there are."""
        return len(self.plan.machines)

    def one(self) -> int:
        """Some machine."""
        return self.draw.randrange(self.size)

    def two(self) -> tuple[int, int]:
        """Two different machines; the same one twice when there is only one."""
        if self.size < 2:
            return 0, 0
        first, second = self.draw.sample(range(self.size), 2)
        return first, second

    def some(self) -> list[int]:
        """At least one machine, never all of them unless there is only one."""
        count = self.draw.randint(1, max(1, self.size - 1))
        return sorted(self.draw.sample(range(self.size), count))

    def when(self, least: float = 0.5) -> float:
        """Some time before the misfortunes end."""
        return self.draw.uniform(min(least, self.plan.until_s), self.plan.until_s)

    def short(self, least: float = 0.3, most: float = 10.0) -> float:
        """A duration, short ones more often."""
        return least * float((most / least) ** self.draw.random())

    def maybe(self, share: float) -> bool:
        """A chance."""
        return self.draw.random() < share

    def times(self, least: int, most: int) -> range:
        """So many times."""
        return range(self.draw.randint(least, most))

    def often(self, least: int, most: int, act: Callable[[], object]) -> None:
        """Do something so many times."""
        for _ in self.times(least, most):
            act()

    # Misfortunes; what each verb does is in ``faults`` and ``clients``

    def happen(self, at: float, verb: str, *details: object) -> None:
        """Plan one thing."""
        self.plan.happenings.append((at, verb, details))

    def crash(self, machine: int | None = None, at: float | None = None) -> None:
        """A machine dies, mostly to come back, sometimes before anybody can notice."""
        down_s = self.draw.choice((0.05, 0.6, self.short(0.3, 20.0), self.short(3.0, 20.0)))
        silent = self.maybe(0.4)
        disk = "kept" if self.maybe(0.8) else self.draw.choice(("lost", "older"))
        who = self.one() if machine is None else machine
        self.happen(self.when() if at is None else at, "crash", who, down_s, silent, disk)

    def cut(self, at: float | None = None, for_s: float | None = None) -> None:
        """A partition: whole, partial, or of one direction only."""
        side = self.some()
        rest = [m for m in range(self.size) if m not in side]
        if not rest:
            return
        shape = self.draw.choice(("whole", "whole", "partial", "one way"))
        pairs = [(a, b) for a in side for b in rest]
        if shape == "partial":
            pairs = [pair for pair in pairs if self.maybe(0.6)] or pairs[:1]
        if shape != "one way":
            pairs += [(b, a) for a, b in pairs]
        lasts = self.short(0.5, 15.0) if for_s is None else for_s
        self.happen(self.when() if at is None else at, "cut", tuple(pairs), lasts)

    def break_links(self, most: int) -> None:
        """Some pairs never get a link; each of them still has a neighbour in common."""
        pairs = [(a, b) for a in range(self.size) for b in range(a + 1, self.size)]
        self.draw.shuffle(pairs)
        broken: list[tuple[int, int]] = []
        for pair in pairs:
            if len(broken) < self.draw.randint(1, most) and _all_near(self.size, [*broken, pair]):
                broken.append(pair)
        self.plan.broken = sorted(broken)

    def owner_visit(self, at: float | None = None, for_s: float | None = None) -> None:
        """An owner comes back to the machine, and leaves again later."""
        machine = self.one()
        begins = self.when() if at is None else at
        self.happen(begins, "owner", machine, True)
        lasts = self.short(0.2, 30.0) if for_s is None else for_s
        self.happen(begins + lasts, "owner", machine, False)


def _all_near(size: int, broken: list[tuple[int, int]]) -> bool:
    """Every machine reaches every other directly or through one in between."""
    cut = {*broken, *((b, a) for a, b in broken)}
    return all(
        any(
            (one, via) not in cut and (via, other) not in cut
            for via in range(size)
            if via not in (one, other)
        )
        for one, other in broken
    )
