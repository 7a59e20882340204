"""What each source sees now, for whoever sets the rules of a machine."""

from __future__ import annotations

from typing import Any

from agent.api import presence_reasons as why
from agent.api.reasons import Reason
from agent.presence.conditions import sessions_of
from agent.presence.judgement import Memory, Now
from agent.presence.readings import Kind, Reading, Readings, Seen, Sessions, Unseen


def description(kind: Kind, readings: Readings, memory: Memory, now: Now) -> Reason:
    """Return what the sources of one kind see, or why they cannot: "Last input seen 12 s ago"."""
    by = getattr(reading_of(kind, readings), "by", "")
    match reading_of(kind, readings), kind:
        case Unseen(because=because), _:
            return why.Blind(kind.value, because)
        case _, Kind.INPUT:
            return _last_input(readings, now, by)
        case _, Kind.SESSION:
            return _sessions(readings, by)
        case Seen(value), Kind.MAINS:
            return why.MainsSeen(by) if value else why.BatterySeen(by)
        case Seen(value), Kind.FULL_SCREEN:
            return why.ScreenFilled(value, by) if value else why.NothingFills(by)
        case Seen(value), Kind.PROCESSOR:
            seen = why.LoadSeenBusy if memory.busy.now else why.LoadSeen
            return seen(round(value), by)
        case Seen(value), Kind.MEMORY:
            return why.MemorySeen(round(value), by)
        case Seen(value), _:
            return why.ProgramsSeen(value, by) if value else why.NoProgramSeen(by)


def reading_of(kind: Kind, readings: Readings) -> Reading[Any]:
    """Return the reading of one kind out of all readings."""
    found: dict[Kind, Reading[Any]] = {
        Kind.INPUT: readings.input,
        Kind.SESSION: readings.sessions,
        Kind.MAINS: readings.on_mains,
        Kind.FULL_SCREEN: readings.full_screen,
        Kind.PROCESSOR: readings.others_cpu_percent,
        Kind.MEMORY: readings.free_memory_mb,
        Kind.PROGRAMS: readings.exclusive,
    }
    return found[kind]


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
