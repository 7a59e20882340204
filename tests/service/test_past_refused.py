"""A disk that is full for a while takes nothing away from the past."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent.api.past import Past as Wanted
from agent.history import past
from agent.protocol.events import MarkGate
from agent.protocol.records import TaskSpec, TaskState
from agent.storage.past import PastStore
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
