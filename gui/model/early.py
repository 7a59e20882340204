"""A pause asked for while the agent is still starting: kept, shown, said once the agent is there.

A tray that starts with the login is there before its agent is; whoever wants the computer for
themselves at that moment is not told to wait. What is left of the time counts, not when it was said.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from agent.api.volunteering import Pause

SHORTEST_S = 1.0


@dataclass(frozen=True, slots=True)
class EarlyPause:
    """What was asked for, and when; the clock is whichever tells both times."""

    pause: Pause
    asked_s: float

    def due(self, now_s: float) -> Pause | None:
        """Return the pause to ask for now, shorter by the time that has passed, or as it is if it
        has no length (None), as until tomorrow; None when less than ``SHORTEST_S`` is left of
        it."""
        if self.pause.for_s is None:
            return self.pause
        rest_s = self.pause.for_s - (now_s - self.asked_s)
        return replace(self.pause, for_s=rest_s) if rest_s >= SHORTEST_S else None
