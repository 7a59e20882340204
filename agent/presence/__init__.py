"""May this machine work for others now?

So far a person decides it once: ``always`` or ``paused``. Whoever knows more (idle time, mains,
hours) will tell it in the same words, each with its own reason.
"""

from __future__ import annotations

from agent.protocol.events import PresenceChanged

ALWAYS = "always"
PAUSED = "paused"
MODES = (ALWAYS, PAUSED)


def presence_in(mode: str) -> PresenceChanged:
    """What the node is told in a mode; raises ``ValueError`` with a sentence for an unknown one."""
    match mode:
        case "always":
            return PresenceChanged(volunteering=True, owner_present=False, reason="set to always")
        case "paused":
            return PresenceChanged(volunteering=False, owner_present=False, reason="set to paused")
        case _:
            raise ValueError(f"the mode {mode!r} is not known: choose {' or '.join(MODES)}")
