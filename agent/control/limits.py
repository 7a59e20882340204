"""Every bound of the client protocol's server, with its unit."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may take of the node, and for how long it is waited for."""

    connections_max: int = 32
    """Of one account: more than its windows, commands and scripts; each may hold a line in memory."""
    connections_of_all_max: int = 128
    """Of all accounts of a machine, where a service takes them."""
    strangers_max: int = 16
    """Connections that have not shown the token yet; with more, the oldest gives way."""
    greeting_bytes_max: int = 4 * 1024
    """A line of somebody who has not shown the token."""
    greeting_s_max: float = 10.0
    """A connection that says nothing is not kept open for longer."""
    proof_s_max: float = 120.0
    """The same for one that has asked for a proof: a person carries it to `wingbeat telnet`."""
    line_bytes_max: int = 32 * 1024 * 1024
    """The largest workflow that the flock takes, written as JSON."""
    pending_max: int = 32
    """Questions of one client that are worked on at once; the next ones wait in its socket."""
    of_member_per_s: float = 300.0
    """Questions of one other member, on all its connections; whoever asks more is heard later."""
    of_member_at_once_max: int = 3_000
    output_bytes_high: int = 256 * 1024
    """With so much unread, nothing is said or asked further until the client has read."""
    unread_s_max: float = 30.0
    """A client that reads nothing for so long is cut off."""
    closing_s_max: float = 2.0
    """How long the last words may take to be read."""
    events_max: int = 10_000
    """How many events are remembered for clients that come back."""
    events_recent_s: float = 30.0
    """Events are remembered for so long even if there are more: one submission may move 100,000
    tasks at once, and those who follow need a moment to hear of them."""
    events_bytes_max: int = 64 * 1024 * 1024
    """More than this is not remembered in any case."""
    events_per_turn_max: int = 200
    """A client that catches up lets others speak after so many."""


class Pace:
    """How fast one asks: at once as long as that is seldom, then so many in a second."""

    def __init__(self, limits: Limits) -> None:
        self._per_s, self._most = limits.of_member_per_s, limits.of_member_at_once_max
        self._left, self._at_s = float(self._most), 0.0

    async def keep(self) -> None:
        """Wait until the next question may be answered at this pace; those who wait come one after
        the other."""
        now_s = asyncio.get_running_loop().time()
        self._left = min(self._most, self._left + (now_s - self._at_s) * self._per_s) - 1
        self._at_s = now_s
        if self._left < 0:
            await asyncio.sleep(-self._left / self._per_s)
