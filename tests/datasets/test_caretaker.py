"""Who did not take a copy is left alone for a while, unless it was away meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

from agent.protocol.node import Node
from agent.protocol.records import DatasetId, NodeId
from agent.service_datasets_keeping import REFUSED_REST_S, Caretaker
from agent.service_datasets_transfers import DatasetTransfers
from agent.storage.datasets.store import DatasetStore
from tests.hosts.waiting import eventually

ONLY = f"sha256:{64 * '0'}"


class OnlyHere:
    """A store with one dataset, in a flock of two whose other node breaks off whenever it is asked."""

    def __init__(self) -> None:
        self.asked, self.looks = 0, 0
        self.copying: dict[DatasetId, None] = {}
        self.table = SimpleNamespace(workflows={}, changes=0)

    def holdings(self) -> list[DatasetId]:
        self.looks += 1
        return [ONLY]

    def reachable(self) -> tuple[NodeId, ...]:
        return ("bee",)

    def holders(self, dataset: DatasetId) -> tuple[NodeId, ...]:
        assert dataset == ONLY
        return ()

    async def spread(
        self, datasets: Sequence[DatasetId], peers: Sequence[NodeId], copies: int
    ) -> list[NodeId]:
        assert (datasets, copies) == ([ONLY], 1)
        self.asked += len(peers)
        return []


def test_who_broke_off_is_asked_again_when_it_is_back_and_not_before() -> None:
    async def scenario() -> None:
        there = OnlyHere()
        caretaker = Caretaker(
            "ant",
            cast("Node", there),
            cast("DatasetStore", there),
            cast("DatasetTransfers", there),
            copies=2,
            others=tuple,
        )
        caring = asyncio.create_task(caretaker.run())
        caretaker.added(ONLY)
        await eventually(lambda: there.asked == 1)
        for looks in (2, 3):
            caretaker.look()
            await eventually(lambda looks=looks: there.looks == looks)  # type: ignore[misc]
        assert there.asked == 1
        caretaker.met("bee")
        await eventually(lambda: there.asked == 2, REFUSED_REST_S / 2)
        caring.cancel()
        await asyncio.gather(caring, return_exceptions=True)

    asyncio.run(scenario())
