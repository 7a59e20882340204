"""Who did not take a copy is left alone for a while, unless it was away meanwhile.

And who took one counts, before its word of it has come.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from agent.data import retention
from agent.data.retention import REFUSED_REST_S, DatasetRetention
from agent.data.transfers import DatasetTransfers
from agent.protocol.node import Node
from agent.protocol.records import DatasetId, NodeId
from agent.storage.datasets.store import DatasetStore
from tests.datasets.nodes import points
from tests.hosts.waiting import eventually

ONLY = f"sha256:{64 * '0'}"


class OnlyHere:
    """A store with one dataset, in a flock of two whose other node breaks off whenever it is asked."""

    def __init__(self, only: DatasetId = ONLY) -> None:
        self.only = only
        self.asked, self.looks = 0, 0
        self.copying: dict[DatasetId, None] = {}
        self.table = SimpleNamespace(workflows={}, changes=0)
        self.ready = True
        self.taken: set[NodeId] = set()

    def takers(self, dataset: DatasetId) -> set[NodeId]:
        assert dataset == self.only
        return self.taken

    def holdings(self) -> list[DatasetId]:
        self.looks += 1
        return [self.only]

    def reachable(self) -> tuple[NodeId, ...]:
        return ("bee",) if self.ready else ()

    def holders(self, dataset: DatasetId) -> tuple[NodeId, ...]:
        assert dataset == self.only
        return ()

    async def spread(
        self, datasets: Sequence[DatasetId], peers: Sequence[NodeId], copies: int
    ) -> list[NodeId]:
        assert (datasets, copies) == ([self.only], 1)
        self.asked += len(peers)
        return []


@asynccontextmanager
async def cared_for(
    there: OnlyHere, store: DatasetStore | None = None
) -> AsyncIterator[DatasetRetention]:
    caretaker = DatasetRetention(
        "ant",
        cast("Node", there),
        store or cast("DatasetStore", there),
        cast("DatasetTransfers", there),
        copies=2,
        others=tuple,
    )
    caring = asyncio.create_task(caretaker.run())
    caretaker.met("bee", linked=True)
    caretaker.added(there.only)
    yield caretaker
    caring.cancel()
    await asyncio.gather(caring, return_exceptions=True)


async def look_twice(there: OnlyHere, caretaker: DatasetRetention) -> None:
    for looks in (there.looks + 1, there.looks + 2):
        caretaker.look()
        await eventually(partial(lambda looks: there.looks >= looks, looks))


async def test_who_broke_off_is_asked_again_when_it_is_back_and_not_before() -> None:
    there = OnlyHere()
    async with cared_for(there) as caretaker:
        await eventually(lambda: there.asked == 1)
        await look_twice(there, caretaker)
        assert there.asked == 1
        for linked in (False, True):
            caretaker.met("bee", linked=linked)
        await eventually(lambda: there.asked == 2, REFUSED_REST_S / 2)


async def test_who_is_linked_is_given_a_copy_as_soon_as_it_can_be_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retention, "LOOK_EVERY_S", 0.01)

    there = OnlyHere()
    there.ready = False
    async with cared_for(there):
        await eventually(lambda: there.looks > 1)
        assert there.asked == 0
        there.ready = True
        await eventually(lambda: there.asked == 1)


async def test_who_has_just_taken_a_copy_counts_for_as_long_as_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a third node is given one whenever the word of the second is slower than a look."""
    monkeypatch.setattr(retention, "REST_S", 0.01)

    there = OnlyHere()
    there.taken = {"bee"}
    async with cared_for(there) as caretaker:
        await look_twice(there, caretaker)
        assert there.asked == 0
        there.taken = {"cat"}  # which has gone since
        caretaker.look()
        await eventually(lambda: there.asked == 1)


async def test_an_index_that_cannot_be_read_for_a_while_ends_nothing(
    store: DatasetStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(retention, "REST_S", 0.01)

    there = OnlyHere(store.keep(points(tmp_path)).dataset)
    with closing(sqlite3.connect(tmp_path / "store" / "index.db")) as index:
        index.execute("ALTER TABLE dataset RENAME TO hidden")
        async with cared_for(there, store) as caretaker:
            await eventually(lambda: "could not be looked after: index.db cannot" in caplog.text)
            index.execute("ALTER TABLE hidden RENAME TO dataset")
            caretaker.look()
            await eventually(lambda: there.asked == 1)
