"""`wingbeat history` on real machines: of work of machines that are off, and of before one belonged."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from agent.client.past import past_csv
from agent.commands.history import day
from agent.storage.history import FILE
from tests.gui.values import past_workflow
from tests.hosts.machine import WITHIN_S, Machine
from tests.hosts.waiting import wait_for

TASKS = [
    {"id": "first", "program": "count"},
    {"id": "fails", "program": "break", "failures_max": 1},
]


def listed(machine: Machine, *words: str) -> list[dict[str, object]]:
    return list(machine.answer("history", *words)["workflows"])


def test_the_past_is_on_every_machine_that_had_the_records(tmp_path: Path) -> None:
    alder, birch, cedar = (Machine(tmp_path / name) for name in ("alder", "birch", "cedar"))
    alder.install("count", "open('x', 'w').write('1')\nprint('TERMINATED x')\n")
    alder.install("break", "print('no film'); raise SystemExit(3)\n")
    with birch.agent("--name", "birch", "--port", "0"):
        with alder.agent("--name", "alder", "--port", "0"):
            alder.said("flock", "create", "meadow")
            invitation = alder.answer("flock", "invite", "--uses", "2")["text"]
            birch.said("flock", "join", invitation)
            alder.said("submit", "-", told=json.dumps({"name": "survey", "tasks": TASKS}))
            wait_for(lambda: bool(listed(birch, "--failed")), WITHIN_S, "its end is known on birch")
            here, there = listed(alder), listed(birch)
            assert here == there
            assert (here[0]["failed"], here[0]["machines"]) == ("fails", ["alder"])
            with cedar.agent("--name", "cedar", "--port", "0"):
                cedar.said("flock", "join", invitation)
                wait_for(lambda: listed(cedar) == here, WITHIN_S, "who joins later knows it too")
                assert listed(cedar, "--mine") == []
                assert listed(alder, "--mine") == here
        (found,) = listed(birch, "--search", "SURV")
        assert found == here[0]  # alder is off
        rows = list(csv.DictReader(io.StringIO(birch.said("history", "--csv"))))
        assert [(row["name"], row["state"], row["machines"]) for row in rows] == [
            ("survey", "failed", "alder")
        ]
        assert "no film" in rows[0]["reason"]


def test_what_is_older_than_the_owner_wants_is_forgotten(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "birch")
    machine.settle(history_days=30)
    with machine.agent("--name", "birch", "--port", "0"):
        for name in ("old", "new"):
            machine.said("submit", "-", told=json.dumps({"name": name, "tasks": [TASKS[0]]}))
            machine.said("cancel", name)
        wait_for(lambda: len(listed(machine)) == 2, WITHIN_S, "both are kept")
        assert machine.answer("history")["days_kept"] == 30
    long_ago_ms = int(time.time() * 1000) - 31 * 24 * 3_600_000
    with closing(sqlite3.connect(machine.home.data / FILE)) as database, database:
        for table in ("past", "task"):
            database.execute(
                f"UPDATE {table} SET ended_ms = ?"
                " WHERE workflow = (SELECT workflow FROM past WHERE name = 'old')",
                (long_ago_ms,),
            )
    with machine.agent("--name", "birch", "--port", "0"):
        wait_for(lambda: len(listed(machine)) == 1, WITHIN_S, "the old one is forgotten")
        assert listed(machine)[0]["name"] == "new"
        assert machine.answer("history", "old")["tasks"] == []


def test_records_that_are_damaged_do_not_keep_the_others_from_being_told(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "birch")
    with machine.agent("--name", "birch", "--port", "0"):
        machine.said("submit", "-", told=json.dumps({"name": "one", "tasks": [TASKS[0]]}))
        machine.said("cancel", "one")
        wait_for(lambda: bool(listed(machine)), WITHIN_S, "it is kept")
    with closing(sqlite3.connect(machine.home.data / FILE)) as database, database:
        database.execute("INSERT INTO past_record VALUES ('two', ?)", (b"nothing of the kind",))
        columns = [row[1] for row in database.execute("PRAGMA table_info(past)")]
        others = ", ".join(each for each in columns if each not in ("workflow", "name"))
        database.execute(
            f"INSERT INTO past (workflow, name, {others}) SELECT 'two', 'two', {others} FROM past"
        )
    with machine.agent("--name", "birch", "--port", "0"):
        assert len(listed(machine)) == 2
        assert 'no workflow is called "two"' in machine.refused("status", "two")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["--since", "31.03.2026"],
            "'31.03.2026' is no day like 2026-03-31, nor today or yesterday",
        ),
        (["--csv", "--json"], "choose one"),
        (["survey", "--csv"], "are for workflows, not for tasks"),
    ],
)
def test_what_makes_no_sense_is_said(words: list[str], complaint: str, tmp_path: Path) -> None:
    ran = Machine(tmp_path / "birch").run("history", *words)
    assert (ran.code, complaint in ran.err) == (2, True), ran


def test_days_begin_at_midnight_here() -> None:
    assert time.localtime(day("2026-03-31") / 1000)[:5] == (2026, 3, 31, 0, 0)
    assert day("today") - day("yesterday") >= 23 * 3_600_000


def test_no_name_becomes_a_formula_of_a_spreadsheet() -> None:
    line = past_csv([past_workflow(name="=1+1", submitter="@ana")]).splitlines()[1]
    assert "'=1+1" in line
    assert "'@ana" in line
