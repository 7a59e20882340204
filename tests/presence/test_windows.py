"""What the sources of Windows make of what its calls say, and what it is asked for that."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from ctypes import wintypes
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeVar, cast

import pytest

from agent.api.presence_reasons import GameFills, PresentationOn, ProgramFills
from agent.presence.looking import Looker
from agent.presence.readings import Kind, LastInput, Reading, Seen, Sessions, Unseen
from agent.presence.sources import Screens
from agent.presence.sources.native_windows import sources_of
from agent.presence.sources.windows import (
    windows_full_screen,
    windows_last_input,
    windows_mains,
    windows_screen_saver,
    windows_sessions,
)
from agent.presence.sources.windows_calls import (
    LastInputInfo,
    PowerStatus,
    SessionInfoEx,
    WindowsCalls,
    WindowsSession,
    quiet_ms_between,
    session_of,
)
from tests.certain import certain
from tests.hosts.windows import Library, loaded_as_on_windows
from tests.presence.clocks import Clock

T = TypeVar("T")
ANT = WindowsSession(1, "ant", active=True, locked=False)
REFUSED = OSError("access is denied")


@dataclass
class Calls(WindowsCalls):
    """A Windows of which a test decides what it says; an exception is raised."""

    quiet: int | OSError = 1_500
    place: tuple[int, int] | OSError = (10, 20)
    number: int = 1
    listed: list[WindowsSession] | OSError = field(default_factory=lambda: [ANT])
    saver: bool | OSError = False
    notifications: int | OSError = 5
    line: int | OSError = 1
    names: tuple[str, ...] = ("explorer.exe", "Blender.EXE")

    def quiet_ms(self) -> int:
        return said(self.quiet)

    def pointer(self) -> tuple[int, int]:
        return said(self.place)

    def own_session(self) -> int:
        return self.number

    def sessions(self) -> list[WindowsSession]:
        return said(self.listed)

    def saver_on(self) -> bool:
        return said(self.saver)

    def notification_state(self) -> int:
        return said(self.notifications)

    def line_status(self) -> int:
        return said(self.line)

    def process_names(self) -> Iterator[tuple[int, str]]:
        yield from enumerate(self.names, 1_000_000)


def said(answer: T | OSError) -> T:
    if isinstance(answer, OSError):
        raise answer
    return answer


def test_tick_counters_that_began_anew_still_tell_how_long_ago() -> None:
    assert quiet_ms_between(5, 2**32 - 10) == 15


def session(number: int, *, active: bool, locked: bool | None) -> WindowsSession:
    return WindowsSession(number, {1: "ant", 2: "bee", 3: "cat"}[number], active, locked)


def input_of(calls: Calls) -> Reading[Any]:
    return windows_last_input(calls, Clock(100.0)).read()


def sessions_of(*listed: WindowsSession, number: int = 1) -> Reading[Any]:
    return windows_sessions(Calls(number=number, listed=list(listed))).read()


def screens_of(calls: Calls) -> Reading[Any]:
    return Screens(windows_sessions(calls), [windows_screen_saver(calls)]).read()


def line_of(line: int | OSError) -> Reading[Any]:
    return windows_mains(Calls(line=line)).read()


def filled_by(state: int) -> Reading[Any]:
    return windows_full_screen(Calls(notifications=state)).read()


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (input_of(Calls()), LastInput(98.5, (10, 20))),
        (input_of(Calls(place=REFUSED)), LastInput(98.5, None)),  # as the locked desktop does
        (sessions_of(ANT), Sessions()),
        (sessions_of(session(1, active=True, locked=True)), Sessions(locked=True)),
        (sessions_of(session(1, active=True, locked=None)), Sessions()),
        (
            sessions_of(
                session(1, active=False, locked=True), session(2, active=True, locked=False)
            ),
            Sessions(locked=True, others=("bee",)),
        ),
        (sessions_of(ANT, session(3, active=True, locked=None)), Sessions(others=("cat",))),
        (sessions_of(ANT, session(3, active=True, locked=True)), Sessions()),
        (sessions_of(ANT, session(3, active=False, locked=False)), Sessions()),
        (sessions_of(number=0), Sessions(nobody=True)),  # a service
        (line_of(0), False),
        (line_of(1), True),
        *((filled_by(state), None) for state in (1, 5, 6, 7)),
        (filled_by(2), ProgramFills()),
        (filled_by(3), GameFills()),
        (filled_by(4), PresentationOn()),
    ],
)
def test_what_windows_tells(found: Reading[object], value: object) -> None:
    assert found == Seen(value, "Windows")


@pytest.mark.parametrize("calls", [Calls(saver=True), Calls(saver=True, listed=REFUSED)])
def test_a_screen_saver_counts_as_a_lock(calls: Calls) -> None:
    assert screens_of(calls) == Seen(Sessions(locked=True), "the screen saver")


@pytest.mark.parametrize(
    "found",
    [
        input_of(Calls(number=0)),
        input_of(Calls(quiet=REFUSED)),
        sessions_of(),  # only a service believes that nobody is at a screen
        screens_of(Calls(saver=REFUSED, listed=REFUSED)),
        line_of(255),
        line_of(REFUSED),
    ],
)
def test_what_cannot_be_seen_is_said(found: Reading[object]) -> None:
    assert isinstance(found, Unseen)


def test_all_sources_together_see() -> None:
    clock = Clock(100.0)
    sources = sources_of(Calls(), clock)
    sources.watch(("blender", "zoom"))
    looker = Looker(sources, clock)
    looker.look(list(Kind), brisk=True)
    clock.pass_s(5)
    looker.look(list(Kind), brisk=True)
    found = looker.readings(0)
    assert found.exclusive == Seen(("blender",))
    assert found.input == Seen(LastInput(clock() - 1.5, (10, 20)), "Windows")
    assert isinstance(found.others_cpu_percent, Seen)
    sources.close()


def test_the_structures_are_as_long_as_windows_has_them() -> None:
    assert ctypes.sizeof(LastInputInfo) == 8
    assert ctypes.sizeof(PowerStatus) == 12
    assert (SessionInfoEx.number.offset, SessionInfoEx.logged_in.offset % 8) == (8, 0)


def test_a_session_is_read_off_its_structure() -> None:
    told = SessionInfoEx(number=4, state=0, flags=0, user="ant")
    assert session_of(told) == WindowsSession(4, "ant", active=True, locked=True)
    told = SessionInfoEx(number=4, state=4, flags=1, user="ant")
    assert session_of(told) == WindowsSession(4, "ant", active=False, locked=False)
    assert session_of(SessionInfoEx(flags=-1)).locked is None


# -- what Windows itself is asked, with libraries that a test makes up -----------------------
#
# The numbers are those of the system's headers (``winuser.h``, ``wtsapi32.h``, ``tlhelp32.h``).


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
    wanted: list[int] = field(default_factory=list)
    suspended: list[tuple[int, int, int]] = field(default_factory=list)
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
                SetThreadExecutionState=self._execution,
                CreateToolhelp32Snapshot=self._snapshot,
                Process32FirstW=self._process,
                Process32NextW=self._process,
                CloseHandle=self._close,
            ),
            "powrprof": Library(SetSuspendState=self._suspend),
            "shell32": Library(SHQueryUserNotificationState=self._notification),
            "wtsapi32": Library(
                WTSEnumerateSessionsW=self._enumerate,
                WTSQuerySessionInformationW=self._session,
                WTSFreeMemory=lambda _: self.freed.append(len(self.freed)),
            ),
        }

    def _suspend(self, hibernate: int, force: int, no_wakes: int) -> int:
        self.suspended.append((hibernate, force, no_wakes))
        return self._done("suspend")

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
        number.value = {4: 0, 70: 3}[process]
        return self._done("own session")

    def _power(self, status: Any) -> int:
        status.line, status.battery_flag = 1, 8
        return self._done("power")

    def _execution(self, wanted: int) -> int:
        self.wanted.append(wanted)
        return self._done("execution") and 0x80000000

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


def test_a_machine_is_kept_awake_until_it_is_let_sleep(
    windows: Windows, calls: WindowsCalls
) -> None:
    calls.keep_awake(on=True)
    calls.keep_awake(on=False)
    assert windows.wanted == [0x80000001, 0x80000000]


def test_a_machine_falls_asleep_and_can_be_woken(windows: Windows, calls: WindowsCalls) -> None:
    calls.fall_asleep()
    assert windows.suspended == [(False, False, False)]


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
    windows.place = 0
    assert list(calls.names_of_person()) == [(70, "Blender.EXE")], "4 is of the services"


@pytest.mark.parametrize(
    ("fails", "ask"),
    [
        ("last input", lambda calls: calls.quiet_ms()),
        ("pointer", lambda calls: calls.pointer()),
        ("own session", lambda calls: calls.own_session()),
        ("enumerate", lambda calls: calls.sessions()),
        ("saver", lambda calls: calls.saver_on()),
        ("power", lambda calls: calls.line_status()),
        ("execution", lambda calls: calls.keep_awake(on=True)),
        ("suspend", lambda calls: calls.fall_asleep()),
        ("snapshot", lambda calls: list(calls.process_names())),
        ("snapshot", lambda calls: list(calls.names_of_person())),
        ("own session", lambda calls: list(calls.names_of_person())),
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
