"""What each source sees now, in a sentence for whoever sets the rules of a machine."""

from __future__ import annotations

from agent.presence.conditions import sessions_of
from agent.presence.judgement import Memory, Now
from agent.presence.readings import Kind, Reading, Readings, Seen, Unseen
from agent.presence.words import listed, long

NAMES = {
    Kind.INPUT: "Last input",
    Kind.SESSION: "Screens",
    Kind.MAINS: "Mains",
    Kind.FULL_SCREEN: "Full screen",
    Kind.PROCESSOR: "Processor",
    Kind.MEMORY: "Memory",
    Kind.PROGRAMS: "Exclusive programs",
}


def describe(kind: Kind, readings: Readings, memory: Memory, now: Now) -> str:
    """Return what the sources of one kind see, or why they cannot, in one sentence like "Last input
    seen 12 s ago, by X11"."""
    reading = reading_of(kind, readings)
    if isinstance(reading, Unseen):
        return f"{NAMES[kind]}: cannot be seen, because {reading.because}"
    text = _seen(kind, readings, memory, now)
    return f"{text}, by {reading.by}" if reading.by else text


def reading_of(kind: Kind, readings: Readings) -> Reading[object]:
    """Return the reading of one kind out of all readings."""
    found: dict[Kind, Reading[object]] = {
        Kind.INPUT: _any(readings.input),
        Kind.SESSION: _any(readings.sessions),
        Kind.MAINS: _any(readings.on_mains),
        Kind.FULL_SCREEN: _any(readings.full_screen),
        Kind.PROCESSOR: _any(readings.others_cpu_percent),
        Kind.MEMORY: _any(readings.free_memory_mb),
        Kind.PROGRAMS: _any(readings.exclusive),
    }
    return found[kind]


def _any(reading: object) -> Reading[object]:
    assert isinstance(reading, Seen | Unseen)
    return reading


def _seen(kind: Kind, readings: Readings, memory: Memory, now: Now) -> str:
    value = reading_of(kind, readings)
    assert isinstance(value, Seen)
    match kind:
        case Kind.INPUT:
            return _input_text(readings, now)
        case Kind.SESSION:
            return _sessions_text(readings)
        case Kind.MAINS:
            return "This machine is on mains" if value.value else "This machine runs on battery"
        case Kind.FULL_SCREEN:
            return f"{value.value}".capitalize() if value.value else "Nothing fills the screen"
        case Kind.PROCESSOR:
            latch = ", counted as busy" if memory.busy.now else ""
            return f"Other programs use {value.value:.0f} % of the processor{latch}"
        case Kind.MEMORY:
            return f"{value.value:.0f} MB of memory are free"
        case Kind.PROGRAMS:
            assert isinstance(value.value, tuple)
            return f"{listed(value.value)} runs" if value.value else "No exclusive program runs"


def _input_text(readings: Readings, now: Now) -> str:
    assert isinstance(readings.input, Seen)
    last = readings.input.value
    ago_s = now.steady_s - last.at_s
    if ago_s == float("inf"):
        return "Nobody is logged in at a screen"
    where = f" in {last.where}" if last.where else ""
    return f"Last input seen {long(ago_s)} ago{where}"


def _sessions_text(readings: Readings) -> str:
    sessions = sessions_of(readings)
    if sessions.nobody:
        return "Nobody is logged in at a screen"
    text = "The screen is locked" if sessions.locked else "The screen is not locked"
    return f"{text}; {listed(sessions.others)} uses another" if sessions.others else text
