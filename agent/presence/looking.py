"""Looks at the sources, each as often as is worth it, and puts together what they saw.

Only what a verdict needs is looked at, so that a machine set to *always* looks at nothing. What is
not needed any more is forgotten: a reading from last night must not speak for this morning. A
source that breaks counts as one that cannot see.

The last input is what two sources saw: the screen, and terminals. Terminals alone do not do, except
where nobody is logged in at a screen.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection
from typing import Any

from agent.api.presence_reasons import SourceFailed
from agent.presence.readings import (
    LOOKS,
    NOT_READ,
    Kind,
    LastInput,
    Reading,
    Readings,
    Seen,
    Sessions,
    Unseen,
)
from agent.presence.sources import Source, Sources
from agent.presence.sources.programs import names_to_choose, own_processes

EARLY_S = 0.02

log = logging.getLogger(__name__)


def native_sources(clock: Callable[[], float]) -> Sources:
    """Return the sources of presence for this system, Windows or, on all others, Linux and its
    like; none is read yet. ``clock`` tells monotonic seconds."""
    if sys.platform == "win32":
        from agent.presence.sources.native_windows import sources_of
        from agent.presence.sources.windows_calls import WindowsCalls

        return sources_of(WindowsCalls(), clock)
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.presence.sources.native_linux import linux_sources

        return linux_sources(clock)


def running_programs() -> tuple[str, ...]:
    """Return the names of the programs that the owner of this process runs on this machine, without
    itself and what it has started; raise ``OSError`` where the system does not list them."""
    if sys.platform == "win32":
        from agent.presence.sources.windows_calls import WindowsCalls

        return names_to_choose(WindowsCalls().names_of_person(), own_processes())
    else:  # noqa: RET505 - as above
        from agent.presence.sources.linux import linux_names_of_person

        return names_to_choose(linux_names_of_person(), own_processes())


class Looker:
    """The last reading of each source, and when it was read."""

    def __init__(self, sources: Sources, clock: Callable[[], float]) -> None:
        self._sources, self._clock = sources, clock
        self._read: dict[Kind, tuple[Reading[Any], ...]] = {}
        self._read_s: dict[Kind, float] = {}
        self._faulty: set[int] = set()

    def look(self, kinds: Collection[Kind], *, brisk: bool, now: bool = False) -> None:
        """Read the sources of these kinds that are due, more often if ``brisk``, all of them with
        ``now``, and forget what the others saw. A source that breaks counts as one that cannot see,
        and is logged once."""
        for kind, each in LOOKS.items():
            pace_s = (each.brisk_s if brisk else each.idle_s) - EARLY_S
            if kind not in kinds:
                self._read.pop(kind, None)
                self._read_s.pop(kind, None)
            elif now or self._clock() - self._read_s.get(kind, float("-inf")) >= pace_s:
                self._read_s[kind] = self._clock()
                self._read[kind] = tuple(map(self._see, self._sources.of[kind]))

    def readings(self, running: int) -> Readings:
        """Return everything as it was seen last, not looked at anew, kinds that were not read as
        unseen; ``running`` is how many tasks run here."""
        found = {LOOKS[kind].field: read[0] for kind, read in self._read.items()}
        screen, terminal = self._read.get(Kind.INPUT, (NOT_READ, NOT_READ))
        found["input"] = last_of(screen, terminal, found.get("sessions", NOT_READ))
        return Readings(**found, running=running)

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


def last_of(
    screen: Reading[LastInput], terminal: Reading[LastInput], sessions: Reading[Sessions]
) -> Reading[LastInput]:
    """Return the later of two inputs; unseen where the screen's cannot be seen, unless nobody is
    logged in at one, when the terminal's counts. One of the terminals that cannot be seen is left
    out."""
    if isinstance(screen, Unseen):
        nobody = isinstance(sessions, Seen) and sessions.value.nobody
        if not nobody:
            return screen
        screen = Seen(LastInput(float("-inf")), sessions.by if isinstance(sessions, Seen) else "")
    if isinstance(terminal, Unseen):
        return screen
    return screen if screen.value.at_s >= terminal.value.at_s else terminal
