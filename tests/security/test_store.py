"""What a program does to its inputs, and what happens to files of the store, reaches nobody else."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from agent.data import scrubbing
from agent.data.scrubbing import NOTE, Scrub
from agent.protocol.records import DatasetId
from agent.storage.datasets import objects
from agent.storage.datasets.errors import DatasetDamaged, DatasetMissing
from agent.storage.datasets.store import DatasetStore
from tests.hosts.waiting import EVENTUALLY_S_MAX

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and inodes of files")
CONTENT, POISON = b"what was measured", b"what was POISONED"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DatasetStore]:
    store = DatasetStore(tmp_path / "store")
    yield store
    store.close()


@pytest.fixture
def kept(store: DatasetStore, tmp_path: Path) -> tuple[DatasetId, str, Path]:
    """A dataset with its digest and the file of the store."""
    (tmp_path / "raw").write_bytes(CONTENT)
    dataset = store.keep(tmp_path / "raw").dataset
    digest = dataset.partition(":")[2]
    return dataset, digest, store.sound(digest)


def laid_in(store: DatasetStore, dataset: DatasetId, folder: Path) -> Path:
    folder.mkdir()
    return store.lay(dataset, folder)


def overwrite(path: Path, content: bytes = POISON) -> None:
    """As a hostile program does: with the rights, and the times set back."""
    known = path.stat()
    path.chmod(0o600)
    path.write_bytes(content)
    path.chmod(known.st_mode)
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


def test_hard_linked_input_cannot_poison_store(
    store: DatasetStore, kept: tuple[DatasetId, str, Path], tmp_path: Path
) -> None:
    dataset, _, own = kept
    laid = laid_in(store, dataset, tmp_path / "first")
    assert laid.stat().st_ino != own.stat().st_ino
    overwrite(laid)
    assert laid_in(store, dataset, tmp_path / "next").read_bytes() == CONTENT
    assert store.read(dataset, "", 0, 99) == CONTENT


@pytest.mark.parametrize("shares", [True, False], ids=["blocks shared", "copied by the kernel"])
def test_a_copy_is_a_file_of_its_own_however_it_was_made(
    shares: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def ioctl(target: int, request: int, source: int) -> int:
        asked.append(request)
        if not shares:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        os.write(target, os.pread(source, 2**20, 0))
        return 0

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    (tmp_path / "source").write_bytes(CONTENT)
    objects.lay_file(tmp_path / "source", tmp_path / "target")
    assert asked == [0x40049409]
    assert (tmp_path / "target").read_bytes() == CONTENT
    assert not (tmp_path / "target").stat().st_mode & 0o222


def test_between_two_disks_it_is_copied_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> int:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "copy_file_range", refuses, raising=False)
    (tmp_path / "source").write_bytes(CONTENT * 100_000)
    objects.lay_file(tmp_path / "source", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == CONTENT * 100_000


def test_nothing_is_laid_over_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(CONTENT)
    (tmp_path / "own").write_bytes(b"the owner's")
    (tmp_path / "target").symlink_to(tmp_path / "own")
    with pytest.raises(FileExistsError):
        objects.lay_file(tmp_path / "source", tmp_path / "target")
    assert (tmp_path / "own").read_bytes() == b"the owner's"


@pytest.mark.parametrize("use", ["lay", "read", "open"])
def test_restored_mtime_is_noticed(
    store: DatasetStore, kept: tuple[DatasetId, str, Path], tmp_path: Path, use: str
) -> None:
    dataset, digest, own = kept
    told: list[tuple[DatasetId, ...]] = []
    store.changed = lambda _, removed: told.append(removed)
    overwrite(own)
    assert own.stat().st_size == len(CONTENT)
    uses: dict[str, Callable[[], object]] = {
        "lay": partial(laid_in, store, dataset, tmp_path / "into"),
        "read": partial(store.read, dataset, "", 0, 99),
        "open": partial(store.open, digest),
    }
    with pytest.raises(DatasetDamaged):
        uses[use]()
    assert told == [(dataset,)]
    with pytest.raises(DatasetMissing):
        store.files(dataset)


def test_another_file_in_its_place_is_noticed(
    store: DatasetStore, kept: tuple[DatasetId, str, Path], tmp_path: Path
) -> None:
    dataset, _, own = kept
    known = own.stat()
    (tmp_path / "other").write_bytes(POISON)
    os.utime(tmp_path / "other", ns=(known.st_atime_ns, known.st_mtime_ns))
    (tmp_path / "other").replace(own)
    with pytest.raises(DatasetDamaged):
        store.read(dataset, "", 0, 99)


def test_a_doubt_that_was_none_costs_one_look(
    store: DatasetStore, kept: tuple[DatasetId, str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, digest, own = kept
    own.chmod(0o444)  # a backup, or another mode: the time of change is another one
    verified: list[str] = []
    verify = store.verify

    def noted(each: str) -> bytes:
        verified.append(each)
        return verify(each)

    monkeypatch.setattr(store, "verify", noted)
    for _ in range(3):
        assert store.read(dataset, "", 0, 99) == CONTENT
    assert verified == [digest]


async def test_a_large_input_is_copied_beside_the_loop(store: DatasetStore, tmp_path: Path) -> None:
    """As ``NodeDatasets.lay`` does it: the loop goes on while the disk works."""
    with (tmp_path / "large").open("wb") as file:
        file.truncate(300_000_000)
    dataset = (await asyncio.to_thread(store.keep, tmp_path / "large")).dataset
    (tmp_path / "into").mkdir()
    laying = asyncio.create_task(asyncio.to_thread(store.lay, dataset, tmp_path / "into"))
    longest_s, before_s = 0.0, time.monotonic()
    while not laying.done():
        await asyncio.wait({laying}, timeout=0.001)
        now_s = time.monotonic()
        longest_s, before_s = max(longest_s, now_s - before_s), now_s
    assert (await laying).stat().st_size == 300_000_000
    assert longest_s < 1.0


# -- looking through at leisure ----------------------------------------------------------------


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrubbing, "BETWEEN_FILES_S", 0.0)
    monkeypatch.setattr(scrubbing, "PAUSE_S_MAX", 0.0)


@asynccontextmanager
async def looking(scrub: Scrub, until: Callable[[], object]) -> AsyncIterator[None]:
    """Run it until this is true."""
    running = asyncio.create_task(scrub.run())
    try:
        async with asyncio.timeout(EVENTUALLY_S_MAX):
            while not until():
                await asyncio.wait({running}, timeout=0.01)
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def nobody(_: DatasetId) -> None:
    raise OSError("no machine has it")


async def test_a_damaged_copy_is_found_at_leisure_fetched_anew_and_told(
    store: DatasetStore,
    kept: tuple[DatasetId, str, Path],
    tmp_path: Path,
    hurried: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    dataset, digest, own = kept
    (tmp_path / "good").write_bytes(CONTENT)

    async def bring(wanted: DatasetId) -> None:
        assert wanted == dataset
        await asyncio.to_thread(store.keep, tmp_path / "good")

    overwrite(own)
    scrub, note = Scrub(store, bring), store.folder / NOTE
    caplog.set_level(logging.WARNING)
    async with looking(scrub, lambda: note.exists() and digest in note.read_text()):
        assert scrub.mended == [dataset]
    assert f"{dataset} was damaged on this disk; it was fetched anew" in caplog.text
    assert store.read(dataset, "", 0, 99) == CONTENT


async def test_that_nobody_has_it_is_told_too(
    store: DatasetStore,
    kept: tuple[DatasetId, str, Path],
    hurried: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    overwrite(kept[2])
    scrub = Scrub(store, nobody)
    async with looking(scrub, lambda: "cannot be had anew: no machine has it" in caplog.text):
        assert scrub.mended == []


async def test_a_round_goes_on_where_it_was(
    store: DatasetStore, tmp_path: Path, hurried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    for number in range(6):
        (tmp_path / f"{number}").write_bytes(b"%d" % number)
        digests.append(store.keep(tmp_path / f"{number}").dataset.partition(":")[2])
    looked: list[str] = []
    verify = store.verify

    def noted(digest: str, *_: object) -> bytes:
        looked.append(digest)
        return verify(digest)

    monkeypatch.setattr(store, "verify", noted)
    first, *others = sorted(digests)
    (store.folder / NOTE).write_text(f"{first} {time.time():.0f}\n")
    async with looking(Scrub(store, nobody), lambda: others[-1] in looked):
        assert looked == others


async def test_the_end_waits_for_no_file(
    store: DatasetStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "large").write_bytes(bytes(8_000_000))
    await asyncio.to_thread(store.keep, tmp_path / "large")
    begun = threading.Event()
    known = store.datasets_of

    def noted(digest: str) -> list[DatasetId]:
        begun.set()
        return known(digest)

    monkeypatch.setattr(store, "datasets_of", noted)
    async with looking(Scrub(store, nobody), begun.is_set):
        begin_s = time.monotonic()
    assert time.monotonic() - begin_s < scrubbing.PAUSE_S_MAX * 3


def test_the_share_of_the_disk_is_small() -> None:
    waited: list[float] = []

    class Noted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout or 0.0)
            return False

    pause = scrubbing._Pause(Noted())
    pause._until_s = time.monotonic() - 0.01  # a block took that long
    pause()
    assert 0.01 * 40 < waited[0] <= scrubbing.PAUSE_S_MAX
