"""What travels on a link: frames, their limits, and the allowance of each peer.

A link is a stream of bytes, and messages are not. A frame is a length (4 bytes, big endian, of
the body alone), a kind (1 byte) and the body. Nothing here touches a socket or a clock, so that
every limit can be tested with bytes alone:

* the length is judged before anything of the body is kept, against the limit of its kind;
* before the link is agreed on, only short words are allowed, so a stranger costs no memory;
* kinds of a later version are skipped and counted, anything else out of order is the sender's
  fault and raises ``RemoteProtocolError``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from struct import Struct as Layout
from typing import Annotated

import msgspec
from msgspec import structs

from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import MESSAGE_BYTES_MAX
from agent.protocol.phrases import UNREADABLE, RemoteProtocolError
from agent.protocol.reasons import Opaque, carried
from agent.wording.speech import english

ALPN_LINK = "wingbeat/1"
ALPN_BULK = "wingbeat-bulk/1"

WORD_BYTES_MAX = 4 * 1024
GOSSIP_BYTES_MAX = 1024 * 1024
LATER_KIND_BYTES_MAX = 1024 * 1024
ECHO_BYTES_MAX = 16
REASON_LENGTH_MAX = 400

_HEADER = Layout(">IB")
HEADER_BYTES = _HEADER.size


class Kind(IntEnum):
    """What a frame holds: a greeting's word, a message, gossip, a ping."""

    OPENING = 1
    """First word of both sides: who runs here, and where it listens."""
    WELCOME = 2
    """This connection is the link from now on."""
    REFUSED = 3
    """It is not, for a reason in words; the connection ends."""
    MESSAGE = 4
    """A message of the protocol."""
    GOSSIP = 5
    """What the roster says to the roster of the peer; opaque here."""
    PING = 6
    """Say this back."""
    PONG = 7
    """What was to be said back."""


Limits = Mapping[int, int]

GREETING_LIMITS: Limits = {
    Kind.OPENING: WORD_BYTES_MAX,
    Kind.WELCOME: WORD_BYTES_MAX,
    Kind.REFUSED: WORD_BYTES_MAX,
}
LINK_LIMITS: Limits = {
    **GREETING_LIMITS,
    Kind.MESSAGE: MESSAGE_BYTES_MAX,
    Kind.GOSSIP: GOSSIP_BYTES_MAX,
    Kind.PING: ECHO_BYTES_MAX,
    Kind.PONG: ECHO_BYTES_MAX,
}


class Opening(msgspec.Struct, frozen=True, array_like=True):
    """What both sides say first. Fields are only ever appended; surplus ones are ignored.

    ``instance`` is drawn anew at each start of an agent; ``port`` is where it listens, 0 when it
    does not; ``version`` is that of the protocol.
    """

    instance: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)]
    version: Annotated[int, msgspec.Meta(ge=0, le=2**31)]


class RefusedWord(msgspec.Struct, frozen=True, array_like=True):
    """Why there is no link: a word for programs, a sentence for people, and the reason encoded,
    which agents of before leave out."""

    cause: Annotated[str, msgspec.Meta(max_length=64)]
    text: Annotated[str, msgspec.Meta(max_length=REASON_LENGTH_MAX)]
    why: msgspec.Raw = msgspec.Raw()

    def reason(self) -> NoLink | Opaque:
        """Return the reason for the refusal, its texts made printable; where it has none that can
        be read here, its sentence as ``Opaque``."""
        try:
            read = _why.decode(self.why)
        except UNREADABLE:
            return Opaque(self.text)
        texts = {name: value for name, value in structs.asdict(read).items() if type(value) is str}
        return structs.replace(read, **{name: _shown(text) for name, text in texts.items()})


_opening = msgspec.msgpack.Decoder(Opening)
_why = msgspec.msgpack.Decoder(NoLink)
_refused = msgspec.msgpack.Decoder(RefusedWord)


def frame(kind: Kind, body: bytes = b"") -> bytes:
    """Return the body as a frame of this kind."""
    return _HEADER.pack(len(body), kind) + body


def opening_frame(opening: Opening) -> bytes:
    """Return the first word of a side as a frame."""
    return frame(Kind.OPENING, msgspec.msgpack.encode(opening))


