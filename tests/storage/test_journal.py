"""What is written is read back: all of it, in order, by its owner only."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.protocol.effects import Identity, Persist
from agent.protocol.records import Pruning, TaskLife, Workflow
from agent.storage.database import Remembered, open_to_write
from agent.storage.errors import JournalBusy, JournalClosed, JournalRefused
from agent.storage.journal import Journal
from agent.storage.writer import Store, Writer
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.protocol.generation import fewer_examples, records
from tests.storage.samples import held, identity, life, persist, replayed, workflow, written

NONE = type(None)
FULL = 2


def test_a_new_journal_remembers_nothing(tmp_path: Path) -> None:
    assert written(tmp_path / "deep" / "journal") == Remembered(None, (), (), (), ())


@fewer_examples
@given(
    workflows=st.lists(records(Workflow), max_size=2),
    lives=st.lists(records(TaskLife), max_size=3),
    prunings=st.lists(records(Pruning), max_size=2),
)
@example(workflows=[workflow("large", 5_000)], lives=[], prunings=[])
def test_any_record_comes_back_as_it_was(
    workflows: list[Workflow], lives: list[TaskLife], prunings: list[Pruning]
) -> None:
    change = Persist(identity(1), tuple(workflows), tuple(lives), tuple(prunings))
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), change)
        assert held(written(Path(folder))) == replayed([change])


def test_a_journal_that_was_never_made_to_its_end_is_no_damaged_one(tmp_path: Path) -> None:
    """As a process leaves it that is killed amid its first moment."""
    left = tmp_path / "left"
    left.mkdir(mode=0o700)
    leave_half_made(tmp_path, left)
    assert (left / "journal.db").stat().st_size
    assert written(left).notices == ()
    assert held(written(left, persist(1))) == replayed([persist(1)])


def test_records_are_kept_though_such_a_remnant_lies_beside_them(tmp_path: Path) -> None:
    left = tmp_path / "left"
    written(left, persist(1))
    full = (left / "journal.db").read_bytes()
    leave_half_made(tmp_path, left)
    (left / "journal.db").write_bytes(full)
    remembered = written(left)
    assert remembered.lives == persist(1).lives
    assert ["was damaged" in each for each in remembered.notices] == [True]


def leave_half_made(folder: Path, left: Path) -> None:
    making = folder / "making.db"
    with closing(sqlite3.connect(making, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE half (made)")
        connection.executemany("INSERT INTO half VALUES (?)", [(bytes(4096),)] * 20)
        shutil.copy(making, left / "journal.db")
        shutil.copy(f"{making}-journal", left / "journal.db-journal")


def test_later_words_replace_earlier_ones(tmp_path: Path) -> None:
    changes = [persist(number) for number in range(1, 400)]
    with Journal.open(tmp_path) as journal:
        done = [journal.writer.submit([change]) for change in changes]
        assert [future.result(EVENTUALLY_S_MAX) for future in done] == [None] * len(changes)
        assert held(journal.read()) == replayed(changes)
    remembered = written(tmp_path)
    assert held(remembered) == replayed(changes)
    assert (remembered.identity, remembered.notices) == (identity(399), ())


async def test_the_loop_goes_on_while_the_disk_is_written(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        waits = [asyncio.wrap_future(journal.writer.submit([persist(n)])) for n in range(1, 50)]
        assert len(await asyncio.gather(*waits)) == 49
        assert journal.read().identity == identity(49)


def test_giving_up_a_wait_does_not_take_the_records_back(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        assert not journal.writer.submit([persist(1)]).cancel()
    assert held(written(tmp_path)) == replayed([persist(1)])


def test_what_was_submitted_before_the_end_is_written_and_no_log_is_left(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    done = [journal.writer.submit([persist(number)]) for number in range(1, 60)]
    journal.close()
    assert all(future.done() for future in done)
    with pytest.raises(JournalClosed, match="closed"):
        journal.writer.submit([persist(60)]).result()
    assert not journal.writer.probe().result()
    assert {path.name for path in tmp_path.iterdir()} == {
        "identity",
        "journal.db",
        "lock",
        "reserve",
    }
    assert written(tmp_path).identity == identity(59)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    folder.mkdir(mode=0o755)
    (folder / "journal.db").touch(mode=0o644)
    with Journal.open(folder) as journal:
        journal.writer.submit([persist(1)]).result()
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "journal.db-wal" in modes
    assert set(modes.values()) == {0o600}


def test_the_log_is_folded_while_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.storage.writer.LOG_PAGES_MAX", 20)
    with Journal.open(tmp_path) as journal:
        for number in range(1, 100):
            journal.writer.submit([persist(number)]).result()
        assert (tmp_path / "journal.db-wal").stat().st_size < 60 * 4096
        assert held(journal.read()) == replayed(map(persist, range(1, 100)))


@pytest.mark.usefixtures("unflushed")
def test_the_log_stays_at_a_few_megabytes(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        for number in range(130):
            journal.writer.submit(
                [Persist(identity(number), (workflow(f"w{number}", 3_000),))]
            ).result()
        assert (tmp_path / "journal.db").stat().st_size > 3 * 4_200_000
        assert 1_000_000 < (tmp_path / "journal.db-wal").stat().st_size < 1.2 * 4_200_000


def test_every_commit_is_flushed(tmp_path: Path) -> None:
    Journal.open(tmp_path).close()
    with closing(open_to_write(tmp_path / "journal.db")) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (FULL,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


class SlowStore:
    """Holds every commit until it is told to go on; keeps what every commit was given."""

    def __init__(self) -> None:
        self.commits: list[list[str]] = []
        self.began, self.go_on = threading.Event(), threading.Event()
        self.closed = False

    def commit(self, persists: Sequence[Persist]) -> None:
        tasks = [each.task for change in persists for each in change.lives]
        self.commits.append(tasks)
        self.began.set()
        assert self.go_on.wait(EVENTUALLY_S_MAX)
        for faulty in FAULTS.keys() & set(tasks):
            raise FAULTS[faulty]

    def tidy(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


FAULTS = {"full": JournalRefused("no room"), "wrong": ValueError("not a record")}


def change(task: str) -> Persist:
    return Persist(Identity(1, 10, (1, 0)), lives=(life(task),))


@pytest.fixture
def slow() -> SlowStore:
    return SlowStore()


@pytest.fixture
def writer(slow: SlowStore, tmp_path: Path) -> Iterator[Writer]:
    """One whose first commit, of ``a``, is under way; it is closed after the test."""
    writer = Writer(cast("Store", slow), tmp_path)
    first = writer.submit([change("a")])
    assert slow.began.wait(EVENTUALLY_S_MAX)
    yield writer
    writer.close()
    assert first.exception() is None
    assert slow.closed


def ends(slow: SlowStore, *waiting: Future[None]) -> list[type]:
    """Let the commits go on; return what each of these came to."""
    slow.go_on.set()
    return [type(each.exception(EVENTUALLY_S_MAX)) for each in waiting]


@pytest.mark.parametrize(
    ("submitted", "committed", "came_to"),
    [
        (["b", "c", "d"], [["b", "c", "d"]], [NONE, NONE, NONE]),
        (
            ["b", "wrong", "c"],
            [["b", "wrong", "c"], ["b"], ["wrong"], ["c"]],
            [NONE, ValueError, NONE],
        ),
        (["b", "full"], [["b", "full"]], [JournalRefused, JournalRefused]),
    ],
)
def test_what_waits_while_a_commit_runs_is_committed_together(
    slow: SlowStore,
    writer: Writer,
    submitted: list[str],
    committed: list[list[str]],
    came_to: list[type],
) -> None:
    """One wrong submission costs the others nothing; a refusal is told to all that were in it."""
    order: list[str] = []
    tasks = {writer.submit([change(task)]): task for task in submitted}
    for each in tasks:
        each.add_done_callback(lambda done: order.append(tasks[done]))
    assert ends(slow, *tasks) == came_to
    assert ends(slow, writer.submit([change("later")])) == [NONE]
    assert slow.commits == [["a"], *committed, ["later"]]
    assert order == submitted


def test_a_transaction_takes_no_more_than_its_limit(slow: SlowStore, writer: Writer) -> None:
    counts = {"b": 400, "c": 600, "d": 1, "e": 1_000, "f": 1_100, "g": 1}
    ends(slow, *(writer.submit([change(task)] * count) for task, count in counts.items()))
    sizes = [{task: tasks.count(task) for task in tasks} for tasks in slow.commits]
    assert sizes == [{"a": 1}, {"b": 400, "c": 600}, {"d": 1}, {"e": 1_000}, {"f": 1_100}, {"g": 1}]


def test_a_disk_that_falls_behind_too_far_refuses(slow: SlowStore, writer: Writer) -> None:
    waiting = [writer.submit([change(task)] * count) for task, count in (("b", 9_999), ("c", 1))]
    refused = writer.submit([change("d")]).exception(EVENTUALLY_S_MAX)
    assert isinstance(refused, JournalBusy)
    assert "10000 changes wait" in str(refused)
    assert ends(slow, *waiting) == [NONE, NONE]
    assert ends(slow, writer.submit([change("d")])) == [NONE]
