"""What two nodes say to each other on a transfer: few words, and bytes behind some of them.

The one that opened asks and the other answers, in the order of the questions, so several may be
under way. ``Offer`` turns that round: who opened has something that the other should keep, too, and
from then on answers until it is told ``Taken``; so data can travel between two machines of which only
one can dial the other.

A dataset is described once; its bytes are asked for piece by piece, by content, so that any holder
can give any piece. Hashes of pieces are asked for only when something has to be found out: what of an
earlier attempt is good, or whose copy is not. Whoever is asked reads all of its own copy before.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.net.transfer_pipe import Pipe, receive_exactly
from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.records import DatasetId

PIECE_BYTES = 4 * 1024 * 1024
WORD_BYTES_MAX = 40 * 1024 * 1024
"""The largest is the list of files of a folder."""
OFFERED_MAX = 1_000
_LENGTH = Layout(">I")

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Meta(ge=0, le=2**60)]
Text = Annotated[str, Meta(max_length=1_000)]


class AskDataset(Struct, frozen=True, array_like=True, tag="DATASET"):
    """What is this dataset made of? Answered by ``Described`` or ``Refused``."""

    dataset: DatasetId


class Described(Struct, frozen=True, array_like=True, tag="DESCRIBED"):
    """Its size and name; of a folder the manifest, which has to have the hash that names it."""

    size_bytes: Size
    name: Text
    manifest: bytes = b""


class AskBytes(Struct, frozen=True, array_like=True, tag="BYTES"):
    """A piece of a content. Answered by ``Follow`` and the bytes, or ``Refused``."""

    digest: Digest
    offset: Size
    size_bytes: Annotated[int, Meta(ge=0, le=PIECE_BYTES)]


class Follow(Struct, frozen=True, array_like=True, tag="FOLLOW"):
    """So many bytes follow behind this word."""

    size_bytes: Annotated[int, Meta(ge=0, le=PIECE_BYTES)]


class AskHashes(Struct, frozen=True, array_like=True, tag="HASHES"):
    """Is your copy of this content whole? Answered by ``Hashes`` or ``Refused``."""

    digest: Digest


class Hashes(Struct, frozen=True, array_like=True, tag="HASHED"):
    """It is, and these are the hashes of its pieces, one behind the other."""

    hashes: bytes


class Refused(Struct, frozen=True, array_like=True, tag="REFUSED"):
    """Answers that what was asked is not to be had here."""

    text: Text


class Offer(Struct, frozen=True, array_like=True, tag="OFFER"):
    """Keep these, too: ask me for them, and say ``Taken``."""

    datasets: Annotated[tuple[DatasetId, ...], Meta(max_length=OFFERED_MAX)]


class Taken(Struct, frozen=True, array_like=True, tag="TAKEN"):
    """Which of them are on this disk now, and why the others are not."""

    datasets: Annotated[tuple[DatasetId, ...], Meta(max_length=OFFERED_MAX)]
    text: Text = ""


Word = AskDataset | Described | AskBytes | Follow | AskHashes | Hashes | Refused | Offer | Taken

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Word).decode


def packed(word: Word) -> bytes:
    """Return the word as it travels."""
    body = _encode(word)
    return _LENGTH.pack(len(body)) + body


def say(pipe: Pipe, word: Word) -> None:
    """Send one word; raise ``OSError`` when the other side is gone."""
    pipe.send(packed(word))


def hear(pipe: Pipe) -> Word | None:
    """Return the next word of the other side, None at the end of the transfer; raise ``OSError``
    when it breaks, ``RemoteProtocolError`` for what no agent says."""
    head = memoryview(bytearray(_LENGTH.size))
    begun = pipe.receive_into(head)
    if not begun:
        return None
    receive_exactly(pipe, head[begun:])
    (size,) = _LENGTH.unpack(head)
    if size > WORD_BYTES_MAX:
        raise RemoteProtocolError(f"a word of {size} bytes on a transfer")
    body = bytearray(size)
    receive_exactly(pipe, memoryview(body))
    try:
        word: Word = _decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise RemoteProtocolError(f"no word of a transfer: {error}") from error
    return word
