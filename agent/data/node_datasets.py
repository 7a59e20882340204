"""The datasets of a node from outside: brought in and out by clients, laid out for programs.

The store blocks, so everything that touches the disk is done in threads.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agent.api.datasets import DatasetsReply, DatasetView, FileView
from agent.api.flock import HandedOver
from agent.data.delivery import Deliveries
from agent.data.possession import Possession
from agent.data.retention import DatasetRetention, only_of
from agent.data.rights import DataRights
from agent.data.scrubbing import Scrub
from agent.data.shared import SharedResults, in_thread
from agent.data.transfers import DatasetTransfers, Reach
from agent.net.acts import ADMINISTRATOR
from agent.protocol.effects import TaskMoved
from agent.protocol.events import ChildCheckpointed, ChildSucceeded, DatasetsChanged, Event
from agent.protocol.node import Node
from agent.protocol.origins import shown_for
from agent.protocol.records import (
    Dataset,
    DatasetId,
    NodeId,
    TaskId,
    TaskState,
    WorkflowId,
    WorkflowSpec,
)
from agent.storage.datasets.backend import Backend, Sharing
from agent.storage.datasets.room import Wanted
from agent.storage.datasets.store import DatasetStore

DELIVERIES = "deliveries.json"
WANTED_S_MAX = 30.0
LOOK_S = 0.3

log = logging.getLogger(__name__)
EMBEDDED = "embedded"
POSTGRESQL = ("postgresql://", "postgres://")


class NodeDatasets:
    """The datasets of this node, in the loop, from ``open`` to ``close``."""

    def __init__(
        self, me: NodeId, store: DatasetStore, reach: Reach, shared: Sharing | None = None
    ) -> None:
        self._me = me
        self.store, self.shared = store, shared
        self.transfers = DatasetTransfers(me, store, reach)
        self._possession = Possession(store)
        self.kept_besides: Callable[[], Iterable[DatasetId]] = tuple
        """What must stay for reasons that the table does not know."""
        self._loop = asyncio.get_running_loop()
        self._tell: Callable[[Event], None]
        self._node: Node
        self._caretaker: DatasetRetention
        self.rights: DataRights
        self._caring: asyncio.Task[None] | None = None
        self._scrubbing: asyncio.Task[None] | None = None
        self._deliveries = Deliveries(store.folder.parent / DELIVERIES, store, self.bring)
        self._results: SharedResults | None = None

    @classmethod
    async def open(
        cls, me: NodeId, folder: Path, quota_bytes: int, reach: Reach, url: str = ""
    ) -> NodeDatasets:
        """Open the store in this folder, made if need be; a quota of 0 stands for a share of the
        free disk. With a URL, unless it is empty or ``embedded``, all results are kept there, too
        (``agent.storage.datasets.backend``). Raise ``OSError`` when the folder or the URL cannot be
        used."""
        backend = await asyncio.to_thread(open_backend, url)
        store = await asyncio.to_thread(DatasetStore, folder, quota_bytes)
        made = cls(me, store, reach, None if backend is None else Sharing(store, backend))
        await asyncio.to_thread(made._deliveries.load)
        return made

    def begin(
        self,
        node: Node,
        copies: int,
        tell: Callable[[Event], None],
        role: Callable[[NodeId], str] = lambda _: ADMINISTRATOR,
    ) -> None:
        """Tell the node, which runs now, of changes of the datasets from now on, and begin, in the
        background, to copy and remove datasets as its table demands, to read content again, and to
        deliver results; returns at once. ``copies`` is on how many machines each lies, this one
        counted: below 2 nothing is copied; ``role`` tells what members are in the flock."""
        self._node, self._tell, self.transfers.tell = node, tell, tell
        self._caretaker = DatasetRetention(
            self._me, node, self.store, self.transfers, copies, self._besides
        )
        rights = self.rights = DataRights(self._me, node, self.store, self._possession, role)
        node.may_take(rights.may_take)
        self.transfers.may_have, self.transfers.refused = rights.may_have, rights.refused
        if self.shared is not None:
            self._results = SharedResults(self.shared, node, tell)
            self._caretaker.look_elsewhere = self._look_shared
            self.transfers.elsewhere = self._bring_shared
        self.store.changed = self._changed
        self.store.wanted = self._wanted
        self._caring = asyncio.create_task(self._caretaker.run())
        self.scrub = Scrub(self.store, self.bring)
        self._scrubbing = asyncio.create_task(self.scrub.run())
        self._deliveries.begin(node.table)

    def commit_first(self, event: Event, then: Callable[[Event], None]) -> bool:
        """Begin to commit the results of a run that succeeded to the back end, and return True at
        once; ``then`` gets what comes of it, ``ChildNotStarted`` when that fails. Return False, and
        do nothing, for any other event or without a back end."""
        if self._results is None or not isinstance(event, ChildSucceeded):
            return False
        self._results.commit(event, then)
        return True

    def proven(self, event: Event) -> Event:
        """Return a program's event with the proof that its outputs, or its checkpoint, were here
        added; other events, and all in a flock that does not sign, unchanged."""
        match event:
            case ChildSucceeded():
                named = event.outputs
            case ChildCheckpointed():
                named = (event.checkpoint,)
            case _:
                return event
        workflow = self._node.table.workflow_of.get(event.task)
        if workflow is None or not self._node.signs:
            return event
        kept = [each.dataset for each in named if not each.external]
        return replace(event, shown=self._possession.show(kept, shown_for(workflow, event.task)))

    async def close(self) -> None:
        """Stop delivering, cancel all commits, copies and transfers, wait until they have ended,
        then close the back end and the store."""
        await self._deliveries.close()
        if self._caring is not None:
            self.rights.close()
        if self._results is not None:
            await self._results.close()
        for each in (self._caring, self._scrubbing):
            if each is not None:
                each.cancel()
                await asyncio.gather(each, return_exceptions=True)
        await self.transfers.close()
        if self.shared is not None:
            await asyncio.to_thread(self.shared.backend.close)
        await asyncio.to_thread(self.store.close)

    def moved(self, moved: TaskMoved) -> None:
        """Note that a task is in another state: once it has terminated, have its results delivered
        soon; log a warning when it runs again after that."""
        if moved.before is TaskState.TERMINATED and moved.after is not TaskState.TERMINATED:
            log.warning("task %s was finished and runs again: %s", moved.task, moved.cause)
        elif moved.after is TaskState.TERMINATED:
            self._caretaker.look_if_elsewhere()
            self._deliveries.look_soon()

    def peer_seen(self, peer: NodeId, *, linked: bool) -> None:
        """Note that a peer is linked, or is gone; saying the same again changes nothing."""
        if self._caring is not None:
            self._caretaker.met(peer, linked=linked)

    # -- for clients -----------------------------------------------------------------------

    async def add(self, path: Path, name: str = "", *, move: bool = False) -> Dataset:
        """Take a file or folder of this machine in, under its own name where ``name`` is empty, and
        return its dataset, durable on return; a second node gets a copy some time after. With
        ``move`` the files are taken away, where they lie on the same disk, else copied. Raise
        ``OSError`` when it cannot be kept, here or in the back end: files that were taken away are
        not put back, and what the back end refused stays here."""
        dataset = await asyncio.to_thread(self._keep, path, name, move=move)
        self._caretaker.added(dataset.dataset)
        return dataset

    async def deliver(self, workflow: WorkflowId, folder: Path) -> None:
        """Have the last results of a workflow put into a folder of this machine as they end, never
        over what is there. Raise ``OSError`` where that cannot be remembered."""
        await self._deliveries.ask(workflow, folder)

    async def bring(self, dataset: DatasetId) -> None:
        """Wait until the dataset is here, fetched from the back end or the peers that hold it;
        raise ``OSError`` with a sentence when it cannot be had."""
        await self.transfers.bring(dataset, self._node.holders(dataset))

    async def named(self, dataset: DatasetId) -> str:
        """Return the name under which it is kept here; empty where it is not here."""
        kept = await asyncio.to_thread(self.store.get, dataset)
        return kept.name if kept else ""

    async def files(self, dataset: DatasetId) -> tuple[FileView, ...]:
        """Return the files of a dataset; the path of a single one is empty. Raise ``DatasetError``
        when it is not here or its list of files is damaged, another ``OSError`` when that cannot be
        read."""
        entries = await asyncio.to_thread(self.store.files, dataset)
        return tuple(FileView(each.path, each.size_bytes, each.executable) for each in entries)

    async def read(self, dataset: DatasetId, path: str, offset: int, limit: int) -> bytes:
        """Return at most ``limit`` bytes of one of the dataset's files from this offset, empty
        behind its end; raise ``DatasetError`` when the dataset is not here, is damaged or has no
        such file, another ``OSError`` when it cannot be read."""
        return await asyncio.to_thread(self.store.read, dataset, path, offset, limit)

    async def hand_over(self, within_s: float) -> HandedOver:
        """Have other machines take what only this one keeps, from now on and also after this
        returns, and wait until nothing of it is left, at most so long, 0 being one look; return how
        much is left, and how many machines can be reached. Raise ``DatasetError`` when it cannot be
        read what is here."""
        ends_s = time.monotonic() + within_s
        while True:
            left = await self._caretaker.only_here()
            if not left or time.monotonic() >= ends_s:
                break
            await asyncio.sleep(LOOK_S)
        takers = len(self._node.reachable())
        rows = await asyncio.to_thread(lambda: [self.store.get(each) for each in left])
        size_bytes = sum(row.size_bytes for row in rows if row is not None)
        return HandedOver(len(left), size_bytes, takers)

    def may_have(self, peer: NodeId, dataset: DatasetId) -> bool:
        """Tell whether another member may read the dataset."""
        return self.rights.may_have(peer, dataset)

    def brought(self, peer: NodeId, dataset: DatasetId) -> None:
        """Note that a member has brought the dataset here."""
        self.rights.brought(peer, dataset)

    async def not_for(
        self, asker: NodeId, given: Collection[DatasetId], tasks: Collection[TaskId]
    ) -> WorkflowSpec | None:
        """Return whose data or results a submission names that are not for who submits it."""
        return await self.rights.not_for(asker, given, tasks)

    async def shown(self, asker: NodeId, given: Collection[DatasetId], whose: str) -> bytes:
        """Return what shows with a record of this name that its author has these data."""
        return await self.rights.shown(asker, given, whose)

    def holders(self, dataset: DatasetId) -> tuple[NodeId, ...]:
        """Return the peers from which the dataset can be fetched now."""
        return self._node.holders(dataset)

    async def only_of(self, workflows: Collection[WorkflowId]) -> dict[DatasetId, int]:
        """Return the datasets on this disk that only these workflows use, with their sizes in
        bytes; programs published or accepted here are left out. Raise ``DatasetError`` when it
        cannot be read what is here."""
        alone = only_of(self._node.table, workflows).difference(self._besides())
        rows = await asyncio.to_thread(self.store.listing)
        return {each.dataset: each.size_bytes for each in rows if each.dataset in alone}

    def is_needed(self, dataset: DatasetId) -> bool:
        """Tell whether something of the table needs a dataset, or has it as a result; that its program
        is kept here is no such reason."""
        return dataset in only_of(self._node.table, self._node.table.workflows)

    async def let_go(self, datasets: Collection[DatasetId], *, added: bool = False) -> None:
        """Delete those of these datasets that nothing in the table needs or has as a result and
        that are not kept as programs, with ``added`` also those brought a moment ago for work to
        come. Raise ``OSError`` where a file cannot be deleted (all others are gone then), or the
        index be written (none is)."""
        if added:
            self._caretaker.not_added(datasets)
        wanted = self._caretaker.wanted()
        gone = [each for each in datasets if each not in wanted.needed | wanted.results]
        await asyncio.to_thread(self.store.remove, gone)

    async def listing(self) -> DatasetsReply:
        """Return the datasets on this disk, the newest first, and how full the store is. Of a
        dataset, who else holds it and what made it is left empty. Raise ``OSError`` when the disk
        or the index does not tell."""
        needed = self._caretaker.wanted().needed
        kept, quota = await asyncio.to_thread(lambda: (self.store.listing(), self.store.quota()))
        views = tuple(
            DatasetView(
                each.dataset,
                each.size_bytes,
                name=each.name,
                folder=each.folder,
                here=True,
                needed=each.dataset in needed,
                kept_since_ms=round(each.added_s * 1000),
            )
            for each in kept
        )
        free_bytes = max(0, quota.free_bytes)
        return DatasetsReply(views, len(views), quota.used_bytes, quota.quota_bytes, free_bytes)

    # -- for programs ----------------------------------------------------------------------

    async def lay(self, dataset: DatasetId, into: Path) -> Path:
        """Place the dataset in this folder for a program, to be read only, and return its path;
        with a back end it is fetched first. Raise ``OSError`` when that fails or it is not here."""
        if self.shared is not None:
            await self.bring(dataset)
        return await asyncio.to_thread(self.store.lay, dataset, into)

    async def keep(self, path: Path, name: str) -> Dataset:
        """Move what a program has made into the store, and into the back end where there is one,
        and return its dataset; raise ``OSError`` when it cannot be kept: files that were moved
        until then are not put back."""
        return await asyncio.to_thread(self._keep, path, name, move=True)

    def free_bytes(self) -> int:
        """Return how many bytes the store still takes."""
        return self.store.quota().free_bytes

    # -- inside ----------------------------------------------------------------------------

    def _changed(self, added: tuple[DatasetId, ...], removed: tuple[DatasetId, ...]) -> None:
        """From any thread."""
        if self._results is not None:
            there = self._results.still_there(removed)
            removed = tuple(each for each in removed if each not in there)
        with suppress(RuntimeError):  # the loop has ended, and the node with it
            self._loop.call_soon_threadsafe(self._tell, DatasetsChanged(added, removed))
            self._loop.call_soon_threadsafe(self._caretaker.look)

    def _wanted(self) -> Wanted:
        """From a thread: the table is the loop's."""

        async def asked() -> Wanted:
            return self._caretaker.wanted()

        return asyncio.run_coroutine_threadsafe(asked(), self._loop).result(WANTED_S_MAX)

    def _keep(self, path: Path, name: str, *, move: bool) -> Dataset:
        dataset = self.store.keep(path, name, move=move)
        with suppress(OSError):
            self._possession.look(dataset.dataset)
        if self.shared is not None:
            self.shared.give(dataset.dataset)
        return dataset

    async def _bring_shared(self, dataset: DatasetId) -> bool:
        """Whether it is here now without the help of peers."""
        assert self.shared is not None
        return await in_thread(self.shared.bring, dataset)

    async def _look_shared(self, needed: frozenset[DatasetId]) -> None:
        if self._results is not None:
            await self._results.look_for(needed)

    def _besides(self) -> Iterable[DatasetId]:
        return self.kept_besides()


def open_backend(url: str) -> Backend | None:
    """Return the back end that a URL names, None for an empty one and ``embedded``; a database
    server is not asked yet. Raise ``BackendError`` for a URL that cannot be used, and where the
    library for it is missing."""
    if url in ("", EMBEDDED):
        return None
    if url.startswith(POSTGRESQL):
        from agent.storage.datasets.backend_postgresql import PostgresqlBackend

        return PostgresqlBackend(url)
    from agent.storage.datasets.backend_folder import FolderBackend

    return FolderBackend(url)
