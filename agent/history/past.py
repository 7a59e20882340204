"""Keeps every workflow that has ended, on every node that had its records, wherever it ran.

Ends are noticed as they come; those that came while this node was off, or before it joined, are found
in the table at the start and with the news that brings them. What is kept already, and has not changed
since, is not written again. The loop only takes references; packing, reading off and writing are done
in a thread, a slice at a time, for somebody may have submitted a hundred thousand tasks.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from agent.api import past as api
from agent.api.errors import ServiceError
from agent.history.past_records import (
    Ended,
    Records,
    ended_of,
    pack,
    row_of,
    table_of,
    unpack,
    version_of,
)
from agent.protocol.effects import OutcomeChanged, TaskMoved, WorkflowGone
from agent.protocol.names import visible
from agent.protocol.records import (
    ENDED,
    NodeId,
    TaskId,
    TaskLife,
    Workflow,
    WorkflowId,
    WorkflowSpec,
)
from agent.protocol.table import Table
from agent.storage.past import PastRow, PastStore

WRITE_AFTER_S = 0.5
WRITE_AGAIN_S = 60.0
"""After the disk has refused."""
LOOK_AGAIN_S, STOPPED_MS_MAX = 5.0, 600_000
"""How soon a cancelled workflow is kept anew of which programs are still being stopped, and for how long."""
SLICE_TASKS = 500
DAY_MS = 24 * 3_600_000
TRIM_EVERY_S = 3_600.0
RECALLED_MAX = 4

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A workflow of the past: a table with it alone, what machines were called then, and the one
    that it is of."""

    table: Table
    names: dict[NodeId, str]
    home: NodeId


