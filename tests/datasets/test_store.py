"""The store by itself: what goes in comes out, whatever happens to the disk in between."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from agent.protocol.records import Dataset, DatasetId
from agent.storage.datasets import index, objects
from agent.storage.datasets.errors import (
    DatasetDamaged,
    DatasetError,
    DatasetMissing,
    NotKeepable,
    StoreFull,
)
from agent.storage.datasets.room import Wanted
from agent.storage.datasets.store import DatasetStore
from tests.datasets.nodes import points

MEGABYTE = 1_000_000
Opened = Callable[..., DatasetStore]


def a_folder(folder: Path) -> Path:
    points(folder, "readme.txt", b"read me")
    points(folder / "deep" / "er", "same.txt", b"read me")
    (folder / "empty").mkdir()
    script = points(folder / "bin", "run.sh", b"#!/bin/sh\n")
    script.chmod(0o755)
    return folder


def test_a_file_is_named_by_its_content_and_laid_out_again(
    store: DatasetStore, tmp_path: Path
) -> None:
    source = points(tmp_path)
    digest = hashlib.sha256(b"some points").hexdigest()
    assert store.keep(source) == Dataset(f"sha256:{digest}", len(b"some points"))
    assert source.read_bytes() == b"some points"
    laid = store.lay(f"sha256:{digest}", tmp_path / "store")
    assert (laid.name, laid.read_bytes()) == ("points.las", b"some points")
    assert not laid.stat().st_mode & 0o222


def test_a_folder_keeps_names_rights_and_empty_folders(store: DatasetStore, tmp_path: Path) -> None:
    dataset = store.keep(a_folder(tmp_path / "raw")).dataset
    assert dataset.startswith("tree:")
    (tmp_path / "into").mkdir()
    laid = store.lay(dataset, tmp_path / "into")
    files, folders = (
        ["bin/run.sh", "deep/er/same.txt", "readme.txt"],
        ["bin", "deep", "deep/er", "empty"],
    )
    found = [path.relative_to(laid).as_posix() for path in laid.rglob("*")]
    assert sorted(found) == sorted(files + folders)
    assert os.access(laid / "bin" / "run.sh", os.X_OK) or os.name != "posix"
    assert [each.path for each in store.files(dataset)] == files


def test_an_empty_folder_is_laid_out_too_and_any_is_nobody_elses(
    store: DatasetStore, tmp_path: Path
) -> None:
    (tmp_path / "nothing").mkdir()
    for source in (tmp_path / "nothing", a_folder(tmp_path / "raw")):
        laid = store.lay(store.keep(source).dataset, tmp_path / "store")
        assert laid.is_dir()
        assert os.name != "posix" or laid.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("copied", [0, 3])
def test_what_the_kernel_does_not_copy_is_copied_all_the_same(
    store: DatasetStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: int
) -> None:
    """Also where it says so only after a part, as between two disks of a network."""
    dataset = store.keep(points(tmp_path, "points.las", b"some points")).dataset
    left = [copied]

    def copy(source: int, target: int, _: int) -> int:
        if not (size := left.pop() if left else 0):
            raise OSError(errno.EXDEV, "between two disks")
        return os.write(target, os.read(source, size))

    monkeypatch.setattr(os, "copy_file_range", copy, raising=False)
    laid = store.lay(dataset, tmp_path / "store")
    assert laid.read_bytes() == b"some points"


def test_what_a_program_left_is_moved_in_unless_it_has_two_names(
    store: DatasetStore, tmp_path: Path
) -> None:
    source = points(tmp_path / "scratch", "moved", b"moved points")
    assert store.read(store.keep(source, move=True).dataset, "", 6, 6) == b"points"
    assert not source.exists()
    other, source = tmp_path / "other", points(tmp_path / "scratch")
    other.hardlink_to(source)
    dataset = store.keep(source, move=True)
    other.write_bytes(b"ELSE points")
    assert store.read(dataset.dataset, "", 0, 99) == b"some points"


def test_the_same_folder_elsewhere_is_the_same_dataset(store: DatasetStore, tmp_path: Path) -> None:
    first = store.keep(a_folder(tmp_path / "one"))
    used = store.quota().used_bytes
    assert store.keep(a_folder(tmp_path / "two"), "other name") == first
    assert store.quota().used_bytes == used
    assert [kept.name for kept in store.listing()] == ["one"]


def test_links_stay_inside_or_are_refused(store: DatasetStore, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "raw")
    (folder / "alias.txt").symlink_to("readme.txt")
    dataset = store.keep(folder, move=True)
    assert store.read(dataset.dataset, "alias.txt", 0, 99) == b"read me"
    outside = a_folder(tmp_path / "leaky")
    (outside / "passwords").symlink_to(points(tmp_path, "passwords"))
    with pytest.raises(NotKeepable, match="leads out of the folder"):
        store.keep(outside)
    (outside / "passwords").unlink()
    (outside / "loop").symlink_to(outside)
    with pytest.raises(NotKeepable, match="link to a folder"):
        store.keep(outside)


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        *(
            ([name], "give it another name")
            for name in ("aux.txt", "a:b", "trailing.", "tab\there", "x" * 254 + "?")
        ),
        (["Data.csv", "data.csv"], "one name on Windows"),
    ],
)
def test_names_that_windows_does_not_take_are_refused(
    store: DatasetStore, tmp_path: Path, names: list[str], fault: str
) -> None:
    with suppress(OSError):
        for name in names:
            points(tmp_path / "raw", name)
    if len(list((tmp_path / "raw").iterdir())) < len(names):
        pytest.skip("this system does not take the names either")
    with pytest.raises(NotKeepable, match=fault):
        store.keep(tmp_path / "raw")


def test_what_is_no_file_is_refused(store: DatasetStore, tmp_path: Path) -> None:
    with pytest.raises(NotKeepable, match="cannot be read"):
        store.keep(tmp_path / "nothing")
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes with names")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotKeepable, match="cannot be kept"):
        store.keep(tmp_path)


def test_a_damaged_file_is_found_and_given_up(store: DatasetStore, tmp_path: Path) -> None:
    gone: list[DatasetId] = []
    dataset = store.keep(points(tmp_path))
    store.changed = lambda _, removed: gone.extend(removed)
    own = store.sound(dataset.dataset.partition(":")[2])
    own.chmod(0o600)
    own.write_bytes(b"SOME points")
    with pytest.raises(DatasetDamaged):
        store.lay(dataset.dataset, tmp_path)
    assert (gone, store.holdings()) == ([dataset.dataset], ())
    assert store.keep(points(tmp_path)) == dataset
    assert store.read(dataset.dataset, "", 0, 99) == b"some points"


def test_what_somebody_removed_is_missed_at_the_next_start(opened: Opened, tmp_path: Path) -> None:
    store = opened()
    kept = store.keep(points(tmp_path, "stays", b"stays"))
    lost = store.keep(a_folder(tmp_path / "raw"))
    store.close()
    digest = hashlib.sha256(b"read me").hexdigest()
    (tmp_path / "store" / "objects" / digest[:2] / digest).unlink()
    again = opened()
    assert again.holdings() == (kept.dataset,)
    with pytest.raises(DatasetMissing):
        again.lay(lost.dataset, tmp_path)


@pytest.mark.parametrize("damage", ["gone", "garbage", "no text"])
def test_without_its_index_the_folder_says_what_there_is(
    opened: Opened, tmp_path: Path, damage: str
) -> None:
    store = opened()
    file, folder = store.keep(points(tmp_path)), store.keep(a_folder(tmp_path / "raw"))
    store.close()
    index = tmp_path / "store" / "index.db"
    content = index.read_bytes().replace(b"CREATE TABLE", b"CREATE TABL\xac")
    index.write_bytes(content if damage == "no text" else b"\xff" * len(content))
    if damage == "gone":
        index.unlink()
    again = opened()
    assert {file.dataset, folder.dataset} <= set(again.holdings())
    assert again.read(folder.dataset, "readme.txt", 0, 99) == b"read me"


def test_an_index_that_was_being_made_anew_is_made_anew_again(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent is killed after the empty index is there and before it says what there is."""
    store = opened()
    file = store.keep(points(tmp_path))
    store.close()
    place = tmp_path / "store" / "index.db"
    place.write_bytes(b"\xff" * place.stat().st_size)
    with monkeypatch.context() as killed:
        killed.setattr(index.Index, "compare", _killed)
        with pytest.raises(KeyboardInterrupt):
            opened()
    for _ in range(2):
        again = opened()
        assert again.holdings() == (file.dataset,)
        again.close()
    assert [each.name for each in place.parent.glob("index*")] == ["index.db"]


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_an_index_that_others_hold_is_not_made_anew(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened()
    store.keep(points(tmp_path), "survey")
    store.close()
    monkeypatch.setattr(index, "LOCKED_WAIT_S", 0.0)
    for holding in ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA cache_size"):
        with closing(sqlite3.connect(tmp_path / "store" / "index.db")) as other:
            other.execute(holding)
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(
                DatasetError, match=r"^index\.db cannot be used: database is locked$"
            ):
                opened()
    assert [each.name for each in opened().listing()] == ["survey"]


def test_an_index_that_takes_nothing_is_a_trouble_of_the_store_and_ends(
    store: DatasetStore, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "store" / "index.db")) as index, index:
        index.execute(
            "CREATE TRIGGER no BEFORE INSERT ON dataset BEGIN SELECT RAISE(ROLLBACK, 'no'); END"
        )
    with pytest.raises(DatasetError, match=r"^index\.db cannot be used: no$"):
        store.keep(points(tmp_path))
    with closing(sqlite3.connect(tmp_path / "store" / "index.db")) as index, index:
        index.execute("DROP TRIGGER no")
    assert store.keep(points(tmp_path)).dataset in store.holdings()


