"""What is decided about Windows jobs, with real programs of this system and calls that are noted
down instead of made."""

from __future__ import annotations

import asyncio
import shutil
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.execution import groups_windows as under_test
from agent.execution.groups import Launch
from agent.execution.groups_windows import (
    Factory,
    JobUse,
    WindowsGroup,
    WindowsGroups,
)
from tests.hosts.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the calls are fakes here")

JOB = 7


@dataclass
class FakeJobs:
    """One job. The process that a test starts is in it, and others that the test puts there."""

    calls: list[tuple[object, ...]] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    forking: list[int] = field(default_factory=list)
    use: JobUse = field(default_factory=lambda: JobUse(20, 4096))
    refuses: bool = False
    process: int = 0
    transport: asyncio.SubprocessTransport | None = None

    def new_job(self, memory_bytes: int, *, spare: bool) -> int:
        self.calls.append(("new", memory_bytes, spare))
        return JOB

    def adopt(self, job: int, process: int, *, spare: bool) -> None:
        if self.refuses:
            raise PermissionError(5, "Access is denied")
        self.calls.append(("adopt", job, spare))
        self.process = process

    def processes(self, job: int) -> list[int]:
        assert job == JOB
        running = self.transport is not None and self.transport.get_returncode() is None
        return [*([self.process] if running else []), *self.others]

    def suspend(self, process: int) -> None:
        self.calls.append(("suspend", process))
        if self.forking:
            self.others.append(self.forking.pop())

    def resume(self, process: int) -> None:
        self.calls.append(("resume", process))

    def terminate(self, job: int, code: int) -> None:
        self.calls.append(("terminate", job, code))
        self.others.clear()
        if self.transport is not None and self.transport.get_returncode() is None:
            self.transport.kill()

    def used(self, job: int) -> JobUse:
        assert job == JOB
        return self.use

    def close(self, job: int) -> None:
        self.calls.append(("close", job))

    async def spawn(self, factory: Factory, launch: Launch) -> asyncio.SubprocessTransport:
        self.calls.append(("spawn",))
        found, _ = await asyncio.get_running_loop().subprocess_exec(
            factory, *launch.command, cwd=launch.folder, env=dict(launch.environment)
        )
        self.transport = found
        return found


async def started(
    jobs: FakeJobs,
    folder: Path,
    script: str,
    launch: Launch = Launch((), Path(), {}),  # noqa: B008
) -> WindowsGroup:
    command = ("/bin/sh", "-c", script)
    groups = WindowsGroups(jobs, jobs.spawn)
    return await groups.start(replace(launch, command=command, folder=folder), lambda *_: None)


def limited(memory: int = 0, disk: int = 0, free: int = 0) -> Launch:
    return Launch((), Path(), {}, True, memory, disk, free)


async def test_a_program_is_in_its_job_before_it_runs(tmp_path: Path) -> None:
    jobs = FakeJobs()
    group = await started(jobs, tmp_path, "read word", limited(memory=5_000))
    process = jobs.process
    assert jobs.calls == [
        ("new", 5_000, True),
        ("spawn",),
        ("adopt", JOB, True),
        ("resume", process),
    ]
    group.say(b"CANCEL\n")
    found = await group.ended
    assert (found.code, found.cpu_ms, found.memory_kb, found.excess) == (0, 20, 4, "")
    await group.silent
    group.close()
    assert jobs.calls[-1] == ("close", JOB)


async def test_what_a_program_leaves_is_ended_before_it_counts_as_ended(tmp_path: Path) -> None:
    jobs = FakeJobs(others=[99])
    group = await started(jobs, tmp_path, "exit 3")
    assert (await group.ended).code == 3
    assert ("terminate", JOB, 1) in jobs.calls
    group.close()


