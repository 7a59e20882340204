"""Groups of scenarios, each on its own: sixteen that an earlier model of the protocol failed in, and
what was asked since.

They were found by attacking simpler rules: the links that never come up, the second between a won
claim and the word of it, the disk that comes back older. Each draws close around its own window.
"""

from __future__ import annotations

from dataclasses import replace

from agent.protocol.records import PRIORITY_INTERACTIVE, PRIORITY_LOW
from tests.sim.plan import Draft
from tests.sim.traps import ACTIONS, AHEAD, MOMENTS
from tests.sim.versions import MORE

POLICIES = ("look-ahead", "first-come", "strict")


def wish(draft: Draft, at: float | None = None) -> None:
    """Somebody wants something of some workflow, at some node."""
    when = draft.when() if at is None else at
    number, who = draft.draw.randrange(8), draft.one()
    verb = draft.draw.choice(("cancel", "retry", "retry", "prioritise"))
    if verb == "prioritise":
        value = draft.draw.choice((1, PRIORITY_LOW, 99, PRIORITY_INTERACTIVE))
        draft.happen(when, verb, number, who, value)
    else:
        draft.happen(when, verb, number, who, draft.draw.choice((0.3, 0.6, 1.0)))


def any_trap(draft: Draft) -> None:
    """Something waits for a moment at some machine."""
    moment, action = draft.draw.choice(MOMENTS), draft.draw.choice(ACTIONS)
    draft.happen(draft.when(0.1), "trap", draft.one(), moment, action)


def missing_link(draft: Draft) -> None:
    """1. A link that is never there, tasks a hundred times longer than detection."""
    draft.plan.exact = True
    draft.flock(3, 4).lasts(5.0, 10.0)
    draft.break_links(1 if draft.size == 3 else 3)
    draft.plan.settle_s = 2_500.0
    draft.plan.progress_marks = 3
    draft.work(
        workflows=(1, 2),
        tasks=(1, 3),
        duration_s=(100.0, 300.0),
        failing=0.0,
        flaky=0.0,
        host_bound_failing=0.0,
        requirements=0.0,
    )
    if draft.maybe(0.5):
        middle = draft.one()
        draft.happen(0.1, "pause", middle, True)


def stalls(draft: Draft) -> None:
    """2. Stalls and sleeps of claimants, consenters and runners."""
    draft.any_flock().lasts(15.0, 45.0).work(workflows=(2, 7))
    draft.often(1, 9, lambda: draft.happen(draft.when(), "stall", draft.one(), draft.short()))
    for _ in draft.times(0, 5):
        draft.happen(draft.when(), "sleep", draft.one(), draft.short(0.5, 30.0))
    for _ in draft.times(0, 5):
        moment = draft.draw.choice(("claimed", "consented", "persisted a won claim", "started"))
        draft.happen(draft.when(0.1), "trap", draft.one(), moment, "stall")


def flapping(draft: Draft) -> None:
    """3. Links seen at different times, flapping; restarts faster than detection; old disks."""
    draft.any_flock().lasts(15.0, 45.0)
    draft.plan.network.seen_s = draft.draw.choice(((0.001, 0.02), (0.001, 1.5)))
    draft.plan.network.redial_s = draft.draw.choice(((0.02, 0.2), (0.05, 2.0)))
    draft.work()
    for _ in draft.times(1, 5):
        every_s = draft.draw.choice((0.3, 1.0, 3.0, 6.0))
        times = draft.draw.randint(3, 12)
        draft.happen(draft.when(), "flap", *draft.two(), every_s, times)
    for _ in draft.times(0, 5):
        disk = draft.draw.choice(("kept", "lost", "older"))
        draft.happen(draft.when(), "snapshot", draft.one())
        draft.happen(draft.when(), "crash", draft.one(), 0.05, draft.maybe(0.5), disk)


