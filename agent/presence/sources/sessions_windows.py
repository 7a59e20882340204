"""Who is logged in at a Windows machine, at its screen or from afar, and whose screen is locked.

A session that is not on a screen any more (another user was switched to, or a remote one was
disconnected) counts as locked. Where Windows does not know, it does not. A system that does not even
tell of the session in which this runs is not believed when it lists nobody.
"""

from __future__ import annotations

from agent.api.presence_reasons import WindowsHidesSession, WindowsSilent
from agent.presence.readings import Reading, Seen, Sessions, Unseen
from agent.presence.sources.last_input_windows import SERVICES_SESSION
from agent.presence.sources.windows_calls import WindowsCalls


class WindowsSessions:
    """Sees who is logged in; asks for all sessions at each look."""

    def __init__(self, calls: WindowsCalls) -> None:
        self._calls = calls

    def read(self) -> Reading[Sessions]:
        """Return who is at the machine and whether the own screen is locked; unseen when Windows
        does not tell."""
        try:
            own, sessions = self._calls.own_session(), self._calls.sessions()
        except OSError as error:
            return Unseen(WindowsSilent(str(error)))
        mine = [each for each in sessions if each.number == own]
        if not mine and own != SERVICES_SESSION:
            return Unseen(WindowsHidesSession())
        others = {
            each.user
            for each in sessions
            if each.number != own and each.active and each.locked is not True
        }
        return Seen(
            Sessions(
                locked=bool(mine) and all(each.locked is True or not each.active for each in mine),
                nobody=not sessions,
                others=tuple(sorted(others)),
            ),
            "Windows",
        )

    def close(self) -> None:
        """Do nothing, as nothing is held open."""