def test_an_object_whose_row_was_not_written_is_looked_at_first(
    opened: Opened, tmp_path: Path
) -> None:
    dataset = opened().keep(points(tmp_path)).dataset
    with closing(sqlite3.connect(tmp_path / "store" / "index.db")) as index, index:
        index.execute("UPDATE object SET mtime_ns = 0")
    assert opened().read(dataset, "", 0, 4) == b"some"
    with closing(sqlite3.connect(tmp_path / "store" / "index.db")) as index:
        assert index.execute("SELECT mtime_ns FROM object").fetchone() != (0,), "looked at once"


def test_when_full_what_nobody_needs_goes_first(opened: Opened, tmp_path: Path) -> None:
    store = opened(3 * MEGABYTE, just_used_s=-1.0)
    names = ("first", "second", "third")
    sources = [points(tmp_path, name, name[:1].encode() * MEGABYTE) for name in names]
    kept = [store.keep(each).dataset for each in sources]
    store.wanted = lambda: Wanted(needed=frozenset(kept[:1]), results=frozenset(kept[1:2]))
    new = store.keep(points(tmp_path, "new", b"n" * MEGABYTE)).dataset
    assert set(store.holdings()) == {*kept[:2], new}
    store.wanted = lambda: Wanted(needed=frozenset(store.holdings()))
    with pytest.raises(StoreFull, match="no room for more") as refused:
        store.keep(points(tmp_path, "more", b"m" * MEGABYTE))
    assert refused.value.errno == errno.ENOSPC
    assert store.quota().used_bytes == 3 * MEGABYTE


