"""What is decided about Windows jobs, with real programs of this system and calls that are noted
down instead of made."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from agent.execution import groups_windows as under_test
from agent.execution.confinement.boundary import Boundary, Means
from agent.execution.groups import Exit, Launch
from agent.execution.groups_windows import (
    Factory,
    WindowsGroup,
    WindowsGroups,
)
from agent.execution.groups_windows_api import JobApi, JobUse
from tests.hosts.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the calls are fakes here")

JOB = 7
NOTHING = Launch((), Path(), {})


@dataclass
class FakeJobs(JobApi):
    """One job. The process that a test starts is in it, and others that the test puts there."""

    folder: Path
    calls: list[tuple[object, ...]] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    forking: list[int] = field(default_factory=list)
    use: JobUse = field(default_factory=lambda: JobUse(20, 4096))
    faults: dict[object, OSError] = field(default_factory=dict)
    """What Windows says to a call, by its name or with all that it is told."""
    process: int = 0
    transport: asyncio.SubprocessTransport | None = None

    def _called(self, *call: object) -> None:
        self.calls.append(call)
        for each in (call[0], call):
            if each in self.faults:
                raise self.faults[each]

    def new_job(
        self, memory_bytes: int, *, spare: bool, processes: int = 0, alone: bool = False
    ) -> int:
        more = (processes, alone) if processes or alone else ()
        self._called("new", memory_bytes, spare, *more)
        return JOB

    def adopt(self, job: int, process: int, *, spare: bool) -> None:
        self._called("adopt", job, spare)
        self.process = process

    def processes(self, job: int) -> list[int]:
        if "processes" in self.faults:
            raise self.faults["processes"]
        assert job == JOB
        return [*([self.process] if self._runs() else []), *self.others]

    def _runs(self) -> bool:
        return self.transport is not None and self.transport.get_returncode() is None

    def suspend(self, process: int) -> None:
        self._called("suspend", process)
        if self.forking:
            self.others.append(self.forking.pop())

    def resume(self, process: int) -> None:
        self._called("resume", process)

    def terminate(self, job: int, code: int) -> None:
        self.others.clear()
        if self.transport is not None and self._runs():
            self.transport.kill()
        self._called("terminate", job, code)

    def used(self, job: int) -> JobUse:
        if "used" in self.faults:
            raise self.faults["used"]
        assert job == JOB
        return self.use

    def close(self, job: int) -> None:
        self._called("close", job)

    async def spawn(self, factory: Factory, launch: Launch) -> asyncio.SubprocessTransport:
        self._called("spawn")
        self.transport, _ = await asyncio.get_running_loop().subprocess_exec(
            factory, *launch.command, cwd=launch.folder, env=dict(launch.environment)
        )
        return self.transport

    async def start(self, script: str, launch: Launch = NOTHING) -> WindowsGroup:
        """The group of a program in the shell."""
        command = ("/bin/sh", "-c", script)
        wanted = replace(launch, command=launch.command or command, folder=self.folder)
        return await WindowsGroups(self, self.spawn).start(wanted, lambda *_: None)

    async def end(self, script: str, launch: Launch) -> Exit:
        """What became of a program that was started so."""
        group = await self.start(script, launch)
        found = await group.ended
        group.close()
        return found


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[FakeJobs]:
    """None is left open."""
    jobs = FakeJobs(tmp_path)
    yield jobs
    assert jobs.calls[-1] == ("close", JOB)


def limited(memory: int = 0, disk: int = 0, free: int = 0) -> Launch:
    return Launch((), Path(), {}, True, memory, disk, free)


async def test_a_program_is_in_its_job_before_it_runs(jobs: FakeJobs) -> None:
    group = await jobs.start("read word", limited(memory=5_000))
    resumed = ("resume", jobs.process)
    assert jobs.calls == [("new", 5_000, True), ("spawn",), ("adopt", JOB, True), resumed]
    group.say(b"CANCEL\n")
    assert await group.ended == Exit(0, cpu_ms=20, memory_kb=4)
    await group.silent
    group.close()


async def test_a_confined_program_is_begun_by_one_that_knows_its_boundary(
    jobs: FakeJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job counts that one, too, and has no part in the desktop."""
    told = []

    def enclosing(place: Path, command: tuple[str, ...]) -> tuple[str, ...]:
        told.append((json.loads(place.read_text()), command))
        return ("/bin/sh", "-c", "exit 7")

    monkeypatch.setattr(under_test, "enclosing_command", enclosing)
    home = jobs.folder / "run"
    home.mkdir()
    means = Means(container=True)
    reads = (str(home / "given"), "/opt/python")
    boundary = Boundary(means, reads, str(home), (str(home / "work"),), network=True)
    launch = replace(NOTHING, boundary=boundary, processes=9, command=("python", "-x", "y z"))
    assert (await jobs.end("", launch)).code == 7
    assert jobs.calls[0] == ("new", 0, True, 10, True)
    (found,) = told
    assert found[1] == ("python", "-x", "y z")
    assert found[0] == {
        "home": str(home),
        "reads": list(reads),
        "writes": [str(home / "work")],
        "network": True,
    }


async def test_what_a_program_leaves_is_ended_before_it_counts_as_ended(jobs: FakeJobs) -> None:
    jobs.others = [99]
    assert (await jobs.end("exit 3", NOTHING)).code == 3
    assert ("terminate", JOB, 1) in jobs.calls


