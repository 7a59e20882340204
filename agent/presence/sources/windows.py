"""What a Windows machine shows: the last input, who is logged in, the mains, what fills the screen.

A machine without a battery says that it is on mains. What the shell holds notifications back for
tells what fills the screen.

A session that is not on a screen any more (another user was switched to, or a remote one was
disconnected) counts as locked. Where Windows does not know, it does not. A system that does not even
tell of the session in which this runs is not believed when it lists nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from agent.api.presence_reasons import (
    Filling,
    GameFills,
    PresentationOn,
    ProgramFills,
    RunsAsService,
    WindowsHidesSession,
    WindowsSilent,
    WindowsUnsure,
)
from agent.presence.readings import LastInput, Sessions
from agent.presence.sources import Asked, SightError
from agent.presence.sources.windows_calls import WindowsCalls

T = TypeVar("T")
NAME = "Windows"
ON_BATTERY, ON_MAINS = 0, 1
SERVICES_SESSION = 0
HELD_BACK_FOR: dict[int, Filling] = {2: ProgramFills(), 3: GameFills(), 4: PresentationOn()}
"""QUNS_BUSY, QUNS_RUNNING_D3D_FULL_SCREEN, QUNS_PRESENTATION_MODE. Nobody there (1), an app in its
window (7), quiet hours (6) and taking notifications (5) are none of it."""


def windows_last_input(calls: WindowsCalls, clock: Callable[[], float]) -> Asked[LastInput]:
    """Return a source of the last input of this session by keyboard, mouse, pen and touch, also
    from afar, with the place of the pointer where that can be told; unseen to a service, and where
    Windows does not tell."""

    def ask() -> LastInput:
        if calls.own_session() == SERVICES_SESSION:
            raise SightError(RunsAsService())
        return LastInput(clock() - calls.quiet_ms() / 1000, _pointer(calls))

    return _asked(ask)


def windows_mains(calls: WindowsCalls) -> Asked[bool]:
    """Return a source of whether a Windows machine is on mains; unseen where Windows does not know
    or tell."""

    def ask() -> bool:
        status = calls.line_status()
        if status not in (ON_BATTERY, ON_MAINS):
            raise SightError(WindowsUnsure())
        return status == ON_MAINS

    return _asked(ask)


def windows_full_screen(calls: WindowsCalls) -> Asked[Filling | None]:
    """Return a source of what fills the screen, as the shell tells it; it reads None where nothing
    does, and is unseen where the shell does not answer."""
    return _asked(lambda: HELD_BACK_FOR.get(calls.notification_state()))


def windows_screen_saver(calls: WindowsCalls) -> Asked[bool]:
    """Return the source of whether the screen saver is on; any input ends it."""
    return _asked(calls.saver_on, "the screen saver")


def windows_sessions(calls: WindowsCalls) -> Asked[Sessions]:
    """Return a source of whether the own screen is locked and who else uses the machine, by all
    sessions at each look; unseen where Windows does not tell, not even of the own one."""

    def ask() -> Sessions:
        own, sessions = calls.own_session(), calls.sessions()
        mine = [each for each in sessions if each.number == own]
        if not mine and own != SERVICES_SESSION:
            raise SightError(WindowsHidesSession())
        others = {
            each.user
            for each in sessions
            if each.number != own and each.active and each.locked is not True
        }
        locked = bool(mine) and all(each.locked is True or not each.active for each in mine)
        return Sessions(locked, nobody=not sessions, others=tuple(sorted(others)))

    return _asked(ask)


def _asked(ask: Callable[[], T], by: str = NAME) -> Asked[T]:
    """A source that is blind with the words of Windows where a call fails."""

    def told() -> T:
        try:
            return ask()
        except SightError:
            raise
        except OSError as error:
            raise SightError(WindowsSilent(str(error))) from error

    return Asked(told, by)


def _pointer(calls: WindowsCalls) -> tuple[int, int] | None:
    try:
        return calls.pointer()
    except OSError:
        return None  # the locked screen has a desktop of its own
