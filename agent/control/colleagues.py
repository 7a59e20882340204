"""What clients of other members see of whoever sits at this machine: whether it helps now, and no more.

That he typed twelve seconds ago, when he paused it and what he has running is shown on his own
screens. The protocol tells the flock no more either (``protocol.sharing_reasons``).
"""

from __future__ import annotations

from msgspec.structs import replace

from agent.api import session
from agent.api.reasons import as_why, reason_of
from agent.api.work import NodeView
from agent.protocol import sharing_reasons as sharing
from agent.wording.speech import english


def for_colleagues(node: NodeView) -> NodeView:
    """Return the row of this machine without what it says of its owner."""
    reason = sharing.for_colleagues(reason_of(node.why, node.reason))
    return replace(node, owner_present=False, reason=english(reason), why=as_why(reason))


def told_to_colleagues(happening: session.Happening) -> session.Happening:
    """Return an event as clients of other members are told it, without what it says of this
    machine's owner; unchanged where it says nothing of him."""
    match happening:
        case session.VolunteeringChanged():
            reason = sharing.for_colleagues(reason_of(happening.why, happening.reason))
            return session.VolunteeringChanged(
                happening.volunteering, False, english(reason), False, why=as_why(reason)
            )
        case session.PeerChanged(own=NodeView() as own):
            return replace(happening, own=for_colleagues(own))
        case _:
            return happening
