"""What happened, numbered, so that clients that were away get what they missed and nothing twice.

One ring for all clients, each event encoded once, when the first of them reads it: where nobody
follows, nobody needs its words. A client is a place in the ring, not a queue of its own: one that
reads slowly takes no memory, and falls out of the ring instead.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.api.session import LATER, Event, Happening, TaskMoved, kind_of
from agent.api.values import Position
from agent.control.colleagues import told_to_colleagues
from agent.control.envelope import notification_line
from agent.control.limits import Limits
from agent.protocol.phrases import said

UNREAD_BYTES = 400
"""What an event that nobody has read counts for, about as much as it will take; each row that it
brings counts for as much again."""


class EventLog:
    """The events of this start of the agent, the latest of them kept."""

    def __init__(self, limits: Limits, wall: Callable[[], float] = time.time) -> None:
        self._limits = limits
        self._wall = wall
        self._name = secrets.token_hex(8)
        self._lines: deque[bytes | Happening] = deque()
        self._times: deque[int] = deque()
        self._later: dict[int, str] = {}
        self._private: dict[int, Happening] = {}
        """What clients of other members are told instead."""
        self._bytes = 0
        self._last = 0
        self._news = asyncio.Event()
        self._followers = 0

    @property
    def position(self) -> Position:
        """The position after the last event."""
        return Position(self._name, self._last)

    @property
    def followed(self) -> bool:
        """Whether a client is told of events at this moment."""
        return self._followers > 0

    @contextmanager
    def following(self) -> Iterator[None]:
        """While the block runs, count one more client as following the events (``followed``)."""
        self._followers += 1
        try:
            yield
        finally:
            self._followers -= 1

    def record(self, happening: Happening) -> None:
        """Number what happened, keep it with the time, and wake whoever waits for it; the oldest
        events are forgotten beyond the limits. Nothing is written to disk."""
        self._last += 1
        at_ms = int(self._wall() * 1000)
        # Beside the lines, and one value for all of a moment: there may be 100,000 of them.
        same = bool(self._times) and self._times[-1] == at_ms
        self._times.append(self._times[-1] if same else at_ms)
        self._lines.append(happening)
        if isinstance(happening, LATER):
            self._later[self._last] = kind_of(type(happening))
        if (public := told_to_colleagues(happening)) is not happening:
            self._private[self._last] = public
        self._bytes += _bytes_of(happening)
        self._forget(at_ms - self._limits.events_recent_s * 1000)
        self._news.set()

    def _forget(self, recent_ms: float) -> None:
        lines, times, limits = self._lines, self._times, self._limits
        while self._bytes > limits.events_bytes_max or (
            len(lines) > limits.events_max and times[0] <= recent_ms
        ):
            times.popleft()
            self._later.pop(self._first, None)
            self._private.pop(self._first, None)
            self._bytes -= _bytes_of(lines.popleft())

    def check(self, position: Position) -> None:
        """Do nothing for a place from which all later events are still here; raise ``RefusedError``
        for one that is ahead, too far behind, or of another start of the agent."""
        if position.log != self._name:
            raise RefusedError(
                ErrorCode.EVENTS_LOST,
                said(
                    "the agent was started anew since then and its events are numbered anew: "
                    "read what you show again and subscribe from there"
                ),
            )
        if position.sequence > self._last:
            raise RefusedError(
                ErrorCode.EVENTS_LOST,
                said("there is no event {sequence} yet", sequence=position.sequence),
            )
        if position.sequence < self._first - 1:
            raise RefusedError(
                ErrorCode.EVENTS_LOST,
                said(
                    "the events after {sequence} are remembered only from {first} on: "
                    "read what you show again and subscribe from there",
                    sequence=position.sequence,
                    first=self._first,
                ),
            )

    def lines_after(
        self, sequence: int, also: Container[str] = (), *, far: bool = False
    ) -> list[bytes]:
        """Return the lines of the next events after this number, a limited count at a time, empty
        when there are none yet; the first event has the number 1. The line of a later kind that is
        not in ``also`` is empty. ``far``: for a client of another member. Raises ``RefusedError``
        when those right after were forgotten, or the number is above the last event's."""
        self.check(Position(self._name, sequence))
        first = self._first
        start = sequence - first + 1
        end = min(len(self._lines), start + self._limits.events_per_turn_max)
        told = []
        for place in range(start, end):
            line = self._lines[place]
            if not isinstance(line, bytes):
                event = Event(first + place, self._times[place], line)
                written = notification_line("event", event)
                self._bytes += len(written) - _bytes_of(line)
                self._lines[place] = line = written
            if far and first + place in self._private:
                event = Event(first + place, self._times[place], self._private[first + place])
                line = notification_line("event", event)
            kind = self._later.get(first + place)
            told.append(line if kind is None or kind in also else b"")
        return told

    async def wait_after(self, sequence: int) -> None:
        """Wait until there is an event after the one of this number; returns at once when there
        is."""
        while self._last <= sequence:
            self._news.clear()
            await self._news.wait()

    @property
    def _first(self) -> int:
        return self._last - len(self._lines) + 1


def _bytes_of(line: bytes | Happening) -> int:
    if isinstance(line, bytes):
        return len(line)
    return UNREAD_BYTES * (1 + (len(line.rows) if isinstance(line, TaskMoved) else 0))
