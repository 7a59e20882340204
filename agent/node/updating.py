"""A version that was installed while this one runs: noticed, and begun when nothing is lost by it.

It counts once it can be loaded. Then nothing new begins here, what runs may end, and the agent ends to
be started anew by whoever hosts it. What takes too long is handed back, where a linked machine could go
on with it; alone it would begin from its beginning, so alone its end is waited for.

A person decides instead where the settings say so, where a window is what hosts the agent (it is not
taken from under somebody's hands), and where the version that was installed is an earlier one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from agent import __version__
from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.api.update import Standing, StartAnew, UpdateView, is_later
from agent.host import logs
from agent.host.own_program import installed_version, starts
from agent.protocol.phrases import said

LOOK_EVERY_S = 5.0
FINISHING_LOOK_S = 0.5
TRIED_AGAIN_S_MAX = 600.0
"""What does not start is tried ever more rarely, but not more rarely than this: it may be mended under
the same number."""
FINISH_S_MAX = 900.0
"""Tasks are meant to take up to a quarter of an hour."""

log = logging.getLogger(__name__)


class Updated(Protocol):
    """What of an agent it takes."""

    def in_hand(self) -> int:
        """Return how many runs this node has in hand."""

    def linked(self) -> bool:
        """Return whether another machine is linked."""

    def drain(self, wanted: bool) -> None:
        """Have nothing new begin here, or let it begin again; tell clients in either case."""


class Updates:
    """Of one agent. ``by_itself``: whether it need not ask. ``settings_wait``: whether any setting holds
    only once the agent is started anew."""

    def __init__(
        self,
        agent: Updated,
        *,
        by_itself: Callable[[], bool],
        settings_wait: Callable[[], bool] = lambda: False,
        look: Callable[[], str] = installed_version,
        trial: Callable[[str], bool] = starts,
        finish_s_max: float = FINISH_S_MAX,
    ) -> None:
        self._agent, self._by_itself, self._look, self._trial = agent, by_itself, look, trial
        self._settings_wait = settings_wait
        self._finish_s_max = finish_s_max
        self._installed, self._seen = "", __version__
        self._finishing_since_s: float | None = None
        self._now = False
        self._told: set[str] = set()
        self._complained, self._trials, self._not_before_s = "", 0, 0.0
        self._woken = asyncio.Event()

    @property
    def finishes(self) -> bool:
        """Whether nothing new is to begin here."""
        return self._finishing_since_s is not None

    def view(self) -> UpdateView | None:
        """Return which other version was installed, whether this agent finishes its work for it or
        waits for a person, and whether it is an older one; None where none was installed."""
        if not self._installed:
            return None
        standing: Standing = "finishes" if self.finishes else "asks"
        return UpdateView(self._installed, standing, is_later(__version__, self._installed))

    def start_anew(self, wanted: StartAnew) -> str:
        """Let this agent begin anew with the installed version, once what runs has ended or at
        once, as wanted; return that version. Raises ``RefusedError`` where no other is installed
        and no settings wait for a restart."""
        if not self._installed and self._settings_wait():
            self._installed = __version__
        if not self._installed:
            told = said(
                "Wingbeat {version} runs, and no other version is installed here",
                version=__version__,
            )
            raise RefusedError(ErrorCode.REFUSED, told)
        self._now |= wanted.now
        self._finish()
        self._woken.set()
        return self._installed

    def heard_of(self, machine: str, version: str) -> None:
        """Log once for each version that a machine runs a later one than this; do nothing for
        others."""
        if version and version not in self._told and is_later(version, __version__):
            self._told.add(version)
            log.log(
                logs.NORMAL, "%s runs Wingbeat %s, this machine %s", machine, version, __version__
            )

    async def until_due(self, every_s: float = LOOK_EVERY_S) -> str:
        """Look every ``every_s`` which version is installed, have the agent finish its work for
        another one unless a person is to decide, wait until it is time to begin with that, and
        return it."""
        while not self._is_due():
            self._woken.clear()
            wait_s = every_s if self._finishing_since_s is None else FINISHING_LOOK_S
            with suppress(TimeoutError):
                async with asyncio.timeout(min(wait_s, every_s)):
                    await self._woken.wait()
            await self._look_again(every_s)
        return self._installed

    async def _look_again(self, every_s: float) -> None:
        """It counts when two looks see the same, and it can be loaded: it may be half there."""
        before, self._seen = self._seen, await asyncio.to_thread(self._look)
        if self._seen == (self._installed or __version__) or self._seen != before:
            return
        if self._seen == __version__:
            log.info("Wingbeat %s is not installed any more", self._installed)
            self._wait("")
        elif self._seen == self._complained and time.monotonic() < self._not_before_s:
            return
        elif await asyncio.to_thread(self._trial, self._seen):
            self._complained = ""
            self._found(self._seen)
        else:
            self._does_not_start(self._seen, every_s)

    def _does_not_start(self, version: str, every_s: float) -> None:
        if self._installed:  # what it replaced cannot be begun any more
            self._wait("")
        if self._complained != version:
            self._complained, self._trials = version, 0
            log.warning("Wingbeat %s is installed and does not start: install it again", version)
        self._trials += 1
        rest_s = min(every_s * 2.0 ** min(self._trials, 32), TRIED_AGAIN_S_MAX)
        self._not_before_s = time.monotonic() + rest_s

    def _found(self, version: str) -> None:
        asks = is_later(__version__, version) or not self._by_itself()
        when = "somebody says so" if asks else "what runs here has ended"
        log.log(logs.NORMAL, "Wingbeat %s is installed: it starts when %s", version, when)
        if asks:
            self._wait(version)
        else:
            self._installed = version
            self._finish()

    def _wait(self, version: str) -> None:
        """This is what is installed (empty: what runs). What was said of another does not count for it."""
        self._installed, self._finishing_since_s, self._now = version, None, False
        self._agent.drain(False)

    def _finish(self) -> None:
        if self._finishing_since_s is None:
            self._finishing_since_s = time.monotonic()
        self._agent.drain(True)

    def _is_due(self) -> bool:
        if not self._installed or self._finishing_since_s is None:
            return False
        late = time.monotonic() - self._finishing_since_s > self._finish_s_max
        return self._now or not self._agent.in_hand() or (late and self._agent.linked())
