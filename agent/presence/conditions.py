"""What makes a machine count as used: one condition for each thing that there is to see.

Each says whether it holds the machine back, in words. A condition whose source cannot see holds,
with what the source says of itself. Where a person has locked the screen and left, neither what
fills the screen nor an unseen keyboard matters: the lock itself says who is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agent.presence import latches, touch
from agent.presence.judgement import Cause, Hold, Memory, Now
from agent.presence.latches import Settling
from agent.presence.readings import Kind, Reading, Readings, Seen, Sessions, Unseen
from agent.presence.rules import NO_MATTER_PERCENT, Rules
from agent.presence.words import listed, long

USED = "its owner uses it"
UNSURE = "it cannot be seen whether somebody uses it"
ROOMIER = 1.25
"""Memory has to be freer than the floor by this much before it counts as enough again."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds while it is there, and for ``settles_s`` afterwards."""

    cause: Cause
    kind: Kind
    what: str
    """Ends "cannot see"."""
    wanted: Callable[[Rules, Readings], bool]
    reading: Callable[[Readings], Reading[Any]]
    text: Callable[[Rules, Any, bool], str]
    """What holds the machine back, empty for nothing; the flag: it did so until lately."""
    ended: str
    told: str
    settles_s: float


EXCLUSIVE = Condition(
    Cause.PROGRAM,
    Kind.PROGRAMS,
    "which programs run",
    lambda rules, _: bool(rules.exclusive_programs),
    lambda readings: readings.exclusive,
    lambda _, names, __: f"{listed(names)} runs" if names else "",
    "an exclusive program has ended only",
    USED,
    10.0,
)
MAINS = Condition(
    Cause.MAINS,
    Kind.MAINS,
    "whether this machine is on mains",
    lambda rules, _: rules.on_mains_only,
    lambda readings: readings.on_mains,
    lambda _, on_mains, __: "" if on_mains else "this machine runs on battery",
    "this machine was plugged in only",
    "it runs on battery",
    10.0,
)
FULL_SCREEN = Condition(
    Cause.FULL_SCREEN,
    Kind.FULL_SCREEN,
    "whether a program fills the screen",
    lambda rules, readings: rules.full_screen_counts and not away(readings),
    lambda readings: readings.full_screen,
    lambda _, who, __: who,
    "a program filled the screen until",
    USED,
    10.0,
)
MEMORY = Condition(
    Cause.MEMORY,
    Kind.MEMORY,
    "how much memory is free",
    lambda rules, _: rules.free_memory_mb > 0,
    lambda readings: readings.free_memory_mb,
    lambda rules, free_mb, lately: _short_of_memory(rules, free_mb, lately=lately),
    "memory came free only",
    "it is short of memory",
    30.0,
)
SETTLING = (EXCLUSIVE, MAINS, FULL_SCREEN, MEMORY)


def sessions_of(readings: Readings) -> Sessions:
    """Who is at the screens; nothing is known where that cannot be seen."""
    return readings.sessions.value if isinstance(readings.sessions, Seen) else Sessions()


def away(readings: Readings) -> bool:
    """Nobody is at the screen for sure: it is locked, or nobody is logged in at one."""
    sessions = sessions_of(readings)
    return sessions.locked or sessions.nobody


def required(rules: Rules, readings: Readings) -> frozenset[Kind]:
    """Return the kinds of things that have to be seen for a decision, in a mode that looks at
    all."""
    kinds = {each.kind for each in SETTLING if each.wanted(rules, readings)}
    if rules.idle_s > 0 and not away(readings):
        kinds.add(Kind.INPUT)
    if rules.others_cpu_percent < NO_MATTER_PERCENT:
        kinds.add(Kind.PROCESSOR)
    return frozenset(kinds)


def remembered(rules: Rules, readings: Readings, memory: Memory, now: Now) -> Memory:
    """Return the memory after another look at the sources, whatever is decided from it."""
    touched = touch.locked(memory.touch, sessions_of(readings).locked, now.steady_s)
    if isinstance(readings.input, Seen):
        touched = touch.after(touched, readings.input.value, now.steady_s)
    busy, share = memory.busy, readings.others_cpu_percent
    if isinstance(share, Seen):
        busy = latches.busy_after(busy, share.value, rules.others_cpu_percent, now.steady_s)
    settling = memory.settling
    for each in SETTLING:
        holds = bool(_text(each, rules, readings, memory.settling, now))
        settling = settling.after(each.cause, holds=holds, now_s=now.steady_s)
    return Memory(touched, busy, settling)


