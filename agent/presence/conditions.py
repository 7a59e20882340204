"""What makes a machine count as used: one condition for each thing that there is to see.

Each says whether it holds the machine back, and why. A condition whose source cannot see holds,
with what the source says of itself. Where a person has locked the screen and left, neither what
fills the screen nor an unseen keyboard matters: the lock itself says who is not there.

At the end is what each source sees, for whoever sets the rules of a machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agent.api import presence_reasons as why
from agent.api.volunteering import VolunteerRules
from agent.presence import touch
from agent.presence.judgement import Cause, Hold, Memory, Now
from agent.presence.readings import Kind, Readings, Seen, Sessions, Unseen
from agent.presence.rules import NO_MATTER_PERCENT
from agent.presence.touch import Settling
from agent.protocol import reasons as told
from agent.protocol.reasons import Reason

ROOMIER = 1.25
"""Memory has to be freer than the floor by this much before it counts as enough again."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds while it is there, and for ``settles_s`` afterwards."""

    kind: Kind
    wanted: Callable[[VolunteerRules], bool]
    holds: Callable[[VolunteerRules, Any, bool], Reason | None]
    """What holds the machine back now, if anything does; the flag: it did so until lately."""
    held: Callable[[int], Reason]
    """What does so a while longer, since that moment."""
    told: Reason
    settles_s: float
    seen: Callable[[Any, str], Reason]
    """What its source sees and in which way, for whoever sets the rules."""


EXCLUSIVE = Condition(
    Kind.PROGRAMS,
    lambda rules: bool(rules.exclusive_programs),
    lambda _, names, __: why.HeldByProgram(names) if names else None,
    why.HeldSinceProgram,
    told.OwnerUsesIt(),
    10.0,
    lambda names, by: why.ProgramsSeen(names, by) if names else why.NoProgramSeen(by),
)
MAINS = Condition(
    Kind.MAINS,
    lambda rules: rules.on_mains_only,
    lambda _, on_mains, __: None if on_mains else why.HeldByBattery(),
    why.HeldSincePlugged,
    told.OnBattery(),
    10.0,
    lambda on_mains, by: why.MainsSeen(by) if on_mains else why.BatterySeen(by),
)
FULL_SCREEN = Condition(
    Kind.FULL_SCREEN,
    lambda rules: rules.full_screen_counts,
    lambda _, filling, __: why.HeldByScreen(filling) if filling else None,
    why.HeldSinceScreen,
    told.OwnerUsesIt(),
    10.0,
    lambda filling, by: why.ScreenFilled(filling, by) if filling else why.NothingFills(by),
)
MEETING = Condition(
    Kind.MEETING,
    lambda rules: rules.calls_count,
    lambda _, used, __: why.HeldByMeeting(used) if used else None,
    why.HeldSinceMeeting,
    told.OwnerUsesIt(),
    30.0,
    lambda used, by: why.MeetingSeen(used, by) if used else why.NoMeeting(by),
)
MEMORY = Condition(
    Kind.MEMORY,
    lambda rules: rules.free_memory_mb > 0,
    lambda rules, free_mb, lately: _short_of_memory(rules, free_mb, lately=lately),
    why.HeldSinceMemory,
    told.ShortOfMemory(),
    30.0,
    lambda free_mb, by: why.MemorySeen(round(free_mb), by),
)
SETTLING = (EXCLUSIVE, MAINS, FULL_SCREEN, MEETING, MEMORY)
"""Exclusive programs first, which count whatever the mode; then what is plainer."""
NOT_WHILE_AWAY = frozenset({Kind.INPUT, Kind.FULL_SCREEN, Kind.MEETING})
"""What does not matter while nobody is at the screen."""


def sessions_of(readings: Readings) -> Sessions:
    """Return who is at the screens; an empty ``Sessions`` where that cannot be seen."""
    return readings.sessions.value if isinstance(readings.sessions, Seen) else Sessions()


def away(readings: Readings) -> bool:
    """Tell whether nobody is at the screen for sure: it is locked, or nobody is logged in at one.
    False when that cannot be seen."""
    sessions = sessions_of(readings)
    return sessions.locked or sessions.nobody


