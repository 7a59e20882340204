"""set_volunteering: other rules for when this machine helps."""

from agent.api.methods import SET_VOLUNTEERING
from agent.api.volunteering import SetVolunteering, VolunteeringView
from agent.control.call import Call, verb
from agent.control.volunteering import rules_of, volunteering_view


async def serve(call: Call, params: SetVolunteering) -> VolunteeringView:
    """Kept in the settings file; rules that leave no moment to help are refused."""
    presence = call.surface.presence
    await presence.set_rules(rules_of(params.rules))
    return volunteering_view(presence.state())


VERB = verb(SET_VOLUNTEERING, serve)