class Past:
    """Of the workflows of one node, from ``start`` to ``stop``."""

    def __init__(
        self,
        table: Callable[[], Table],
        node: Callable[[], NodeId],
        name_of: Callable[[NodeId], str],
        wall: Callable[[], float],
    ) -> None:
        self._table, self._node, self._name_of, self._wall = table, node, name_of, wall
        self.days_kept = 0
        """How long what has ended is kept; 0 for ever."""
        self.home_of: Callable[[WorkflowSpec], NodeId] = lambda spec: spec.home
        """Which machine a workflow is of, as the node knows it."""
        self._store: PastStore | None = None
        self._due: dict[WorkflowId, int] = {}
        self._stopping: dict[WorkflowId, int] = {}
        """Those of the last look that have runs which were cancelled and have not ended yet."""
        self._known: dict[WorkflowId, int] = {}
        self._gone: list[Ended] = []
        """What left the table before it was kept."""
        self._recalled: OrderedDict[WorkflowId, Recalled] = OrderedDict()
        self._writing: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._trimmed_s = -TRIM_EVERY_S

    async def start(self, store: PastStore) -> None:
        """Keep what ends from now on and, written a moment after this returns, what has ended in the
        table and was not kept; raise ``sqlite3.Error`` when the database does not answer."""
        self._known = await asyncio.to_thread(store.versions)
        self._store = store
        for workflow, found in self._table().workflows.items():
            self._due.setdefault(workflow, found.spec.submitted[0])
        self._write_soon()

    async def stop(self) -> None:
        """Write what is still to be written, and keep nothing from now on; what the disk refuses is
        only logged. Do nothing before ``start``."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
        if self._store is not None:
            await self._write_due(self._store)
        self._store = None

    def noticed(self, notice: object) -> None:
        """Have a workflow written a moment later when the last of its tasks has ended, the outcome of
        one changes after that, or it leaves the table before it was kept; ignore other notices."""
        match notice:
            case TaskMoved(task, _, after) if after in ENDED:
                self._ended(task)
            case OutcomeChanged(task):
                self._ended(task)
            case WorkflowGone(workflow, lives, home):
                self._left(workflow, lives, home)
            case _:
                pass

    def _left(self, workflow: Workflow, lives: tuple[TaskLife, ...], home: NodeId) -> None:
        name = workflow.spec.workflow
        now_ms = int(self._wall() * 1000)
        seen_ms = self._due.pop(name, None if name in self._known else now_ms)
        if seen_ms is not None:
            alone = table_of(Records(workflow, lives, {}))
            ended = ended_of(alone, name, self._name_of, seen_ms, lambda _: home)
            self._gone += [ended] if ended is not None else []
            self._write_soon()

    def _ended(self, task: TaskId) -> None:
        table = self._table()
        workflow = table.workflow_of.get(task)
        if workflow is not None and not table.unfinished.get(workflow):
            self._due[workflow] = int(self._wall() * 1000)
            self._write_soon()

    # -- writing ---------------------------------------------------------------------------

    def _write_soon(self, after_s: float = WRITE_AFTER_S) -> None:
        if self._store is not None and self._writing is None:
            writing = self._write_later(self._store, after_s)
            self._writing = asyncio.get_running_loop().create_task(writing)

    async def _write_later(self, store: PastStore, after_s: float) -> None:
        await asyncio.sleep(after_s)
        try:
            await self._write_due(store)
        finally:
            self._writing = None
        if self._due:
            self._write_soon(LOOK_AGAIN_S if self._stopping else WRITE_AGAIN_S)

    async def _write_due(self, store: PastStore) -> None:
        refused: list[Ended] = []
        self._stopping = {}
        async with self._one_at_a_time:
            while self._due or self._gone:
                ended = self._slice()
                if ended and not await asyncio.to_thread(self._write, store, ended):
                    refused += ended
                else:
                    self._known.update((each.workflow, each.version) for each in ended)
                await asyncio.sleep(0)
            there = self._table().workflows
            self._due.update((e.workflow, e.seen_ms) for e in refused if e.workflow in there)
            self._due |= self._stopping
            self._gone += [each for each in refused if each.workflow not in there]
            await self._trim_when_due(store)

    async def _trim_when_due(self, store: PastStore) -> None:
        if self.days_kept and time.monotonic() - self._trimmed_s > TRIM_EVERY_S:
            self._trimmed_s = time.monotonic()
            before_ms = int(self._wall() * 1000) - self.days_kept * DAY_MS
            await asyncio.to_thread(self._trim, store, before_ms)

    def _slice(self) -> list[Ended]:
        """The next that are to be kept, as many as the loop has time for in one turn."""
        table, looked_at = self._table(), 0
        found, self._gone = self._gone, []
        while self._due and looked_at < SLICE_TASKS:
            workflow, seen_ms = self._due.popitem()
            there = table.workflows.get(workflow)
            if there is None or table.unfinished.get(workflow):
                continue
            looked_at += len(there.spec.tasks)
            if self._is_being_stopped(there, seen_ms):
                self._stopping[workflow] = seen_ms
            if self._known.get(workflow) == version_of(table, there):
                continue
            ended = ended_of(table, workflow, self._name_of, seen_ms, self.home_of)
            if ended is not None:
                found.append(ended)
                self._recalled.pop(workflow, None)
        return found

    def _is_being_stopped(self, workflow: Workflow, seen_ms: int) -> bool:
        """Whether a run of it that was cancelled has still to say that it has ended. A machine that
        has gone may never say so."""
        lives = (self._table().life(spec.task) for spec in workflow.spec.tasks)
        young = int(self._wall() * 1000) - seen_ms < STOPPED_MS_MAX
        return young and any(run.live for life in lives for run in life.runs)

    def _write(self, store: PastStore, ended: list[Ended]) -> bool:
        """In a thread. History is a comfort: what cannot be kept is told, and tried again when it is
        looked at next."""
        try:
            store.write((row_of(each), pack(each.records)) for each in ended)
        except sqlite3.Error as error:
            log.warning("the history of %d workflows is not kept: %s", len(ended), error)
            return False
        return True

    def _trim(self, store: PastStore, before_ms: int) -> None:
        try:
            gone = store.trim(before_ms)
        except sqlite3.Error as error:
            log.warning("the history is not tidied: %s", error)
        else:
            if gone:
                log.info("%d workflows of the past were forgotten, as the settings say", gone)

    # -- what is asked ---------------------------------------------------------------------

    async def page(self, wanted: api.Past) -> api.PastReply:
        """Return the page that is wanted, with the sums if they are; write first what waits to be
        written. Raises ``ServiceError`` when no history is kept here, ``sqlite3.Error`` when it
        cannot be read."""
        store = await self._settled()
        here = self._node()
        return await asyncio.to_thread(self._page, store, wanted, here, self._name_of(here))

    def _page(self, store: PastStore, wanted: api.Past, here: str, unnamed: str) -> api.PastReply:
        if not wanted.summed:
            rows, total = store.page(wanted, here, unnamed)
            return api.PastReply(tuple(map(_view, rows)), total)
        rows, total, sums = store.overview(wanted, here, unnamed)
        days = tuple(_day(*each) for each in sums)
        programs, machines = store.choices()
        facts = (store.since_ms(), store.size_bytes(), self.days_kept)
        return api.PastReply(tuple(map(_view, rows)), total, days, programs, machines, *facts)

    async def recall(self, workflow: str, task: str = "") -> Recalled | None:
        """Return a workflow of the past by its id, its name or the beginning of its id, or else
        that of a task by the task's id; the last few are kept in memory. None for one that is not
        kept or is damaged, and without a history. Raises ``sqlite3.Error`` when it cannot be
        read."""
        for known in self._recalled.values():
            if workflow in known.table.workflows or task in known.table.specs:
                return known
        if self._store is None:
            return None
        store = await self._settled()
        found = await asyncio.to_thread(_read, store, workflow, task)
        if found is None:
            return None
        (name, made) = found
        self._recalled[name] = made
        while len(self._recalled) > RECALLED_MAX:
            self._recalled.popitem(last=False)
        return made

    async def settle(self) -> None:
        """Wait until everything that has ended is kept, as far as a history is kept here at all."""
        if self._store is not None:
            await self._settled()

    async def forget(self, workflows: list[WorkflowId]) -> list[WorkflowId]:
        """Forget these workflows of the past, as long as nothing new happens to them; return which
        were there. Raises ``ServiceError``, with nothing forgotten on the disk, when no history is
        kept here or it cannot be changed."""
        store = await self._settled()
        for each in workflows:
            self._recalled.pop(each, None)
            self._known.pop(each, None)
        try:
            return await asyncio.to_thread(store.remove, workflows)
        except sqlite3.Error as error:
            raise ServiceError(f"the history cannot be changed: {error}") from error

    async def _settled(self) -> PastStore:
        """The database with everything in it that has ended."""
        if self._store is None:
            raise ServiceError("no history is kept here: the log says why")
        await self._write_due(self._store)
        return self._store


def _read(store: PastStore, workflow: str, task: str) -> tuple[WorkflowId, Recalled] | None:
    """In a thread."""
    reference = workflow or store.workflow_of(task)
    found = store.packed(reference) if reference else None
    if found is None:
        return None
    try:
        records = unpack(found[1])
    except (ValueError, msgspec.MsgspecError) as error:
        log.warning("the records of %s in the history are damaged: %s", found[0], error)
        return None
    home = records.workflow.spec.home if records.home is None else records.home
    return found[0], Recalled(table_of(records), records.names, home)


_texts = msgspec.json.Decoder(tuple[str, ...]).decode
_raw = msgspec.json.Decoder(msgspec.Raw).decode


def _view(row: PastRow) -> api.PastWorkflow:
    return api.PastWorkflow(
        row.workflow,
        visible(row.name),
        row.state,  # type: ignore[arg-type]
        row.priority,
        visible(row.submitter),
        row.host,
        row.host_node,
        row.submitted_ms,
        row.begun_ms,
        row.ended_ms,
        row.waited_ms / 1000,
        row.ran_ms / 1000,
        max(0, row.ended_ms - row.submitted_ms) / 1000,
        row.tasks,
        row.attempts,
        _texts(row.machines),
        _texts(row.programs),
        row.failed,
        row.reason,
        _raw(row.why),
    )


def _day(
    begins_ms: int, workflows: int, failed: int, used_ms: int, waited_ms: int, given_ms: int
) -> api.PastDay:
    hours = (each / 3_600_000 for each in (used_ms, waited_ms, given_ms))
    return api.PastDay(begins_ms, workflows, failed, *hours)