def wanted(rules: VolunteerRules) -> frozenset[Kind]:
    """Return the kinds of sources that these rules have to look at, whatever their mode and
    hours."""
    asked = {
        Kind.INPUT: rules.idle_s > 0,
        Kind.SESSION: rules.idle_s > 0 or rules.full_screen_counts or rules.calls_count,
        Kind.PROCESSOR: rules.others_cpu_percent < NO_MATTER_PERCENT,
    } | {each.kind: each.wanted(rules) for each in SETTLING}
    return frozenset(kind for kind, is_wanted in asked.items() if is_wanted)


def required(rules: VolunteerRules, readings: Readings) -> frozenset[Kind]:
    """Return the kinds of sources that hold the machine back when they cannot see: those that the
    rules ask for, without sessions and, while nobody is at the screen, without input, full screen
    and calls."""
    kinds = wanted(rules) - {Kind.SESSION}
    return kinds - NOT_WHILE_AWAY if away(readings) else kinds


def remembered(rules: VolunteerRules, readings: Readings, memory: Memory, now: Now) -> Memory:
    """Return the memory with what these readings add to it: last input, lock, use of the processor,
    and when each condition held last. What cannot be seen leaves it as it was."""
    touched = touch.with_lock(memory.touch, sessions_of(readings).locked, now.steady_s)
    if isinstance(readings.input, Seen):
        touched = touch.after(touched, readings.input.value, now.steady_s)
    busy, share = memory.busy, readings.others_cpu_percent
    if isinstance(share, Seen):
        busy = touch.busy_after(busy, share.value, rules.others_cpu_percent, now.steady_s)
    settling = memory.settling
    for each in SETTLING:
        holds = _holding(each, rules, readings, memory.settling, now) is not None
        settling = settling.after(each.kind, holds=holds, now_s=now.steady_s)
    return Memory(touched, busy, settling, memory.warned_s)


def presence(rules: VolunteerRules, readings: Readings, memory: Memory, now: Now) -> Iterator[Hold]:
    """Yield everything that holds the machine back because somebody may be there, the plainest
    first, sources that cannot see among it; neither exclusive programs nor hours."""
    if rules.idle_s > 0:
        yield from _others(readings)
        yield from _input(rules, readings, memory, now)
    for each in SETTLING[1:]:
        if each is MEMORY:
            yield from _processor(rules, readings, memory)
        yield from settling(each, rules, readings, memory, now)


def _others(readings: Readings) -> Iterator[Hold]:
    others = sessions_of(readings).others
    if others:
        yield Hold(
            Cause.OTHERS,
            Kind.SESSION,
            why.HeldByOthers(others),
            told.SomebodyElseUsesIt(),
        )


def _input(rules: VolunteerRules, readings: Readings, memory: Memory, now: Now) -> Iterator[Hold]:
    if isinstance(readings.input, Unseen) and not away(readings):
        yield _unseen(Kind.INPUT, readings.input)
        return
    quiet_s = touch.quiet_s(memory.touch, now.steady_s)
    left_s = touch.needed_s(memory.touch, rules.idle_s) - quiet_s
    if left_s > 0:
        touched = _touched(memory, now.ms_at(now.steady_s - quiet_s))
        yield Hold(Kind.INPUT, Kind.INPUT, touched, told.OwnerUsesIt(), left_s)


def _touched(memory: Memory, at_ms: int) -> Reason:
    if memory.touch.where:
        return why.HeldByTerminal(memory.touch.where, at_ms)
    if memory.touch.locked_since_s is not None:
        return why.HeldByTouchOfLock(at_ms)
    return why.HeldByMouse(at_ms) if memory.touch.by_mouse else why.HeldByInput(at_ms)


