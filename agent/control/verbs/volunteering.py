"""When this machine helps."""

import time

from agent.api.methods import PAUSE, RESUME, SET_VOLUNTEERING, VOLUNTEERING
from agent.api.rpc import ErrorCode
from agent.api.volunteering import Pause, Resume, SetVolunteering, Volunteering, VolunteeringView
from agent.control.refusal import RefusedError
from agent.control.request_context import RequestContext, serves
from agent.control.volunteering import rules_of, volunteering_view


@serves(PAUSE)
async def pause(call: RequestContext, params: Pause) -> VolunteeringView:
    """Pause helping, for a while or until further notice, over restarts too; what runs is suspended
    at once, or may end first. Raises ``RefusedError`` where two ends are named."""
    if params.for_s is not None and params.until_tomorrow:
        sentence = "pause: either for_s or until_tomorrow, not both"
        raise RefusedError(ErrorCode.WRONG_PARAMETERS, sentence)
    presence = call.rooms.presence
    until_s = None if params.for_s is None else time.time() + params.for_s
    if params.until_tomorrow:
        until_s = presence.tomorrow_s()
    if params.finish_first:
        presence.finish_then_pause(until_s)
    else:
        presence.pause(until_s)
    await presence.kept()
    return volunteering_view(presence.state())


@serves(RESUME)
async def resume(call: RequestContext, params: Resume) -> VolunteeringView:
    """End the pause; whether the machine helps then is for its rules to say."""
    presence = call.rooms.presence
    presence.resume()
    await presence.kept()
    return volunteering_view(presence.state())


@serves(VOLUNTEERING)
async def volunteering(call: RequestContext, params: Volunteering) -> VolunteeringView:
    """Return whether this machine helps, by which rules, and what each source of presence sees. All
    sources are looked at now, needed or not."""
    return volunteering_view(await call.rooms.presence.look())


@serves(SET_VOLUNTEERING)
async def set_volunteering(call: RequestContext, params: SetVolunteering) -> VolunteeringView:
    """Change when this machine helps, in the settings file too. Rules that leave no moment to help
    are refused."""
    presence = call.rooms.presence
    await presence.set_rules(rules_of(params.rules))
    return volunteering_view(presence.state())
