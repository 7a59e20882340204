"""Workflows that have ended, as rows to be listed and searched, and their records as they were.

The table of the flock forgets a workflow some weeks after it ended; here it stays as long as the owner
of this machine wants. A row has what a list shows, and nothing has to be unpacked to search ten
thousand of them; the records lie beside, packed, for whoever opens one.

===============  =========================================================================
table            a row
===============  =========================================================================
``past``         a workflow; a later end takes the place of an earlier one
``past_record``  its records, as ``agent.history.past_records`` packs them
===============  =========================================================================

All of it may be called in any thread, one after the other; nothing here is for the loop.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from agent.api import past as asked

HOUR_MS = 3_600_000
ID_LETTERS_MIN = 8
"""The beginning of an id is found from so many letters on; fewer would be in most of them."""


class PastRow(NamedTuple):
    """What became of a workflow. ``machines``, ``programs`` and ``why`` are JSON; ``words`` is what a
    search looks through, ``version`` a hash of the records that all of it was read off."""

    workflow: str
    name: str
    state: str
    priority: int
    submitter: str
    host: str
    host_node: str
    submitted_ms: int
    begun_ms: int
    ended_ms: int
    waited_ms: int
    ran_ms: int
    tasks: int
    attempts: int
    machines: str
    programs: str
    failed: str
    reason: str
    why: str
    words: str
    version: int


class Day(NamedTuple):
    """The sums of a day that begins at ``begins_ms``."""

    begins_ms: int
    workflows: int
    failed: int
    used_ms: int
    waited_ms: int
    given_ms: int


COLUMNS = PastRow._fields
TABLES = f"""
CREATE TABLE IF NOT EXISTS past ({", ".join(COLUMNS)}, PRIMARY KEY (workflow));
CREATE INDEX IF NOT EXISTS past_ended ON past (ended_ms);
CREATE INDEX IF NOT EXISTS past_name ON past (name);
CREATE TABLE IF NOT EXISTS past_record (workflow PRIMARY KEY, packed BLOB NOT NULL);
"""
_PUT = f"INSERT OR REPLACE INTO past VALUES ({', '.join('?' * len(COLUMNS))})"
_WHERE = """(:state = '' OR state = :state) AND ended_ms >= :since_ms AND ended_ms < :until_ms
    AND (:program = '' OR instr(programs, :program) > 0)
    AND (:host = '' OR instr(machines, :host) > 0)
    AND (NOT :mine OR (host_node = :here
         AND (:submitter = '' OR submitter IN (:submitter, :unnamed, ''))))"""
_WORD = f"""(instr(words, :{{0}}) > 0
    OR length(:{{0}}) >= {ID_LETTERS_MIN} AND substr(workflow, 1, length(:{{0}})) = :{{0}})"""
_MEANT = """SELECT workflow FROM past WHERE workflow = :ref OR name = :ref
    OR substr(workflow, 1, length(:ref)) = :ref AND length(:ref) >= 6
    ORDER BY workflow = :ref DESC, name = :ref DESC, submitted_ms DESC LIMIT 1"""


class PastStore:
    """The past in the database of a node's history, as long as that is open."""

    def __init__(self, connection: sqlite3.Connection, lock: threading.Lock) -> None:
        self._connection, self._lock = connection, lock
        self._given: tuple[object, dict[int, int]] = None, {}
        self._choices: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def versions(self) -> dict[str, int]:
        """Return by workflow of which version of its records the row is. Raise ``sqlite3.Error``
        when the database cannot be read."""
        with self._lock:
            return dict(self._connection.execute("SELECT workflow, version FROM past"))

    def write(self, rows: Iterable[tuple[PastRow, bytes]]) -> None:
        """Keep these rows with their packed records, each in place of an earlier one; raise
        ``sqlite3.Error`` and keep nothing when that fails."""
        told = list(rows)
        with self._transaction() as connection:
            connection.executemany(_PUT, (row for row, _ in told))
            connection.executemany(
                "INSERT OR REPLACE INTO past_record VALUES (?, ?)",
                ((row.workflow, packed) for row, packed in told),
            )

    def remove(self, workflows: Iterable[str]) -> list[str]:
        """Forget these workflows and their records, but not their tasks; return which of them were
        there. Raise ``sqlite3.Error``, with nothing forgotten, when that fails."""
        found = []
        with self._transaction() as connection:
            for each in workflows:
                gone = connection.execute("DELETE FROM past WHERE workflow = ?", (each,))
                connection.execute("DELETE FROM past_record WHERE workflow = ?", (each,))
                found += [each] if gone.rowcount else []
        return found

    def trim(self, before_ms: int) -> int:
        """Forget the workflows and tasks that ended before that moment, with their records; return
        how many workflows. Raise ``sqlite3.Error``, with nothing forgotten, when that fails."""
        with self._transaction() as connection:
            old = "SELECT workflow FROM past WHERE ended_ms < ?"
            connection.execute("DELETE FROM task WHERE ended_ms < ?", (before_ms,))
            connection.execute(f"DELETE FROM past_record WHERE workflow IN ({old})", (before_ms,))
            return connection.execute("DELETE FROM past WHERE ended_ms < ?", (before_ms,)).rowcount

    def page(self, wanted: asked.Past, here: str, unnamed: str) -> tuple[list[PastRow], int]:
        """Return a page of the workflows that ``wanted`` describes, the one that ended last first,
        and how many there are on all pages. ``here`` is this node, ``unnamed`` the submitter of
        what nobody put a name to. Raise ``sqlite3.Error`` when the database cannot be read."""
        where, values = _filter(wanted, here, unnamed)
        with self._lock:
            rows = self._connection.execute(
                f"SELECT {', '.join(COLUMNS)} FROM past WHERE {where}"
                " ORDER BY ended_ms DESC, workflow LIMIT :limit OFFSET :first",
                values | {"limit": wanted.limit, "first": wanted.first},
            ).fetchall()
            count = f"SELECT count(*) FROM past WHERE {where}"
            (total,) = self._connection.execute(count, values).fetchone()
        return [PastRow(*row) for row in rows], int(total)

    def overview(
        self, wanted: asked.Past, here: str, unnamed: str
    ) -> tuple[list[PastRow], int, list[Day]]:
        """Return a page of the workflows that ``wanted`` describes, how many there are on all
        pages, and sums of all pages by day, the latest first; days without an end or hours given
        are left out. The hours given are all of a day, whatever work is wanted. Raise
        ``sqlite3.Error`` when the database cannot be read."""
        where, values = _filter(wanted, here, unnamed)
        with self._lock:
            ended = self._connection.execute(
                "SELECT ended_ms, 1, state = 'failed', ran_ms, waited_ms, rowid FROM past"
                f" WHERE {where} ORDER BY ended_ms DESC, workflow",
                values,
            ).fetchall()
            places = [each[5] for each in ended[wanted.first : wanted.first + wanted.limit]]
            one = f"SELECT {', '.join(COLUMNS)} FROM past WHERE rowid = ?"
            rows = [self._connection.execute(one, (place,)).fetchone() for place in places]
        given, sums = self._given_by_day(), _by_day(ended)
        wanted_days = {each for each in given if wanted.since_ms <= each < wanted.until_ms}
        nothing = (0, 0, 0, 0)
        days = [
            Day(begin, *sums.get(begin, nothing), given.get(begin, 0))
            for begin in sorted(wanted_days | sums.keys(), reverse=True)
        ]
        return [PastRow(*row) for row in rows], len(ended), days

    def _given_by_day(self) -> dict[int, int]:
        """Read again only when something was given since."""
        with self._lock:
            ask = self._connection.execute
            key = ask("SELECT count(*), sum(ran_ms) FROM given").fetchone()
            if key == self._given[0]:
                return self._given[1]
            hours = ask("SELECT hour, ran_ms FROM given WHERE ran_ms > 0 ORDER BY hour DESC")
            told = [(hour * HOUR_MS, 0, 0, 0, ran_ms, hour) for hour, ran_ms in hours]
        self._given = key, {begin: sums[3] for begin, sums in _by_day(told).items()}
        return self._given[1]

    def choices(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return all programs and all machines that occur, in the order of names, read anew only
        when rows have changed. Raise ``sqlite3.Error`` when the database cannot be read."""
        if self._choices is None:
            with self._lock:
                ask = self._connection.execute
                programs, machines = (
                    {each for (text,) in ask(f"SELECT DISTINCT {name} FROM past") for each in json.loads(text)}
                    for name in ("programs", "machines")
                )  # fmt: skip
            self._choices = tuple(sorted(programs)), tuple(sorted(machines))
        return self._choices

    def since_ms(self) -> int:
        """Return when the first workflow that is remembered ended, in milliseconds since 1970; 0
        without any. Raise ``sqlite3.Error`` when the database cannot be read."""
        with self._lock:
            (oldest,) = self._connection.execute("SELECT min(ended_ms) FROM past").fetchone()
        return oldest or 0

    def size_bytes(self) -> int:
        """Return what the whole history takes on the disk, tasks and stories included, without its
        log and without room in its file that is free again. Raise ``sqlite3.Error`` when the
        database cannot be read."""
        with self._lock:
            pages, free, each = (
                self._connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
        return int((pages - free) * each)

    def packed(self, reference: str) -> tuple[str, bytes] | None:
        """Return the workflow with this id, else the newest of this name, else the newest whose id
        begins so, for a reference of 6 letters or more, with its packed records; None where there
        is none. Raise ``sqlite3.Error`` when the database cannot be read."""
        with self._lock:
            meant = self._connection.execute(_MEANT, {"ref": reference}).fetchone()
            found = (
                meant
                and self._connection.execute(
                    "SELECT workflow, packed FROM past_record WHERE workflow = ?", meant
                ).fetchone()
            )
        return found or None

    def workflow_of(self, task: str) -> str:
        """Return the workflow of a task that this node has seen ending; empty where it has not.
        Raise ``sqlite3.Error`` when the database cannot be read."""
        with self._lock:
            found = self._connection.execute(
                "SELECT workflow FROM task WHERE task = ? LIMIT 1", (task,)
            ).fetchone()
        return found[0] if found else ""

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._connection as connection:
            self._choices = None
            yield connection


def _filter(wanted: asked.Past, here: str, unnamed: str) -> tuple[str, dict[str, object]]:
    words = {f"word{at}": word for at, word in enumerate(wanted.words.casefold().split())}
    where = " AND ".join([_WHERE, *(_WORD.format(name) for name in words)])
    return where, {
        "state": wanted.state or "",
        "since_ms": wanted.since_ms,
        "until_ms": wanted.until_ms,
        "program": json.dumps(wanted.program) if wanted.program else "",
        "host": json.dumps(wanted.host) if wanted.host else "",
        "mine": wanted.mine,
        "submitter": wanted.submitter,
        "here": here,
        "unnamed": unnamed,
        **words,
    }


def _by_day(
    rows: Iterable[tuple[int, int, int, int, int, int]],
) -> dict[int, tuple[int, int, int, int]]:
    """The sums by days of this machine's calendar, which may have hours more or less, of moments with
    four numbers each, the latest first; each day by when it begins."""
    found: dict[int, tuple[int, int, int, int]] = {}
    begin, one, two, three, four = 2**63, 0, 0, 0, 0
    for at_ms, a, b, c, d, _ in rows:
        if at_ms < begin:
            found[begin] = (one, two, three, four)
            begin, one, two, three, four = day_begin_ms(at_ms), 0, 0, 0, 0
        one, two, three, four = one + a, two + b, three + c, four + d
    found[begin] = (one, two, three, four)
    found.pop(2**63, None)
    return found


def day_begin_ms(at_ms: int) -> int:
    """Return when the day of a moment began by this machine's calendar."""
    day = time.localtime(at_ms / 1000)
    return round(time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1)) * 1000)
