"""When a version that was installed begins, and what it waits for; on a disk that tests make up."""

from __future__ import annotations

import asyncio
import logging
import sys
from itertools import pairwise

import pytest

from agent import __version__
from agent.api.errors import RefusedError
from agent.api.update import StartAnew, UpdateView, is_later, newer_elsewhere
from agent.host import own_program
from agent.node.updating import Updates
from tests.hosts.waiting import eventually

NEWER, OLDER = "99.0.0", "0.0.1"


class Machine:
    """Satisfies ``Updated``; what is installed on it, and which versions start."""

    def __init__(self, tasks: int = 0, *, linked: bool = False) -> None:
        self.tasks, self.is_linked, self._drains = tasks, linked, False
        self.installed, self.starts, self.tried = __version__, True, 0
        self.broken = ""

    def in_hand(self) -> int:
        return self.tasks

    def linked(self) -> bool:
        return self.is_linked

    def drain(self, wanted: bool) -> None:
        self._drains = wanted

    def drains(self) -> bool:
        return self._drains

    def look(self) -> str:
        return self.installed

    def trial(self, version: str) -> bool:
        self.tried += 1
        return self.starts and version != self.broken

    def updates(
        self, *, by_itself: bool = True, wait: bool = False, finish_s_max: float = 900.0
    ) -> Updates:
        return Updates(
            self,
            by_itself=lambda: by_itself,
            settings_wait=lambda: wait,
            look=self.look,
            trial=self.trial,
            finish_s_max=finish_s_max,
        )


def watched(updates: Updates) -> asyncio.Task[str]:
    return asyncio.create_task(updates.until_due(every_s=0.001))


async def test_it_begins_when_the_last_task_has_ended() -> None:
    machine = Machine(tasks=1)
    updates = machine.updates()
    due = watched(updates)
    machine.installed = NEWER
    await eventually(lambda: updates.view() == UpdateView(NEWER, "finishes"))
    assert machine.drains()
    assert not due.done()
    machine.tasks = 0
    assert await due == NEWER


@pytest.mark.parametrize("linked", [True, False])
async def test_what_takes_too_long_is_handed_back_only_where_somebody_could_go_on(
    linked: bool,
) -> None:
    machine = Machine(tasks=1, linked=linked)
    due = watched(machine.updates(finish_s_max=0.0))
    machine.installed = NEWER
    if linked:
        assert await due == NEWER
    else:
        await eventually(machine.drains)
        looks = machine.tried
        machine.installed = "99.0.1"  # looked at again, and tried
        await eventually(lambda: machine.tried > looks)
        assert not due.done()
        machine.is_linked = True
        assert await due == "99.0.1"


@pytest.mark.parametrize(("installed", "by_itself"), [(NEWER, False), (OLDER, True)])
async def test_where_a_person_decides_work_goes_on_until_then(
    installed: str, by_itself: bool
) -> None:
    machine = Machine(tasks=1)
    updates = machine.updates(by_itself=by_itself)
    due = watched(updates)
    machine.installed = installed
    await eventually(lambda: updates.view() == UpdateView(installed, "asks", installed == OLDER))
    assert not machine.drains()
    assert updates.start_anew(StartAnew()) == installed
    assert machine.drains()
    assert not due.done()
    updates.start_anew(StartAnew(now=True))
    assert await due == installed


async def test_where_settings_wait_the_same_version_starts_anew_when_somebody_says_so() -> None:
    machine = Machine(tasks=1)
    updates = machine.updates(wait=True)
    due = watched(updates)
    assert updates.view() is None
    assert updates.start_anew(StartAnew()) == __version__
    assert machine.drains()
    assert not due.done()
    machine.tasks = 0
    assert await due == __version__


async def test_what_does_not_start_or_goes_again_is_not_begun() -> None:
    machine = Machine(tasks=1)
    machine.starts = False
    updates = machine.updates()
    due = watched(updates)
    machine.installed = NEWER
    await eventually(lambda: machine.tried > 1)
    assert updates.view() is None
    with pytest.raises(RefusedError, match="no other version is installed"):
        updates.start_anew(StartAnew())
    machine.starts = True
    await eventually(machine.drains)
    machine.installed = __version__
    await eventually(lambda: not machine.drains())
    due.cancel()


@pytest.mark.parametrize(("installed", "starts"), [(OLDER, True), ("99.0.1", False)])
async def test_one_in_the_place_of_another_is_not_begun_on_its_word(
    installed: str, starts: bool
) -> None:
    machine = Machine(tasks=1)
    updates = machine.updates()
    due = watched(updates)
    machine.installed = NEWER
    await eventually(machine.drains)
    machine.broken = "" if starts else installed
    machine.installed = installed
    await eventually(lambda: not machine.drains())
    assert updates.view() == (UpdateView(installed, "asks", older=True) if starts else None)
    machine.tasks = 0
    tried = machine.tried
    machine.installed = "0.0.2"  # looked at, so the end of the task was, too
    await eventually(lambda: machine.tried > tried)
    assert not due.done()
    due.cancel()


async def test_what_does_not_start_is_told_once_and_tried_ever_more_rarely(
    caplog: pytest.LogCaptureFixture,
) -> None:
    machine = Machine()
    machine.starts = False
    looks = 0

    def look() -> str:
        nonlocal looks
        looks += 1
        return NEWER

    machine.look = look  # type: ignore[method-assign]
    with caplog.at_level(logging.WARNING):
        due = watched(machine.updates())
        await eventually(lambda: machine.tried >= 6)
    assert looks > 3 * machine.tried
    assert len(caplog.records) == 1
    machine.starts = True
    assert await due == NEWER


def test_versions_are_compared_by_their_numbers() -> None:
    assert is_later("0.10.0", "0.9.1")
    assert is_later("0.1.0.1", "0.1.0")
    assert not is_later("0.1.0", "0.1.0")
    assert not is_later("0.1", "0.1.0")
    order = (
        "0.1.9",
        "0.2.0.dev3",
        "0.2.0a1",
        "0.2.0rc2",
        "0.2.0rc10",
        "0.2.0",
        "0.2.0.post1",
        "0.2.1rc1",
    )
    for earlier, later in pairwise(order):
        assert is_later(later, earlier), (earlier, later)
        assert not is_later(earlier, later), (earlier, later)
    told = newer_elsewhere([("ant", "0.10"), ("bee", ""), ("cat", "0.1"), ("dog", "0.9")], "0.2")
    assert [(each.hosts, each.version) for each in told] == [(("dog",), "0.9"), (("ant",), "0.10")]


@pytest.mark.skipif(sys.platform == "win32", reason="another process begins there")
def test_it_starts_anew_also_without_the_usual_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _, words: begun.append(words))
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    own_program.start_anew(["agent", "--quiet"])
    assert [each[-2:] for each in begun] == [["agent", "--quiet"]]
