"""That something about a peer is new, told to people so often and no more.

What a peer says of itself changes a few times a minute. One that says something else with every
word must not fill the memory of what happened, which clients that were away rely on: of its
changes within ``CHANGES_EVERY_S`` only the first and the last are told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent.protocol.records import NodeId

CHANGES_EVERY_S = 1.0


class PeerNotices:
    """Tells people of news of peers, for one network, until ``close``."""

    def __init__(self, notify: Callable[[NodeId], None]) -> None:
        self._notify = notify
        self._quiet: dict[NodeId, asyncio.TimerHandle] = {}
        self._owed: dict[NodeId, None] = {}

    def changed(self, peer: NodeId) -> None:
        """Tell people that something about this peer is new, now or when it may be spoken of
        again."""
        if peer in self._quiet:
            self._owed[peer] = None
            return
        loop = asyncio.get_running_loop()
        self._quiet[peer] = loop.call_later(CHANGES_EVERY_S, self._over, peer)
        self._notify(peer)

    def forget(self, peer: NodeId) -> None:
        """Tell nothing more of a peer whose link is gone, which is told at once."""
        self._owed.pop(peer, None)

    def close(self) -> None:
        """Cancel what is still to be told, and tell nothing any more."""
        for timer in self._quiet.values():
            timer.cancel()
        self._quiet.clear()
        self._owed.clear()

    def _over(self, peer: NodeId) -> None:
        del self._quiet[peer]
        if self._owed.pop(peer, peer) is None:
            self.changed(peer)
