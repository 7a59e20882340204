"""leave: this machine leaves its flock."""

from agent.api.flock import Leave, Left
from agent.api.methods import LEAVE
from agent.control.call import Call, verb
from agent.control.membership import required_flock


async def serve(call: Call, params: Leave) -> Left:
    """What it runs is handed back first."""
    flock = required_flock(call)
    warning = await call.surface.leave(even_as_last_keeper=params.even_as_last_keeper)
    return Left(flock.name, warning)


VERB = verb(LEAVE, serve)
