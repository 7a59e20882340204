"""Datasets between live nodes: fetched from several, resumed, verified, copied, refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.net import transfer_words
from agent.storage.datasets.store import DatasetStore
from tests.datasets.nodes import MEGABYTE, a_file, a_folder, brought, here, laid, until
from tests.driver.nodes import flock_of, members, services

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_large_file_comes_from_several_holders(
    tmp_path: Path, in_thread: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer_words, "LEAVES_THE_LOOP", in_thread)

    async with members(tmp_path, "ant", "bee", "cat", volunteer="paused") as (ant, bee, cat):
        path, dataset = a_file(tmp_path / "raw", 30 * MEGABYTE + 17)
        await ant.live.datasets.add(path)
        await until(lambda: here(bee, dataset) or here(cat, dataset))
        lacking = cat if here(bee, dataset) else bee
        await until(lambda: len(lacking.live.datasets.holders(dataset)) == 2)
        await lacking.live.datasets.bring(dataset)
        assert here(lacking, dataset)
        assert (await laid(lacking, dataset, tmp_path / "laid")).read_bytes() == path.read_bytes()


async def test_a_folder_of_many_files_comes_with_its_names(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee", volunteer="paused") as (ant, bee):
        sizes = [0, 1, 5 * MEGABYTE, *range(2_000, 2_150)]
        folder = a_folder(tmp_path / "raw", sizes)
        dataset = (await ant.live.datasets.add(folder)).dataset
        await flock_of(ant, bee)
        await until(lambda: here(bee, dataset))
        (view,) = (await bee.live.datasets.listing()).datasets
        assert view.name == "raw"
        assert view.size_bytes == sum(sizes)
        copy = await laid(bee, dataset, tmp_path / "laid")
        for original in folder.rglob("*.bin"):
            assert (copy / original.relative_to(folder)).read_bytes() == original.read_bytes()


async def test_a_damaged_copy_is_dropped_and_the_good_one_taken(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee", "cat", volunteer="paused") as (ant, bee, cat):
        path, dataset = a_file(tmp_path / "raw", 9 * MEGABYTE)
        for node in (ant, bee):
            node.live.datasets.store.keep(path)
        _rot(bee.live.datasets.store, dataset)
        await flock_of(ant, bee, cat)
        await until(lambda: len(cat.live.datasets.holders(dataset)) == 2)
        await cat.live.datasets.bring(dataset)
        assert (await laid(cat, dataset, tmp_path / "laid")).read_bytes() == path.read_bytes()


async def test_a_damaged_only_copy_is_dropped_and_said(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee", volunteer="paused") as (ant, bee):
        for size in (9 * MEGABYTE, 1_000):
            path, dataset = a_file(tmp_path / "raw", size)
            ant.live.datasets.store.keep(path)
            _rot(ant.live.datasets.store, dataset)
            if bee.flock.flock() is None:
                await flock_of(ant, bee)
            with pytest.raises(OSError, match="could not be fetched"):
                await brought(bee, dataset)
            await until(lambda dataset=dataset: not here(ant, dataset))  # type: ignore[misc]
            await until(lambda dataset=dataset: not bee.live.datasets.holders(dataset))  # type: ignore[misc]


async def test_a_transfer_that_breaks_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pipe is cut after every few megabytes."""
    size = 40 * MEGABYTE
    monkeypatch.setattr(transfer_words.SocketPipe, "receive_into", _cut_after(12 * MEGABYTE))

    async with services(tmp_path, "ant", "bee", volunteer="paused") as (ant, bee):
        path, dataset = a_file(tmp_path / "raw", size)
        ant.live.datasets.store.keep(path)
        await flock_of(ant, bee)
        await brought(bee, dataset)
        assert (await laid(bee, dataset, tmp_path / "laid")).read_bytes() == path.read_bytes()


async def test_what_has_no_room_is_refused_in_words(tmp_path: Path) -> None:
    async with (
        services(tmp_path, "ant", volunteer="paused") as (ant,),
        services(tmp_path, "bee", volunteer="paused", datasets_gb=0.002) as (bee,),
    ):
        await flock_of(ant, bee)
        path, dataset = a_file(tmp_path / "raw", 9 * MEGABYTE)
        await ant.live.datasets.add(path)
        with pytest.raises(OSError, match="no room for"):
            await brought(bee, dataset)
        assert (await bee.live.datasets.listing()).used_bytes == 0
        small_path, other = a_file(tmp_path / "raw", 1_000, "small")
        await ant.live.datasets.add(small_path)
        await until(lambda: here(bee, other))


async def test_who_takes_a_copy_counts_at_once_and_who_refuses_one_does_not(tmp_path: Path) -> None:
    """Before its own word comes: nobody is given a third copy because that is slow."""

    async with (
        services(tmp_path, "ant", "bee", volunteer="paused") as (ant, bee),
        services(tmp_path, "cat", volunteer="paused", datasets_gb=0.002) as (cat,),
    ):
        path, dataset = a_file(tmp_path / "raw", 9 * MEGABYTE)
        ant.live.datasets.store.keep(path)
        await flock_of(ant, bee, cat)
        transfers, peers = ant.live.datasets.transfers, (cat.node_id, bee.node_id)
        assert await transfers.spread([dataset], peers, 1) == [bee.node_id]
        assert transfers.takers(dataset) == {bee.node_id}
        assert transfers.takers(f"sha256:{64 * '0'}") == set()


async def test_what_nobody_has_is_said(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", volunteer="paused") as (ant,):
        with pytest.raises(OSError, match="nobody has it"):
            await ant.live.datasets.bring("sha256:" + "0" * 64)


def _rot(store: DatasetStore, dataset: str) -> None:
    """One byte on the disk turns, and neither size nor time tell."""
    path = store.sound(dataset.partition(":")[2])
    known = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.chmod(0o600)
    path.write_bytes(content)
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


def _cut_after(size: int) -> Callable[[transfer_words.SocketPipe, memoryview], int]:
    receive = transfer_words.SocketPipe.receive_into

    def cutting(self: transfer_words.SocketPipe, view: memoryview) -> int:
        seen: int = getattr(self, "seen", 0)
        if seen > size:
            raise ConnectionResetError("cut by the test")
        got = receive(self, view)
        self.seen = seen + got  # type: ignore[attr-defined]
        return got

    return cutting
