"""events: what happens from now on, or from where the client was cut off."""

from agent.api.methods import EVENTS
from agent.api.session import Events, Subscribed
from agent.control.call import Call, verb


async def serve(call: Call, params: Events) -> Subscribed:
    """Nothing is awaited here, so that the events follow the answer without a gap."""
    position = params.after or call.events.position
    call.events.check(position)
    call.follow(position)
    return Subscribed(position)


VERB = verb(EVENTS, serve)
