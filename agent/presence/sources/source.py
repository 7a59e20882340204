"""The interface of all sources of presence, and the sources that are made of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from agent.api.presence_reasons import Blindness, NothingShowsIt, SystemSays
from agent.presence.readings import Reading, Seen, Unseen

T = TypeVar("T")

TRY_BETTER_EVERY_S = 30.0


class SightError(OSError):
    """What shows it cannot be asked: ``reason`` says why, a text is what the system said."""

    def __init__(self, reason: Blindness | str) -> None:
        super().__init__(str(reason))
        self.reason = SystemSays(reason) if isinstance(reason, str) else reason


class Source(Protocol[T]):
    """Sees one kind of thing about the machine."""

    def read(self) -> Reading[T]:
        """Return what there is to see now, or why it cannot be seen; takes no longer than a
        moment."""

    def close(self) -> None:
        """Let go of what it holds open; it may be read again afterwards."""


class Blind(Generic[T]):
    """A source that never sees anything, and says why."""

    def __init__(self, because: Blindness) -> None:
        self._because = because

    def read(self) -> Reading[T]:
        return Unseen(self._because)

    def close(self) -> None:
        """Do nothing, as nothing is held open."""


class FirstThatSees(Generic[T]):
    """Several ways to see the same, the best first. A worse one is left when a better one sees."""

    def __init__(self, sources: Sequence[Source[T]], clock: Callable[[], float]) -> None:
        self._sources, self._clock = tuple(sources), clock
        self._chosen = len(self._sources)
        self._tried_s = float("-inf")

    def read(self) -> Reading[T]:
        """Return the reading of the best source that sees; another one is tried when it does not,
        and better ones now and then."""
        now_s = self._clock()
        if self._chosen and now_s - self._tried_s >= TRY_BETTER_EVERY_S:
            return self._choose(now_s)
        if self._chosen < len(self._sources):
            reading = self._sources[self._chosen].read()
            if isinstance(reading, Seen):
                return reading
        return self._choose(now_s)

    def close(self) -> None:
        for each in self._sources:
            each.close()

    def _choose(self, now_s: float) -> Reading[T]:
        self._tried_s = now_s
        reasons: dict[Blindness, None] = {}
        for number, source in enumerate(self._sources):
            reading = source.read()
            if isinstance(reading, Seen):
                self._chosen = number
                return reading
            reasons.update(dict.fromkeys(reading.because))
        self._chosen = len(self._sources)
        return Unseen(*(reasons or [NothingShowsIt()]))
