"""Where the input of terminals is part of another source: Windows counts all in its sessions."""

from __future__ import annotations

from agent.presence.readings import LastInput, Reading, Seen


class NoTerminals:
    """Sees no input, ever."""

    def read(self) -> Reading[LastInput]:
        return Seen(LastInput(float("-inf")))

    def close(self) -> None:
        """Do nothing, as nothing is held open."""
