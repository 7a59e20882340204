"""The store by itself: what goes in comes out, whatever happens to the disk in between."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.protocol.records import DatasetId
from agent.storage.datasets.errors import DatasetDamaged, DatasetMissing, NotKeepable, StoreFull
from agent.storage.datasets.lineage import Lineage
from agent.storage.datasets.room import Wanted
from agent.storage.datasets.store import DatasetStore

MEGABYTE = 1_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DatasetStore]:
    opened = DatasetStore(tmp_path / "store")
    yield opened
    opened.close()


def a_file(folder: Path, name: str = "points.las", content: bytes = b"some points") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    return path


def a_folder(folder: Path) -> Path:
    a_file(folder, "readme.txt", b"read me")
    a_file(folder / "deep" / "er", "same.txt", b"read me")
    (folder / "empty").mkdir()
    script = a_file(folder / "bin", "run.sh", b"#!/bin/sh\n")
    script.chmod(0o755)
    return folder


def test_a_file_is_named_by_its_content_and_laid_out_again(
    store: DatasetStore, tmp_path: Path
) -> None:
    source = a_file(tmp_path)
    dataset = store.keep(source)
    assert dataset.dataset == f"sha256:{hashlib.sha256(b'some points').hexdigest()}"
    assert dataset.size_bytes == len(b"some points")
    assert source.read_bytes() == b"some points"
    laid = store.lay(dataset.dataset, tmp_path / "store")
    assert laid.name == "points.las"
    assert laid.read_bytes() == b"some points"
    assert not laid.stat().st_mode & 0o222


def test_a_folder_keeps_names_rights_and_empty_folders(store: DatasetStore, tmp_path: Path) -> None:
    dataset = store.keep(a_folder(tmp_path / "raw"))
    assert dataset.dataset.startswith("tree:")
    into = tmp_path / "into"
    into.mkdir()
    laid = store.lay(dataset.dataset, into)
    assert sorted(str(path.relative_to(laid)) for path in laid.rglob("*")) == [
        "bin",
        "bin/run.sh",
        "deep",
        "deep/er",
        "deep/er/same.txt",
        "empty",
        "readme.txt",
    ]
    assert os.access(laid / "bin" / "run.sh", os.X_OK) or os.name != "posix"
    assert [each.path for each in store.files(dataset.dataset)] == [
        "bin/run.sh",
        "deep/er/same.txt",
        "readme.txt",
    ]


def test_the_same_folder_elsewhere_is_the_same_dataset(store: DatasetStore, tmp_path: Path) -> None:
    first = store.keep(a_folder(tmp_path / "one"))
    used = store.quota().used_bytes
    assert store.keep(a_folder(tmp_path / "two"), "other name") == first
    assert store.quota().used_bytes == used
    assert [kept.name for kept in store.listing()] == ["one"]


def test_what_a_program_left_is_moved_in(store: DatasetStore, tmp_path: Path) -> None:
    source = a_file(tmp_path / "scratch")
    dataset = store.keep(source, move=True)
    assert not source.exists()
    assert store.read(dataset.dataset, "", 5, 6) == b"points"


def test_a_file_with_two_names_is_not_moved(store: DatasetStore, tmp_path: Path) -> None:
    source = a_file(tmp_path / "scratch")
    other = tmp_path / "other"
    other.hardlink_to(source)
    dataset = store.keep(source, move=True)
    other.write_bytes(b"ELSE points")
    assert store.read(dataset.dataset, "", 0, 99) == b"some points"


def test_links_stay_inside_or_are_refused(store: DatasetStore, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "raw")
    (folder / "alias.txt").symlink_to("readme.txt")
    dataset = store.keep(folder, move=True)
    assert store.read(dataset.dataset, "alias.txt", 0, 99) == b"read me"
    outside = a_folder(tmp_path / "leaky")
    (outside / "passwords").symlink_to(a_file(tmp_path, "passwords"))
    with pytest.raises(NotKeepable, match="leads out of the folder"):
        store.keep(outside)
    (outside / "passwords").unlink()
    (outside / "loop").symlink_to(outside)
    with pytest.raises(NotKeepable, match="link to a folder"):
        store.keep(outside)


@pytest.mark.parametrize("name", ["aux.txt", "a:b", "trailing.", "tab\there", "x" * 254 + "?"])
def test_names_that_windows_does_not_take_are_refused(
    store: DatasetStore, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "raw"
    try:
        a_file(folder, name)
    except OSError:
        pytest.skip("this system does not take the name either")
    with pytest.raises(NotKeepable, match="give it another name"):
        store.keep(folder)


def test_two_names_that_are_one_on_windows_are_refused(store: DatasetStore, tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    a_file(folder, "Data.csv")
    a_file(folder, "data.csv", b"other")
    if len(list(folder.iterdir())) < 2:
        pytest.skip("they are one name here as well")
    with pytest.raises(NotKeepable, match="one name on Windows"):
        store.keep(folder)


def test_a_pipe_is_refused(store: DatasetStore, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes with names")
    folder = tmp_path / "raw"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    with pytest.raises(NotKeepable, match="cannot be kept"):
        store.keep(folder)
    with pytest.raises(NotKeepable, match="cannot be read"):
        store.keep(tmp_path / "nothing")


def test_a_damaged_file_is_found_and_given_up(store: DatasetStore, tmp_path: Path) -> None:
    gone: list[DatasetId] = []
    dataset = store.keep(a_file(tmp_path))
    store.changed = lambda _, removed: gone.extend(removed)
    laid = store.lay(dataset.dataset, tmp_path / "store")
    laid.chmod(0o600)
    laid.write_bytes(b"SOME points")
    with pytest.raises(DatasetDamaged):
        store.lay(dataset.dataset, tmp_path)
    assert gone == [dataset.dataset]
    assert store.holdings() == ()
    assert store.keep(a_file(tmp_path, content=b"some points")) == dataset
    assert store.read(dataset.dataset, "", 0, 99) == b"some points"


def test_what_somebody_removed_is_missed_at_the_next_start(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "store")
    kept = store.keep(a_file(tmp_path, "stays", b"stays"))
    lost = store.keep(a_folder(tmp_path / "raw"))
    store.close()
    digest = hashlib.sha256(b"read me").hexdigest()
    (tmp_path / "store" / "objects" / digest[:2] / digest).unlink()
    again = DatasetStore(tmp_path / "store")
    assert again.holdings() == (kept.dataset,)
    with pytest.raises(DatasetMissing):
        again.lay(lost.dataset, tmp_path)


@pytest.mark.parametrize("damage", ["gone", "garbage", "no text"])
def test_without_its_index_the_folder_says_what_there_is(tmp_path: Path, damage: str) -> None:
    store = DatasetStore(tmp_path / "store")
    file, folder = store.keep(a_file(tmp_path)), store.keep(a_folder(tmp_path / "raw"))
    store.close()
    index = tmp_path / "store" / "index.db"
    if damage == "gone":
        index.unlink()
    elif damage == "garbage":
        index.write_bytes(b"\xff" * index.stat().st_size)
    else:
        index.write_bytes(index.read_bytes().replace(b"CREATE TABLE", b"CREATE TABL\xac"))
    again = DatasetStore(tmp_path / "store")
    assert {file.dataset, folder.dataset} <= set(again.holdings())
    assert again.read(folder.dataset, "readme.txt", 0, 99) == b"read me"
    again.close()


def test_an_object_whose_row_was_not_written_is_looked_at_first(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "store")
    dataset = store.keep(a_file(tmp_path))
    store.close()
    with sqlite3.connect(tmp_path / "store" / "index.db") as index:
        index.execute("UPDATE object SET mtime_ns = 0")
    index.close()
    again = DatasetStore(tmp_path / "store")
    assert again.read(dataset.dataset, "", 0, 4) == b"some"
    again.close()
    with sqlite3.connect(tmp_path / "store" / "index.db") as index:
        assert index.execute("SELECT mtime_ns FROM object").fetchone() != (0,), "looked at once"
    index.close()


def test_when_full_what_nobody_needs_goes_first(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "store", 3 * MEGABYTE, just_used_s=-1.0)
    kept = [
        store.keep(a_file(tmp_path, f"{number}", bytes([number]) * MEGABYTE)).dataset
        for number in range(3)
    ]
    store.wanted = lambda: Wanted(needed=frozenset(kept[:1]), results=frozenset(kept[1:2]))
    store.keep(a_file(tmp_path, "new", b"n" * MEGABYTE))
    assert set(kept[:2]) < set(store.holdings())
    assert kept[2] not in store.holdings()
    store.wanted = lambda: Wanted(needed=frozenset(store.holdings()))
    with pytest.raises(StoreFull, match="no room for more") as refused:
        store.keep(a_file(tmp_path, "more", b"m" * MEGABYTE))
    assert refused.value.errno == errno.ENOSPC
    assert store.quota().used_bytes == 3 * MEGABYTE


def test_what_was_just_used_is_not_evicted(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "store", MEGABYTE)
    dataset = store.keep(a_file(tmp_path, "first", b"f" * MEGABYTE))
    with pytest.raises(StoreFull):
        store.keep(a_file(tmp_path, "second", b"s"))
    assert store.holdings() == (dataset.dataset,)


def test_collecting_removes_what_was_long_unused_and_not_referred_to(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "store")
    needed, unused = (
        store.keep(a_folder(tmp_path / "raw")).dataset,
        store.keep(a_file(tmp_path)).dataset,
    )
    store.wanted = lambda: Wanted(needed=frozenset([needed]))
    assert store.collect() == []
    assert store.collect(unused_kept_s=-1.0) == [unused]
    assert store.holdings() == (needed,)
    store.wanted = Wanted
    store.collect(unused_kept_s=-1.0)
    left = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert {path.name.partition("-")[0] for path in left} == {"index.db"}


def test_what_made_a_dataset_is_remembered(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "store")
    dataset = store.keep(a_file(tmp_path)).dataset
    made = Lineage("t", 0, dataset, "1.1 by me", "count", "tree:1", ("sha256:in",), 5.0)
    store.note_lineage([made])
    store.note_lineage([made])
    store.close()
    assert DatasetStore(tmp_path / "store").lineage_of(dataset) == [made]


def test_a_large_file_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    content = os.urandom(9 * 1024 * 1024)
    source = DatasetStore(tmp_path / "source")
    digest = hashlib.sha256(content).hexdigest()
    source.keep(a_file(tmp_path, "large", content))
    hashes = source.verify(digest)
    store = DatasetStore(tmp_path / "store")
    partial = store.partial(digest, len(content))
    assert not partial.found
    partial.write(4 * 1024 * 1024, memoryview(content)[4 * 1024 * 1024 : 8 * 1024 * 1024])
    partial.close()
    store.close()
    again = DatasetStore(tmp_path / "store")
    partial = again.partial(digest, len(content))
    assert partial.found
    assert partial.whole_pieces(hashes) == {1}
    partial.write(0, memoryview(content))
    assert partial.whole_pieces(hashes) == {0, 1, 2}
    again.complete(digest)
    assert again.put_file(digest, "large").size_bytes == len(content)
    assert again.quota().used_bytes == len(content)
