"""Job objects by ctypes: calls only, nothing is decided here. The libraries are loaded when it is made.

Suspending a process as a whole and its priority for disks are calls of ``ntdll`` that every task
manager uses and that no header of the system describes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import wintypes
from dataclasses import dataclass

from agent.host.libraries import check, library

ACCOUNTING, PROCESS_IDS, DESKTOP_LIMITS, EXTENDED_LIMITS = 1, 3, 4, 9
NOTHING_OF_THE_DESKTOP = 0xFF
"""Neither windows and handles of others, nor clipboard, global atoms, settings of system and display,
other desktops, nor the end of the session."""
LIMIT_ACTIVE_PROCESSES = 0x00000008
LIMIT_PRIORITY_CLASS = 0x00000020
LIMIT_JOB_MEMORY = 0x00000200
LIMIT_DIE_ON_UNHANDLED_EXCEPTION = 0x00000400
LIMIT_KILL_ON_JOB_CLOSE = 0x00002000
IDLE_PRIORITY_CLASS, BELOW_NORMAL_PRIORITY_CLASS = 0x00000040, 0x00004000
PROCESS_TERMINATE, PROCESS_SET_QUOTA = 0x0001, 0x0100
PROCESS_SET_INFORMATION, PROCESS_SUSPEND_RESUME = 0x0200, 0x0800
IO_PRIORITY, IO_VERY_LOW, IO_LOW = 33, 0, 1
PROCESSES_MAX = 4_096
HUNDRED_NS_A_MS = 10_000


class _BasicLimits(ctypes.Structure):
    _fields_ = [
        ("process_user_time", wintypes.LARGE_INTEGER),
        ("job_user_time", wintypes.LARGE_INTEGER),
        ("flags", wintypes.DWORD),
        ("working_set_min", ctypes.c_size_t),
        ("working_set_max", ctypes.c_size_t),
        ("active_processes", wintypes.DWORD),
        ("affinity", ctypes.c_size_t),
        ("priority_class", wintypes.DWORD),
        ("scheduling_class", wintypes.DWORD),
    ]


class _ExtendedLimits(ctypes.Structure):
    _fields_ = [
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_ulonglong * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("process_memory_peak", ctypes.c_size_t),
        ("job_memory_peak", ctypes.c_size_t),
    ]


class _Accounting(ctypes.Structure):
    _fields_ = [
        ("user_time", wintypes.LARGE_INTEGER),
        ("kernel_time", wintypes.LARGE_INTEGER),
        ("period_user_time", wintypes.LARGE_INTEGER),
        ("period_kernel_time", wintypes.LARGE_INTEGER),
        ("page_faults", wintypes.DWORD),
        ("processes", wintypes.DWORD),
        ("active_processes", wintypes.DWORD),
        ("terminated_processes", wintypes.DWORD),
    ]


class _ProcessIds(ctypes.Structure):
    _fields_ = [
        ("assigned", wintypes.DWORD),
        ("listed", wintypes.DWORD),
        ("ids", ctypes.c_size_t * PROCESSES_MAX),
    ]


@dataclass(frozen=True, slots=True)
class JobUse:
    """What all processes of a job have used."""

    cpu_ms: int
    memory_bytes: int
    """The most that they had at a time."""


CALLS: dict[str, dict[str, tuple[type | None, ...]]] = {
    "kernel32": {
        "CreateJobObjectW": (wintypes.HANDLE, wintypes.LPVOID, wintypes.LPCWSTR),
        "SetInformationJobObject": (
            *(wintypes.BOOL, wintypes.HANDLE),
            *(ctypes.c_int, wintypes.LPVOID, wintypes.DWORD),
        ),
        "QueryInformationJobObject": (
            *(wintypes.BOOL, wintypes.HANDLE),
            *(ctypes.c_int, wintypes.LPVOID, wintypes.DWORD, wintypes.LPDWORD),
        ),
        "AssignProcessToJobObject": (wintypes.BOOL, wintypes.HANDLE, wintypes.HANDLE),
        "TerminateJobObject": (wintypes.BOOL, wintypes.HANDLE, wintypes.UINT),
        "OpenProcess": (wintypes.HANDLE, wintypes.DWORD, wintypes.BOOL, wintypes.DWORD),
        "CloseHandle": (wintypes.BOOL, wintypes.HANDLE),
    },
    "ntdll": {
        "NtSuspendProcess": (wintypes.LONG, wintypes.HANDLE),
        "NtResumeProcess": (wintypes.LONG, wintypes.HANDLE),
        "NtSetInformationProcess": (
            *(wintypes.LONG, wintypes.HANDLE),
            *(ctypes.c_int, wintypes.LPVOID, wintypes.ULONG),
        ),
    },
}
"""What each call returns and takes."""


class JobApi:
    """What is needed of Windows. All may raise ``OSError``."""

    def __init__(self) -> None:
        self._kernel32, self._ntdll = (library(name, calls) for name, calls in CALLS.items())

    def new_job(
        self, memory_bytes: int, *, spare: bool, processes: int = 0, alone: bool = False
    ) -> int:
        """Make a job object, with a memory limit unless ``memory_bytes`` is 0 and the lowest
        priority if ``spare``, for so many ``processes`` at a time unless 0, and return its handle; its
        processes end when that is closed. ``alone``: they have no part in the desktop, its clipboard
        and its settings. Raise ``OSError`` when that fails."""
        job = self._kernel32.CreateJobObjectW(None, None)
        check(job)
        limits = _ExtendedLimits(job_memory=memory_bytes)
        limits.basic.flags = LIMIT_KILL_ON_JOB_CLOSE | LIMIT_DIE_ON_UNHANDLED_EXCEPTION
        limits.basic.flags |= LIMIT_PRIORITY_CLASS | (LIMIT_JOB_MEMORY if memory_bytes else 0)
        limits.basic.flags |= LIMIT_ACTIVE_PROCESSES if processes else 0
        limits.basic.active_processes = processes
        limits.basic.priority_class = IDLE_PRIORITY_CLASS if spare else BELOW_NORMAL_PRIORITY_CLASS
        try:
            self._set(job, EXTENDED_LIMITS, limits)
            if alone:
                self._set(job, DESKTOP_LIMITS, wintypes.DWORD(NOTHING_OF_THE_DESKTOP))
        except OSError:
            self._kernel32.CloseHandle(job)
            raise
        return int(job)

    def adopt(self, job: int, process: int, *, spare: bool) -> None:
        """Put the process of this id into a job and lower its disk priority, to the lowest with
        ``spare``, as far as Windows allows that; raise ``OSError`` when it is gone or cannot
        join."""
        access = PROCESS_SET_QUOTA | PROCESS_TERMINATE | PROCESS_SET_INFORMATION
        with self._opened(process, access) as handle:
            check(self._kernel32.AssignProcessToJobObject(job, handle))
            level = wintypes.ULONG(IO_VERY_LOW if spare else IO_LOW)
            self._ntdll.NtSetInformationProcess(
                handle, IO_PRIORITY, ctypes.byref(level), ctypes.sizeof(level)
            )

    def processes(self, job: int) -> list[int]:
        """Return the ids of the processes that are in the job now; raise ``OSError`` when Windows
        does not tell, or there are more than ``PROCESSES_MAX``."""
        found = _ProcessIds()
        self._query(job, PROCESS_IDS, found)
        return [int(each) for each in found.ids[: found.listed]]

    def suspend(self, process: int) -> None:
        """Suspend all threads of a process; raise ``OSError`` when it is gone or may not be
        suspended."""
        with self._opened(process, PROCESS_SUSPEND_RESUME) as handle:
            check(self._ntdll.NtSuspendProcess(handle) >= 0)

    def resume(self, process: int) -> None:
        """Let the suspended threads of a process go on; raise ``OSError`` when it is gone."""
        with self._opened(process, PROCESS_SUSPEND_RESUME) as handle:
            check(self._ntdll.NtResumeProcess(handle) >= 0)

    def terminate(self, job: int, code: int) -> None:
        """End all that is in it."""
        check(self._kernel32.TerminateJobObject(job, code))

    def used(self, job: int) -> JobUse:
        """Return the processor time and peak memory that all processes of a job, ended ones too,
        have used; raise ``OSError`` when Windows does not tell."""
        times, limits = _Accounting(), _ExtendedLimits()
        self._query(job, ACCOUNTING, times)
        self._query(job, EXTENDED_LIMITS, limits)
        cpu_ms = (times.user_time + times.kernel_time) // HUNDRED_NS_A_MS
        return JobUse(int(cpu_ms), int(limits.job_memory_peak))

    def close(self, job: int) -> None:
        """Close the handle of a job, which ends its processes."""
        check(self._kernel32.CloseHandle(job))

    def _set(self, job: int, kind: int, told: ctypes.Structure | wintypes.DWORD) -> None:
        size = ctypes.sizeof(told)
        check(self._kernel32.SetInformationJobObject(job, kind, ctypes.byref(told), size))

    def _query(self, job: int, kind: int, into: ctypes.Structure) -> None:
        size = ctypes.sizeof(into)
        check(self._kernel32.QueryInformationJobObject(job, kind, ctypes.byref(into), size, None))

    @contextmanager
    def _opened(self, process: int, access: int) -> Iterator[int]:
        handle = self._kernel32.OpenProcess(access, False, process)
        check(handle)
        try:
            yield int(handle)
        finally:
            self._kernel32.CloseHandle(handle)
