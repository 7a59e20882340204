"""One dataset comes here from whoever has it, and keeps coming while links break and holders die.

Each holder has a thread that asks for one piece more than it is receiving, so that the wire is
never idle. A holder whose connection breaks is dialled again a few times as long as something comes
of it; one that says that it does not have the data, or whose data is wrong, is left out. What the
last of them could not give fails the download; what came stays for the next attempt.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from agent.net.transfer_words import (
    PIECE_BYTES,
    PLAIN_BYTES,
    AskBytes,
    AskDataset,
    AskHashes,
    Described,
    Follow,
    Hashes,
    Pipe,
    Refused,
    Word,
    hear,
    receive_exactly,
    say,
)
from agent.net.transfer_work import Batch, ChunkStore, Doubt, Piece, Small, Work
from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.records import DatasetId, NodeId

HOLDERS_AT_ONCE_MAX = 4
AHEAD_MAX = 2
FAILURES_MAX = 4
AGAIN_S = 0.25
"""After a broken connection; doubled with each that brought nothing."""

OpenPipe = Callable[[NodeId], Awaitable[Pipe]]

log = logging.getLogger(__name__)


class NotThereError(OSError):
    """The holder does not have it, or what it has is wrong: asking again does not help."""


class WrongError(Exception):
    """What the holder gave under this name has another content."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"what it gave is not sha256:{digest}")
        self.digest = digest


