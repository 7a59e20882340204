"""What one call to Windows tells: mains or battery, what fills the screen, whether its saver runs.

A machine without a battery says that it is on mains. What the shell holds notifications back for
tells what fills the screen.
"""

from __future__ import annotations

from agent.api.presence_reasons import (
    Filling,
    GameFills,
    PresentationOn,
    ProgramFills,
    WindowsSilent,
    WindowsUnsure,
)
from agent.presence.readings import Reading, Seen, Unseen
from agent.presence.sources.windows_calls import WindowsCalls

ON_BATTERY, ON_MAINS = 0, 1


class WindowsMains:
    """Sees whether a Windows machine is on mains, by one call."""

    def __init__(self, calls: WindowsCalls) -> None:
        self._calls = calls

    def read(self) -> Reading[bool]:
        """Return whether the machine is on mains; unseen when Windows does not tell."""
        try:
            status = self._calls.line_status()
        except OSError as error:
            return Unseen(WindowsSilent(str(error)))
        if status not in (ON_BATTERY, ON_MAINS):
            return Unseen(WindowsUnsure())
        return Seen(status == ON_MAINS, "Windows")

    def close(self) -> None:
        """Do nothing, as nothing is held open."""


HELD_BACK_FOR: dict[int, Filling] = {2: ProgramFills(), 3: GameFills(), 4: PresentationOn()}
"""QUNS_BUSY, QUNS_RUNNING_D3D_FULL_SCREEN, QUNS_PRESENTATION_MODE. Nobody there (1), an app in its
window (7), quiet hours (6) and taking notifications (5) are none of it."""


class WindowsFullScreen:
    """Sees what fills the screen of Windows, by one call."""

    def __init__(self, calls: WindowsCalls) -> None:
        self._calls = calls

    def read(self) -> Reading[Filling | None]:
        """Return what fills the screen, None for nothing; unseen when Windows does not tell."""
        try:
            return Seen(HELD_BACK_FOR.get(self._calls.notification_state()), "Windows")
        except OSError as error:
            return Unseen(WindowsSilent(str(error)))

    def close(self) -> None:
        """Do nothing, as nothing is held open."""


class WindowsScreenSaver:
    """Sees whether the screen saver is on; any input ends it."""

    def __init__(self, calls: WindowsCalls) -> None:
        self._calls = calls

    def read(self) -> Reading[bool]:
        """Return whether a screen saver runs; unseen when Windows does not tell."""
        try:
            return Seen(self._calls.saver_on(), "the screen saver")
        except OSError as error:
            return Unseen(WindowsSilent(str(error)))

    def close(self) -> None:
        """Do nothing, as nothing is held open."""
