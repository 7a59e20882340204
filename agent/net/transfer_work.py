"""What is still to be fetched of one dataset, shared by the threads that fetch it.

Small files travel whole and are hashed in memory. Large ones travel in pieces, from several holders
at once, into a place on the disk that outlives the agent; a thread of its own hashes each behind the
writers, so that the last piece is hardly there when the whole is known to be right.

When a whole is wrong, or something of an earlier attempt is found, the next holder is asked for the
hashes of the pieces: it reads all of its own copy before it answers, so a bad copy is found at its
owner, who drops it, and only what is wrong is fetched again.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Protocol

from agent.net.transfer_words import PIECE_BYTES
from agent.protocol.records import DatasetId

log = logging.getLogger(__name__)

SMALL_PER_BATCH_MAX = 64
DOUBTS_MAX = 3
HASHED_AT_ONCE_BYTES = 1024 * 1024


class Place(Protocol):
    """Where a large file is put together, as ``Partial`` does."""

    @property
    def found(self) -> bool:
        """Whether an earlier attempt has left something."""

    @property
    def pieces(self) -> int: ...

    def write(self, offset: int, data: memoryview) -> None: ...

    def piece_size(self, number: int) -> int: ...

    def whole_pieces(self, hashes: bytes) -> set[int]: ...

    def reader(self) -> IO[bytes]: ...

    def close(self) -> None: ...


class ChunkStore(Protocol):
    """Where datasets are put. All of it may be called from any thread and raises ``OSError``."""

    def has_object(self, digest: str) -> bool: ...

    def contents(self, dataset: DatasetId, size_bytes: int, manifest: bytes) -> dict[str, int]:
        """Return the contents that a dataset is made of, with their sizes; raise ``NotKeepable``
        when name or manifest are wrong."""

    def put_object(self, digest: str, content: bytes | memoryview) -> bool: ...

    def partial(self, digest: str, size_bytes: int) -> Place: ...

    def complete(self, digest: str) -> None:
        """Keep a large content all of which is at its place, and right."""

    def give_up(self, digest: str) -> None:
        """Drop what is at the place of a large content, as it is not right."""

    def adopt(self, dataset: DatasetId, manifest: bytes, name: str) -> None:
        """Make a dataset of contents that are all here."""


@dataclass(eq=False, slots=True)
class Large:
    """One large file, and which of its pieces are here."""

    digest: str
    place: Place
    done: set[int] = field(default_factory=set)
    doubts: int = 0


@dataclass(frozen=True, slots=True)
class Small:
    """Some small files: digest and size."""

    files: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a large file."""

    large: Large
    number: int


@dataclass(frozen=True, slots=True)
class Doubt:
    """Asks a holder which pieces of a large file are right."""

    large: Large


Batch = Small | Piece | Doubt


