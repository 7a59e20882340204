"""What a run is started with and what becomes of it, with groups that only note it down."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.execution import children as under_test
from agent.execution.children import Children
from agent.execution.groups import Exit, Hear, Launch
from agent.execution.groups_native import NoGroups
from agent.execution.limits import Limits
from agent.execution.programs import ProgramError, Programs
from agent.protocol.effects import StartChild
from agent.protocol.events import ChildFailed, ChildNotStarted, ChildStarted, ChildStopped, Event
from agent.protocol.records import Requirements, TaskSpec
from tests.driver.worlds import RUN
from tests.execution.installed import install, reader
from tests.hosts.waiting import eventually

Failure = type[ChildFailed] | type[ChildNotStarted]

MB = 1_000_000
FREE = 512 * MB
LIMITS = Limits(memory_mb=100, disk_mb=200, wall_s=300)


class Noted(NoGroups):
    """Groups of which a test says how each program begins and ends."""

    def __init__(
        self, begins: Exception | None = None, ends: Exit | Exception | None = None
    ) -> None:
        self._begins, self._ends = begins, ends
        self.launches: list[Launch] = []
        self.done: list[str] = []
        self.hear: Hear = lambda *_: None

    def available(self) -> str:
        return ""

    async def start(self, launch: Launch, hear: Hear) -> Ending:
        self.launches.append(launch)
        self.hear = hear
        if self._begins is not None:
            raise self._begins
        return Ending(self._ends, self.done)


class Ending:
    """A process that ends as it was told, or when it is killed."""

    def __init__(self, ends: Exit | Exception | None, done: list[str]) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[Exit] = loop.create_future()
        self.silent: asyncio.Future[None] = loop.create_future()
        self.silent.set_result(None)
        self._done = done
        if isinstance(ends, Exit):
            self.ended.set_result(ends)
        elif ends is not None:
            self.ended.set_exception(ends)

    def say(self, line: bytes) -> None:
        self._done.append(line.decode().strip())

    def suspend(self) -> None:
        self._done.append("suspend")

    def resume(self) -> None:
        self._done.append("resume")

    def kill(self) -> None:
        self._done.append("kill")
        if not self.ended.done():
            self.ended.set_result(Exit(-9))

    def close(self) -> None:
        self._done.append("close")


class Here:
    """Children of these groups, and what they told."""

    def __init__(self, folder: Path, groups: Noted, *, spare: bool, limits: Limits) -> None:
        for name in ("scratch", "logs"):
            (folder / name).mkdir()
        install(folder / "programs")
        programs = Programs(folder / "programs", reader())
        programs.look()
        self.told: list[Event] = []
        self.children = Children(
            programs,
            folder / "scratch",
            folder / "logs",
            self.told.append,
            groups,
            spare=spare,
            limits=limits,
        )

    def start(self, *, interactive: bool = False, disk_mb: int = 0, parameters: str = "x") -> None:
        asked = Requirements(disk_mb=disk_mb)
        spec = TaskSpec("t/1", "t", "tell", parameters=parameters, requirements=asked)
        self.children.start(StartChild("t/1", RUN, spec, (), interactive=interactive))

    async def end(self) -> Event:
        await eventually(lambda: not self.children.running())
        return self.told[-1]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Awaitable[None]]:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=FREE + 1_000 * MB))

    async def run(
        story: Callable[[Here, Noted], Awaitable[None]],
        groups: Noted,
        *,
        spare: bool = True,
        limits: Limits = LIMITS,
    ) -> None:
        here = Here(tmp_path, groups, spare=spare, limits=limits)
        await story(here, groups)
        await here.children.close()
        assert list((tmp_path / "scratch").iterdir()) == []

    return run


Run = Callable[..., Awaitable[None]]


@pytest.mark.parametrize(
    ("spare", "interactive", "to_spare"),
    [(True, False, True), (True, True, False), (False, False, False)],
)
async def test_a_program_gets_what_others_leave_unless_somebody_waits_for_it(
    run: Run, spare: bool, interactive: bool, to_spare: bool
) -> None:
    async def story(here: Here, groups: Noted) -> None:
        here.start(interactive=interactive)
        await here.end()
        [launch] = groups.launches
        assert launch.spare is to_spare

    await run(story, Noted(ends=Exit(0)), spare=spare)


@pytest.mark.parametrize(
    ("limits", "memory", "disk"),
    [
        (LIMITS, 100 * MB, 200 * MB),
        (Limits(), 0, 800 * MB),
    ],
    ids=["as it was set", "four fifths of what is free"],
)
async def test_a_program_is_launched_with_its_limits_in_a_folder_of_its_own(
    run: Run, tmp_path: Path, limits: Limits, memory: int, disk: int
) -> None:
    async def story(here: Here, groups: Noted) -> None:
        here.start()
        await here.end()
        [launch] = groups.launches
        assert (launch.memory_bytes, launch.disk_bytes) == (memory, disk)
        assert launch.free_bytes_min == FREE
        assert launch.folder.parent == tmp_path / "scratch"
        assert launch.command == (str(tmp_path / "programs" / "tell" / "tell.sh"), "-x", "x")
        assert launch.environment["WINGBEAT_TASK"] == "t/1"
        assert launch.environment["PATH"] == os.environ["PATH"]

    await run(story, Noted(ends=Exit(0)), limits=limits)


@pytest.mark.parametrize(("disk_mb", "started"), [(1_000, True), (1_001, False)])
async def test_a_program_is_started_where_there_is_room_for_it(
    run: Run, disk_mb: int, started: bool
) -> None:
    async def story(here: Here, groups: Noted) -> None:
        here.start(disk_mb=disk_mb)
        ended = await here.end()
        assert len(groups.launches) == started
        if not started:
            assert isinstance(ended, ChildNotStarted)
            said = "the disk has 1,512 MB free, it needs 1,513 MB"
            assert ended.reason == f"could not be started: [Errno {errno.ENOSPC}] {said}"

    await run(story, Noted(ends=Exit(0)))


@pytest.mark.parametrize(("more", "share_mb"), [(10, 1), (2 * MB + 1, 1), (10 * MB, 8)])
async def test_even_on_a_small_disk_a_program_may_write_something(
    run: Run, monkeypatch: pytest.MonkeyPatch, more: int, share_mb: int
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=FREE + more))

    async def story(here: Here, groups: Noted) -> None:
        here.start()
        await here.end()
        assert groups.launches[0].disk_bytes == share_mb * MB

    await run(story, Noted(ends=Exit(0)), limits=Limits())


@pytest.mark.parametrize(
    ("error", "event", "text"),
    [
        *(
            (OSError(number, "no room"), ChildNotStarted, f"[Errno {number}] no room")
            for number in (
                *(errno.ENOSPC, errno.EDQUOT, errno.ENOMEM),
                *(errno.EAGAIN, errno.EMFILE, errno.ENFILE),
            )
        ),
        (OSError(errno.ENOENT, "gone"), ChildFailed, f"[Errno {errno.ENOENT}] gone"),
        (ProgramError("it is broken"), ChildFailed, "it is broken"),
        (ValueError("embedded null byte"), ChildFailed, "embedded null byte"),
    ],
)
async def test_what_this_machine_lacks_is_no_fault_of_the_program(
    run: Run, error: Exception, event: Failure, text: str
) -> None:
    async def story(here: Here, groups: Noted) -> None:
        here.start()
        ended = await here.end()
        assert ended == event("t/1", RUN, f"could not be started: {text}")
        assert here.told == [ended], "it was never there"

    await run(story, Noted(begins=error))


@pytest.mark.parametrize(
    ("error", "text", "logged"),
    [
        (OSError(errno.EIO, "broken"), f"could not be followed: [Errno {errno.EIO}] broken", False),
        (KeyError("x"), "could not be followed: KeyError('x')", True),
    ],
)
async def test_one_that_cannot_be_followed_fails(
    run: Run, caplog: pytest.LogCaptureFixture, error: Exception, text: str, logged: bool
) -> None:
    async def story(here: Here, groups: Noted) -> None:
        here.start()
        assert await here.end() == ChildFailed("t/1", RUN, text)
        assert here.told[0] == ChildStarted("t/1", RUN)

    await run(story, Noted(ends=error))
    assert any(each.exc_info for each in caplog.records) is logged


async def test_whatever_becomes_of_one_that_was_to_stop_it_counts_as_stopped(run: Run) -> None:
    async def story(here: Here, groups: Noted) -> None:
        here.start()
        here.children.stop("t/1", RUN, "not wanted")
        assert await here.end() == ChildStopped("t/1", RUN)

    await run(story, Noted(begins=OSError(errno.ENOENT, "gone")))


async def test_what_is_asked_reaches_the_one_that_runs_and_no_other(run: Run) -> None:
    async def story(here: Here, groups: Noted) -> None:
        here.start()
        assert here.children.running() == 1
        await eventually(lambda: here.told == [ChildStarted("t/1", RUN)])
        for ask in (here.children.suspend, here.children.resume):
            ask("u", RUN)
        assert groups.done == []
        here.children.suspend("t/1", RUN)
        here.children.resume("t/1", RUN)
        assert groups.done == ["suspend", "resume"]
        await here.children.close()
        assert groups.done == ["suspend", "resume", "kill", "close"]
        assert here.told[-1] == ChildStopped("t/1", RUN)
        assert here.children.running() == 0

    await run(story, Noted())


@pytest.mark.parametrize(("resumed", "done"), [(False, ["suspend"]), (True, [])])
async def test_one_suspended_before_it_was_there_does_not_run_unless_it_was_resumed(
    run: Run, resumed: bool, done: list[str]
) -> None:
    async def story(here: Here, groups: Noted) -> None:
        here.start()
        here.children.suspend("t/1", RUN)
        if resumed:
            here.children.resume("t/1", RUN)
        await eventually(lambda: ChildStarted("t/1", RUN) in here.told)
        assert groups.done == done

    await run(story, Noted())


async def test_a_quick_program_is_started_before_anything_else_of_it_is_told(run: Run) -> None:
    class Quick(Noted):
        async def start(self, launch: Launch, hear: Hear) -> Ending:
            hear(1, b"PROGRESS 50\n")
            return await super().start(launch, hear)

    async def story(here: Here, groups: Noted) -> None:
        here.start()
        await here.end()
        kinds = [type(each).__name__ for each in here.told]
        assert kinds == ["ChildStarted", "ChildProgressed", "ChildSucceeded"]

    await run(story, Quick(ends=Exit(0)))


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
    run: Run, monkeypatch: pytest.MonkeyPatch, free: int, event: Failure, text: str
) -> None:
    class Filling(Noted):
        async def start(self, launch: Launch, hear: Hear) -> Ending:
            hear(2, b"it was 2\nit is 3\n")
            monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
            return await super().start(launch, hear)

    async def story(here: Here, groups: Noted) -> None:
        here.start()
        assert await here.end() == event("t/1", RUN, text)

    await run(story, Filling(ends=Exit(3)))


async def test_one_that_took_too_much_is_not_quoted(run: Run, tmp_path: Path) -> None:
    class Eating(Noted):
        async def start(self, launch: Launch, hear: Hear) -> Ending:
            hear(2, b"all is well\n")
            return await super().start(launch, hear)

    async def story(here: Here, groups: Noted) -> None:
        here.start()
        text = "tell took 150 MB of memory, its limit is 100 MB"
        assert await here.end() == ChildFailed("t/1", RUN, text)
        log = tmp_path / "logs" / "task-t%2F1" / "1.1.log"
        assert log.read_text() == "all is well\n"

    await run(story, Eating(ends=Exit(-9, "memory", 150 * MB)))


@pytest.mark.parametrize(
    ("found", "used"),
    [
        (
            Exit(0, cpu_ms=1_250, memory_kb=3_000),
            "; took 1.2 s of the processor and 3 MB of memory",
        ),
        (Exit(0, cpu_ms=40), "; took 0.0 s of the processor and 0 kB of memory"),
        (Exit(0, memory_kb=1_000), "; took 0.0 s of the processor and 1 MB of memory"),
        (Exit(0), ""),
    ],
)
async def test_what_it_has_used_is_in_the_log(
    run: Run, caplog: pytest.LogCaptureFixture, found: Exit, used: str
) -> None:
    caplog.set_level("INFO")

    async def story(here: Here, groups: Noted) -> None:
        here.start()
        await here.end()

    await run(story, Noted(ends=found))
    assert f"t: succeeded{used}" in caplog.messages


def test_what_a_killed_agent_has_left_is_cleared(tmp_path: Path) -> None:
    here = Here(tmp_path, Noted(), spare=True, limits=Limits())
    left = tmp_path / "scratch" / "run-7" / "inputs"
    left.mkdir(parents=True)
    (left / "x").touch()
    here.children.clear_scratch()
    assert list((tmp_path / "scratch").iterdir()) == []
    assert here.children.names() == ("tell",)


async def test_nothing_is_prepared_at_once_and_not_at_all_by_one_that_closes(
    tmp_path: Path,
) -> None:
    prepared: list[float] = []
    delays: list[float] = []

    class Counting(Noted):
        def prepare(self) -> None:
            prepared.append(0.0)

    here = Here(tmp_path, Counting(), spare=True, limits=Limits())
    loop = asyncio.get_running_loop()
    later = loop.call_later

    def call_later(delay_s: float, *told: object) -> asyncio.TimerHandle:
        delays.append(delay_s)
        return later(0.0, *told)  # type: ignore[arg-type]

    loop.call_later = call_later  # type: ignore[method-assign,assignment]
    here.children.prepare()
    assert prepared == []
    await here.children.close()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (delays, prepared) == ([under_test.PREPARE_AFTER_S], [])
    assert delays == [1.0]
