"""A machine that is watched: what there is to see is set by a test, and what is handed on is kept."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from agent.api.reasons import Reason
from agent.api.volunteering import VolunteerRules
from agent.presence.readings import Kind, LastInput, Reading, Seen, Sessions
from agent.presence.sources import Source, Sources
from agent.presence.watching import PresenceWatcher
from agent.protocol.events import PresenceChanged
from agent.settings.editing import keep_rules
from agent.wording.speech import english

T = TypeVar("T")
NO_PROGRAMS: Seen[tuple[str, ...]] = Seen(())
WATCHFUL = VolunteerRules("when idle", idle_s=300)


class Told(Source[T]):
    """A source that says what a test has set, or raises it."""

    def __init__(self, value: Callable[[], Reading[T]]) -> None:
        self.value, self.reads, self.closed = value, 0, False

    def read(self) -> Reading[T]:
        self.reads += 1
        return self.value()

    def close(self) -> None:
        self.closed = True


@dataclass
class Machine:
    """What there is to see, and what was handed on."""

    input_s: float = float("-inf")
    running: int = 0
    mains: Callable[[], Reading[bool]] = lambda: Seen(value=True)
    processor: Reading[float] = field(default_factory=lambda: Seen(1.0))
    programs: Reading[tuple[str, ...]] = NO_PROGRAMS
    watched: tuple[str, ...] = ()
    handed: list[PresenceChanged] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    why: list[Reason] = field(default_factory=list)
    """Also where only the moment was another."""
    threads: set[str] = field(default_factory=set)
    made: list[Sources] = field(default_factory=list)

    def sources(self) -> Sources:
        found = Sources(
            {
                Kind.INPUT: (
                    Told(lambda: Seen(LastInput(self.input_s), "a test")),
                    Told(lambda: Seen(LastInput(float("-inf")))),
                ),
                Kind.SESSION: (Told(lambda: Seen(Sessions())),),
                Kind.MAINS: (Told(self.see_mains),),
                Kind.FULL_SCREEN: (Told(lambda: Seen(None)),),
                Kind.MEETING: (Told(lambda: Seen(None)),),
                Kind.PROCESSOR: (Told(lambda: self.processor),),
                Kind.MEMORY: (Told(lambda: Seen(4_000.0)),),
                Kind.PROGRAMS: (Told(lambda: self.programs),),
            },
            self._watch,
        )
        self.made.append(found)
        return found

    def see_mains(self) -> Reading[bool]:
        return self.mains()

    def _watch(self, names: tuple[str, ...]) -> None:
        self.watched = names
        self.threads.add(threading.current_thread().name)

    def hand(self, event: PresenceChanged | None, reason: Reason, paused: bool) -> None:
        assert threading.current_thread() is threading.main_thread()
        self.why.append(reason)
        if event is not None:
            assert not (paused and event.volunteering)
            self.handed.append(event)
            self.reasons.append(english(reason))

    @property
    def helps(self) -> bool:
        return bool(self.handed) and self.handed[-1].volunteering


@asynccontextmanager
async def presence(
    folder: Path, machine: Machine, rules: VolunteerRules = WATCHFUL, *, starts_paused: bool = False
) -> AsyncIterator[tuple[PresenceWatcher, Machine]]:
    """A watcher and what it watches, until the end of the block."""
    found = PresenceWatcher(
        folder,
        rules,
        partial(keep_rules, folder / "settings.toml"),
        starts_paused=starts_paused,
        running=lambda: machine.running,
        hand=machine.hand,
        make_sources=machine.sources,
    )
    found.start()
    try:
        yield found, machine
    finally:
        await found.stop()
