"""The last input of the Windows session in which the agent runs, and where the pointer is."""

from __future__ import annotations

from collections.abc import Callable

from agent.api.presence_reasons import RunsAsService, WindowsSilent
from agent.presence.readings import LastInput, Reading, Seen, Unseen
from agent.presence.sources.windows_calls import WindowsCalls

SERVICES_SESSION = 0


class WindowsLastInput:
    """Keyboard, mouse, pen and touch of this session, the remote ones of it included."""

    def __init__(self, calls: WindowsCalls, clock: Callable[[], float]) -> None:
        self._calls, self._clock = calls, clock

    def read(self) -> Reading[LastInput]:
        """Return when there was input last and where the pointer is; unseen to a service, or when
        Windows does not tell."""
        try:
            if self._calls.own_session() == SERVICES_SESSION:
                return Unseen(RunsAsService())
            at_s = self._clock() - self._calls.quiet_ms() / 1000
            return Seen(LastInput(at_s, self._pointer()), "Windows")
        except OSError as error:
            return Unseen(WindowsSilent(str(error)))

    def close(self) -> None:
        """Do nothing, as nothing is held open."""

    def _pointer(self) -> tuple[int, int] | None:
        try:
            return self._calls.pointer()
        except OSError:
            return None  # the locked screen has a desktop of its own
