"""The datasets of one node: kept by content, laid out for programs, given to peers.

Everything here blocks and is meant for threads; nothing holds a lock while a disk works on content.
Who wants to know what came and went is told by ``changed``, from whichever thread it was.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import IO

from agent.protocol.records import Dataset, DatasetId
from agent.storage.datasets import gathering, room
from agent.storage.datasets.errors import DatasetDamaged, DatasetError, DatasetMissing, NotKeepable
from agent.storage.datasets.index import Index, Row
from agent.storage.datasets.manifest import (
    Entry,
    Kind,
    Manifest,
    dataset_id,
    decoded,
    encoded,
    parsed,
    plain_name,
    tree_of,
)
from agent.storage.datasets.objects import Objects, Partial, lay_file, remove_file
from agent.storage.datasets.room import NOTHING_WANTED, Quota, Room, Wanted
from agent.storage.places import keep_names, make_private_folder

Write = Callable[[bytes | memoryview], None]
Changed = Callable[[tuple[DatasetId, ...], tuple[DatasetId, ...]], None]
INDEX = "index.db"
SHORT_NAME_LENGTH = 12

log = logging.getLogger(__name__)


class DatasetStore:
    """Opened on a folder of its own; ``close`` ends it. Used by many threads. Raises ``OSError``
    when the folder cannot be used, or its index, which then stays as it is; whatever is asked later
    raises ``DatasetError`` where the index refuses."""

    def __init__(
        self,
        folder: Path,
        quota_bytes: int = 0,
        wanted: Callable[[], Wanted] = lambda: NOTHING_WANTED,
        just_used_s: float = room.JUST_USED_S,
    ) -> None:
        make_private_folder(folder)
        self.folder = folder
        self._objects = Objects(folder)
        self._trees, self._partial = folder / "trees", folder / "partial"
        for each in (self._trees, self._partial):
            make_private_folder(each)
        self._objects.clear_incoming()
        self._partials: dict[str, Partial] = {}
        try:
            self._index = Index(folder / INDEX)
        except sqlite3.Error as error:
            raise DatasetError(f"{INDEX} cannot be used: {error}") from error
        self._room = Room(folder, quota_bytes, self._evict, just_used_s)
        self.wanted = wanted
        """What must stay; asked from a thread."""
        self.changed: Changed = lambda _added, _removed: None
        try:
            self._look_around()
        except BaseException:
            self._index.close()
            raise

    def close(self) -> None:
        """Close the index; the store is not used afterwards."""
        self._index.close()

    # -- what is here ----------------------------------------------------------------------

    def holdings(self) -> tuple[DatasetId, ...]:
        """Return all datasets that are whole here."""
        return tuple(row.dataset for row in self._index.all())

    def has(self, dataset: DatasetId) -> bool:
        """Tell whether the dataset is whole here."""
        return self._index.get(dataset) is not None

    def get(self, dataset: DatasetId) -> Row | None:
        """Return what is known of one dataset; None when it is not here."""
        return self._index.get(dataset)

    def listing(self) -> list[Row]:
        """Return all datasets that are here, the newest first."""
        return self._index.all()

    def quota(self) -> Quota:
        """Return how much the store holds, may hold, and may still take in."""
        return self._room.quota()

    def files(self, dataset: DatasetId) -> tuple[Entry, ...]:
        """Return the files of a dataset; of a single file the path is empty. Raise ``DatasetError``
        when it is not here or its list of files is damaged, another ``OSError`` when the list
        cannot be read."""
        kind, digest = self._required(dataset)
        if kind is Kind.TREE:
            return self.manifest(digest).entries
        row = self._index.get(dataset)
        assert row is not None
        return (Entry("", row.size_bytes, digest),)

    # -- in --------------------------------------------------------------------------------

    def keep(self, path: Path, name: str = "", *, move: bool = False) -> Dataset:
        """Take a file or folder in and return its dataset, on disk on return; ``changed`` is told
        where it is new. Its name is ``name``, else that of the path, and none where some system
        would refuse it. With ``move`` its files
        are taken away where that can be, and not put back if it is refused. Raise ``OSError`` when
        it cannot be kept, ``StoreFull`` without room."""
        found = gathering.look(path)
        name = plain_name(name or path.name)
        with self._room.reserved(found.size_bytes, name or str(path)):
            gathered = gathering.gather(self._objects, found, move=move)
            self._note_objects(gathered.objects)
        if path.is_dir():
            manifest, content = encoded(gathered.entries, found.empty)
            return self.put_tree(manifest, content, name)
        return self.put_file(gathered.entries[0].digest, name)

    def put_file(self, digest: str, name: str) -> Dataset:
        """Make a dataset of one object that is here, called ``name``, and return it; ``changed`` is
        told where it is new. Raise ``DatasetMissing`` when the object is not here, ``DatasetError``
        when the index refuses. It is not read again."""
        size = self._required_object(digest)
        dataset = Dataset(dataset_id(Kind.FILE, digest), size)
        self._put(dataset, name, [digest])
        return dataset

    def put_tree(self, manifest: Manifest, content: bytes, name: str) -> Dataset:
        """Make a dataset of a folder from its manifest, ``content`` being the bytes of that, and
        return it, on disk on return; ``changed`` is told where it is new. Raise ``DatasetMissing``
        when one of its objects is not here, ``OSError`` when the disk or the index refuses: there
        is no such dataset then, but its objects stay."""
        for digest in manifest.sizes():
            self._required_object(digest)
        dataset = tree_of(content, manifest)
        incoming = self._objects.begin()
        try:
            incoming.write(content)
            incoming.path.replace(self._trees / incoming.finish())
        finally:
            incoming.drop()
        keep_names(self._trees)
        self._put(dataset, name, manifest.sizes())
        return dataset

    def put_object(self, digest: str, content: bytes | memoryview) -> bool:
        """Store a small file that came whole, durable on return, as an object of no dataset yet;
        return False, and store nothing, when its content is not that of the digest. Raise
        ``StoreFull`` without room, ``OSError`` when the disk refuses."""
        if hashlib.sha256(content).hexdigest() != digest:
            return False
        self.receive_object(digest, len(content), lambda write: write(content))
        return True

    def receive_object(self, digest: str, size_bytes: int, fill: Callable[[Write], None]) -> None:
        """Store a content that ``fill`` writes from its beginning, as an object of no dataset yet,
        durable on return. Raise ``DatasetDamaged`` when it is not that of the digest, ``StoreFull``
        without room, ``OSError`` when the disk refuses, and whatever ``fill`` raises; no object is
        stored then."""
        with self._room.reserved(size_bytes, f"a file of {size_bytes} bytes"):
            incoming = self._objects.begin()
            try:
                fill(incoming.write)
                if incoming.finish() != digest:
                    raise DatasetDamaged(f"what came is not sha256:{digest}.")
                self._note_objects([(digest, *self._objects.take(incoming.path, digest))])
            finally:
                incoming.drop()

    def reserved(self, size_bytes: int, what: str) -> AbstractContextManager[None]:
        """Reserve room for what is about to be written, for the time of a block; raise
        ``StoreFull`` when there is too little."""
        return self._room.reserved(size_bytes, what)

    def partial(self, digest: str, size_bytes: int) -> Partial:
        """Open the place for a large file that comes in pieces, with what came of it before, and
        return it; it takes up its whole size until ``complete`` or ``give_up``. Raise ``StoreFull``
        without room, ``OSError`` when the disk refuses."""
        path = self._partial / digest
        there = path.exists() and path.stat().st_size == size_bytes
        with self._room.reserved(0 if there else size_bytes, f"a file of {size_bytes} bytes"):
            partial = Partial(path, size_bytes)
            self._room.count(self._used_bytes())
        self._partials[digest] = partial
        return partial

    def give_up(self, digest: str) -> None:
        """Delete a partial file of which nothing is any good; raise ``KeyError`` when none is open,
        ``OSError`` when it cannot be deleted."""
        self._partials.pop(digest).drop()
        self._room.count(self._used_bytes())

    def complete(self, digest: str) -> None:
        """Make an object of an open partial file, all of whose content has come and was verified,
        durable on return; raise ``KeyError`` when none is open, ``OSError`` when the disk
        refuses."""
        partial = self._partials.pop(digest)
        partial.finish()
        self._note_objects([(digest, *self._objects.take(partial.path, digest))])
        self._room.count(self._used_bytes())

    def contents(self, dataset: DatasetId, size_bytes: int, manifest: bytes) -> dict[str, int]:
        """Return by digest the sizes of the contents that a dataset on its way here is made of,
        which need not be here: of a folder by its manifest, of a single file ``size_bytes``,
        unchecked. Raise ``NotKeepable`` for a name that is none, and for a manifest that is not the
        folder's."""
        found = parsed(dataset)
        if found is None:
            raise NotKeepable(f"{dataset} is no dataset that nodes keep.")
        kind, digest = found
        return decoded(digest, manifest).sizes() if kind is Kind.TREE else {digest: size_bytes}

    def adopt(self, dataset: DatasetId, manifest: bytes, name: str) -> None:
        """Make a dataset of contents that have all come, of a folder by its manifest, and tell
        ``changed`` where it is new; raise ``DatasetError`` when one is missing or the manifest is
        wrong, ``OSError`` when the disk refuses."""
        found = parsed(dataset)
        assert found is not None, "its contents were asked for before"
        kind, digest = found
        if kind is Kind.TREE:
            self.put_tree(decoded(digest, manifest), manifest, name)
        else:
            self.put_file(digest, name)

    # -- out -------------------------------------------------------------------------------

    def described(self, dataset: DatasetId) -> tuple[int, str, bytes]:
        """Return size in bytes, name and, of a folder, the manifest of a dataset, empty for a file;
        raise ``DatasetMissing`` when it is not here, ``OSError`` when the manifest cannot be
        read."""
        kind, digest = self._required(dataset)
        row = self._index.get(dataset)
        assert row is not None
        manifest = self.manifest_bytes(digest) if kind is Kind.TREE else b""
        return row.size_bytes, row.name, manifest

    def lay(self, dataset: DatasetId, into: Path) -> Path:
        """Place the dataset in this folder under its name, another one where that is taken, and
        return the path; that counts as use. Its files are read-only, except on Windows, and
        nobody else's: what is done to them changes nothing here. Raise ``OSError`` when that fails or it
        is not here; what was placed until then stays, for the caller to delete."""
        kind, digest = self._required(dataset)
        row = self._index.get(dataset)
        name = (row.name if row is not None else "") or digest[:SHORT_NAME_LENGTH]
        target = _free_name(into, name)
        self._index.use(dataset)
        if kind is Kind.FILE:
            lay_file(self.sound(digest), target)
            return target
        manifest = self.manifest(digest)
        target.mkdir(mode=0o700)
        for entry in manifest.entries:
            place = target / entry.path
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            source = self.sound(entry.digest)
            lay_file(source, place, executable=entry.executable)
        for empty in manifest.empty:
            (target / empty).mkdir(mode=0o700, parents=True, exist_ok=True)
        return target

    def read(self, dataset: DatasetId, path: str, offset: int, limit: int) -> bytes:
        """Return at most ``limit`` bytes of one of the dataset's files from this offset, empty
        behind its end; the path of a single file is empty. Raise ``DatasetError`` when the dataset
        or the file is not here or is damaged, another ``OSError`` when it cannot be read."""
        for entry in self.files(dataset):
            if entry.path == path:
                with self.open(entry.digest) as file:
                    file.seek(offset)
                    return file.read(limit)
        raise DatasetMissing(f"{dataset} has no file {path!r}.")

    def open(self, digest: str) -> IO[bytes]:
        """Open an object for reading, verified first where its file has changed; the caller closes
        it. Raise ``DatasetError`` when it is missing or damaged (then it is forgotten with the
        datasets that have it), another ``OSError`` when it cannot be read."""
        self.sound(digest)
        return self._objects.open(digest)

    def manifest(self, digest: str) -> Manifest:
        """Return the manifest of a folder that is here; raise ``DatasetError`` when it is missing
        or damaged, another ``OSError`` when it cannot be read. Nothing is removed then."""
        return decoded(digest, self.manifest_bytes(digest))

    def manifest_bytes(self, digest: str) -> bytes:
        """Return a folder's manifest as it travels, not verified; raise ``DatasetMissing`` when it
        is not on this disk, ``OSError`` when it cannot be read."""
        try:
            return (self._trees / digest).read_bytes()
        except FileNotFoundError as error:
            raise DatasetMissing(f"the folder tree:{digest} is not on this disk.") from error

    def has_object(self, digest: str) -> bool:
        """Tell whether this content is here, as far as is known without looking at it."""
        return self._index.object(digest) is not None

    def sound(self, digest: str) -> Path:
        """Return the path of an object, verified if its file has changed since it was last; raise
        ``DatasetError`` when it is missing or damaged. It is deleted and forgotten then, with the
        datasets that it is part of, and ``changed`` is told; a file that cannot be looked at counts
        as missing. Raise another ``OSError``, and lose nothing, when it cannot be read to verify
        it."""
        noted, seen = self._index.object(digest), self._objects.seen(digest)
        if seen is None:
            self._lose(digest, "is gone")
            raise DatasetMissing(f"the file sha256:{digest} is not on this disk.")
        if noted != seen:
            self.verify(digest)
        return self._objects.path(digest)

    def verify(self, digest: str, progress: Callable[[], None] = lambda: None) -> bytes:
        """Read all of an object, calling ``progress`` after each block, and return the hashes of
        its pieces. Raise ``DatasetMissing`` when it is not here, ``OSError`` when it cannot be
        read, ``DatasetDamaged`` when its content has changed; that one is removed, with the
        datasets that it is part of, and ``changed`` is told."""
        try:
            pieces = self._objects.hashes(digest, progress)
        except DatasetDamaged:
            self._lose(digest, "is not what it was any more")
            raise
        seen = self._objects.seen(digest)
        if seen is not None and seen != self._index.object(digest):
            self._index.note_objects([(digest, *seen)])
        return pieces

    def next_object(self, after: str) -> str:
        """Return the digest of the object that comes after this one, which need not be here, in the
        order of digests, for an empty text that of the first; empty behind the last. Raise
        ``DatasetError`` when the index cannot be read."""
        found = self._index.rows(
            "SELECT digest FROM object WHERE digest > ? ORDER BY digest LIMIT 1", after
        )
        return str(found[0][0]) if found else ""

    def datasets_of(self, digest: str) -> list[DatasetId]:
        """Return the datasets that an object is a part of."""
        found = self._index.rows("SELECT dataset FROM part WHERE digest = ?", digest)
        return [str(each) for (each,) in found]

    # -- away ------------------------------------------------------------------------------

    def remove(self, datasets: Iterable[DatasetId]) -> None:
        """Remove these datasets with the files that no other needs, and tell ``changed`` of it;
        those that are not here are ignored. Raise ``OSError``, with nothing changed, when the
        index cannot be written, or at the end, when a file could not be deleted: that one stays on
        disk, and all else is done."""
        rows = [row for each in datasets if (row := self._index.get(each)) is not None]
        if not rows:
            return
        gone = self._index.forget([row.dataset for row in rows])
        with ExitStack() as whatever_fails:
            whatever_fails.callback(self.changed, (), tuple(row.dataset for row in rows))
            whatever_fails.callback(lambda: self._room.count(self._used_bytes()))
            for row in rows:
                found = parsed(row.dataset)
                if found is not None and found[0] is Kind.TREE:
                    whatever_fails.callback(remove_file, self._trees / found[1])
            for digest in gone:
                whatever_fails.callback(self._objects.remove, digest)

    def collect(self, unused_kept_s: float = room.UNUSED_KEPT_S) -> list[DatasetId]:
        """Remove datasets that are not wanted and were not used for this many seconds, and files
        half fetched that were left alone as long; return the datasets. Raise ``OSError`` when a
        file cannot be deleted; what was removed until then is gone, the rest stays for the next
        time."""
        before_s = time.time() - unused_kept_s
        rows = room.evictable(self._index.all(), self.wanted(), before_s)
        self.remove(row.dataset for row in rows)
        for left in self._partial.iterdir():
            if left.stat().st_mtime < before_s:
                left.unlink()
        for digest in self._index.unused_objects():
            if self._objects.written_s(digest) < before_s:
                self._index.forget_object(digest)
                self._objects.remove(digest)
        self._room.count(self._used_bytes())
        return [row.dataset for row in rows]

    # -- inside ----------------------------------------------------------------------------

    def _look_around(self) -> None:
        """What an agent that was killed has left, and what somebody has removed."""
        there = self._objects.listed()
        self._index.compare(there)
        if self._index.fresh and there:
            self._rebuild(there)
        self._index.filled()
        self._room.count(self._used_bytes())

    def _rebuild(self, there: dict[str, tuple[int, int]]) -> None:
        now_s = time.time()
        for digest, (size, _) in there.items():
            row = Row(dataset_id(Kind.FILE, digest), size, "", now_s, now_s)
            self._index.put(row, [digest])
        for path in self._trees.iterdir():
            try:
                manifest = decoded(path.name, path.read_bytes())
            except NotKeepable:
                path.unlink()
                continue
            if manifest.sizes().keys() <= there.keys():
                tree = dataset_id(Kind.TREE, path.name)
                row = Row(tree, manifest.size_bytes, "", now_s, now_s)
                self._index.put(row, manifest.sizes())
        log.warning("the index of the datasets was made anew: their names are lost")

    def _evict(self, wanting_bytes: int) -> None:
        """Make so much room of what nobody needs, if there is so much."""
        gone: list[DatasetId] = []
        for row in room.evictable(self._index.all(), self.wanted(), self._room.before_s()):
            if wanting_bytes <= 0:
                break
            wanting_bytes -= row.size_bytes
            gone.append(row.dataset)
        if gone:
            log.info("%d datasets that nobody needs make room for another", len(gone))
            self.remove(gone)

    def _lose(self, digest: str, why: str) -> None:
        self._objects.remove(digest)
        lost = self._index.forget_object(digest)
        self._room.count(self._used_bytes())
        if lost:
            log.warning("the file sha256:%s %s; lost with it: %s", digest, why, ", ".join(lost))
            self.changed((), tuple(lost))

    def _note_objects(self, objects: list[tuple[str, int, int]]) -> None:
        new = {each[0]: each[1] for each in objects if self._index.object(each[0]) is None}
        self._index.note_objects(objects)
        self._room.add(sum(new.values()))

    def _put(self, dataset: Dataset, name: str, digests: Iterable[str]) -> None:
        now_s = time.time()
        new = not self.has(dataset.dataset)
        row = Row(dataset.dataset, dataset.size_bytes, plain_name(name), now_s, now_s)
        self._index.put(row, digests)
        if new:
            self.changed((dataset.dataset,), ())

    def _required(self, dataset: DatasetId) -> tuple[Kind, str]:
        found = parsed(dataset)
        if found is None or not self.has(dataset):
            raise DatasetMissing(f"{dataset} is not on this disk.")
        return found

    def _required_object(self, digest: str) -> int:
        known = self._index.object(digest)
        if known is None:
            raise DatasetMissing(f"the file sha256:{digest} is not on this disk.")
        return known[0]

    def _used_bytes(self) -> int:
        waiting = sum(each.stat().st_size for each in self._partial.iterdir())
        return self._index.used_bytes() + waiting


def _free_name(folder: Path, name: str) -> Path:
    """Two inputs may be called the same."""
    target, number = folder / name, 1
    while target.exists():
        number += 1
        stem, dot, suffix = name.rpartition(".")
        target = folder / (f"{stem}-{number}.{suffix}" if dot and stem else f"{name}-{number}")
    return target
