"""What two nodes say to each other on a transfer: few words, and bytes behind some of them.

The one that opened asks and the other answers, in the order of the questions, so several may be
under way. ``Offer`` turns that round: who opened has something that the other should keep, too, and
from then on answers until it is told ``Taken``; so data can travel between two machines of which
only one can dial the other. ``KeepLogs`` brings what is to be kept along: what runs of the node that
opened have printed.

A dataset is described once; its bytes are asked for piece by piece, by content, so that any holder
can give any piece. Hashes of pieces are asked for only when something has to be found out: what of
an earlier attempt is good, or whose copy is not. Whoever is asked reads all of its own copy before.

**The side of a transfer that has the data: it answers what it is asked.**

Bytes go from the disk to the wire through one buffer. What is given is not hashed here, because
whoever receives it hashes it anyway; only what the store itself doubts is looked at first.

**Bulk data in a thread of its own, so that a gigabyte passes without the loop noticing.**

On the loop, each piece of a transfer would stand before every heartbeat for the time of its
encryption, and the loop's bookkeeping would halve what the wire could carry. So once both sides
have agreed on a transfer, its socket and its TLS leave the loop for good and are served by a thread
that blocks. Where a socket cannot be taken out of the loop (the proactor of Windows keeps a reading
under way), the thread asks the loop for each piece instead; that is slower and otherwise the same.

A pipe ends truly: ``receive_into`` returns 0 only after the closing word of TLS, and raises
``ConnectionError`` when the stream broke without it.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from struct import Struct as Layout
from typing import IO, Annotated, Any, Protocol, TypeVar

import msgspec
from msgspec import Meta, Struct

from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.records import DatasetId, Generation, TaskId

IDLE_S_MAX = 300.0
"""Nothing comes or goes for this long: the other side is gone, whatever the system believes."""
CIPHER_BYTES = 256 * 1024
PLAIN_BYTES = 256 * 1024
LEAVES_THE_LOOP = sys.platform != "win32"

_Result = TypeVar("_Result")
PIECE_BYTES = 4 * 1024 * 1024
WORD_BYTES_MAX = 40 * 1024 * 1024
"""The largest is the list of files of a folder."""
OFFERED_MAX = 1_000
LOG_PIECE_BYTES = 256 * 1024
LOG_PIECES_MAX = 1_000
_LENGTH = Layout(">I")

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Meta(ge=0, le=2**60)]
Text = Annotated[str, Meta(max_length=1_000)]
READ_BYTES = 256 * 1024
TEXT_LENGTH_MAX = 1_000


class Pipe(Protocol):
    """One transfer's connection, used by one thread; ``abort`` by any."""

    def send(self, data: bytes | memoryview) -> None:
        """Send all of the data; raise ``OSError`` when the other side is gone."""

    def receive_into(self, view: memoryview) -> int:
        """Read at least one byte into the view and return how many; 0 when the other side has
        ended. Raise ``OSError`` when the transfer breaks."""

    def abort(self) -> None:
        """Break the transfer: whoever blocks in it is told that the connection is gone."""

    def close(self) -> None:
        """Say the closing word, and end."""


