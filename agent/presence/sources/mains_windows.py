"""Mains or battery on Windows. A machine without a battery says that it is on mains."""

from __future__ import annotations

from agent.api.reasons import WindowsSilent, WindowsUnsure
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
