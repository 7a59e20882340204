"""What programs need is there before the first of them, once the machine helps."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.execution import children as under_test
from agent.execution.children import Children
from agent.execution.groups_native import NoGroups
from agent.execution.programs import Programs
from tests.execution.installed import reader
from tests.hosts.waiting import eventually


class Prepared(NoGroups):
    """Groups that count how often they were prepared, and may fail at it."""

    def __init__(self, why_not: str = "", error: OSError | None = None) -> None:
        self._why_not, self._error = why_not, error
        self.times = 0

    def available(self) -> str:
        return self._why_not

    def prepare(self) -> None:
        self.times += 1
        if self._error is not None:
            raise self._error


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "PREPARE_AFTER_S", 0.0)


async def test_it_is_done_once_however_often_the_machine_begins_to_help(tmp_path: Path) -> None:
    groups = Prepared()
    await _prepare_twice(tmp_path, groups)
    assert groups.times == 1


async def test_where_programs_cannot_be_run_there_is_nothing_to_prepare(tmp_path: Path) -> None:
    groups = Prepared("Programs cannot be run here.")
    await _prepare_twice(tmp_path, groups)
    assert groups.times == 0


async def test_what_cannot_be_prepared_is_tried_again_by_the_first_program(tmp_path: Path) -> None:
    groups = Prepared(error=OSError("no more processes"))
    await _prepare_twice(tmp_path, groups)
    assert groups.times == 1


async def _prepare_twice(folder: Path, groups: Prepared) -> None:
    programs = Programs(folder, reader())
    children = Children(programs, folder, folder, lambda _: None, groups)
    children.prepare()
    children.prepare()
    later = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.0, later.set_result, None)
    await eventually(later.done)
    await children.close()
