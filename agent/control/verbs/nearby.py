"""nearby: which flocks are on this network."""

from agent.api.admission import Nearby, NearbyFlock, NearbyReply
from agent.api.methods import NEARBY
from agent.control.call import Call, verb


async def serve(call: Call, params: Nearby) -> NearbyReply:  # noqa: ARG001 - it has none
    """As far as they answer within a moment."""
    flocks, trouble = await call.surface.asking.nearby()
    found = [
        NearbyFlock(each.flock_id, each.name, each.machines, each.askable, each.own)
        for each in flocks
    ]
    return NearbyReply(tuple(found), trouble)


VERB = verb(NEARBY, serve)
