"""What is prepared, what a run is started with and what becomes of it, with groups that only note it down."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from agent.execution import children as under_test
from agent.execution.children import Children, NoGroups
from agent.execution.groups import Exit, Hear, Launch
from agent.execution.limits import Limits, NodeLimits
from agent.execution.programs import ProgramError, Programs
from agent.protocol.effects import StartChild
from agent.protocol.events import ChildFailed, ChildNotStarted, ChildStarted, ChildStopped, Event
from agent.protocol.records import Requirements, TaskSpec
from tests.driver.worlds import RUN
from tests.execution.installed import install, reader
from tests.execution.places import NotedProcess, in_words
from tests.hosts.waiting import eventually

Failure = type[ChildFailed] | type[ChildNotStarted]

MB = 1_000_000
FREE = 512 * MB
LIMITS = Limits(memory_mb=100, disk_mb=200, wall_s=300)


class Noted(NoGroups):
    """Groups of which a test says how each program begins, what it prints and how it ends."""

    def __init__(
        self,
        begins: Exception | None = None,
        ends: Exit | Exception | None = None,
        prints: tuple[int, bytes] = (1, b""),
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        self._begins, self._ends, self._prints = begins, ends, prints
        self.meanwhile = meanwhile
        self.launches: list[Launch] = []
        self.done: list[str] = []

    def available(self) -> str:
        return ""

    async def start(self, launch: Launch, hear: Hear) -> Ending:
        hear(*self._prints)
        self.meanwhile()
        self.launches.append(launch)
        if self._begins is not None:
            raise self._begins
        return Ending(self._ends, self.done)


class Ending(NotedProcess):
    """A process that ends as it was told, or when it is killed."""

    def __init__(self, ends: Exit | Exception | None, done: list[str]) -> None:
        super().__init__()
        self.done = done
        self.silent.set_result(None)
        if isinstance(ends, Exit):
            self.ended.set_result(ends)
        elif ends is not None:
            self.ended.set_exception(ends)

    def kill(self) -> None:
        super().kill()
        if not self.ended.done():
            self.ended.set_result(Exit(-9))


class Here:
    """Children of these groups, and what they told."""

    def __init__(
        self, folder: Path, *, spare: bool = True, limits: Limits = LIMITS, **groups: Any
    ) -> None:
        for name in ("scratch", "logs"):
            (folder / name).mkdir()
        install(folder / "programs")
        programs = Programs(folder / "programs", reader())
        programs.look()
        self.told: list[Event] = []
        self.groups = Noted(**groups)
        self.children = Children(
            programs,
            folder / "scratch",
            folder / "logs",
            self.told.append,
            self.groups,
            spare=spare,
            limits=NodeLimits(limits),
        )

    def start(self, *, interactive: bool = False, disk_mb: int = 0, parameters: str = "x") -> None:
        asked = Requirements(disk_mb=disk_mb)
        spec = TaskSpec("t/1", "t", "tell", parameters=parameters, requirements=asked)
        self.children.start(StartChild("t/1", RUN, spec, (), interactive=interactive))

    async def end(self, **started: Any) -> Event:
        """Start it, and wait for its end."""
        self.start(**started)
        await eventually(lambda: not self.children.running())
        return self.told[-1]

    async def launched(self, **started: Any) -> Launch:
        """Start it, wait for its end, and return how it was launched."""
        await self.end(**started)
        [launch] = self.groups.launches
        return launch


@pytest.fixture
async def here(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Here]:
    free_on(monkeypatch, FREE + 1_000 * MB)
    here = Here(tmp_path, **getattr(request, "param", {"ends": Exit(0)}))
    yield here
    await here.children.close()
    assert list((tmp_path / "scratch").iterdir()) == []


def free_on(monkeypatch: pytest.MonkeyPatch, size_bytes: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=size_bytes))


def of(**told: object) -> pytest.MarkDecorator:
    """Mark a test of which ``Here`` is told this."""
    return pytest.mark.parametrize("here", [told], indirect=True)


@pytest.mark.parametrize(
    ("here", "interactive", "to_spare"),
    [
        ({"spare": True, "ends": Exit(0)}, False, True),
        ({"spare": True, "ends": Exit(0)}, True, False),
        ({"spare": False, "ends": Exit(0)}, False, False),
    ],
    indirect=["here"],
)
async def test_a_program_gets_what_others_leave_unless_somebody_waits_for_it(
    here: Here, interactive: bool, to_spare: bool
) -> None:
    assert (await here.launched(interactive=interactive)).spare is to_spare


@pytest.mark.parametrize(
    ("here", "memory", "disk"),
    [
        ({"limits": LIMITS, "ends": Exit(0)}, 100 * MB, 200 * MB),
        ({"limits": Limits(), "ends": Exit(0)}, 0, 800 * MB),
    ],
    indirect=["here"],
    ids=["as it was set", "four fifths of what is free"],
)
async def test_a_program_is_launched_with_its_limits_in_a_folder_of_its_own(
    here: Here, tmp_path: Path, memory: int, disk: int
) -> None:
    launch = await here.launched()
    assert (launch.memory_bytes, launch.disk_bytes) == (memory, disk)
    assert (launch.free_bytes_min, launch.folder.parents[1]) == (FREE, tmp_path / "scratch")
    assert launch.command == (str(tmp_path / "programs" / "tell" / "tell.sh"), "-x", "x")
    assert launch.environment["WINGBEAT_TASK"] == "t/1"
    assert launch.environment["PATH"] == os.environ["PATH"]


async def test_a_program_is_started_where_there_is_room_for_it(here: Here) -> None:
    await here.launched(disk_mb=1_000)
    lacks = "the disk has 1,512 MB free, it needs 1,513 MB"
    ended = await here.end(disk_mb=1_001)
    assert in_words(ended) == (ChildNotStarted, f"could not be started: {lacks}")
    assert len(here.groups.launches) == 1


@of(ends=Exit(0), limits=Limits())
@pytest.mark.parametrize(("more", "share_mb"), [(10, 1), (2 * MB + 1, 1), (10 * MB, 8)])
async def test_even_on_a_small_disk_a_program_may_write_something(
    here: Here, monkeypatch: pytest.MonkeyPatch, more: int, share_mb: int
) -> None:
    free_on(monkeypatch, FREE + more)
    assert (await here.launched()).disk_bytes == share_mb * MB


@pytest.mark.parametrize(
    ("here", "event", "text"),
    [
        *(
            (
                {"begins": OSError(number, "no room")},
                ChildNotStarted,
                f"[Errno {number}] no room",
            )
            for number in (
                *(errno.ENOSPC, errno.EDQUOT, errno.ENOMEM),
                *(errno.EAGAIN, errno.EMFILE, errno.ENFILE),
            )
        ),
        (
            {"begins": OSError(errno.ENOENT, "gone")},
            ChildFailed,
            f"[Errno {errno.ENOENT}] gone",
        ),
        ({"begins": ProgramError("it is broken")}, ChildFailed, "it is broken"),
        ({"begins": ValueError("embedded null byte")}, ChildFailed, "embedded null byte"),
    ],
    indirect=["here"],
)
async def test_what_this_machine_lacks_is_no_fault_of_the_program(
    here: Here, event: Failure, text: str
) -> None:
    ended = await here.end()
    assert in_words(ended) == (event, f"could not be started: {text}")
    assert here.told == [ended], "it was never there"


@pytest.mark.parametrize(
    ("here", "text", "logged"),
    [
        ({"ends": OSError(errno.EIO, "broken")}, f"[Errno {errno.EIO}] broken", False),
        ({"ends": KeyError("x")}, "KeyError('x')", True),
    ],
    indirect=["here"],
)
async def test_one_that_cannot_be_followed_fails(
    here: Here, caplog: pytest.LogCaptureFixture, text: str, logged: bool
) -> None:
    failed = await here.end()
    assert in_words(failed) == (ChildFailed, f"could not be followed: {text}")
    assert here.told == [ChildStarted("t/1", RUN), failed]
    assert any(each.exc_info for each in caplog.records) is logged


@of(begins=OSError(errno.ENOENT, "gone"))
async def test_whatever_becomes_of_one_that_was_to_stop_it_counts_as_stopped(here: Here) -> None:
    here.start()
    here.children.stop("t/1", RUN, "not wanted")
    await eventually(lambda: here.told == [ChildStopped("t/1", RUN)])


@of()
async def test_what_is_asked_reaches_the_one_that_runs_and_no_other(here: Here) -> None:
    here.start()
    assert here.children.running() == 1
    await eventually(lambda: here.told == [ChildStarted("t/1", RUN)])
    for task in ("u", "t/1"):
        assert here.groups.done == []
        here.children.suspend(task, RUN)
        here.children.resume(task, RUN)
    assert here.groups.done == ["suspend", "resume"]
    await here.children.close()
    assert here.groups.done == ["suspend", "resume", "kill", "close"]
    assert here.told[-1] == ChildStopped("t/1", RUN)
    assert here.children.running() == 0


@of()
@pytest.mark.parametrize(("resumed", "done"), [(False, ["suspend"]), (True, [])])
async def test_one_suspended_before_it_was_there_does_not_run_unless_it_was_resumed(
    here: Here, resumed: bool, done: list[str]
) -> None:
    here.start()
    here.children.suspend("t/1", RUN)
    if resumed:
        here.children.resume("t/1", RUN)
    await eventually(lambda: ChildStarted("t/1", RUN) in here.told)
    assert here.groups.done == done


@of(ends=Exit(0), prints=(1, b"PROGRESS 50\n"))
async def test_a_quick_program_is_started_before_anything_else_of_it_is_told(here: Here) -> None:
    await here.end()
    kinds = [type(each).__name__ for each in here.told]
    assert kinds == ["ChildStarted", "ChildProgressed", "ChildSucceeded"]


@of(ends=Exit(3), prints=(2, b"it was 2\nit is 3\n"))
@pytest.mark.parametrize(
    ("free", "event", "text"),
    [
        (FREE, ChildFailed, "tell exited with code 3: it is 3"),
        (
            FREE - 1,
            ChildNotStarted,
            "tell exited with code 3, while the disk has only 512 MB left",
        ),
    ],
)
async def test_one_that_fails_on_a_full_disk_has_probably_met_that(
    here: Here, monkeypatch: pytest.MonkeyPatch, free: int, event: Failure, text: str
) -> None:
    here.groups.meanwhile = partial(free_on, monkeypatch, free)
    assert in_words(await here.end()) == (event, text)


@of(ends=Exit(-9, "memory", 150 * MB), prints=(2, b"all is well\n"))
async def test_one_that_took_too_much_is_not_quoted(here: Here, tmp_path: Path) -> None:
    text = "tell took 150 MB of memory, its limit is 100 MB"
    assert in_words(await here.end()) == (ChildFailed, text)
    assert (tmp_path / "logs" / "task-t%2F1" / "1.1.log").read_text() == "all is well\n"


@pytest.mark.parametrize(
    ("here", "used"),
    [
        (
            {"ends": Exit(0, cpu_ms=1_250, memory_kb=3_000)},
            "; took 1.2 s of the processor and 3 MB of memory",
        ),
        (
            {"ends": Exit(0, cpu_ms=40)},
            "; took 0.0 s of the processor and 0 kB of memory",
        ),
        (
            {"ends": Exit(0, memory_kb=1_000)},
            "; took 0.0 s of the processor and 1 MB of memory",
        ),
        ({"ends": Exit(0)}, ""),
    ],
    indirect=["here"],
)
async def test_what_it_has_used_is_in_the_log(
    here: Here, caplog: pytest.LogCaptureFixture, used: str
) -> None:
    caplog.set_level("INFO")
    await here.end()
    assert f"t: succeeded{used}" in caplog.messages


async def test_what_a_killed_agent_has_left_is_cleared(here: Here, tmp_path: Path) -> None:
    left = tmp_path / "scratch" / "run-7" / "inputs"
    left.mkdir(parents=True)
    (left / "x").touch()
    here.children.clear_scratch()
    assert list((tmp_path / "scratch").iterdir()) == []
    assert here.children.names() == ("tell",)


async def test_nothing_is_prepared_at_once_and_not_at_all_by_one_that_closes(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared, loop = Mock(), asyncio.get_running_loop()
    real = loop.call_later
    monkeypatch.setattr(here.groups, "prepare", prepared)
    later = Mock(wraps=lambda _, *told: real(0.0, *told))
    monkeypatch.setattr(loop, "call_later", later)
    here.children.prepare()
    await here.children.close()
    monkeypatch.setattr(loop, "call_later", real)
    for _ in range(2):
        await asyncio.sleep(0)
    assert [each.args[0] for each in later.call_args_list] == [under_test.PREPARE_AFTER_S]
    prepared.assert_not_called()
    assert under_test.PREPARE_AFTER_S == 1.0


@pytest.mark.parametrize(
    ("why_not", "error", "times"),
    [
        ("", None, 1),
        ("Programs cannot be run here.", None, 0),
        ("", OSError("no more processes"), 1),
    ],
    ids=["once", "not where programs cannot be run", "not again when it failed"],
)
async def test_it_is_done_once_however_often_the_machine_begins_to_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why_not: str, error: OSError | None, times: int
) -> None:
    """What cannot be prepared is tried again by the first program."""
    monkeypatch.setattr(under_test, "PREPARE_AFTER_S", 0.0)
    groups, prepared = NoGroups(), Mock(side_effect=error)
    monkeypatch.setattr(groups, "available", lambda: why_not)
    monkeypatch.setattr(groups, "prepare", prepared)
    children = Children(Programs(tmp_path, reader()), tmp_path, tmp_path, lambda _: None, groups)
    for _ in range(2):
        children.prepare()
    later = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.0, later.set_result, None)
    await eventually(later.done)
    await children.close()
    assert prepared.call_count == times
