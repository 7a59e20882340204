"""The side of a transfer that has the data: it answers what it is asked.

Bytes go from the disk to the wire through one buffer. What is given is not hashed here, because
whoever receives it hashes it anyway; only what the store itself doubts is looked at first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Protocol

from agent.net.transfer_pipe import Pipe
from agent.net.transfer_words import (
    AskBytes,
    AskDataset,
    AskHashes,
    Described,
    Follow,
    Hashes,
    Offer,
    Refused,
    Taken,
    Word,
    hear,
    packed,
    say,
)
from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.records import DatasetId

READ_BYTES = 256 * 1024
TEXT_LENGTH_MAX = 1_000


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
