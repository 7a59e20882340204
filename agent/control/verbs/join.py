"""join: this machine joins the flock that invites it."""

from agent.api.flock import Join, Joined
from agent.api.methods import JOIN
from agent.control.call import Call, verb
from agent.control.membership import joined


async def serve(call: Call, params: Join) -> Joined:
    """What it has in its table goes with it."""
    return joined(call, await call.surface.join(params.invitation))


VERB = verb(JOIN, serve)