def _processor(rules: VolunteerRules, readings: Readings, memory: Memory) -> Iterator[Hold]:
    limit, share = rules.others_cpu_percent, readings.others_cpu_percent
    if limit >= NO_MATTER_PERCENT:
        return
    if isinstance(share, Unseen):
        yield _unseen(Kind.PROCESSOR, share)
    elif memory.busy.now is not False:
        busy = share.value > limit
        load = why.HeldByLoad(round(share.value), limit) if busy else why.HeldSinceLoad(limit)
        yield Hold(Kind.PROCESSOR, Kind.PROCESSOR, load, told.OthersBusy())


def settling(
    condition: Condition, rules: VolunteerRules, readings: Readings, memory: Memory, now: Now
) -> Iterator[Hold]:
    """Yield one ``Hold`` if this condition holds the machine back, did so until lately, or cannot
    be seen though the rules ask for it; else nothing."""
    reading = readings.of(condition.kind)
    if condition.kind not in required(rules, readings):
        return
    if isinstance(reading, Unseen):
        yield _unseen(condition.kind, reading)
        return
    holding = _holding(condition, rules, readings, memory.settling, now)
    if holding is not None:
        yield Hold(condition.kind, condition.kind, holding, condition.told)
        return
    ended_s = memory.settling.ended_s(condition.kind, now.steady_s)
    if ended_s is not None and ended_s < condition.settles_s:
        held = condition.held(now.ms_at(now.steady_s - ended_s))
        left_s = condition.settles_s - ended_s
        yield Hold(condition.kind, condition.kind, held, condition.told, left_s)


def _holding(
    condition: Condition, rules: VolunteerRules, readings: Readings, settling: Settling, now: Now
) -> Reason | None:
    reading = readings.of(condition.kind)
    if isinstance(reading, Unseen) or condition.kind not in required(rules, readings):
        return None
    ended_s = settling.ended_s(condition.kind, now.steady_s)
    lately = ended_s is not None and ended_s < condition.settles_s
    return condition.holds(rules, reading.value, lately)


def _short_of_memory(rules: VolunteerRules, free_mb: float, *, lately: bool) -> Reason | None:
    floor_mb = rules.free_memory_mb * (ROOMIER if lately else 1.0)
    if free_mb >= floor_mb:
        return None
    return why.HeldByMemory(round(free_mb), rules.free_memory_mb)


def _unseen(kind: Kind, reading: Unseen) -> Hold:
    blind = why.HeldBlind(kind.value, reading.because)
    return Hold(Cause.UNSEEN, kind, blind, told.CannotSeeOwner())


def description(kind: Kind, readings: Readings, memory: Memory, now: Now) -> Reason:
    """Return what the sources of one kind saw last, or why they cannot see: "Last input seen 12 s
    ago". Whether that holds the machine back plays no part."""
    reading = readings.of(kind)
    by = getattr(reading, "by", "")
    match reading, kind:
        case Unseen(because=because), _:
            return why.Blind(kind.value, because)
        case _, Kind.INPUT:
            return _last_input(readings, now, by)
        case _, Kind.SESSION:
            return _sessions(readings, by)
        case Seen(value), Kind.PROCESSOR:
            seen = why.LoadSeenBusy if memory.busy.now else why.LoadSeen
            return seen(round(value), by)
        case Seen(value), _:
            return next(each for each in SETTLING if each.kind is kind).seen(value, by)


def _last_input(readings: Readings, now: Now, by: str) -> Reason:
    assert isinstance(readings.input, Seen)
    last = readings.input.value
    if last.at_s == float("-inf"):
        return why.NobodyLoggedIn(by)
    at_ms = now.ms_at(last.at_s)
    return (
        why.LastInputInTerminal(at_ms, last.where, by)
        if last.where
        else why.LastInputSeen(at_ms, by)
    )


def _sessions(readings: Readings, by: str) -> Reason:
    match sessions_of(readings):
        case Sessions(nobody=True):
            return why.NobodyLoggedIn(by)
        case Sessions(locked=True, others=()):
            return why.ScreenLocked(by)
        case Sessions(locked=True, others=others):
            return why.ScreenLockedOthers(others, by)
        case Sessions(others=()):
            return why.ScreenUnlocked(by)
        case Sessions(others=others):
            return why.ScreenUnlockedOthers(others, by)
