"""Machines that sleep: this one wakes others, and goes back to sleep when it was woken itself.

Where this machine can be woken is looked up when the flock is told what it has, and only if its owner
lets it be woken.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from agent.net.waking import own_wake_addresses, wake
from agent.presence.asleep_again import AsleepAgain
from agent.presence.looking import native_sources
from agent.protocol.capabilities import WakeAddress

log = logging.getLogger(__name__)


class MachinePower:
    """Of one node. ``running`` tells how many programs it has."""

    def __init__(
        self,
        running: Callable[[], int],
        *,
        wakeable: bool,
    ) -> None:
        self._wakeable = wakeable
        see = partial(native_sources, time.monotonic)
        self.asleep_again = AsleepAgain(running, see, _stays_awake)

    @property
    def addresses(self) -> tuple[WakeAddress, ...]:
        """Where this machine can be woken; none where its owner does not want that."""
        return own_wake_addresses() if self._wakeable else ()

    def wake(self, addresses: Sequence[WakeAddress]) -> None:
        """Send what wakes a machine, in a thread; it is logged whether this one is on its network."""
        asyncio.get_running_loop().run_in_executor(None, _wake, tuple(addresses))

    def woken(self) -> None:
        """Note that this machine was woken for work, so that it sleeps again afterwards; do nothing
        where its owner does not want it woken."""
        if self._wakeable:
            log.info("this machine was woken for work")
            self.asleep_again.woken()

    async def stop(self) -> None:
        """Leave this machine awake, and wait for that."""
        await asyncio.to_thread(self.asleep_again.stop)


def _wake(addresses: tuple[WakeAddress, ...]) -> None:
    sent = wake(addresses)
    told = ", ".join(each.hardware for each in addresses)
    log.info("waking %s: %s", told, f"sent {sent} times" if sent else "not on its network")


def _stays_awake(why: str) -> None:
    log.info("this machine was woken and stays awake: %s", why)