async def test_all_processes_are_suspended_once_and_resumed_once(jobs: FakeJobs) -> None:
    jobs.others, jobs.forking = [99], [101, 100]
    group = await jobs.start("read word")
    jobs.calls.clear()
    for ask in (group.suspend, group.suspend, group.resume, group.resume):
        ask()
    processes = (jobs.process, 99, 100, 101)
    asked = [(name, each) for name in ("suspend", "resume") for each in processes]
    assert jobs.calls == asked
    group.kill()
    assert (await group.ended).code != 0
    group.close()


@pytest.mark.parametrize(
    ("launch", "excess"), [(limited(disk=1_000), "disk"), (limited(free=2**60), "full")]
)
async def test_a_program_that_takes_too_much_disk_is_ended(
    jobs: FakeJobs, launch: Launch, excess: str
) -> None:
    assert (await jobs.end("head -c 9000 /dev/zero > x; read word", launch)).excess == excess


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
    jobs: FakeJobs, ends: str, memory: int, used: int, excess: tuple[str, int]
) -> None:
    jobs.use = JobUse(7, used)
    found = await jobs.end(ends, limited(memory=memory))
    assert found == Exit(int(ends[-1]), *excess, cpu_ms=7, memory_kb=used // 1024)


@pytest.mark.parametrize(
    ("launch", "free", "used", "excess"),
    [
        (limited(disk=1_000), 10**9, 1_000, ("", 0)),
        (limited(disk=1_000), 10**9, 1_001, ("disk", 1_001)),
        (limited(), 10**9, 10**9, ("", 0)),
        (limited(free=500), 500, 0, ("", 0)),
        (limited(free=500), 499, 0, ("full", 499)),
        (limited(free=500, disk=1_000), 0, 2_000, ("full", 0)),
        (limited(free=500), None, 0, ("", 0)),
    ],
)
async def test_how_much_of_the_disk_is_too_much(
    jobs: FakeJobs,
    monkeypatch: pytest.MonkeyPatch,
    launch: Launch,
    free: int | None,
    used: int,
    excess: tuple[str, int],
) -> None:
    """A disk that cannot be asked is not full."""
    usage = Mock(return_value=SimpleNamespace(free=free))
    usage.side_effect = OSError("it is not there") if free is None else None
    monkeypatch.setattr(under_test, "LOOK_S", 0.0)
    monkeypatch.setattr(under_test, "folder_bytes", lambda _: used)
    monkeypatch.setattr(shutil, "disk_usage", usage)
    group = await jobs.start("read word", launch)
    if not excess[0]:
        assert group._disk_excess() == excess
        group.kill()
    found = await group.ended
    assert (found.excess, found.excess_bytes) == excess
    assert ("terminate", JOB, 1) in jobs.calls
    group.close()


async def test_the_disk_is_looked_at_again_after_a_pause_that_fits_the_walk(
    jobs: FakeJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[float] = []
    walks = iter((0.02, 0.3))
    now_s = [100.0]

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        await asyncio.get_running_loop().run_in_executor(None, lambda: None)

    def walk() -> tuple[str, int]:
        took_s = next(walks, None)
        now_s[0] += took_s or 0.0
        return ("", 0) if took_s else ("disk", 1_001)

    monkeypatch.setattr(under_test, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    calls = SimpleNamespace(**{**vars(asyncio), "sleep": rest})
    monkeypatch.setattr(under_test, "asyncio", calls)
    group = await jobs.start("read word", limited(disk=1_000))
    monkeypatch.setattr(group, "_disk_excess", walk)
    await group.ended
    group.close()
    assert rests == pytest.approx([1.0, 1.0, 6.0])


async def test_one_whose_job_tells_nothing_ends_all_the_same(jobs: FakeJobs) -> None:
    silent = ("processes", "used", "terminate", "suspend")
    jobs.faults = dict.fromkeys(silent, PermissionError(5, "Access is denied"))
    group = await jobs.start("read word", limited(memory=1))
    for ask in (group.suspend, group.resume, group.kill):
        ask()
    found = await group.ended
    assert (found.cpu_ms, found.memory_kb, found.excess) == (0, 0, "")
    group.say(b"too late")
    for _ in range(2):
        group.close()
    assert jobs.calls.count(("close", JOB)) == 1


async def test_processes_that_end_while_they_are_suspended_or_resumed_are_no_error(
    jobs: FakeJobs,
) -> None:
    ended = ProcessLookupError(3, "it has ended")
    jobs.faults, jobs.others = {("suspend", 99): ended, ("resume", 99): ended}, [99, 100]
    group = await jobs.start("read word")
    jobs.calls.clear()
    group.suspend()
    group.resume()
    assert [each[0] for each in jobs.calls] == ["suspend"] * 3 + ["resume"] * 3
    group.kill()
    await group.ended
    group.close()


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


async def test_a_program_that_cannot_be_put_into_a_job_does_not_run(jobs: FakeJobs) -> None:
    jobs.faults["adopt"] = PermissionError(5, "Access is denied")
    with pytest.raises(PermissionError):
        await jobs.start("read word")
    assert jobs.transport is not None
    await eventually(lambda: not jobs._runs())


async def test_a_program_that_is_not_there_leaves_no_job(jobs: FakeJobs) -> None:
    with pytest.raises(FileNotFoundError):
        await jobs.start("", Launch(("/nowhere",), Path(), {}))
