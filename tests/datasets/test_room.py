"""How much the store takes of a disk that is not its own, and what leaves it when."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent.protocol.records import DatasetId
from agent.storage.datasets import room
from agent.storage.datasets.errors import StoreFull
from agent.storage.datasets.room import Room, in_words
from agent.storage.datasets.store import DatasetStore

GIGABYTE = 1_000_000_000
MEGABYTE = 1_000_000
LEFT_ON_DISK = 256 * 1024 * 1024
MINUTE_S, DAY_S = 60.0, 86_400.0


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    there = Disk()
    monkeypatch.setattr(room, "free_bytes", lambda _: there.free_bytes)
    return there


class Disk:
    """One with so much room, whatever is on the real one."""

    free_bytes = 10 * GIGABYTE


def test_without_a_setting_half_of_what_would_be_free_is_lent(disk: Disk, tmp_path: Path) -> None:
    lent = Room(tmp_path, 0, nothing_leaves)
    assert lent.quota() == room.Quota(0, 5 * GIGABYTE, 5 * GIGABYTE)
    lent.count(2 * GIGABYTE)
    disk.free_bytes -= 2 * GIGABYTE
    assert lent.quota() == room.Quota(2 * GIGABYTE, 5 * GIGABYTE, 3 * GIGABYTE)
    disk.free_bytes -= 4 * GIGABYTE  # taken by the owner of the machine
    assert lent.quota() == room.Quota(2 * GIGABYTE, 3 * GIGABYTE, 1 * GIGABYTE)


def test_the_last_of_the_disk_is_not_taken_whatever_the_setting(disk: Disk, tmp_path: Path) -> None:
    disk.free_bytes = LEFT_ON_DISK + 1000
    lent = Room(tmp_path, 100 * GIGABYTE, nothing_leaves)
    assert lent.quota() == room.Quota(0, 100 * GIGABYTE, 1000)
    with lent.reserved(1000, "all of it"):
        assert lent.quota().free_bytes == 0
    with pytest.raises(StoreFull), lent.reserved(1001, "a byte more"):
        pass
    disk.free_bytes = LEFT_ON_DISK - 1
    assert lent.quota().free_bytes == 0
    with lent.reserved(0, "an empty file"):
        pass


def test_what_is_promised_is_not_promised_twice(disk: Disk, tmp_path: Path) -> None:
    lent = Room(tmp_path, 1000, nothing_leaves)
    lent.add(200)
    lent.add(-100)
    with lent.reserved(500, "a file"):
        assert lent.quota() == room.Quota(100, 1000, 400)
        with pytest.raises(StoreFull), lent.reserved(401, "another"):
            pass
        with lent.reserved(400, "one that fits"):
            assert lent.quota().free_bytes == 0
    with pytest.raises(OSError, match="torn"), lent.reserved(900, "a file that breaks off"):
        raise OSError("torn")
    assert lent.quota() == room.Quota(100, 1000, 900)
    lent.add(-300)
    assert lent.quota() == room.Quota(0, 1000, 1000), "never less than nothing"


def test_no_more_is_asked_to_leave_than_is_lacking(disk: Disk, tmp_path: Path) -> None:
    asked: list[int] = []
    lent = Room(tmp_path, 1000, asked.append)
    lent.count(400)
    with lent.reserved(600, "what just fits"):
        pass
    assert asked == []
    with pytest.raises(StoreFull), lent.reserved(650, "a little more"):
        pass
    assert asked == [50]


def test_a_refusal_says_what_is_there(disk: Disk, tmp_path: Path) -> None:
    lent = Room(tmp_path, 3 * MEGABYTE, nothing_leaves)
    lent.count(2 * MEGABYTE)
    with pytest.raises(StoreFull) as refused, lent.reserved(1_200_000_000, "points.las"):
        pass
    assert "no room for points.las (1.2 GB): 2 MB of 3 MB are taken" in str(refused.value)
    assert "and 1 MB can be had" in str(refused.value)


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (999_000, "999 kB"),
        (1_000_000, "1 MB"),
        (2_500_000_000, "2.5 GB"),
        (3_000_000_000_000, "3000.0 GB"),
    ],
)
def test_sizes_are_told_in_a_unit_that_fits(size_bytes: int, words: str) -> None:
    assert in_words(size_bytes) == words


def test_what_nobody_used_for_a_week_goes_and_not_before(
    opened: Callable[..., DatasetStore], tmp_path: Path
) -> None:
    """Laying a dataset out is using it."""
    store = opened()
    names = ("of last week", "of yesterday", "wanted again")
    week, day, again = [kept(store, tmp_path, name) for name in names]
    torn = [tmp_path / "store" / "partial" / name for name in ("old", "new")]
    for path, days in zip(torn, (7.1, 6.9), strict=True):
        path.write_bytes(b"begun")
        os.utime(path, (time.time() - days * DAY_S,) * 2)
    parts = [part_of_nothing(store, tmp_path, days * DAY_S) for days in (7.1, 6.9)]
    for dataset, days in ((week, 7.1), (day, 6.9), (again, 8.0)):
        used_ago(tmp_path, dataset, days * DAY_S)
    store.lay(again, tmp_path)
    assert store.collect() == [week]
    assert set(store.holdings()) == {day, again}
    assert [path.exists() for path in (*torn, *parts)] == [False, True] * 2
    assert store.quota().used_bytes == sum(
        map(len, ("of yesterday", "wanted again", "begun", "6.9"))
    )


def test_what_was_used_within_ten_minutes_makes_no_room(
    opened: Callable[..., DatasetStore], tmp_path: Path
) -> None:
    store = opened(30)
    names = {"first, ten": 11, "second, te": 12, "third, ten": 9}
    first, second, third = [kept(store, tmp_path, name) for name in names]
    for dataset, minutes in zip((first, second, third), names.values(), strict=True):
        used_ago(tmp_path, dataset, minutes * MINUTE_S)
    new = kept(store, tmp_path, "new")
    assert set(store.holdings()) == {first, third, new}, "the longest unused, and no more"
    newer = kept(store, tmp_path, "newer, ten")
    assert set(store.holdings()) == {third, new, newer}
    with pytest.raises(StoreFull, match=r"no room for more \(20 bytes\)"):
        kept(store, tmp_path, "more, twenty bytes..", "more")
    assert set(store.holdings()) == {third, new, newer}


def nothing_leaves(_: int) -> None:
    """All that is here is needed."""


def kept(store: DatasetStore, folder: Path, content: str, name: str = "") -> DatasetId:
    path = folder / (name or "source")
    path.write_text(content)
    return store.keep(path).dataset


def part_of_nothing(store: DatasetStore, folder: Path, ago_s: float) -> Path:
    """A file that came for a folder of which the rest never came."""
    content = f"{ago_s / DAY_S:.1f}".encode()
    digest = hashlib.sha256(content).hexdigest()
    assert store.put_object(digest, content)
    path = folder / "store" / "objects" / digest[:2] / digest
    os.utime(path, (time.time() - ago_s,) * 2)
    return path


def used_ago(folder: Path, dataset: DatasetId, ago_s: float) -> None:
    """As if it, and the object that it is, had last been touched so long ago."""
    with closing(sqlite3.connect(folder / "store" / "index.db")) as index, index:
        used = (time.time() - ago_s, dataset)
        index.execute("UPDATE dataset SET used_s = ? WHERE dataset = ?", used)
