"""What became of tasks, kept long after the table has forgotten them, in a database of its own.

Nothing depends on it but what people are shown, so it is written in batches, without a flush for
each, and a database that is damaged is set aside and begun anew. All of it may be called in any
thread, one after the other; nothing here is for the loop.

==========  ==============================================================================
table       a row
==========  ==============================================================================
``task``    a task and the generation that it ended in; a later word takes its place
``story``   a task and a start of the agent: why it moved; goes with its last row in ``task``
``given``   an hour since 1970, and how many milliseconds tasks ran on this machine in it
==========  ==============================================================================

Workflows that have ended lie beside; ``agent.storage.past`` says how.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import asdict

from agent.api import history as asked
from agent.storage import past
from agent.storage.beside import Beside, open_beside
from agent.storage.later import MARK

FILE = "history.sqlite"
TASKS_MAX = 500_000
"""The oldest make room."""
LENGTHS_READ_MAX = 5_000
"""So many earlier runs are looked at for how long programs take."""


class TaskRow(NamedTuple):
    """What became of a task. ``moved``, ``spans`` and ``whys`` are JSON texts of their owner's making;
    rows of before have no ``whys``, and no name of their workflow, whose id it was.
    ``length`` is what its run took, with what it is compared by, as its owner packs it. ``gave_ms`` and
    the rest are what machines worked for each other; ``balance`` sums it."""

    task: str
    generation: int
    name: str
    workflow: str
    program: str
    state: str
    host: str
    host_node: str
    submitted_ms: int
    ready_ms: int
    started_ms: int
    ended_ms: int
    waited_ms: int
    ran_ms: int
    suspended_ms: int
    attempts: int
    moved: str
    reason: str
    spans: str
    whys: str = ""
    workflow_name: str = ""
    length: str = ""
    gave_ms: int = 0
    thrown_ms: int = 0
    took_ms: int = 0


class StoryRow(NamedTuple):
    """Why a task moved, as one start of the agent saw it. ``entries`` are of their owner's making,
    the last of them is of ``at_ms``."""

    task: str
    begun_ms: int
    at_ms: int
    entries: bytes


@dataclass(frozen=True, slots=True)
class Sums:
    """Of the tasks that ended within a span of time."""

    done: int
    done_here: int
    failed: int
    moved: int
    waited_median_ms: int
    waited_longest_ms: int
    given_ms: int


class Balance(NamedTuple):
    """For how long this machine ran others' tasks, how much of that came to no end here, and for how
    long others ran tasks of its person."""

    gave_ms: int
    thrown_ms: int
    took_ms: int


COLUMNS = TaskRow._fields
_TABLES = f"""
CREATE TABLE IF NOT EXISTS task (
    {", ".join(COLUMNS)}, PRIMARY KEY (task, generation)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS task_ended ON task (ended_ms);
CREATE INDEX IF NOT EXISTS task_workflow ON task (workflow);
CREATE TABLE IF NOT EXISTS story (
    {", ".join(StoryRow._fields)}, PRIMARY KEY (task, begun_ms)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS story_goes AFTER DELETE ON task
    WHEN NOT EXISTS (SELECT 1 FROM task WHERE task = old.task)
    BEGIN DELETE FROM story WHERE task = old.task; END;
CREATE TABLE IF NOT EXISTS given (hour INTEGER PRIMARY KEY, ran_ms INTEGER NOT NULL);
{past.TABLES}
{MARK}
"""
_PUT = (
    f"INSERT OR REPLACE INTO task ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
)
_TELL = "INSERT OR REPLACE INTO story VALUES (?, ?, ?, ?)"
_LATER = {name: repr(value) for name, value in TaskRow._field_defaults.items()}
"""What a database that was made before has no columns for, and what stands there then."""
_GIVE = "INSERT INTO given VALUES (?, ?) ON CONFLICT (hour) DO UPDATE SET ran_ms = ran_ms + excluded.ran_ms"
_TRIM = """DELETE FROM task WHERE (task, generation) IN
    (SELECT task, generation FROM task ORDER BY ended_ms DESC LIMIT -1 OFFSET ?)"""
_TRIM_UNENDED = """DELETE FROM story WHERE at_ms < (SELECT min(ended_ms) FROM task)
    AND NOT EXISTS (SELECT 1 FROM task WHERE task = story.task)"""
_WHERE = """(:workflow IN ('', workflow, workflow_name)) AND (:program = '' OR program = :program)
    AND (:host = '' OR host = :host OR host_node = :host) AND (:state = '' OR state = :state)
    AND ended_ms >= :since_ms AND ended_ms < :until_ms"""
_WITHIN = "ended_ms >= ? AND ended_ms < ?"
_RAN = f"{_WITHIN} AND started_ms > 0"


class History(Beside):
    """The database of one node, from ``open`` to ``close``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        there = {row[1] for row in connection.execute("PRAGMA table_info(task)")}
        for column, value in ((name, _LATER[name]) for name in _LATER if name not in there):
            connection.execute(f"ALTER TABLE task ADD COLUMN {column} DEFAULT {value}")
        self.past = past.PastStore(connection, self._lock)

    @classmethod
    def open(cls, path: Path) -> History:
        """Open the history, made if there is none, as ``open_beside`` does."""
        return open_beside(path, _TABLES, cls, "the history")

    def write(
        self,
        rows: Iterable[TaskRow],
        given_ms: dict[int, int],
        stories: Iterable[StoryRow] = (),
    ) -> None:
        """Keep these rows, each in place of an earlier one of the same task and generation, and
        stories, each in place of the earlier one of the same task and start, and add the
        milliseconds by hour to what was given before; raise ``sqlite3.Error`` and keep nothing when
        that fails."""
        with self._transaction() as connection:
            connection.executemany(_PUT, rows)
            packed = (row._replace(entries=zlib.compress(row.entries, 1)) for row in stories)
            connection.executemany(_TELL, packed)
            connection.executemany(_GIVE, sorted(given_ms.items()))

    def trim(self, tasks_max: int = TASKS_MAX) -> None:
        """Delete the rows of tasks that ended first, until no more than ``tasks_max`` are left, each
        task's stories with its last row. In any case delete stories of tasks without a row that end
        before the earliest row left, also where the task may still end. Raise ``sqlite3.Error``, with
        nothing deleted, when that fails."""
        with self._transaction() as connection:
            connection.execute(_TRIM, (tasks_max,))
            connection.execute(_TRIM_UNENDED)

    def tasks(self, wanted: asked.History) -> tuple[list[TaskRow], int]:
        """Return a page of the tasks that ``wanted`` describes, the one that ended last first, and
        how many there are on all pages; the page is empty behind the last one. Raise
        ``sqlite3.Error`` when the database cannot be read."""
        values = asdict(wanted) | {"state": wanted.state.value if wanted.state else ""}
        with self._lock:
            found = self._connection.execute(
                f"SELECT {', '.join(COLUMNS)} FROM task WHERE {_WHERE}"
                " ORDER BY ended_ms DESC, task LIMIT :limit OFFSET :first",
                values,
            ).fetchall()
            (total,) = self._connection.execute(
                f"SELECT count(*) FROM task WHERE {_WHERE}", values
            ).fetchone()
        return [TaskRow(*row) for row in found], int(total)

    def spans_of(self, tasks: Iterable[str]) -> dict[str, str]:
        """Return by task the recorded phases of its last generation, as JSON text; tasks without a
        record are left out. Raise ``sqlite3.Error`` when the database cannot be read."""
        found: dict[str, str] = {}
        with self._lock:
            for task in tasks:
                row = self._connection.execute(
                    "SELECT spans FROM task WHERE task = ? ORDER BY generation DESC LIMIT 1",
                    (task,),
                ).fetchone()
                if row is not None:
                    found[task] = row[0]
        return found

    def known(self, tasks: Iterable[str]) -> set[str]:
        """Return those of these tasks of which there is a record. Raise ``sqlite3.Error`` when the
        database cannot be read."""
        with self._lock:
            wanted = "SELECT 1 FROM task WHERE task = ? LIMIT 1"
            asked = {task: self._connection.execute(wanted, (task,)).fetchone() for task in tasks}
        return {task for task, row in asked.items() if row is not None}

    def lengths(self, runs_max: int = LENGTHS_READ_MAX) -> list[tuple[str, str, str]]:
        """Return task, host and length of the latest runs that ended well, at most ``runs_max``, the
        latest last. Raise ``sqlite3.Error`` when the database cannot be read."""
        with self._lock:
            found = self._connection.execute(
                "SELECT task, host_node, length FROM task WHERE length != ''"
                " ORDER BY ended_ms DESC LIMIT ?",
                (runs_max,),
            ).fetchall()
        return found[::-1]

    def stories_of(self, task: str) -> list[StoryRow]:
        """Return what is kept of why a task moved, a row for each start of the agent, the oldest
        first; empty for an unknown one. Raise ``sqlite3.Error`` when the database cannot be
        read."""
        with self._lock:
            found = self._connection.execute(
                "SELECT * FROM story WHERE task = ? ORDER BY begun_ms", (task,)
            ).fetchall()
        rows = (StoryRow(*row) for row in found)
        return [row._replace(entries=zlib.decompress(row.entries)) for row in rows]

    def sums(self, begin_ms: int, end_ms: int, here: str) -> Sums:
        """Return the sums over the tasks that ended from one moment until before another, zeros
        where none did; waiting times are those of tasks that started, failed ones count only if
        they had started, ``here`` is this node. Computing time given counts each hour whole that
        the span touches. Raise ``sqlite3.Error`` when the database cannot be read."""
        span = (begin_ms, end_ms)
        with self._lock:
            ask = self._connection.execute
            done, done_here, failed, moved = ask(
                "SELECT coalesce(sum(state = 'Terminated'), 0),"
                " coalesce(sum(state = 'Terminated' AND host_node = ?), 0),"
                " coalesce(sum(state = 'Aborted' AND started_ms > 0), 0),"
                " coalesce(sum(moved != '[]'), 0)"
                f" FROM task WHERE {_WITHIN}",
                (here, *span),
            ).fetchone()
            ran, longest = ask(
                f"SELECT count(*), coalesce(max(waited_ms), 0) FROM task WHERE {_RAN}", span
            ).fetchone()
            median = ask(
                f"SELECT waited_ms FROM task WHERE {_RAN} ORDER BY waited_ms LIMIT 1 OFFSET ?",
                (*span, ran // 2),
            ).fetchone()
            (given,) = ask(
                "SELECT coalesce(sum(ran_ms), 0) FROM given WHERE hour >= ? AND hour < ?",
                (begin_ms // 3_600_000, -(-end_ms // 3_600_000)),
            ).fetchone()
        return Sums(done, done_here, failed, moved, median[0] if median else 0, longest, given)

    def balance(self, begin_ms: int) -> Balance:
        """Return for how long this machine ran tasks of others, how much of that came to nothing,
        and for how long others ran tasks of its person, of the tasks that ended from this moment
        on; zeros where none did. Raise ``sqlite3.Error`` when the database cannot be read."""
        sums = (f"coalesce(sum({name}), 0)" for name in Balance._fields)
        with self._lock:
            (found,) = self._connection.execute(
                f"SELECT {', '.join(sums)} FROM task WHERE ended_ms >= ?", (begin_ms,)
            )
        return Balance(*found)

    def since_ms(self) -> int:
        """Return when the first task that is remembered ended, in milliseconds since 1970; 0 when
        there is none. Raise ``sqlite3.Error`` when the database cannot be read."""
        with self._lock:
            (oldest,) = self._connection.execute("SELECT min(ended_ms) FROM task").fetchone()
        return oldest or 0
