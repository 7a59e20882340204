"""volunteering: whether this machine helps, by which rules, and what each source of presence sees."""

from agent.api.methods import VOLUNTEERING
from agent.api.volunteering import Volunteering, VolunteeringView
from agent.control.call import Call, verb
from agent.control.volunteering import volunteering_view


async def serve(call: Call, params: Volunteering) -> VolunteeringView:  # noqa: ARG001 - it has none
    """All sources are looked at, needed or not: whoever asks wants to know what they see."""
    return volunteering_view(await call.surface.presence.look())


VERB = verb(VOLUNTEERING, serve)