async def test_all_processes_are_suspended_once_and_resumed_once(tmp_path: Path) -> None:
    jobs = FakeJobs(others=[99], forking=[101, 100])
    group = await started(jobs, tmp_path, "read word")
    process, begun = jobs.process, len(jobs.calls)
    group.suspend()
    group.suspend()
    assert jobs.calls[begun:] == [("suspend", each) for each in (process, 99, 100, 101)]
    group.resume()
    group.resume()
    assert jobs.calls[begun + 4 :] == [("resume", each) for each in (process, 99, 100, 101)]
    group.kill()
    assert (await group.ended).code != 0
    group.close()


async def test_a_program_that_was_refused_memory_says_so(tmp_path: Path) -> None:
    jobs = FakeJobs(use=JobUse(0, 4_900))
    group = await started(jobs, tmp_path, "exit 1", limited(memory=5_000))
    found = await group.ended
    assert (found.excess, found.excess_bytes) == ("memory", 4_900)
    group.close()


@pytest.mark.parametrize(
    ("launch", "excess"), [(limited(disk=1_000), "disk"), (limited(free=2**60), "full")]
)
async def test_a_program_that_takes_too_much_disk_is_ended(
    tmp_path: Path, launch: Launch, excess: str
) -> None:
    jobs = FakeJobs()
    group = await started(jobs, tmp_path, "head -c 9000 /dev/zero > x; read word", launch)
    found = await group.ended
    assert found.excess == excess
    group.close()


@pytest.mark.parametrize(
    ("ends", "memory", "used", "excess"),
    [
        ("exit 1", 5_000, 4_750, ("memory", 4_750)),
        ("exit 1", 5_000, 4_749, ("", 0)),
        ("exit 0", 5_000, 5_000, ("", 0)),
        ("exit 1", 0, 5_000, ("", 0)),
    ],
)
async def test_one_that_fails_with_nearly_all_its_memory_was_refused_more(
    tmp_path: Path, ends: str, memory: int, used: int, excess: tuple[str, int]
) -> None:
    jobs = FakeJobs(use=JobUse(7, used))
    group = await started(jobs, tmp_path, ends, limited(memory=memory))
    found = await group.ended
    assert (found.excess, found.excess_bytes) == excess
    assert (found.cpu_ms, found.memory_kb) == (7, used // 1024)
    group.close()


@pytest.mark.parametrize(
    ("launch", "free", "used", "excess"),
    [
        (limited(disk=1_000), 10**9, 1_000, ("", 0)),
        (limited(disk=1_000), 10**9, 1_001, ("disk", 1_001)),
        (limited(), 10**9, 10**9, ("", 0)),
        (limited(free=500), 500, 0, ("", 0)),
        (limited(free=500), 499, 0, ("full", 499)),
        (limited(free=500, disk=1_000), 0, 2_000, ("full", 0)),
    ],
)
async def test_how_much_of_the_disk_is_too_much(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    launch: Launch,
    free: int,
    used: int,
    excess: tuple[str, int],
) -> None:
    monkeypatch.setattr(under_test, "LOOK_S", 0.0)
    monkeypatch.setattr(under_test, "folder_bytes", lambda _: used)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))

    jobs = FakeJobs()
    group = await started(jobs, tmp_path, "read word", launch)
    if excess[0]:
        found = await group.ended
        assert (found.excess, found.excess_bytes) == excess
        assert ("terminate", JOB, 1) in jobs.calls
    else:
        assert group._disk_excess() == excess
        group.kill()
        assert (await group.ended).excess == ""
    group.close()


async def test_a_disk_that_cannot_be_asked_is_not_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> object:
        raise OSError("it is not there")

    monkeypatch.setattr(shutil, "disk_usage", refused)

    group = await started(FakeJobs(), tmp_path, "exit 0", limited(free=500))
    assert group._disk_excess() == ("", 0)
    await group.ended
    group.close()


