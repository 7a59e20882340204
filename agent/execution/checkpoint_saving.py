"""States that a program saves on its way, so that its next attempt need not begin at the beginning.

What the program names is taken out of its hands at once, by renaming, so that it can write the next
one under the same name while the store still reads this one. The store works on one at a time; of
those that come meanwhile only the newest is of use.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agent.execution.scratch import Scratch
from agent.protocol.records import Dataset

FINISH_S = 5.0
"""A state that is still on its way to the store when the program ends is given this long."""

log = logging.getLogger(__name__)


class Saving:
    """Keeps the states that one run saves, the latest first."""

    def __init__(self, scratch: Scratch, saved: Callable[[Dataset], None]) -> None:
        self._scratch, self._saved = scratch, saved
        self._next: Path | None = None
        self._work: asyncio.Task[None] | None = None

    def take(self, name: str) -> None:
        """Take the state that the program says it saved out of its hands, to be kept in the
        background; a name that cannot be kept is only logged."""
        path = self._scratch.save(name)
        if path is None:
            log.warning("a program names %r as its saved state, which cannot be kept", name)
            return
        self._next = path
        if self._work is None:
            self._work = asyncio.create_task(self._keep())

    async def finish(self) -> None:
        """Wait, within a limit, until the state that is being kept is kept; nothing more comes."""
        if self._work is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._work, FINISH_S)

    async def _keep(self) -> None:
        while self._next is not None:
            path, self._next = self._next, None
            try:
                self._saved(await self._scratch.keep(path))
            except OSError as error:
                log.warning("a saved state could not be kept: %s", error)
        self._work = None
