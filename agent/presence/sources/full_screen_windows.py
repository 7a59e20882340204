"""Whether a program fills the screen of Windows, by what the shell holds notifications back for."""

from __future__ import annotations

from agent.api.reasons import Filling, GameFills, PresentationOn, ProgramFills, WindowsSilent
from agent.presence.readings import Reading, Seen, Unseen
from agent.presence.sources.windows_calls import WindowsCalls

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
