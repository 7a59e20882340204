"""What the sources of Windows make of what its calls say; the calls are fakes of the same interface."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from agent.api.presence_reasons import GameFills, PresentationOn, ProgramFills
from agent.api.reasons import Reason
from agent.presence.looking import Looker
from agent.presence.readings import Kind, LastInput, Seen, Sessions, Unseen
from agent.presence.sources.native_windows import sources_of
from agent.presence.sources.source import Screens
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


def test_the_last_input_is_as_long_ago_as_windows_says() -> None:
    found = windows_last_input(Calls(), Clock(100.0)).read()
    assert found == Seen(LastInput(98.5, (10, 20)), "Windows")


def test_the_locked_desktop_does_not_tell_where_the_pointer_is() -> None:
    found = windows_last_input(Calls(place=REFUSED), Clock(100.0)).read()
    assert found == Seen(LastInput(98.5, None), "Windows")


@pytest.mark.parametrize("calls", [Calls(number=0), Calls(quiet=REFUSED)])
def test_where_no_input_can_be_seen_that_is_said(calls: Calls) -> None:
    assert isinstance(windows_last_input(calls, Clock(100.0)).read(), Unseen)


def test_tick_counters_that_began_anew_still_tell_how_long_ago() -> None:
    assert quiet_ms_between(5, 2**32 - 10) == 15


@pytest.mark.parametrize(
    ("sessions", "expected"),
    [
        ([ANT], Sessions()),
        ([WindowsSession(1, "ant", active=True, locked=True)], Sessions(locked=True)),
        ([WindowsSession(1, "ant", active=True, locked=None)], Sessions()),
        (
            [
                WindowsSession(1, "ant", active=False, locked=True),
                WindowsSession(2, "bee", active=True, locked=False),
            ],
            Sessions(locked=True, others=("bee",)),
        ),
        ([ANT, WindowsSession(3, "cat", active=True, locked=None)], Sessions(others=("cat",))),
        ([ANT, WindowsSession(3, "cat", active=True, locked=True)], Sessions()),
        ([ANT, WindowsSession(3, "cat", active=False, locked=False)], Sessions()),
    ],
)
def test_who_is_at_the_screens(sessions: list[WindowsSession], expected: Sessions) -> None:
    assert windows_sessions(Calls(listed=sessions)).read() == Seen(expected, "Windows")


def test_only_a_service_believes_that_nobody_is_at_a_screen() -> None:
    nobody = Seen(Sessions(nobody=True), "Windows")
    assert windows_sessions(Calls(number=0, listed=[])).read() == nobody
    assert isinstance(windows_sessions(Calls(listed=[])).read(), Unseen)


def test_a_screen_saver_counts_as_a_lock_even_where_sessions_are_not_told() -> None:
    for calls in (Calls(saver=True), Calls(saver=True, listed=REFUSED)):
        found = Screens(windows_sessions(calls), [windows_screen_saver(calls)]).read()
        assert found == Seen(Sessions(locked=True), "the screen saver")
    calls = Calls(saver=REFUSED, listed=REFUSED)
    assert isinstance(
        Screens(windows_sessions(calls), [windows_screen_saver(calls)]).read(), Unseen
    )


@pytest.mark.parametrize(("line", "expected"), [(0, False), (1, True)])
def test_mains(line: int, expected: bool) -> None:
    assert windows_mains(Calls(line=line)).read() == Seen(expected, "Windows")


@pytest.mark.parametrize("line", [255, REFUSED])
def test_mains_that_nobody_knows_of(line: int | OSError) -> None:
    assert isinstance(windows_mains(Calls(line=line)).read(), Unseen)


@pytest.mark.parametrize(
    ("state", "filling"), [(2, ProgramFills()), (3, GameFills()), (4, PresentationOn())]
)
def test_what_fills_the_screen(state: int, filling: Reason) -> None:
    found = windows_full_screen(Calls(notifications=state)).read()
    assert isinstance(found, Seen)
    assert found.value == filling


@pytest.mark.parametrize("state", [1, 5, 6, 7])
def test_what_does_not_fill_the_screen(state: int) -> None:
    assert windows_full_screen(Calls(notifications=state)).read() == Seen(None, "Windows")


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
    assert SessionInfoEx.number.offset == 8
    assert SessionInfoEx.logged_in.offset % 8 == 0


def test_a_session_is_read_off_its_structure() -> None:
    told = SessionInfoEx(number=4, state=0, flags=0, user="ant")
    assert session_of(told) == WindowsSession(4, "ant", active=True, locked=True)
    told = SessionInfoEx(number=4, state=4, flags=1, user="ant")
    assert session_of(told) == WindowsSession(4, "ant", active=False, locked=False)
    assert session_of(SessionInfoEx(flags=-1)).locked is None
