"""How much memory programs can still get without others being swapped out."""

from __future__ import annotations

import psutil

from agent.presence.readings import Reading, Seen


class FreeMemory:
    """Sees how much memory is free, as the system estimates it."""

    def read(self) -> Reading[float]:
        return Seen(psutil.virtual_memory().available / 2**20)

    def close(self) -> None:
        """Do nothing, as nothing is held open."""
