"""flock_create: a flock with this machine as its first member."""

from agent.api.flock import FlockCreate, Joined
from agent.api.methods import FLOCK_CREATE
from agent.control.call import Call, verb
from agent.control.membership import joined


async def serve(call: Call, params: FlockCreate) -> Joined:
    """Refused where there is a flock already."""
    return joined(call, await call.surface.create_flock(params.name))


VERB = verb(FLOCK_CREATE, serve)
