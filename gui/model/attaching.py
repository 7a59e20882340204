"""What a person attaches to a gate: which file stands for which name, and what is missing, in words.

Names are in the order of the gate's outputs, so a gap in them cannot be sent: the tasks behind would
be given the wrong files; only a name with a ``?`` may be left open. A gate without names takes files
in the order in which they were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.api.phrases import LEFT_OPEN
from agent.api.work import ATTACHED_MAX
from gui.words import tr


@dataclass(slots=True)
class Attaching:
    """The files that are chosen so far."""

    names: tuple[str, ...]
    _named: dict[str, Path] = field(default_factory=dict)
    _more: list[Path] = field(default_factory=list)

    def choose(self, name: str, path: Path) -> None:
        """Take this file for that name, instead of any other."""
        self._named[name] = path

    def offer(self, paths: Sequence[Path]) -> list[Path]:
        """Give each file to the gate's name that equals its own without its ending, replacing an
        earlier file, and other files to names still without one; where the gate has no names, take
        all new ones there is room for. Return those that found no place."""
        if not self.names:
            fresh = [each for each in dict.fromkeys(paths) if each not in self._more]
            room = ATTACHED_MAX - len(self._more)
            self._more += fresh[:room]
            return fresh[room:]
        strangers = []
        for path in paths:
            name = next(
                (n for n in self.names if path.stem.casefold() == shown_name(n).casefold()), None
            )
            if name is None:
                strangers.append(path)
            else:
                self._named[name] = path
        free = [name for name in self.names if name not in self._named]
        for name, path in zip(free, strangers, strict=False):
            self._named[name] = path
        return strangers[len(free) :]

    def remove(self, path: Path) -> None:
        """Let go of a file, wherever it stands."""
        self._named = {name: each for name, each in self._named.items() if each != path}
        self._more = [each for each in self._more if each != path]

    def path_of(self, name: str) -> Path | None:
        """Return the file for a name; None where there is none yet."""
        return self._named.get(name)

    @property
    def paths(self) -> list[Path]:
        """In the order in which they are sent."""
        return [path for path in self.in_places if path is not None]

    @property
    def in_places(self) -> list[Path | None]:
        """What is sent for each name up to the last that has a file, None where that is left open;
        without names the files."""
        last = max((self.names.index(name) for name in self._named), default=-1)
        return [self._named.get(name) for name in self.names[: last + 1]] or [*self._more]

    def gap(self) -> str:
        """Return why the chosen files cannot be sent, as a name without a file stands before one
        that has its file; empty where they can."""
        sent = len(self.in_places)
        before = next((name for name in self._lacking() if self.names.index(name) < sent), "")
        if not before:
            return ""
        return tr("{name} comes before what you chose: choose a file for it too.", name=before)

    def missing(self) -> str:
        """Return a sentence that lists the names without a file; empty where each has one, or may be
        left open."""
        missing = self._lacking()
        if not missing:
            return ""
        listed = ", ".join(missing)
        return tr("Still missing: {names}. The tasks behind this step may need it.", names=listed)

    def _lacking(self) -> list[str]:
        return [
            each for each in self.names if each not in self._named and not each.endswith(LEFT_OPEN)
        ]


def shown_name(name: str) -> str:
    """Return the name without the sign that it may be left open."""
    return name.removesuffix(LEFT_OPEN)
