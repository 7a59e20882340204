"""Content that lies on this disk is read again now and then, at leisure, and a damaged copy replaced.

A disk that forgets, or a program that has got at a file after all, is found out otherwise only when
somebody wants that very file, which may be when the last good copy has gone. So one file after the other
is hashed again, all of them in some weeks; the disk is nobody else's for a small share of the time only.
Where it was, an agent notes on disk, so that a restart goes on there. What is damaged is deleted by the
store, which tells the flock; then it is fetched anew from who has it, and the log says so.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable

from agent.data.shared import in_thread
from agent.protocol.records import DatasetId
from agent.storage.datasets.errors import DatasetDamaged, DatasetError
from agent.storage.datasets.store import DatasetStore

DISK_SHARE = 0.02
"""Of the time that the disk is read for this, while a file is read."""
PAUSE_S_MAX = 2.0
BETWEEN_FILES_S = 1.0
ROUND_S = 14 * 24 * 3_600.0
"""From the beginning of one round to that of the next, unless it takes longer."""
NOTE = "scrubbed"
Bring = Callable[[DatasetId], Awaitable[None]]

log = logging.getLogger(__name__)


class Scrub:
    """Runs beside the loop from ``run`` until that is cancelled."""

    def __init__(self, store: DatasetStore, bring: Bring) -> None:
        self._store, self._bring = store, bring
        self._note = store.folder / NOTE
        self._ended = threading.Event()
        self.mended: list[DatasetId] = []
        """Datasets of which a copy was found damaged and fetched anew, since the start."""

    async def run(self, round_s: float = ROUND_S) -> None:
        """Read all content again and again, until this is cancelled, which waits for the block that
        is being read; have what is damaged deleted and its datasets fetched anew. What cannot be
        read is logged and left for the next round; return, logged too, when the index cannot be
        read."""
        try:
            while True:
                digest, begun_s = await in_thread(self._where)
                found = await in_thread(self._store.next_object, digest)
                if found:
                    await self._look(found)
                    await in_thread(self._keep, found, begun_s)
                    await asyncio.sleep(BETWEEN_FILES_S)
                    continue
                await asyncio.sleep(max(BETWEEN_FILES_S, begun_s + round_s - time.time()))
                await in_thread(self._keep, "", time.time())
        except DatasetError as error:
            log.warning("stored data is not looked through any more: %s", error)
        finally:
            self._ended.set()

    async def _look(self, digest: str) -> None:
        parts = await in_thread(self._store.datasets_of, digest)
        try:
            await in_thread(self._store.verify, digest, _Pause(self._ended))
        except DatasetDamaged:
            for dataset in parts:
                await self._fetch(dataset)
        except _EndedError:
            raise asyncio.CancelledError from None
        except OSError as error:
            log.info("sha256:%s cannot be looked through: %s", digest, error)

    async def _fetch(self, dataset: DatasetId) -> None:
        try:
            await self._bring(dataset)
        except OSError as error:
            log.warning("%s was damaged on this disk, and cannot be had anew: %s", dataset, error)
        else:
            self.mended.append(dataset)
            log.warning("%s was damaged on this disk; it was fetched anew", dataset)

    def _where(self) -> tuple[str, float]:
        """After which object it goes on, and when the round began."""
        try:
            digest, begun_s = self._note.read_text("ascii").split()
            return digest.strip("-"), float(begun_s)
        except (OSError, ValueError):
            return "", time.time()

    def _keep(self, digest: str, begun_s: float) -> None:
        try:
            self._note.write_text(f"{digest or '-'} {begun_s:.0f}\n", "ascii")
        except OSError as error:
            log.info("where looking through the data goes on cannot be noted: %s", error)


class _EndedError(Exception):
    """The agent ends while a file is read."""


class _Pause:
    """Called after each block: waits as long as the disk is to be left alone for it."""

    def __init__(self, ended: threading.Event) -> None:
        self._ended, self._until_s = ended, time.monotonic()

    def __call__(self) -> None:
        took_s = time.monotonic() - self._until_s
        if self._ended.wait(min(PAUSE_S_MAX, took_s * (1 - DISK_SHARE) / DISK_SHARE)):
            raise _EndedError
        self._until_s = time.monotonic()
