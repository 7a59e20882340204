"""Frames as no agent sends them, bred from frames that one has sent, and sorted by what is due.

*Fatal* ones break the frame format or are no message: they have to cost the sender its link.
*Harmless* ones are frames or messages of an unknown kind, or messages that still mean something
and carry no record: they have to change nothing. Mutants that decode and carry records are left
out: the word of a member counts, even if it was made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from random import Random

from agent.net.wire import HEADER_BYTES, LINK_LIMITS, FrameReader, Kind, frame
from agent.protocol import messages
from agent.protocol.messages import (
    AlreadyFinished,
    ClaimAnswers,
    Enqueue,
    Goodbye,
    Records,
    State,
    TakeTask,
    TryDequeue,
)
from agent.protocol.phrases import RemoteProtocolError

WITH_RECORDS = (Enqueue, TryDequeue, ClaimAnswers, State, TakeTask, AlreadyFinished, Records)
BODY_BYTES_MAX = 4_096
CHANGES_MAX = 4


class Due(Enum):
    LINK = "costs the link"
    NOTHING = "changes nothing"
    LEFT_OUT = "is a member's word"


@dataclass
class Breeder:
    frames: list[tuple[int, bytes]]
    random: Random

    def mutant(self) -> tuple[bytes, Due]:
        """A frame as bytes, and what is due."""
        kind, body = self.random.choice(self.frames)
        draw = self.random.random()
        if draw < 0.1:
            kind = self.random.randrange(256)
        body = self.changed(body[:BODY_BYTES_MAX])
        data = frame(Kind.PING, body)[: HEADER_BYTES - 1] + bytes([kind]) + body
        if draw > 0.99:
            data = self.changed(data[:HEADER_BYTES]) + body
        return data, due(data)

    def wanted(self, wanted: Due) -> bytes:
        while True:
            data, found = self.mutant()
            if found is wanted:
                return data

    def changed(self, body: bytes) -> bytes:
        """Some bytes other, fewer or more."""
        changed = bytearray(body)
        for _ in range(self.random.randint(1, CHANGES_MAX)):
            at = self.random.randrange(len(changed) + 1)
            match self.random.randrange(4):
                case 0:
                    changed[at : at + 1] = bytes([self.random.randrange(256)])
                case 1:
                    del changed[at : at + self.random.randint(1, 8)]
                case 2:
                    changed[at:at] = self.random.randbytes(self.random.randint(1, 8))
                case _:
                    if at < len(changed):
                        changed[at] ^= 1 << self.random.randrange(8)
        return bytes(changed)


def due(data: bytes) -> Due:
    """Judged by the format alone; a frame that is not whole would swallow the next ones."""
    reader = FrameReader(LINK_LIMITS)
    reader.add(data)
    try:
        found = reader.next()
        if found is None or reader.kept_bytes > len(data) or reader.rest():
            return Due.LEFT_OUT
        return _due_of(*found)
    except RemoteProtocolError:
        return Due.LINK


def _due_of(kind: int, body: bytes) -> Due:
    if kind not in LINK_LIMITS or kind in (Kind.PING, Kind.PONG):
        return Due.NOTHING
    if kind == Kind.GOSSIP or kind == Kind.REFUSED:
        return Due.LEFT_OUT
    if kind != Kind.MESSAGE:
        return Due.LINK
    message = messages.decode(body)
    if isinstance(message, (*WITH_RECORDS, Goodbye)):
        return Due.LEFT_OUT
    return Due.NOTHING
