"""The history by itself: rows are found, summed and forgotten as they are, over restarts and damage."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.api.history import History as Wanted
from agent.api.values import TaskState
from agent.storage.errors import is_damage
from agent.storage.history import FILE, TASKS_MAX, Balance, History, StoryRow, Sums, TaskRow
from agent.storage.places import write_ahead_log

HOUR_MS = 3_600_000
VERSION_AT = 18
"""Where a file of SQLite says who may write it."""


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    opened = History.open(tmp_path / FILE)
    yield opened
    opened.close()


def test_how_long_the_latest_runs_took_that_ended_well(history: History) -> None:
    took = [row(f"t{at}", at, host_node="elm", length=f"[{at}]") for at in (30, 10, 20)]
    history.write([*took, row("unknown", 40)], {})
    assert history.lengths() == [(f"t{at}", "elm", f"[{at}]") for at in (10, 20, 30)]
    assert history.lengths(1) == [("t30", "elm", "[30]")]


def test_a_story_stays_as_long_as_what_became_of_its_task(history: History) -> None:
    def story(task: str, begun_ms: int, at_ms: int) -> StoryRow:
        return StoryRow(task, begun_ms, at_ms, f"{task} {at_ms}".encode() * 99)

    old, new, twice = story("old", 1, 5), story("new", 1, 15), story("twice", 1, 6)
    never, open_ = story("never", 1, 4), story("open", 1, 25)
    history.write([], {}, [old, new, twice, never, open_, story("new", 2, 16)])
    newer = story("new", 2, 17)
    tasks = [row("old", 10), row("twice", 11), row("twice", 30, generation=2), row("new", 20)]
    history.write(tasks, {}, [newer])
    assert history.stories_of("new") == [new, newer]
    history.trim(2)
    left = {task: history.stories_of(task) for task in ("old", "new", "twice", "never", "open")}
    assert left == {"old": [], "new": [new, newer], "twice": [twice], "never": [], "open": [open_]}


def test_of_which_tasks_there_is_a_record(history: History) -> None:
    history.write([row("old", 10), row("new", 20)], {}, [StoryRow("open", 1, 25, b"told")])
    assert history.known(["old", "open", "never"]) == {"old"}
    assert history.known([]) == set()


def names(found: tuple[list[TaskRow], int]) -> list[str]:
    return [each.task for each in found[0]]


def row(task: str, ended_ms: int, **changes: object) -> TaskRow:
    """A task that was done."""
    told = TaskRow(
        task=task,
        generation=1,
        name=task,
        workflow="survey",
        program="copy",
        state="Terminated",
        host="birch",
        host_node="birchnode",
        submitted_ms=0,
        ready_ms=0,
        started_ms=10,
        ended_ms=ended_ms,
        waited_ms=ended_ms // 10,
        ran_ms=5,
        suspended_ms=0,
        attempts=1,
        moved="[]",
        reason="",
        spans="[]",
    )
    return told._replace(**changes)  # type: ignore[arg-type]


def test_nothing_is_remembered_at_first(history: History) -> None:
    assert history.tasks(Wanted(limit=9)) == ([], 0)
    assert history.sums(0, HOUR_MS, "birchnode") == Sums(0, 0, 0, 0, 0, 0, 0)
    assert history.since_ms() == 0
    assert history.spans_of(["a"]) == {}


def test_a_database_of_before_is_gone_on_with(tmp_path: Path) -> None:
    before = TaskRow._fields[: TaskRow._fields.index("whys")]
    with closing(sqlite3.connect(tmp_path / FILE)) as made, made:
        columns, places = ", ".join(before), ", ".join("?" * len(before))
        made.execute(f"CREATE TABLE task ({columns}, PRIMARY KEY (task, generation)) WITHOUT ROWID")
        told = row("a", 100, moved='["it failed"]')
        made.execute(f"INSERT INTO task VALUES ({places})", told[: len(before)])
    for _ in range(2):
        history = History.open(tmp_path / FILE)
        history.write([row("b", 200, whys="[null]")], {})
        found, _ = history.tasks(Wanted(limit=9))
        history.close()
        assert [each.whys for each in found] == ["[null]", ""]
        assert found[1] == told


def test_what_never_ran_has_not_failed(history: History) -> None:
    behind = row("c", 210, state="Aborted", started_ms=0, attempts=0)
    at_once = row("d", 220, state="Aborted", started_ms=1)
    history.write([row("b", 200, state="Aborted"), behind, at_once], {})
    assert history.sums(0, HOUR_MS, "birchnode").failed == 2


def test_rows_are_found_by_what_they_are(history: History) -> None:
    history.write(
        [
            row("a", 100, workflow="other"),
            row("b", 200, state="Aborted", host_node="aldernode", host="alder"),
            row("c", 300, program="merge"),
        ],
        {},
    )
    wanted = {
        Wanted(host="alder", limit=9): ["b"],
        Wanted(host="aldernode", limit=9): ["b"],
        Wanted(program="merge", limit=9): ["c"],
        Wanted(workflow="other", limit=9): ["a"],
        Wanted(state=TaskState.TERMINATED, limit=9): ["c", "a"],
        Wanted(since_ms=100, until_ms=300, limit=9): ["b", "a"],
        Wanted(since_ms=101, until_ms=301, limit=9): ["c", "b"],
    }
    assert {each: names(history.tasks(each)) for each in wanted} == wanted
    assert [history.tasks(each)[1] for each in wanted] == list(map(len, wanted.values()))


def test_the_latest_are_on_the_first_page(history: History) -> None:
    rows = [row("a", 100), row("d", 300), row("c", 300), row("b", 200)]
    history.write(rows, {})
    pages = [history.tasks(Wanted(first=first, limit=2)) for first in (0, 2, 4)]
    assert [names(page) for page in pages] == [["c", "d"], ["b", "a"], []]
    assert [total for _, total in pages] == [4, 4, 4]
    assert pages[1][0] == [rows[3], rows[0]]


def test_sums_are_of_what_ended_in_a_span(history: History) -> None:
    history.write(
        [
            row("before", HOUR_MS - 1),
            row("a", HOUR_MS, waited_ms=10),
            row("b", HOUR_MS + 1, waited_ms=30, host_node="aldernode", moved='["it failed"]'),
            row("c", 2 * HOUR_MS - 1, waited_ms=20, state="Aborted"),
            row("never ran", HOUR_MS + 2, waited_ms=99, state="Cancelled", started_ms=0),
            row("after", 2 * HOUR_MS),
        ],
        {0: 1, 1: 2_000, 2: 4},
    )
    assert history.sums(HOUR_MS, 2 * HOUR_MS, "birchnode") == Sums(
        done=2,
        done_here=1,
        failed=1,
        moved=1,
        waited_median_ms=20,
        waited_longest_ms=30,
        given_ms=2_000,
    )
    assert history.sums(HOUR_MS, 2 * HOUR_MS + 1, "birchnode").given_ms == 2_004
    assert history.sums(HOUR_MS - 1, 2 * HOUR_MS, "birchnode").given_ms == 2_001


def test_a_later_word_takes_the_place_and_hours_add_up(history: History) -> None:
    history.write([row("a", 100)], {0: 1_000, 2: 500})
    history.write([row("a", 150)], {0: 1_000})
    assert history.tasks(Wanted(limit=9)) == ([row("a", 150)], 1)
    assert history.sums(0, HOUR_MS, "birchnode").given_ms == 2_000
    assert history.since_ms() == 150


def test_what_machines_worked_for_each_other_counts_once_from_a_moment_on(history: History) -> None:
    assert history.balance(0) == Balance(0, 0, 0)
    gave = row("a", 100, gave_ms=7, thrown_ms=3)
    again = row("a", 200, generation=2, gave_ms=20)
    history.write([gave, row("b", 150, took_ms=40), again], {})
    history.write([gave._replace(ended_ms=110)], {})  # a later word of the same
    assert history.balance(0) == Balance(27, 3, 40)
    assert history.balance(110) == Balance(27, 3, 40)
    assert history.balance(111) == Balance(20, 0, 40)


def test_phases_are_those_of_the_last_generation(history: History) -> None:
    history.write([row("a", 100, spans="[2]", generation=2), row("a", 90, spans="[1]")], {})
    history.write([row("b", 100, spans="[3]")], {})
    assert history.spans_of(["a", "b", "nobody"]) == {"a": "[2]", "b": "[3]"}


def test_the_oldest_make_room(history: History) -> None:
    history.write([row("a", 100), row("c", 300), row("b", 200)], {})
    history.trim(2)
    assert names(history.tasks(Wanted(limit=9))) == ["c", "b"]
    assert history.since_ms() == 200
    history.trim()
    assert TASKS_MAX > history.tasks(Wanted(limit=9))[1] == 2


def test_a_batch_is_written_whole_or_not_at_all(history: History) -> None:
    with pytest.raises(sqlite3.Error):
        history.write([row("a", 100)], {0: None})  # type: ignore[dict-item]
    assert history.tasks(Wanted(limit=9))[1] == 0
    history.write([row("b", 100)], {})
    assert names(history.tasks(Wanted(limit=9))) == ["b"]


def test_it_is_there_after_a_restart_for_its_owner_only(tmp_path: Path) -> None:
    with closing(History.open(tmp_path / FILE)) as history:
        history.write([row("a", 100)], {3: 7})
        modes = {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
        assert modes == {0o600} or os.name != "posix"
    with pytest.raises(sqlite3.ProgrammingError):
        history.since_ms()
    with closing(History.open(tmp_path / FILE)) as again:
        assert again.tasks(Wanted(limit=9)) == ([row("a", 100)], 1)
        assert again.sums(3 * HOUR_MS, 4 * HOUR_MS, "").given_ms == 7
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("damage", ["no database", "its structure is no text", "its version"])
def test_a_damaged_history_is_set_aside_and_begun_anew(tmp_path: Path, damage: str) -> None:
    path = tmp_path / FILE
    History.open(path).close()
    sound = path.read_bytes()
    damaged = sound.replace(b"CREATE TABLE", b"CREATE TABL\xac")
    if damage == "no database":
        damaged = b"no database at all " * 1_000
    if damage == "its version":
        damaged = sound[:VERSION_AT] + b"\x0a" + sound[VERSION_AT + 1 :]
    path.write_bytes(damaged)
    with closing(History.open(path)) as history:
        history.write([row("a", 1)], {})
        assert history.tasks(Wanted(limit=9))[1] == 1
    aside = [each for each in tmp_path.iterdir() if "damaged" in each.name]
    assert [each.read_bytes() for each in aside] == [damaged]


def test_a_history_that_cannot_be_opened_just_now_is_not_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / FILE
    with closing(History.open(path)) as history:
        history.write([row("a", 1)], {})
    monkeypatch.setattr("agent.storage.beside.LOCKED_WAIT_S", 0.0)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            History.open(path)
    write_ahead_log(path).mkdir()
    with pytest.raises(sqlite3.OperationalError):
        History.open(path)
    write_ahead_log(path).rmdir()
    with closing(History.open(path)) as again:
        assert names(again.tasks(Wanted(limit=9))) == ["a"]
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("trouble", ["PRAGMA query_only = ON", "PRAGMA max_page_count = 1"])
def test_a_full_or_read_only_disk_is_no_damage(tmp_path: Path, trouble: str) -> None:
    path = tmp_path / FILE
    History.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(trouble)
        with pytest.raises(sqlite3.OperationalError) as raised:
            connection.execute("INSERT INTO given VALUES (1, zeroblob(50000))")
    assert not is_damage(path, raised.value)
