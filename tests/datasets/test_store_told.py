"""What the store tells of what it holds, what comes and goes by each of its doors, and which names it takes."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from agent.protocol.records import DatasetId
from agent.storage.datasets import gathering, objects
from agent.storage.datasets.errors import (
    DatasetDamaged,
    DatasetMissing,
    NotKeepable,
    StoreFull,
)
from agent.storage.datasets.manifest import (
    Entry,
    Kind,
    Manifest,
    decoded,
    encoded,
    fault_of_name,
    fault_of_path,
    fault_of_paths,
    ours,
    parsed,
    plain_name,
    tree_of,
)
from agent.storage.datasets.objects import Incoming, Partial, copy_into, digests
from agent.storage.datasets.room import Quota
from agent.storage.datasets.store import DatasetStore
from tests.datasets.nodes import points

CONTENT = b"some points"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
CHUNK_BYTES = 4 * 1024 * 1024
"""Nodes of every version tell each other the hashes of pieces of this size."""
NOBODY = "sha256:" + 64 * "0"
Told = list[tuple[tuple[DatasetId, ...], tuple[DatasetId, ...]]]
Opened = Callable[..., DatasetStore]


@pytest.fixture
def told(store: DatasetStore) -> Told:
    """What the store tells of what comes and goes."""
    found: Told = []
    store.changed = lambda added, removed: found.append((added, removed))
    return found


def files(folder: Path, *within: str) -> set[str]:
    """The files in the folders of the store that are named, or in that of its objects."""
    places = [folder / "store" / each for each in within or ("objects",)]
    return {path.name for place in places for path in place.rglob("*") if path.is_file()}


def test_what_comes_and_goes_is_told_once(store: DatasetStore, told: Told, tmp_path: Path) -> None:
    file = store.keep(points(tmp_path / "raw")).dataset
    store.keep(points(tmp_path / "raw"))
    tree = store.keep(tmp_path / "raw").dataset
    assert store.holdings() == (tree, file)
    store.remove([file, NOBODY])
    assert files(tmp_path) == {DIGEST}, "the folder is made of it, too"
    store.remove([NOBODY])
    store.remove([tree])
    assert told == [((file,), ()), ((tree,), ()), ((), (file,)), ((), (tree,))]
    assert files(tmp_path, "objects", "trees") == set()
    assert store.quota().used_bytes == 0
    assert not store.has(tree)


def test_what_cannot_be_deleted_is_told_last(
    store: DatasetStore, told: Told, tmp_path: Path
) -> None:
    stays, goes = (store.keep(points(tmp_path, "x", each)).dataset for each in (CONTENT, b"other"))
    place = next((tmp_path / "store" / "objects").rglob(DIGEST))
    place.unlink()
    points(place, "in the way")
    with pytest.raises(OSError, match=DIGEST):
        store.remove([stays, goes])
    assert told[-1] == ((), (stays, goes))
    assert files(tmp_path) == {"in the way"}
    assert (store.holdings(), store.quota().used_bytes) == ((), 0)


def test_a_folder_that_cannot_be_kept_leaves_nothing_unfinished(
    store: DatasetStore, tmp_path: Path
) -> None:
    manifest, content = encoded([], ["empty"])
    points(tmp_path / "store" / "trees" / hashlib.sha256(content).hexdigest(), "in the way")
    with pytest.raises(OSError, match="trees"):
        store.put_tree(manifest, content, "folder")
    assert files(tmp_path, "incoming") == set()


def test_what_is_known_of_a_dataset(store: DatasetStore, tmp_path: Path) -> None:
    file = store.keep(points(tmp_path / "raw"), "renamed").dataset
    tree = store.keep(tmp_path / "raw", "bad?name").dataset
    first, second = store.listing()[::-1]
    assert (store.get(file), store.get(tree), store.get(NOBODY)) == (first, second, None)
    assert (first.name, first.folder, first.size_bytes) == ("renamed", False, 11)
    assert (second.name, second.folder, second.size_bytes) == ("", True, 11)
    assert first.added_s == first.used_s <= second.added_s
    manifest = store.manifest_bytes(tree.removeprefix("tree:"))
    assert store.described(file) == (11, "renamed", b"")
    assert store.described(tree) == (11, "", manifest)
    assert store.contents(tree, 11, manifest) == store.contents(file, 11, b"") == {DIGEST: 11}
    assert (store.has_object(DIGEST), store.has_object(64 * "0")) == (True, False)
    with pytest.raises(NotKeepable, match="no dataset that nodes keep"):
        store.contents("row-17", 1, b"")


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.described(NOBODY),
        lambda store: store.files(NOBODY),
        lambda store: store.put_file(64 * "0", "nothing"),
        lambda store: store.manifest(64 * "0"),
    ],
)
def test_what_is_not_here_is_told(
    store: DatasetStore, ask: Callable[[DatasetStore], object]
) -> None:
    with pytest.raises(DatasetMissing, match="is not on this disk"):
        ask(store)


def test_a_piece_is_read_of_the_file_that_is_asked_for(store: DatasetStore, tmp_path: Path) -> None:
    points(tmp_path / "raw", "b", b"0123456789")
    points(tmp_path / "raw" / "deep", "a", b"abcdef")
    tree = store.keep(tmp_path / "raw").dataset
    asked = [("b", 3, 4), ("deep/a", 4, 10), ("b", 10, 4)]
    assert [store.read(tree, *each) for each in asked] == [b"3456", b"ef", b""]
    with pytest.raises(DatasetMissing, match="has no file 'a'"):
        store.read(tree, "a", 0, 1)


def test_inputs_of_the_same_name_lie_beside_each_other(store: DatasetStore, tmp_path: Path) -> None:
    (tmp_path / "into").mkdir()
    names = ["a.txt"] * 3 + ["plain", ".hidden", "a.tar.gz"] * 2 + ["bad?"]
    laid = []
    for number, name in enumerate(names):
        source = points(tmp_path, "source", f"{name} {number}".encode())
        dataset = store.keep(source, name).dataset
        laid.append(store.lay(dataset, tmp_path / "into").name)
    assert laid == [
        *("a.txt", "a-2.txt", "a-3.txt", "plain", ".hidden", "a.tar.gz"),
        *("plain-2", ".hidden-2", "a.tar-2.gz", hashlib.sha256(b"bad? 9").hexdigest()[:12]),
    ]


def refused(*_: object) -> Path:
    raise OSError("another disk")


def test_on_another_disk_programs_get_copies_and_outputs_are_copied_in(
    store: DatasetStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", refused)
    monkeypatch.setattr(Path, "rename", refused)
    source = points(tmp_path)
    dataset = store.keep(source, move=True).dataset
    assert source.exists()
    laid = store.lay(dataset, tmp_path / "store")
    assert laid.read_bytes() == store.read(dataset, "", 0, 99) == CONTENT
    assert laid.stat().st_nlink == 1
    assert not laid.stat().st_mode & 0o222


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights and links")
def test_a_copy_belongs_to_whoever_keeps_it(store: DatasetStore, tmp_path: Path) -> None:
    points(tmp_path / "raw", "data")
    points(tmp_path / "raw", "run.sh", b"#!/bin/sh\n").chmod(0o755)
    points(tmp_path / "raw" / "deep", "data")
    (tmp_path / "raw" / "empty").mkdir()
    tree = store.keep(tmp_path / "raw").dataset
    into = tmp_path / "into"
    into.mkdir()
    laid = store.lay(tree, into)
    data, script = (laid / "data").stat(), (laid / "run.sh").stat()
    assert (data.st_nlink, script.st_nlink) == (1, 1)
    assert stat.S_IMODE(data.st_mode) == 0o444
    assert stat.S_IMODE(script.st_mode) == 0o555
    folders = [laid, laid / "deep", laid / "empty"]
    assert [stat.S_IMODE(each.stat().st_mode) for each in folders] == [0o700] * 3


def test_a_file_that_is_still_written_is_refused_and_leaves_nothing(
    store: DatasetStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written_meanwhile(source: Path, incoming: Incoming) -> None:
        copy_into(source, incoming)
        source.write_bytes(CONTENT + b"more")

    monkeypatch.setattr(gathering, "copy_into", written_meanwhile)
    with pytest.raises(NotKeepable, match="was written to while it was read"):
        store.keep(points(tmp_path))
    assert store.holdings() == ()
    assert files(tmp_path, "incoming") == set()
    assert store.quota().free_bytes == store.quota().quota_bytes == 10_000_000


def short(write: Callable[[bytes], None]) -> None:
    write(CONTENT[:5])


def torn(write: Callable[[bytes], None]) -> None:
    write(CONTENT[:5])
    raise OSError("torn")


@pytest.mark.parametrize(("fill", "fault"), [(short, DatasetDamaged), (torn, OSError)])
def test_what_did_not_come_as_it_should_leaves_nothing(
    store: DatasetStore,
    tmp_path: Path,
    fill: Callable[[Callable[[bytes], None]], None],
    fault: type[OSError],
) -> None:
    with pytest.raises(fault):
        store.receive_object(DIGEST, 11, fill)
    assert not store.put_object(DIGEST, b"else")
    assert not store.has_object(DIGEST)
    assert files(tmp_path, "objects", "incoming") == set()
    assert store.quota() == Quota(0, 10_000_000, 10_000_000)
    for _ in range(2):
        assert store.put_object(DIGEST, CONTENT)
        assert files(tmp_path, "incoming") == set()
        assert store.quota().used_bytes == 11, "the same content is counted once"


def test_a_file_that_came_whole_has_its_room_while_it_is_written(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, written = opened(20), list[int]()
    write = Incoming.write

    def during(incoming: Incoming, data: bytes | memoryview) -> None:
        written.append(store.quota().free_bytes)
        write(incoming, data)

    monkeypatch.setattr(Incoming, "write", during)
    assert store.put_object(DIGEST, CONTENT)
    assert written == [20 - len(CONTENT)]


@pytest.mark.parametrize(
    "door",
    [
        lambda store, path: store.keep(path),
        lambda store, _: store.put_object(DIGEST, CONTENT),
        lambda store, _: store.receive_object(DIGEST, 11, lambda write: write(CONTENT)),
        lambda store, _: store.partial(DIGEST, 11),
        lambda store, _: store.reserved(11, "something").__enter__(),
    ],
)
def test_what_has_no_room_is_refused_at_each_door(
    opened: Opened, tmp_path: Path, door: Callable[[DatasetStore, Path], object]
) -> None:
    store = opened(10)
    with pytest.raises(StoreFull, match="11 bytes"):
        door(store, points(tmp_path))
    assert files(tmp_path) == set()
    with store.reserved(10, "what fits"):
        assert store.quota().free_bytes == 0


def test_a_file_in_pieces_takes_its_room_from_the_start(
    store: DatasetStore, tmp_path: Path
) -> None:
    store.partial(DIGEST, 6_000_000).close()
    assert store.quota().used_bytes == 6_000_000
    with pytest.raises(StoreFull):
        store.partial(64 * "0", 4_000_001)
    store.partial(64 * "0", 4_000_000)
    assert store.quota().free_bytes == 0
    assert store.partial(DIGEST, 6_000_000).found, "it has its room already"
    assert store.quota().used_bytes == 10_000_000
    for digest in (DIGEST, 64 * "0"):
        store.give_up(digest)
    assert store.quota().used_bytes == 0
    assert files(tmp_path, "partial") == set()


def test_what_was_left_by_an_agent_that_was_killed_is_cleared_or_counted(
    opened: Opened, tmp_path: Path
) -> None:
    store = opened()
    dataset = store.keep(points(tmp_path)).dataset
    store.partial("0" * 64, 500).close()
    (tmp_path / "store" / "incoming" / "half").write_bytes(b"half of something")
    again = opened()
    assert again.quota().used_bytes == 511
    assert files(tmp_path, "incoming") == set()
    assert again.holdings() == (dataset,)


def test_only_its_owner_can_read_what_the_store_holds(store: DatasetStore, tmp_path: Path) -> None:
    store.keep(points(tmp_path / "raw").parent)
    folders = [path for path in (tmp_path / "store").rglob("*") if path.is_dir()]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "store", *folders)}
    assert modes == {0o700} or os.name == "nt"
    assert stat.S_IMODE((tmp_path / "store" / "index.db").stat().st_mode) == 0o600


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_the_pieces_of_a_file_are_those_that_its_holder_tells(tmp_path: Path, beyond: int) -> None:
    content = os.urandom(2 * CHUNK_BYTES + beyond)
    path = points(tmp_path, "large", content)
    with path.open("rb", buffering=0) as file:
        told, hashes = digests(file)
    assert told == hashlib.sha256(content).hexdigest()
    parts = [content[start : start + CHUNK_BYTES] for start in range(0, len(content), CHUNK_BYTES)]
    assert hashes == b"".join(hashlib.sha256(part).digest() for part in parts)
    there = Partial(path, len(content))
    assert there.found
    assert there.pieces == len(parts) == 2 + (beyond > 0)
    assert [there.piece_size(number) for number in range(there.pieces)] == list(map(len, parts))
    assert there.whole_pieces(hashes) == set(range(len(parts)))
    assert there.whole_pieces(hashes[32:]) == there.whole_pieces(hashes + hashes[:32]) == set()
    there.write(CHUNK_BYTES + 7, memoryview(b"wrong"))
    assert there.whole_pieces(hashes) == set(range(len(parts))) - {1}
    there.close()


@pytest.mark.parametrize("writes_anywhere", [True, False])
def test_a_file_of_another_size_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes_anywhere: bool
) -> None:
    monkeypatch.setattr(objects, "_WRITES_ANYWHERE", writes_anywhere)
    path = points(tmp_path, "large", b"0123456789")
    there = Partial(path, 12)
    assert not there.found
    assert path.read_bytes() == bytes(12)
    there.write(2, memoryview(b"ab"))
    there.write(10, memoryview(b"yz"))
    with there.reader() as file:
        assert file.read() == b"\0\0ab\0\0\0\0\0\0yz"
    there.finish()
    assert stat.S_IMODE(path.stat().st_mode) & 0o200
    again = Partial(path, 12)
    assert again.found
    again.drop()
    assert not path.exists()


ANY = 64 * "a"


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "points.las",
        ".hidden",
        "…",
        "console",
        "com",
        "com10",
        "a" * 255,
        "ü" * 127,
        "a b",
        "x.con",
    ],
)
def test_a_name_that_goes_everywhere_is_kept(name: str) -> None:
    assert fault_of_name(name) == ""
    assert plain_name(name) == name


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "is not the name of a file"),
        (".", "is not the name of a file"),
        ("..", "is not the name of a file"),
        ("a" * 256, "is longer than 255 bytes"),
        ("ü" * 128, "is longer than 255 bytes"),
        ("a\\b", "has a character"),
        ("what?", "has a character"),
        ("line\nbreak", "has a character"),
        ("ends.", "ends with a dot or a space"),
        ("ends ", "ends with a dot or a space"),
        ("con", "is the name of a device"),
        ("COM1.txt", "is the name of a device"),
        ("Aux .old", "is the name of a device"),
        ("lpt³", "is the name of a device"),
    ],
)
def test_a_name_that_does_not_is_told_why(name: str, fault: str) -> None:
    assert fault_of_name(name).startswith(fault)
    assert plain_name(name) == ""
    assert fault_of_path(f"folder/{name}") == fault_of_name(name)


def test_a_path_has_a_length_and_leads_nowhere_else() -> None:
    assert fault_of_path("a/" * 511 + "ab") == ""
    assert fault_of_path("a/" * 511 + "abc") == "is longer than 1024 characters"
    assert fault_of_path("../a") == fault_of_path("/a") == "is not the name of a file"


@pytest.mark.parametrize(
    ("files", "folders", "fault"),
    [
        (["a", "b/c"], ["d/e"], ""),
        (["a/b"], ["a/c"], ""),
        (["a", "a/b"], [], "'a' is a file and a folder at once."),
        (["a"], ["a"], "'a' is a file and a folder at once."),
        (["Data/x", "data/y"], [], "'Data' and 'data' are one name on Windows"),
        (["é"], ["e\u0301"], "are one name on Windows"),
        (["ok"], ["bad?"], "'bad?' has a character"),
        (["bad?/x"], [], "'bad?' has a character"),
    ],
)
def test_names_have_to_go_together(files: list[str], folders: list[str], fault: str) -> None:
    assert fault in fault_of_paths(files, folders)
    assert bool(fault) == bool(fault_of_paths(files, folders))


def test_a_list_of_files_is_the_same_in_any_order() -> None:
    entries = [Entry("b", 2, ANY), Entry("a", 1, 64 * "b", True), Entry("c", 2, ANY)]
    found, content = encoded(entries, ["z", "y"])
    assert encoded(entries[::-1], ["y", "z"]) == (found, content)
    assert (found.size_bytes, found.sizes()) == (5, {ANY: 2, 64 * "b": 1})
    digest = hashlib.sha256(content).hexdigest()
    assert decoded(digest, content) == found
    dataset = tree_of(content, found)
    assert (dataset.dataset, dataset.size_bytes) == (f"tree:{digest}", 5)
    assert encoded([], [])[0] == Manifest()


@pytest.mark.parametrize(
    ("many", "fault"), [(200_000, "named twice"), (200_001, "no list of files")]
)
def test_a_list_of_files_has_a_limit(many: int, fault: str) -> None:
    content = msgspec.msgpack.encode([[["a", 1, ANY]] * many])
    with pytest.raises(NotKeepable, match=fault):
        decoded(hashlib.sha256(content).hexdigest(), content)
    with pytest.raises(NotKeepable, match="200000 files" if many > 200_000 else fault):
        encoded([Entry("a", 1, ANY)] * many, [])


def test_no_more_empty_folders_are_kept_than_can_be_read_back() -> None:
    with pytest.raises(NotKeepable, match="200000 empty folders"):
        encoded([], ["a"] * 200_001)


@pytest.mark.parametrize(
    ("listed", "fault"),
    [
        (b"no list", "is no list of files"),
        ([[["a", -1, ANY]]], "is no list of files"),
        ([[["a", 1, "short"]]], "is no list of files"),
        ([[["../a", 1, ANY]]], "is not the name"),
        ([[["a", 1, ANY], ["a", 1, 64 * "b"]]], "is named twice"),
        ([[], ["con"]], "is the name of a device"),
    ],
)
def test_a_list_that_others_made_is_judged(listed: object, fault: str) -> None:
    content = listed if isinstance(listed, bytes) else msgspec.msgpack.encode(listed)
    with pytest.raises(NotKeepable, match=fault):
        decoded(hashlib.sha256(content).hexdigest(), content)
    with pytest.raises(NotKeepable, match="is not the list of files"):
        decoded(ANY, content)


def test_what_is_not_named_by_its_content_is_somebody_elses() -> None:
    assert parsed(f"sha256:{ANY}") == (Kind.FILE, ANY)
    assert parsed(f"tree:{ANY}") == (Kind.TREE, ANY)
    assert ours(f"tree:{ANY}")
    for each in ("row-17", f"sha256:{ANY}0", f"sha256:{ANY.upper()}", f"md5:{ANY}", ""):
        assert parsed(each) is None
        assert not ours(each)
