"""Which names a folder may hold, so that it can be laid out on every system, and its manifest."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from agent.storage.datasets.errors import NotKeepable
from agent.storage.datasets.manifest import Entry, Manifest, decoded, encoded, tree_of
from agent.storage.datasets.names import (
    Kind,
    fault_of_name,
    fault_of_path,
    fault_of_paths,
    ours,
    parsed,
    plain_name,
)

DIGEST = 64 * "a"


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
    entries = [Entry("b", 2, DIGEST), Entry("a", 1, 64 * "b", True), Entry("c", 2, DIGEST)]
    found, content = encoded(entries, ["z", "y"])
    assert encoded(entries[::-1], ["y", "z"]) == (found, content)
    assert (found.size_bytes, found.sizes()) == (5, {DIGEST: 2, 64 * "b": 1})
    digest = hashlib.sha256(content).hexdigest()
    assert decoded(digest, content) == found
    dataset = tree_of(content, found)
    assert (dataset.dataset, dataset.size_bytes) == (f"tree:{digest}", 5)
    assert encoded([], [])[0] == Manifest()


@pytest.mark.parametrize(
    ("many", "fault"), [(200_000, "named twice"), (200_001, "no list of files")]
)
def test_a_list_of_files_has_a_limit(many: int, fault: str) -> None:
    content = msgspec.msgpack.encode([[["a", 1, DIGEST]] * many])
    with pytest.raises(NotKeepable, match=fault):
        decoded(hashlib.sha256(content).hexdigest(), content)
    with pytest.raises(NotKeepable, match="200000 files" if many > 200_000 else fault):
        encoded([Entry("a", 1, DIGEST)] * many, [])


@pytest.mark.parametrize(
    ("listed", "fault"),
    [
        (b"no list", "is no list of files"),
        ([[["a", -1, DIGEST]]], "is no list of files"),
        ([[["a", 1, "short"]]], "is no list of files"),
        ([[["../a", 1, DIGEST]]], "is not the name"),
        ([[["a", 1, DIGEST], ["a", 1, 64 * "b"]]], "is named twice"),
        ([[], ["con"]], "is the name of a device"),
    ],
)
def test_a_list_that_others_made_is_judged(listed: object, fault: str) -> None:
    content = listed if isinstance(listed, bytes) else msgspec.msgpack.encode(listed)
    with pytest.raises(NotKeepable, match=fault):
        decoded(hashlib.sha256(content).hexdigest(), content)
    with pytest.raises(NotKeepable, match="is not the list of files"):
        decoded(DIGEST, content)


def test_what_is_not_named_by_its_content_is_somebody_elses() -> None:
    assert parsed(f"sha256:{DIGEST}") == (Kind.FILE, DIGEST)
    assert parsed(f"tree:{DIGEST}") == (Kind.TREE, DIGEST)
    assert ours(f"tree:{DIGEST}")
    for each in ("row-17", f"sha256:{DIGEST}0", f"sha256:{DIGEST.upper()}", f"md5:{DIGEST}", ""):
        assert parsed(each) is None
        assert not ours(each)
