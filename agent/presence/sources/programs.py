"""Which of the exclusive programs run, by the names of all processes of this machine.

Names are compared without case and without ``.exe``. How names are listed differs by system; this
node's own processes are left out, because a task in a program of that name must not stop itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable

from agent.api.presence_reasons import ProgramsHidden
from agent.presence.readings import Reading, Seen, Unseen
from agent.presence.sources import Source

NAME_LENGTH = 15
"""Linux keeps so much of a name."""

ListNames = Callable[[], Iterable[tuple[int, str]]]
"""The number and name of each process; raises ``OSError``."""


class ExclusivePrograms(Source[tuple[str, ...]]):
    """Looks for the names that ``watch`` was told last."""

    def __init__(self, names: ListNames, own: Callable[[], Collection[int]]) -> None:
        self._names, self._own = names, own
        self._watched: tuple[str, ...] = ()

    def watch(self, names: tuple[str, ...]) -> None:
        """Look for these from now on."""
        self._watched = names

    def read(self) -> Reading[tuple[str, ...]]:
        """Return, sorted and as they were named, which of the watched programs run, without those
        that this node has started; names are compared as ``plain`` has them. Unseen when processes
        cannot be listed. Without any to watch none is looked for."""
        wanted = {plain(each): each for each in self._watched}
        if not wanted:
            return Seen(())
        try:
            running = [(pid, plain(name)) for pid, name in self._names()]
        except OSError as error:
            return Unseen(ProgramsHidden(error.strerror or str(error)))
        found = [(pid, name) for pid, name in running if name in wanted]
        if found:
            own = self._own()
            found = [each for each in found if each[0] not in own]
        return Seen(tuple(sorted({wanted[name] for _, name in found})))


def plain(name: str) -> str:
    """Return a program's name as it is compared: without case and ``.exe``, cut to a length."""
    return name.strip().casefold().removesuffix(".exe")[:NAME_LENGTH]


def names_to_choose(processes: Iterable[tuple[int, str]], own: Collection[int]) -> tuple[str, ...]:
    """Return the names of these processes, sorted, each once and without ``.exe``; those of this
    process and its ``own``, and such as no list between commas can hold, are left out."""
    found: dict[str, str] = {}
    for pid, name in processes:
        compared = plain(name)
        if pid not in own and pid != os.getpid() and compared and "," not in name:
            whole = name.strip()
            shown = whole[:-4] if whole.casefold().endswith(".exe") else whole
            found.setdefault(compared, shown)
    return tuple(found[each] for each in sorted(found))


def own_processes() -> frozenset[int]:
    """Return the ids of all processes below this one; empty when they cannot be told."""
    import psutil

    try:
        return frozenset(each.pid for each in psutil.Process().children(recursive=True))
    except psutil.Error:
        return frozenset()
