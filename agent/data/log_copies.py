"""What runs have printed last lies on a second machine, too, so that it can be read when theirs is off.

The machine of a run copies what was added every few seconds while it runs, and the rest soon after
its end, which never waits for that. All goes to one peer at a time, in one message, the first of an
order that everybody can reckon: so whoever wants to read the log of a machine that is off knows whom
to ask. Nothing is copied, looked at or armed while nothing runs here.

There is no record of it: a copy is a comfort, and a record would be one more word to every machine
for each task.

Logs lie here as long as somebody can ask for them. They go with work that is removed, here and where
the others hear of it; and, some days after their last word, those of tasks that neither the table nor
the history knows.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
import time
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Container,
    Coroutine,
    Iterable,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zlib import crc32

from agent.api.errors import ServiceError
from agent.data.transfers import Reach
from agent.net import transfer_words
from agent.net.transfer_words import LOG_PIECE_BYTES, LogPiece
from agent.paths import task_folder, task_log
from agent.protocol.effects import WorkflowGone
from agent.protocol.events import (
    ChildFailed,
    ChildNotStarted,
    ChildStarted,
    ChildStopped,
    ChildSucceeded,
    Event,
)
from agent.protocol.node import Node
from agent.protocol.records import NodeId, Run, RunName, TaskId
from agent.protocol.settings import Settings
from agent.storage.kept_logs import FILE, Kept, KeptLogs, Piece, packed

EVERY_S = 10.0
"""Between two copies, however much happens."""
SOON_S = 1.0
"""After an end, when nothing was copied lately: what else ends now goes along. Where runs go on
ending, twice as long each time."""
COPY_BYTES_MAX = 8 * 1024 * 1024
WAITING_MAX = 2_000
"""Logs of runs that ended while no other machine was there; beyond these the oldest stay alone."""
REFUSED_S = 600.0
PEERS_TRIED_MAX = 3
TIDY_FIRST_S, TIDY_EVERY_S = 300.0, 86_400.0
"""Until logs that nobody knows any more are looked for, and from then on."""
STRAY_DAYS = 7
STRAY_BYTES_MAX = 256 * 1024 * 1024
"""Of logs in files that nobody knows any more; beyond it the oldest go before their time."""
STRAY_S_MIN = 3_600.0
"""Before that nothing counts as unknown: what is known may not be written yet."""

log = logging.getLogger(__name__)
Ended = ChildSucceeded | ChildFailed | ChildStopped | ChildNotStarted


@dataclass(slots=True)
class _Log:
    """The log of a run of this machine, and what of it is elsewhere."""

    path: Path
    over: bool = False
    keeper: NodeId = ""
    sent: int = 0


class LogCopies:
    """The copies that this node gives and keeps, in the loop, from ``begin`` to ``close``."""

    def __init__(
        self,
        me: NodeId,
        data: Path,
        logs: Path,
        reach: Reach,
        bytes_max: int,
        retention_ms: int = Settings().retention_ms,
    ) -> None:
        self._me, self._file, self._logs = me, data / FILE, logs
        self._reach, self._bytes_max, self._retention_ms = reach, bytes_max, retention_ms
        self._node: Node | None = None
        self._kept: KeptLogs | None = None
        self._waiting: dict[tuple[TaskId, RunName], _Log] = {}
        self._refused: dict[NodeId, float] = {}
        self._copied_s, self._pause_s = -EVERY_S, SOON_S
        self._timer: asyncio.TimerHandle | None = None
        self._work: asyncio.Task[None] | None = None
        self._tidying: asyncio.Task[None] | None = None
        self._background: set[asyncio.Task[None]] = set()
        self.known: Callable[[Sequence[TaskId]], Awaitable[set[TaskId]]] | None = None
        """Which of these tasks the history knows; before that is said no log is a stray."""

    async def begin(self, node: Node, copies: int) -> None:
        """Open the database of others' logs and copy logs of this machine's runs to others from now
        on, and ``tidy`` once a day. ``copies`` is on how many machines results lie, this one
        counted: below 2 nothing is copied. A database that cannot be opened is logged; then no logs
        are kept here."""
        self._node = node if copies > 1 and self._bytes_max else None
        try:
            self._kept = await asyncio.to_thread(KeptLogs.open, self._file)
        except (OSError, sqlite3.Error) as error:
            log.warning("no logs of others are kept: %s cannot be opened (%s)", self._file, error)
        self._tidying = asyncio.create_task(self._tidy_now_and_then(node))

    async def close(self) -> None:
        """Copy nothing more, and close what is kept here; what was not copied stays here alone."""
        self._node = None
        self._arm_off()
        for each in (self._work, self._tidying):
            if each is not None:
                each.cancel()
                self._background.add(each)
        await asyncio.gather(*self._background, return_exceptions=True)
        kept, self._kept = self._kept, None
        if kept is not None:
            await asyncio.to_thread(kept.close)

    # -- what is printed here --------------------------------------------------------------

    def heed(self, event: Event) -> None:
        """Note that a run of this machine has begun, so that what it prints is copied now and then,
        or has ended, so that the rest is copied soon; ignore other events, and all of them where
        nothing is copied."""
        if self._node is None or not isinstance(event, ChildStarted | Ended):
            return
        key = (event.task, event.run)
        if isinstance(event, ChildStarted):
            generation, attempt, *_ = event.run
            self._waiting[key] = _Log(task_log(self._logs, event.task, generation, attempt))
            self._arm(EVERY_S)
        elif key in self._waiting:
            self._waiting[key].over = True
            self._arm(self._pause_s)

    def peer_seen(self) -> None:
        """Copy soon what waits for another machine."""
        if self._waiting:
            self._arm(SOON_S)

    def _arm(self, within_s: float) -> None:
        loop = asyncio.get_running_loop()
        at_s = max(loop.time() + min(within_s, SOON_S), self._copied_s + within_s)
        if self._timer is not None and self._timer.when() <= at_s:
            return
        self._arm_off()
        self._timer = loop.call_at(at_s, self._begin_copy)

    def _arm_off(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin_copy(self) -> None:
        self._timer = None
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._copy())

    async def _copy(self) -> None:
        """Once, to the first that takes it; again later while there is something to wait for."""
        now_s = asyncio.get_running_loop().time()
        again = now_s - self._copied_s <= EVERY_S
        self._copied_s, self._pause_s = now_s, min(2 * self._pause_s, EVERY_S) if again else SOON_S
        peers = self._peers()
        for peer in peers[:PEERS_TRIED_MAX]:
            try:
                if await self._give(peer):
                    break
            except (OSError, ValueError) as error:
                self._refused[peer] = time.monotonic() + REFUSED_S
                log.info("%s does not keep the logs of this machine: %s", peer, error)
        while len(self._waiting) > WAITING_MAX:
            del self._waiting[next(iter(self._waiting))]
        if any(not each.over for each in self._waiting.values()) or (peers and self._waiting):
            self._arm(EVERY_S)

    def _peers(self) -> list[NodeId]:
        now_s = time.monotonic()
        self._refused = {peer: end_s for peer, end_s in self._refused.items() if end_s > now_s}
        reachable = [] if self._node is None else self._node.reachable()
        return self.keepers(self._me, (each for each in reachable if each not in self._refused))

    async def _give(self, peer: NodeId) -> bool:
        """True when there is nothing left that this one could keep for now."""
        logs = dict(self._waiting)
        over = {key for key, each in logs.items() if each.over}
        told = await asyncio.to_thread(self._pieces, peer, logs)
        if told:
            pipe = await self._reach(peer)
            await asyncio.to_thread(_told, pipe, tuple(piece for _, piece in told))
        for key, piece in told:
            logs[key].keeper, logs[key].sent = peer, piece.offset + piece.size_bytes
        whole = sum(piece.size_bytes for _, piece in told) < COPY_BYTES_MAX
        if whole:
            for key in over:
                self._waiting.pop(key, None)
        return True

    def _pieces(
        self, peer: NodeId, logs: dict[tuple[TaskId, RunName], _Log]
    ) -> list[tuple[tuple[TaskId, RunName], LogPiece]]:
        """What this peer lacks, as much as is told at once. In a thread."""
        found: list[tuple[tuple[TaskId, RunName], LogPiece]] = []
        left = COPY_BYTES_MAX
        for (task, run), each in logs.items():
            with suppress(OSError):
                size = each.path.stat().st_size
                begins = max(0, size - self._bytes_max)
                offset = max(begins, each.sent if each.keeper == peer else 0)
                while offset < size and left > 0 and len(found) < transfer_words.LOG_PIECES_MAX:
                    data = _read(each.path, offset, min(LOG_PIECE_BYTES, size - offset))
                    if not data:
                        break
                    told = (task, *run[:2], begins, offset, len(data), packed(data))
                    found.append(((task, run), LogPiece(*told)))
                    offset += len(data)
                    left -= len(data)
        return found

    # -- what is kept here -----------------------------------------------------------------

    @property
    def kept_bytes(self) -> int:
        """What the kept logs of other machines take on this disk; 0 where nothing is kept."""
        return 0 if self._kept is None else self._kept.size_bytes

    def take(self, peer: NodeId, pieces: tuple[LogPiece, ...]) -> None:
        """Keep what runs of a peer have printed, in the calling thread: only of its own runs,
        whatever it says. Raise ``OSError`` when that fails, or nothing is kept here."""
        kept = self._kept
        if kept is None:
            raise ConnectionAbortedError("nothing is kept here")
        try:
            kept.keep(
                Piece(
                    each.task,
                    _called(each.generation, each.attempt, peer),
                    each.begins,
                    each.offset,
                    each.size_bytes,
                    each.packed,
                )
                for each in pieces
            )
        except sqlite3.Error as error:
            raise ConnectionAbortedError(f"logs cannot be kept: {error}") from error

    def keepers(self, host: NodeId, nodes: Iterable[NodeId]) -> list[NodeId]:
        """Return these machines in the order in which the logs of that one are offered to them."""
        return sorted(nodes, key=lambda node: crc32(f"{host} {node}".encode()))

    async def kept(self, task: TaskId, run: Run, offset: int, limit: int) -> Kept | None:
        """Return at most ``limit`` bytes of what a run of another machine has printed, from this
        offset or from where that begins which is kept here; None where nothing of it is, or it
        cannot be read, which is logged."""
        if self._kept is None:
            return None
        try:
            called = _called(run.generation, run.attempt, run.host)
            return await asyncio.to_thread(self._kept.read, task, called, offset, limit)
        except sqlite3.Error as error:
            log.warning("the kept logs cannot be read: %s", error)
            return None

    # -- what nobody wants to see any more -------------------------------------------------

    async def size_of(self, tasks: Collection[TaskId]) -> int:
        """Return how many bytes the logs of these tasks take here, those that their runs have left
        and those that are kept for others. Raise ``OSError`` when that cannot be read."""
        return await asyncio.to_thread(self._size_of, tasks)

    async def let_go(self, tasks: Collection[TaskId]) -> None:
        """Delete the logs of these tasks, whoever ran them, as far as they lie here. Raise
        ``OSError`` when that fails."""
        await asyncio.to_thread(self._delete, tasks)

    def gone(self, notice: WorkflowGone) -> None:
        """When a workflow that a person removed has left the table, begin to delete the logs of its
        tasks that lie here, whoever ran them, and return at once; a failure is only logged. Those
        of one that left by its age stay, as the history still has it."""
        spec = notice.workflow.spec
        moved_ms = (run.stamp[0] for each in notice.lives for run in each.life.runs)
        rested_ms = time.time() * 1000 - max(moved_ms, default=spec.submitted[0])
        if rested_ms < self._retention_ms:
            self._in_background(self._let_go_if_possible([task.task for task in spec.tasks]))

    async def _tidy_now_and_then(self, node: Node) -> None:
        """Not at once: whoever starts has better things to do."""
        await asyncio.sleep(TIDY_FIRST_S)
        while True:
            await self.tidy(node.table.specs)
            await asyncio.sleep(TIDY_EVERY_S)

    async def tidy(self, table: Container[TaskId]) -> None:
        """Delete logs of tasks that neither the table nor the history (``known``) knows: those that
        nobody has added to for days, and the oldest of the others where all are too large. Do
        nothing without ``known``; what cannot be looked at or deleted is logged and stays."""
        if self.known is None:
            return
        try:
            found = await asyncio.to_thread(self._old)
            strays = [task for task in found if task not in table]
            strays = list(set(strays) - await self.known(strays)) if strays else []
            gone = _out_of_date({task: found[task] for task in strays})
            await asyncio.to_thread(self._delete, gone)
        except (OSError, sqlite3.Error, ServiceError) as error:
            log.info("logs of tasks that nobody knows any more stay: %s", error)
        else:
            if gone:
                log.info("the logs of %d tasks that nobody knows any more were deleted", len(gone))

    async def _let_go_if_possible(self, tasks: Collection[TaskId]) -> None:
        try:
            await self.let_go(tasks)
        except OSError as error:
            log.info("what removed work has printed stays: %s", error)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _old(self) -> dict[TaskId, tuple[float, int]]:
        """Of each task with logs that are not of the last hour, when something was added last, in
        seconds, and how much lies in files."""
        found: dict[TaskId, tuple[float, int]] = {}
        kept = {} if self._kept is None else self._kept.tasks()
        for folder in self._logs.glob("task-*"):
            with suppress(OSError):
                stats = [each.stat() for each in (folder, *folder.glob("*"))]
                at_s, size = max(each.st_mtime for each in stats), sum(e.st_size for e in stats[1:])
                found[unquote(folder.name.removeprefix("task-"))] = (at_s, size)
        for task, at_ms in kept.items():
            at_s, size = found.get(task, (0.0, 0))
            found[task] = (max(at_s, at_ms / 1000), size)
        latest_s = time.time() - STRAY_S_MIN
        return {task: each for task, each in found.items() if each[0] < latest_s}

    def _size_of(self, tasks: Collection[TaskId]) -> int:
        kept = self._kept
        try:
            copied = 0 if kept is None else kept.size_of(tasks)
        except sqlite3.Error as error:
            raise OSError(f"the kept logs cannot be read: {error}") from error
        folders = (task_folder(self._logs, task) for task in tasks)
        return copied + sum(file.stat().st_size for each in folders for file in each.glob("*"))

    def _delete(self, tasks: Collection[TaskId]) -> None:
        for task in tasks:
            with suppress(FileNotFoundError):
                shutil.rmtree(task_folder(self._logs, task))
        try:
            if self._kept is not None:
                self._kept.remove(tasks)
        except sqlite3.Error as error:
            raise OSError(f"the kept logs cannot be changed: {error}") from error


def _out_of_date(strays: dict[TaskId, tuple[float, int]]) -> list[TaskId]:
    """Those whose days are over, and the oldest of the rest as far as they are too much."""
    before_s, room = time.time() - STRAY_DAYS * 86_400, STRAY_BYTES_MAX
    found = []
    for task, (at_s, size) in sorted(strays.items(), key=lambda each: each[1], reverse=True):
        room -= size
        found += [task] if at_s < before_s or room < 0 else []
    return found


def _called(generation: int, attempt: int, host: NodeId) -> str:
    return f"{generation}.{attempt}.{host}"


def _read(path: Path, offset: int, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(size)


def _told(pipe: transfer_words.Pipe, pieces: tuple[LogPiece, ...]) -> None:
    """In a thread."""
    try:
        transfer_words.give_logs(pipe, pieces)
    finally:
        pipe.close()
