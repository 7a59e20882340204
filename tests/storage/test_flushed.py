"""What is told to be on disk was flushed, file and name: nothing is lost with the power.

A test cannot cut the power. It notes every flush and every name that is given, in their order, and
then asks of each file whether it was flushed before it had its name, and its folder after that.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from functools import partial, partialmethod
from pathlib import Path

import pytest

from agent.storage.datasets.store import DatasetStore
from agent.storage.identity_copy import IdentityCopy
from agent.storage.journal import Journal
from agent.storage.writer import Reserve
from tests.storage.samples import flipped, identity, persist, written

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows flushes names by itself")


def kept(store: DatasetStore, folder: Path, move: bool) -> None:
    source = folder / "source"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "file").write_bytes(b"content")
    store.keep(source, move=move)


class Disk:
    """What was flushed and renamed, one after the other, by the number of the file."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.done: list[tuple[str, int]] = []
        self._fsync, self.replace = os.fsync, Path.replace
        patched.setattr(os, "fsync", self.fsync)
        patched.setattr(Path, "replace", partialmethod(_replaced, self))

    def fsync(self, descriptor: int) -> None:
        self._fsync(descriptor)
        self.done.append(("flushed", os.fstat(descriptor).st_ino))

    def holds(self, path: Path) -> bool:
        """Whether this file, under this name, would be there after a loss of power."""
        file, folder = path.stat().st_ino, path.parent.stat().st_ino
        named = self.done.index(("named", file))
        return ("flushed", file) in self.done[:named] and ("flushed", folder) in self.done[named:]

    def has_flushed(self, path: Path) -> bool:
        return ("flushed", path.stat().st_ino) in self.done


def _replaced(path: Path, disk: Disk, target: Path) -> Path:
    disk.done.append(("named", path.stat().st_ino))
    return disk.replace(path, target)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


DIGEST = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"


def in_pieces(store: DatasetStore, folder: Path) -> None:
    store.partial(DIGEST, 7).write(0, memoryview(b"content"))
    store.complete(DIGEST)


@pytest.mark.parametrize(
    ("way", "trees"),
    [
        (partial(kept, move=False), 1),
        (partial(kept, move=True), 1),
        (lambda store, _: store.put_object(DIGEST, b"content"), 0),
        (lambda store, _: store.receive_object(DIGEST, 7, lambda write: write(b"content")), 0),
        (in_pieces, 0),
    ],
    ids=["copied", "moved", "sent whole", "received", "in pieces"],
)
def test_a_dataset_that_is_told_of_is_on_disk(
    disk: Disk, tmp_path: Path, way: Callable[[DatasetStore, Path], None], trees: int
) -> None:
    with closing(DatasetStore(tmp_path / "store")) as store:
        disk.done.clear()
        way(store, tmp_path)
    objects = tmp_path / "store" / "objects"
    held = [*objects.rglob(DIGEST), *(tmp_path / "store" / "trees").iterdir()]
    assert [disk.holds(each) for each in held] == [True] * (1 + trees)
    assert disk.has_flushed(objects), "the folder of the object is new"


def test_the_identity_is_on_disk_before_the_commit_that_it_covers(
    disk: Disk, tmp_path: Path
) -> None:
    copy = IdentityCopy(tmp_path / "identity")
    copy.cover(identity(1))
    flush = ("flushed", (tmp_path / "identity").stat().st_ino)
    assert flush in disk.done
    assert disk.has_flushed(tmp_path)
    disk.done.clear()
    copy.cover(identity(2))
    assert disk.done == []
    copy.cover(identity(100_000))
    assert disk.done == [flush]


def test_a_journal_that_was_opened_has_its_name_and_its_reserve(disk: Disk, tmp_path: Path) -> None:
    with Journal.open(tmp_path):
        assert disk.has_flushed(tmp_path)
        assert disk.has_flushed(tmp_path / "reserve")
    disk.done.clear()
    Reserve(tmp_path / "reserve").take()
    assert disk.done == [], "a reserve that is there is not written anew"


def test_a_mended_journal_is_complete_before_it_has_the_name(disk: Disk, tmp_path: Path) -> None:
    written(tmp_path, *map(persist, range(1, 20)))
    flipped(tmp_path / "journal.db", 0, 1)
    disk.done.clear()
    with Journal.open(tmp_path) as journal:
        assert "was damaged" in journal.read().notices[0]
        named = disk.done.index(("named", (tmp_path / "journal.db").stat().st_ino))
    folder = ("flushed", tmp_path.stat().st_ino)
    assert disk.done[:named].count(folder) == 2, "when it was made, and when the old one had left"
    assert folder in disk.done[named:]
