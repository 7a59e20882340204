"""resume: the pause is over, the rules count again."""

from agent.api.methods import RESUME
from agent.api.volunteering import Resume, VolunteeringView
from agent.control.call import Call, verb
from agent.control.volunteering import volunteering_view


async def serve(call: Call, params: Resume) -> VolunteeringView:  # noqa: ARG001 - it has none
    """Whether it helps then is for the rules to say."""
    presence = call.surface.presence
    presence.resume()
    return volunteering_view(presence.state())


VERB = verb(RESUME, serve)
