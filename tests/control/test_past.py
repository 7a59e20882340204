"""The past: what has ended is kept with its records, and told again when the table has forgotten it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from agent.protocol.events import Cancel, Remove
from tests.control.serving import LineClient, Serving, greeted, serving, workflow
from tests.control.surface import NODE


async def run_through(
    there: Serving, client: LineClient, name: str, *ends: str, **told: Any
) -> None:
    """A workflow of as many tasks as ends, one after the other; ``f`` fails, anything else is good."""
    tasks = [{"id": f"step{at}", "program": "copy"} for at in range(len(ends))]
    await client.result("submit", {"name": name, "tasks": tasks, **told})
    there.node.volunteer()
    table, ids = there.node.table, list[str]()
    for found in table.workflows.values():
        ids = [each.task for each in found.spec.tasks] if found.spec.name == name else ids
    for task, end in zip(ids, ends, strict=True):
        while not _over(there, task):
            running = next(iter(there.node.runs))
            of_it = running == task
            there.node.fail(running) if of_it and end == "f" else there.node.succeed(running)


def _over(there: Serving, task: str) -> bool:
    reading = there.node.table.reading(task)
    return reading is not None and reading.state.value in ("Terminated", "Aborted", "Cancelled")


async def names(client: LineClient, **asked: Any) -> list[str]:
    return [each["name"] for each in (await client.result("past", asked))["workflows"]]


async def test_what_has_ended_is_listed_and_searched(tmp_path: Path) -> None:
    async with serving(tmp_path) as there, greeted(there) as client:
        await run_through(there, client, "north", "t", "t", submitter="ana")
        await run_through(there, client, "south", "t", "f", submitter="bia")
        await run_through(there, client, "unnamed", "t")
        await client.result("submit", workflow("goes on"))
        for asked, found in (
            ({}, {"north", "south", "unnamed"}),
            ({"words": "NOR"}, {"north"}),
            ({"words": "birch ana"}, {"north"}),
            ({"words": "no film"}, {"south"}),
            ({"words": "100%"}, set()),
            ({"words": next(iter(there.node.table.workflows))[:8]}, {"north"}),
            ({"words": next(iter(there.node.table.workflows))[:2] + "zz"}, set()),
            ({"mine": True, "submitter": "ana"}, {"north", "unnamed"}),
            ({"mine": True}, {"north", "south", "unnamed"}),
            ({"state": "failed"}, {"south"}),
            ({"program": "copy"}, {"north", "south", "unnamed"}),
            ({"program": "cop"}, set()),
            ({"host": "birch"}, {"north", "south", "unnamed"}),
            ({"host": "oak"}, set()),
            ({"until_ms": 1}, set()),
        ):
            assert set(await names(client, **asked)) == found, asked
        first = await names(client, limit=2)
        assert [*first, *await names(client, first=2)] == await names(client)
        reply = await client.result("past", {"summed": True})
        assert (reply["total"], reply["programs"], reply["machines"]) == (3, ["copy"], ["birch"])
        assert sum(day["workflows"] for day in reply["days"]) == 3
        assert sum(day["failed"] for day in reply["days"]) == 1
        assert reply["size_bytes"] > 0
        assert reply["days"][0]["begins_ms"] <= reply["workflows"][0]["ended_ms"]
        failed = next(each for each in reply["workflows"] if each["name"] == "south")
        assert (failed["failed"], failed["attempts"], failed["tasks"]) == ("step1", 4, 2)
        assert failed["why"]["cause"]["error"] == "no film in the camera"
        assert failed["makespan_s"] >= failed["waited_s"] >= 0
        assert failed["host_node"] == NODE


async def test_what_the_table_forgot_is_told_as_it_was(tmp_path: Path) -> None:
    async with serving(tmp_path) as there, greeted(there) as client:
        await run_through(there, client, "old", "t", "f", submitter="ana")
        before = {
            "show": await client.result("show", {"workflow": "old"}),
            "runs": await client.result("runs", {"workflow": "old"}),
        }
        task = before["show"]["tasks"][1]["task"]
        await client.result("past")
    async with serving(tmp_path) as there, greeted(there) as client:  # its table begins empty
        assert (await client.result("status"))["total"] == 0
        assert await names(client) == ["old"]
        after = {
            "show": await client.result("show", {"workflow": "old"}),
            "runs": await client.result("runs", {"workflow": "old"}),
        }
        for each in (before, after):
            each["show"].pop("position")
        assert after == before
        assert (await client.result("why", {"task": task}))["why"]["reason"] == "TaskFailed"
        assert (await client.result("why", {"task": "old/step1"}))["task"]["task"] == task
        dry = await client.result("again", {"workflow": "old", "dry": True})
        assert [step["kept"] for step in dry["steps"]] == [False, False]
        again = await client.result("again", {"workflow": "old"})
        assert (await client.result("status"))["workflows"][0]["workflow"] == again["workflow"]
        await client.result("cancel", {"workflow": again["workflow"]})
        await client.result("remove", {"workflows": [again["workflow"]], "past": True})
        for wish in ("retry", "cancel"):
            refused = await client.ask(wish, {"workflow": "old"})
            assert 'no workflow is called "old"' in refused["error"]["message"]
        refused = await client.ask("show", {"workflow": "older"})
        assert 'no workflow is called "older"' in refused["error"]["message"]


async def test_what_ended_while_nobody_looked_is_kept_at_the_next_start(tmp_path: Path) -> None:
    async with serving(tmp_path) as there, greeted(there) as client:
        await there.node.history.stop()  # as in a crash: the table has it, the history has not
        await run_through(there, client, "lost", "t")
        await there.node.history.start()
        assert await names(client) == ["lost"]
        await there.node.history.stop()
        await there.node.history.start()
        assert await names(client) == ["lost"]


async def test_what_leaves_the_table_as_soon_as_it_has_ended_is_kept(tmp_path: Path) -> None:
    """A peer of whoever removes it hears only that it is gone."""
    async with serving(tmp_path) as there, greeted(there) as client:
        tasks = [{"id": "step", "program": "copy"}]
        name = (await client.result("submit", {"name": "short", "tasks": tasks}))["workflow"]
        there.node.handle(Cancel("c", name))
        there.node.handle(Remove("r", name))
        assert name not in there.node.table.workflows
        reply = await client.result("past")
        kept = [(each["name"], each["host_node"]) for each in reply["workflows"]]
        assert kept == [("short", NODE)]
        assert (await client.result("again", {"workflow": name, "dry": True}))["workflow"] == name


async def test_a_later_end_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    async with serving(tmp_path) as there, greeted(there) as client:
        await run_through(there, client, "again", "f", submitter="ana")
        assert await names(client, state="failed") == ["again"]
        await client.result("retry", {"workflow": "again"})
        there.node.succeed(next(iter(there.node.runs)))
        reply = await client.result("past")
        told = [(each["state"], each["attempts"], each["failed"]) for each in reply["workflows"]]
        assert told == [("finished", 4, "")]


async def test_the_log_says_at_the_end_how_long_it_took(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with serving(tmp_path) as there, greeted(there) as client:
        await run_through(there, client, "timed", "t")
    line = next(each.message for each in caplog.records if "has ended" in each.message)
    assert "1 done; waited 0 s, ran 0 s, makespan 0 s" in line


async def test_what_was_cancelled_while_it_ran_ends_with_its_program(tmp_path: Path) -> None:
    """Every node tells the same end, whether or not it heard of it before the program stopped."""
    async with serving(tmp_path) as there, greeted(there) as client:
        tasks = [{"id": "step", "program": "copy"}]
        name = (await client.result("submit", {"name": "short", "tasks": tasks}))["workflow"]
        there.node.volunteer()
        there.node.handle(Cancel("c", name))
        assert await names(client, state="cancelled") == ["short"]
        (task,) = there.node.runs
        there.node.stop_program(task)
        (run,) = there.node.table.life(task).runs
        (told,) = (await client.result("past"))["workflows"]
        assert (told["ended_ms"], told["attempts"]) == (run.stamp[0], 1)
