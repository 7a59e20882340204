"""What desktops of people tell an agent that is a service, and what they tell it.

A service sees no keyboard and no screen. So the tray of each person who is logged in looks, and says
every second how long they have touched nothing, whether they have locked the screen, and whether
something fills it. Of several people the one counts who is busiest. A word that is older than a few
seconds says nothing any more: the source is blind again then, which counts as somebody present.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.api.presence_reasons import Filling, NothingShowsIt, ProgramFills, RunsAsService
from agent.api.volunteering import AtHand
from agent.presence.looking import Looker, native_sources
from agent.presence.readings import Kind, LastInput, Reading, Seen, Sessions
from agent.presence.sources import Asked, FirstThatSees, SightError, Source, Sources

FRESH_S = 5.0
BY = "the tray"
_SEEN = (Kind.INPUT, Kind.SESSION, Kind.FULL_SCREEN)


@dataclass(frozen=True, slots=True)
class _Word:
    said: AtHand
    at_s: float


class Words:
    """The last word of each person, by the name of the account. May be used in any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._turn = clock, threading.Lock()
        self._of: dict[str, _Word] = {}

    def hear(self, person: str, said: AtHand) -> None:
        """Note what a person's tray says now."""
        with self._turn:
            self._of[person] = _Word(said, self._clock())

    def fresh(self) -> dict[str, _Word]:
        """Return what people's desktops told lately, by who told it; forget what is older."""
        with self._turn:
            oldest_s = self._clock() - FRESH_S
            self._of = {name: each for name, each in self._of.items() if each.at_s >= oldest_s}
            return dict(self._of)

    def last_input(self) -> LastInput:
        """Return when somebody last touched something, as people's desktops tell. Raises
        ``SightError`` where none has told lately, or one of them cannot see it."""
        words = list(self.fresh().values())
        if not words:
            raise SightError(RunsAsService())
        at_s = [
            each.at_s - each.said.idle_ms / 1000 for each in words if each.said.idle_ms is not None
        ]
        if len(at_s) < len(words):
            raise SightError(NothingShowsIt())
        return LastInput(max(at_s))

    def filling(self) -> Filling | None:
        """Return that something fills a screen, None when nothing does, as people's desktops tell.
        Raises ``SightError`` where none has told lately."""
        words = self.fresh().values()
        if not words:
            raise SightError(RunsAsService())
        return ProgramFills() if any(each.said.filled for each in words) else None


class ToldSessions(Source[Sessions]):
    """Who is at the screens, those who tell of themselves not being others any more."""

    def __init__(self, sessions: Source[Sessions], words: Words) -> None:
        self._sessions, self._words = sessions, words

    def read(self) -> Reading[Sessions]:
        """Return what the system sees, those who tell of themselves left out of the others; locked,
        whatever the system says, where all who tell have locked the screen and nobody else is
        there, else not. Where nobody tells, or the system cannot see, its reading is returned as it
        is."""
        reading, words = self._sessions.read(), self._words.fresh()
        if not words or not isinstance(reading, Seen):
            return reading
        others = tuple(each for each in reading.value.others if each not in words)
        locked = not others and all(each.said.locked for each in words.values())
        return Seen(replace(reading.value, others=others, locked=locked), reading.by)

    def close(self) -> None:
        self._sessions.close()


def sources_for(words: Words, *, service: bool) -> Sources:
    """Return the sources of presence of an agent; a service sees what people's trays tell, too."""
    sources = native_sources(time.monotonic)
    return with_words(sources, words, time.monotonic) if service else sources


def with_words(sources: Sources, words: Words, clock: Callable[[], float]) -> Sources:
    """Return the sources of a machine with what people's desktops tell: the last input and what
    fills a screen where the machine itself cannot see them, and who has locked theirs."""
    screen, *terminals = sources.of[Kind.INPUT]
    (full,) = sources.of[Kind.FULL_SCREEN]
    (sessions,) = sources.of[Kind.SESSION]
    told = {
        Kind.INPUT: (FirstThatSees((screen, Asked(words.last_input, BY)), clock), *terminals),
        Kind.FULL_SCREEN: (FirstThatSees((full, Asked(words.filling, BY)), clock),),
        Kind.SESSION: (ToldSessions(sessions, words),),
    }
    return Sources({**sources.of, **told}, sources.watch)


class Desktop:
    """What the desktop of this process's person shows, as it is told; for one thread."""

    def __init__(
        self, sources: Sources | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sources, self._clock = sources or native_sources(clock), clock
        self._looker = Looker(self._sources, clock)

    def word(self) -> AtHand:
        """Look at this desktop and return what its tray tells the service; what cannot be seen
        counts as somebody present."""
        self._looker.look(_SEEN, brisk=True)
        seen = self._looker.readings(0)
        idle_ms = None
        if isinstance(seen.input, Seen):
            idle_ms = round(max(0.0, min(self._clock() - seen.input.value.at_s, 1e9)) * 1000)
        locked = isinstance(seen.sessions, Seen) and seen.sessions.value.locked
        filled = not isinstance(seen.full_screen, Seen) or seen.full_screen.value is not None
        return AtHand(idle_ms, locked, filled)

    def close(self) -> None:
        """Let go of what the sources hold open."""
        self._sources.close()
