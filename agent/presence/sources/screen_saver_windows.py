"""Whether a screen saver of Windows runs."""

from __future__ import annotations

from agent.api.reasons import WindowsSilent
from agent.presence.readings import Reading, Seen, Unseen
from agent.presence.sources.windows_calls import WindowsCalls


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
