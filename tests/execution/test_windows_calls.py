"""What Windows is told of a job and of its processes, with libraries that note it down.

The numbers are those of the system's headers (``winnt.h``, ``winbase.h``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from agent.execution.groups_windows_api import JobApi
from tests.hosts.windows import Library, loaded_as_on_windows

JOB, HANDLE = 0x7_0000_0010, 0x7_0000_0020
"""Wider than 32 bits, as handles are."""
PROCESS = 4242
ACTIVE_PROCESSES = 0x8
KILL_ON_CLOSE, DIE_ON_EXCEPTION, PRIORITY, MEMORY = 0x2000, 0x400, 0x20, 0x200


@dataclass
class Windows:
    """One job and one process; ``fails`` is the call that Windows refuses."""

    fails: str = ""
    calls: list[tuple[object, ...]] = field(default_factory=list)
    told: list[dict[str, int]] = field(default_factory=list)

    def kernel(self) -> Library:
        return Library(
            CreateJobObjectW=self._answer("create", JOB),
            SetInformationJobObject=self._set,
            QueryInformationJobObject=self._query,
            AssignProcessToJobObject=self._answer("assign"),
            TerminateJobObject=self._answer("terminate"),
            OpenProcess=self._answer("open", HANDLE),
            CloseHandle=self._answer("close"),
        )

    def ntdll(self) -> Library:
        return Library(
            NtSuspendProcess=self._answer("suspend", 0, -1),
            NtResumeProcess=self._answer("resume", 0, -1),
            NtSetInformationProcess=self._set_process,
        )

    def _answer(self, name: str, done: int = 1, failed: int = 0) -> Callable[..., int]:
        def answer(*arguments: object) -> int:
            self.calls.append((name, *arguments))
            return failed if name == self.fails else done

        return answer

    def _set(self, job: int, kind: int, limits: Any, size: int) -> int:
        if kind == 4:
            self.told.append({"desktop": limits.value})
            return self._answer("limit")(job, kind)
        basic = limits.basic
        found = {"flags": basic.flags, "priority": basic.priority_class}
        if basic.active_processes:
            found["processes"] = basic.active_processes
        self.told.append(found | {"memory": limits.job_memory})
        assert size == ctypes.sizeof(limits)
        return self._answer("limit")(job, kind)

    def _set_process(self, handle: int, kind: int, level: Any, size: int) -> int:
        assert size == ctypes.sizeof(level)
        self.calls.append(("io", handle, kind, level.value))
        return 0

    def _query(self, job: int, kind: int, into: Any, size: int, _: None) -> int:
        assert (job, size) == (JOB, ctypes.sizeof(into))
        if kind == 1:
            into.user_time, into.kernel_time = 30_000, 12_345
        elif kind == 3:
            into.assigned, into.listed = 3, 2
            into.ids[0], into.ids[1], into.ids[2] = 11, 12, 13
        elif kind == 9:
            into.job_memory_peak, into.process_memory_peak = 5_000_000_000, 1
        return 0 if self.fails == "query" else 1


@pytest.fixture
def windows() -> Windows:
    return Windows()


@pytest.fixture
def api(windows: Windows, monkeypatch: pytest.MonkeyPatch) -> JobApi:
    libraries = {"kernel32": windows.kernel(), "ntdll": windows.ntdll()}
    name = "agent.execution.groups_windows_api"
    return cast("JobApi", loaded_as_on_windows(name, libraries, monkeypatch).JobApi())


@pytest.mark.parametrize(
    ("memory", "spare", "flags", "priority"),
    [(5_000_000_000, True, MEMORY, 0x40), (0, False, 0, 0x4000)],
    ids=["idle, with a limit of memory", "below normal, without"],
)
def test_a_job_ends_with_its_handle_and_has_the_limits_that_were_asked_for(
    windows: Windows, api: JobApi, memory: int, spare: bool, flags: int, priority: int
) -> None:
    assert api.new_job(memory, spare=spare) == JOB
    assert windows.calls == [("create", None, None), ("limit", JOB, 9)]
    flags |= KILL_ON_CLOSE | DIE_ON_EXCEPTION | PRIORITY
    assert windows.told == [{"flags": flags, "priority": priority, "memory": memory}]


def test_a_job_of_a_confined_program_has_few_processes_and_no_desktop(
    windows: Windows, api: JobApi
) -> None:
    assert api.new_job(0, spare=True, processes=65, alone=True) == JOB
    limits, desktop = windows.told
    assert limits["flags"] & ACTIVE_PROCESSES
    assert limits["processes"] == 65
    assert desktop == {"desktop": 0xFF}


def test_a_job_that_cannot_be_limited_is_not_kept(windows: Windows, api: JobApi) -> None:
    windows.fails = "limit"
    with pytest.raises(OSError, match="denied"):
        api.new_job(0, spare=True)
    assert windows.calls[-1] == ("close", JOB)


@pytest.mark.parametrize(("spare", "level"), [(True, 0), (False, 1)])
def test_a_process_is_put_into_its_job_and_reads_when_others_do_not(
    windows: Windows, api: JobApi, spare: bool, level: int
) -> None:
    api.adopt(JOB, PROCESS, spare=spare)
    assert windows.calls == [
        ("open", 0x0001 | 0x0100 | 0x0200, 0, PROCESS),
        ("assign", JOB, HANDLE),
        ("io", HANDLE, 33, level),
        ("close", HANDLE),
    ]


@pytest.mark.parametrize("name", ["suspend", "resume"])
def test_a_process_is_suspended_and_goes_on(windows: Windows, api: JobApi, name: str) -> None:
    getattr(api, name)(PROCESS)
    assert windows.calls == [("open", 0x0800, 0, PROCESS), (name, HANDLE), ("close", HANDLE)]


@pytest.mark.parametrize(
    ("fails", "ask"),
    [
        ("create", lambda api: api.new_job(0, spare=True)),
        ("open", lambda api: api.suspend(PROCESS)),
        ("suspend", lambda api: api.suspend(PROCESS)),
        ("resume", lambda api: api.resume(PROCESS)),
        ("assign", lambda api: api.adopt(JOB, PROCESS, spare=True)),
        ("terminate", lambda api: api.terminate(JOB, 1)),
        ("query", lambda api: api.processes(JOB)),
        ("close", lambda api: api.close(JOB)),
    ],
)
def test_what_windows_refuses_is_an_error_and_leaves_no_handle_open(
    windows: Windows, api: JobApi, fails: str, ask: Callable[[JobApi], object]
) -> None:
    windows.fails = fails
    with pytest.raises(OSError, match="denied"):
        ask(api)
    opened = ("open" in [each[0] for each in windows.calls]) and fails != "open"
    assert (("close", HANDLE) in windows.calls) == opened


def test_a_job_tells_its_processes_and_what_it_has_used(windows: Windows, api: JobApi) -> None:
    assert api.processes(JOB) == [11, 12]
    used = api.used(JOB)
    assert (used.cpu_ms, used.memory_bytes) == (4, 5_000_000_000)
    api.terminate(JOB, 1)
    api.close(JOB)
    assert windows.calls == [("terminate", JOB, 1), ("close", JOB)]


@pytest.mark.parametrize(("told", "memory_bytes"), [(1, 16 * 2**30), (0, 0)])
def test_how_much_memory_is_installed(
    monkeypatch: pytest.MonkeyPatch, told: int, memory_bytes: int
) -> None:
    def installed(kilobytes: Any) -> int:
        kilobytes.value = 16 * 2**20
        return told

    libraries = {"kernel32": Library(GetPhysicallyInstalledSystemMemory=installed)}
    module = loaded_as_on_windows("agent.execution.machine", libraries, monkeypatch)
    assert module.memory_bytes() == memory_bytes
