"""Work that is thrown away in an office whose owners come and go, in virtual time.

Thirty machines with owners as ``month_owners`` draws them, or as a raw trace tells (``--trace``: lines
of machine, from, to, in seconds, while it is free), and the real ``Node`` on each, with its links,
claims, records and timers; only the beats on the links are rarer (one in five minutes), as nobody
dies here. A day of that costs half a minute, so the month is two working weeks, each drawn from a
seed of its own (``--days 28 --seeds 1`` is one in a piece). Before each its machines have been
watched for four weeks (``--watched``), in which no work is done; of a shorter trace for what is
left.

*Work*: workflows of four shapes, five to thirty tasks of four programs that take 1, 2, 5 and 10 min
in the middle, spread by a third and never outside 1 to 15 min. Of each the middle is told, and one
in four saves its state four times on its way. In working hours as much is submitted as takes 0.6 of
what is free then, at other times 0.3. As workflows come whole, that is often more than there are free machines.

*Thrown away* is what programs have run less what one run of each would have taken, by that. An
owner *waited* when a program still ran a second after he came back. A workflow's makespan is
counted from its submission.
"""

from __future__ import annotations

from argparse import BooleanOptionalAction
from math import inf
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any, Final

from agent.presence.absences import Absences, Spell
from agent.protocol.settings import Settings
from tests.bench.month_owners import DAY_S, HOUR_S, Spells, drawn, free_s, read
from tests.bench.report import Figures, Sheet, Verdict
from tests.sim.lan import JOINED_S, Flock, Step
from tests.sim.machine import Machine
from tests.sim.plan import NAMES

WHAT: Final = "work thrown away on 30 office machines whose owners come and go"
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "--trace": {"type": Path, "help": "a raw trace of when machines are free"},
    "--machines": {"type": int, "default": 30, "help": "so many, the first of a trace"},
    "--days": {"type": int, "default": 5, "help": "of work, for each seed"},
    "--watched": {"type": int, "default": 28, "help": "days before, without work"},
    "--seeds": {"type": int, "default": 2, "help": "how many are drawn"},
    "--first": {"type": int, "default": 1, "help": "seed"},
    "--learn": {
        "action": BooleanOptionalAction,
        "default": None,
        "help": "only with, or only without, what machines learn of their owners",
    },
    "--busy": {"type": float, "default": 0.6, "help": "share of what is free that is asked for"},
}
MIDDLES_S: Final = (60.0, 120.0, 300.0, 600.0)
SPREAD: Final = 0.33
SHORTEST_S: Final = 60.0
LONGEST_S: Final = 900.0
OTHER_HOURS: Final = 0.5
"""Of the share in working hours."""
LEFT_OVER_S: Final = 3 * DAY_S
"""So long everything may still need after the last submission; owners have gone for good by then."""
RARELY: Final = Settings(
    heartbeat_s=300.0,
    beat_s_max=600.0,
    suspect_after_s=2000.0,
    down_after_s=4000.0,
    retention_ms=6 * 3_600_000,
)
TELLS_S: Final = 300.0
"""So often a machine looks whether its curve has changed."""
EVENTS_MAX: Final = 400_000_000


class Office:
    """A flock whose machines are free when they are told to be."""

    def __init__(
        self, spells: list[Spells], seed: int, watched_s: float, days: int, *, learn: bool
    ) -> None:
        self.flock = Flock(len(spells), seed=seed, settings=RARELY, names=_names(len(spells)))
        self.spells, self.watched_s, self.days = spells, watched_s, days
        self.world, self.waited = self.flock.world, 0
        plan = self.flock.simulation.plan
        self.world.events_max, plan.progress_marks, plan.tick_s = EVENTS_MAX, 4, inf
        self.zero_s = watched_s - JOINED_S
        self.learned = [Absences() for _ in spells] if learn else []
        self.since_s = [0.0] * len(spells)
        for machine, each in zip(self.flock.simulation.machines, spells, strict=True):
            self._play(machine, each)

    def _learn(self, machine: Machine) -> None:
        """The machine's own history tells how likely it stays free, as in the live agent."""
        if not self.learned:
            return
        absences, now_s = self.learned[machine.index], self.world.now + self.zero_s
        machine.stays = absences.stays(now_s)
        machine.lasts = (
            () if machine.owner_present else absences.curve(now_s, self.since_s[machine.index])
        )

    def _tell_again(self, machine: Machine, _: object) -> None:
        before = machine.lasts
        self._learn(machine)
        if machine.lasts != before:
            machine.tell_presence()
        self.world.after(TELLS_S, self._tell_again, machine)

    def _play(self, machine: Machine, spells: Spells) -> None:
        ends_s = self.watched_s + self.days * DAY_S
        if self.learned:
            for each in spells:
                if each[1] <= self.watched_s:
                    self.learned[machine.index].note(Spell(*each))
            self.world.after(TELLS_S, self._tell_again, machine)
        within = [each for each in spells if each[0] < ends_s and each[1] > self.watched_s]
        if not (within and within[0][0] <= self.watched_s):
            self.world.at(self.world.now, self._owner, machine, None)
        for begins_s, over_s in within:
            starts_s = max(begins_s - self.zero_s, self.world.now)
            self.world.at(starts_s, self._owner, machine, begins_s)
            if over_s < ends_s:
                self.world.at(over_s - self.zero_s, self._owner, machine, None)
        self.world.at(ends_s - self.zero_s, self._owner, machine, ends_s)

    def _owner(self, machine: Machine, free_since_s: float | None) -> None:
        """He leaves, or is away since then; None: he is back."""
        present, since_s = free_since_s is None, self.since_s[machine.index]
        if present and self.learned and not machine.owner_present:
            self.learned[machine.index].note(Spell(since_s, self.world.now + self.zero_s))
        if free_since_s is not None:
            self.since_s[machine.index] = free_since_s
        machine.owner_present, machine.volunteering = present, not present
        self._learn(machine)
        machine.tell_presence()
        if present:
            self.world.after(1.0, self._look, machine)

    def _look(self, machine: Machine, _: object) -> None:
        if machine.owner_present:
            self.waited += any(not each.paused for each in machine.children.living.values())


