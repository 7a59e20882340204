"""Sees what becomes of tasks, and keeps it: for timelines, for statistics, for the log.

Records tell what a run was at last; when it was suspended and went on is only to be seen while it
happens. So this watches the notices, remembers the open tasks' times in memory, and writes a row
when a task has ended. Rows are written together, once in a while, in a thread. What is lost by a
sudden end is a moment of statistics, never work.

Workflows that have ended are kept beside, by ``agent.history.past``.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import msgspec
from msgspec import Raw

from agent.api import history as api
from agent.api.errors import ServiceError
from agent.api.logs import AgentLog, AgentLogReply
from agent.api.reasons import NO_REASON, NO_WHY, Reason, as_why
from agent.api.session import WorkflowEnded
from agent.history.balance import shares_of
from agent.history.log_reading import read_lines, read_piece
from agent.history.past import Past
from agent.history.past_records import times_of, worked_ms_of
from agent.history.run_views import Span, task_runs
from agent.history.stories import Stories
from agent.host.logs import NORMAL
from agent.paths import TASK_LOGS, task_log
from agent.protocol.effects import OutcomeChanged, TaskMoved
from agent.protocol.likeness import Kind, PastRun
from agent.protocol.reading import DerivedState, effective_generation
from agent.protocol.reasons import StoryEntry
from agent.protocol.records import ENDED, NodeId, Run, TaskId, TaskSpec, TaskState, WorkflowId
from agent.protocol.table import Table
from agent.protocol.times import times_of_task
from agent.storage.history import FILE, Balance, History, StoryRow, Sums, TaskRow
from agent.storage.past import HOUR_MS
from agent.wording.run_ends import named, run_id, why_ended
from agent.wording.speech import counts_in_words, english

WRITE_EVERY_S = 1.0
WAITING_MAX = 50_000
"""Rows that wait for a disk that is not usable; beyond these they are dropped."""
TRIM_EVERY_ROWS = 20_000
OF_A_PROGRAM_MAX = 256
"""So many earlier runs tell how long a program takes; older ones hardly count."""
BALANCED_DAYS = (7, 30)
DAY_MS = 24 * HOUR_MS
AT_IT = (TaskState.SCHEDULED, TaskState.RUNNING, TaskState.SUSPENDED)

_json = msgspec.json.Encoder().encode
_length = msgspec.json.Decoder(tuple[str, str, int, int, int, int]).decode
_raws = msgspec.json.Decoder(list[Raw]).decode

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Open:
    """A task that has not ended: since when it could run, and what its runs went through."""

    ready_ms: int = 0
    spans: list[Span] = field(default_factory=list)


class TaskHistory:
    """Of all tasks that this node knows of, from ``start`` to ``stop``."""

    def __init__(
        self,
        data: Path,
        logs: Path,
        table: Callable[[], Table],
        node_id: Callable[[], NodeId],
        name_of: Callable[[NodeId], str],
        story: Callable[[TaskId], list[StoryEntry]] = lambda _: [],
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._path, self._logs = data / FILE, logs
        self._table, self._node_id, self._name_of, self._wall = table, node_id, name_of, wall
        self._stories = Stories(story, self._now_ms())
        self._history: History | None = None
        self._open: dict[TaskId, _Open] = {}
        self._running_here: dict[TaskId, int] = {}
        self._rows: list[TaskRow] = []
        self._given_ms: dict[int, int] = {}
        self._written = 0
        self._writing: asyncio.Task[None] | None = None
        self.gone_ms: Callable[[Run], int] = lambda _: 0
        """Since when the machine of a run is gone, as the node sees it; 0 while it is there."""
        self.past_run: Callable[[TaskId], PastRun | None] = lambda _: None
        """What is to be remembered of how a task ended, as the node knows it."""
        self.remembered: tuple[PastRun, ...] = ()
        """How long earlier runs took, as this history knew when it was opened."""
        self.past = Past(table, node_id, name_of, wall)

    async def start(self) -> None:
        """Open the database, learn from it how long earlier runs took, begin to keep the past, and
        wait until all that is done; when it fails that is logged, and no history is kept until the
        agent is started again."""
        try:
            self._history = await asyncio.to_thread(History.open, self._path)
            self.remembered = _past_runs(await asyncio.to_thread(self._history.lengths))
            await self.past.start(self._history.past)
        except (OSError, sqlite3.Error) as error:
            log.warning("no history is kept: %s cannot be opened (%s)", self._path, error)

    async def stop(self) -> None:
        """Write what is still to be written, the time of tasks that run here now included, and
        close the database; what it does not take is logged and lost."""
        for task in list(self._running_here):
            self._no_longer_runs(task)
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
        await self.past.stop()
        history, self._history = self._history, None
        if history is not None:
            await asyncio.to_thread(self._write, history, *self._taken())
            await asyncio.to_thread(history.close)

    # -- what happens ----------------------------------------------------------------------

    def noticed(self, notice: object) -> None:
        """Take note of what became of tasks, to be written a moment later, and log why a task moves
        and that a workflow has ended; notices of other kinds are ignored."""
        self.past.noticed(notice)
        match notice:
            case TaskMoved():
                self._moved(notice.task, notice.before, notice.after)
            case OutcomeChanged(task):
                self._ended(task)
            case WorkflowEnded(workflow, _, counts):
                self._tell_end(workflow, counts)
            case _:
                pass

    def _tell_end(self, workflow: WorkflowId, counts: dict[TaskState, int]) -> None:
        table = self._table()
        found = table.workflows.get(workflow)
        if found is None:
            return
        told = counts_in_words(counts)
        times = times_of(table, found, self._now_ms())
        log.log(
            NORMAL,
            "workflow %s has ended: %s; waited %.0f s, ran %.0f s, makespan %.0f s",
            *(found.spec.name, told, times.waited_ms / 1000, worked_ms_of(table, found) / 1000),
            (times.ended_ms - times.submitted_ms) / 1000,
        )

    def _moved(self, task: TaskId, before: TaskState | None, after: TaskState) -> None:
        reading = self._table().reading(task)
        if reading is None:
            self._open.pop(task, None)
            self._no_longer_runs(task)
            return
        if self._stories.moved(task, after):
            self._write_soon()
        now_ms = self._now_ms()
        if after is TaskState.READY:
            seen = self._open.get(task) or self._open.setdefault(task, _Open())
            seen.ready_ms = seen.ready_ms or now_ms
        elif after in AT_IT and reading.owner is not None:
            seen = self._open.get(task) or self._open.setdefault(task, _Open())
            seen.spans.append((run_id(reading.owner), after.value, now_ms))
        self._mind_own(task, after, reading, now_ms)
        if before in AT_IT and after not in AT_IT and after is not TaskState.TERMINATED:
            self._tell_why(task)
        if after in ENDED and before is not None:
            self._ended(task)

    def _mind_own(self, task: TaskId, after: TaskState, reading: DerivedState, now_ms: int) -> None:
        here = reading.owner is not None and reading.owner.host == self._node_id()
        if here and after is TaskState.RUNNING:
            self._running_here.setdefault(task, now_ms)
        else:
            self._no_longer_runs(task)

    def _no_longer_runs(self, task: TaskId) -> None:
        begun_ms = self._running_here.pop(task, None)
        if begun_ms is None:
            return
        now_ms = self._now_ms()
        while begun_ms < now_ms:
            until_ms = min(now_ms, (begun_ms // HOUR_MS + 1) * HOUR_MS)
            hour = begun_ms // HOUR_MS
            self._given_ms[hour] = self._given_ms.get(hour, 0) + until_ms - begun_ms
            begun_ms = until_ms
        self._write_soon()

    def _tell_why(self, task: TaskId) -> None:
        """The log says why a task left a machine."""
        table = self._table()
        runs = [run for run in table.life(task).runs if not run.live]
        last = max(runs, key=lambda run: run.stamp, default=None)
        why = NO_REASON if last is None else self._why(last, table)
        if why != NO_REASON:
            place = _named(table, table.workflow_of[task]), table.specs[task].name
            log.info("%s/%s moves: %s", *place, english(why))

    def _ended(self, task: TaskId) -> None:
        table = self._table()
        if task not in table.specs or len(self._rows) >= WAITING_MAX:
            return
        row = self._row(task, table)
        self._rows.append(row)
        self._write_soon()

    def _row(self, task: TaskId, table: Table) -> TaskRow:
        spec, life, reading = table.specs[task], table.life(task), table.reading(task)
        assert reading is not None
        seen = self._open.pop(task, None) or _Open()
        outcome, workflow = reading.outcome, table.workflow_of[task]
        times = times_of_task(task, table)
        home = self.past.home_of(table.workflows[workflow].spec)
        ends = [self._why(run, table) for run in life.runs if run is not outcome]
        moved = [each for each in ends if each != NO_REASON]
        why, past = named(reading.reason or NO_REASON, table), self.past_run(task)
        return TaskRow(
            task=task,
            generation=effective_generation(life),
            name=spec.name,
            workflow=workflow,
            workflow_name=_named(table, workflow),
            program=spec.program,
            length="" if past is None else _json((*past.kind, past.ran_ms)).decode(),
            state=reading.state.value,
            host=self._name_of(outcome.host) if outcome else "",
            host_node=outcome.host if outcome else "",
            submitted_ms=table.workflows[workflow].spec.submitted[0],
            ready_ms=times.ready_ms,
            started_ms=times.started_ms,
            ended_ms=times.ended_ms or self._now_ms(),
            waited_ms=times.waited_ms,
            ran_ms=times.ran_ms,
            suspended_ms=times.held_ms,
            attempts=len(life.runs),
            moved=_json([*map(english, moved)]).decode(),
            reason=english(why),
            spans=_json(seen.spans).decode(),
            whys=_json([*map(as_why, (why, *moved))]).decode(),
            **shares_of(life, reading, home, self._node_id())._asdict(),
        )

    def _why(self, run: Run, table: Table) -> Reason:
        return named(why_ended(run), table, self._name_of)

    # -- the database ----------------------------------------------------------------------

    def _write_soon(self) -> None:
        if self._history is not None and self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_later())

    async def _write_later(self) -> None:
        await asyncio.sleep(WRITE_EVERY_S)
        history = self._history
        self._writing = None
        if history is not None:
            await asyncio.to_thread(self._write, history, *self._taken())

    def _taken(self) -> tuple[list[TaskRow], dict[int, int], list[StoryRow]]:
        rows, self._rows = self._rows, []
        given_ms, self._given_ms = self._given_ms, {}
        return rows, given_ms, self._stories.taken()

    def _write(
        self,
        history: History,
        rows: list[TaskRow],
        given_ms: dict[int, int],
        stories: list[StoryRow],
    ) -> None:
        """In a thread. History is a comfort: what cannot be kept is told and left."""
        try:
            history.write(rows, given_ms, stories)
            self._written += len(rows)
            if self._written >= TRIM_EVERY_ROWS:
                self._written = 0
                history.trim()
        except sqlite3.Error as error:
            log.warning("the history of %d tasks is not kept: %s", len(rows), error)

    # -- what is asked ---------------------------------------------------------------------

    async def tasks(self, wanted: api.History) -> api.HistoryReply:
        """Return the page that is wanted of what became of tasks, the latest first, and how many
        fit the question in all; write first what waits to be written, and lose, with a warning in
        the log, what cannot be. Raises ``ServiceError`` when no history is kept here,
        ``sqlite3.Error`` when it cannot be read."""
        history = await self._settled()
        rows, total = await asyncio.to_thread(history.tasks, wanted)
        return api.HistoryReply(tuple(map(_view, rows)), total)

    async def known(self, tasks: Sequence[TaskId]) -> set[TaskId]:
        """Return those of these tasks of which the history has a record. Raises ``ServiceError``
        when no history is kept here, ``sqlite3.Error`` when it cannot be read."""
        history = await self._settled()
        return await asyncio.to_thread(history.known, tasks)

    async def statistics(self, weeks: int) -> api.StatisticsReply:
        """Return what this machine gave and what the flock did, in each of so many weeks, the
        present one first, and in all, and what machines worked for each other lately. Raises ``ServiceError`` when no history is kept here,
        ``sqlite3.Error`` when it cannot be read.

        Weeks begin on Monday by this machine's calendar, which may have hours more or less.
        """
        borders = _borders(datetime.now(UTC).astimezone(), weeks)
        spans = [(0, borders[0][1]), *borders]
        history, here = await self._settled(), self._node_id()

        begins = [self._now_ms() - days * DAY_MS for days in BALANCED_DAYS]

        def ask() -> tuple[list[Sums], int, list[Balance]]:
            sums = [history.sums(*span, here) for span in spans]
            return sums, history.since_ms(), [*map(history.balance, begins)]

        (whole, *sums), since_ms, balances = await asyncio.to_thread(ask)
        return api.StatisticsReply(
            tuple(_week(begin_ms, each) for (begin_ms, _), each in zip(borders, sums, strict=True)),
            since_ms,
            whole.given_ms / HOUR_MS,
            whole.done_here,
            whole.done,
            tuple(map(_balance, BALANCED_DAYS, balances)),
        )

    async def runs(
        self, tasks: Sequence[TaskSpec], table: Table, name_of: Callable[[NodeId], str]
    ) -> tuple[api.TaskRuns, ...]:
        """Return, of each of these tasks that is in the table, all its runs with the phases that
        this node has seen; tasks that are not in the table are left out. Raises ``sqlite3.Error``
        when the history cannot be read; where none is kept only what is in memory is told."""
        spans = await self._spans_of([each.task for each in tasks])
        return tuple(
            task_runs(
                each,
                table,
                name_of,
                spans.get(each.task, ()),
                self._ready_ms(each.task),
                self.gone_ms,
            )
            for each in tasks
            if each.task in table.specs
        )

    async def story(self, task: TaskId, table: Table) -> list[StoryEntry]:
        """Return why a task of this table moved, which may be one of the past, the oldest first, as
        far as this node has seen it or the records tell. Raises ``sqlite3.Error`` when the history
        cannot be read."""
        history = self._history
        kept = [] if history is None else await asyncio.to_thread(history.stories_of, task)
        return self._stories.told(task, table, kept)

    async def printed(self, task: TaskId, run: Run, offset: int, limit: int) -> tuple[bytes, int]:
        """Return at most ``limit`` bytes, from this offset, of what a run has printed on this
        machine, and how much there is; nothing and 0 where it has printed nothing here. Raises
        ``OSError``."""
        path = task_log(self._logs / TASK_LOGS, task, run.generation, run.attempt)
        return await asyncio.to_thread(read_piece, path, offset, limit)

    async def log_lines(self, wanted: AgentLog) -> AgentLogReply:
        """Return the lines that are wanted of the agent's own log, none without a log. Raises
        ``ServiceError`` when it cannot be read."""
        try:
            return await asyncio.to_thread(read_lines, self._logs, wanted)
        except OSError as error:
            raise ServiceError(
                f"the log in {self._logs} cannot be read: {error.strerror}"
            ) from error

    async def _spans_of(self, tasks: list[TaskId]) -> dict[TaskId, list[Span]]:
        """The phases that were seen of the runs of these tasks."""
        found = {task: list(self._open[task].spans) for task in tasks if task in self._open}
        rest = [task for task in tasks if task not in found]
        if rest and self._history is not None:
            history = await self._settled()
            kept = await asyncio.to_thread(history.spans_of, rest)
            for task, text in kept.items():
                found[task] = [(run, phase, at_ms) for run, phase, at_ms in json.loads(text)]
        return found

    def _ready_ms(self, task: TaskId) -> int:
        """Since when an open task could run; 0 when that was not seen."""
        seen = self._open.get(task)
        return seen.ready_ms if seen else 0

    async def _settled(self) -> History:
        """The database with everything in it that has happened."""
        if self._history is None:
            raise ServiceError("no history is kept here: the log says why")
        if self._rows or self._given_ms:
            await asyncio.to_thread(self._write, self._history, *self._taken())
        return self._history

    def _now_ms(self) -> int:
        return int(self._wall() * 1000)


def _view(row: TaskRow) -> api.TaskHistory:
    """Rows of before hold sentences alone."""
    why, *whys = _raws(row.whys) if row.whys else [NO_WHY]
    return api.TaskHistory(
        row.task,
        row.name,
        row.workflow,
        row.program,
        TaskState(row.state),
        row.host,
        row.submitted_ms,
        row.ready_ms,
        row.started_ms,
        row.ended_ms,
        row.waited_ms / 1000,
        row.ran_ms / 1000,
        row.suspended_ms / 1000,
        row.attempts,
        tuple(json.loads(row.moved)),
        row.reason,
        why,
        tuple(whys),
        row.workflow_name,
    )


def _past_runs(rows: Iterable[tuple[str, str, str]]) -> tuple[PastRun, ...]:
    """As they were packed, of each program the latest, the oldest of them first; what cannot be
    read is left out."""
    found, counts = list[PastRun](), Counter[str]()
    for task, host, length in reversed([*rows]):
        with suppress(msgspec.MsgspecError):
            content, name, told_ms, step, size, ran_ms = _length(length)
            run = PastRun(task, Kind(content, name, told_ms, step, size), host, ran_ms)
            counts[run.kind.content] += 1
            if counts[run.kind.content] <= OF_A_PROGRAM_MAX:
                found.append(run)
    return tuple(reversed(found))


def _named(table: Table, workflow: WorkflowId) -> str:
    return table.workflows[workflow].spec.name


def _borders(now: datetime, weeks: int) -> list[tuple[int, int]]:
    """Beginning and end of each week in milliseconds, the latest first."""
    monday = now.replace(tzinfo=None).date() - timedelta(days=now.weekday())
    mondays = [monday + timedelta(weeks=number) for number in range(1, -weeks, -1)]
    moments = [
        round(datetime(day.year, day.month, day.day).astimezone().timestamp() * 1000)
        for day in mondays
    ]
    return [(begin, end) for end, begin in pairwise(moments)]


def _week(begin_ms: int, sums: Sums) -> api.WeekView:
    return api.WeekView(
        begin_ms,
        sums.given_ms / HOUR_MS,
        sums.done_here,
        sums.done,
        sums.failed,
        sums.moved,
        sums.waited_median_ms / 1000,
        sums.waited_longest_ms / 1000,
    )


def _balance(days: int, found: Balance) -> api.BalanceView:
    return api.BalanceView(days, *(each / HOUR_MS for each in found))
