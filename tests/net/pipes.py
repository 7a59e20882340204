"""Transfers without a network: a pair of sockets between two threads, and a shelf in memory."""

from __future__ import annotations

import hashlib
import io
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, cast

from agent.net.transfer_words import PIECE_BYTES, Word, hear, say

LIMIT_S = 60.0
"""Nobody waits for the other side for longer."""


class SocketEnd:
    """Satisfies ``Pipe``: one end of a pair of sockets, without TLS."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        connected.settimeout(LIMIT_S)

    def send(self, data: bytes | memoryview) -> None:
        self._socket.sendall(data)

    def receive_into(self, view: memoryview) -> int:
        return self._socket.recv_into(view)

    def end(self) -> None:
        """Say no more, and listen until the other side has ended too."""
        self._socket.shutdown(socket.SHUT_WR)
        while self._socket.recv(PIECE_BYTES):
            pass

    def abort(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()


def served(serve: Callable[[SocketEnd], object]) -> tuple[SocketEnd, threading.Thread]:
    """A pipe whose other end is served in a thread, and closed after that."""
    ours, theirs = map(SocketEnd, socket.socketpair())

    def work() -> None:
        with suppress(OSError):
            serve(theirs)
        theirs.close()

    thread = threading.Thread(target=work)
    thread.start()
    return ours, thread


@contextmanager
def serving(serve: Callable[[SocketEnd], object]) -> Iterator[SocketEnd]:
    """The same for a block; who serves comes to its end behind it."""
    pipe, thread = served(serve)
    try:
        yield pipe
    finally:
        pipe.close()
        thread.join(LIMIT_S)
    assert not thread.is_alive()


def answered(pipe: SocketEnd, word: Word) -> Word | None:
    """What is said to a word."""
    say(pipe, word)
    return hear(pipe)


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def hashes_of(content: bytes) -> bytes:
    """Of its pieces, one behind the other."""
    pieces = range(0, len(content), PIECE_BYTES)
    return b"".join(hashlib.sha256(content[at : at + PIECE_BYTES]).digest() for at in pieces)


@dataclass
class MemoryPlace:
    """Satisfies ``Place``."""

    content: bytearray
    found: bool = False
    closed: bool = False

    @property
    def pieces(self) -> int:
        return -(-len(self.content) // PIECE_BYTES)

    def write(self, offset: int, data: memoryview) -> None:
        self.content[offset : offset + len(data)] = data

    def piece_size(self, number: int) -> int:
        return min(PIECE_BYTES, len(self.content) - number * PIECE_BYTES)

    def whole_pieces(self, hashes: bytes) -> set[int]:
        own = hashes_of(bytes(self.content))
        return {n for n in range(self.pieces) if own[32 * n :][:32] == hashes[32 * n :][:32]}

    def reader(self) -> IO[bytes]:
        return cast("IO[bytes]", _Growing(self))

    def close(self) -> None:
        self.closed = True


class _Growing(io.RawIOBase):
    """Reads what is there at that moment, as a file does that others write."""

    def __init__(self, place: MemoryPlace) -> None:
        self._place, self._at = place, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._place.content[self._at : self._at + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


@dataclass
class MemoryShelf:
    """Satisfies ``Shelf``: one dataset, of the contents that it is told."""

    made_of: dict[str, int]
    objects: dict[str, bytes] = field(default_factory=dict)
    places: dict[str, MemoryPlace] = field(default_factory=dict)
    given_up: list[str] = field(default_factory=list)
    adopted: list[tuple[str, bytes, str]] = field(default_factory=list)
    full: bool = False

    def has_object(self, digest: str) -> bool:
        return digest in self.objects

    def contents(self, dataset: str, size_bytes: int, manifest: bytes) -> dict[str, int]:  # noqa: ARG002
        if self.full:
            raise OSError("no room")
        return self.made_of

    def put_object(self, digest: str, content: bytes | memoryview) -> bool:
        if self.full:
            raise OSError("no room")
        if digest_of(bytes(content)) != digest:
            return False
        self.objects[digest] = bytes(content)
        return True

    def partial(self, digest: str, size_bytes: int) -> MemoryPlace:
        if digest not in self.places:
            self.places[digest] = MemoryPlace(bytearray(size_bytes))
        return self.places[digest]

    def complete(self, digest: str) -> None:
        self.objects[digest] = bytes(self.places.pop(digest).content)

    def give_up(self, digest: str) -> None:
        self.given_up.append(digest)
        del self.places[digest]

    def adopt(self, dataset: str, manifest: bytes, name: str) -> None:
        self.adopted.append((dataset, manifest, name))


@dataclass
class MemorySource:
    """Satisfies ``Source``; ``asked`` is what it was asked for, in order."""

    contents: dict[str, bytes]
    size_bytes: int = 0
    name: str = "data"
    manifest: bytes = b""
    asked: list[str] = field(default_factory=list)

    def described(self, dataset: str) -> tuple[int, str, bytes]:
        self.asked.append("described")
        if not self.contents:
            raise OSError(f"{dataset} is not here")
        return self.size_bytes, self.name, self.manifest

    def open(self, digest: str) -> IO[bytes]:
        self.asked.append("open")
        return io.BytesIO(self._content(digest))

    def verify(self, digest: str) -> bytes:
        self.asked.append("verify")
        if digest_of(self._content(digest)) != digest:
            raise OSError("damaged here")
        return hashes_of(self._content(digest))

    def _content(self, digest: str) -> bytes:
        if digest not in self.contents:
            raise OSError(f"sha256:{digest} is not here")
        return self.contents[digest]