class Work:
    """From the first description of the dataset to its adoption."""

    def __init__(self, shelf: ChunkStore, dataset: DatasetId) -> None:
        self._shelf, self._dataset = shelf, dataset
        self._changed = threading.Condition()
        self._waiting: deque[Batch] = deque()
        self._unfinished: set[str] = set()
        self._larges: list[Large] = []
        self._planned = self.finished = False
        self._manifest, self._name = b"", ""
        self.error: Exception | None = None
        self.progress = 0
        """Grows with everything that comes."""

    # -- the plan --------------------------------------------------------------------------

    def plan(self, size_bytes: int, name: str, manifest: bytes) -> None:
        """Plan what is missing by the first holder's description, and make the dataset at once if
        nothing is; later descriptions are ignored. Raise ``OSError`` when this disk fails or has no
        room, ``NotKeepable`` for a description that is wrong."""
        with self._changed:
            if self._planned:
                return
            contents = self._shelf.contents(self._dataset, size_bytes, manifest)
            missing = {
                digest: size
                for digest, size in contents.items()
                if not self._shelf.has_object(digest)
            }
            self._plan_small([(d, s) for d, s in missing.items() if s <= PIECE_BYTES])
            for digest, size in missing.items():
                if size > PIECE_BYTES:
                    self._plan_large(digest, size)
            self._manifest, self._name = manifest, name
            self._unfinished = set(missing)
            self._planned = True
            self._changed.notify_all()
        self._adopt_if_complete()

    def _plan_small(self, files: Iterable[tuple[str, int]]) -> None:
        batch: list[tuple[str, int]] = []
        size = 0
        for each in files:
            if batch and (size + each[1] > PIECE_BYTES or len(batch) >= SMALL_PER_BATCH_MAX):
                self._waiting.append(Small(tuple(batch)))
                batch, size = [], 0
            batch.append(each)
            size += each[1]
        if batch:
            self._waiting.append(Small(tuple(batch)))

    def _plan_large(self, digest: str, size: int) -> None:
        large = Large(digest, self._shelf.partial(digest, size))
        self._larges.append(large)
        if large.place.found:
            self._waiting.append(Doubt(large))
        else:
            self._waiting.extend(Piece(large, number) for number in range(large.place.pieces))

    # -- for those who fetch ---------------------------------------------------------------

    def take(self, *, wait: bool) -> Batch | None:
        """Take something to fetch off the list and return it; None when nothing is on it or the
        work is over. With ``wait``, block until there is something, and None means that the work is
        over."""
        with self._changed:
            while not self._waiting and wait and not self.over:
                self._changed.wait()
            return self._waiting.popleft() if self._waiting and not self.over else None

    def put_back(self, batches: Iterable[Batch]) -> None:
        """Put back, in front, batches that were not fetched, and wake who waits for some; of small
        files, those that came are left out."""
        with self._changed:
            for batch in reversed(list(batches)):
                if isinstance(batch, Small):
                    self._plan_again(batch)
                else:
                    self._waiting.appendleft(batch)
            self._changed.notify_all()

    def _plan_again(self, batch: Small) -> None:
        left = tuple(each for each in batch.files if each[0] in self._unfinished)
        if left:
            self._waiting.appendleft(Small(left))

    def small_done(self, digest: str) -> None:
        """Note that a small file is on the disk; the dataset is made with the last content. Raise
        ``OSError`` when this disk fails at that."""
        with self._changed:
            self._unfinished.discard(digest)
            self.progress += 1
        self._adopt_if_complete()

    def piece_done(self, piece: Piece) -> None:
        """Note that a piece of a large file is on the disk, and wake the thread that hashes;
        whether it is right shows with the whole."""
        with self._changed:
            piece.large.done.add(piece.number)
            self.progress += 1
            self._changed.notify_all()

    def doubt_settled(self, large: Large, right: set[int]) -> None:
        """Count just these pieces of a large file, which was here in part or wrong, as right, plan
        to fetch all others and wake who waits for some."""
        with self._changed:
            large.done = set(right)
            missing = [n for n in range(large.place.pieces) if n not in right]
            self._waiting.extendleft(Piece(large, number) for number in reversed(missing))
            self.progress += 1
            self._changed.notify_all()
        told = (len(right), large.place.pieces, large.digest)
        log.info("%d of %d pieces of sha256:%s were here already", *told)

    @contextmanager
    def on_this_disk(self) -> Iterator[None]:
        """Run the block; an ``OSError`` in it fails the whole work and is raised, because this disk
        is at fault and no other holder helps."""
        try:
            yield
        except OSError as error:
            self.fail(error)
            raise

    def fail(self, error: Exception) -> None:
        """End the work with this error, unless it is over already, and wake all threads that wait;
        nothing is raised here."""
        with self._changed:
            if not self.over:
                self.error = error
            self._changed.notify_all()

    @property
    def over(self) -> bool:
        """Whether there is nothing more to do, because all is here or it failed."""
        return self.finished or self.error is not None

    # -- behind those who fetch ------------------------------------------------------------

    def hash_all(self) -> None:
        """Hash the large files as they arrive, one after the other, and return when all are right
        or the work is over; blocks, so it has a thread of its own. What goes wrong fails the work
        and is raised."""
        try:
            with self._changed:
                while not self._planned and not self.over:
                    self._changed.wait()
            for large in self._larges:
                while not self.over and not self._hashed(large):
                    pass
        except Exception as error:
            self.fail(error)
            raise
        finally:
            for large in self._larges:
                if large.digest in self._unfinished:
                    large.place.close()

    def _hashed(self, large: Large) -> bool:
        """Whether all of it came and is right."""
        found, number = hashlib.sha256(), 0
        buffer = memoryview(bytearray(HASHED_AT_ONCE_BYTES))
        with large.place.reader() as file:
            while number < large.place.pieces:
                with self._changed:
                    while number not in large.done and not self.over:
                        self._changed.wait()
                if self.over:
                    return False
                left = large.place.piece_size(number)
                while left and (size := file.readinto(buffer[:left])):  # type: ignore[attr-defined]
                    found.update(buffer[:size])
                    left -= size
                number += 1
        if found.hexdigest() != large.digest:
            self._doubt(large)
            return False
        self._shelf.complete(large.digest)
        with self._changed:
            self._unfinished.discard(large.digest)
        self._adopt_if_complete()
        return True

    def _doubt(self, large: Large) -> None:
        large.doubts += 1
        if large.doubts > DOUBTS_MAX:
            self._shelf.give_up(large.digest)
            raise OSError(
                f"what came of sha256:{large.digest} is wrong, and no copy of it is right"
            )
        with self._changed:
            large.done = set()
            self._waiting.appendleft(Doubt(large))
            self._changed.notify_all()

    def _adopt_if_complete(self) -> None:
        with self._changed:
            if not self._planned or self._unfinished or self.over:
                return
            self._shelf.adopt(self._dataset, self._manifest, self._name)
            self.finished = True
            self._changed.notify_all()
