"""pause: this machine is wanted by its owner, for a while or until further notice."""

import time

from agent.api.methods import PAUSE
from agent.api.rpc import ErrorCode
from agent.api.volunteering import Pause, VolunteeringView
from agent.control.call import Call, verb
from agent.control.refusal import RefusedError
from agent.control.volunteering import volunteering_view


async def serve(call: Call, params: Pause) -> VolunteeringView:
    """Kept over restarts; what runs is suspended at once, or let end first."""
    if params.for_s is not None and params.until_tomorrow:
        sentence = "pause: either for_s or until_tomorrow, not both"
        raise RefusedError(ErrorCode.WRONG_PARAMETERS, sentence)
    presence = call.surface.presence
    until_s = None if params.for_s is None else time.time() + params.for_s
    if params.until_tomorrow:
        until_s = presence.tomorrow_s()
    if params.finish_first:
        presence.finish_then_pause(until_s)
    else:
        presence.pause(until_s)
    await presence.kept()
    return volunteering_view(presence.state())


VERB = verb(PAUSE, serve)