def refused_frame(cause: str, why: NoLink | Opaque) -> bytes:
    """Return a refusal as a frame, its text cut to what peers take; the reason stands behind it
    where it has a type and is short enough."""
    word = [cause[:64], english(why)[:REASON_LENGTH_MAX], *carried(why).values()]
    body = msgspec.msgpack.encode(word)
    return frame(
        Kind.REFUSED, body if len(body) <= WORD_BYTES_MAX else msgspec.msgpack.encode(word[:2])
    )


def read_opening(body: bytes) -> Opening:
    """Decode the first word of the other side; raise ``RemoteProtocolError`` when it is none."""
    try:
        return _opening.decode(body)
    except UNREADABLE as error:
        raise RemoteProtocolError(f"not an opening: {error}") from error


def read_refused(body: bytes) -> RefusedWord:
    """Decode the other side's refusal, its text made printable for the log; its cause may be none
    that is known here. Raise ``RemoteProtocolError`` when it is none."""
    try:
        word = _refused.decode(body)
    except UNREADABLE as error:
        raise RemoteProtocolError(f"not a refusal: {error}") from error
    return RefusedWord(word.cause, _shown(word.text), word.why)


def _shown(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


class FrameReader:
    """Cuts what arrives into frames; keeps no more than one unfinished frame and one arrival."""

    __slots__ = ("_buffer", "_needed", "_start", "limits")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._buffer = bytearray()
        self._start = 0
        self._needed = HEADER_BYTES

    def add(self, data: bytes | memoryview) -> None:
        """Take in more of what has arrived."""
        self._buffer += data

    def next(self) -> tuple[int, bytes] | None:
        """Take the next whole frame out of what has arrived and return its kind, which may be a
        later version's, and body; None while there is none. Raise ``RemoteProtocolError`` for a
        frame that is too long or of a kind that is not allowed yet; it is not taken out, and
        nothing behind it can be read."""
        buffer, start = self._buffer, self._start
        if not buffer:
            return None
        if len(buffer) - start < self._needed:
            self._keep_the_rest()
            return None
        length, kind = _HEADER.unpack_from(buffer, start)
        if self._needed == HEADER_BYTES:
            self._judge(kind, length)
            self._needed = HEADER_BYTES + length
            if len(buffer) - start < self._needed:
                self._keep_the_rest()
                return None
        end = start + self._needed
        body = bytes(memoryview(buffer)[start + HEADER_BYTES : end])
        if end == len(buffer):
            buffer.clear()
            end = 0
        self._start = end
        self._needed = HEADER_BYTES
        return kind, body

    def rest(self) -> bytes:
        """Take out and return all that has arrived behind the frames taken, which is no frame any
        more; empty when nothing has."""
        rest = bytes(memoryview(self._buffer)[self._start :])
        self._buffer, self._start = bytearray(), 0
        return rest

    @property
    def kept_bytes(self) -> int:
        """How much room the buffer takes."""
        return len(self._buffer)

    def _judge(self, kind: int, length: int) -> None:
        limit = self.limits.get(kind)
        if limit is None:
            if self.limits is GREETING_LIMITS or kind in LINK_LIMITS:
                raise RemoteProtocolError(f"a frame of kind {kind} before the link is agreed on")
            limit = LATER_KIND_BYTES_MAX
        if length > limit:
            raise RemoteProtocolError(
                f"a frame of kind {kind} with {length} bytes; at most {limit}"
            )

    def _keep_the_rest(self) -> None:
        if self._start == len(self._buffer):
            self._buffer.clear()
        elif self._start:
            del self._buffer[: self._start]
        self._start = 0


class Allowance:
    """So much per second, with so much in one go.

    What exceeds it is not refused but owed: the answer is how long to read nothing until the debt
    is paid, so that a hurried peer is slowed down by its own full pipe.
    """

    __slots__ = ("_at_s", "_burst", "_left", "_per_s")

    def __init__(self, per_s: float, burst: float, now_s: float) -> None:
        self._per_s = per_s
        self._burst = burst
        self._left = burst
        self._at_s = now_s

    def take(self, amount: float, now_s: float) -> float:
        """Use up this much of the allowance, also where it is more than is left; return how many
        seconds it takes until the debt is paid, 0 without a debt."""
        left = min(self._burst, self._left + (now_s - self._at_s) * self._per_s) - amount
        self._left = left
        self._at_s = now_s
        return 0.0 if left >= 0 else -left / self._per_s
