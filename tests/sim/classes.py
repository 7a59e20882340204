"""Classes of scenarios: what kind of trouble a run is about, and how often it is drawn.

A run that mixes everything finds little, because one misfortune hides the next. So most classes
are about one thing, and ``mixed`` is there for what only comes together by accident.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.protocol.records import PRIORITY_INTERACTIVE, PRIORITY_LOW
from tests.sim import groups
from tests.sim.keys import ADMINISTRATORS
from tests.sim.liars import LIES
from tests.sim.plan import Draft, Plan
from tests.sim.traps import ACTIONS


@dataclass(frozen=True, slots=True)
class ScenarioClass:
    """How to draw it, and its share of the seeds."""

    draw: Callable[[Draft], None]
    weight: int = 2


def draw_plan(seed: int, kind: str) -> Plan:
    draft = Draft(seed, kind)
    CLASSES[kind].draw(draft)
    return draft.plan


def calm(draft: Draft) -> None:
    """No fault; newcomers, a missing link, short stalls: exactly one start per success."""
    draft.plan.exact = True
    draft.any_flock().lasts(15.0, 60.0).work(flaky=0.1)
    if draft.size > 2 and draft.maybe(0.4):
        draft.break_links(2)
    for _ in draft.times(0, 5):
        draft.happen(draft.when(), "stall", draft.one(), draft.short(0.05, 1.8))
    _newcomers(draft, 0.3)


def seats(draft: Draft) -> None:
    """No fault; work that needs seats of the flock, of which there are fewer than would run."""
    draft.plan.exact = True
    draft.any_flock().lasts(12.0, 40.0)
    draft.work(workflows=(2, 6), duration_s=(0.2, 3.0), seats=0.7, flaky=0.1)
    if draft.size > 2 and draft.maybe(0.3):
        draft.break_links(1)
    for _ in draft.times(0, 5):
        draft.happen(draft.when(), "stall", draft.one(), draft.short(0.05, 1.8))
    _newcomers(draft, 0.3)


def seats_at_risk(draft: Draft) -> None:
    """The same with claimants that die, owners that return, cuts and wishes."""
    draft.any_flock().lasts(22.5, 60.0)
    draft.work(workflows=(2, 6), duration_s=(0.2, 4.0), seats=0.7)
    for _ in draft.times(0, 5):
        action = draft.draw.choice(ACTIONS)
        draft.happen(draft.when(0.1), "trap", draft.one(), "claimed", action)
    draft.often(0, 4, draft.crash)
    draft.often(0, 3, draft.cut)
    draft.often(0, 4, draft.owner_visit)
    draft.often(0, 4, lambda: groups.wish(draft))
    _newcomers(draft, 0.15)


def urgent_steps(draft: Draft) -> None:
    """Steps that are more urgent than their workflow, or less, from the start or as people wish."""
    draft.any_flock().lasts(15.0, 60.0)
    draft.work(workflows=(3, 8), duration_s=(0.2, 4.0), interactive=0.3, own_priority=0.3)
    for _ in draft.times(1, 6):
        value = draft.draw.choice((1, PRIORITY_LOW, 99, PRIORITY_INTERACTIVE))
        part = draft.draw.choice((0.2, 0.5, 1.0))
        draft.happen(draft.when(), "prioritise", draft.draw.randrange(8), draft.one(), value, part)
    draft.often(0, 3, draft.owner_visit)
    draft.often(0, 2, draft.cut)
    draft.often(0, 2, draft.crash)
    _newcomers(draft, 0.15)


def copies(draft: Draft) -> None:
    """Little work of known length on machines that differ and whose owners come: second runs."""
    draft.any_flock().lasts(30.0, 80.0)
    for machine in draft.plan.machines:
        machine.slowness = draft.draw.choice((0.5, 1.0, 3.0))
    draft.work(workflows=(2, 5), tasks=(1, 5), duration_s=(4.0, 20.0), flaky=0.15)
    for _ in draft.times(2, 8):
        draft.owner_visit(for_s=draft.short(4.0, 40.0))
    draft.often(0, 2, draft.crash)
    draft.often(0, 2, draft.cut)
    draft.often(0, 2, lambda: groups.wish(draft))
    _newcomers(draft, 0.1)


def calm_copies(draft: Draft) -> None:
    """The same with no fault but owners that come and go."""
    draft.plan.exact = True
    draft.any_flock().lasts(30.0, 80.0)
    for machine in draft.plan.machines:
        machine.slowness = draft.draw.choice((0.5, 1.0, 3.0))
    draft.work(workflows=(2, 5), tasks=(1, 5), duration_s=(4.0, 20.0), flaky=0.15)
    for _ in draft.times(2, 8):
        draft.owner_visit(for_s=draft.short(4.0, 40.0))


def _newcomers(draft: Draft, share: float) -> None:
    for machine in draft.plan.machines[1:]:
        if draft.maybe(share):
            machine.newcomer = True
            machine.boot_s = draft.when(2.0)


def owners(draft: Draft) -> None:
    """Owners come and go, pause, want only their own work to run, and shut down properly."""
    draft.any_flock().lasts(30.0, 90.0).work()
    draft.often(1, 14, draft.owner_visit)
    draft.often(0, 5, lambda: draft.happen(draft.when(), "pause", draft.one(), draft.maybe(0.5)))
    for _ in draft.times(0, 3):
        draft.happen(draft.when(), "shut_down", draft.one(), draft.short(0.5, 20.0))
    draft.often(0, 5, lambda: draft.happen(draft.when(), "answer", draft.one(), draft.maybe(0.4)))


def crashes(draft: Draft) -> None:
    """Machines die and come back, some without what they knew."""
    draft.any_flock().lasts(22.5, 75.0).work()
    draft.often(0, 5, lambda: draft.happen(draft.when(), "snapshot", draft.one()))
    draft.often(1, 10, draft.crash)
    for _ in draft.times(0, 7):
        draft.happen(draft.when(), "doom", draft.one(), draft.draw.randint(0, 6), 2.0)
    if draft.size > 2 and draft.maybe(0.2):
        draft.happen(draft.when(), "gone", draft.one())


def partitions(draft: Draft) -> None:
    """Cuts of every shape."""
    draft.any_flock().lasts(22.5, 75.0).work()
    draft.often(1, 7, draft.cut)
    draft.often(0, 3, lambda: draft.happen(draft.when(), "reset", *draft.two()))


def clocks(draft: Draft) -> None:
    """Wall clocks hours apart, set back and forth; monotonic ones never lie."""
    draft.any_flock().lasts(22.5, 75.0)
    for machine in draft.plan.machines:
        machine.wall_offset_ms = draft.draw.randint(-7_200_000, 7_200_000)
        machine.wall_rate = 1.0 + draft.draw.uniform(-2e-3, 2e-3)
    draft.work()
    for _ in draft.times(1, 9):
        by_ms = draft.draw.randint(-7_200_000, 7_200_000)
        draft.happen(draft.when(), "step_clock", draft.one(), by_ms)
    draft.often(0, 3, draft.crash)


def datasets(draft: Draft) -> None:
    """Fetches fail, folders are emptied, holders come and go."""
    draft.any_flock().lasts(22.5, 75.0)
    draft.plan.fetch_breaks = draft.draw.choice((0.0, 0.1, 0.3))
    draft.plan.fetch_s = draft.draw.choice(((0.002, 0.05), (0.05, 2.0)))
    draft.work(raw=0.3, tasks=(2, 8))
    draft.often(0, 3, lambda: draft.happen(draft.when(), "lose_datasets", draft.one()))
    draft.often(0, 3, draft.crash)


def clients(draft: Draft) -> None:
    """People change their minds, at any node, at any time."""
    draft.any_flock().lasts(22.5, 75.0).work(workflows=(2, 6), failing=0.15, gates=0.15)
    draft.plan.gates_are_marked = draft.maybe(0.7)
    draft.often(1, 17, lambda: groups.wish(draft))
    draft.often(0, 3, lambda: draft.happen(draft.when(), "mark_gates", draft.one()))


def pruning(draft: Draft) -> None:
    """Finished workflows leave the table while people still want something of them."""
    draft.any_flock().lasts(37.5, 90.0)
    draft.plan.settings = replace(
        draft.plan.settings, retention_ms=draft.draw.randint(3, 15) * 1000
    )
    draft.work(workflows=(2, 6), duration_s=(0.2, 2.0), cross=0.4)
    draft.often(0, 9, lambda: groups.wish(draft))
    draft.often(0, 5, draft.crash)
    if draft.maybe(0.4):
        draft.cut()


def liars(draft: Draft) -> None:
    """A flock that signs, and in it members that lie, from the first moment on; a machine dies besides,
    or is cut off."""
    draft.flock(3, 8).lasts(15.0, 45.0)
    draft.plan.signed = True
    draft.work(workflows=(2, 5), duration_s=(0.2, 4.0), gates=0.1)
    lying = draft.draw.sample(
        range(ADMINISTRATORS, draft.size), draft.draw.randint(1, draft.size - 2)
    )
    for who in lying:
        draft.happen(0.0, "lie", who, "replay")
        for _ in draft.times(5, 60):
            draft.happen(draft.when(0.1), "lie", who, draft.draw.choice(LIES))
    draft.often(0, 3, draft.crash)
    draft.often(0, 2, draft.cut)
    draft.often(0, 3, lambda: groups.wish(draft))


def mixed(draft: Draft) -> None:
    """Everything at once."""
    draft.any_flock().lasts(30.0, 105.0)
    if draft.maybe(0.2):
        draft.plan.settings = replace(draft.plan.settings, retention_ms=15_000)
    if draft.size > 2 and draft.maybe(0.2):
        draft.break_links(2)
    draft.plan.fetch_breaks = draft.draw.choice((0.0, 0.0, 0.1))
    draft.work(workflows=(1, 6), hanging=0.03, killing=0.03)
    _newcomers(draft, 0.15)
    trouble = (
        draft.crash,
        draft.cut,
        draft.owner_visit,
        lambda: groups.wish(draft),
        lambda: groups.any_trap(draft),
        lambda: draft.happen(draft.when(), "reset", *draft.two()),
        lambda: draft.happen(draft.when(), "stall", draft.one(), draft.short()),
        lambda: draft.happen(draft.when(), "sleep", draft.one(), draft.short(1.0, 20.0)),
        lambda: draft.happen(draft.when(), "lossy", *draft.two(), 0.3, draft.short()),
        lambda: draft.happen(draft.when(), "full", draft.one(), draft.short()),
        lambda: draft.happen(draft.when(), "shut_down", draft.one(), draft.short()),
        lambda: draft.happen(draft.when(), "lose_datasets", draft.one()),
        lambda: draft.happen(draft.when(), "snapshot", draft.one()),
        lambda: draft.happen(
            draft.when(), "step_clock", draft.one(), draft.draw.randint(-9, 9) * 10**6
        ),
    )
    for _ in draft.times(1, 17):
        draft.draw.choice(trouble)()
    if draft.size > 2 and draft.maybe(0.05):
        draft.happen(draft.when(), "expel", draft.one())


CLASSES: dict[str, ScenarioClass] = {
    "calm": ScenarioClass(calm, 8),
    "owners": ScenarioClass(owners, 3),
    "crashes": ScenarioClass(crashes, 4),
    "partitions": ScenarioClass(partitions, 4),
    "clocks": ScenarioClass(clocks, 2),
    "datasets": ScenarioClass(datasets, 3),
    "clients": ScenarioClass(clients, 3),
    "pruning": ScenarioClass(pruning, 3),
    "mixed": ScenarioClass(mixed, 8),
    "liars": ScenarioClass(liars, 0),
    "missing-link": ScenarioClass(groups.missing_link, 1),
    "stalls": ScenarioClass(groups.stalls),
    "flapping": ScenarioClass(groups.flapping),
    "claim-in-flight": ScenarioClass(groups.claim_in_flight, 3),
    "power-on": ScenarioClass(groups.power_on),
    "crossing-wishes": ScenarioClass(groups.crossing_wishes),
    "two-sides": ScenarioClass(groups.two_sides, 3),
    "holders-lost": ScenarioClass(groups.holders_lost),
    "away-past-pruning": ScenarioClass(groups.away_past_pruning),
    "hand-back": ScenarioClass(groups.hand_back),
    "versions": ScenarioClass(groups.versions, 1),
    "refused": ScenarioClass(groups.refused),
    "poison": ScenarioClass(groups.poison),
    "submitted-twice": ScenarioClass(groups.submitted_twice),
    "far-clocks": ScenarioClass(groups.far_clocks),
    "orphan-promises": ScenarioClass(groups.orphan_promises),
    "claimed-ahead": ScenarioClass(groups.claimed_ahead, 3),
    "seats": ScenarioClass(seats, 3),
    "seats-at-risk": ScenarioClass(seats_at_risk, 3),
    "urgent-steps": ScenarioClass(urgent_steps, 2),
    "copies": ScenarioClass(copies, 3),
    "calm-copies": ScenarioClass(calm_copies, 2),
}
