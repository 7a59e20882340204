"""What the sources of Windows make of what its calls say; the calls are fakes of the same interface."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from agent.api.presence_reasons import GameFills, PresentationOn, ProgramFills
from agent.presence.looking import Looker
from agent.presence.readings import Kind, LastInput, Reading, Seen, Sessions, Unseen
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
