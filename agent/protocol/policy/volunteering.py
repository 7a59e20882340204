"""Whether a node goes for work: the machine belongs to its owner first.

An agent that is noticed is an agent that is uninstalled. So a node is willing only while it is told
to volunteer and nobody sits at it; what counts as somebody sitting there is decided where it is
sensed, not here.
"""

from __future__ import annotations

from agent.protocol.policy.view import Presence


class WhileAway:
    """Willing while volunteering is on and the owner is not there."""

    def willing(self, presence: Presence) -> bool:
        """Tell whether to go for tasks."""
        return presence.volunteering and not presence.owner_present
