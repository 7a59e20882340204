"""Looks at the sources, each as often as is worth it, and puts together what they saw.

Only what a verdict needs is looked at, so that a machine set to *always* looks at nothing. What is
not needed any more is forgotten: a reading from last night must not speak for this morning. A
source that breaks counts as one that cannot see.

The last input is what two sources saw: the screen, and terminals. Terminals alone do not do, except
where nobody is logged in at a screen.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from agent.api.presence_reasons import Filling, SourceFailed
from agent.presence.readings import (
    NOT_READ,
    Kind,
    LastInput,
    Reading,
    Readings,
    Seen,
    Sessions,
    Unseen,
)
from agent.presence.sources.source import Source

BRISK_S = {
    Kind.INPUT: 0.0,
    Kind.SESSION: 1.0,
    Kind.MAINS: 5.0,
    Kind.FULL_SCREEN: 2.0,
    Kind.PROCESSOR: 2.5,
    Kind.MEMORY: 2.5,
    Kind.PROGRAMS: 5.0,
}
"""So often at most while tasks run."""
CALM_S = {
    Kind.INPUT: 0.0,
    Kind.SESSION: 4.0,
    Kind.MAINS: 10.0,
    Kind.FULL_SCREEN: 5.0,
    Kind.PROCESSOR: 5.0,
    Kind.MEMORY: 10.0,
    Kind.PROGRAMS: 15.0,
}
"""And while none does."""
EARLY_S = 0.02

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of one machine. ``watch`` sets which exclusive programs are looked for."""

    screen_input: Source[LastInput]
    terminal_input: Source[LastInput]
    sessions: Source[Sessions]
    mains: Source[bool]
    full_screen: Source[Filling | None]
    processor: Source[float]
    memory: Source[float]
    programs: Source[tuple[str, ...]]
    watch: Callable[[tuple[str, ...]], None]

    def of(self, kind: Kind) -> tuple[Source[Any], ...]:
        """Return the sources that see one kind of thing."""
        found: dict[Kind, tuple[Source[Any], ...]] = {
            Kind.INPUT: (self.screen_input, self.terminal_input),
            Kind.SESSION: (self.sessions,),
            Kind.MAINS: (self.mains,),
            Kind.FULL_SCREEN: (self.full_screen,),
            Kind.PROCESSOR: (self.processor,),
            Kind.MEMORY: (self.memory,),
            Kind.PROGRAMS: (self.programs,),
        }
        return found[kind]

    def close(self) -> None:
        """Close all sources."""
        for kind in Kind:
            for each in self.of(kind):
                each.close()


class Looker:
    """The last reading of each source, and when it was read."""

    def __init__(self, sources: Sources, clock: Callable[[], float]) -> None:
        self._sources, self._clock = sources, clock
        self._read: dict[Kind, tuple[Reading[Any], ...]] = {}
        self._read_s: dict[Kind, float] = {}
        self._faulty: set[int] = set()

    def look(self, kinds: Collection[Kind], *, brisk: bool, now: bool = False) -> None:
        """Read the sources of these kinds that are due; forget the others.

        ``now``: all of them are due.
        """
        pace_s = BRISK_S if brisk else CALM_S
        for kind in Kind:
            if kind not in kinds:
                self._read.pop(kind, None)
                self._read_s.pop(kind, None)
            elif now or self._clock() - self._read_s.get(kind, float("-inf")) >= (
                pace_s[kind] - EARLY_S
            ):
                self._read_s[kind] = self._clock()
                self._read[kind] = tuple(map(self._see, self._sources.of(kind)))

    def readings(self, running: int) -> Readings:
        """Return everything as it was seen last; ``running`` is how many tasks run here."""
        sessions = self._one(Kind.SESSION)
        return Readings(
            input=self._input(sessions),
            sessions=sessions,
            on_mains=self._one(Kind.MAINS),
            full_screen=self._one(Kind.FULL_SCREEN),
            others_cpu_percent=self._one(Kind.PROCESSOR),
            free_memory_mb=self._one(Kind.MEMORY),
            exclusive=self._one(Kind.PROGRAMS),
            running=running,
        )

    def read_s(self, kind: Kind) -> float | None:
        """Return when sources of this kind were read last, on the clock of this looker; None when
        they were not."""
        return self._read_s.get(kind)

    def _see(self, source: Source[Any]) -> Reading[Any]:
        """What a source sees. One that breaks is told of in the log once, not at every look."""
        try:
            reading = source.read()
        except Exception as error:
            if id(source) not in self._faulty:
                log.exception("a source of presence is at fault")
            self._faulty.add(id(source))
            return Unseen(SourceFailed(repr(error)))
        self._faulty.discard(id(source))
        return reading

    def _one(self, kind: Kind) -> Reading[Any]:
        return self._read.get(kind, (NOT_READ,))[0]

    def _input(self, sessions: Reading[Sessions]) -> Reading[LastInput]:
        screen, terminal = self._read.get(Kind.INPUT, (NOT_READ, NOT_READ))
        return last_of(screen, terminal, sessions)


def last_of(
    screen: Reading[LastInput], terminal: Reading[LastInput], sessions: Reading[Sessions]
) -> Reading[LastInput]:
    """Return the later of two inputs; unseen where the screen's cannot be seen, unless nobody is
    logged in."""
    if isinstance(screen, Unseen):
        nobody = isinstance(sessions, Seen) and sessions.value.nobody
        if not nobody:
            return screen
        screen = Seen(LastInput(float("-inf")), sessions.by if isinstance(sessions, Seen) else "")
    if isinstance(terminal, Unseen):
        return screen
    return screen if screen.value.at_s >= terminal.value.at_s else terminal
