"""What sees: one file for each thing outside that shows it.

A source is asked now and then, in one thread, and answers with what it sees or with why it cannot.
It never guesses, never waits longer than a moment, and never sees keys: only when, not what.

Here stands what all sources are, and those that are made of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from agent.api.presence_reasons import Blindness, NothingShowsIt, SystemSays
from agent.presence.readings import Kind, Reading, Seen, Sessions, Unseen

T = TypeVar("T")

TRY_BETTER_EVERY_S = 30.0


class SightError(OSError):
    """What shows it cannot be asked: ``reason`` says why, a text is what the system said."""

    def __init__(self, reason: Blindness | str) -> None:
        super().__init__(str(reason))
        self.reason = SystemSays(reason) if isinstance(reason, str) else reason


class Source(Generic[T]):
    """Sees one kind of thing about the machine."""

    def read(self) -> Reading[T]:
        """Return what there is to see now, or ``Unseen`` with the reason why it cannot be seen;
        returns within a moment."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what it holds open; it may be read again afterwards."""


class Asked(Source[T]):
    """Sees what a question is answered with; a ``SightError`` of it says why nothing is seen."""

    def __init__(
        self, ask: Callable[[], T], by: str = "", close: Callable[[], object] = lambda: None
    ) -> None:
        self._ask, self.by, self._close = ask, by, close

    def read(self) -> Reading[T]:
        """Ask the question and return its answer as seen, or unseen with the reason where it raises
        ``SightError``; all other exceptions pass."""
        try:
            return Seen(self._ask(), self.by)
        except SightError as error:
            return Unseen(error.reason)

    def close(self) -> None:
        self._close()


def blind(because: Blindness) -> Source[Any]:
    """Return a source that is always unseen, with this as the reason why."""

    def refuse() -> None:
        raise SightError(because)

    return Asked(refuse)


class FirstThatSees(Source[T]):
    """Several ways to see the same, the best first. A worse one is left when a better one sees."""

    def __init__(self, sources: Sequence[Source[T]], clock: Callable[[], float]) -> None:
        self._sources, self._clock = tuple(sources), clock
        self._chosen = len(self._sources)
        self._tried_s = float("-inf")

    def read(self) -> Reading[T]:
        """Return the reading of the source that was chosen, the best that saw; where it does not
        see, and now and then for a better one, all are tried in order. Unseen, with the reasons of
        all, when none sees."""
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


class Screens(Source[Sessions]):
    """Sessions and screen savers together: a screen is left when either says so.

    Where no session service runs, a screen saver alone still tells that somebody has left; that
    nobody told of other people's screens then shows in the reading of the sessions.
    """

    def __init__(self, sessions: Source[Sessions], savers: Sequence[Source[bool]]) -> None:
        self._sessions, self._savers = sessions, tuple(savers)

    def read(self) -> Reading[Sessions]:
        """Return who is at the screens, or why that cannot be seen. A screen saver that is on makes
        the own one locked, even if who is there cannot be seen; one that cannot be read changes
        nothing."""
        reading = self._sessions.read()
        if isinstance(reading, Seen) and (reading.value.locked or reading.value.nobody):
            return reading
        for saver in self._savers:
            on = saver.read()
            if isinstance(on, Seen) and on.value:
                known = reading.value if isinstance(reading, Seen) else Sessions()
                return Seen(replace(known, locked=True), on.by)
        return reading

    def close(self) -> None:
        self._sessions.close()
        for each in self._savers:
            each.close()


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of one machine. ``watch`` sets which exclusive programs are looked for."""

    of: dict[Kind, tuple[Source[Any], ...]]
    """Those of the last input are two: the screen, and terminals."""
    watch: Callable[[tuple[str, ...]], None]

    def close(self) -> None:
        """Close all sources; they may be read again after that, which opens them anew."""
        for sources in self.of.values():
            for each in sources:
                each.close()
