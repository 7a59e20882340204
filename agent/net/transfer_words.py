"""What two nodes say to each other on a transfer: few words, and bytes behind some of them.

The one that opened asks and the other answers, in the order of the questions, so several may be
under way. ``Offer`` turns that round: who opened has something that the other should keep, too, and
from then on answers until it is told ``Taken``; so data can travel between two machines of which
only one can dial the other.

A dataset is described once; its bytes are asked for piece by piece, by content, so that any holder
can give any piece. Hashes of pieces are asked for only when something has to be found out: what of
an earlier attempt is good, or whose copy is not. Whoever is asked reads all of its own copy before.

**The side of a transfer that has the data: it answers what it is asked.**

Bytes go from the disk to the wire through one buffer. What is given is not hashed here, because
whoever receives it hashes it anyway; only what the store itself doubts is looked at first.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Layout
from typing import IO, Annotated, Protocol

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
READ_BYTES = 256 * 1024
TEXT_LENGTH_MAX = 1_000


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


class Source(Protocol):
    """Who has datasets. All of it may be called from any thread and raises ``OSError``."""

    def described(self, dataset: DatasetId) -> tuple[int, str, bytes]:
        """Return size, name and manifest of a dataset; raise ``OSError`` when it is not here."""

    def open(self, digest: str) -> IO[bytes]:
        """Open a content for reading; raise ``OSError`` when it is not here."""

    def verify(self, digest: str) -> bytes:
        """Read all of a content and return the hashes of its pieces; raise ``OSError`` when it is
        missing or damaged."""


TakeOffer = Callable[[Pipe, tuple[DatasetId, ...]], Taken]
"""Fetches what is offered over the same pipe, in this thread."""


def serve(pipe: Pipe, source: Source, take: TakeOffer) -> None:
    """Answer what the other side asks and ``take`` what it offers, until it ends the transfer;
    raise ``OSError`` when that breaks, ``RemoteProtocolError`` for what no agent says."""
    buffer = memoryview(bytearray(READ_BYTES))
    while (word := hear(pipe)) is not None:
        if isinstance(word, Offer):
            say(pipe, take(pipe, word.datasets))
        else:
            _answer(pipe, source, word, buffer)


def offer(pipe: Pipe, source: Source, datasets: tuple[DatasetId, ...]) -> Taken:
    """Offer these datasets to the other side, serve what it asks of them, and return its word on
    which it took; raise ``OSError`` when the transfer breaks or ends before,
    ``RemoteProtocolError`` for what no agent says."""
    buffer = memoryview(bytearray(READ_BYTES))
    say(pipe, Offer(datasets))
    while (word := hear(pipe)) is not None:
        if isinstance(word, Taken):
            return word
        _answer(pipe, source, word, buffer)
    raise ConnectionResetError("the other side ended the transfer before it had everything")


def _answer(pipe: Pipe, source: Source, word: Word, buffer: memoryview) -> None:
    try:
        match word:
            case AskDataset():
                answer = packed(Described(*source.described(word.dataset)))
            case AskHashes():
                answer = packed(Hashes(source.verify(word.digest)))
            case AskBytes():
                with source.open(word.digest) as file:
                    _give(pipe, file, word, buffer)
                return
            case _:
                raise RemoteProtocolError(f"{type(word).__name__} out of turn")
    except _Withheld as withheld:
        answer = packed(Refused(withheld.text))
    except ConnectionError:
        raise
    except OSError as error:
        answer = packed(Refused(str(error)[:TEXT_LENGTH_MAX]))
    pipe.send(answer)


class _Withheld(Exception):  # noqa: N818 - it is no error of this side
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _give(pipe: Pipe, file: IO[bytes], word: AskBytes, buffer: memoryview) -> None:
    """What was announced must follow: a disk that fails in between ends the transfer."""
    if file.seek(0, 2) < word.offset + word.size_bytes:
        raise _Withheld(f"sha256:{word.digest} is shorter here")
    file.seek(word.offset)
    say(pipe, Follow(word.size_bytes))
    left = word.size_bytes
    while left:
        size = file.readinto(buffer[:left])  # type: ignore[attr-defined]
        if not size:
            raise ConnectionAbortedError(f"sha256:{word.digest} became shorter while it was given")
        pipe.send(buffer[:size])
        left -= size
