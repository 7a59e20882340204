"""The past by itself: workflows that have ended are found, summed by days, opened and forgotten."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.api.past import Past as Wanted
from agent.storage.history import FILE, History, TaskRow
from agent.storage.past import ID_LETTERS_MIN, Day, PastRow, PastStore, day_begin_ms

HOUR_MS = 3_600_000
HERE, UNNAMED = "node-here", "someone"
NOON_MS = round(time.mktime((2026, 3, 10, 12, 0, 0, 0, 0, -1)) * 1000)
YESTERDAY_MS = NOON_MS - 24 * HOUR_MS


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    opened = History.open(tmp_path / FILE)
    yield opened
    opened.close()


@pytest.fixture
def past(history: History) -> PastStore:
    return history.past


def row(workflow: str, ended_ms: int = NOON_MS, **changes: object) -> PastRow:
    """Of one that was finished here, and of which ana's machine elm ran the program count."""
    told = PastRow(
        workflow, "survey", "finished", 1, "ana", "ash", HERE, ended_ms - 10, ended_ms - 5, ended_ms,
        5, 7, 2, 3, json.dumps(["elm"]), json.dumps(["count"]), "", "", "null", "survey ana", 1,
    )  # fmt: skip
    return told._replace(**changes)  # type: ignore[arg-type]


def keep(past: PastStore, *rows: PastRow) -> None:
    past.write((each, each.workflow.encode()) for each in rows)


def found(past: PastStore, **wanted: object) -> list[str]:
    rows, total = past.page(Wanted(**wanted), HERE, UNNAMED)  # type: ignore[arg-type]
    assert total == len(rows)
    return [each.workflow for each in rows]


def test_a_later_end_takes_the_place_of_an_earlier_one(past: PastStore) -> None:
    keep(past, row("w"), row("v", version=4))
    keep(past, again := row("w", NOON_MS + 1, state="failed", version=2))
    assert past.versions() == {"v": 4, "w": 2}
    assert past.page(Wanted(), HERE, UNNAMED)[0][0] == again


def test_pages_begin_with_what_ended_last_and_say_how_many_there_are(past: PastStore) -> None:
    keep(past, *(row(f"w{at}", NOON_MS + at) for at in (1, 3, 2, 0)), row("a1", NOON_MS + 1))
    rows, total = past.page(Wanted(first=1, limit=3), HERE, UNNAMED)
    assert ([each.workflow for each in rows], total) == (["w2", "a1", "w1"], 5)
    assert past.page(Wanted(first=5), HERE, UNNAMED) == ([], 5)


def test_what_is_asked_for_is_found_and_nothing_else(past: PastStore) -> None:
    keep(
        past,
        row("plain", 3_000),
        row("other", 2_000, state="failed", programs=json.dumps(["counted"])),
        row("theirs", 1_000, host_node="node-far", machines=json.dumps(["elm-2", "oak"])),
    )
    assert found(past, state="failed") == ["other"]
    assert found(past, program="count") == ["plain", "theirs"], "a name, not a part of one"
    assert found(past, host="elm") == ["plain", "other"]
    assert found(past, host="oak") == ["theirs"]
    assert found(past, since_ms=2_000) == ["plain", "other"]
    assert found(past, until_ms=2_000) == ["theirs"]
    assert found(past, since_ms=2_000, state="failed", host="oak") == []


def test_mine_is_what_i_have_submitted_here_or_nobody_put_a_name_to(past: PastStore) -> None:
    names = {"a": "ana", "b": "bob", "c": UNNAMED, "d": ""}
    keep(
        past,
        *(row(name, NOON_MS - at, submitter=of) for at, (name, of) in enumerate(names.items())),
    )
    keep(past, row("far", host_node="node-far"))
    assert found(past, mine=True, submitter="ana") == ["a", "c", "d"]
    assert found(past, mine=True) == ["a", "b", "c", "d"], "of any person here"
    assert len(found(past)) == 5


def test_all_words_are_looked_for_and_ids_by_how_they_begin(past: PastStore) -> None:
    keep(past, row("abcdefghij", words="survey of the north ana"), row("kl", words="survey bob"))
    assert found(past, words="Survey NORTH") == ["abcdefghij"]
    assert found(past, words="north bob") == []
    assert found(past, words="urve") == ["abcdefghij", "kl"]
    begins = "abcdefghij"[:ID_LETTERS_MIN]
    assert found(past, words=begins) == ["abcdefghij"]
    assert found(past, words=begins[:-1]) == [], "so few letters are in many ids"
    assert found(past, words="bcdefghij") == []