def exclusive(rules: Rules, readings: Readings, memory: Memory, now: Now) -> Iterator[Hold]:
    """What counts in every mode."""
    yield from _settling(EXCLUSIVE, rules, readings, memory, now)


def presence(rules: Rules, readings: Readings, memory: Memory, now: Now) -> Iterator[Hold]:
    """Yield everything that holds the machine back where somebody may be there, the plainest
    first."""
    if rules.idle_s > 0:
        yield from _others(readings)
        yield from _input(rules, readings, memory, now)
    for each in (MAINS, FULL_SCREEN):
        yield from _settling(each, rules, readings, memory, now)
    yield from _processor(rules, readings, memory)
    yield from _settling(MEMORY, rules, readings, memory, now)


def _others(readings: Readings) -> Iterator[Hold]:
    others = sessions_of(readings).others
    if others:
        yield Hold(
            Cause.OTHERS,
            Kind.SESSION,
            f"{listed(others)} uses this machine",
            "somebody else uses it",
        )


def _input(rules: Rules, readings: Readings, memory: Memory, now: Now) -> Iterator[Hold]:
    if isinstance(readings.input, Unseen) and not away(readings):
        yield _unseen(Kind.INPUT, "keyboard and mouse", readings.input)
        return
    quiet_s = touch.quiet_s(memory.touch, now.steady_s)
    left_s = touch.needed_s(memory.touch, rules.idle_s) - quiet_s
    if left_s > 0:
        yield Hold(Cause.INPUT, Kind.INPUT, f"{_who(memory)} {long(quiet_s)} ago", USED, left_s)


def _who(memory: Memory) -> str:
    touched = memory.touch
    if touched.where:
        return f"somebody typed in {touched.where}"
    if touched.locked_since_s is not None:
        return "somebody touched the locked screen"
    return f"you {touched.how}"


def _processor(rules: Rules, readings: Readings, memory: Memory) -> Iterator[Hold]:
    limit, share = rules.others_cpu_percent, readings.others_cpu_percent
    if limit >= NO_MATTER_PERCENT:
        return
    if isinstance(share, Unseen):
        yield _unseen(Kind.PROCESSOR, "how busy the processor is", share)
    elif memory.busy.now is not False:
        text = _busy_text(share.value, limit)
        yield Hold(Cause.PROCESSOR, Kind.PROCESSOR, text, "other programs are busy on it")


def _busy_text(percent: float, limit: int) -> str:
    if percent > limit:
        return f"other programs use {percent:.0f} % of the processor, more than {limit} %"
    return f"other programs used more than {limit} % of the processor a moment ago"


def _settling(
    condition: Condition, rules: Rules, readings: Readings, memory: Memory, now: Now
) -> Iterator[Hold]:
    if not condition.wanted(rules, readings):
        return
    reading = condition.reading(readings)
    if isinstance(reading, Unseen):
        yield _unseen(condition.kind, condition.what, reading)
        return
    text = _text(condition, rules, readings, memory.settling, now)
    if text:
        yield Hold(condition.cause, condition.kind, text, condition.told)
        return
    ended_s = memory.settling.ended_s(condition.cause, now.steady_s)
    if ended_s is not None and ended_s < condition.settles_s:
        text = f"{condition.ended} {long(ended_s)} ago"
        left_s = condition.settles_s - ended_s
        yield Hold(condition.cause, condition.kind, text, condition.told, left_s)


def _text(
    condition: Condition, rules: Rules, readings: Readings, settling: Settling, now: Now
) -> str:
    reading = condition.reading(readings)
    if isinstance(reading, Unseen) or not condition.wanted(rules, readings):
        return ""
    ended_s = settling.ended_s(condition.cause, now.steady_s)
    lately = ended_s is not None and ended_s < condition.settles_s
    return condition.text(rules, reading.value, lately)


def _short_of_memory(rules: Rules, free_mb: float, *, lately: bool) -> str:
    floor_mb = rules.free_memory_mb * (ROOMIER if lately else 1.0)
    if free_mb >= floor_mb:
        return ""
    return f"only {free_mb:.0f} MB of memory are free, {rules.free_memory_mb} MB are kept for you"


def _unseen(kind: Kind, what: str, reading: Unseen) -> Hold:
    return Hold(Cause.UNSEEN, kind, f"cannot see {what}, because {reading.because}", UNSURE)
