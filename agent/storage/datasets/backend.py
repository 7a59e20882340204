"""Results in a place that all nodes reach, by a URL: a shared folder, an object store, a database.

====================================  =======================================================
nothing, or ``embedded``              the nodes themselves keep everything, in copies
``postgresql://…``                    a database server, as in the source: ``backend_postgresql``
``file://…``, ``s3://…`` and so on    whatever ``fsspec`` reaches: ``backend_folder``
====================================  =======================================================

The node's own store stays in front of it: what is made here is kept here first, and what is wanted
is brought here before it is used. A dataset is in a back end only when all of its contents are. The
outcome of a task is committed once for each generation: whoever comes second, after a partition or a
death that was none, is told what was committed first and delivers that, so there is one version of
a result, whatever happened.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import partial
from typing import Protocol

from msgspec import Struct

from agent.protocol.records import Dataset, DatasetId, TaskId
from agent.storage.datasets.errors import DatasetError
from agent.storage.datasets.store import DatasetStore

PIECE_BYTES = 1024 * 1024
EXTRA = "install Wingbeat with the extra 'stores'"


class BackendError(DatasetError):
    """It cannot be reached or does not do what it should, just now; later it may."""

    number = errno.EAGAIN


class Stored(Struct, frozen=True):
    """A dataset that is there; ``manifest`` of a folder."""

    dataset: DatasetId
    size_bytes: int
    name: str
    manifest: bytes = b""


class Outcome(Struct, frozen=True):
    """What made which outputs. ``version`` is the published program, where it is one."""

    task: TaskId
    generation: int
    run: str
    program: str
    version: str
    inputs: tuple[DatasetId, ...]
    outputs: tuple[Dataset, ...]
    committed_ms: int


class Backend(Protocol):
    """Blocks; used by many threads. Everything raises ``BackendError``; what a function that was
    handed in raises comes through as it is."""

    def find(self, dataset: DatasetId) -> Stored | None:
        """Return the description of a dataset that is whole in the back end; None when it is not.
        Raise ``BackendError`` when it cannot be asked."""

    def put_content(self, digest: str, read: Callable[[], bytes], size_bytes: int) -> None:
        """Write a content, read piece by piece until a piece is empty; do nothing if it is there.
        Raise ``BackendError`` when that fails, and whatever ``read`` raises."""

    def get_content(self, digest: str, write: Callable[[bytes], None]) -> None:
        """Hand all of a content to ``write``, piece by piece; raise ``BackendError`` when it cannot
        be read, and whatever ``write`` raises."""

    def put(self, stored: Stored) -> None:
        """Record a dataset all of whose contents are there; raise ``BackendError`` when that
        fails."""

    def commit(self, outcome: Outcome) -> Outcome:
        """Record an outcome unless its task and generation have one; return the first one, which
        counts. Raise ``BackendError`` when that fails."""

    def made(self, dataset: DatasetId) -> list[Outcome]:
        """Return the outcomes of the tasks whose output it is, the latest first; raise
        ``BackendError`` when it cannot be asked."""

    def close(self) -> None:
        """Let go of the back end; it is not asked afterwards."""


class Sharing:
    """A node's own store in front of a back end. Blocks."""

    def __init__(self, store: DatasetStore, backend: Backend) -> None:
        self._store, self.backend = store, backend

    def has(self, dataset: DatasetId) -> bool:
        """Tell whether the dataset is in the back end; raise ``BackendError`` when it cannot be
        asked."""
        return self.backend.find(dataset) is not None

    def give(self, dataset: DatasetId) -> None:
        """Copy the dataset to the back end unless it is there already, its description last; raise
        ``BackendError`` when that fails, another ``OSError`` when it is not here, damaged
        or cannot be read."""
        if self.has(dataset):
            return
        size_bytes, name, manifest = self._store.described(dataset)
        for digest, size in self._store.contents(dataset, size_bytes, manifest).items():
            self._give_content(digest, size)
        self.backend.put(Stored(dataset, size_bytes, name, manifest))

    def bring(self, dataset: DatasetId) -> bool:
        """Fetch the dataset from the back end into the store, without the contents that are here
        already; return False, and change nothing, when the back end does not have it. Raise
        ``OSError`` when that fails, what came is damaged, or there is no room."""
        stored = self.backend.find(dataset)
        if stored is None:
            return False
        contents = self._store.contents(dataset, stored.size_bytes, stored.manifest)
        for digest, size in contents.items():
            if not self._store.has_object(digest):
                fill = partial(self.backend.get_content, digest)
                self._store.receive_object(digest, size, fill)
        self._store.adopt(dataset, stored.manifest, stored.name)
        return True

    def _give_content(self, digest: str, size_bytes: int) -> None:
        with self._store.open(digest) as file:
            self.backend.put_content(digest, lambda: file.read(PIECE_BYTES), size_bytes)
