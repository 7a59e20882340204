"""Scenarios drawn close around windows that the general classes hit once in ten thousand runs.

A rule whose loss another rule nearly covers shows only where everything comes together: three
claimants without links to each other and one voter asleep, or a claimant that wakes up to consents
given long ago. Nothing here is a fault in the sense of the checks unless it says so, so each task
starts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agent.protocol.records import PRIORITY_INTERACTIVE, PRIORITY_LOW
from tests.sim.classes import CLASSES, ScenarioClass
from tests.sim.plan import Draft
from tests.sim.work import Behaviour

JOINED_S = 8.0
"""Where links are missing, a start waits its full time; this is safely later."""


def _one_task(draft: Draft, duration_s: tuple[float, float]) -> None:
    style = draft.style
    style.tasks, style.duration_s, style.requirements = (1, 1), duration_s, 0.0
    style.interactive = style.gates = style.raw = style.cross = 0.0
    style.failing = style.flaky = style.host_bound_failing = 0.0


def _strangers(draft: Draft, count: int) -> tuple[int, int]:
    """Machines that know each other only through two voters, who work for nobody themselves."""
    draft.flock(count + 2, count + 2, slots=1)
    speaker, sleeper = count, count + 1
    draft.plan.broken = [(one, other) for one in range(count) for other in range(one + 1, count)]
    for voter in (speaker, sleeper):
        draft.happen(0.1, "pause", voter, True)
    draft.plan.network.delay_s = (0.0002, 0.004)
    return speaker, sleeper


def strangers_race(draft: Draft) -> None:
    """Three strangers claim the same task; one of the two voters sleeps, so claims stay open."""
    draft.plan.exact = True
    speaker, sleeper = _strangers(draft, 3)
    _one_task(draft, (0.5, 1.5))
    for number in range(6):
        at = JOINED_S + 5.0 * number
        draft.happen(at - 0.001, "stall", sleeper, draft.short(0.3, 1.8))
        draft.submit(at, speaker)
    draft.plan.until_s = JOINED_S + 32.0


def strangers_die(draft: Draft) -> None:
    """Of two strangers that claim, one dies meanwhile and the other one's owner comes back."""
    speaker, sleeper = _strangers(draft, 2)
    _one_task(draft, (0.5, 1.5))
    at = JOINED_S
    draft.happen(at - 0.001, "stall", sleeper, draft.draw.uniform(1.0, 1.8))
    draft.submit(at, speaker)
    dying = draft.draw.randrange(2)
    draft.happen(at + 0.1, "crash", dying, 25.0, False, "kept")
    draft.happen(at + 0.3, "owner", 1 - dying, True)
    draft.happen(at + 3.0, "owner", 1 - dying, False)
    draft.plan.until_s = JOINED_S + 30.0


def claimant_sleeps(draft: Draft) -> None:
    """A claimant stops right behind its claim and wakes to answers that are long out of date."""
    draft.plan.exact = True
    draft.flock(3, 5, slots=1)
    _one_task(draft, (3.0, 8.0))
    draft.style.tasks = (1, 3)
    draft.happen(JOINED_S - 0.1, "trap", draft.one(), "claimed", "stall")
    draft.submit(JOINED_S)
    draft.plan.until_s = JOINED_S + 15.0


def strangers_meet(draft: Draft) -> None:
    """Two claimants wait, each for a sleeping voter of its own, when a link between them comes up.

    The voters wake together: what one of them knows by then, the other has not been told.
    """
    draft.plan.exact = True
    draft.flock(4, 4, slots=1)
    draft.plan.network.delay_s, draft.plan.network.jitter_s = (0.001, 0.001), 0.0001
    for number, machine in enumerate(draft.plan.machines):
        machine.boot_s, machine.discovery_s = 0.1 * number, (0.001, 0.01)
    one, his_voter, other, her_voter = range(4)
    draft.plan.broken = [(one, her_voter), (his_voter, other)]
    draft.plan.machines[other].discovery_s = (JOINED_S + 0.1, JOINED_S + 0.5)
    _one_task(draft, (1.0, 3.0))
    draft.submit(JOINED_S, his_voter)
    sleep_s = draft.draw.uniform(1.0, 1.8)
    for voter in (his_voter, her_voter):
        draft.happen(0.5, "pause", voter, True)
        draft.happen(JOINED_S + 0.0015, "stall", voter, sleep_s)
    draft.plan.until_s = JOINED_S + 10.0


def sides_disagree(draft: Draft) -> None:
    """On one side of a partition the task fails as often as it may, on the other it succeeds."""
    draft.flock(4, 6, slots=1)
    half = draft.size // 2
    _one_task(draft, (3.0, 4.0))
    job = draft.submit(JOINED_S, 0)
    there = tuple(machine.node for machine in draft.plan.machines[half:])
    draft.plan.behaviours[job.tasks[0].task] = Behaviour(
        draft.draw.uniform(2.0, 3.0), 1, failing_hosts=there
    )
    pairs = [(one, other) for one in range(half) for other in range(half, draft.size)]
    pairs += [(other, one) for one, other in pairs]
    draft.happen(JOINED_S + 0.5, "cut", tuple(pairs), draft.draw.uniform(18.0, 25.0))
    draft.plan.until_s = JOINED_S + 30.0


def older_image(draft: Draft) -> None:
    """A disk comes back as it was in the middle of a workflow: what it did since, it does again."""
    draft.flock(1, 2, slots=1)
    _one_task(draft, (1.0, 2.0))
    draft.style.tasks = (6, 8)
    draft.submit(JOINED_S, 0)
    draft.happen(JOINED_S + draft.draw.uniform(0.2, 2.0), "snapshot", 0)
    for who in range(draft.size):
        draft.happen(JOINED_S + 6.0, "crash", who, draft.short(0.05, 2.0), True, "older")
    draft.plan.until_s = JOINED_S + 20.0


def home_stands_still(draft: Draft) -> None:
    """Where an interactive task was submitted, the agent stands still; low work goes on elsewhere."""
    draft.plan.exact = True
    draft.flock(3, 5, slots=1)
    _one_task(draft, (0.2, 0.4))
    draft.style.tasks = (6, 9)
    for number in range(2):
        at = JOINED_S + 5.0 * number
        for _ in range(3):
            draft.submit(at, 1, priority=PRIORITY_LOW)
        draft.submit(at + 0.5, 0, priority=PRIORITY_INTERACTIVE)
        draft.happen(at + 0.5 + 1e-5, "stall", 0, 1.8)
    draft.plan.until_s = JOINED_S + 12.0


SCENES = {
    "strangers-race": ScenarioClass(strangers_race),
    "strangers-meet": ScenarioClass(strangers_meet),
    "strangers-die": ScenarioClass(strangers_die),
    "sides-disagree": ScenarioClass(sides_disagree),
    "older-image": ScenarioClass(older_image),
    "home-stands-still": ScenarioClass(home_stands_still),
    "claimant-sleeps": ScenarioClass(claimant_sleeps),
}


@contextmanager
def staged() -> Iterator[None]:
    """These can be run by name like the classes of the simulator."""
    CLASSES.update(SCENES)
    try:
        yield
    finally:
        for name in SCENES:
            del CLASSES[name]
