"""May this machine work for others now? Decided from values alone, with the reason as a value.

``verdict`` is told the rules, what a person has said for the moment, what the sources have seen,
what it remembered itself, and the time. It does no I/O and keeps nothing: what it has to remember
goes out with the verdict and comes in with the next.

In this order, the first that holds is the reason:

1. A person paused it, or wants it to pause after what runs now. Nothing beats that.
2. An exclusive program runs, in whatever mode.
3. Mode *not yet* or *not now*: it helps nobody, and runs what its own person submits here.
4. Mode *always*: it helps.
5. Mode *by schedule*, outside the hours.
6. Somebody is there: another person's screen, input, and whatever the rules count as such.
7. It has only just come free, and whoever may still look at the screen is told before it helps.

A rule whose source cannot see holds the machine back. Who locks the screen has left at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from agent.api import presence_reasons as why
from agent.api.volunteering import UNHELPFUL, WATCHFUL, VolunteerRules
from agent.presence import conditions, touch
from agent.presence.hours import inside, next_change_s
from agent.presence.judgement import (
    Bar,
    Cause,
    Finishing,
    Hold,
    Memory,
    Now,
    Paused,
    Unpaused,
    Verdict,
    Wish,
)
from agent.presence.readings import Kind, Readings, Seen
from agent.protocol import reasons as told
from agent.protocol.reasons import Reason

LOOK_WHILE_RUNNING_S = 0.25
LOOK_WHILE_HELPING_S = 2.0
LOOK_WHILE_HELD_S = 5.0
LOOK_ALWAYS_S = 60.0
"""Where nothing has to be seen: clocks may have been set."""
LOOK_S_MIN = 0.05


def verdict(
    rules: VolunteerRules, wish: Wish, readings: Readings, memory: Memory, now: Now
) -> Verdict:
    """Decide from these values alone whether to help now, and why; return that with when to look
    again and the memory for the next verdict. Nothing is looked at or changed."""
    memory = conditions.remembered(rules, readings, memory, now)
    match effective(wish, now.wall_s):
        case Paused() as paused:
            return _paused(rules, paused, memory, now)
        case Finishing() as finishing if readings.running:
            return _finishing(rules, finishing, readings.running, memory)
        case Finishing() as finishing:
            return _paused(rules, finishing.then, memory, now, begins=True)
        case Unpaused():
            pass
    hold = next(_holds(rules, readings, memory, now), None)
    if hold is not None:
        return _held(rules, hold, replace(memory, warned_s=None))
    memory = replace(memory, warned_s=now.steady_s if memory.warned_s is None else memory.warned_s)
    warning = _warning(rules, readings, memory, now)
    return (
        _helping(rules, readings, memory, now) if warning is None else _held(rules, warning, memory)
    )


def barred(found: Verdict, bar: Bar) -> Verdict:
    """Return the verdict as ``bar`` limits it where programs cannot be confined: nothing of others
    begins, with "all" nothing at all, which counts as paused. An empty ``bar``, and a verdict that
    is paused already, change nothing."""
    if not bar or found.paused:
        return found
    if bar == "all":
        return replace(
            found,
            volunteering=False,
            own_only=True,
            paused=True,
            reason=why.HeldUnconfined(),
            told=told.CannotConfine(),
        )
    if not found.volunteering or found.own_only:
        return replace(found, own_only=True)
    return replace(found, own_only=True, reason=why.HeldUnconfined(), told=told.CannotConfine())


def effective(wish: Wish, wall_s: float) -> Wish:
    """Return the wish as it counts at this moment, in seconds since 1970: a pause whose time is
    over is ``Unpaused``, every other wish stays as it is."""
    if isinstance(wish, Paused) and wish.until_s is not None and wish.until_s <= wall_s:
        return Unpaused()
    return wish


def needed(rules: VolunteerRules, wish: Wish, now: Now) -> frozenset[Kind]:
    """Return the kinds of sources to look at for a verdict now: none while paused or finishing;
    only exclusive programs outside the hours and in modes that ask for nothing else; else all that
    the rules ask for."""
    if not isinstance(effective(wish, now.wall_s), Unpaused):
        return frozenset()
    kinds = conditions.wanted(rules)
    if rules.mode not in WATCHFUL or _outside(rules, now):
        return kinds & {Kind.PROGRAMS}
    return kinds


def held_back_by(
    rules: VolunteerRules, readings: Readings, memory: Memory, now: Now
) -> frozenset[Kind]:
    """Return the kinds of sources that keep this machine from helping, a pause and the hours apart,
    those that cannot see among them."""
    holds = _holds(rules, readings, memory, now)
    return frozenset(hold.kind for hold in holds if hold.kind is not None)


def _holds(rules: VolunteerRules, readings: Readings, memory: Memory, now: Now) -> Iterator[Hold]:
    yield from conditions.settling(conditions.EXCLUSIVE, rules, readings, memory, now)
    if rules.mode not in WATCHFUL:
        return
    if _outside(rules, now):
        yield _outside_hours(rules, now)
    yield from conditions.presence(rules, readings, memory, now)


def _warning(rules: VolunteerRules, readings: Readings, memory: Memory, now: Now) -> Hold | None:
    """The time that is left to say no, where somebody may see it: at a screen that is not locked."""
    if rules.mode not in WATCHFUL or rules.own_only or conditions.away(readings):
        return None
    begins_s = (memory.warned_s or now.steady_s) + rules.warn_s
    if begins_s <= now.steady_s:
        return None
    soon = why.HelpsSoon(now.ms_at(begins_s))
    return Hold(Cause.WARNED, None, soon, told.OwnerWarned(), begins_s - now.steady_s)


def _outside(rules: VolunteerRules, now: Now) -> bool:
    return rules.mode == "by schedule" and not inside(
        rules.hours, datetime.fromtimestamp(now.wall_s, now.zone)
    )


def _outside_hours(rules: VolunteerRules, now: Now) -> Hold:
    begins_s = next_change_s(rules.hours, now.wall_s, now.zone)
    if begins_s is None:
        return Hold(Cause.HOURS, None, why.HeldOutsideHours(), told.OutsideHours())
    until = why.HeldUntilHour(round(begins_s * 1000))
    return Hold(Cause.HOURS, None, until, told.OutsideHours(), begins_s - now.wall_s)


# -- what comes of it ------------------------------------------------------------------------------


def _paused(
    rules: VolunteerRules, paused: Paused, memory: Memory, now: Now, *, begins: bool = False
) -> Verdict:
    left_s = LOOK_ALWAYS_S
    reason = paused.why or why.PausedUntilResumed()
    if paused.until_s is not None:
        left_s = paused.until_s - now.wall_s
        reason = why.PausedUntil(round(paused.until_s * 1000))
    return Verdict(
        volunteering=False,
        owner_present=True,
        own_only=rules.own_only,
        lets_end_ms=0,
        cause=Cause.PAUSED,
        reason=reason,
        told=told.PausedByOwner(),
        look_again_s=_within(left_s, LOOK_ALWAYS_S),
        pause_begins=begins,
        memory=replace(memory, warned_s=None),
        paused=True,
    )


def _finishing(
    rules: VolunteerRules, finishing: Finishing, running: int, memory: Memory
) -> Verdict:
    open_ended = finishing.then.until_s is None
    return Verdict(
        volunteering=False,
        owner_present=False,
        own_only=rules.own_only,
        lets_end_ms=0,
        cause=Cause.FINISHING,
        reason=why.FinishingTask(open_ended)
        if running == 1
        else why.FinishingTasks(running, open_ended),
        told=told.FinishingThenPaused(),
        look_again_s=LOOK_WHILE_HELPING_S,
        pause_begins=False,
        memory=memory,
        paused=True,
    )


def _held(rules: VolunteerRules, hold: Hold, memory: Memory) -> Verdict:
    longest_s = LOOK_ALWAYS_S if hold.cause is Cause.HOURS else LOOK_WHILE_HELD_S
    return Verdict(
        volunteering=False,
        owner_present=True,
        own_only=rules.own_only,
        lets_end_ms=round(rules.lets_end_s * 1000),
        cause=hold.cause,
        reason=hold.reason,
        told=hold.told,
        look_again_s=_within(hold.left_s, longest_s),
        pause_begins=False,
        memory=memory,
    )


def _helping(rules: VolunteerRules, readings: Readings, memory: Memory, now: Now) -> Verdict:
    cause, reason, said = _why_helping(rules, readings, memory, now)
    return Verdict(
        volunteering=True,
        owner_present=False,
        own_only=rules.own_only or rules.mode in UNHELPFUL,
        lets_end_ms=round(rules.lets_end_s * 1000),
        cause=cause,
        reason=reason,
        told=said,
        look_again_s=_within(_hours_left_s(rules, now), _pace_s(rules, readings, memory)),
        pause_begins=False,
        memory=memory,
    )


def _why_helping(
    rules: VolunteerRules, readings: Readings, memory: Memory, now: Now
) -> tuple[Cause, Reason, Reason]:
    """The reason for whoever sits here, and the one for the flock."""
    match rules.mode:
        case "not yet":
            return Cause.OWN, why.NotAnswered(), told.NobodyAnswered()
        case "not now":
            return Cause.OWN, why.HelpsNobody(), told.OwnWorkOnly()
        case "always" if not rules.own_only:
            return Cause.ALWAYS, why.HelpsAlways(), told.SetToAlways()
        case "always":
            return Cause.ALWAYS, why.HelpsItself(), told.OwnWorkOnly()
        case _:
            said = told.OwnWorkOnly() if rules.own_only else told.NobodyUsesIt()
            reason = why.HelpsItself() if rules.own_only else _idle(readings, memory, now)
            return Cause.IDLE, reason, said


def _pace_s(rules: VolunteerRules, readings: Readings, memory: Memory) -> float:
    if rules.mode not in WATCHFUL and not rules.exclusive_programs:
        return LOOK_ALWAYS_S
    watched = rules.mode in WATCHFUL and rules.idle_s > 0
    if watched and (readings.running or memory.touch.bump_s is not None):
        return LOOK_WHILE_RUNNING_S
    if not watched:
        return LOOK_WHILE_HELPING_S
    # No input may come and be over between two looks.
    return min(LOOK_WHILE_HELPING_S, max(LOOK_WHILE_RUNNING_S, rules.idle_s / 2))


def _hours_left_s(rules: VolunteerRules, now: Now) -> float | None:
    if rules.mode != "by schedule":
        return None
    ends_s = next_change_s(rules.hours, now.wall_s, now.zone)
    return None if ends_s is None else ends_s - now.wall_s


def _idle(readings: Readings, memory: Memory, now: Now) -> Reason:
    share = readings.others_cpu_percent
    load = round(share.value) if isinstance(share, Seen) else None
    if conditions.sessions_of(readings).locked:
        return why.HelpsLocked(load)
    if not isinstance(readings.input, Seen):
        return why.HelpsByRules(load)
    quiet_s = touch.quiet_s(memory.touch, now.steady_s)
    if quiet_s == float("inf"):
        return why.HelpsEmpty(load)
    return why.HelpsIdle(now.ms_at(now.steady_s - quiet_s), load)


def _within(left_s: float | None, longest_s: float) -> float:
    return longest_s if left_s is None else min(max(left_s, LOOK_S_MIN), longest_s)
