"""What of the datasets must stay, and what has too few copies.

Which datasets work needs is read off the table, here and nowhere else: everything that an
unfinished workflow was given or has made stays, and so does what a finished one leaves at its end,
until the workflow leaves the table. The rest may go, at once when room is wanted, else some days
after its last use.

The protocol sees to the copies of outputs when they are made. What a client brought, what lost a
copy since because a machine went away, and results that were made while a machine was alone are
seen to here: of those that hold a dataset with too few copies, one gives it to another node.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import suppress

from agent.data.shared import in_thread
from agent.data.transfers import DatasetTransfers
from agent.protocol.node import Node
from agent.protocol.records import (
    Dataset,
    DatasetId,
    InputRef,
    NodeId,
    TaskId,
    TaskState,
    Workflow,
    WorkflowId,
)
from agent.protocol.table import Table
from agent.storage.datasets.room import Wanted
from agent.storage.datasets.store import DatasetStore

LOOK_EVERY_S = 10.0
REST_S = 0.5
"""Between two looks, however much happens."""
COLLECT_EVERY_S = 3_600.0
ADDED_KEPT_S = 3_600.0
"""What a client has brought is copied for this long, until a workflow names it."""
SPREAD_PER_LOOK_MAX = 64
REFUSED_REST_S, LEAVING_REST_S = 60.0, 1.0
"""Before a peer is offered again what it refused; who leaves is not waited for so long, and a peer that
was just met may break off once."""

log = logging.getLogger(__name__)


def wanted_of(table: Table, others: Iterable[DatasetId] = ()) -> Wanted:
    """Return which datasets must stay: those of unfinished workflows and ``others`` as needed, and
    as results the final ones of workflows that ended well and all of those that failed."""
    needed, results = set(others), set[DatasetId]()
    for name, workflow in table.workflows.items():
        if table.unfinished.get(name):
            needed.update(_all_of(table, workflow))
        elif _failed(table, workflow):
            results.update(_all_of(table, workflow))
        else:
            results.update(_ends_of(table, workflow))
    return Wanted(frozenset(needed), frozenset(results - needed))


def only_of(table: Table, workflows: Collection[WorkflowId]) -> set[DatasetId]:
    """Return the datasets that these workflows were given, made or saved and that no other workflow
    of the table names."""
    mine, others = set[DatasetId](), set[DatasetId]()
    for name, workflow in table.workflows.items():
        (mine if name in workflows else others).update(_all_of(table, workflow))
    return mine - others


def _all_of(table: Table, workflow: Workflow) -> Iterator[DatasetId]:
    """What it was given, has made, and has saved on the way."""
    for spec in workflow.spec.tasks:
        given = spec.raw if spec.published is None else (*spec.raw, spec.published)
        saved = [run.checkpoint for run in table.life(spec.task).runs if run.checkpoint]
        yield from _ours((*given, *_outputs(table, spec.task), *saved))


def _ends_of(table: Table, workflow: Workflow) -> Iterator[DatasetId]:
    """What it has made for people: outputs that no other task took."""
    for spec in workflow.spec.tasks:
        taken = {
            ref.output
            for each in table.dependants(spec.task)
            for ref in _refs(table, each)
            if ref.task == spec.task
        }
        outputs = _outputs(table, spec.task)
        yield from _ours(out for number, out in enumerate(outputs) if number not in taken)


def _refs(table: Table, task: TaskId) -> tuple[InputRef, ...]:
    spec = table.specs.get(task)
    return () if spec is None else spec.inputs


def _failed(table: Table, workflow: Workflow) -> bool:
    """It may be retried, and goes on then from what is there."""
    readings = (table.reading(spec.task) for spec in workflow.spec.tasks)
    return any(each is not None and each.state is not TaskState.TERMINATED for each in readings)


def _outputs(table: Table, task: TaskId) -> tuple[Dataset, ...]:
    reading = table.reading(task)
    return () if reading is None else reading.outputs


def _ours(datasets: Iterable[Dataset]) -> Iterator[DatasetId]:
    return (each.dataset for each in datasets if not each.external)


class DatasetRetention:
    """Looks after the datasets of one node, in the loop, from ``run`` to its cancellation."""

    def __init__(
        self,
        me: NodeId,
        node: Node,
        store: DatasetStore,
        transfers: DatasetTransfers,
        copies: int,
        others: Callable[[], Iterable[DatasetId]],
    ) -> None:
        self._me, self._node, self._store, self._transfers = me, node, store, transfers
        self._copies, self._others = copies, others
        self._added: dict[DatasetId, float] = {}
        self._elsewhere_once: set[DatasetId] = set()
        """Results that another node was seen to have; one that is switched off still has them."""
        self._changes = -1
        self._refused: dict[tuple[NodeId, DatasetId], float] = {}
        self._linked: set[NodeId] = set()
        self._unready = False
        """Somebody is linked who cannot be given anything yet; nobody tells when that is over."""
        self._leaving = False
        """This machine goes: whatever only it keeps is copied, however often it was elsewhere."""
        self._soon = asyncio.Event()
        self.look_elsewhere: Callable[[frozenset[DatasetId]], Awaitable[None]] | None = None
        """Finds what a back end has of the needed datasets that are not here."""
        self._collected_s = time.monotonic()

    def added(self, dataset: DatasetId) -> None:
        """Keep a dataset that a client has brought for an hour though no work names it, and look
        soon for a second node to take a copy."""
        self._added[dataset] = time.monotonic() + ADDED_KEPT_S
        self._soon.set()

    def not_added(self, datasets: Iterable[DatasetId]) -> None:
        """Keep these datasets no longer than what any other work needs."""
        for each in datasets:
            self._added.pop(each, None)

    def look(self) -> None:
        """Look soon for what is to be copied or removed, as datasets came or went."""
        self._soon.set()

    def met(self, peer: NodeId, *, linked: bool) -> None:
        """Note whether a peer is linked; when that has changed, it may be offered again what it
        refused, and a look follows soon."""
        if (peer in self._linked) == linked:
            return
        self._linked ^= {peer}
        self._refused = {each: end_s for each, end_s in self._refused.items() if each[0] != peer}
        self._soon.set()

    def look_if_elsewhere(self) -> None:
        """Look soon for what was made, if there may be a back end that has it."""
        if self.look_elsewhere is not None:
            self._soon.set()

    def wanted(self) -> Wanted:
        """Return which datasets must stay here now."""
        return wanted_of(self._node.table, (*self._others(), *self._added))

    async def only_here(self) -> list[DatasetId]:
        """Return the datasets, needed by work or its results, that no other machine within reach
        has, and have them copied to others from now on, because this one leaves; empty with a back
        end, which has all. Raise ``DatasetError`` when the disk cannot be read; they are copied all
        the same."""
        if self.look_elsewhere is not None:
            return []
        if not self._leaving:
            self._refused.clear()
        self._leaving = True
        self._soon.set()
        here = set(await asyncio.to_thread(self._store.holdings))
        return sorted(self._for_the_flock(here))

    def _for_the_flock(self, here: set[DatasetId]) -> list[DatasetId]:
        """What is needed here, or a result, and nobody else who can be reached has."""
        wanted = wanted_of(self._node.table, self._added)
        return [each for each in (wanted.needed | wanted.results) & here if not self._holders(each)]

    async def run(self) -> None:
        """Until cancelled, each time something has changed, copy datasets to peers that should have
        them and, now and then, remove those that nobody needs; a disk or back end that refuses is
        only logged."""
        while True:
            await self._something_to_do()
            try:
                await self._spread()
                await self._collect()
            except OSError as error:
                log.warning("the datasets here could not be looked after: %s", error)
            await asyncio.sleep(REST_S)

    async def _something_to_do(self) -> None:
        """Until the table, the peers or the store have changed; an idle node does nothing."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._soon.wait()
            changes = self._node.table.changes
            now_s = time.monotonic()
            due = now_s - self._collected_s >= COLLECT_EVERY_S
            again = bool(self._refused) or self._unready
            if self._soon.is_set() or changes != self._changes or again or due:
                self._soon.clear()
                self._changes = changes
                return

    async def _spread(self) -> None:
        now_s = time.monotonic()
        self._refused = {each: end_s for each, end_s in self._refused.items() if end_s > now_s}
        self._added = {each: end_s for each, end_s in self._added.items() if end_s > now_s}
        here = set(await in_thread(self._store.holdings))
        wanted = self.wanted()
        if self.look_elsewhere is not None:
            await self.look_elsewhere(wanted.needed - here)
            return
        reachable = self._node.reachable()
        self._unready = not self._linked.issubset(reachable)
        if not reachable or (self._copies < 2 and not self._leaving):
            return
        if self._leaving:
            for dataset in sorted(self._for_the_flock(here))[:SPREAD_PER_LOOK_MAX]:
                await self._give(dataset)
            return
        stays = [*(wanted.needed & here), *self._never_elsewhere(wanted.results & here)]
        for dataset in sorted(filter(self._lonely, stays))[:SPREAD_PER_LOOK_MAX]:
            await self._give(dataset)

    def _never_elsewhere(self, results: frozenset[DatasetId]) -> frozenset[DatasetId]:
        """Results made while this node was alone.

        Those that had their copies are not copied anew at each evening when machines go off.
        """
        self._elsewhere_once &= results
        self._elsewhere_once |= {each for each in results if self._node.holders(each)}
        return results - self._elsewhere_once

    def _lonely(self, dataset: DatasetId) -> bool:
        """Too few have it, and it is this node's turn to mind."""
        if dataset in self._transfers.copying:
            return False
        holders = self._holders(dataset)
        return len(holders) + 1 < self._copies and all(self._me < each for each in holders)

    def _holders(self, dataset: DatasetId) -> set[NodeId]:
        """Who tells of it, and of those that are here who has just taken a copy."""
        taken = self._transfers.takers(dataset).intersection(self._node.reachable())
        return taken.union(self._node.holders(dataset))

    async def _give(self, dataset: DatasetId) -> None:
        holders, now_s = self._holders(dataset), time.monotonic()
        peers = [
            each
            for each in self._node.reachable()
            if each not in holders and self._refused.get((each, dataset), 0.0) <= now_s
        ]
        wanting = max(self._copies - 1, int(self._leaving)) - len(holders)
        keepers = await self._transfers.spread([dataset], peers, wanting)
        if len(keepers) < wanting:
            # Who broke off because it is gone may take one as soon as it is back (``met``, where that
            # is not known yet).
            for peer in (set(peers) - set(keepers)).intersection(self._node.reachable()):
                rest_s = LEAVING_REST_S if self._leaving else REFUSED_REST_S
                self._refused[(peer, dataset)] = now_s + rest_s

    async def _collect(self) -> None:
        now_s = time.monotonic()
        if now_s - self._collected_s >= COLLECT_EVERY_S:
            self._collected_s = now_s
            gone = await in_thread(self._store.collect)
            if gone:
                log.info("%d datasets that nobody used for long were removed", len(gone))