def claim_in_flight(draft: Draft) -> None:
    """4. Newcomers, restarts, withdrawals and deaths while a claim is under way."""
    draft.flock(2, 6).lasts(12.0, 40.0)
    draft.plan.network.seen_s = (0.001, 0.4)
    draft.work(workflows=(2, 8), duration_s=(0.2, 3.0))
    moments = ("claimed", "consented", "persisting a won claim", "persisted a won claim", "telling")
    for _ in draft.times(1, 9):
        moment, action = draft.draw.choice(moments), draft.draw.choice(ACTIONS)
        draft.happen(draft.when(0.1), "trap", draft.one(), moment, action)
    for machine in draft.plan.machines[1:]:
        if draft.maybe(0.3):
            machine.newcomer = True
            machine.boot_s = draft.when(1.0)
    if draft.size > 2 and draft.maybe(0.3):
        draft.break_links(2)
    draft.often(0, 3, lambda: draft.happen(draft.when(), "lossy", *draft.two(), 0.5, draft.short()))


def power_on(draft: Draft) -> None:
    """5. The power comes back: all boot within seconds, find each other late, much is ready."""
    draft.flock(2, 12 if draft.maybe(0.15) else 6).lasts(20.0, 40.0)
    staggered_s = draft.draw.choice((0.0, 1.0, 5.0))
    for machine in draft.plan.machines:
        machine.discovery_s = draft.draw.choice(((0.01, 0.3), (0.0, 3.0), (0.0, 10.0)))
        machine.boot_s = draft.draw.uniform(0.0, staggered_s)
    draft.style.tasks = (1, 10)
    draft.work(workflows=(2, 8), duration_s=(0.2, 2.0))
    off = draft.draw.uniform(6.0, draft.plan.until_s - 8.0)
    for index in range(draft.size):
        down_s = draft.draw.uniform(0.5, 1.0 + staggered_s)
        draft.happen(off + draft.draw.uniform(0.0, 0.3), "crash", index, down_s, True, "kept")


def crossing_wishes(draft: Draft) -> None:
    """6. Cancel crosses success, claim and hand-back; retries on two sides."""
    draft.flock(2, 6).lasts(15.0, 40.0).work(workflows=(2, 7), duration_s=(0.2, 3.0), failing=0.2)
    for _ in draft.times(2, 9):
        at, number = draft.when(), draft.draw.randrange(5)
        for verb in draft.draw.choices(("cancel", "retry"), k=2):
            part = draft.draw.choice((0.4, 1.0))
            draft.happen(at + draft.short(1e-4, 0.05), verb, number, draft.one(), part)
    if draft.maybe(0.6):
        at, lasts = draft.when(), draft.short(4.0, 15.0)
        draft.cut(at, lasts)
        for _ in range(3):
            wish(draft, at + draft.draw.uniform(0.0, lasts))
    draft.often(0, 3, lambda: draft.owner_visit(for_s=draft.short(8.0, 20.0)))
    if draft.maybe(0.3):
        draft.happen(draft.when(), "lose_datasets", draft.one())


def two_sides(draft: Draft) -> None:
    """7. Two and three sides each finish T and D; they heal in any order, or are cut again."""
    draft.flock(2, 6, slots=3).lasts(25.0, 50.0)
    draft.style.same_content = draft.draw.choice((0.0, 0.5, 1.0))
    draft.work(workflows=(1, 5), tasks=(2, 4), duration_s=(0.5, 4.0), requirements=0.0)
    begins = draft.draw.uniform(0.5, 10.0)
    sides = [draft.draw.randrange(draft.draw.choice((2, 3))) for _ in range(draft.size)]
    for one in range(draft.size):
        for other in range(one + 1, draft.size):
            if sides[one] != sides[other]:
                lasts = draft.draw.uniform(8.0, 15.0)
                pairs = ((one, other), (other, one))
                draft.happen(begins + draft.draw.uniform(0.0, 0.2), "cut", pairs, lasts)
    if draft.maybe(0.4):
        draft.cut(begins + draft.draw.uniform(8.0, 15.0))