class SocketPipe:
    """A pipe on a socket that has left the loop."""

    def __init__(
        self,
        connected: socket.socket,
        tls: ssl.SSLObject,
        bios: tuple[ssl.MemoryBIO, ssl.MemoryBIO],
        arrived: bytes,
        ended: Callable[[], None],
    ) -> None:
        self._socket, self._tls, self._ended = connected, tls, ended
        self._incoming, self._outgoing = bios
        self._arrived = memoryview(arrived)
        self._cipher = memoryview(bytearray(CIPHER_BYTES))
        self._over = threading.Event()
        connected.settimeout(IDLE_S_MAX)

    def send(self, data: bytes | memoryview) -> None:
        """Send all of the data and block until the system has taken it; raise ``OSError`` when the
        other side is gone, or takes nothing for five minutes."""
        left = memoryview(data)
        while left:
            left = left[self._tls.write(left[:PLAIN_BYTES]) :]
            self._socket.sendall(self._outgoing.read())

    def receive_into(self, view: memoryview) -> int:
        """Read bytes into the view and return how many; block until some come, and return 0 at the
        end of the transfer. Raise ``OSError`` when it breaks, or nothing comes for five minutes."""
        if self._arrived:
            size = min(len(view), len(self._arrived))
            view[:size] = self._arrived[:size]
            self._arrived = self._arrived[size:]
            return size
        while True:
            try:
                return int(self._tls.read(len(view), view))
            except ssl.SSLWantReadError:
                self._more()
            except ssl.SSLZeroReturnError:
                return 0

    def abort(self) -> None:
        self._over.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the transfer in good order, unless it was aborted, close the socket, and tell whoever
        made the pipe; failures on the way are ignored."""
        if not self._over.is_set():
            with suppress(OSError):  # it wants to read their word as well, which nobody needs
                self._tls.unwrap()
            with suppress(OSError):
                self._socket.sendall(self._outgoing.read())
        self._over.set()
        self._socket.close()
        self._ended()

    def _more(self) -> None:
        size = self._socket.recv_into(self._cipher)
        if not size:
            raise ConnectionResetError("the other side cut the transfer")
        self._incoming.write(self._cipher[:size])


class LoopPipe:
    """A pipe on streams that stay in the loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ended: Callable[[], None],
    ) -> None:
        self._loop, self._reader, self._writer, self._ended = loop, reader, writer, ended
        self._cut = False

    def send(self, data: bytes | memoryview) -> None:
        """Send all of the data and block until the loop has taken it; raise ``OSError`` when the
        other side is gone, takes nothing for five minutes, or the agent is stopping."""
        left = memoryview(data)
        while left:
            self._ask(self._send(left[:PLAIN_BYTES]))
            left = left[PLAIN_BYTES:]

    def receive_into(self, view: memoryview) -> int:
        """Read bytes into the view and return how many; block until some come, and return 0 at the
        end of the transfer. Raise ``OSError`` when it was cut, nothing comes for five minutes, or
        the agent is stopping."""
        data = self._ask(self._reader.read(len(view)))
        if not data and self._cut:
            raise ConnectionResetError("the transfer was cut")
        view[: len(data)] = data
        return len(data)

    def abort(self) -> None:
        self._cut = True
        with suppress(RuntimeError):  # the loop has ended, and the connection with it
            self._loop.call_soon_threadsafe(self._writer.transport.abort)

    def close(self) -> None:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._writer.close)
        self._ended()

    async def _send(self, data: memoryview) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def _ask(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        try:
            asked = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError as error:
            work.close()
            raise ConnectionResetError("the agent is stopping") from error
        try:
            return asked.result(IDLE_S_MAX)
        except TimeoutError:
            asked.cancel()
            raise


def receive_exactly(pipe: Pipe, view: memoryview) -> None:
    """Fill the whole view from the pipe, blocking until it is full; raise ``ConnectionResetError``
    when the transfer ends before, another ``OSError`` when it breaks."""
    while view:
        size = pipe.receive_into(view)
        if not size:
            raise ConnectionResetError("the other side ended the transfer before its end")
        view = view[size:]


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


class LogPiece(Struct, frozen=True, array_like=True):
    """Some of what a run of the node that says it has printed, packed, from an offset on; what is
    before ``begins`` need not be kept."""

    task: TaskId
    generation: Generation
    attempt: Generation
    begins: Size
    offset: Size
    size_bytes: Annotated[int, Meta(ge=1, le=LOG_PIECE_BYTES)]
    packed: Annotated[bytes, Meta(max_length=2 * LOG_PIECE_BYTES)]


class KeepLogs(Struct, frozen=True, array_like=True, tag="LOGS"):
    """Keep these for when I am off; answered by ``LogsKept``."""

    pieces: Annotated[tuple[LogPiece, ...], Meta(max_length=LOG_PIECES_MAX)]


class LogsKept(Struct, frozen=True, array_like=True, tag="KEPT"):
    """They are here."""


Word = (
    KeepLogs
    | LogsKept
    | AskDataset
    | Described
    | AskBytes
    | Follow
    | AskHashes
    | Hashes
    | Refused
    | Offer
    | Taken
)

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
    """Wait for the next word of the other side and return it, None at the end of the transfer;
    raise ``OSError`` when it breaks, ``RemoteProtocolError`` for what no agent says or a word that
    is too long."""
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
KeepPieces = Callable[[tuple[LogPiece, ...]], None]
"""Keeps what the other side has printed, in this thread; raises ``OSError``."""


def serve(pipe: Pipe, source: Source, take: TakeOffer, keep: KeepPieces) -> None:
    """Answer what the other side asks, ``take`` what it offers and ``keep`` what it has printed,
    until it ends the transfer; what cannot be had here is refused in words. Raise ``OSError`` when
    the transfer breaks, ``RemoteProtocolError`` for what no agent says, and what ``take`` and
    ``keep`` raise."""
    buffer = memoryview(bytearray(READ_BYTES))
    while (word := hear(pipe)) is not None:
        if isinstance(word, Offer):
            say(pipe, take(pipe, word.datasets))
        elif isinstance(word, KeepLogs):
            keep(word.pieces)
            say(pipe, LogsKept())
        else:
            _answer(pipe, source, word, buffer)


def give_logs(pipe: Pipe, pieces: tuple[LogPiece, ...]) -> None:
    """Send the other side these pieces of logs to keep and wait until it has them; raise
    ``OSError`` when it does not keep them, as one of an earlier version, or the transfer breaks,
    ``RemoteProtocolError`` for what no agent says."""
    say(pipe, KeepLogs(pieces))
    if not isinstance(hear(pipe), LogsKept):
        raise ConnectionResetError("the other side does not keep logs")


def offer(pipe: Pipe, source: Source, datasets: tuple[DatasetId, ...]) -> Taken:
    """Offer these datasets to the other side, serve what it asks, and return its word on which it
    took; raise ``OSError`` when the transfer breaks or ends before, ``RemoteProtocolError`` for
    what no agent says."""
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