async def test_the_disk_is_looked_at_again_after_a_pause_that_fits_the_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[float] = []
    walks = iter((0.02, 0.3))
    now_s = [100.0]

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        await asyncio.get_running_loop().run_in_executor(None, lambda: None)

    monkeypatch.setattr(under_test, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    calls = SimpleNamespace(**{**vars(asyncio), "sleep": rest})
    monkeypatch.setattr(under_test, "asyncio", calls)
    group = await started(FakeJobs(), tmp_path, "read word", limited(disk=1_000))

    def walk() -> tuple[str, int]:
        took_s = next(walks, None)
        now_s[0] += took_s or 0.0
        return ("", 0) if took_s else ("disk", 1_001)

    monkeypatch.setattr(group, "_disk_excess", walk)
    await group.ended
    group.close()
    assert rests == pytest.approx([1.0, 1.0, 6.0])


async def test_one_whose_job_tells_nothing_ends_all_the_same(tmp_path: Path) -> None:
    class Silent(FakeJobs):
        def processes(self, job: int) -> list[int]:
            raise PermissionError(5, f"Access is denied to {job}")

        def used(self, job: int) -> JobUse:
            raise PermissionError(5, f"Access is denied to {job}")

        def terminate(self, job: int, code: int) -> None:
            super().terminate(job, code)
            raise PermissionError(5, f"Access is denied to {JOB}")

        def suspend(self, process: int) -> None:
            raise PermissionError(5, f"Access is denied to {process}")

    group = await started(Silent(), tmp_path, "read word", limited(memory=1))
    group.suspend()
    group.resume()
    group.kill()
    found = await group.ended
    assert (found.cpu_ms, found.memory_kb, found.excess) == (0, 0, "")
    group.say(b"too late")
    group.close()
    group.close()


async def test_processes_that_end_while_they_are_suspended_or_resumed_are_no_error(
    tmp_path: Path,
) -> None:
    class Ending(FakeJobs):
        def suspend(self, process: int) -> None:
            super().suspend(process)
            if process == 99:
                raise ProcessLookupError(3, "it has ended")

        def resume(self, process: int) -> None:
            super().resume(process)
            if process == 99:
                raise ProcessLookupError(3, "it has ended")

    jobs = Ending(others=[99, 100])
    group = await started(jobs, tmp_path, "read word")
    begun = len(jobs.calls)
    group.suspend()
    group.resume()
    done = [each[0] for each in jobs.calls[begun:]]
    assert done == ["suspend"] * 3 + ["resume"] * 3
    group.kill()
    await group.ended
    group.close()
    assert jobs.calls.count(("close", JOB)) == 1
    group.close()
    assert jobs.calls.count(("close", JOB)) == 1


async def test_a_process_is_made_suspended_without_a_window_and_in_a_group_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, object] = {}

    async def spawn(factory: Factory, *command: str, **more: object) -> tuple[object, None]:
        told.update(more, command=command)
        return object(), None

    monkeypatch.setattr(asyncio.get_running_loop(), "subprocess_exec", spawn)
    launch = Launch(("a.exe", "b"), tmp_path, {"A": "1"})
    await under_test._spawn_suspended(asyncio.SubprocessProtocol, launch)
    assert told == {
        "command": ("a.exe", "b"),
        "cwd": tmp_path,
        "env": {"A": "1"},
        "creationflags": 0x4 | 0x200 | 0x0800_0000,
    }


async def test_a_program_that_cannot_be_put_into_a_job_does_not_run(tmp_path: Path) -> None:
    jobs = FakeJobs(refuses=True)
    with pytest.raises(PermissionError):
        await started(jobs, tmp_path, "read word")
    assert jobs.calls[-1] == ("close", JOB)
    transport = jobs.transport
    assert transport is not None
    await eventually(lambda: transport.get_returncode() is not None)


async def test_a_program_that_is_not_there_leaves_no_job(tmp_path: Path) -> None:
    jobs = FakeJobs()
    groups = WindowsGroups(jobs, jobs.spawn)
    with pytest.raises(FileNotFoundError):
        await groups.start(Launch(("/nowhere",), tmp_path, {}), lambda *_: None)
    assert jobs.calls[-1] == ("close", JOB)