def holders_lost(draft: Draft) -> None:
    """8. The disk of the only holder is lost, or it is away, or the fetch breaks half-way."""
    draft.flock(1, 5).lasts(25.0, 60.0)
    if draft.maybe(0.4):
        draft.plan.settings = replace(draft.plan.settings, copies=1)
    draft.plan.fetch_breaks = draft.draw.choice((0.0, 0.2, 0.5))
    draft.work(tasks=(2, 6), raw=0.2, duration_s=(0.5, 5.0))
    for _ in draft.times(1, 6):
        who, at = draft.one(), draft.when()
        kind = draft.draw.choice(("emptied", "disk lost", "away", "cut off"))
        if kind == "emptied":
            draft.happen(at, "lose_datasets", who)
        elif kind == "disk lost":
            draft.happen(at, "crash", who, draft.short(0.5, 20.0), True, "lost")
        elif kind == "away":
            draft.happen(at, "crash", who, draft.draw.uniform(8.0, 25.0), True, "kept")
        elif draft.size > 2:
            draft.happen(at, "isolate", who, draft.draw.uniform(5.0, 25.0))
    if draft.size > 2 and draft.maybe(0.2):
        draft.happen(draft.when(), "gone", draft.one())


def away_past_pruning(draft: Draft) -> None:
    """9. A node comes back after its work was pruned; clocks hours apart decide who prunes."""
    draft.flock(2, 5).lasts(40.0, 70.0)
    retention_ms = draft.draw.randint(4, 12) * 1000
    draft.plan.settings = replace(draft.plan.settings, retention_ms=retention_ms)
    if draft.maybe(0.5):
        for machine in draft.plan.machines:
            machine.wall_offset_ms = draft.draw.randint(-7_200_000, 7_200_000)
    draft.work(duration_s=(0.2, 2.0), workflows=(1, 6))
    who = draft.one()
    away = draft.draw.uniform(15.0, 30.0)
    draft.happen(draft.draw.uniform(1.0, 8.0), "crash", who, away, draft.maybe(0.5), "kept")
    for _ in draft.times(0, 6):
        draft.happen(draft.when(5.0), "retry", draft.draw.randrange(4), draft.one(), 1.0)
    if draft.maybe(0.4):
        draft.cut(for_s=draft.draw.uniform(5.0, 25.0))


def hand_back(draft: Draft) -> None:
    """10. Expected ends revised all the time; owners who leave at the instant of the hand-back."""
    draft.flock(1, 5).lasts(30.0, 60.0)
    draft.plan.progress_marks = 12
    hand_back_s = draft.draw.choice((4.0, 8.0))
    draft.plan.settings = replace(draft.plan.settings, hand_back_s=hand_back_s)
    draft.work(duration_s=(3.0, 12.0), tasks=(1, 3))
    for _ in draft.times(2, 9):
        lasts = hand_back_s + draft.draw.choice((-0.01, 0.0, 0.001, 0.01, 0.2, 3.0))
        draft.owner_visit(for_s=lasts)
    if draft.maybe(0.5):
        draft.cut()


def versions(draft: Draft) -> None:
    """11. Some nodes are of a later version: unknown fields in records and messages."""
    draft.flock(2, 5).lasts(15.0, 40.0)
    draft.plan.coded = True
    for machine in draft.plan.machines:
        machine.newer_version = draft.maybe(0.5)
    draft.workshop.more = dict(MORE)
    draft.work()
    draft.often(0, 5, draft.crash)
    if draft.maybe(0.4):
        draft.cut()


def refused(draft: Draft) -> None:
    """12. Messages refused on living links; disks that refuse between claim and start."""
    draft.flock(1, 6).lasts(15.0, 45.0).work(workflows=(2, 7), duration_s=(0.2, 3.0))
    for _ in draft.times(1, 8):
        rate = draft.draw.choice((0.05, 0.3, 0.8))
        draft.happen(draft.when(), "lossy", *draft.two(), rate, draft.short())
    for _ in draft.times(0, 6):
        moment = draft.draw.choice(("persisting a won claim", "persisting a success"))
        draft.happen(draft.when(0.1), "trap", draft.one(), moment, "disk")
    draft.often(0, 5, lambda: draft.happen(draft.when(), "full", draft.one(), draft.short()))


