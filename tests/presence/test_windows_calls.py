"""What Windows is asked for who is there, with libraries that a test makes up.

The numbers are those of the system's headers (``winuser.h``, ``wtsapi32.h``, ``tlhelp32.h``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import wintypes
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

import pytest

from agent.presence.sources.windows_calls import WindowsCalls
from tests.certain import certain
from tests.hosts.windows import Library, loaded_as_on_windows

NAME = "agent.presence.sources.windows_calls"
SNAPSHOT = 0x7_0000_0010
"""Wider than 32 bits, as handles are."""
INVALID = 2**64 - 1
LOCKED, UNLOCKED = 0, 1
ACTIVE, DISCONNECTED = 0, 4


@dataclass
class Windows:
    """A machine with a person at its screen; ``fails`` is the call that it refuses."""

    fails: str = ""
    sessions: dict[int, tuple[int, int, str]] = field(
        default_factory=lambda: {
            0: (DISCONNECTED, UNLOCKED, ""),
            1: (ACTIVE, LOCKED, "ant"),
            2: (DISCONNECTED, UNLOCKED, "bee"),
        }
    )
    processes: tuple[tuple[int, str], ...] = ((4, "System"), (70, "Blender.EXE"))
    notifications: int = 3
    freed: list[int] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    kept: list[object] = field(default_factory=list)
    module: ModuleType | None = None
    place: int = 0

    def libraries(self) -> dict[str, Library]:
        return {
            "user32": Library(
                GetLastInputInfo=self._last_input,
                GetCursorPos=self._pointer,
                SystemParametersInfoW=self._parameters,
            ),
            "kernel32": Library(
                GetTickCount=lambda: 2**31 + 5_000,
                GetCurrentProcessId=lambda: 70,
                ProcessIdToSessionId=self._own_session,
                GetSystemPowerStatus=self._power,
                CreateToolhelp32Snapshot=self._snapshot,
                Process32FirstW=self._process,
                Process32NextW=self._process,
                CloseHandle=self._close,
            ),
            "shell32": Library(SHQueryUserNotificationState=self._notification),
            "wtsapi32": Library(
                WTSEnumerateSessionsW=self._enumerate,
                WTSQuerySessionInformationW=self._session,
                WTSFreeMemory=lambda _: self.freed.append(len(self.freed)),
            ),
        }

    def _done(self, name: str) -> int:
        return int(name != self.fails)

    def _last_input(self, info: Any) -> int:
        assert info.size == 8
        info.ticks_ms = 2**31 + 1_000
        return self._done("last input")

    def _pointer(self, place: Any) -> int:
        place.x, place.y = 640, -20
        return self._done("pointer")

    def _parameters(self, action: int, _: int, on: Any, __: int) -> int:
        assert action == 0x72
        on.value = 1
        return self._done("saver")

    def _own_session(self, process: int, number: Any) -> int:
        assert process == 70
        number.value = 3
        return self._done("own session")

    def _power(self, status: Any) -> int:
        status.line, status.battery_flag = 1, 8
        return self._done("power")

    def _snapshot(self, what: int, whose: int) -> int:
        assert (what, whose) == (2, 0)
        return SNAPSHOT if self.fails != "snapshot" else INVALID

    def _process(self, snapshot: int, entry: Any) -> int:
        assert (snapshot, entry.size) == (SNAPSHOT, ctypes.sizeof(entry))
        if self.place == len(self.processes):
            return 0
        entry.process, entry.name = self.processes[self.place]
        self.place += 1
        return 1

    def _close(self, handle: int) -> int:
        self.closed.append(handle)
        return 1

    def _notification(self, state: Any) -> int:
        state.value = self.notifications
        return -0x7FFFBFFB if self.fails == "shell" else 0

    def _enumerate(self, server: None, _: int, version: int, listed: Any, count: Any) -> int:
        assert (server, version) == (None, 1)
        array = (certain(self.module).SessionInfo * len(self.sessions))()
        for place, number in enumerate(self.sessions):
            array[place].number = number
        self.kept.append(array)
        listed.contents = array[0]
        count.value = len(self.sessions)
        return self._done("enumerate")

    def _session(self, server: None, number: int, what: int, told: Any, size: Any) -> int:
        assert (server, what) == (None, 25)
        state, flags, user = self.sessions[number]
        info = certain(self.module).SessionInfoEx(
            number=number, state=state, flags=flags, user=user
        )
        self.kept.append(info)
        told.contents, size.value = info, ctypes.sizeof(info)
        return self._done(f"session {number}")


@pytest.fixture
def windows() -> Windows:
    return Windows()


@pytest.fixture
def calls(windows: Windows, monkeypatch: pytest.MonkeyPatch) -> WindowsCalls:
    monkeypatch.setattr(wintypes, "DWORD", ctypes.c_uint32)  # as long as Windows has it
    monkeypatch.setattr(wintypes, "BOOL", ctypes.c_int32)
    windows.module = loaded_as_on_windows(NAME, windows.libraries(), monkeypatch)
    return cast("WindowsCalls", windows.module.WindowsCalls())


def test_what_windows_says_is_told(calls: WindowsCalls) -> None:
    assert calls.quiet_ms() == 4_000
    assert calls.pointer() == (640, -20)
    assert calls.own_session() == 3
    assert calls.saver_on() is True
    assert calls.line_status() == 1
    assert calls.notification_state() == 3


def test_sessions_that_are_somebodys_are_told_and_their_memory_is_given_back(
    windows: Windows, calls: WindowsCalls
) -> None:
    assert [(each.number, each.user, each.active, each.locked) for each in calls.sessions()] == [
        (1, "ant", True, True),
        (2, "bee", False, False),
    ]
    assert len(windows.freed) == 4, "the list, and each of the three"


def test_a_session_that_has_just_ended_is_left_out(windows: Windows, calls: WindowsCalls) -> None:
    windows.fails = "session 1"
    [found] = calls.sessions()
    assert (found.user, len(windows.freed)) == ("bee", 3)


def test_processes_are_listed_and_the_list_is_closed(windows: Windows, calls: WindowsCalls) -> None:
    assert list(calls.process_names()) == [(4, "System"), (70, "Blender.EXE")]
    assert windows.closed == [SNAPSHOT]


@pytest.mark.parametrize(
    ("fails", "ask"),
    [
        ("last input", lambda calls: calls.quiet_ms()),
        ("pointer", lambda calls: calls.pointer()),
        ("own session", lambda calls: calls.own_session()),
        ("enumerate", lambda calls: calls.sessions()),
        ("saver", lambda calls: calls.saver_on()),
        ("power", lambda calls: calls.line_status()),
        ("snapshot", lambda calls: list(calls.process_names())),
    ],
)
def test_what_windows_refuses_is_an_error(
    windows: Windows, calls: WindowsCalls, fails: str, ask: Callable[[WindowsCalls], object]
) -> None:
    windows.fails = fails
    with pytest.raises(OSError, match="denied"):
        ask(calls)
    assert windows.closed == []


def test_the_shell_says_by_a_number_why_it_cannot_tell(
    windows: Windows, calls: WindowsCalls
) -> None:
    windows.fails = "shell"
    with pytest.raises(OSError, match="the shell answers with 0x80004005"):
        calls.notification_state()
