"""How much the store may hold, and what leaves it when that is too little.

A machine lends its disk; it does not give it away. Without a setting the store may have half of what
would be free without it, and never the last of the disk. When something new has no room, what nobody
needs goes first, the longest unused at the head. If that is not enough, the new thing is refused by a
sentence, and nothing that is needed is touched. What was used a moment ago stays, because whoever
has just brought it here is about to say what for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.protocol.records import DatasetId
from agent.storage.datasets.errors import StoreFull
from agent.storage.datasets.index import Row
from agent.storage.datasets.objects import free_bytes

SHARE_OF_FREE_DISK = 0.5
DISK_LEFT_BYTES = 256 * 1024 * 1024
"""The disk is never filled further than this, whatever the setting says."""
JUST_USED_S = 600.0
DAY_S = 86_400.0
UNUSED_KEPT_S = 7 * DAY_S
"""What no workflow of the table refers to is kept this long after its last use."""
GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What must stay. ``needed``: by work that goes on; ``results``: of work that is over."""

    needed: frozenset[DatasetId] = frozenset()
    results: frozenset[DatasetId] = frozenset()


NOTHING_WANTED = Wanted()


@dataclass(frozen=True, slots=True)
class Quota:
    """How full the store is. ``free_bytes``: what it would still take."""

    used_bytes: int
    quota_bytes: int
    free_bytes: int


def evictable(rows: list[Row], wanted: Wanted, used_before_s: float) -> list[Row]:
    """Return the datasets that may be removed, the longest unused first: those that are neither
    needed nor results, and were used last before this moment, in seconds since 1970."""
    stays = wanted.needed | wanted.results
    free = [row for row in rows if row.dataset not in stays and row.used_s < used_before_s]
    return sorted(free, key=lambda row: row.used_s)


class Room:
    """Counts what one store holds and may hold. Used by many threads."""

    def __init__(
        self,
        folder: Path,
        quota_bytes: int,
        evict: Callable[[int], None],
        just_used_s: float = JUST_USED_S,
    ) -> None:
        self._folder, self._setting, self._evict = folder, quota_bytes, evict
        self._turn = threading.RLock()
        self._used = 0
        self._promised = 0
        self.just_used_s = just_used_s

    def count(self, used_bytes: int) -> None:
        """Set how many bytes the store holds now."""
        with self._turn:
            self._used = used_bytes

    def add(self, size_bytes: int) -> None:
        """Add to how many bytes the store holds; a negative size takes away."""
        with self._turn:
            self._used = max(0, self._used + size_bytes)

    def quota(self) -> Quota:
        """Return how many bytes the store holds, may hold, and would still take now, of what the
        disk has free; raise ``OSError`` when the disk does not say."""
        disk_bytes = free_bytes(self._folder)
        with self._turn:
            used = self._used + self._promised
            quota = self._setting or int((disk_bytes + self._used) * SHARE_OF_FREE_DISK)
            left = min(quota - used, disk_bytes - DISK_LEFT_BYTES - self._promised)
            return Quota(self._used, quota, max(0, left))

    @contextmanager
    def reserved(self, size_bytes: int, what: str) -> Iterator[None]:
        """Reserve room for this many bytes while the block runs, removing datasets that nobody
        needs if there is too little; raise ``StoreFull`` before the block when that does not do,
        ``OSError`` when the disk does not say how much is free. ``what`` is named in its sentence;
        what the block has written has to be counted by ``add``."""
        self._promise(size_bytes, what)
        try:
            yield
        finally:
            with self._turn:
                self._promised -= size_bytes

    def before_s(self) -> float:
        """Return the moment since which what was used stays."""
        return time.time() - self.just_used_s

    def _promise(self, size_bytes: int, what: str) -> None:
        lacking_bytes = self._try(size_bytes)
        if lacking_bytes:
            self._evict(lacking_bytes)
            lacking_bytes = self._try(size_bytes)
        if lacking_bytes:
            quota = self.quota()
            raise StoreFull(
                f"The datasets on this machine have no room for {what} ({in_words(size_bytes)}):"
                f" {in_words(quota.used_bytes)} of {in_words(quota.quota_bytes)} are taken by what"
                f" is needed, and {in_words(quota.free_bytes)} can be had; make room on the disk"
                " or raise datasets_gb in settings.toml."
            )

    def _try(self, size_bytes: int) -> int:
        """Take the room if it is there; how much is lacking."""
        with self._turn:
            lacking_bytes = size_bytes - self.quota().free_bytes
            if lacking_bytes <= 0 or not size_bytes:
                self._promised += size_bytes
                return 0
        return lacking_bytes


def in_words(size_bytes: int) -> str:
    """Return a size in units of a thousand as people read it, whole up to megabytes: "12 MB", "3.4
    GB"."""
    size = float(size_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
