"""Sources that say what a test has set, and count how often they were asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from agent.api.presence_reasons import NamedFills
from agent.presence.readings import Kind, LastInput, Reading, Seen, Sessions
from agent.presence.sources.source import Source, Sources

SAID: dict[str, Reading[Any]] = {
    "screen_input": Seen(LastInput(900.0), "X11"),
    "terminal_input": Seen(LastInput(800.0, None, "pts/1"), "terminals"),
    "sessions": Seen(Sessions(), "logind"),
    "mains": Seen(value=True),
    "full_screen": Seen(NamedFills("mpv")),
    "processor": Seen(7.0),
    "memory": Seen(4_000.0),
    "programs": Seen(("blender",)),
}


@dataclass
class Asked:
    """Eight sources; an exception is raised."""

    said: dict[str, Reading[Any] | Exception] = field(default_factory=lambda: dict(SAID))
    reads: Counter[str] = field(default_factory=Counter)
    closed: set[str] = field(default_factory=set)
    watched: tuple[str, ...] = ()

    def sources(self) -> Sources:
        screen, terminal, *others = (_One(self, name) for name in SAID)
        of = dict(zip(Kind, ((screen, terminal), *((each,) for each in others)), strict=True))
        return Sources({kind: tuple(each) for kind, each in of.items()}, self._watch)

    def reads_of(self, kind: Kind) -> int:
        """How often this kind was looked at."""
        [each] = {self.reads[one.name] for one in self.sources().of[kind] if isinstance(one, _One)}
        return each

    def _watch(self, names: tuple[str, ...]) -> None:
        self.watched = names


@dataclass(frozen=True)
class _One(Source[Any]):
    asked: Asked
    name: str

    def read(self) -> Reading[Any]:
        self.asked.reads[self.name] += 1
        found = self.asked.said[self.name]
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        self.asked.closed.add(self.name)