def measure(
    *,
    quick: bool,
    trace: Path | None = None,
    machines: int = 30,
    days: int = 5,
    watched: int = 28,
    seeds: int = 2,
    first: int = 1,
    learn: bool | None = None,
    busy: float = 0.6,
) -> Figures:
    """Let the work of each seed be done, and add it up."""
    if quick:
        machines, days, watched, seeds = 6, 1, 7, 1
    rows = []
    for seed in range(first, first + seeds):
        spells = read(trace)[:machines] if trace else drawn(seed, machines, watched + days)
        ends_s = max(spell[1] for each in spells for spell in each)
        watched_s = max(0.0, min(watched * DAY_S, ends_s - days * DAY_S))
        for knows in (False, True) if learn is None else (learn,):
            office = Office(spells, seed, watched_s, days, learn=knows)
            rows.append(_worked_off(office, seed, _submit(office, seed, busy)))
    return {"rows": rows}


def _worked_off(office: Office, seed: int, lengths_s: dict[str, float]) -> Figures:
    flock, days = office.flock, office.days
    done = flock.run(days * DAY_S + LEFT_OVER_S)
    ran_s = sum(each.children.ran_s for each in flock.simulation.machines)
    ended = [name for name, times in flock.times.items() if times.ended_s is not None]
    useful_s = sum(lengths_s[name] for name in ended)
    spans = sorted(flock.makespan_s(each) for each in flock.submitted_s) if done else [inf]
    return {
        "seed": seed,
        "learned": bool(office.learned),
        "tasks": len(lengths_s),
        "ended": len(ended),
        "useful_h": useful_s / HOUR_S,
        "thrown_h": max(0.0, ran_s - useful_s) / HOUR_S,
        "waited": office.waited,
        "makespan_min": mean(spans) / 60,
        "slowest_min": spans[int(len(spans) * 0.95)] / 60,
        "events": flock.world.events,
    }


def _names(count: int) -> list[str]:
    return [f"{NAMES[n % len(NAMES)]}{n // len(NAMES) or ''}" for n in range(count)]


def _submit(office: Office, seed: int, busy: float) -> dict[str, float]:
    """Plan all workflows; return how long each task takes."""
    draw, flock = Random(f"month {seed}"), office.flock
    lengths_s: dict[str, float] = {}
    for hour in range(office.days * 24):
        begins_s = office.watched_s + hour * HOUR_S
        weekday, of_day = int(begins_s // DAY_S) % 7, int(begins_s % DAY_S / HOUR_S)
        share = busy if weekday < 5 and 8 <= of_day < 18 else busy * OTHER_HOURS
        free = sum(free_s(each, begins_s, begins_s + HOUR_S) for each in office.spells)
        owed_s = free * share * draw.expovariate(1.0)
        while owed_s > 0.0:
            steps = _workflow(draw)
            owed_s -= sum(step.duration_s for step in steps)
            at_s = max(begins_s + draw.random() * HOUR_S - office.zero_s, flock.world.now)
            name = f"w{len(flock.submitted_s):05}"
            node = draw.randrange(len(office.spells))
            tasks = flock.submit(name, steps, at=at_s, node=node)
            lengths_s.update(
                {task: step.duration_s for task, step in zip(tasks, steps, strict=True)}
            )
    return lengths_s


def _workflow(draw: Random) -> list[Step]:
    """One of four shapes: all at once, one behind all, some chains, layers."""
    size, shape = draw.randint(5, 30), draw.randrange(4)
    if shape == 0:
        needs: list[tuple[int, ...]] = [()] * size
    elif shape == 1:
        needs = [*[()] * (size - 1), tuple(range(size - 1))]
    elif shape == 2:
        needs = [(n - 5,) if n >= 5 else () for n in range(size)]
    else:
        needs = [tuple(range(n - n % 6 - 6, n - n % 6)) if n >= 6 else () for n in range(size)]
    program = [draw.randrange(len(MIDDLES_S)) for _ in range(3)]
    return [_step(draw, draw.choice(program), each) for each in needs]


def _step(draw: Random, program: int, needs: tuple[int, ...]) -> Step:
    middle_s = MIDDLES_S[program]
    length_s = min(max(middle_s * draw.lognormvariate(0.0, SPREAD), SHORTEST_S), LONGEST_S)
    return Step(length_s, needs, told_s=middle_s)


def judge(figures: Figures) -> list[Verdict]:
    rows = figures["rows"]
    return [
        Verdict("owners waited for", sum(row["waited"] for row in rows), 0),
        Verdict("tasks that did not end", sum(row["tasks"] - row["ended"] for row in rows), 0),
    ]


def sheets(figures: Figures) -> list[Sheet]:
    rows = figures["rows"]
    columns = [
        "seed",
        "learned",
        "tasks",
        "useful h",
        "thrown away h",
        "share",
        "makespan min",
        "95 %",
    ]
    table = [
        [
            *(row["seed"], str(row["learned"]), row["tasks"], row["useful_h"], row["thrown_h"]),
            *(row["thrown_h"] / max(row["useful_h"], 1e-9), row["makespan_min"]),
            row["slowest_min"],
        ]
        for row in rows
    ]
    return [Sheet(WHAT, columns, table)]