def test_days_are_this_machines_and_the_latest_comes_first(
    past: PastStore, history: History
) -> None:
    history.write([], {YESTERDAY_MS // HOUR_MS: 400, YESTERDAY_MS // HOUR_MS - 72: 9, 7: 0})
    keep(
        past,
        row("a", NOON_MS, ran_ms=1, waited_ms=20),
        row("b", NOON_MS - HOUR_MS, state="failed", ran_ms=4, waited_ms=80),
        row("c", YESTERDAY_MS, ran_ms=100, waited_ms=0),
    )
    rows, total, days = past.overview(Wanted(first=1, limit=1), HERE, UNNAMED)
    assert ([each.workflow for each in rows], total) == (["b"], 3)
    today, yesterday, before = map(
        day_begin_ms, (NOON_MS, YESTERDAY_MS, YESTERDAY_MS - 72 * HOUR_MS)
    )
    assert days == [
        Day(today, 2, 1, 5, 100, 0), Day(yesterday, 1, 0, 100, 0, 400), Day(before, 0, 0, 0, 0, 9),
    ]  # fmt: skip
    _, _, days = past.overview(Wanted(since_ms=yesterday, until_ms=today), HERE, UNNAMED)
    assert days == [Day(yesterday, 1, 0, 100, 0, 400)]
    history.write([], {NOON_MS // HOUR_MS: 50})
    assert past.overview(Wanted(), HERE, UNNAMED)[2][0].given_ms == 50, "read again"
    assert today == round(time.mktime((2026, 3, 10, 0, 0, 0, 0, 0, -1)) * 1000)


def test_what_there_is_to_choose_from_follows_the_rows(past: PastStore) -> None:
    assert past.choices() == ((), ())
    keep(past, row("w", programs=json.dumps(["sum", "count"]), machines=json.dumps(["oak"])))
    keep(past, row("v"))
    assert past.choices() == (("count", "sum"), ("elm", "oak"))
    past.remove(["w"])
    assert past.choices() == (("count",), ("elm",))


def test_one_is_opened_by_its_id_its_name_or_how_its_id_begins(past: PastStore) -> None:
    keep(past, row("abcdefgh", 1_000), row("abcdefzz", 2_000, name="abcdefgh"))
    keep(past, row("older", 3_000, name="twice"), row("newer", 4_000, name="twice"))
    assert past.packed("abcdefgh") == ("abcdefgh", b"abcdefgh"), "its id before a name"
    assert past.packed("twice") == ("newer", b"newer")
    assert past.packed("abcdef") == ("abcdefzz", b"abcdefzz"), "the newest"
    assert past.packed("abcde") is None
    assert past.packed("none") is None


def test_what_is_forgotten_is_gone_with_its_records(past: PastStore, history: History) -> None:
    assert past.since_ms() == 0
    keep(past, *(row(f"w{at}", at) for at in (10, 20, 30)))
    history.write([ended("t", "w1", 19), ended("u", "w2", 20)], {})
    assert past.since_ms() == 10
    assert past.workflow_of("t") == "w1"
    assert past.remove(["w30", "never"]) == ["w30"]
    assert past.trim(20) == 1
    assert (past.versions(), past.since_ms()) == ({"w20": 1}, 20)
    assert [past.packed(each) is not None for each in ("w10", "w20", "w30")] == [False, True, False]
    assert (past.workflow_of("t"), past.workflow_of("u")) == ("", "w2")


def test_its_size_grows_with_what_is_kept_and_not_with_room_that_is_free(past: PastStore) -> None:
    before = past.size_bytes()
    past.write([(row("w"), bytes(200_000))])
    assert before + 190_000 < past.size_bytes() < before + 250_000
    past.remove(["w"])
    assert past.size_bytes() < before + 20_000


def ended(task: str, workflow: str, ended_ms: int) -> TaskRow:
    nothing = dict.fromkeys(TaskRow._fields, "") | {"task": task, "workflow": workflow}
    return TaskRow(**nothing | {"generation": 1, "ended_ms": ended_ms})  # type: ignore[arg-type]
