"""The calls of Windows by which it shows who is there, by ctypes: calls only, nothing is decided.

The libraries are loaded when the calls are made, so that everything that is decided can be tried on
any system, over other calls. A call that fails is an ``OSError``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import suppress
from ctypes import wintypes
from dataclasses import dataclass

from agent.host.libraries import check, library

SESSION_INFO_EX = 25
"""``WTSSessionInfoEx``: of one session, its state and whether it is locked."""
GET_SCREEN_SAVER_RUNNING = 0x0072
SNAPSHOT_PROCESSES = 0x00000002
ES_CONTINUOUS, ES_SYSTEM_REQUIRED = 0x80000000, 0x00000001
INVALID_HANDLE = ctypes.c_void_p(-1).value


@dataclass(frozen=True, slots=True)
class WindowsSession:
    """One session: who, whether it is on a screen now, and whether it is locked (None: unknown)."""

    number: int
    user: str
    active: bool
    locked: bool | None


class LastInputInfo(ctypes.Structure):
    """LASTINPUTINFO."""

    _fields_ = [("size", ctypes.c_uint32), ("ticks_ms", ctypes.c_uint32)]


class PowerStatus(ctypes.Structure):
    """SYSTEM_POWER_STATUS."""

    _fields_ = [
        ("line", ctypes.c_ubyte),
        ("battery_flag", ctypes.c_ubyte),
        ("battery_percent", ctypes.c_ubyte),
        ("saver", ctypes.c_ubyte),
        ("battery_left_s", ctypes.c_uint32),
        ("battery_full_s", ctypes.c_uint32),
    ]


class SessionInfo(ctypes.Structure):
    """WTS_SESSION_INFOW."""

    _fields_ = [
        ("number", ctypes.c_uint32),
        ("station", wintypes.LPWSTR),
        ("state", ctypes.c_int),
    ]


class SessionInfoEx(ctypes.Structure):
    """WTSINFOEXW, with its only level."""

    _fields_ = [
        ("level", ctypes.c_uint32),
        # The level is a union with 64-bit members, which begins on an even place.
        ("_", ctypes.c_uint32),
        ("number", ctypes.c_uint32),
        ("state", ctypes.c_int),
        ("flags", ctypes.c_int32),
        ("station", wintypes.WCHAR * 33),
        ("user", wintypes.WCHAR * 21),
        ("domain", wintypes.WCHAR * 18),
        ("logged_in", ctypes.c_int64),
        ("connected", ctypes.c_int64),
        ("disconnected", ctypes.c_int64),
        ("last_input", ctypes.c_int64),
        ("now", ctypes.c_int64),
        ("counts", ctypes.c_uint32 * 6),
    ]


class ProcessEntry(ctypes.Structure):
    """PROCESSENTRY32W."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("usage", ctypes.c_uint32),
        ("process", ctypes.c_uint32),
        ("heap", ctypes.c_size_t),
        ("module", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("parent", ctypes.c_uint32),
        ("priority", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
        ("name", wintypes.WCHAR * 260),
    ]


ACTIVE_STATE = 0
LOCKED_FLAG, UNLOCKED_FLAG = 0, 1
TICKS = 2**32


def quiet_ms_between(now_ms: int, input_ms: int) -> int:
    """Return the milliseconds between two tick counters, which are of 32 bits and begin anew after
    49 days."""
    return (now_ms - input_ms) % TICKS


def session_of(info: SessionInfoEx) -> WindowsSession:
    """Return what matters of a session that Windows describes; whether it is locked is None where
    Windows does not know."""
    locked = {LOCKED_FLAG: True, UNLOCKED_FLAG: False}.get(info.flags)
    return WindowsSession(info.number, info.user, info.state == ACTIVE_STATE, locked)


CALLS: dict[str, dict[str, tuple[type | None, ...]]] = {
    "user32": {
        "GetLastInputInfo": (wintypes.BOOL, ctypes.POINTER(LastInputInfo)),
        "GetCursorPos": (wintypes.BOOL, ctypes.POINTER(wintypes.POINT)),
        "SystemParametersInfoW": (
            *(wintypes.BOOL, wintypes.UINT, wintypes.UINT),
            *(ctypes.c_void_p, wintypes.UINT),
        ),
    },
    "kernel32": {
        "GetTickCount": (wintypes.DWORD,),
        "GetCurrentProcessId": (wintypes.DWORD,),
        "ProcessIdToSessionId": (
            *(wintypes.BOOL, wintypes.DWORD),
            ctypes.POINTER(wintypes.DWORD),
        ),
        "GetSystemPowerStatus": (wintypes.BOOL, ctypes.POINTER(PowerStatus)),
        "SetThreadExecutionState": (wintypes.DWORD, wintypes.DWORD),
        "CreateToolhelp32Snapshot": (wintypes.HANDLE, wintypes.DWORD, wintypes.DWORD),
        "Process32FirstW": (wintypes.BOOL, wintypes.HANDLE, ctypes.POINTER(ProcessEntry)),
        "Process32NextW": (wintypes.BOOL, wintypes.HANDLE, ctypes.POINTER(ProcessEntry)),
        "CloseHandle": (wintypes.BOOL, wintypes.HANDLE),
    },
    "shell32": {
        "SHQueryUserNotificationState": (ctypes.c_long, ctypes.POINTER(ctypes.c_int)),
    },
    "wtsapi32": {
        "WTSEnumerateSessionsW": (
            *(wintypes.BOOL, wintypes.HANDLE, wintypes.DWORD, wintypes.DWORD),
            ctypes.POINTER(ctypes.POINTER(SessionInfo)),
            ctypes.POINTER(wintypes.DWORD),
        ),
        "WTSQuerySessionInformationW": (
            *(wintypes.BOOL, wintypes.HANDLE, wintypes.DWORD, ctypes.c_int),
            *(ctypes.c_void_p, ctypes.POINTER(wintypes.DWORD)),
        ),
        "WTSFreeMemory": (None, ctypes.c_void_p),
    },
}
"""What each call returns and takes."""
POWER = {"SetSuspendState": (wintypes.BOOLEAN, *3 * (wintypes.BOOLEAN,))}
"""Of a library that is loaded only to fall asleep."""


class WindowsCalls:
    """The calls of Windows that the sources make."""

    def __init__(self) -> None:
        self._user, self._kernel, self._shell, self._terminal = (
            library(name, calls) for name, calls in CALLS.items()
        )

    def quiet_ms(self) -> int:
        """Return for how many milliseconds nobody has used keyboard or mouse of this session; raise
        ``OSError`` when Windows does not tell."""
        info = LastInputInfo(ctypes.sizeof(LastInputInfo), 0)
        check(self._user.GetLastInputInfo(ctypes.byref(info)))
        return quiet_ms_between(self._kernel.GetTickCount(), info.ticks_ms)

    def pointer(self) -> tuple[int, int]:
        """Return where the pointer is, in pixels; raise ``OSError`` when Windows does not tell, as
        while the screen is locked."""
        place = wintypes.POINT()
        check(self._user.GetCursorPos(ctypes.byref(place)))
        return (place.x, place.y)

    def own_session(self) -> int:
        """Return the number of the session in which this runs, 0 for services; raise ``OSError``
        when Windows does not tell."""
        return self._session_of(self._kernel.GetCurrentProcessId())

    def sessions(self) -> list[WindowsSession]:
        """Return the sessions of this machine that have a user, without those that end meanwhile;
        raise ``OSError`` when Windows does not list them."""
        listed = ctypes.POINTER(SessionInfo)()
        count = wintypes.DWORD()
        check(
            self._terminal.WTSEnumerateSessionsW(
                None, 0, 1, ctypes.byref(listed), ctypes.byref(count)
            )
        )
        try:
            numbers = [listed[place].number for place in range(count.value)]
        finally:
            self._terminal.WTSFreeMemory(listed)
        return [found for number in numbers if (found := self._session(number)) is not None]

    def saver_on(self) -> bool:
        """Tell whether a screen saver runs; raise ``OSError`` when Windows does not tell."""
        on = wintypes.BOOL()
        check(self._user.SystemParametersInfoW(GET_SCREEN_SAVER_RUNNING, 0, ctypes.byref(on), 0))
        return bool(on.value)

    def notification_state(self) -> int:
        """Return the shell's number (``QUNS_…``) for whether a person can be told something now, or
        what fills the screen; raise ``OSError`` when the shell does not tell."""
        state = ctypes.c_int()
        failed = self._shell.SHQueryUserNotificationState(ctypes.byref(state))
        if failed < 0:
            raise OSError(f"the shell answers with {failed & 0xFFFFFFFF:#010x}")
        return state.value

    def line_status(self) -> int:
        """Return 0 on battery, 1 on mains, 255 where Windows does not know; raise ``OSError`` when
        it does not tell."""
        status = PowerStatus()
        check(self._kernel.GetSystemPowerStatus(ctypes.byref(status)))
        return int(status.line)

    def keep_awake(self, *, on: bool) -> None:
        """Keep the machine from falling asleep from now on, until the same thread says otherwise or has
        ended; its screen may go dark. Raise ``OSError`` when Windows refuses."""
        wanted = ES_CONTINUOUS | (ES_SYSTEM_REQUIRED if on else 0)
        check(self._kernel.SetThreadExecutionState(wanted))

    def fall_asleep(self) -> None:
        """Ask Windows to send this machine to sleep, not to hibernate, with what wakes it left as it is;
        raise ``OSError`` when it refuses."""
        check(library("powrprof", POWER).SetSuspendState(False, False, False))

    def process_names(self) -> Iterator[tuple[int, str]]:
        """Yield id and name of each process that runs at the first step; raise ``OSError`` then
        when Windows does not list them."""
        snapshot = self._kernel.CreateToolhelp32Snapshot(SNAPSHOT_PROCESSES, 0)
        check(snapshot != INVALID_HANDLE)
        try:
            entry = ProcessEntry(size=ctypes.sizeof(ProcessEntry))
            more = self._kernel.Process32FirstW(snapshot, ctypes.byref(entry))
            while more:
                yield entry.process, entry.name
                more = self._kernel.Process32NextW(snapshot, ctypes.byref(entry))
        finally:
            self._kernel.CloseHandle(snapshot)

    def names_of_person(self) -> Iterator[tuple[int, str]]:
        """Yield id and name of each process in the session of this one, without such as end
        meanwhile; raise ``OSError``, at the first step, when Windows does not list them, or tell
        the session."""
        own = self.own_session()
        for process, name in self.process_names():
            with suppress(OSError):
                if self._session_of(process) == own:
                    yield process, name

    def _session_of(self, process: int) -> int:
        number = wintypes.DWORD()
        check(self._kernel.ProcessIdToSessionId(process, ctypes.byref(number)))
        return number.value

    def _session(self, number: int) -> WindowsSession | None:
        """None where it has ended since, or is nobody's."""
        told = ctypes.POINTER(SessionInfoEx)()
        size = wintypes.DWORD()
        if not self._terminal.WTSQuerySessionInformationW(
            None, number, SESSION_INFO_EX, ctypes.byref(told), ctypes.byref(size)
        ):
            return None
        try:
            return session_of(told.contents) if told.contents.user else None
        finally:
            self._terminal.WTSFreeMemory(told)