def test_collecting_removes_what_was_long_unused_and_not_referred_to(
    opened: Opened, tmp_path: Path
) -> None:
    store = opened()
    needed, unused = (
        store.keep(each).dataset for each in (a_folder(tmp_path / "raw"), points(tmp_path))
    )
    store.wanted = lambda: Wanted(needed=frozenset([needed]))
    assert store.collect() == []
    assert store.collect(unused_kept_s=-1.0) == [unused]
    assert store.holdings() == (needed,)
    store.wanted = Wanted
    store.collect(unused_kept_s=-1.0)
    left = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert {path.name.partition("-")[0] for path in left} == {"index.db"}


def test_a_large_file_goes_on_where_it_was_broken_off(opened: Opened, tmp_path: Path) -> None:
    content = os.urandom(9 * 1024 * 1024)
    digest = hashlib.sha256(content).hexdigest()
    with closing(DatasetStore(tmp_path / "source")) as source:
        source.keep(points(tmp_path, "large", content))
        hashes = source.verify(digest)
    store = opened()
    partial = store.partial(digest, len(content))
    assert not partial.found
    partial.write(4 * 1024 * 1024, memoryview(content)[4 * 1024 * 1024 : 8 * 1024 * 1024])
    partial.close()
    again = opened()
    partial = again.partial(digest, len(content))
    assert (partial.found, partial.whole_pieces(hashes)) == (True, {1})
    partial.write(0, memoryview(content))
    assert partial.whole_pieces(hashes) == {0, 1, 2}
    again.complete(digest)
    assert again.put_file(digest, "large").size_bytes == len(content)
    assert again.quota().used_bytes == len(content)


@pytest.mark.parametrize("older", [True, False])
def test_what_may_not_be_moved_into_the_store_is_not_lost(
    store: DatasetStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: bool
) -> None:
    if older:
        store.keep(points(tmp_path, "older"))
    path = points(tmp_path, "only")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "held by another program")

    monkeypatch.setattr(Path, "replace", refuse)
    if older:
        kept = store.keep(path, move=True)
        assert store.has(kept.dataset)
    else:
        with pytest.raises(PermissionError):
            store.keep(path, move=True)
        assert any(
            each.read_bytes() == b"some points" for each in tmp_path.rglob("*") if each.is_file()
        )


def test_all_of_a_file_is_laid_however_little_is_copied_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "COPY_BYTES", 10)
    monkeypatch.setattr(objects, "_shares_blocks", lambda *_: False)
    (tmp_path / "large").write_bytes(bytes(range(35)))
    objects.lay_file(tmp_path / "large", tmp_path / "laid")
    assert (tmp_path / "laid").read_bytes() == bytes(range(35))
