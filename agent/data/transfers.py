"""Datasets between this node and its peers: brought when a task needs them, given when it made
them.

The driver's port for data: what the protocol wants fetched and copied, and honest words about what
became of it. Whoever should keep something is offered it and fetches it itself, over the connection
that the offer came on: so there is one way in, which verifies, and one machine of two that can dial
the other is enough. The same dataset wanted by several at once comes once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import IO, Any

from agent.net import transfer_words
from agent.net.transfer_download import HOLDERS_AT_ONCE_MAX, Download
from agent.net.transfer_words import OFFERED_MAX, LogPiece, Pipe, Taken
from agent.protocol.effects import CopyCheckpoint, CopyOutputs, Fetch
from agent.protocol.events import Event, FetchFailed, InputsFetched, OutputsCopied
from agent.protocol.reasons import EndCause
from agent.protocol.records import DatasetId, NodeId, RunName, TaskId, short_text
from agent.storage.datasets.backend import BackendError
from agent.storage.datasets.store import DatasetStore

DOWNLOADS_AT_ONCE_MAX = 4
OFFERS_AT_ONCE_MAX = 4
THREADS_MAX = DOWNLOADS_AT_ONCE_MAX * (HOLDERS_AT_ONCE_MAX + 1) + OFFERS_AT_ONCE_MAX
"""A thread that waits for another one has to find it running."""
TAKING_S_MAX = 24 * 3_600.0
TOLD_S_MAX = 30.0
"""By then who has taken a copy has told that it has it, or has lost it again."""

ASKED_AGAIN_S = (0.0, 0.1, 0.2, 0.4, 0.8, 1.5)
"""What lets a peer have data may be on its way: that it runs a task, or whose work it is."""
NOT_FOR = (
    "{} is for whose work it is, whom they share that with, and who runs it: ask its submitter"
)

Reach = Callable[[NodeId], Awaitable[Pipe]]
"""Opens a transfer with a peer; raises ``OSError``."""

log = logging.getLogger(__name__)


def _never(_: NodeId) -> bool:
    return False


def _anybody(_peer: NodeId, _dataset: DatasetId) -> bool:
    return True


def _keep_none(peer: NodeId, pieces: tuple[LogPiece, ...]) -> None:
    raise ConnectionAbortedError(f"{len(pieces)} logs of {peer} are not kept here")


class _GivenPipe:
    """A pipe that somebody else will close."""

    def __init__(self, pipe: Pipe) -> None:
        self.send, self.receive_into, self.abort = pipe.send, pipe.receive_into, pipe.abort

    def close(self) -> None:
        """Do nothing; who has opened the pipe closes it."""


class _Source:
    """The store, for a peer that asks for what it may have."""

    def __init__(
        self,
        store: DatasetStore,
        bring: Callable[[DatasetId], None],
        permit: Callable[[DatasetId], bool],
    ) -> None:
        self._store, self._bring, self._permit = store, bring, permit
        self._opened: set[str] = set()
        """Contents of what it was told of."""

    def described(self, dataset: DatasetId) -> tuple[int, str, bytes]:
        """Return size, name and manifest of a dataset, fetched from the back end first, waiting for
        it, where it is not here; raise ``OSError`` when the peer may not have it or it cannot be
        had."""
        if not self._permit(dataset):
            raise PermissionError(NOT_FOR.format(dataset))
        if not self._store.has(dataset):
            self._bring(dataset)
        told = size_bytes, _, manifest = self._store.described(dataset)
        self._opened.update(self._store.contents(dataset, size_bytes, manifest))
        return told

    def open(self, digest: str) -> IO[bytes]:
        """Return a content of what it may have, opened; raise ``OSError`` for another."""
        self._look_at(digest)
        return self._store.open(digest)

    def verify(self, digest: str) -> bytes:
        """Return the hashes of the pieces of such a content; raise ``OSError`` for another."""
        self._look_at(digest)
        return self._store.verify(digest)

    def _look_at(self, digest: str) -> None:
        """Whoever found fault with a content asks for it again, by its hash alone."""
        if digest in self._opened:
            return
        if not any(map(self._permit, self._store.datasets_of(digest))):
            raise PermissionError(NOT_FOR.format(f"sha256:{digest}"))
        self._opened.add(digest)


class _Bringing:
    """A download, and how many wait for it."""

    __slots__ = ("task", "waiting")

    def __init__(self, task: asyncio.Task[None]) -> None:
        self.task, self.waiting = task, 0


class DatasetTransfers:
    """All transfers of one node. In the loop, but for ``serve``."""

    def __init__(self, me: NodeId, store: DatasetStore, reach: Reach) -> None:
        self._me, self._store, self.reach = me, store, reach
        self.tell: Callable[[Event], None]
        """Hands an event to the node; set before the first effect."""
        self.keep_logs: Callable[[NodeId, tuple[LogPiece, ...]], None] = _keep_none
        """Keeps what a run of a peer has printed, in the thread of the transfer."""
        self.mostly_off: Callable[[NodeId], bool] = _never
        """Tells of a peer that it is off most of the time when people work."""
        self.may_have: Callable[[NodeId, DatasetId], bool] = _anybody
        """Tells whether a peer may have a dataset, as far as is known."""
        self.refused: Callable[[NodeId, DatasetId], None] = lambda *_: None
        """Is told of a peer that has asked for what it may not have."""
        self._threads = ThreadPoolExecutor(THREADS_MAX, "datasets")
        self._downloads = asyncio.Semaphore(DOWNLOADS_AT_ONCE_MAX)
        self._offers = asyncio.Semaphore(OFFERS_AT_ONCE_MAX)
        self._bringing: dict[DatasetId, _Bringing] = {}
        self._runs: dict[tuple[TaskId, RunName], asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.get_running_loop()
        self.elsewhere: Callable[[DatasetId], Awaitable[bool]] | None = None
        """Brings what a back end has; then peers are not asked, nor given copies."""
        self.copying: dict[DatasetId, None] = {}
        """What is on its way to other disks now."""
        self._given: dict[tuple[NodeId, DatasetId], float] = {}
        """Copies that peers have just taken, and until when that counts though they do not tell."""

    # -- what the driver asks --------------------------------------------------------------

    def fetch(self, effect: Fetch) -> None:
        """Begin to bring the inputs of a run here and return at once; ``tell`` gets
        ``InputsFetched``, or ``FetchFailed`` for the first one that cannot be had."""
        key = (effect.task, effect.run)
        task = self._runs[key] = self._begin(self._fetch(effect))
        task.add_done_callback(lambda _: self._runs.pop(key, None))

    def copy(self, effect: CopyOutputs) -> None:
        """Have its outputs on more disks."""
        self._begin(self._copy(effect))

    def copy_checkpoint(self, effect: CopyCheckpoint) -> None:
        """Have what it saved on one more disk, if that can be done."""
        self._begin(self.spread([effect.checkpoint.dataset], effect.peers, 1))

    def stop(self, task: TaskId, run: RunName) -> None:
        """Stop fetching for this run, and tell nothing more of it; a run that fetches nothing is
        ignored. Downloads that others wait for go on."""
        fetching = self._runs.pop((task, run), None)
        if fetching is not None:
            fetching.cancel()

    async def close(self) -> None:
        """Cancel all transfers, and wait until they and their threads have ended."""
        tasks = [*self._tasks, *(each.task for each in self._bringing.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self._threads.shutdown)

    # -- here ------------------------------------------------------------------------------

    async def bring(
        self, dataset: DatasetId, holders: Sequence[NodeId], reach: Reach | None = None
    ) -> None:
        """Wait until a dataset is here, fetched from a back end or else from these holders, by
        ``reach`` or, for None, over this node's links; several who want the same share one
        download, which ends when all have given up. Raise ``OSError`` with a sentence when it
        cannot be had; whole files that came stay for the next time."""
        while not await self._in_thread(self._store.has, dataset):
            known = self._bringing.get(dataset)
            if known is None:
                await self._wait_for(dataset, self._start(dataset, holders, reach or self.reach))
                return
            try:
                await self._wait_for(dataset, known)
            except OSError:
                continue  # its holders were others

    def _start(self, dataset: DatasetId, holders: Sequence[NodeId], reach: Reach) -> _Bringing:
        task = asyncio.create_task(self._download(dataset, holders, reach))
        started = self._bringing[dataset] = _Bringing(task)
        return started

    async def _wait_for(self, dataset: DatasetId, bringing: _Bringing) -> None:
        """Whoever is the last to give up ends the download."""
        bringing.waiting += 1
        try:
            await asyncio.shield(bringing.task)
        finally:
            bringing.waiting -= 1
            if not bringing.waiting and not bringing.task.done():
                bringing.task.cancel()
                await asyncio.gather(bringing.task, return_exceptions=True)
            if bringing.task.done() and self._bringing.get(dataset) is bringing:
                del self._bringing[dataset]

    async def _download(self, dataset: DatasetId, holders: Sequence[NodeId], reach: Reach) -> None:
        async with self._downloads:
            if await self._from_elsewhere(dataset):
                return
            began_s = self._loop.time()
            await Download(self._store, dataset, reach, self._threads).run(holders)
            log.info("fetched %s in %.1f s", dataset, self._loop.time() - began_s)

    async def _from_elsewhere(self, dataset: DatasetId) -> bool:
        try:
            return self.elsewhere is not None and await self.elsewhere(dataset)
        except BackendError as error:
            log.warning("%s is asked of peers instead: %s", dataset, error)
            return False

    async def _fetch(self, effect: Fetch) -> None:
        came_bytes, took_s = 0, 0.0
        for dataset, holders in effect.inputs:
            here, began_s = self._store.has(dataset), self._loop.time()
            try:
                await self.bring(dataset, holders)
                if not here:
                    came_bytes += self._store.described(dataset)[0]
                    took_s += self._loop.time() - began_s
            except OSError as error:
                log.warning("an input of %s is not here: %s", effect.task, error)
                why = EndCause("NotFetched", error=short_text(str(error)))
                self.tell(FetchFailed(effect.task, effect.run, dataset, why))
                return
        fetched = InputsFetched(effect.task, effect.run, came_bytes, round(took_s * 1000))
        self.tell(fetched)

    # -- elsewhere -------------------------------------------------------------------------

    async def spread(
        self, datasets: Sequence[DatasetId], peers: Sequence[NodeId], copies: int
    ) -> list[NodeId]:
        """Offer these datasets to one peer after the other, in this order but for those that are
        mostly off, which come last, until ``copies`` of them keep all, with 0 or fewer to nobody;
        return those that do, which may be fewer. A peer that refuses or breaks off is only logged,
        and keeps what it took until then."""
        keepers: list[NodeId] = []
        self.copying.update(dict.fromkeys(datasets))
        try:
            for peer in sorted(peers, key=self.mostly_off):
                if len(keepers) >= copies:
                    break
                if await self._offered(peer, datasets):
                    keepers.append(peer)
                    end_s = self._loop.time() + TOLD_S_MAX
                    self._given.update(dict.fromkeys([(peer, each) for each in datasets], end_s))
        finally:
            for dataset in datasets:
                self.copying.pop(dataset, None)
        return keepers

    def takers(self, dataset: DatasetId) -> set[NodeId]:
        """Return the peers that took a copy of the dataset within the last half minute, whose own
        word that they have it may be on its way."""
        now_s = self._loop.time()
        self._given = {each: end_s for each, end_s in self._given.items() if end_s > now_s}
        return {peer for peer, given in self._given if given == dataset}

    async def _copy(self, effect: CopyOutputs) -> None:
        if self.elsewhere is not None:
            self.tell(OutputsCopied(effect.task, effect.run, (self._me,)))
            return
        outputs = [output.dataset for output in effect.outputs]
        keepers = await self.spread(outputs, effect.peers, effect.copies - 1)
        if len(keepers) < effect.copies - 1:
            log.warning("outputs of %s are on %d disks only", effect.task, 1 + len(keepers))
        self.tell(OutputsCopied(effect.task, effect.run, (self._me, *keepers)))

    async def _offered(self, peer: NodeId, datasets: Sequence[DatasetId]) -> bool:
        """Whether the peer has all of them now."""
        for first in range(0, len(datasets), OFFERED_MAX):
            offered = tuple(datasets[first : first + OFFERED_MAX])
            try:
                async with self._offers:
                    taken = await self._offer(peer, offered)
            except OSError as error:
                log.info("%s did not take a copy: %s", peer, error)
                return False
            if not set(offered) <= set(taken.datasets):
                log.info("%s did not take a copy: %s", peer, taken.text)
                return False
        return True

    async def _offer(self, peer: NodeId, datasets: tuple[DatasetId, ...]) -> Taken:
        pipe = await self.reach(peer)
        source = _Source(self._store, lambda _: None, lambda asked: asked in datasets)

        def offer() -> Taken:
            try:
                return transfer_words.offer(pipe, source, datasets)
            finally:
                pipe.close()

        work = self._loop.run_in_executor(self._threads, offer)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            pipe.abort()
            await asyncio.gather(work, return_exceptions=True)
            raise

    # -- for peers, in a thread of each transfer -------------------------------------------

    def serve(self, peer: NodeId, pipe: Pipe) -> None:
        """Serve a transfer that a peer has opened, in the calling thread, until it ends: give what
        it asks for, take what it offers, keep what it has printed. What it may not have (see
        ``may_have``, asked again for some seconds), or is not here, it is refused in words. Raise
        ``OSError`` when the transfer breaks or the agent stops, ``RemoteProtocolError`` for what no
        agent says; what was taken until then stays. The caller closes the pipe."""

        def take(pipe: Pipe, datasets: tuple[DatasetId, ...]) -> Taken:
            """Fetch what the peer offers, and return what was taken; raise
            ``ConnectionAbortedError`` when the agent stops."""
            work = self._take(peer, pipe, datasets)
            try:
                taking = asyncio.run_coroutine_threadsafe(work, self._loop)
            except RuntimeError as error:
                work.close()
                raise ConnectionAbortedError("the agent is stopping") from error
            return taking.result(TAKING_S_MAX)

        def permit(dataset: DatasetId) -> bool:
            """Tell, after some seconds if need be, whether the peer may have this dataset; False
            when the agent stops."""
            work = self._permit(peer, dataset)
            try:
                asking = asyncio.run_coroutine_threadsafe(work, self._loop)
            except RuntimeError:
                work.close()
                return False
            return asking.result(TAKING_S_MAX)

        source = _Source(self._store, self._bring_to_give, permit)
        transfer_words.serve(pipe, source, take, partial(self.keep_logs, peer))

    async def _permit(self, peer: NodeId, dataset: DatasetId) -> bool:
        """Whether it may have that, now or in a moment."""
        for wait_s in ASKED_AGAIN_S:
            await asyncio.sleep(wait_s)
            if self.may_have(peer, dataset):
                return True
        self.refused(peer, dataset)
        return False

    def _bring_to_give(self, dataset: DatasetId) -> None:
        """What only the back end has is given to those that do not use it, in their thread."""
        if self.elsewhere is not None:
            work = self.bring(dataset, ())
            asyncio.run_coroutine_threadsafe(work, self._loop).result(TAKING_S_MAX)

    async def _take(self, peer: NodeId, pipe: Pipe, datasets: tuple[DatasetId, ...]) -> Taken:
        async def given(_: NodeId) -> Pipe:
            return _GivenPipe(pipe)

        taken: list[DatasetId] = []
        for dataset in datasets:
            try:
                await self.bring(dataset, (peer,), given)
            except OSError as error:
                return Taken(tuple(taken), short_text(str(error)))
            taken.append(dataset)
        return Taken(tuple(taken))

    # -- inside ----------------------------------------------------------------------------

    async def _in_thread(self, ask: Callable[[DatasetId], bool], dataset: DatasetId) -> bool:
        return await self._loop.run_in_executor(None, ask, dataset)

    def _begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a transfer of datasets failed", exc_info=error)