class Asker:
    """The side of a transfer that wants data, in the thread of one pipe."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._buffer = memoryview(bytearray(PIECE_BYTES))

    def fetch(self, work: Work, shelf: ChunkStore, dataset: DatasetId) -> None:
        """Fetch from this holder what is still missing of the dataset, until nothing is; what it
        did not give is left to others. Raise ``OSError`` when the holder or this disk fails or the
        holder does not have it, ``WrongError`` when its data is wrong, ``RemoteProtocolError`` when
        it says what no agent says."""
        told = self._ask(AskDataset(dataset))
        if not isinstance(told, Described):
            raise RemoteProtocolError(f"{type(told).__name__} instead of a description")
        with work.on_this_disk():
            work.plan(told.size_bytes, told.name, told.manifest)
        ahead: deque[Batch] = deque()
        try:
            while True:
                while len(ahead) < AHEAD_MAX and (batch := work.take(wait=not ahead)) is not None:
                    ahead.append(batch)
                    self._request(batch)
                if not ahead:
                    return
                self._receive(work, shelf, ahead[0])
                ahead.popleft()
        finally:
            work.put_back(ahead)

    def accuse(self, digest: str) -> None:
        """Have the holder look at its own copy; it drops it when it is wrong."""
        self._ask(AskHashes(digest))

    def _request(self, batch: Batch) -> None:
        match batch:
            case Small(files):
                for digest, size in files:
                    say(self._pipe, AskBytes(digest, 0, size))
            case Piece(large, number):
                size = large.place.piece_size(number)
                say(self._pipe, AskBytes(large.digest, number * PIECE_BYTES, size))
            case Doubt(large):
                say(self._pipe, AskHashes(large.digest))

    def _receive(self, work: Work, shelf: ChunkStore, batch: Batch) -> None:
        match batch:
            case Small(files):
                for digest, size in files:
                    self._receive_small(work, shelf, digest, size)
            case Piece():
                self._receive_piece(work, batch)
            case Doubt(large):
                told = self._heard()
                if not isinstance(told, Hashes):
                    raise RemoteProtocolError(f"{type(told).__name__} instead of hashes")
                right = large.place.whole_pieces(told.hashes)
                if large.doubts and len(right) == large.place.pieces:
                    raise NotThereError("it has other data under this name")
                work.doubt_settled(large, right)

    def _receive_small(self, work: Work, shelf: ChunkStore, digest: str, size: int) -> None:
        self._expect_bytes(size)
        content = self._buffer[:size]
        receive_exactly(self._pipe, content)
        with work.on_this_disk():
            if not shelf.put_object(digest, content):
                raise WrongError(digest)
            work.small_done(digest)

    def _receive_piece(self, work: Work, piece: Piece) -> None:
        place, offset = piece.large.place, piece.number * PIECE_BYTES
        left = place.piece_size(piece.number)
        self._expect_bytes(left)
        while left:
            part = self._buffer[: min(left, 4 * PLAIN_BYTES)]
            receive_exactly(self._pipe, part)
            with work.on_this_disk():
                place.write(offset, part)
            offset += len(part)
            left -= len(part)
        work.piece_done(piece)

    def _expect_bytes(self, size: int) -> None:
        told = self._heard()
        if not isinstance(told, Follow) or told.size_bytes != size:
            raise RemoteProtocolError(f"{type(told).__name__} instead of {size} bytes")

    def _ask(self, word: Word) -> Word:
        say(self._pipe, word)
        return self._heard()

    def _heard(self) -> Word:
        told = hear(self._pipe)
        if told is None:
            raise ConnectionResetError("it ended the transfer")
        if isinstance(told, Refused):
            raise NotThereError(told.text)
        return told


class Download:
    """Fetches one dataset from several holders."""

    def __init__(
        self,
        shelf: ChunkStore,
        dataset: DatasetId,
        open_pipe: OpenPipe,
        threads: ThreadPoolExecutor,
    ) -> None:
        self._shelf, self._dataset = shelf, dataset
        self._open_pipe, self._threads = open_pipe, threads
        self._work = Work(shelf, dataset)
        self._pipes: dict[Pipe, None] = {}
        self._said: list[str] = []

    async def run(self, holders: Sequence[NodeId]) -> None:
        """Fetch the dataset from these holders, several at once, and return when it is here; raise
        ``OSError`` with a sentence when nobody can give it or this disk fails. What has come stays
        for the next attempt."""
        loop = asyncio.get_running_loop()
        hashing = loop.run_in_executor(self._threads, self._work.hash_all)
        waiting = deque(dict.fromkeys(holders))
        lanes = [
            asyncio.create_task(self._lane(waiting))
            for _ in range(min(HOLDERS_AT_ONCE_MAX, len(waiting)))
        ]
        try:
            await asyncio.gather(*lanes)
        finally:
            for lane in lanes:
                lane.cancel()
            self._work.fail(OSError(self._reason()))
            for pipe in list(self._pipes):
                pipe.abort()
            await asyncio.gather(*lanes, return_exceptions=True)
            await asyncio.gather(hashing, return_exceptions=True)
        if self._work.error is not None:
            raise self._work.error

    async def _lane(self, waiting: deque[NodeId]) -> None:
        """One holder after the other, as long as something is missing."""
        while waiting and not self._work.over:
            await self._from(waiting.popleft())

    async def _from(self, holder: NodeId) -> None:
        failures = 0
        while failures < FAILURES_MAX and not self._work.over:
            before = self._work.progress
            try:
                await self._once(holder)
                return
            except (NotThereError, RemoteProtocolError) as error:
                self._said.append(str(error))
                return
            except WrongError as error:
                self._said.append(str(error))
                await self._accuse(holder, error.digest)
                return
            except OSError as error:
                if self._work.error is not None:
                    return
                failures = 0 if self._work.progress > before else failures + 1
                log.info("a transfer of %s from %s broke off: %s", self._dataset, holder, error)
                self._said.append(str(error) or type(error).__name__)
            if failures < FAILURES_MAX:
                await asyncio.sleep(AGAIN_S * 2**failures)

    async def _once(self, holder: NodeId) -> None:
        work, shelf, dataset = self._work, self._shelf, self._dataset
        await self._with_pipe(holder, lambda asker: asker.fetch(work, shelf, dataset))

    async def _accuse(self, holder: NodeId, digest: str) -> None:
        with suppress(OSError, RemoteProtocolError):
            await self._with_pipe(holder, lambda asker: asker.accuse(digest))

    async def _with_pipe(self, holder: NodeId, ask: Callable[[Asker], None]) -> None:
        pipe = await self._open_pipe(holder)
        self._pipes[pipe] = None

        def asking() -> None:
            try:
                ask(Asker(pipe))
            finally:
                pipe.close()

        fetching = asyncio.get_running_loop().run_in_executor(self._threads, asking)
        try:
            await asyncio.shield(fetching)
        except asyncio.CancelledError:
            pipe.abort()
            self._work.fail(OSError("it is not wanted any more"))
            await asyncio.gather(fetching, return_exceptions=True)
            raise
        finally:
            self._pipes.pop(pipe, None)

    def _reason(self) -> str:
        said = "; ".join(dict.fromkeys(self._said)) or "nobody has it"
        return f"{self._dataset} could not be fetched: {said}"
