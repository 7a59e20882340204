"""A link that stands: messages out in order and in bounds, messages in within the allowance.

Healthy peers never meet a bound here; the bounds are for what is not healthy, and each costs
that peer alone:

* what is to be sent waits in two lanes. Small messages keep their order among themselves and go
  first; records asked for, and whatever is large, follow in their own order, so that handing a
  table to a newcomer delays no claim and no heartbeat. A lane that is full drops the message,
  and the drop is reported, because the node repairs what it knows to be lost;
* what is sent within one turn of the loop leaves in one piece;
* a peer above its allowance is not read for a while. One that stays above it is cut off, as is
  one that sends what no correct peer sends.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from agent.net.addresses import Address
from agent.net.link_refusals import Cause
from agent.net.link_tls import TlsConnection
from agent.net.wire import (
    HEADER_BYTES,
    LINK_LIMITS,
    Allowance,
    FrameReader,
    Kind,
    Opening,
    frame,
    read_refused,
    refused_frame,
)
from agent.protocol import messages
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import Message, UnknownMessage
from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.reasons import Opaque
from agent.protocol.records import NodeId
from agent.wording.speech import english

SMALL_FRAME_BYTES = 64 * 1024
PROMPT_LANE_BYTES_MAX = 4 * 1024 * 1024
BULKY_LANE_BYTES_MAX = 32 * 1024 * 1024
BATCH_BYTES = 64 * 1024

FRAMES_PER_S = 5_000
FRAMES_BURST = 20_000
BYTES_PER_S = 64 * 1024 * 1024
BYTES_BURST = 64 * 1024 * 1024
FRAMES_UNCOUNTED = 16
BYTES_UNCOUNTED = 16 * 1024
HELD_BACK_S_MAX = 5.0
"""A peer held back this long, without a pause in between, floods."""
HELD_BACK_STEP_S = 0.25

PING_EVERY_S = 30.0

_BROKEN_HERE = frozenset(
    {errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN}
)

log = logging.getLogger(__name__)


class LinkOwner(Protocol):
    """What a link tells; ``links.Links`` is one."""

    def link_received(self, peer: NodeId, message: Message, /) -> None: ...

    def link_gossiped(self, peer: NodeId, body: bytes, /) -> None: ...

    def link_answered(self, link: Link) -> None:
        """Note that the answer to a ping has come."""

    def link_misbehaved(self, link: Link, why: NoLink) -> None:
        """Note that the peer has broken the protocol for this reason and loses its link."""

    def link_lost(self, link: Link, *, reset: bool, why: NoLink | Opaque) -> None:
        """Note that the connection has ended without this side having ended it; ``reset``: the
        other side ended it, rather than a fault of this machine."""


@dataclass(slots=True)
class Traffic:
    """How many messages and bytes went over a link."""

    bytes_in: int = 0
    bytes_out: int = 0
    messages_in: int = 0
    messages_out: int = 0
    dropped: int = 0
    unknown: int = 0
    """Messages and frames of later versions, skipped."""


class Lane:
    """Frames that wait in order, bounded by their bytes."""

    __slots__ = ("bytes", "frames", "limit")

    def __init__(self, bytes_max: int) -> None:
        self.limit = bytes_max
        self.bytes = 0
        self.frames: deque[bytes] = deque()

    def put(self, data: bytes) -> bool:
        """Queue a frame; return False when the lane is full. An empty lane takes a frame of any
        size."""
        if self.frames and self.bytes + len(data) > self.limit:
            return False
        self.frames.append(data)
        self.bytes += len(data)
        return True

    def take(self) -> bytes:
        data = self.frames.popleft()
        self.bytes -= len(data)
        return data


class Link:
    """One standing link; an application of its connection."""

    __slots__ = (
        "_answer_owed",
        "_bulky",
        "_bytes_allowed",
        "_connection",
        "_frames_allowed",
        "_full",
        "_held_back_s",
        "_loop",
        "_owner",
        "_ping",
        "_pinged_s",
        "_prompt",
        "_reader",
        "_started",
        "_told",
        "_uncounted_bytes",
        "_uncounted_frames",
        "address",
        "answered_s",
        "dialled",
        "ended",
        "name",
        "opening",
        "peer",
        "round_trip_s",
        "since_s",
        "told_cause",
        "traffic",
    )

    def __init__(
        self,
        peer: NodeId,
        name: str,
        connection: TlsConnection,
        reader: FrameReader,
        opening: Opening,
        address: Address,
        *,
        dialled: bool,
        owner: LinkOwner,
    ) -> None:
        self.peer, self.name, self.opening = peer, name, opening
        self.address, self.dialled = address, dialled
        self._connection, self._owner = connection, owner
        self._reader = reader
        reader.limits = LINK_LIMITS
        self._loop = asyncio.get_running_loop()
        now_s = self._loop.time()
        self.since_s = now_s
        self._prompt = Lane(PROMPT_LANE_BYTES_MAX)
        self._bulky = Lane(BULKY_LANE_BYTES_MAX)
        self._started: memoryview | None = None
        self._full = False
        self._frames_allowed = Allowance(FRAMES_PER_S, FRAMES_BURST, now_s)
        self._bytes_allowed = Allowance(BYTES_PER_S, BYTES_BURST, now_s)
        self._uncounted_frames = self._uncounted_bytes = 0
        self._held_back_s = 0.0
        self._ping = b""
        self._pinged_s = -PING_EVERY_S
        self.answered_s = 0.0
        self.round_trip_s: float | None = None
        self.traffic = Traffic()
        self._answer_owed = False
        self._told: NoLink | Opaque | None = None
        self.told_cause = ""
        self.ended = False

    # -- out -------------------------------------------------------------------------------

    def send(self, data: bytes, *, bulky: bool = False) -> bool:
        """Queue one frame until ``flush`` is called; return False when its lane is full and it was
        dropped. ``bulky`` ones, and whatever is large, wait behind all small ones."""
        lane = self._bulky if bulky or len(data) >= SMALL_FRAME_BYTES else self._prompt
        if lane.put(data):
            self.traffic.messages_out += 1
            return True
        self.traffic.dropped += 1
        return False

    def flush(self) -> None:
        """Send the queued frames, small ones first, as far as the connection takes them now, and a
        ping before them when one is due; the rest stays queued. On a link that has ended nothing is
        sent."""
        now_s = self._loop.time()
        if now_s - self._pinged_s >= PING_EVERY_S:
            self._put_ping(now_s)
        while self._prompt.frames or self._bulky.frames or self._started is not None:
            if self._full or self.ended:
                return
            batch = self._next_batch()
            self.traffic.bytes_out += len(batch)
            self._connection.write(batch)

    def ping(self) -> None:
        """Ask for a sign of life now."""
        self._put_ping(self._loop.time())
        self.flush()

    @property
    def queued_bytes(self) -> int:
        """How many bytes wait to be sent."""
        started = 0 if self._started is None else len(self._started)
        return self._prompt.bytes + self._bulky.bytes + started

    def close(self, cause: Cause, why: NoLink) -> None:
        """Send what the connection takes now, tell the other side why, and end the link; the rest
        is dropped and the owner is not told. Do nothing on a link that has ended."""
        if self.ended:
            return
        self._prompt.frames.append(refused_frame(cause, why))
        self.flush()
        self.ended = True
        self._forget_queued()
        self._connection.close()

    def abort(self) -> None:
        """End the link at once; what is queued is lost, the peer hears no reason, and the owner is
        not told."""
        self.ended = True
        self._forget_queued()
        self._connection.abort()

    def _forget_queued(self) -> None:
        self._prompt, self._bulky = Lane(0), Lane(0)
        self._started = None

    def _put_ping(self, now_s: float) -> None:
        """At the head of the lane, so that the answer tells of the pipe and not of the lane."""
        self._pinged_s = now_s
        self._ping = os.urandom(8)
        ping = frame(Kind.PING, self._ping)
        self._prompt.frames.appendleft(ping)
        self._prompt.bytes += len(ping)

    def _next_batch(self) -> bytes | memoryview:
        """What goes out next: the rest of a large frame, else small ones, else a bulky one."""
        if self._started is not None:
            return self._next_slice(self._started)
        lane = self._prompt if self._prompt.frames else self._bulky
        first = lane.take()
        if len(first) > BATCH_BYTES:
            return self._next_slice(memoryview(first))
        if not lane.frames:
            return first
        batch, size = [first], len(first)
        while lane.frames and size + len(lane.frames[0]) <= BATCH_BYTES:
            batch.append(lane.take())
            size += len(batch[-1])
        return b"".join(batch)

    def _next_slice(self, data: memoryview) -> memoryview:
        """Large frames go in slices, so that a full pipe keeps no second copy of them."""
        self._started = data[BATCH_BYTES:] if len(data) > BATCH_BYTES else None
        return data[:BATCH_BYTES]

    # -- in --------------------------------------------------------------------------------

    def connected(self, transport: asyncio.Transport) -> bool:  # noqa: ARG002
        """Return True; the connection stood long before the link."""
        return True

    def secured(self) -> None:
        """Do nothing; the handshake was done long before the link."""

    def received(self, data: memoryview) -> None:
        """Take in frames, or parts of them, and hand all that are whole to the owner. A peer that
        sends nonsense is reported to the owner; one above its allowance is not read for a while,
        and reported if it stays above it."""
        self._reader.add(data)
        self.traffic.bytes_in += len(data)
        frames = 0
        try:
            while not self.ended and (found := self._reader.next()) is not None:
                frames += 1
                self._take(*found)
        except RemoteProtocolError as error:
            self._misbehaved(NoLink("SentUnreadable", error=str(error)))
            return
        if self._answer_owed:
            self._answer_owed = False
            self.flush()
        if not self.ended:
            self._count_against_allowance(frames, len(data))

    def pause_writing(self) -> None:
        """Note that the connection takes no more for now: what is sent waits in the lanes."""
        self._full = True

    def resume_writing(self) -> None:
        """Send what waits in the lanes, as the connection takes more."""
        self._full = False
        self.flush()

    def lost(self, error: Exception | None) -> None:
        """Note that the connection has ended, with this error or, for None, in order; drop what is
        queued, and tell the owner why. Do nothing on a link that was ended here."""
        if self.ended:
            return
        self.ended = True
        self._forget_queued()
        here = self._connection.closed_here or (
            isinstance(error, OSError) and error.errno in _BROKEN_HERE
        )
        self._owner.link_lost(self, reset=not here, why=self._told or _lost_by(error))

    def _take(self, kind: int, body: bytes) -> None:
        if kind == Kind.MESSAGE:
            message = messages.decode(body)
            if isinstance(message, UnknownMessage):
                self.traffic.unknown += 1
                return
            self.traffic.messages_in += 1
            self._owner.link_received(self.peer, message)
        elif kind == Kind.GOSSIP:
            self._owner.link_gossiped(self.peer, body)
        elif kind == Kind.PING:
            self._answer_owed |= self._prompt.put(frame(Kind.PONG, body))
        elif kind == Kind.PONG:
            self._answered(body)
        elif kind == Kind.REFUSED:
            word = read_refused(body)
            self._told, self.told_cause = word.reason(), word.cause
        elif kind in LINK_LIMITS:
            raise RemoteProtocolError(f"a frame of kind {kind} on a link that stands")
        else:
            self.traffic.unknown += 1

    def _answered(self, body: bytes) -> None:
        if body != self._ping or not body:
            return
        self._ping = b""
        self.answered_s = self._loop.time()
        self.round_trip_s = self.answered_s - self._pinged_s
        self._owner.link_answered(self)

    def _misbehaved(self, why: NoLink) -> None:
        log.warning("%s (%s) loses its link: %s", self.name, self.address, english(why))
        self._owner.link_misbehaved(self, why)

    # -- allowance -------------------------------------------------------------------------

    def _count_against_allowance(self, frames: int, arrived_bytes: int) -> None:
        """A few frames now and then are only added up."""
        self._uncounted_frames += frames
        self._uncounted_bytes += arrived_bytes
        if self._uncounted_frames < FRAMES_UNCOUNTED and self._uncounted_bytes < BYTES_UNCOUNTED:
            return
        now_s = self._loop.time()
        owed_s = max(
            self._frames_allowed.take(self._uncounted_frames, now_s),
            self._bytes_allowed.take(self._uncounted_bytes, now_s),
        )
        self._uncounted_frames = self._uncounted_bytes = 0
        if not owed_s:
            self._held_back_s = 0.0
            return
        self._held_back_s += owed_s
        if self._held_back_s > HELD_BACK_S_MAX:
            self._misbehaved(NoLink("SendsTooMuch", count=FRAMES_PER_S, limit=BYTES_PER_S))
            return
        self._connection.pause_reading()
        self._loop.call_later(max(owed_s, HELD_BACK_STEP_S), self._connection.resume_reading)


def _lost_by(error: Exception | None) -> NoLink:
    if error is None:
        return NoLink("LinkClosed")
    cut = isinstance(error, ConnectionError)
    return NoLink("BrokeOff") if cut else NoLink("LinkBroke", error=str(error))


def message_frame(message: Message) -> bytes:
    """Return a message as a frame."""
    return frame(Kind.MESSAGE, messages.encode(message))


def fits(data: bytes) -> bool:
    """Tell whether peers would take this frame of a message; a larger one would cost this node its
    links."""
    return len(data) - HEADER_BYTES <= LINK_LIMITS[Kind.MESSAGE]