def poison(draft: Draft) -> None:
    """13. Programs that kill agents, fail on some hosts, or thrice on the only capable one."""
    draft.flock(1, 6).lasts(20.0, 50.0)
    draft.work(
        workflows=(1, 6),
        duration_s=(0.2, 2.0),
        killing=0.15,
        failing=0.15,
        host_bound_failing=0.3,
        requirements=0.4,
        hanging=0.05,
    )
    for _ in draft.times(0, 5):
        draft.happen(draft.when(), "retry", draft.draw.randrange(4), draft.one(), 1.0)


def submitted_twice(draft: Draft) -> None:
    """14. The same submission at two nodes; deaths between keeping, telling and answering."""
    draft.flock(2, 6).lasts(12.0, 40.0)
    for _ in draft.times(1, 8):
        job = draft.workshop.job()
        draft.plan.behaviours = draft.workshop.behaviours
        at, (one, other) = draft.when(), draft.two()
        draft.happen(at, "submit_twice", job, one, other)
        if draft.maybe(0.5):
            moment = draft.draw.choice(("telling", "claimed", "persisted a won claim"))
            draft.happen(at - 0.001, "trap", one, moment, draft.draw.choice(ACTIONS))
        if draft.maybe(0.4):
            draft.happen(at - 0.001, "doom", one, draft.draw.randint(0, 3), 2.0)
    if draft.maybe(0.5):
        draft.cut()


def far_clocks(draft: Draft) -> None:
    """15. A clock years ahead that goes away; steps back across restarts; ties; other policies."""
    draft.flock(2, 6).lasts(15.0, 45.0)
    for machine in draft.plan.machines:
        machine.wall_offset_ms = draft.draw.choice((0, 0, -7_200_000, 7_200_000))
        machine.policy = draft.draw.choice(POLICIES)
    far = draft.one()
    years_ms = draft.draw.randint(2, 70) * 365 * 86_400_000
    draft.plan.machines[far].wall_offset_ms = years_ms
    draft.work()
    draft.happen(draft.when(), "step_clock", far, -years_ms)
    for _ in draft.times(0, 5):
        at, who = draft.when(), draft.one()
        draft.happen(at, "step_clock", who, -7_200_000)
        draft.happen(at + 0.01, "crash", who, draft.short(0.05, 5.0), False, "kept")
    if draft.size > 2 and draft.maybe(0.3):
        draft.happen(draft.when(), "gone", far)


def orphan_promises(draft: Draft) -> None:
    """16. Claimants die, withdraw, are cut off or restart right after they were promised."""
    draft.flock(2, 7).lasts(20.0, 45.0).work(workflows=(2, 8), duration_s=(0.2, 4.0))
    for _ in draft.times(2, 12):
        action = draft.draw.choice(ACTIONS)
        draft.happen(draft.when(0.1), "trap", draft.one(), "claimed", action)
    draft.often(0, 5, lambda: draft.happen(draft.when(), "lossy", *draft.two(), 0.5, draft.short()))
    draft.often(0, 5, draft.owner_visit)


def claimed_ahead(draft: Draft) -> None:
    """17. Misfortunes, wishes and other work between a claim ahead and the end that it waits for."""
    draft.flock(2, 6).lasts(20.0, 45.0)
    style = {"duration_s": (1.2, 6.0), "expected": (0.2, 1.02), "interactive": 0.05}
    draft.work(workflows=(3, 8), tasks=(2, 6), **style)
    for _ in draft.times(1, 9):
        draft.happen(draft.when(0.1), "trap", draft.one(), AHEAD, draft.draw.choice(ACTIONS))
    draft.often(0, 7, lambda: wish(draft))
    draft.often(0, 3, draft.owner_visit)
    draft.often(0, 2, lambda: draft.happen(draft.when(), "shut_down", draft.one(), draft.short()))
    for machine in draft.plan.machines[1:]:
        if draft.maybe(0.2):
            machine.newcomer = True
            machine.boot_s = draft.when(1.0)
    if draft.size > 2 and draft.maybe(0.3):
        draft.break_links(2)
