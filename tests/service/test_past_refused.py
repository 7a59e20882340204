"""A disk that is full for a while takes nothing away from the past."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent.api.past import MS_MAX
from agent.api.past import Past as Wanted
from agent.history import past
from agent.history.past_records import ended_of, row_of
from agent.protocol.effects import WorkflowGone
from agent.protocol.events import MarkGate
from agent.protocol.records import (
    Claim,
    Life,
    PriorityWish,
    Pruning,
    Run,
    TaskLife,
    TaskSpec,
    TaskState,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.storage.history import History
from agent.storage.past import PastStore
from tests.certain import certain
from tests.datasets.nodes import submit
from tests.driver.nodes import in_state, services
from tests.hosts.waiting import eventually


async def test_what_the_disk_refused_is_kept_when_it_takes_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals: list[str] = []
    write = PastStore.write

    def refuse_first(store: PastStore, rows: Any) -> None:
        if not refusals:
            refusals.append("full")
            raise sqlite3.OperationalError("database or disk is full")
        write(store, rows)

    monkeypatch.setattr(PastStore, "write", refuse_first)
    monkeypatch.setattr(past, "WRITE_AFTER_S", 0.0)
    monkeypatch.setattr(past, "WRITE_AGAIN_S", 0.0)
    async with services(tmp_path, "ant") as (ant,):
        await submit(ant, "w", TaskSpec("a", "a", "", gate=True, asks="look"))
        await eventually(lambda: in_state([ant], "a", TaskState.WAITING))
        await ant.ask(MarkGate("", "a"))
        await eventually(lambda: bool(ant.history.past._known))
        reply = await ant.history.past.page(Wanted())
        assert ([each.workflow for each in reply.workflows], refusals) == (["w"], ["full"])


def test_what_no_clock_shows_is_kept_as_what_clients_can_be_told() -> None:
    """A member that tells of a million years takes nobody's history away."""
    table, end = Table(Settings()), (MS_MAX, 0)
    specs = tuple(TaskSpec(f"t{each}", f"t{each}", "p") for each in range(1100))
    spec = WorkflowSpec("w", "w", (0, 0), "ant", "ana", specs)
    run = Run(1, 1, "bee", 1, Claim(0, (0, 0), "bee"), 0, (), 1, Terminated((), ("bee",)), end)
    table.join(
        (Workflow(spec, PriorityWish(1, "ant", 1)),),
        [TaskLife(each.task, Life(runs=(run,))) for each in specs],
    )
    row = row_of(certain(ended_of(table, "w", str, 0, lambda each: each.home)))
    assert (row.ended_ms, row.ran_ms) == (MS_MAX, MS_MAX)


def test_of_other_workflows_is_kept_what_a_past_one_hangs_on_and_of_itself_nothing_twice() -> None:
    table = Table(Settings())
    run = Run(1, 1, "bee", 1, Claim(0, (0, 0), "bee"), 0, (), 1, Terminated((), ("bee",)), (1, 0))
    scan = (TaskSpec("scan", "scan", "p"), TaskSpec("aside", "aside", "p"))
    line = (
        TaskSpec("cut", "cut", "p", after=("scan",)),
        TaskSpec("join", "join", "p", after=("cut",)),
    )
    for name, tasks in (("before", scan), ("line", line)):
        spec = WorkflowSpec(name, name, (0, 0), "ant", "ana", tasks)
        table.join(
            (Workflow(spec, PriorityWish(1, "ant", 1)),),
            [TaskLife(each.task, Life(runs=(run,))) for each in tasks],
        )
    records = certain(ended_of(table, "line", str, 0, lambda each: each.home)).records
    kept = [
        (each.spec.workflow, [task.name for task in each.spec.tasks]) for each in records.others
    ]
    assert kept == [("before", ["scan"])]


async def test_an_end_that_comes_with_its_removal_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one message, to a peer that knew of the work and not how it ended; what went on is not."""
    monkeypatch.setattr(past, "WRITE_AFTER_S", 0.0)
    table, disk = Table(Settings()), History.open(tmp_path / "history.db")
    store = disk.past
    run = Run(1, 1, "bee", 1, Claim(0, (0, 0), "bee"), 0, (), 1, Terminated((), ("bee",)), (1, 0))
    for name in ("ended", "open"):
        spec = WorkflowSpec(name, name, (0, 0), "ant", "ana", (TaskSpec(name, name, "p"),))
        table.join((Workflow(spec, PriorityWish(1, "ant", 1)),))
    kept = past.Past(lambda: table, lambda: "ant", str, lambda: 2.0)
    await kept.start(store)
    news = table.join(
        lives=[TaskLife("ended", Life(runs=(run,)))],
        prunings=[Pruning(name, 1, (2, 0)) for name in ("ended", "open")],
    )
    for workflow, lives in news.gone:
        kept.noticed(WorkflowGone(workflow, tuple(lives), "ant"))
    await kept.stop()
    assert table.workflows == {}
    assert [*store.versions()] == ["ended"]
    disk.close()
